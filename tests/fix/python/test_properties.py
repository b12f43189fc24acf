"""What holds of every fix of a Python test, over generated gates."""

from __future__ import annotations

import ast
import re
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bwlint.chips import EVERY, ChipSet, siblings
from bwlint.fix.edited import apply
from bwlint.model.findings import Edit, Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.sources.read import SourceText

HEAD = """import torch
from vllm.platforms import current_platform

cap = torch.cuda.get_device_capability()
major, minor = cap
sm = major * 10 + minor
named = current_platform.get_device_capability()


"""
PARTS = [(8, 9), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)]
parts = st.sampled_from(PARTS)
several = st.lists(parts, min_size=1, max_size=4, unique=True)


def _joined(part: tuple[int, int]) -> int:
    return part[0] * 10 + part[1]


def _sequence(values: list[object], brackets: str) -> str:
    inside = ", ".join(map(str, values))
    return f"({inside},)" if brackets == "()" else f"{brackets[0]}{inside}{brackets[1]}"


brackets = st.sampled_from(["[]", "()", "{}"])
atoms = st.one_of(
    st.builds(lambda part, op: f"cap {op} {part}", parts, st.sampled_from(["==", "!="])),
    st.builds(lambda part, op: f"sm {op} {_joined(part)}", parts, st.sampled_from(["==", "!=", ">=", "<"])),
    st.builds(
        lambda some, kind, op: f"cap {op} {_sequence(list(some), kind)}",
        several,
        brackets,
        st.sampled_from(["in", "not in"]),
    ),
    st.builds(
        lambda some, kind, op: f"sm {op} {_sequence([_joined(part) for part in some], kind)}",
        several,
        brackets,
        st.sampled_from(["in", "not in"]),
    ),
    st.builds(lambda part: f"major == {part[0]} and minor == {part[1]}", parts),
    st.builds(lambda part: f"major != {part[0]} or minor != {part[1]}", parts),
    st.builds(lambda part: f"f'sm_{{major}}{{minor}}' == 'sm_{_joined(part)}'", parts),
    st.builds(lambda part: f"current_platform.is_device_capability({_joined(part)})", parts),
    st.builds(
        lambda some, kind: f"named in {_sequence([_joined(part) for part in some], kind)}",
        several,
        brackets,
    ),
    st.sampled_from(["ready()", "major >= 10", "major == 12", "torch.version.cuda >= '12.8'"]),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        inner.map(lambda test: f"not ({test})"),
        st.builds(lambda one, two, word: f"({one}) {word} ({two})", inner, inner, st.sampled_from(["and", "or"])),
    ),
    max_leaves=3,
)
comments = st.sampled_from(["", "", "", "  # RTX 5090", "  # exactly this part", "  # caf\u00e9 \U0001f680"])
arms = st.sampled_from(["raise RuntimeError('unsupported')", "return None", "run()", "pass"])
ENDS = {"lf": "\n", "crlf": "\r\n"}


@st.composite
def files(draw: st.DrawFn) -> str:
    """A module with some gates, each in a function of its own."""
    text = HEAD
    for number in range(draw(st.integers(1, 3))):
        test, comment = draw(conditions), draw(comments)
        text += f"def f{number}():\n    if {test}:{comment}\n        {draw(arms)}\n    {draw(arms)}\n\n\n"
    return text.replace("\n", ENDS[draw(st.sampled_from(sorted(ENDS)))])


def findings_of(text: str) -> tuple[Finding, ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.py"
        path.write_bytes(text.encode())
        request = CheckRequest((str(path),), severity="note", jobs=1, fixes=True)
        with ExitStack() as stack:
            return check(request, stack).report.findings


def edits_of(found: tuple[Finding, ...], *, unsafe: bool) -> list[Edit]:
    fixes = [finding.fix for finding in found if finding.fix is not None]
    return [edit for fix in fixes if unsafe or fix.applicability == "safe" for edit in fix.edits]


def fixed(text: str, *, unsafe: bool = False) -> str:
    """A text after as many passes as change it."""
    for _ in range(6):
        edits = edits_of(findings_of(text), unsafe=unsafe)
        after = apply(text, edits)
        if after == text:
            return text
        text = after
    raise AssertionError("does not come to an end")


quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(files(), st.booleans())
def test_twice_is_once(text: str, unsafe: bool) -> None:
    once = fixed(text, unsafe=unsafe)
    ast.parse(once)
    assert apply(once, edits_of(findings_of(once), unsafe=unsafe)) == once


@quick
@given(files())
def test_safe_fixes_leave_others_as_they_were(text: str) -> None:
    for finding in findings_of(text):
        fix = finding.fix
        if fix is None or fix.applicability != "safe" or fix.kind != "family":
            continue
        before, after = ChipSet.of(*fix.proof.before_may), ChipSet.of(*fix.proof.after_may)
        moved = (before | after) - (before & after)
        for chip in moved:
            held = {other in before for other in siblings(chip) - ChipSet.of(chip.name)}
            assert moved <= siblings(chip)
            assert (chip not in before) in held
        must = ChipSet.of(*fix.proof.before_must), ChipSet.of(*fix.proof.after_must)
        assert (must[0] | must[1]) - (must[0] & must[1]) <= siblings(next(iter(moved or EVERY)))


@quick
@given(files())
def test_text_outside_is_the_same(text: str) -> None:
    for finding in findings_of(text):
        if finding.fix is None:
            continue
        after, old = apply(text, finding.fix.edits), SourceText(text)
        ast.parse(after)
        position, rest = 0, after
        for edit in sorted(finding.fix.edits, key=lambda edit: (edit.region.line, edit.region.column)):
            start = old.offset(edit.region.line, edit.region.column)
            end = old.offset(edit.region.end_line, edit.region.end_column)
            assert rest.startswith(text[position:start] + edit.text)
            rest, position = rest[start - position + len(edit.text) :], end
        assert rest == text[position:]
        assert ("\r" in after) == ("\r" in text) and not re.search("[^\r]\n", after if "\r" in text else "")


@quick
@given(files())
def test_suppressions_hold(text: str) -> None:
    """What a comment silences is not changed."""
    lines = re.split("\r\n|\n", text)
    rules = "family-split, capability-type, constant-test, leak, excluded, message"
    silenced = [
        f"{line.partition('  #')[0]}  # bwlint: ignore[{rules}] as it is" if line.startswith("    if ") else line
        for line in lines
    ]
    after = fixed("\n".join(silenced), unsafe=True)
    kept = [line for line in silenced if line.startswith("    if ")]
    assert [line for line in after.split("\n") if line.startswith("    if ")] == kept
