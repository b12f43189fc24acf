"""Comments that suppress: put where they are read as meant, or nowhere."""

from __future__ import annotations

import pytest

from bwlint.model.findings import Finding, Region
from bwlint.readers.comments import comments_of
from bwlint.repair.changes import changed
from bwlint.repair.comment import comment
from bwlint.settings import catalog
from bwlint.settings.suppress import scan
from bwlint.sources.kinds import kind_of
from bwlint.sources.read import SourceText
from bwlint.sources.walk import SourceFile

RULE = catalog.lookup("family-split")


def commented(name: str, source: str, line: int, reason: str = "as meant") -> str | None:
    file = SourceFile(name, f"/none/{name}", kind_of(name) or "", "/none")
    region = Region(line, 1, line, 2)
    finding = Finding(
        rule=RULE.code,
        name=RULE.name,
        category="family-split",
        severity="warning",
        confidence="high",
        path=name,
        region=region,
        message="",
    )
    made = comment(file, SourceText(source), [finding], reason)
    return None if made is None else changed(source, [made])


BESIDE = "  # bwlint: ignore[family-split] as meant"
ABOVE = "# bwlint: ignore[family-split] as meant\n"
LONG = "x = 1 " + "+ 1" * 40


@pytest.mark.parametrize(
    ("name", "before", "line", "after"),
    [
        ("a.py", "x = 1\n", 1, f"x = 1{BESIDE}\n"),
        ("a.py", "x = 1", 1, f"x = 1{BESIDE}"),
        ("a.py", "x = 1   \r\ny = 2\r\n", 1, f"x = 1{BESIDE}   \r\ny = 2\r\n"),
        ("a.py", "x = 1  # why\n", 1, f"x = 1  # why{BESIDE}\n"),
        ("a.py", f"if a:\n    {LONG}\n", 2, f"if a:\n    # bwlint: ignore[family-split] as meant\n    {LONG}\n"),
        ("a.py", f"if a:\r\n\t{LONG}\r\n", 2, f"if a:\r\n\t# bwlint: ignore[family-split] as meant\r\n\t{LONG}\r\n"),
        ("a.py", "x = (1,\n  2)\n", 1, f"x = (1,{BESIDE}\n  2)\n"),
        ("a.py", "x = (1,\n  2)\n", 2, f"x = (1,\n  2){BESIDE}\n"),
        ("a.py", 'x = """\n1"""\n', 1, '# bwlint: ignore[family-split] as meant\nx = """\n1"""\n'),
        ("a.py", 'x = """\n1"""\n', 2, f'x = """\n1"""{BESIDE}\n'),
        ("a.py", "x = 'é' \\\n  'b'\n", 1, "# bwlint: ignore[family-split] as meant\nx = 'é' \\\n  'b'\n"),
        ("a.py", "x = 'é' \\\n  'b'\n", 2, None),
        ("a.py", 'x = """\n1\n"""\n', 2, None),
        ("a.cu", "int x;\n", 1, "int x;  // bwlint: ignore[family-split] as meant\n"),
        ("a.cu", "#if A\n#endif\n", 1, "#if A  // bwlint: ignore[family-split] as meant\n#endif\n"),
        ("a.cu", "#define A \\\n  b\n", 1, "#define A /* bwlint: ignore[family-split] as meant */ \\\n  b\n"),
        ("a.cu", 'auto x = R"(\n a\n)";\n', 2, None),
        ("CMakeLists.txt", "set(A 1)\n", 1, f"set(A 1){BESIDE}\n"),
        ("CMakeLists.txt", 'set(A "\n 1\n")\n', 2, None),
        ("Dockerfile", "ENV A=1\n", 1, f"{ABOVE}ENV A=1\n"),
        ("Dockerfile.cuda", "ENV A=1 \\\n  B=2\n", 2, f"ENV A=1 \\\n  {ABOVE}  B=2\n"),
        ("b.Dockerfile", "RUN a && \\\n  b \\\n  c\n", 2, f"RUN a && \\\n  {ABOVE}  b \\\n  c\n"),
        ("Dockerfile", "RUN <<EOF\na\nEOF\n", 2, None),
        ("a.env", "A=1\n", 1, f"{ABOVE}A=1\n"),
        ("a.service", "[Service]\nEnvironment=A=1\n", 2, f"[Service]\n{ABOVE}Environment=A=1\n"),
        ("Makefile", "A := 120a\n", 1, f"{ABOVE}A := 120a\n"),
        ("rules.mk", "all:\n\tnvcc\n", 2, f"all:\n\t{ABOVE}\tnvcc\n"),
        ("setup.cfg", "[a]\nb = 1\n", 2, f"[a]\n{ABOVE}b = 1\n"),
        ("a.sh", "nvcc a\n", 1, f"nvcc a{BESIDE}\n"),
        ("a.sh", "nvcc \\\n a\n", 2, None),
        ("a.toml", 'a = "1"\n', 1, f'a = "1"{BESIDE}\n'),
        ("a.toml", 'a = """\n1\n"""\n', 2, None),
        ("a.hcl", 'a = "1"\n', 1, 'a = "1"  // bwlint: ignore[family-split] as meant\n'),
        ("a.yml", "a: 1\n", 1, f"a: 1{BESIDE}\n"),
        ("a.yml", 'a: "x"\n', 1, f'a: "x"{BESIDE}\n'),
        ("a.yml", "- run: |\n    a\n    b\n", 2, f"- run: |\n    a{BESIDE}\n    b\n"),
        ("a.yaml", "script:\n  - |\n    a\n    b\n", 3, f"script:\n  - |\n    a{BESIDE}\n    b\n"),
        ("a.yml", f"- run: |\n    {LONG}\n", 2, f"- run: |\n    {ABOVE}    {LONG}\n"),
        # What a folded text or another program is given would change.
        ("a.yml", "- run: >\n    a\n    b\n", 2, None),
        ("a.yml", "- build-args: |\n    A=1\n    B=2\n", 2, None),
        ("a.yml", "a: {{ b }}: c\n", 1, f"a: {{{{ b }}}}: c{BESIDE}\n"),
        ("a.json", '{"a": 1}\n', 1, None),
    ],
)
def test_where_it_goes(name: str, before: str, line: int, after: str | None) -> None:
    assert commented(name, before, line) == after


@pytest.mark.parametrize(
    ("reason", "fits"),
    [
        ("GB10 has no such part", True),
        ("  two\nlines ", True),
        ("brackets ] and [x] too", True),
        ("", False),
        (" \n", False),
        ("# bwlint: ignore[leak] more", False),
        ("é🎉", True),
    ],
)
def test_reasons(reason: str, fits: bool) -> None:
    after = commented("a.py", "x = 1\n", 1, reason)
    assert (after is not None) is fits
    if after is not None:
        (found,), bad = scan(after, catalog.known_ids(), comments_of("python", "a.py"))
        assert (found.reason, found.target, bad) == (" ".join(reason.split()), 1, [])


def test_a_reason_that_would_end_the_comment() -> None:
    after = commented("a.cu", "#define A \\\n  b\n", 1, "x */ y")
    assert (
        after == "// bwlint: ignore[family-split] x */ y\n#define A \\\n  b\n"
    )  # to the end of the line, whatever it holds


def test_a_reason_that_would_take_the_next_line_along() -> None:
    assert commented("a.cu", "int a;\nint b;\n", 1, "why \\") is None


def test_a_second_comment_on_top_of_another() -> None:
    source = f"# bwlint: ignore[leak] first\n{LONG}\n"
    after = commented("a.py", source, 2)
    assert after == f"# bwlint: ignore[leak] first\n# bwlint: ignore[family-split] as meant\n{LONG}\n"


@pytest.mark.parametrize("reason", ["as \x1b[A meant", "as meant\x07", "\x1b]0;title", "as\u202emeant", "\udcff"])
def test_what_is_not_printable_is_no_reason(reason: str) -> None:
    assert commented("a.py", "x = 1\n", 1, reason) is None
