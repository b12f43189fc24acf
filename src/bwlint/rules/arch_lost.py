"""arch-lost: a class pins its architecture, and the constructor of its base sets that again."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import Target, all_chips
from bwlint.evaluate.objects import ClassValue
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.details import Pinned
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("arch-lost")
_MOST_BASES = 8


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if isinstance(one.detail, Pinned) and _names_a_chip(one.detail.value):
            found = _set_anew(context, module, one)
            if found is not None:
                yield _draft(context, module, one, one.detail.value, *found)


def _names_a_chip(value: object) -> bool:
    if isinstance(value, str):
        try:
            return bool(Target.parse(value).name)
        except ValueError:
            return False
    return any(chip.joined == value for chip in all_chips())


def _set_anew(context: Context, module: Module, pinned: Operation) -> tuple[Module, Operation] | None:
    """Where the nearest base that sets the attribute in its constructor does that."""
    owner, _, name = pinned.name.rpartition(".")
    body = next((one for one in module.classes.values() if one.qualname.rpartition(".")[2] == owner), None)
    known = [(module, body)] if body is not None else []
    for home, one in known:
        for value in (context.tree.value(home, base).only() for base in one.bases):
            if isinstance(value, ClassValue) and len(known) <= _MOST_BASES:
                known.append((value.module, value.body))
    for home, one in known[1:]:
        wanted = f"{one.qualname.rpartition('.')[2]}.{name}"
        found = next((other for other in home.operations if (other.kind, other.name) == ("set-anew", wanted)), None)
        if found is not None:
            return home, found
    return None


def _draft(context: Context, module: Module, pinned: Operation, value: object, home: Module, anew: Operation) -> Draft:
    owner, _, name = pinned.name.rpartition(".")
    base = anew.name.rpartition(".")[0]
    gates = ((file, gate) for file in (module, home) for gate in file.gates if f".{name}" in gate.text)
    asked = next(gates, None)
    says = f"`{owner}` sets {name} to {value!r}, and then the constructor of `{base}` overwrites it"
    related = [RelatedSpan(home, anew.at, "set again here")]
    if asked is not None:
        related.append(RelatedSpan(asked[0], asked[1].at, "checked here"))
    return Draft(
        place=DraftPlace(module=module, at=pinned.at, admitted=context.targets, certain=context.targets),
        severity="warning" if asked is not None else "note",
        confidence="high" if asked is not None else "medium",
        message=f"{says}. Every check of self.{name} sees the value of `{base}`, on every card.",
        label="this value is lost",
        advice=f"Set it after super().__init__(), or pass it to `{base}`.",
        related=tuple(related),
        remedy=NoFix("decide which value counts: if the one here, set it after super().__init__()"),
        claims=(Claimed(claims.other(says, context.targets, name)),),
    )
