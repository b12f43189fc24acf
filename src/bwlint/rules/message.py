"""message: a text tells a user other chips than the test beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, NONE, ChipSet, group, spelling, words
from bwlint.chips.mentions import Mention, from_generation, mentioned
from bwlint.chips.wording import called, kib, only, plain, sentence, shortened, them
from bwlint.judging import claims
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import claimed
from bwlint.model.details import Speech, StatedChips
from bwlint.model.facts import Module, Operation, Prose, Side, Use
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits
from bwlint.rules.family_split import gate as family_split
from bwlint.rules.leak import needs as leak
from bwlint.rules.leak import own_words, predicate
from bwlint.rules.smem.sizes import allow
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF, instruction

RULE = RuleTraits("message", follows="unless-severer")
EXCEPTION = re.compile(words.said("exception"), re.I)
_NEGATIVE = re.compile(words.said("refusal"), re.I)
_CONDITION = re.compile(rf"\bonly\b|\bskip|{words.said('demand')}", re.I)
_DEMAND = re.compile(words.said("demand"), re.I)
_ONLY = re.compile(r"\bonly\b", re.I)
_SENDS = re.compile(r"\b(?:use|try|enable|prefer\w*|recommend\w*|consider|only|supported|switch)\b", re.I)
_BACKEND = re.compile(r"[A-Za-z][\w.-]+")
_OF_THE_READER = re.compile(r"\b(?:is|are) not supported (?:on|by) (?:this|your|the current) \w+", re.I)
"""A text that refuses a device for lack of a chip that it names: "SM100 is not supported on this device"."""
_CLAUSE = re.compile(r"[;.,]\s+|\n")
_INSTEAD = re.compile(words.said("use-instead"), re.I)
_HOPPER = 90
_QUOTED = 70
_FOR_NOBODY = "the reason of the skip names other chips"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    for text in judged.working.texts[:1]:
        if _CONDITION.search(text.text):  # a way round, and why it is taken
            yield from _misleading(context, judged, text, judged.working)
    side = judged.other
    if not refuses(side) and not side.ends_in("return", "continue"):
        yield from _announcements(context, judged)
        return
    for text in side.texts[:1]:
        yield from _refusal(context, judged, text)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if isinstance(one.detail, StatedChips):
            yield from _memory(context, module, one, one.detail.chips)
        elif isinstance(one.detail, Speech):
            yield from _of_generation(context, module, one, one.detail.text)


def _of_generation(context: Context, module: Module, said: Operation, text: str) -> Iterator[Draft]:
    """A text sends all of Blackwell to something that only its chips of the data centre have."""
    told = context.let_to(module, said.at) & context.targets & group("consumer-blackwell")
    if not told or not _SENDS.search(text) or context.in_test(module):
        return
    words = (Use(word.strip(".-"), "text", said.at, role=text) for word in _BACKEND.findall(text))
    needs = (context.evidence.libraries.need(module.path, word) for word in words)
    need = next((one for one in needs if one is not None and not one.legal & told), None)
    if need is None or not need.legal & group("datacenter-blackwell"):
        return
    says = sentence(need.use.name, need.what)
    yield Draft(
        place=DraftPlace(module=module, at=said.at, admitted=told, certain=told),
        severity="note",
        confidence="medium",
        message=f"This text sends every Blackwell card to `{need.use.name}`. {plain(told)} cannot use it. {says}.",
        label="this text",
        advice=f"Name {plain(need.legal)}, and say what {plain(told)} can use.",
        remedy=NoFix("bwlint does not know what the other chips can use"),
        claims=(claimed(need, module, told),),
    )


def _memory(context: Context, module: Module, one: Operation, stated: tuple[int, ...]) -> Iterator[Draft]:
    """A text gives chips more shared memory than a multiprocessor of theirs has."""
    size = _bytes(one)
    named = [chip for chip in context.targets if chip.joined in stated]
    wrong = ChipSet.joining(chip for chip in named if size > (chip.smem_per_sm or size))
    if wrong:
        yield Draft(
            place=DraftPlace(module=module, at=one.at, admitted=wrong, certain=wrong),
            severity="note",
            confidence="high",
            message=f"This text gives {called(wrong)} {kib(size)} of shared memory. {plain(wrong)} {allow(wrong)}.",
            label="this text",
            advice=f"Name {called(wrong)} separately.",
            remedy=_right_size(module, one, wrong),
            claims=(Claimed(claims.shared("dynamic", size, wrong), one.at),),
        )


def _right_size(module: Module, one: Operation, chips: ChipSet) -> Remedy | NoFix:
    """What the chips have of that which the same text gives others: a block's limit, or all of a multiprocessor."""
    near = [other for other in module.operations if abs(other.at[0] - one.at[0]) <= 4]
    told = [(_bytes(other), other.detail.chips) for other in near if isinstance(other.detail, StatedChips)]
    given = [(chip, size) for size, numbers in told for chip in EVERY - chips if chip.joined in numbers]
    for what in ("smem_per_sm", "smem_per_block_optin"):
        sizes = {getattr(chip, what) for chip in chips}
        right = [has == size for chip, size in given if (has := getattr(chip, what)) is not None]
        if right and all(right) and len(sizes) == 1:
            evidence = "the text gives the others what a block or a multiprocessor of theirs has, as the tables say"
            return Remedy("text", chips, evidence=evidence, amount=sizes.pop())
    return NoFix("whether the text is for the block or for the multiprocessor is not known")


def _bytes(stated: Operation) -> int:
    size: int = stated.amounts[0].args[0]
    return size


def _refusal(context: Context, judged: Judged, text: Prose) -> Iterator[Draft]:
    said = _said(text)
    here = judged.must & context.targets & context.let_to(judged.module, judged.at, judged)
    asks = _DEMAND.search(text.text) or _OF_THE_READER.search(text.text)
    negative = _NEGATIVE.search(text.text) and not asks
    if not said.named or negative or EXCEPTION.search(text.text) or said.named <= judged.sets.live - judged.admitted:
        return
    if here and not said.named & context.targets and not said.open_ended and not said.alike:
        if not _names_the_least(judged, text, said):
            advice = f"Name {plain(judged.admitted)} in the text, or let only {plain(said.named)} in."
            yield _draft(
                judged, text, f"This text names {only(said.named)}. The check admits {called(here)} too.", advice
            )
    elif said.open_ended and _told_all_the_same(context, judged, said, judged.other):
        yield from _misleading(context, judged, text, judged.other)
    elif here == context.targets and _names_one_sibling(context, text.text, said) and len(here) > 1:
        named = only(context.targets & said.exact)
        found = _draft(
            judged,
            text,
            f"This text names {named}. The check admits {called(here)}.",
            "Name the family, or every chip.",
        )
        evidence = f"the test admits {here}, the text names {named}"
        skipped = judged.in_test and judged.other.ends == "skip"
        remedy = NoFix(_FOR_NOBODY) if skipped else Remedy("text", here, evidence=evidence)
        yield replace(found, remedy=remedy)
    else:
        yield from _repeats(context, judged, text, said)
        yield from _promises(context, judged, text, said)


def _names_the_least(judged: Judged, text: Prose, said: Mention) -> bool:
    """ "Needs SM90" beside a test for 9.0 and newer: such words name the oldest chip that will do, up to Hopper."""
    least = min(said.named, key=lambda chip: chip.joined)
    newer = ChipSet.where(lambda chip: chip.joined >= least.joined)
    demands = _DEMAND.search(text.text) and not _ONLY.search(text.text)
    return bool(demands) and least.joined <= _HOPPER and newer & judged.sets.live <= judged.must


def _served_between(context: Context, judged: Judged, text: Prose, out: ChipSet) -> bool:
    """Whether a later test of the function, above the text, takes these chips: the text is for who is left."""
    return any(
        other.gate.qualname == judged.gate.qualname
        and judged.at < other.gate.at < text.at
        and out <= context.tree.may(judged.module, other.gate.test) != EVERY
        for other in context.beside(judged.module)
    )


def _names_one_sibling(context: Context, text: str, said: Mention) -> bool:
    """SM120 and not SM121, where the text speaks of no other chip, nor of the family elsewhere."""
    one = context.targets & said.exact
    if len(one) != 1 or said.open_ended or said.named - group("consumer-blackwell"):
        return False
    if any(product in text for chip in context.targets - one for product in chip.products):
        return False
    (chip,) = one
    return not context.targets <= mentioned(re.sub(spelling.in_words(chip.joined), "", text)).named


def _repeats(context: Context, judged: Judged, text: Prose, said: Mention) -> Iterator[Draft]:
    """The text of a refusal that cuts a family says the same as the test: mend both."""
    if family_split.split(context, judged) is None or len(said.exact & context.targets) != 1:
        return
    message = f"This text says {only(said.exact & context.targets)}, as the check beside it does."
    found = _draft(judged, text, message, "Name the family in the check and in the text.")
    yield replace(found, remedy=NoFix("the test beside it has to be mended first"))


def _promises(context: Context, judged: Judged, text: Prose, said: Mention) -> Iterator[Draft]:
    """The text sends users of a chip to something that is illegal there."""
    told = judged.in_test and judged.other.ends == "skip"  # with the test; the reason of a skip misleads nobody
    for behind in leak.leaks(context, judged):
        if told or predicate.tells(context, judged, behind):
            return  # the predicate is mended, and the text with it
        _, need, wrong = behind
        if need.strength == PROOF and need.kind in ("operation", "library") and wrong & said.named:
            behind_it = sentence(need.use.name, need.what)
            message = f"{_quoted(text)} promises {called(wrong & said.named)}. {behind_it}."
            found = _draft(judged, text, message, f"Name {plain(need.legal)}.")
            yield replace(found, claims=(claimed(need, judged.module, wrong & said.named),))
            return
    bound = next(own_words.open_bound(context, judged), None) if said.open_ended else None
    if bound is not None:
        message = (
            f"{_quoted(text)} promises {called(context.targets)}, but the code behind the check is named for 10.x."
        )
        found = _draft(judged, text, message, "Name the chips that the code was written for.")
        yield replace(found, claims=bound.claims)


def _quoted(text: Prose) -> str:
    return f'The text "{shortened(text.text, _QUOTED)}"'


def _misleading(context: Context, judged: Judged, text: Prose, side: Side) -> Iterator[Draft]:
    """A text that names the first of the chips that would do, and is shown to later ones."""
    said = _said(text)
    own = _said(replace(text, text="; ".join(_own_clauses(text.text))))  # others say what later chips can use instead
    out = _told_all_the_same(context, judged, said, side) if said.open_ended and own.open_ended else NONE
    if not out or judged.in_test or _served_between(context, judged, text, out) or out != context.targets:
        return  # a skip's reason misleads nobody's users; a test that splits the family is mended, and the text right
    would_do = plain(EVERY - judged.on(side)) if judged.may == judged.must else "the chips that would do"
    advice = f"Name {would_do} in the text, or let {called(out)} in too."
    message = f"{_quoted(text)} promises {called(out)}, but the check refuses {them(out)}."
    found = replace(_draft(judged, text, message, advice), remedy=_narrowed(context, judged, side))
    yield found if aside(context, judged.module) else replace(found, severity="warning")


def _own_clauses(text: str) -> Iterator[str]:
    """Those of a text that send nobody to something else: "only for SM90" of "only for SM90; use `g` on SM100+"."""
    return (clause for clause in _CLAUSE.split(text) if _INSTEAD.search(clause) is None)


def _narrowed(context: Context, judged: Judged, side: Side) -> Remedy | NoFix:
    """The text for the chips that would do, where a test decides who they are; safe where the code behind it shows that
    the test is right.
    """
    if judged.may != judged.must:
        return NoFix("nothing here says which chips the text should name")
    needs = context.evidence.of(judged.module, judged.working)
    is_right = any(need.strength == PROOF and not need.legal & context.targets for need in needs)
    unsafe = None if is_right else "the check may be at fault, and the text right"
    evidence = "the check decides, and the text follows it"
    return Remedy("promise", EVERY - judged.on(side), evidence=evidence, unsafe=unsafe)


def _told_all_the_same(context: Context, judged: Judged, said: Mention, side: Side) -> ChipSet:
    """The asked chips that a text names and that get it; none where it is for chips alone that it names."""
    told = judged.on(side)
    speaks_of_others = said.named - told and told - said.named
    out = context.targets & told
    return out if speaks_of_others and out <= said.named else NONE


def _said(text: Prose) -> Mention:
    """The chips of a text, by their numbers or from a generation on: "Hopper or newer"."""
    said = mentioned(text.text)
    since = NONE if said.named else from_generation(text.text)
    return Mention(since, NONE, True, False) if since else said


def _announcements(context: Context, judged: Judged) -> Iterator[Draft]:
    """A log line on the working side that claims one chip where several get here."""
    here = judged.must & context.targets or judged.admitted & context.targets
    for text in judged.working.texts[:1]:
        said = mentioned(text.text)
        named = instruction(text.text, text.at)
        if named is not None and here and not named.legal & context.targets:
            message = f"This text mentions {named.what}, but the check admits {called(here)} too."
            yield _draft(judged, text, message, f"Give {called(here)} another text.")
            continue
        why_not = not said.named & judged.admitted and _CONDITION.search(text.text)  # "only on SM90", to all others
        others = said.named and not said.named & context.targets and not said.open_ended
        if here and others and not why_not and " " in text.text:
            message = f"This text names {plain(said.named)}, but the check in front of it also holds on {called(here)}."
            yield _draft(judged, text, message, f"Say {plain(judged.admitted)}.")


def _draft(judged: Judged, text: Prose, message: str, advice: str) -> Draft:
    admits = f"this check admits {plain(judged.admitted)}" if judged.may == judged.must else "this check"
    return Draft(
        place=DraftPlace(module=judged.module, at=text.at, admitted=judged.may, certain=judged.must),
        severity="note",
        confidence="medium",
        message=message,
        label="this text",
        advice=advice,
        related=(RelatedSpan(judged.module, judged.at, admits),),
        remedy=NoFix("nothing here says which is wrong, the text or the test"),
        rests_on=(judged.gate,),
        cause=(judged.module.path, f"{message}: {text.text}"),
    )
