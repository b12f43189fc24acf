"""leak at a guard of the preprocessor: a lower bound in a wrapper that is named after an older generation."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, ChipSet, TargetSet, spelling
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, listed, plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.judging.guards import Guarded
from bwlint.judging.wrappers import Wrapper, asked_for, wrapper_of
from bwlint.rules.leak import RULE


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    wrapper = wrapper_of(context, guarded)
    wrong = _beyond(context, wrapper, guarded) if wrapper is not None else NONE
    if wrapper is not None and wrong:
        yield _draft(context, guarded, wrapper, wrong)


def _beyond(context: Context, wrapper: Wrapper, guarded: Guarded) -> ChipSet:
    """The targets that a guard lets through though they are not of the generation in its wrapper's name.

    One that promises later chips, `enable_sm90_or_later`, does so wrongly where it wraps a kernel for the one alone.
    """
    named = _generation(wrapper.name)
    if not named or named & context.targets:
        return NONE
    promised = mentioned(wrapper.name.replace("_", " ")).named & context.targets
    if promised and not _of_its_own(wrapper):
        return NONE
    return guarded.chips & context.targets - named


def _generation(name: str) -> ChipSet:
    """The chips whose number is in a name."""
    numbers = spelling.numbers(name)
    return EVERY & ChipSet.where(lambda chip: chip.joined in numbers)


def _draft(context: Context, guarded: Guarded, wrapper: Wrapper, wrong: ChipSet) -> Draft:
    name, kernels = wrapper.name, _of_its_own(wrapper)
    wrapped = listed([f"`{kernel}`" for kernel in kernels]) if kernels else "the kernels it wraps"
    targets = guarded.admitted - TargetSet.native(wrong)
    asked = asked_for(context, wrapper, guarded, TargetSet.native(wrong))
    sure = bool(kernels) and asked
    behind = claims.need(name, wrong, NONE, f"the kernels that `{name}` wraps do not work on {plain(wrong)}")
    return Draft(
        rule=RULE,
        place=DraftPlace.of_guard(guarded),
        severity="warning" if sure else "note",
        confidence="medium" if sure else "low",
        message=(
            f"The guard in `{name}` has no upper bound: it compiles {wrapped} for {called(wrong)} too."
            f"{'' if asked else f' No build here targets {plain(wrong)}.'}"
        ),
        label=f"compiles for {guarded.chips}",
        advice="Add an upper bound where the wrapped kernels run on that generation only (wgmma, tcgen05).",
        related=wrapper.places,
        remedy=Remedy("guard", targets.chips, unsafe="the wrapped code may be right for later chips", targets=targets),
        claims=(guarded.claimed(TargetSet.native(wrong)), Claimed(behind)),
    )


def _of_its_own(wrapper: Wrapper) -> tuple[str, ...]:
    """The kernels in a wrapper that are named for its generation alone."""
    named = _generation(wrapper.name)
    return tuple(dict.fromkeys(one for one in wrapper.kernels if (own := _generation(one)) and own <= named))
