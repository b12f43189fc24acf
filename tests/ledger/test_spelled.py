"""The questions of lines of which no reader has a fact."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.question import Question
from bwlint.ledger.spelled import admitted, of_sightings
from bwlint.model.ledger import Sighting
from bwlint.readers.sightings import sightings

BOTH = ChipSet.of("12.0", "12.1")
CHIPS = ("8.9", "9.0", "10.0", "12.0", "12.1")
LINES = {
    "if any(sm == one for one in (90, 100)):": "9.0 10.0",
    "[sm for sm in found if sm in (90, 120)]": "9.0 12.0",
    "for sm in found: keep(sm >= 100)": "10.0 12.0 12.1",
    "if (arch >= 90)": "9.0 10.0 12.0 12.1",
    "if (Arch == 86 || Arch == 89)": "8.9",
    "cc >= 80 and cc < 100": "8.9 9.0",
    "80 <= cc && cc < 100": "8.9 9.0",
    "elem(sm, {80, 90, 100})": "9.0 10.0",
    "capability in ((9, 0), (12, 0))": "9.0 12.0",
    "capability not in [(9, 0)]": "8.9 10.0 12.0 12.1",
    "major >= 10": "10.0 12.0 12.1",
    "props.major == 12 and props.minor == 0": "12.0",
    "capability() >= (12, 1)": "12.1",
    "case 90:": "9.0",
    "#if __CUDA_ARCH__ == 1200": "12.0",
    "#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000": "9.0",
    "cc == 0x78": "12.0",
    "90 <= cc && cc < 120": "9.0 10.0",
    "cap in [(12, 0)]": "12.0",
    "cuda_version >= 12.8 and cc >= 90": "9.0 10.0 12.0 12.1",
    'arch == "sm_120a"': "12.0",
    'arch == "12.0"': "12.0",
    "if(ARCH VERSION_GREATER_EQUAL 9.0)": "9.0 10.0 12.0 12.1",
    "if(ARCH VERSION_LESS 10.0)": "8.9 9.0",
}


def asked(
    text: str, told: Sequence[tuple[int, int]] = (), place: str = "p/a.py", aside: str = "", kind: str = "python"
) -> list[Question]:
    return list(of_sightings(f"/{place}", place, sightings(kind, text), told, BOTH, aside))


def shown(questions: Sequence[Question]) -> list[str]:
    """ "form subject lines: text"."""
    return [f"{q.form} {q.subject} {' '.join(str(p.line) for p in q.places)}: {q.text}" for q in questions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if sm >= 90: x\nif sm >= 100: y", ["asked a.py 1: if sm >= 90: x", "asked a.py 2: if sm >= 100: y"]),
        ("if sm >= 90: x\nif sm >= 90: x", ["asked a.py 1 2: if sm >= 90: x"]),
        (
            "def f():\n  if sm >= 90: x\ndef g():\n  if sm >= 90: x",
            ["asked f 2: if sm >= 90: x", "asked g 4: if sm >= 90: x"],
        ),
        ("hopper()\nsm90(hopper)", ["name a.py 1 2: hopper, sm90"]),
        ("def f():\n  hopper()\n  sm90()", ["name f 2 3: hopper, sm90"]),
        ("def f():\n  hopper()\nsm90()", ["name a.py 2 3: hopper, sm90"]),
        ("nvlink\nptxas", ["unit a.py 1 2: nvlink, ptxas"]),
        ("x = hopper\n# hopper", ["name a.py 1: x = hopper", "text a.py 2: # hopper"]),
        ("# if sm >= 90: x\n# H100", ["text a.py 1 2: # if sm >= 90: x"]),
        ("x = H100\ny = archs", ["product a.py 1: x = H100", "word a.py 2: y = archs"]),
        ("x = 1", []),
        ("", []),
    ],
)
def test_what_is_one_question(text: str, expected: list[str]) -> None:
    assert shown(asked(text)) == expected


@pytest.mark.parametrize(
    ("told", "lines"),
    [([], "1 2 3"), ([(1, 1)], "2 3"), ([(2, 9)], "1"), ([(1, 1), (3, 3)], "2"), ([(1, 3)], ""), ([(0, 0)], "1 2 3")],
)
def test_what_is_told_is_not_asked_again(told: list[tuple[int, int]], lines: str) -> None:
    found = asked("hopper\nhopper\nhopper\n", told)
    assert [str(place.line) for question in found for place in question.places] == lines.split()


@pytest.mark.parametrize(
    ("text", "marks", "unmarked"),
    [
        ("use(sm120)", "is-name speaks-of-chip names-asked names-one-twin", "names-others names-nobody"),
        ("use(sm_90, sm_120)", "names-asked", "names-others"),
        ("use(sm90)", "names-others", "names-asked names-nobody"),
        ("use(hopper)", "speaks-of-generation names-others", "speaks-of-chip"),
        ("use(ampere)", "speaks-of-generation", "names-others names-asked names-nobody"),
        ("x = archs", "is-word speaks-of-word names-nobody", "names-others"),
        ("# only sm_121 is tried", "is-text names-asked names-one-twin", "names-nobody"),
        ("# sm_120 and sm_121 are tried", "is-text names-asked", "names-one-twin"),
        ("# sm_90 is tried", "is-text names-others", "names-one-twin names-asked"),
        ("ptxas\nnvlink", "is-unit speaks-of-toolkit speaks-of-unit names-nobody", "speaks-of-chip"),
        ("if sm == 120: x", "is-asked is-rough splits-family test-names-asked", "not-evaluated names-asked"),
        ("if sm >= 90: x", "is-rough with-9-and-10-unlike-8", "splits-family test-names-asked"),
        ("std::find(archs, 90)", "is-asked not-evaluated", "is-rough"),
        ("def sm90_f():\n  if sm >= 80: x", "stands-among-names-of-others", "stands-among-own-names"),
        ("def sm120_f():\n  if sm >= 80: x", "stands-among-own-names", "stands-among-names-of-others"),
    ],
)
def test_marks(text: str, marks: str, unmarked: str) -> None:
    (question,) = (one for one in asked(text) if not one.text.startswith("def "))
    assert set(marks.split()) <= question.marks
    assert not set(unmarked.split()) & question.marks
    assert question.rough == bool(question.table) == ("is-rough" in question.marks)


@pytest.mark.parametrize(
    ("place", "aside", "marks"),
    [
        ("p/a.py", "", ""),
        ("tests/test_a.py", "in-test", "in-test"),
        ("benchmarks/a.py", "aside", "aside"),
        ("p/sm90/a.py", "", "stands-among-names-of-others"),
        ("p/gemm_sm120.py", "", "stands-among-own-names"),
    ],
)
def test_marks_of_a_file(place: str, aside: str, marks: str) -> None:
    (question,) = asked("x = archs", place=place, aside=aside)
    of_places = {"in-test", "aside", "stands-among-names-of-others", "stands-among-own-names"}
    assert question.marks & of_places == set(marks.split())
    assert question.path == f"/{place}"


def test_every_line_is_asked_once() -> None:
    text = "\n".join(["use(sm_90)", "if sm >= 90: x", "# hopper", "", "x = archs", "H100", "nvlink"] * 9)
    lines = [place.line for question in asked(text) for place in question.places]
    assert sorted(lines) == [one.line for one in sightings("python", text)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#if 0 && __CUDA_ARCH__ >= 1000", "leaves it out"),
        ("#if false && ARCH == 120", "leaves it out"),
        ("#if 1 && __CUDA_ARCH__ >= 1000", ""),
        ("#if 0 || __CUDA_ARCH__ >= 1000", ""),
        ("if constexpr (Traits::kArch == 120) {", "of a type"),
        ("return T::kSm >= 100 ? 1 : 0;", "of a type"),
        ("if (Traits::kArch == 120 && sm == 120) {", ""),
        ("if (Device::current().arch == 120) {", ""),
        ("if (platform::sm == 120) {", ""),
    ],
)
def test_what_is_compiled_for_nobody_and_constants_of_types_ask_no_device(text: str, says: str) -> None:
    found = list(of_sightings("a.cu", "a.cu", [Sighting(1, "asked", ("120",), text, "f", False)], (), BOTH, ""))
    (one,) = found
    told = one.passes or (one.unknown if "of a type" in one.unknown else "")
    assert says in told if says else not told


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("#if __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8", "holds with CUDA 12 alone; CUDA 13"),
        ("#if (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ > 7)", "holds with CUDA 12 alone; CUDA 13"),
        ("#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8)", ""),
        ("#if __CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ >= 1", ""),
        ("#if __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 4", ""),  # works around something old
        ("#if __CUDACC_VER_MAJOR__ == 12", ""),
        ("#if __CUDACC_VER_MAJOR__ >= 12", ""),
    ],
)
def test_a_least_release_that_leaves_out_the_next_major(line: str, doubt: str) -> None:
    text = f"{line}\n#define HAS_FP4 1\n#endif\n"
    (question,) = (one for one in asked(text, place="k.cu", kind="cuda") if one.form == "unit")
    assert question.doubt.startswith(doubt) and bool(question.doubt) == bool(doubt)


@pytest.mark.parametrize("line", LINES)
def test_a_line_with_numbers_of_chips(line: str) -> None:
    found = admitted(line)
    assert found is not None
    assert " ".join(chip for chip in CHIPS if chip in found) == LINES[line]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "return x",
        "n == 4096",
        "elem(kind, {1, 2})",
        "minor == 0",
        "launch<90>",
        "block >= 256",
        "x == 1",
        "scale >= 1.0",
        'for compute, sm in [("80", "80"), ("90", "90")]:',
        "for arch in (80, 90, 100):",
        "for (major, minor) in [(8, 0), (9, 0)]:",
        'flags = [f"-gencode=arch=compute_{one}" for one in ("80", "90")]',
        "for i, sm in enumerate(wanted):",
    ],
)
def test_a_line_without(line: str) -> None:
    assert admitted(line) is None


def test_what_one_set_is_made_of() -> None:
    assert admitted("sm == 90") == ChipSet.of("9.0")
