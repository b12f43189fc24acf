"""capability-type: a text of the device that is compared with names in another spelling, "80" with "sm_80"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bwlint.chips import NONE
from bwlint.chips.spelling import spelled
from bwlint.evaluate.values import Guess, Vec
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.expr import Expr, walk, walk_through
from bwlint.model.facts import Module
from bwlint.rules.capability_type import RULE
from bwlint.sources.search import search_of
from bwlint.sources.tree import module_name, package_root
from bwlint.world.gates import Judged

_LISTS = frozenset({"list", "tuple", "set"})
_EQUAL = frozenset({"==", "!=", "in", "not in"})
_OTHER_VENDORS = frozenset({"rocm", "hip"})
_MOST_CLASSES = 8
_MOST_SLOTS = 20


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    for node in walk(judged.gate.test) if judged.module.language == "python" else ():
        if node.op != "cmp" or node.args[0] not in _EQUAL or node.at is None or not judged.gate.at.holds(node.at):
            continue
        asked, names = node.args[1][0], _names(node.args[1][1:])
        written = asked.at is not None  # a list is a gate without anybody who asks
        given = _given(context, judged.module, asked) if names and written else frozenset()
        if given and not _spellings(given) & _spellings(names):
            yield _draft(context, judged, node, given, names)
            return


def _names(operands: tuple[Expr, ...]) -> frozenset[str]:
    """The names of targets that something is compared with; none where there is anything else."""
    nodes = [one for operand in operands for one in (operand.args[0] if operand.op in _LISTS else (operand,))]
    texts = [one.args[0] for one in nodes if one.op == "const" and isinstance(one.args[0], str)]
    known = len(texts) == len(nodes) and all(spelled(text) is not None for text in texts)
    return frozenset(texts) if known else frozenset()


def _given(context: Context, module: Module, asked: Expr) -> frozenset[str]:
    """All the texts that something may be on a chip; none where it may be anything else."""
    value = context.tree.value(module, asked)
    asked = asked.args[1] if asked.op == "source" and len(asked.args) > 1 else asked
    if asked.op == "attr" and all(isinstance(lane, Guess) for lane in value.lanes):
        return _of_classes(context, module, asked.args[1])
    return _texts(value) if value.device and not value.guessed else frozenset()


def _texts(value: Vec) -> frozenset[str]:
    texts = [lane for lane in value.lanes if isinstance(lane, str)]
    return frozenset(texts) if len(texts) == len(value.lanes) else frozenset()


def _of_classes(context: Context, module: Module, name: str) -> frozenset[str]:
    """What the classes of the project give an attribute of that name, where each gives a text."""
    found: frozenset[str] = frozenset()
    reads_device = False
    owners = list(_owners(context, module, name))
    for owner, value in owners if len(owners) <= _MOST_CLASSES else ():
        if any(not _OTHER_VENDORS.isdisjoint(node.args) for node in walk_through(value, owner.slots, _MOST_SLOTS)):
            continue
        made = context.tree.value(owner, value)
        if made.guessed or not _texts(made):
            return frozenset()
        found |= _texts(made)
        reads_device = reads_device or made.device
    return found if reads_device else frozenset()


def _owners(context: Context, module: Module, name: str) -> Iterator[tuple[Module, Expr]]:
    """The classes of the project that assign an attribute, with its value."""
    search = search_of(package_root(module.path), context.native.searches) if context.native is not None else None
    hits = search.word("python", name) if search is not None else ()
    assigned = (hit.file for hit in hits if f"self.{name}" in hit.text.partition("=")[0])
    for file in dict.fromkeys(assigned):
        other = context.tree.at(file.real, module_name(file.real, file.root))
        for body in other.classes.values() if other is not None else ():
            if other is not None and name in body.names:
                yield other, body.names[name]


def _spellings(texts: Iterable[str]) -> set[tuple[str, bool]]:
    """How texts are spelt, whichever chip they name: "sm_80" and "sm_120a" alike, "80" and "8.0" apart."""
    found = (spelled(text) for text in texts)
    return {(one.prefix, one.dotted) for one in found if one is not None}


def _draft(context: Context, judged: Judged, node: Expr, given: frozenset[str], names: frozenset[str]) -> Draft:
    answer = "true" if node.args[0] in ("!=", "not in") else "false"
    asked = {chip.joined for chip in context.targets}
    shown = min(given, key=lambda text: ((one := spelled(text)) is None or one.number not in asked, text))
    says = f"the text is spelt as in {shown!r}, and is compared with {sorted(names)[0]!r}: {answer} on every chip"
    return Draft(
        rule=RULE,
        place=DraftPlace(module=judged.module, at=node.at or judged.at, admitted=NONE, certain=NONE, gate=judged.gate),
        severity="warning",
        confidence="high",
        message=f"this comparison is the same on every chip: {says}",
        label=f"always {answer}",
        advice="spell both alike; then the arm is taken, so try what it does on later chips",
        claims=(Claimed(claims.other(says, context.targets), node.at or judged.at, judged.module),),
    )
