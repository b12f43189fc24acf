"""How loud a split is: what becomes of the member that is left out, and whether the author says why."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, ChipSet, group, spelling, words
from bwlint.chips.queries import names_model
from bwlint.chips.wording import plain
from bwlint.judging.behind import only_got
from bwlint.judging.context import Context
from bwlint.judging.siblings import admission, calls, users
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Side
from bwlint.model.findings import Confidence, Severity
from bwlint.model.kinds import ANSWERS, LISTED
from bwlint.rules.family_split import reasons
from bwlint.world.gates import Judged, answers_no, refuses

_CONSUMER, _SECOND = group("consumer-blackwell"), group("second-consumer")
_SUPPORTS = re.compile(words.said("support"), re.I)
_FAMILY_NAME = re.compile(words.families(_CONSUMER), re.I)
_PART_NAME = re.compile(rf"{spelling.IN_NAMES}120a?(?![A-Za-z0-9])")
REASONED = "A comment where it is used gives a reason."
"""With what the message of a split ends whose users say why."""
_SHORTEST_MODEL = 4
_TAG = re.compile(r"[\d.]+\Z")
_TUNING = re.compile(r"\btun(?:ing|ed)\b", re.I)
_VERSION = re.compile(r"(?:\b|_)ver(?:sions?)?(?:\b|_)", re.I)
_OF_DEVICE = re.compile(r"(?:sm|arch|architecture|compute|capability|device|cc)_?ver", re.I)
_TURNED_AWAY = re.compile(rf"{words.said('demand', 'refusal', 'fallback')}", re.I)


@dataclass(frozen=True, slots=True)
class Weight:
    """`why` ends the sentence of a finding; `user` is where a flag or predicate does harm."""

    severity: Severity
    confidence: Confidence
    why: str = ""
    user: Judged | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A gate that parts a family: its test holds on `test` and not on `missing`."""

    judged: Judged
    test: ChipSet
    missing: ChipSet

    @property
    def named(self) -> ChipSet:
        """The chips that the author thought of."""
        said = spelled(self.judged.gate.test, self.test | self.missing)
        if said in (self.test, self.missing):
            return said
        return self.test if names_members(self.judged) else self.missing

    @property
    def taken(self) -> ChipSet:
        """Those who get what is behind the gate."""
        if self.judged.denies:
            return self.missing
        yes, no = self.judged.gate.yes, self.judged.gate.no
        refused = refuses(no) or (answers_no(no) and not answers_no(yes))  # of a reason and None, None is the yes
        return self.test if refused else self.named

    @property
    def left_out(self) -> ChipSet:
        return (self.test | self.missing) - self.taken

    @property
    def turned_away(self) -> Side:
        """The side that who is left out takes."""
        return self.judged.gate.yes if self.left_out == self.test else self.judged.gate.no

    @property
    def switched_off(self) -> ChipSet:
        """The chips for which something becomes false or None, where the others keep it."""
        gate, side = self.judged.gate, self.turned_away
        if gate.kind in ANSWERS:
            return NONE
        if side.ends == "fall" and side.value is not None and side.value.args[:1] in ((False,), (None,)):
            return self.left_out
        if bool(gate.yes.disables) == bool(gate.no.disables) or (gate.no.rest and not gate.yes.disables):
            return NONE
        return self.test if gate.yes.disables else self.missing

    @property
    def refused(self) -> bool:
        """Whether that is an error, a no, or an arm whose text says that it is one."""
        side = self.turned_away
        in_words = not side.rest and any(_TURNED_AWAY.search(text.text) for text in side.texts)
        nothing = _returns_nothing(side, self.judged.working if side is self.judged.other else self.judged.other)
        return refuses(side) or answers_no(side) or nothing or self.judged.gate.is_a("assert", "skipif") or in_words


def names_members(judged: Judged) -> bool:
    """Whether a test lists chips (`==`, `in`) and not exceptions (`!=`, `not in`)."""
    return judged.gate.kind in LISTED or len(judged.core) <= len(EVERY) // 2


def spelled(test: Expr, family: ChipSet) -> ChipSet:
    """The members whose number stands in a test: 120, (12, 0), "sm_120a"."""
    nodes = list(walk(test))
    constants = [node.args[0] for node in nodes if node.op == "const" and not isinstance(node.args[0], bool)]
    pairs = [
        tuple(part.args[0] for part in node.args[0] if part.op == "const")
        for node in nodes
        if node.op in ("tuple", "list") and len(node.args[0]) == 2
    ]
    texts = [spelling.spelled(text) for text in constants if isinstance(text, str)]
    numbers = {number for number in constants if isinstance(number, int)}
    numbers |= {target.number for target in texts if target is not None}
    return ChipSet.joining(
        chip
        for chip in family
        if chip.joined in numbers or 10 * chip.joined in numbers or (chip.major, chip.minor) in pairs
    )


def weight(context: Context, cut: Cut) -> Weight:
    return next((found for rule in _RULES if (found := rule(context, cut)) is not None), Weight("note", "medium"))


def decides(judged: Judged) -> bool:
    """One member is refused, answered no, or denied a capability flag."""
    gate = judged.gate
    if gate.is_a("list", "assert", "skipif") or refuses(gate.yes) or refuses(gate.no):
        return True
    for side, other in ((gate.yes, gate.no), (gate.no, gate.yes)):
        value = side.value
        if value is not None and value.op == "const" and (value.args[0] is None or isinstance(value.args[0], bool)):
            return True
        if _returns_nothing(side, other):
            return True
        if side.ends == "return" and value is not None and value.op == "fstr":
            return True
    return gate.kind == "condition" and gate.yes.ends == "continue"


def _returns_nothing(side: Side, other: Side) -> bool:
    """Whether a side returns an empty text, list or, in C++, object (`return {};`), and the other one something."""
    is_thing = other.ends == "return" and not _is_empty(other.value) and not answers_no(other)
    return is_thing and side.ends == "return" and _is_empty(side.value)


def _is_empty(value: Expr | None) -> bool:
    return value is not None and (value.args[:1] == ("",) if value.op == "const" else value.args[:1] == ((),))


def _exact_build(context: Context, cut: Cut) -> Weight | None:
    """What is behind it is compiled for 12.0 alone, unless the gate is what picks the target."""
    judged = cut.judged
    picked = judged.working.at
    inside = picked is not None and any(picked.holds(text.at) for text in judged.module.targets)
    if inside or not context.builds_exact(judged):
        return None
    twin = next(iter(cut.left_out))
    wanted = f"{plain(cut.left_out)} needs sm_{twin.joined}a, or the f target if all of it assembles for that."
    why = f" The file builds for one part only. {wanted}"
    told = judged.module.carries or judged.sets.guessed or judged.in_test  # then the build itself is the finding
    return Weight("note", "low", why) if told or not decides(judged) else Weight("warning", "medium", why)


def _meant(context: Context, cut: Cut) -> Weight | None:
    judged = cut.judged
    if reasons.untried(judged):
        return Weight("note", "low", " Its text names this exact part: nothing is wrong if that is meant.")
    if reasons.given(judged.gate.comment) or reasons.hinted(judged.gate.comment) or reasons.named(judged):
        return Weight("note", "low", " A comment or a name says this exact part: nothing is wrong if that is meant.")
    return None


def _of_one_version(context: Context, cut: Cut) -> Weight | None:
    """What was seen with one version of a tool on one part is not known of the twin."""
    tests = (cut.judged.gate.test, *cut.judged.gate.path)
    exact = (node for test in tests for node in walk(test) if node.op == "cmp" and node.args[0] in ("==", "!="))
    if any(_is_of_version(node) for node in exact):
        return Weight("note", "low", " The check also requires one version of a tool.")
    return None


def _is_of_version(comparison: Expr) -> bool:
    parts = list(walk(comparison))
    said = [word for part in parts for word in part.args if isinstance(word, str) and _VERSION.search(word)]
    named = bool(said) and not any(_OF_DEVICE.search(word) for word in said)
    return named and any(_is_release(part) for part in parts)


def _is_release(part: Expr) -> bool:
    """`version[0]`, (13, 1) and "12.8": a plain number may be anything's version."""
    text = part.args[0] if part.op == "const" else None
    return part.op in ("index", "tuple") or (isinstance(text, str) and "." in text)


def _table(context: Context, cut: Cut) -> Weight | None:
    gate = cut.judged.gate
    if gate.kind != "table":
        return None
    if cut.named <= _SECOND:
        return Weight("note", "low")  # what was found for the later part
    if only_got(context, cut.judged, with_default=True):
        return Weight("note", "low", " A chip without a row gets a default.")
    return Weight("note", "medium", " The rows are sizes.") if gate.yes.tuning else Weight("warning", "medium")


def _answer(context: Context, cut: Cut) -> Weight | None:
    """Who asks a flag or a predicate decides; where nobody is seen to, its name does."""
    judged = cut.judged
    if judged.gate.kind not in ANSWERS:
        return None
    asking = list(users(context, judged, cut.test | cut.missing))
    if _says_tuning(judged):
        return Weight("note", "low", " The docstring of its function calls it tuning.")
    if any(reasons.given(user.gate.comment) or reasons.untried(user) for user in asking):
        return Weight("note", "low", f" {REASONED}")
    harmed = next((user for user in asking if (decides(user) or parts_ways(user)) and not user.in_test), None)
    if harmed is not None and (not judged.sets.guessed or harmed.gate.kind == "assert" or refuses(harmed.other)):
        return Weight("warning", "high", user=harmed)
    beside_others = bool(judged.core - _CONSUMER) and not judged.sets.guessed
    name = f"{judged.gate.qualname} {judged.gate.name}"
    of_family = _FAMILY_NAME.search(name) and not _PART_NAME.search(name)
    of_one = judged.sets.guessed or _PART_NAME.search(name) or any(map(_is_of_card, name.split("_")))
    told = _SUPPORTS.search(name) or of_family or beside_others or not of_one
    return Weight("warning", "medium") if told else Weight("note", "low")


def _is_of_card(word: str) -> bool:
    return len(word) >= _SHORTEST_MODEL and names_model(word)


def _says_tuning(judged: Judged) -> bool:
    function = judged.module.functions.get(judged.gate.qualname)
    return function is not None and _TUNING.search(function.doc) is not None


def _own_arm(context: Context, cut: Cut) -> Weight | None:
    """A row or an arm for the later part alone is one that was wanted there."""
    side = cut.turned_away
    refused = refuses(side) or (side.ends == "return" and answers_no(side))
    return Weight("note", "low") if cut.named <= _SECOND and not refused else None


def _decided(context: Context, cut: Cut) -> Weight | None:
    if decides(cut.judged):
        return Weight("warning", "medium" if cut.judged.sets.guessed else "high")
    return Weight("warning", "medium") if cut.refused and not cut.judged.sets.guessed else None


def _switched(context: Context, cut: Cut) -> Weight | None:
    return Weight("warning", "medium") if cut.switched_off and not cut.judged.sets.guessed else None


def _one_card(context: Context, cut: Cut) -> Weight | None:
    """What a card calls itself parts cards: others of the same capability go the way of the twin."""
    nodes = list(walk(cut.judged.gate.test))
    asked = (context.tree.function(cut.judged.module, node.args[0]) for node in nodes if node.op == "call")
    nodes += [node for one in asked if one is not None for path, _ in one.function.returns for node in walk(path)]
    constants = (node.args[0] for node in nodes if node.op == "const")
    named = any(isinstance(one, str) and spelling.spelled(one) is None and names_model(one) for one in constants)
    is_one = named and not refuses(cut.turned_away)
    return Weight("note", "low", " It names one card of several.") if is_one else None


def _tuned(context: Context, cut: Cut) -> Weight | None:
    gate = cut.judged.gate
    reckoned = gate.yes.value is not None and gate.yes.value.op == "bin" and gate.no.empty and gate.yes.ends == "fall"
    return (
        Weight("note", "low", " Only tuning values depend on it.")
        if gate.yes.tuning or gate.no.tuning or reckoned
        else None
    )


def _other_way(context: Context, cut: Cut) -> Weight | None:
    judged = cut.judged
    if judged.sets.guessed:
        return None
    if any(judged.working.holds(text.at) for text in judged.module.targets):
        why = f" The build gives {plain(cut.test)} a suffix that {plain(cut.left_out)} does not get."
        return Weight("warning", "medium", why)
    if not parts_ways(judged) or _exact_behind(context, cut):
        return None
    return Weight("warning", "medium")


def _exact_behind(context: Context, cut: Cut) -> bool:
    """Whether what it leads to is kept from the sibling by a gate of its own: that one is the finding."""
    judged = cut.judged
    found = (admission(context, judged.module, use) for use in calls(context, judged, judged.working))
    return any(one is not None and not one.chips & cut.left_out for one in found)


def parts_ways(judged: Judged) -> bool:
    """Whether one side calls or chooses what the other does not; numbers and names of targets are no way to go."""
    gate = judged.gate
    if not gate.is_a("condition", "expression") or gate.yes.tuning or gate.no.tuning:
        return False
    return bool((_ways(gate.yes) ^ _ways(gate.no)) - judged.mentioned)


def _ways(side: Side) -> set[str]:
    value = side.value.op if side.value is not None else ""
    found = {use.name for use in side.uses if use.is_a("call", "import", "text")}
    found |= {use.name for use in side.uses if use.how == "name" and (value in _NAMES or _scoped(value, use.name))}
    return {name.rpartition(".")[2] for name in found if not _TAG.match(name) and spelling.spelled(name) is None}


def _scoped(value: str, name: str) -> bool:
    """`Backend::Flash` of C++, which has no value that anybody knows."""
    return value == "param" and "." in name


def _generation(context: Context, cut: Cut) -> Weight | None:
    """The member that is named gets a kernel or value of the family, the other one of an older generation."""
    judged = cut.judged
    here, there = judged.gate.yes, judged.gate.no
    mine, its = _generations(here), _generations(there)
    consumer = {chip.major for chip in _CONSUMER}
    older = here.ends == "return" and bool(mine) and set(mine) <= consumer and bool(its) and its[0] not in consumer
    if not older or judged.denies:
        return None
    return Weight("warning", "medium", f" {plain(cut.left_out)} gets code named after another generation.")


def _generations(side: Side) -> list[int]:
    """The majors in the names that a side uses, in order."""
    found = (spelling.numbers(use.name) for use in side.uses if use.is_a("call", "name"))
    return [numbers[0] // 10 for numbers in found if numbers]


_NAMES = frozenset({"attr", "import", "function", "name"})
_RULES: tuple[Callable[[Context, Cut], Weight | None], ...] = (
    _exact_build,
    _meant,
    _of_one_version,
    _table,
    _one_card,
    _answer,
    _own_arm,
    _decided,
    _switched,
    _tuned,
    _generation,
    _other_way,
)
