"""leak: of two branches named after generations, later chips take one whose instructions they lack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bwlint.chips import NONE, ChipSet, group, spelling, words
from bwlint.chips.wording import called, its, listed, plain, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.evidence import handed_out
from bwlint.judging.probes import turn_away
from bwlint.model.facts import Side, Use
from bwlint.model.kinds import NUMBER
from bwlint.rules.leak import RULE
from bwlint.rules.leak.bounds import bounded
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged, refuses

_HOPPER = group("hopper")
_DATACENTER = ChipSet.where(lambda chip: chip.major == 10)
_OPEN = re.compile(rf"{words.said('open-ended')}|\bplus\b", re.I)
_TUNED = re.compile(r"config|tun(?:e|ing)|tile", re.I)


def taken_for_older(context: Context, judged: Judged) -> Iterator[Draft]:
    """`gemm_sm90` taken from 9.0 on, beside a `gemm_sm80` that runs everywhere; `gemm_sm100` from 10.0 on."""
    if judged.sets.guessed or not judged.sets.decided or judged.in_test:
        return
    for side, beside in ((judged.gate.yes, judged.gate.no), (judged.gate.no, judged.gate.yes)):
        if refuses(beside) or judged.on(side) >= judged.sets.live:
            continue
        for use in _named(side):
            wrong = judged.on(side) & context.targets & context.reach(judged, use.at)
            other = _partner(use, beside)
            if not wrong or _only_tunes(judged, use) or (other is not None and _of(other) & wrong):
                continue
            if turn_away(context, judged, wrong, use.at):
                continue
            if _of(use) == _HOPPER and other is not None:
                built = _built_alone(context, judged, _of(use), wrong) if use.role == NUMBER else None
                yield _draft(context, judged, side, wrong, use, other, built)
                return
            if _of(use) == _DATACENTER and _asks_for(judged, side) and _says_all(context, judged, use, beside):
                yield _draft(context, judged, side, wrong, use, other)
                return


def _asks_for(judged: Judged, side: Side) -> bool:
    """Whether a gate tells all of 10.x from older chips; who sends 9.0 there, too, does not go by the name."""
    here = judged.on(side)
    return not here & _HOPPER and bool(judged.sets.live - here - _DATACENTER)


def _says_all(context: Context, judged: Judged, use: Use, beside: Side) -> bool:
    """Whether a function does what its name says, and the other side does not reach it too."""
    if use.how == "text" or context.evidence.is_made_for_all(judged.module, use):
        return False  # a library called sm100 may have more in it
    return all(other.name != use.name for other in handed_out(beside))


def _named(side: Side) -> Iterator[Use]:
    for use in handed_out(side):
        if use.sure and use.how in ("call", "name", "text") and _of(use):
            yield use


def _only_tunes(judged: Judged, use: Use) -> bool:
    """Whether a name is that of sizes that are tried; in C++ a configuration is the type of a kernel."""
    return judged.module.language == "python" and _TUNED.search(use.name.rpartition(".")[2]) is not None


def _of(use: Use) -> ChipSet:
    """The chips of the one generation that the last part of a name says; `sm100_or_later` says none."""
    name = use.name.rpartition(".")[2]
    numbers = spelling.numbers(name) if not _OPEN.search(name.replace("_", " ")) else ()
    majors = {number // 10 for number in numbers}
    return ChipSet.where(lambda chip: chip.major in majors) if len(majors) == 1 else NONE


def _partner(use: Use, beside: Side) -> Use | None:
    """What the other side has by the same name, for another generation."""
    stem = spelling.numberless(use.name)
    for other in handed_out(beside):
        if other.name != use.name and other.sure and stem is not None and spelling.numberless(other.name) == stem:
            return other
    return None


def _built_alone(context: Context, judged: Judged, named: ChipSet, wrong: ChipSet) -> RelatedSpan | None:
    """The build of what is called after a generation, where none of it runs on some chips."""
    builds = context.builds.above(judged.module.path) if judged.module.language == "cuda" else ()
    found = [(build, carry) for build in builds for carry in build.carries if _are_of(carry.sources, named)]
    if not found or runs_on(carry for _, carry in found) & wrong:
        return None
    build, carry = found[0]
    names = listed([f"sm_{name}" for name in carry.sass])
    return RelatedSpan(build, carry.at, f"{carry.sources[0].rpartition('/')[2]} is compiled for {names}")


def _are_of(sources: Sequence[str], named: ChipSet) -> bool:
    numbers = [number for source in sources for number in spelling.numbers(source.rpartition("/")[2])]
    return any(chip.joined in numbers for chip in named)


def _draft(
    context: Context,
    judged: Judged,
    side: Side,
    wrong: ChipSet,
    use: Use,
    other: Use | None,
    built: RelatedSpan | None = None,
) -> Draft:
    name = use.name.rpartition(".")[2]
    beside = f" Beside it is `{other.name.rpartition('.')[2]}`." if other is not None else ""
    short = judged.falls_short_of(side)
    falls = "does not pass this check and uses" if len(wrong) == 1 else "do not pass this check and use"
    way = f"{called(wrong)} {falls}" if short else f"This check lets {called(wrong)} use"
    return Draft(
        rule=RULE,
        place=DraftPlace.of_side(judged, side),
        severity="note" if use.role == NUMBER and not built else "warning",  # sizes go with the dispatch that launches
        confidence="medium",
        message=f"{way} `{name}`, which is named for {plain(_of(use))}.{beside}",
        label=judged.told(side),
        advice=f"Give {called(wrong)} a branch or an error of {its(wrong)} own."
        if short
        else f"Keep {called(wrong)} out of this case. Give {them(wrong)} a kernel of {its(wrong)} own or an error.",
        legal=_of(use),
        related=(
            RelatedSpan(judged.module, use.at, f"used on {judged.on(side)}"),
            *((RelatedSpan(judged.module, other.at, "the other case"),) if other is not None else ()),
            *((built,) if built is not None else ()),
        ),
        remedy=bounded(
            context,
            judged,
            side,
            wrong,
            f"`{name}` is named for {_of(use)}",
            lacking=wrong if built is None else judged.on(side) - _of(use),
            doubt=f"only its name says what `{name}` is for",
        ),
        cause=(judged.module.path, f"{judged.gate.qualname} {judged.gate.text}" if built is None else built.at),
        claims=(
            Claimed(claims.need(name, wrong, NONE, f"`{name}` does not work on {plain(wrong)}"), use.at, judged.module),
        ),
    )
