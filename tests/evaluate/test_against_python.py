"""Python itself as the judge: random conditions give on every chip what Python gives there."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bwlint.chips import all_chips
from bwlint.evaluate.sources import Sources
from bwlint.readers.python import ReadError, read
from bwlint.world.tree import Sets, Tree

PRELUDE = """import torch
from functools import partial
from vllm.platforms import current_platform
cap = torch.cuda.get_device_capability()
major, minor = cap
named = current_platform.get_device_capability()
"""


class Named(NamedTuple):
    """What `current_platform.get_device_capability()` returns."""

    major: int
    minor: int

    def to_int(self) -> int:
        return self.major * 10 + self.minor


def sets_of(condition: str) -> Sets | None:
    source = f"{PRELUDE}if (  # sm_120\n{condition}\n): pass\n"
    module = read("/example.py", source, "example", False)
    gates = [gate for gate in module.gates if gate.kind == "condition"]
    return Tree(Sources(), lambda path, name: None).sets(module, gates[-1]) if gates else None


def by_python(condition: str, major: int, minor: int) -> object:
    """True, False, or the exception that Python raises."""
    names: dict[str, Any] = {
        "cap": (major, minor),
        "major": major,
        "minor": minor,
        "named": Named(major, minor),
        "partial": functools.partial,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(eval(f"(\n{condition}\n)", names))
    except Exception as error:
        return error


Draw = Callable[[st.SearchStrategy[str]], str]
Rules = dict[str, list[str]]
"""Templates by the kind of what they give; `<kind>` stands for an operand of that kind, `<leaf>` for a short one."""

HOLE = re.compile(r"<(\w+)>")
CONDITIONS: Rules = {
    "leaf": ["major", "minor", "cap[0]", "cap[1]", "named.major", "named.minor"],
    "literal": [
        *("0", "1", "3", "7", "8", "9", "10", "11", "12", "13"),
        *("75", "89", "90", "100", "103", "120", "121", "1200"),
    ],
    "number": [
        *("<leaf>", "<leaf>", "<literal>", "<literal>", "cap[-1]", "named[0]", "abs(<number>)", "(-<number>)"),
        *("(<number> + <number>)", "(<number> - <number>)", "(<number> * <number>)", "(<number> // <number>)"),
        *("(<number> % <number>)", "(<number> | <number>)", "(<leaf> * 10 + <leaf>)", "int(<text>)", "int(<number>)"),
        *("max(<number>, <number>)", "min(<number>, <number>)", "divmod(<number>, <number>)[0]", "len(<text>)"),
        *("(<number> if <number> else 9)", "(lambda m: m + 1)(<number>)", "partial(max, <number>)(9)", "<pair>[0]"),
    ],
    "pair": [
        *("cap", "cap", "named", "cap[:2]", "tuple(named)", "cap[::-1]", "(major, minor)", "cap + (0,)", "cap[:1]"),
        *("(12, 0)", "(12, 1)", "(10, 0)", "(9, 0)", "(8, 9)", "(10,)", "(0, 12)", "()", "(<number>, <number>)"),
    ],
    "text": [
        *("'12'", "'120'", "'sm_120'", "'12.0'", "'1'", "''", "'sm_'", "'12x'", "str(<number>)", "(<text> + <text>)"),
        *('f"{<leaf>}{<leaf>}"', 'f"sm_{<leaf>}{<leaf>}"', 'f"{<leaf>}.{<leaf>}"', "<text>[:2]", "<text>.upper()"),
        *("''.join(map(str, cap))", "'.'.join(str(p) for p in named)", "<text>.replace('sm_', '')"),
    ],
    "value": ["<number>", "<pair>", "<text>", "None", "True"],
    "op": ["==", "!=", "<", "<=", ">", ">="],
    "like": ["<number> <op> <number>", "<pair> <op> <pair>", "<text> <op> <text>"],
    "simple": [
        *("<like>", "<like>", "<like>", "<value> <op> <value>", "<number> <= <number> < <number>"),
        *("<value> in (<value>, <value>)", "<value> not in [<value>, <value>]", "<value> in {<value>, <value>}"),
        *("<value> in {<value>: 0, <value>: 1}", "{<literal>: <number>}.get(<number>, 9) == <number>"),
        *("<number> in range(<literal>, <literal>)", "<text> in <text>", "<text>.startswith(<text>)"),
        *("<text>.endswith((<text>, <text>))", "<text>.isdigit()", "isinstance(<value>, str)", "<value> is not None"),
        *("any(<number> == x for x in (<number>, <number>))", "all(<number> >= x for x in [<number>, <number>])"),
        *("[x for x in (<number>, <number>) if x == <number>] != []", "named.to_int() in (120, <number>)"),
        *("bool(<value>)", "(<number>, <number>) <op> <pair>", "<number> in <pair>", "<pair> in [<pair>, <pair>]"),
    ],
    "condition": [
        *("<simple>", "<simple>", "<simple>", "(<condition>) and (<condition>)", "(<condition>) or (<condition>)"),
        *("not (<condition>)", "bool(<condition>)", "(lambda: <condition>)()", "(x := (<condition>)) and not x"),
        "((<condition>) if (<condition>) else (<condition>))",
    ],
}
WILD: Rules = {
    "name": [
        *("cap", "major", "named", "arch", "capability", "SM", "self", "torch", "f", "x", "current_platform"),
        *("None", "12", "-1", "1.5", "'sm_120'", "(12, 0)"),
    ],
    "wild": [
        *("<name>", "<name>", "<name>", "(<wild> == <wild>)", "(<wild> + <wild>)", "(<wild> * <wild>)"),
        *("(<wild> % <wild>)", "(<wild> << <wild>)", "(<wild> in <wild>)", "(<wild> < <wild> <= <wild>)"),
        *("(<wild> is <wild>)", "<wild>[<wild>]", "<wild>(<wild>)", "<wild>(<wild>, <wild>)", "<wild>[<wild>:]"),
        *("(<wild> and <wild>)", "(<wild> or <wild>)", "(not <wild>)", "(-<wild>)", "[<wild>, *<wild>]"),
        *("{<wild>: <wild>}", "{<wild>, <wild>}", "(<wild>).major", "(<wild>).to_int()", "(<wild>).x"),
        *("str(<wild>)", "int(<wild>)", "len(<wild>)", "sorted(<wild>)", "any(<wild>)", "max(<wild>)"),
        *("tuple(<wild>)", "range(<wild>)", 'f"{<name>}<name>"', "(lambda x: <wild>)", "divmod(<wild>, 10)"),
        *("[x for x in <wild> if <wild>]", "any(x == <wild> for x in <wild>)", "map(<wild>, <wild>)"),
        *("getattr(<wild>, <wild>)", "isinstance(<wild>, <wild>)", "(<wild>).join(<wild>)", "(<wild>).get(<wild>)"),
        *("(<wild>).startswith(<wild>)", "(<wild>).is_family_of(<wild>)", "(<wild>).split(<wild>)"),
        *("(<wild>).is_device_capability(<wild>)", "(<wild> if <wild> else <wild>)", "(<wild>).index(<wild>)"),
    ],
}


def written(draw: Draw, rules: Rules, kind: str, depth: int = 4) -> str:
    """A text of `kind`. Where `depth` ends, templates without operands are taken."""
    choices = rules[kind] if depth > 0 else [choice for choice in rules[kind] if "<" not in choice] or rules[kind][:1]
    template = draw(st.sampled_from(choices))
    return HOLE.sub(lambda hole: written(draw, rules, hole[1], depth - 1), template)


@st.composite
def texts(draw: Draw, rules: Rules, kind: str) -> str:
    return written(draw, rules, kind)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts(CONDITIONS, "condition"))
def test_python_agrees(expression: str) -> None:
    sets = sets_of(expression)
    outcomes = {chip.name: by_python(expression, chip.major, chip.minor) for chip in all_chips()}
    if sets is None:
        return
    for name, outcome in outcomes.items():
        if outcome is True:
            assert name in sets.may, (expression, name)
        elif outcome is False:
            assert name not in sets.must and name not in sets.raises, (expression, name)
        elif isinstance(outcome, TypeError | AttributeError):
            assert name not in sets.must, (expression, name, outcome)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts(CONDITIONS, "like"))
def test_comparisons_of_like_with_like_are_decided(expression: str) -> None:
    outcomes = [by_python(expression, chip.major, chip.minor) for chip in all_chips()]
    if any(isinstance(outcome, Exception) for outcome in outcomes) or len(set(outcomes)) == 1:
        return
    sets = sets_of(expression)
    assert sets is not None, expression
    expected = tuple(chip.name for chip, outcome in zip(all_chips(), outcomes, strict=True) if outcome is True)
    assert sets.may.names == sets.must.names == expected, expression


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts(WILD, "wild"))
def test_nothing_raises_out_of_the_interpreter(expression: str) -> None:
    try:
        sets = sets_of(expression)
    except ReadError:
        return
    if sets is not None:
        assert sets.must <= sets.may
        assert not sets.raises & sets.may
