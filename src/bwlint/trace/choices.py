"""Backends that options and variables requested, and whether their kernels ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bwlint.chips import backends
from bwlint.chips.backends import Backend
from bwlint.trace.receipt import Choice, Outcome, Process


def requested(command: Sequence[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Options and variables that name a backend, with the values they give it. An option's value is what follows "=" or
    the next word; values that leave the choice to the program ask for nothing."""
    known = set(backends.options())
    given = [*_options(command[1:]), *sorted(environment.items())]
    found = ((name, value) for name, value in given if backends.normal(name) in known and backends.kind_of(name))
    return tuple((name, value) for name, value in found if value.lower() not in _NO_CHOICE)


_NO_CHOICE = frozenset({"", "auto", "none", "default", "false", "0"})


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word.partition("=")
        following = words[place + 1] if place + 1 < len(words) else ""
        yield name, value if equals else "" if following.startswith("-") else following


def choices(asked: Iterable[tuple[str, str]], processes: Sequence[Process]) -> tuple[Choice, ...]:
    kernels = dict.fromkeys(launch.kernel for process in processes for launch in process.launches)
    devices = dict.fromkeys(process.capability(row.device) for process in processes for row in process.launches)
    return tuple(_choice(option, value, list(kernels), [name for name in devices if name]) for option, value in asked)


def _choice(option: str, value: str, kernels: Sequence[str], devices: Sequence[str]) -> Choice:
    kind, name = backends.kind_of(option), value.lower()
    rows = [row for row in backends.backends() if row.kind == kind]
    wanted = [row for row in rows if name in row.values]
    executed = _ran(wanted, kernels)
    own = {kernel for row in wanted for kernel in kernels if row.kernels.search(kernel)}
    instead = _ran([row for row in rows if row not in wanted], [kernel for kernel in kernels if kernel not in own])
    eligible, reason = _eligible(option, value, devices)
    return Choice(
        option,
        value,
        eligible,
        reason,
        executed,
        () if executed else instead,
        _outcome(executed, instead, bool(wanted) or eligible is False),
    )


def _outcome(executed: Sequence[str], instead: Sequence[str], is_told_apart: bool) -> Outcome:
    """`is_told_apart`: its kernels are known, or it cannot have run."""
    if executed:
        return "executed"
    if not is_told_apart:
        return "not known"
    return "replaced" if instead else "not executed"


def _ran(rows: Iterable[Backend], kernels: Sequence[str]) -> tuple[str, ...]:
    """A kernel for each backend that ran."""
    found = ((row.what, next((each for each in kernels if row.kernels.search(each)), "")) for row in rows)
    return tuple(f"{what}: {kernel}" for what, kernel in found if kernel)


def _eligible(option: str, value: str, devices: Sequence[str]) -> tuple[bool | None, str]:
    """Whether the table of launchers lets it run on the devices that were used."""
    plan = backends.plan_of(option, value)
    if plan is None:
        return None, "bwlint knows no reason against it"
    if not devices:
        return None, "no device was used"
    barred = [device for device in devices if device not in plan.legal.names]
    if barred:
        return False, f"{plan.launcher}: on {', '.join(barred)} {plan.what} {plan.outcome}"
    return True, f"{plan.what} runs on {', '.join(devices)}"
