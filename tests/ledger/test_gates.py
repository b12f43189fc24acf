"""Questions of guards: what a table says of targets, and what is odd about its test."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import BOTH, analysed

from bwlint.ledger import gates
from bwlint.ledger.question import Question
from bwlint.ledger.verdicts import verdict
from bwlint.model.expr import Span, const
from bwlint.model.facts import Prose, Side, Use

TCGEN05 = "Does the call of `f` need tcgen05, tensor memory or more than 99 KiB of shared memory, which 12.x lack?"
WGMMA = "Does the call of `f` need wgmma or tcgen05, which 12.x lack? TMA and clusters are there."
AT = Span(1, 0, 1, 9)


def asked(folder: Path, name: str, text: str, form: str) -> list[Question]:
    found = analysed(folder, {name: text}, targets=BOTH).questions
    return [question for _, questions in found for question in questions if question.form == form]


GUARDED = "#if {}\n__device__ int f() {{ return 1; }}\n#endif\n"


@pytest.mark.parametrize(
    ("test", "kind", "why"),
    [
        ("__CUDA_ARCH__ >= 800", "pass", "the same answer"),
        (
            "__CUDA_ARCH__ >= 1000",
            "review",
            "Treats 12.x and 10.0 alike, and 8.9 and 9.0 differently. " + TCGEN05,
        ),
        (
            "defined(FAST) && __CUDA_ARCH__ >= 1000",
            "review",
            "Treats 12.x and 10.0 alike, and 8.9 and 9.0 differently. " + TCGEN05,
        ),
        # An alternative that no build sets makes nobody alike: this passed once.
        (
            "(__CUDA_ARCH__ >= 1000) || defined(__IDE__)",
            "review",
            "Treats 12.x and 10.0 alike, and 8.9 and 9.0 differently. " + TCGEN05,
        ),
        ("defined(FAST) || defined(__CUDA_ARCH__)", "pass", "the same answer"),
        # A tenth of the number that was meant: true for everybody.
        ("__CUDA_ARCH__ >= 90", "review", "`__CUDA_ARCH__` is 890 for 8.9: every target is above 90"),
        ("__CUDA_ARCH__ < 120", "review", "every target is above 120"),
        (
            "__CUDA_ARCH__ >= 90 * 10",
            "review",
            "Treats 12.x, 9.0 and 10.0 alike, and 8.9 differently. " + WGMMA,
        ),
    ],
)
def test_guards(tmp_path: Path, test: str, kind: str, why: str) -> None:
    (found,) = asked(tmp_path, "k.cu", GUARDED.format(test), "guard")
    known = verdict(found, BOTH)
    assert known.kind == kind
    assert why in known.why


def test_what_a_macro_of_another_file_stands_for_is_not_known(tmp_path: Path) -> None:
    """It passed once, with "the same answer" for all."""
    files = {
        "common.h": "#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200\n#define ENABLE_SM100A\n#endif\n",
        "k.cuh": GUARDED.format("defined(ENABLE_SM100A)"),
    }
    found = analysed(tmp_path, files, targets=BOTH).questions
    known = [verdict(one, BOTH) for file, every in found for one in every if "ENABLE" in one.text and file.path]
    assert known
    assert all(one.kind != "pass" for one in known)


def test_the_refusal_behind_a_chain_is_a_place_of_it(tmp_path: Path) -> None:
    text = """int pick() {
  int major = at::cuda::getCurrentDeviceProperties()->major;
  if (major == 9) {
    return 1;
  } else if (major == 10) {
    return 2;
  }
  throw std::runtime_error("Unknown recipe");
}
"""
    places = {place.line for question in asked(tmp_path, "k.cpp", text, "gate") for place in question.places}
    assert {3, 5, 8} <= places


PYTHON = "import torch\n\ncap = torch.cuda.get_device_capability()\n\n\n"


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        # Whether a value is true is not what it is.
        ("def pick(args):\n    return args.hardware or str(cap)\n", "open", "the value that it hands on may differ"),
        ("def ok(args):\n    return args.force or cap >= (8, 0)\n", "pass", "get the same answer"),
        # A card is one of several of its chip.
        (
            "name = torch.cuda.get_device_name()\nif 'L40S' in name:\n    fast()\n",
            "review",
            "Treats 12.x, 9.0 and 10.0 alike, and 8.9 differently. "
            + WGMMA.replace("the call of `f`", "code that depends on this"),
        ),
    ],
)
def test_gates(tmp_path: Path, text: str, kind: str, why: str) -> None:
    found = [verdict(question, BOTH) for question in asked(tmp_path, "a.py", PYTHON + text, "gate")]
    assert (kind, True) in [(known.kind, why in known.why) for known in found]


@pytest.mark.parametrize(("name", "kind"), [("a.py", "review"), ("tests/test_a.py", "pass")])
def test_a_list_raises_no_error_by_itself(tmp_path: Path, name: str, kind: str) -> None:
    text = "CAPABILITIES = ((8, 0), (8, 6), (9, 0), (10, 0), (12, 0))\n"
    (found,) = asked(tmp_path, name, PYTHON + text, "list")
    assert [way.does for way in found.ways] == ["is left out"]
    assert verdict(found, BOTH).kind == kind


def test_a_record_of_a_kernel_raises_no_error_by_itself(tmp_path: Path) -> None:
    text = PYTHON + "KERNELS = [Kernel('pkg.fast:run', min_sm=90, max_sm=110)]\n"
    (found,) = asked(tmp_path, "a.py", text, "gate")
    assert [way.does for way in found.ways] == ["is left out"]


def test_an_assert_at_the_end_raises_its_error(tmp_path: Path) -> None:
    (found,) = asked(tmp_path, "tests/test_a.py", PYTHON + "def test_it():\n    assert cap < (12, 0)\n", "gate")
    assert [way.does for way in found.ways] == ["raises an error"]


def test_cards_of_one_chip(tmp_path: Path) -> None:
    text = "name = torch.cuda.get_device_name()\nif 'L4' in name:\n    a()\nelif 'L40S' in name:\n    b()\n"
    (found,) = asked(tmp_path, "a.py", PYTHON + text, "gate")
    assert dict(found.table)["8.9"] == "may"
    assert dict(found.table)["12.0"] == "else"


TABLE = """import torch

NAMES = {{(9, 0): 'h', (10, 0): 'b', (12, 0): 'd'}}


def name():
    c = torch.cuda.get_device_capability()
    return {}
"""


@pytest.mark.parametrize(
    ("read", "raises"),
    [
        ("NAMES[c]", True),
        ("NAMES[(c[0], c[1])]", True),
        ("NAMES.get(c)", False),
        ("NAMES.get(c, 'other')", False),
        ("NAMES.get((c[0], c[1]), f'sm_{c[0]}')", False),
        ("NAMES.get(c) or NAMES[(9, 0)]", False),
        ("NAMES.get(c, 'x')\n\n\ndef other(c):\n    return NAMES[c]", True),
    ],
)
def test_what_is_only_got_raises_nothing(tmp_path: Path, read: str, raises: bool) -> None:
    found = [one for one in asked(tmp_path, "a.py", TABLE.format(read), "table") if one.subject == "NAMES"]
    assert any("raises" in way.does for one in found for way in one.ways) is raises


ROWS = "{{0x75, 64}, {0x80, 64}, {0x86, 128}, {-1, -1}}"
SEARCH = """#include <cuda_runtime.h>
int lanes(const cudaDeviceProp& prop) {
  struct { int key; int lanes; } rows[] = %s;
  int i = 0;
  while (rows[i].key != -1) {
    if (rows[i].key == ((prop.major << 4) + prop.minor)) return rows[i].lanes;
    i++;
  }
  return rows[i - 1].lanes;
}
"""


@pytest.mark.parametrize(
    ("rows", "kind", "why"),
    [
        (ROWS, "review", "`rows` has rows for 7.5 to 8.6 but none for 12.x"),
        (ROWS.replace("{-1", "{0x89, 128}, {0x90, 128}, {0xa0, 128}, {0xc0, 128}, {0xc1, 128}, {-1"), "open", ""),
    ],
)
def test_tables_that_are_searched(tmp_path: Path, rows: str, kind: str, why: str) -> None:
    (found,) = asked(tmp_path, "lanes.cpp", SEARCH % rows, "table")
    told = verdict(found, BOTH)
    assert told.kind == kind
    assert why in told.why


def texts(*said: str) -> tuple[Prose, ...]:
    return tuple(Prose(one, AT) for one in said)


def calls(*names: str) -> tuple[Use, ...]:
    return tuple(Use(name, "call", AT) for name in names)


@pytest.mark.parametrize(
    ("side", "says", "marks"),
    [
        (Side(ends="raise", texts=texts("needs SM90")), 'raises "needs SM90"', "is-refused"),
        (Side(ends="raise", texts=texts("needs\n   SM90", "or newer")), 'raises "needs SM90"', "is-refused"),
        (Side(ends="raise", texts=texts("x" * 99)), f'raises "{"x" * 77}..."', "is-refused"),
        (Side(ends="raise"), "raises an error", "is-refused"),
        (Side(ends="raise", uses=calls("RuntimeError")), "raises an error", "is-refused"),
        (Side(ends="skip", texts=texts("needs SM90")), 'skips the test "needs SM90"', "is-refused"),
        (Side(ends="exit"), "ends the program", "is-refused"),
        (Side(ends="return", value=const(False)), "returns False", "is-told-no"),
        (Side(ends="return", value=const(None)), "returns None", "is-told-no"),
        (Side(ends="return", value=const(True)), "returns True", ""),
        (Side(ends="return", value=const("fa3")), 'returns "fa3"', ""),
        (Side(ends="return", value=const("not here")), 'returns "not here"', "is-told-no"),
        (Side(ends="return", uses=calls("a", "b", "c")), "calls `a`, `b` and returns", ""),
        (Side(ends="return", uses=calls("a", "a"), choices=calls("z")), "calls `z`, `a` and returns", ""),
        (Side(ends="return", value=const(1), uses=calls("a")), "returns 1", ""),
        (Side(ends="return"), "returns something else", ""),
        (Side(ends="fall", uses=calls("a", "b")), "calls `a`, `b`", ""),
        (Side(ends="fall", uses=(Use("x", "import", AT), *calls("a"))), "calls `a`", ""),
        (Side(ends="fall", value=const(3)), "sets 3", ""),
        (Side(ends="fall", value=const(False), disables="fast"), "sets False", "is-told-no switches-off"),
        (Side(ends="fall", tuning=True), "sets other numbers", "only-numbers"),
        (Side(ends="continue"), "skips this one", "is-told-no"),
        (Side(ends="fall", empty=True), "does nothing of its own", "does-nothing"),
        (Side(ends="fall", rest=True), "does nothing of its own", ""),
        (Side(ends="fall"), "goes on", ""),
    ],
)
def test_a_side(side: Side, says: str, marks: str) -> None:
    assert (gates.phrase_of(side), set(gates.side_marks(side))) == (says, set(marks.split()))
