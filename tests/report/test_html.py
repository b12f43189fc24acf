"""Pages: what is in them, and that nothing of a report becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from bwlint.confirm.receipt import Receipt, Tried, executed
from bwlint.model.findings import Claim, Edit, Finding, Fix, Proof, Region, Related, Report
from bwlint.report import FORMATS, Lines, Setting, html, renderer
from bwlint.report.html import AROUND, excerpts
from bwlint.report.patches import patches
from bwlint.report.write import document
from bwlint.sources.read import SourceText

FOLDER = Path(html.__file__).parent
HOSTILE = "</script><!--<script>\"'&amp; ]]> \u2028\u202e 🙂 \ud800"


class Page(HTMLParser):
    """The elements of a page, and the text of its blocks."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts.append("")

        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[-1] += data

    def block(self, name: str) -> Any:
        """What is in a block of JSON."""
        (text,) = (text for (_, given), text in zip(self.tags, self.texts, strict=True) if given.get("id") == name)
        return json.loads(text)

    def of(self, tag: str) -> list[str]:
        return [text for (name, _), text in zip(self.tags, self.texts, strict=True) if name == tag]


def rendered(report: Report, lines: Lines = lambda path: None, **given: Any) -> str:
    return html.render(report, Setting(lines, "1.2.3"), **given)


def test_the_data_is_the_json_report(rich_report: Report, sources: Lines) -> None:
    page = Page(rendered(rich_report, sources))
    told = document(rich_report, Setting(sources, "1.2.3"))
    assert page.block("report") == json.loads(json.dumps(told))
    assert page.block("beside")["kind"] == "check"


def test_it_is_a_format() -> None:
    assert renderer("html") is html.render
    assert FORMATS["html"] == "bwlint.report.html.render"


def hostile_report(make: Callable[..., Finding], made: Callable[..., Report]) -> Report:
    related = (Related(HOSTILE, Region(1, 1, 1, 2), HOSTILE),)
    finding = make(
        path=f"{HOSTILE}.py", message=HOSTILE, label=HOSTILE, advice=HOSTILE, fix_refused=HOSTILE, related=related
    )
    return made(finding, targets=(HOSTILE,))


def test_what_is_scanned_is_never_markup(finding: Callable[..., Finding], report: Callable[..., Report]) -> None:
    plain = Page(rendered(report(finding())))
    page = Page(rendered(hostile_report(finding, report), lambda path: [HOSTILE + "\n"] * 3))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert page.of("script")[-1] == plain.of("script")[-1]


def test_hostile_texts_come_through(finding: Callable[..., Finding], report: Callable[..., Report]) -> None:
    text = rendered(hostile_report(finding, report), lambda path: [HOSTILE + "\n"] * 3)
    page = Page(text)
    told = HOSTILE.replace("\ud800", r"\ud800")
    assert page.block("report")["findings"][0]["message"] == told
    assert page.block("beside")["excerpts"][f"{told}.py"]["2"] == told + "\n"
    assert text.isascii() or not set(text) & {"\u2028", "\u202e", "\ud800"}


def test_the_policy_admits_the_style_and_the_script_alone(rich_report: Report) -> None:
    page = Page(rendered(rich_report))
    policy = next(given["content"] for _, given in page.tags if given.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules == {"style-src": _digest(page.of("style")[0]), "script-src": _digest(page.of("script")[-1])}


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_it_loads_nothing_and_has_no_other_script(rich_report: Report) -> None:
    page = Page(rendered(rich_report))
    kinds = [given.get("type") for tag, given in page.tags if tag == "script"]
    assert kinds == ["application/json", "application/json", None]
    assert not [
        given
        for _, given in page.tags
        if given.keys() & {"src", "href", "style"} or any(key.startswith("on") for key in given)
    ]
    style = page.of("style")[0]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("name", html.SCRIPTS)
def test_scripts_make_texts_and_no_markup(name: str) -> None:
    script = (FOLDER / name).read_text("utf-8")
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|DOMParser"
    assert re.findall(rf"{markup}|\beval\(|Function\(|fetch\(|XMLHttp|import\(", script) == []
    assert "</script" not in script
    assert "<!--" not in script


def test_every_script_is_in_the_page() -> None:
    assert sorted(html.SCRIPTS) == sorted(path.name for path in FOLDER.glob("*.js"))


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("no node to run scripts with")
    return found


def test_scripts_parse(node: str, tmp_path: Path) -> None:
    joined = tmp_path / "page.js"
    joined.write_text("\n".join((FOLDER / name).read_text("utf-8") for name in html.SCRIPTS), "utf-8")
    subprocess.run([node, "--check", joined], check=True, capture_output=True, timeout=60)


DOCUMENT = """
const document = {
  getElementById: () => ({ textContent: '{"chips": []}' }),
  createTextNode: (text) => ({ parts: [text] }),
  createElement: () => ({}),
  createDocumentFragment: () => ({ parts: [], append(...more) { this.parts.push(...more); } }),
};
"""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("cap == 120\tä 🙂", "cap == 120\tä 🙂"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("\x1b[31mred\r", r"\x1b[31mred\x0d"),
        ("tag\U000e0041", r"tag\u{e0041}"),
    ],
)
def test_what_nobody_sees_is_written_as_an_escape(text: str, written: str, node: str) -> None:
    told = f"shown({json.dumps(text)}).parts.map((part) => part.textContent ?? part).join('')"
    script = f"{DOCUMENT}{(FOLDER / 'page.js').read_text('utf-8')}\nprocess.stdout.write({told});"
    done = subprocess.run([node, "-"], input=script.encode(), check=True, capture_output=True, timeout=60)
    assert done.stdout.decode() == written


STUBS = """
const location = { hash: "#search=old&rows=rule" };
const history = { replaceState: (state, title, url) => { location.hash = url; } };
"""


def evaluated(expression: str, node: str, told: str = '{"chips": []}') -> Any:
    """What an expression is in a page whose JSON is `told`."""
    document = DOCUMENT.replace('{"chips": []}', told)
    written = f"process.stdout.write(JSON.stringify({expression}));"
    texts = [(FOLDER / name).read_text("utf-8") for name in ("page.js", "findings.js")]
    script = "\n".join((STUBS, document, *texts, written))
    done = subprocess.run([node, "-"], input=script.encode(), check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("asked", "tells", "columns"),
    [
        (["12.1"], ["9.0"], ["12.1", "9.0", "(8.0)", "(12.0)"]),
        (["12.0", "12.1"], [], ["12.0", "12.1", "(8.0)", "(9.0)"]),
        (["12.1"], ["8.0", "9.0", "12.0"], ["12.1", "8.0", "9.0", "12.0"]),
        ([], ["9.0"], ["9.0", "(8.0)", "(12.0)", "(12.1)"]),
    ],
)
def test_asked_chips_are_the_first_columns_and_empty_ones_are_folded(
    asked: list[str], tells: list[str], columns: list[str], node: str
) -> None:
    made = f'chipColumns(["8.0", "9.0", "12.0", "12.1"], (chip) => {json.dumps(tells)}.includes(chip))'
    shown = f"{made}.map(({{ chip, isFolded }}) => (isFolded ? `(${{chip}})` : chip))"
    assert evaluated(shown, node, json.dumps({"chips": [], "targets": asked})) == columns


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ({"search": ["a b&c=d"]}, {"rows": ["rule"], "search": ["a b&c=d"]}),
        ({"chip": ["12.0", "12.1"], "search": [""]}, {"rows": ["rule"], "chip": ["12.0", "12.1"]}),
        ({"rows": []}, {"search": ["old"]}),
    ],
)
def test_the_address_keeps_what_is_chosen(values: dict[str, list[str]], kept: dict[str, list[str]], node: str) -> None:
    address = evaluated(f"(keep({json.dumps(values)}), location.hash)", node)
    assert parse_qs(address.removeprefix("#")) == kept


@pytest.mark.parametrize(
    ("message", "other", "differs"),
    [
        ("`b` reaches `tcgen05.mma`", "`a` reaches `tcgen05.mma`", "`b`"),
        ("`a` is wrong", "`a` is wrong", ""),
        ("no name", "no name", ""),
        ("`c` and `d` differ", "`a` and `b` differ", "`c` `d`"),
    ],
)
def test_a_further_place_says_by_which_names_it_differs(message: str, other: str, differs: str, node: str) -> None:
    told = f"differing({json.dumps({'message': message})}, {json.dumps({'message': other})})"
    assert evaluated(told, node) == differs


TEN = "".join(f"{number}\n" for number in range(1, 11))
PATCHES = {
    "in a line": ("if cap == (12, 0):\n    go()\n", [("a.py", Region(1, 4, 1, 18), "cap[0] == 12")]),
    "behind a character of two units": ("x = '🙂' + a\n", [("a.py", Region(1, 12, 1, 13), "b")]),
    "two in a line": ("a + b\n", [("a.py", Region(1, 5, 1, 6), "d"), ("a.py", Region(1, 1, 1, 2), "c")]),
    "hunks that meet": (TEN, [("a.py", Region(2, 1, 2, 2), "x"), ("a.py", Region(8, 1, 8, 2), "y\nz")]),
    "two hunks": (TEN * 3, [("a.py", Region(2, 1, 4, 1), ""), ("a.py", Region(25, 1, 25, 1), "more\n")]),
    "a line goes": ("a\nb\nc\n", [("a.py", Region(2, 1, 3, 1), "")]),
    "carriage returns": ("a\r\nb\r\nc\r\n", [("a.py", Region(2, 1, 2, 2), "x")]),
    "no last end": ("a\nb", [("a.py", Region(2, 1, 2, 2), "x")]),
    "the last line gets an end": ("a\nb", [("a.py", Region(2, 2, 2, 2), "\nc\n")]),
    "an empty last line": ("a\n", [("a.py", Region(2, 1, 2, 1), "b\n")]),
    "in a long line": ("a\n" + "x" * 5000 + "\nb\n", [("a.py", Region(2, 4000, 2, 4001), "y")]),
    "a long text goes": (TEN * 9, [("a.py", Region(10, 1, 80, 2), "")]),
    "lines that look like heads": ("-- a\n++ b\n@@ c\n", [("a.py", Region(1, 1, 3, 3), "d")]),
    "all of it": ("a\nb\n", [("a.py", Region(1, 1, 3, 1), "")]),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_copied_patch_does_what_the_fix_does(
    name: str, node: str, finding: Callable[..., Finding], tmp_path: Path
) -> None:
    text, places = PATCHES[name]
    fix = Fix("safe", "family", "", tuple(Edit(*place) for place in places), Proof((), (), (), (), ""))
    (files,) = patches((finding(path="a.py", fix=fix),), lambda path: SourceText(text).ended_lines)
    script = (
        f"{(FOLDER / 'source.js').read_text('utf-8')}\n"
        f"process.stdout.write(isWhole({json.dumps(files)}) && patchOf({json.dumps(files)}));"
    )
    patch = subprocess.run([node, "-"], input=script.encode(), check=True, capture_output=True, timeout=60).stdout
    (tmp_path / "a.py").write_bytes(text.encode())
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "a.py").read_bytes().decode() == _edited(SourceText(text), fix)


@pytest.mark.parametrize("lines", [None, [], ["only one line\n"]])
def test_of_a_file_that_is_not_as_it_was_there_are_no_hunks(
    lines: list[str] | None, finding: Callable[..., Finding]
) -> None:
    fix = Fix("safe", "family", "", (Edit("a.py", Region(5, 1, 5, 2), "x"),), Proof((), (), (), (), ""))
    assert patches((finding(), finding(fix=fix)), lambda path: lines) == [[], [("a.py", "")]]


def test_hunks_have_three_lines_around_and_the_lines_of_the_file(finding: Callable[..., Finding]) -> None:
    edits = (Edit("a.py", Region(500, 1, 500, 2), "x"), Edit("a.py", Region(700, 1, 701, 1), ""))
    fix = Fix("safe", "family", "", edits, Proof((), (), (), (), ""))
    (((path, hunks),),) = patches((finding(fix=fix),), lambda path: [f"{number}\n" for number in range(1, 1001)])
    rows = hunks.splitlines()
    assert path == "a.py"
    assert [row for row in rows if row.startswith("@@")] == ["@@ -497,7 +497,7 @@", "@@ -697,7 +697,6 @@"]
    assert rows[1:9] == [" 497", " 498", " 499", "-500", "+x00", " 501", " 502", " 503"]


def _edited(source: SourceText, fix: Fix) -> str:
    text = source.source
    for region, new in sorted(
        ((edit.region, edit.text) for edit in fix.edits), key=lambda each: -each[0].line * 1000 - each[0].column
    ):
        start, end = source.offset(region.line, region.column), source.offset(region.end_line, region.end_column)
        text = text[:start] + new + text[end:]
    return text


def test_the_page_itself_is_small(report: Callable[..., Report]) -> None:
    assert len(rendered(report())) < 100_000


def test_a_finding_takes_little_room(finding: Callable[..., Finding], report: Callable[..., Report]) -> None:
    source = [f"line {number}\n" for number in range(1, 2001)]
    all_of_one = tuple(finding(region=Region(2 * at + 1, 1, 2 * at + 1, 5)) for at in range(900))
    assert len(rendered(report(*all_of_one), lambda path: source)) < 900 * 1000 + 200_000


CLAIMS = [
    ((), ()),
    ((Claim("gate", "", chips=("12.1", "12.0")),), ("12.0", "12.1")),
    ((Claim("instruction", "", targets=("sm_120a", "sm_121")),), ("12.0", "12.1")),
    ((Claim("gate", "", chips=("9.0",)), Claim("guard", "", targets=("sm_100f",))), ("9.0", "10.0")),
    ((Claim("gate", "", chips=("12.0",), targets=("what is this",)),), ("12.0",)),
    ((Claim("gate", "", chips=("99.9",)),), ("99.9",)),
]


@pytest.mark.parametrize(("claims", "chips"), CLAIMS)
def test_what_a_finding_is_about(
    claims: tuple[Claim, ...], chips: tuple[str, ...], finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    found = report(finding(claims=claims))
    assert html.of_findings(found, Setting())["concerned"] == [list(chips)]


def test_findings_of_one_cause_stand_together_the_gravest_first(
    finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    found = report(
        finding(severity="note", message="`a` is a note"),
        finding(message="`a` falls into the arm that raises"),
        finding(message="another fault"),
        finding(message="`b` falls into the arm that raises", path="pkg/other.py"),
        finding(severity="error", message="`a` falls into the arm that raises"),
    )
    assert html.of_findings(found, Setting())["causes"] == [3, 1, 2, 1, 0]


SPARK, CARDS = "DGX Spark / GB10 (12.1)", "RTX PRO 6000 / RTX 5090 (12.0)"
HEADLINES = [
    ("runs on 12.1", f"Runs on {SPARK}"),
    ("does not run on 12.1: sm_120a is for 12.0 alone", f"Does not run on {SPARK}: sm_120a is for {CARDS} alone"),
    ("runs on 12.0 and 12.1", f"Runs on {CARDS} and {SPARK}"),
    ("runs on 12.0; no code for 12.1 (none is 12.1)", f"Runs on {CARDS}; no code for {SPARK} (none is 12.1)"),
    ("12.1 is in aarch64 machines alone", f"{SPARK} is in aarch64 machines alone"),
    ("its ptxas (CUDA 12.1) does not know 12.1", f"Its ptxas (CUDA 12.1) does not know {SPARK}"),
    ("runs on 8.8 and 9.0", "Runs on 8.8 and 9.0"),  # nobody has asked for them
    ("no device code: torch 12.1.2 or 2.12.1 is not read", "No device code: torch 12.1.2 or 2.12.1 is not read"),
    ("cannot be read: lib_12.1.so is cut", "Cannot be read: lib_12.1.so is cut"),
    ("no device code", "No device code"),
]


@pytest.mark.parametrize(("answer", "told"), HEADLINES)
def test_a_headline_names_the_asked_cards_once_and_no_version(answer: str, told: str) -> None:
    assert html.headline(answer, ("12.0", "12.1")) == told


def test_a_headline_names_a_chip_that_nothing_is_sold_with() -> None:
    assert html.headline("runs on 8.8", ("8.8",)) == "Runs on 8.8"


SOURCE = [f"{number}\n" for number in range(1, 101)]


def numbers(finding: Finding, source: list[str] = SOURCE) -> dict[str, list[int]]:
    found = excerpts((finding,), lambda path: source if path != "gone.py" else None)
    return {path: sorted(lines) for path, lines in found.items()}


def test_an_excerpt_has_what_is_around(finding: Callable[..., Finding]) -> None:
    assert numbers(finding(region=Region(50, 1, 51, 2))) == {"pkg/gate.py": list(range(50 - AROUND, 51 + AROUND + 1))}
    assert numbers(finding(region=Region(1, 2, 1, 3)))["pkg/gate.py"] == [1, 2, 3, 4]
    assert numbers(finding(region=Region(100, 1, 100, 3)))["pkg/gate.py"] == [97, 98, 99, 100]


def test_of_a_long_place_an_excerpt_has_both_ends(finding: Callable[..., Finding]) -> None:
    found = numbers(finding(region=Region(10, 1, 80, 2)))["pkg/gate.py"]
    assert {10, 80} <= set(found)
    assert len(found) < 30


@pytest.mark.parametrize(
    "place",
    [
        {"path": "gone.py"},
        {"region": Region(1, 1, 1, 1)},  # a binary
        {"region": Region(700, 1, 700, 2)},  # changed since the report that is read back
    ],
)
def test_without_a_source_there_is_no_excerpt(place: dict[str, Any], finding: Callable[..., Finding]) -> None:
    assert not any(numbers(finding(**place)).values())


def test_a_long_line_is_cut_around_its_place(finding: Callable[..., Finding]) -> None:
    line = "🙂" + "x" * 5000 + "cap == 120" + "y" * 5000 + "\n"
    found = excerpts((finding(region=Region(1, 5003, 1, 5013)),), lambda path: [line])
    cut = found["pkg/gate.py"][1]
    assert isinstance(cut, list)
    skipped, text = cut
    assert isinstance(skipped, int)
    assert isinstance(text, str)
    assert text[5002 - skipped :].startswith("cap == 120y")
    assert len(text) == 1000


def test_a_finding_that_was_tested_has_its_receipt(
    finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    claim = Claim("gate", "the test holds", chips=("12.0",))
    receipt = Receipt("f", "BW101", "a.py", 2, (Tried(claim, (executed("evaluate", "confirmed", "it does"),)),))
    tested = report(replace(finding(), verdict=receipt.verdict))
    page = Page(rendered(tested, receipts=(receipt,)))
    ((tried,),) = page.block("beside")["receipts"]
    assert (tried["outcome"], tried["executed"]) == ("confirmed", ["evaluate"])
    assert tried["claim"]["says"] == "the test holds"
    assert page.block("report")["findings"][0]["verdict"]["outcome"] == "confirmed"


@pytest.mark.parametrize("kind", ["audit", "matrix", "plan", "port"])
def test_other_pages_hold_their_json(kind: html.PageKind) -> None:
    told = '{"rows": ["</script>", 1],\n "name": "<!--"}\n'
    page = Page("".join(html.page(kind, iter((told[:15], told[15:])))))
    assert page.block("report") == json.loads(told)
    assert page.block("beside")["kind"] == kind
