"""Starts a rule: its TOML, its module and its fixtures, and says what is to be filled in.

    python tools/new_rule.py NAME [--looks-at gate|guard|file] [--group 1..9] [--category C] [--severity S] [--new-fact]

NAME is words with hyphens, such as sm-count. `--group` is the first digit of the code (1 gates, 2 instructions,
3 builds, 4 links, 5 amounts); the next free code of it is taken. Nothing that is there is overwritten. What is written
passes ruff and mypy at once, and fails in the tests of fixtures and examples until the rule finds what they show.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import get_args

from bwlint.data import read_toml
from bwlint.model.findings import SEVERITIES, Category

ROOT = Path(__file__).parents[1]
TODO = "FILL IN"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+|[a-z][a-z0-9]{2,}")

SIGNATURES = {
    "gate": ("check", "judged: Judged", "from bwlint.world.gates import Judged"),
    "guard": ("check_guard", "guarded: Guarded", "from bwlint.judging.guards import Guarded"),
    "file": ("check_file", "module: Module", "from bwlint.model.facts import Module"),
}
PLACES = {
    "gate": "DraftPlace.of_gate(judged)",
    "guard": "DraftPlace.of_guard(guarded)",
    "file": "DraftPlace(module=module, at=one.at, admitted=wrong, certain=wrong)",
}
CHIPS = f"{TODO}: those of context.targets on which it goes wrong"
RULE_TRAITS = "from bwlint.model.rule import RuleTraits"
BODIES = {
    "gate": f"    wrong = judged.may & NONE  # {CHIPS}\n    if not wrong:\n        return\n",
    "guard": f"    wrong = guarded.chips & NONE  # {CHIPS}\n    if not wrong:\n        return\n",
    "file": (
        "    for one in module.operations:  # FILL IN: those of your `OperationKind`\n"
        f"        wrong = context.let_in(module, one.at) & NONE  # {CHIPS}\n"
        "        if not wrong:\n            continue\n"
    ),
}

MODULE = '''"""{name}: {todo}: what is wrong, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
{imports}

RULE = RuleTraits("{name}")


def {function}(context: Context, {parameter}) -> Iterator[Draft]:
{body}{indent}says = f"{todo}: what happens on {{plain(wrong)}}"
{indent}yield Draft(
{indent}    place={place},
{indent}    severity="{severity}",
{indent}    confidence="low",
{indent}    message=says,
{indent}    label="{todo}: two or three words",
{indent}    advice="{todo}: what to write instead",
{indent}    claims=(Claimed(claims.other(says, wrong)),),
{indent})
'''

TEXT = '''code = "{code}"
name = "{name}"
category = "{category}"
severity = "{severity}"
summary = "{todo}: one line, no period"
why = """
{todo}: what happens on which chip, with numbers: the reason alone.
"""
reported = [{reported}]
note = [{noted}]
silent = ["{todo}: what looks like it and is right, and why, one line each"]
example = """
{todo} = "code in which the rule finds exactly this"
"""
instead = """
{todo} = "the same code as it should be: nothing is found"
"""
confirm = "{todo}: the command, or what to do on a card, that shows whether a finding is right"
fix = "none: {todo}: why; or safe, or unsafe, as its first word"
evidence = ["read"]  # {todo}: assembled, run, read, documented, reported, evaluated (settings/catalog.py)
sources = [
    "{todo}: what was read, assembled or run, and where: repository and file, document and section, GPU and driver",
]
'''

FIRES = '''"""{todo}: what fires, one form each; a marker on the line where the finding begins."""

import torch

if torch.cuda.get_device_capability() >= (10, 0):  # {severity}: [{name}]
    print("{todo}")
'''

SILENT = '''"""{todo}: what looks like it and is right: the whole family, an early return above."""

import torch

if torch.cuda.get_device_capability()[0] == 9:
    print("Hopper")
'''

FIRES_GUARD = """// {todo}: what fires, one form each; a marker on the line where the finding begins.

__global__ void newer(float* out) {{
#if __CUDA_ARCH__ >= 1000  // {severity}: [{name}]
  out[0] = 1.0f;  // {todo}
#endif
}}
"""

SILENT_GUARD = """// {todo}: what looks like it and is right: the whole family, another generation.

__global__ void another(float* out) {{
#if __CUDA_ARCH__ >= 900
  out[0] = 1.0f;
#else
  out[0] = 2.0f;
#endif
}}
"""


READER = '''"""{todo}: what it finds in Python, in one sentence."""

from __future__ import annotations

import ast

from bwlint.model.facts import Operation

ANCHORS = (b"{stem}",)  # {todo}: words of which one stands, in any case, in every file that has it


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file with one of the `ANCHORS` may have what is looked for."""
    return True  # {todo}: what else has to be there


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """{todo}: one `Operation(kind, name, span(node), amounts=(const(number),))` for each place (readers/spans.py)."""
    return ()
'''

READER_TEST = '''"""{todo}: what is found in Python and what is not."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.{stem} import operations

CASES = {{"{todo}: code, and how many places are found": 1}}


@pytest.mark.parametrize(("code", "count"), CASES.items())
def test_operations(code: str, count: int) -> None:
    assert len(operations(ast.parse(code), code)) == count
'''


def free_code(group: int, rules: Path) -> str:
    """The code behind the last one that begins with `group`."""
    codes = [int(read_toml(path)["code"][2:]) for path in rules.glob("*.toml")]
    return f"BW{max([group * 100, *(code for code in codes if code // 100 == group)]) + 1}"


def started(
    name: str, looks_at: str, group: int, category: str, severity: str, *, new_fact: bool = False, root: Path = ROOT
) -> list[Path]:
    """Writes the files of a rule below `root`; returns them. Raises FileExistsError before anything is written."""
    stem = name.replace("-", "_")
    about, module = root / "rules" / f"{name}.toml", root / "src" / "bwlint" / "rules" / f"{stem}.py"
    suffix, shown = (".cu", (FIRES_GUARD, SILENT_GUARD)) if looks_at == "guard" else (".py", (FIRES, SILENT))
    fires, silent = (root / "fixtures" / name / f"{file}{suffix}" for file in ("fires", "silent"))
    reader = root / "src" / "bwlint" / "readers" / "python" / f"{stem}.py"
    reader_test = root / "tests" / "readers" / "python" / f"test_{stem}.py"
    fact = (reader, reader_test) if new_fact else ()
    there = [path for path in (about, module, module.with_suffix(""), fires, silent, *fact) if path.exists()]
    if there:
        raise FileExistsError(f"{there[0]} is there already")
    function, parameter, imported = SIGNATURES[looks_at]
    values = {"name": name, "category": category, "severity": severity, "todo": TODO}
    told = f'"{TODO}: what is found, one line each"'
    values |= {"reported": "" if severity == "note" else told, "noted": told if severity == "note" else ""}
    code = free_code(group, root / "rules")
    texts = {
        about: TEXT.format(code=code, **values),
        module: MODULE.format(
            function=function,
            parameter=parameter,
            imports="\n".join(sorted((imported, RULE_TRAITS))),
            body=BODIES[looks_at],
            place=PLACES[looks_at],
            indent="        " if looks_at == "file" else "    ",
            **values,
        ),
        fires: shown[0].format(**values),
        silent: shown[1].format(**values),
    }
    if new_fact:
        texts |= {reader: READER.format(stem=stem, **values), reader_test: READER_TEST.format(stem=stem, **values)}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return [*texts]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--looks-at", choices=tuple(SIGNATURES), default="gate")
    parser.add_argument("--group", type=int, choices=range(1, 10), default=1)
    parser.add_argument("--category", choices=get_args(Category), default="other")
    parser.add_argument("--severity", choices=SEVERITIES, default="note")
    parser.add_argument("--new-fact", action="store_true", help="a reader of Python and its test, too")
    options = parser.parse_args()
    if not _NAME.fullmatch(options.name):
        parser.error(f"a rule is named in words with hyphens, not {options.name!r}")
    try:
        written = started(
            options.name,
            options.looks_at,
            options.group,
            options.category,
            options.severity,
            new_fact=options.new_fact,
        )
    except FileExistsError as error:
        print(f"new_rule: {error}", file=sys.stderr)
        return 1
    for path in written:
        print(path.relative_to(ROOT))
    if options.new_fact:
        stem = options.name.replace("-", "_")
        print(f"Name the reader in `_READERS` of src/bwlint/readers/python/__init__.py: {stem!r}: {stem}.")
    print(f"Now fill in what says {TODO!r} (CONTRIBUTING.md, 'Add a rule'), then:")
    print(f"  bwlint check --exit-zero --severity note --format concise fixtures/{options.name}")
    print("  python -m pytest -q tests/test_fixtures.py tests/settings tests/rules tests/readers/python")
    print("  python tools/docs.py")
    print("  python -m pytest -q tests/test_golden.py --update-golden; git add -N tests/golden; git diff tests/golden")
    return 0


if __name__ == "__main__":
    sys.exit(main())
