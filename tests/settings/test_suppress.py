from __future__ import annotations

import pytest

from bwlint.model.findings import Finding, Region
from bwlint.readers.comments import comments_of
from bwlint.settings.suppress import Suppression, apply, scan

KNOWN = {"BW101": "BW101", "family-split": "BW101", "BW103": "BW103", "leak": "BW103"}


def finding(line: int, rule: str = "BW101", end_line: int | None = None) -> Finding:
    region = Region(line, 1, end_line or line, 9)
    return Finding(
        rule=rule,
        name="name",
        category="leak",
        severity="warning",
        confidence="high",
        path="a.py",
        region=region,
        message="message",
    )


def rules_by_line(source: str) -> dict[int, tuple[str, ...]]:
    suppressions, bad = scan(source, KNOWN)
    assert bad == []
    return {suppression.target: suppression.rules for suppression in suppressions}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\n", {}),
        ("x = 1  # bwlint: ignore[leak] why\n", {1: ("BW103",)}),
        ("x = 1  #bwlint:ignore[BW103]", {1: ("BW103",)}),
        ("x = 1  # bwlint:  ignore [ leak , family-split, ]  why", {1: ("BW103", "BW101")}),
        ("x = 1  # bwlint: ignore[leak, BW103]", {1: ("BW103",)}),
        ("x = 1  # noqa: E501  # bwlint: ignore[leak] why", {1: ("BW103",)}),
        ("# bwlint: ignore[leak]\nx = 1", {2: ("BW103",)}),
        ("if x:\n    # bwlint: ignore[leak]\n    x = 1", {3: ("BW103",)}),
        ("\x0c# bwlint: ignore[leak]\nx = 1", {2: ("BW103",)}),
        ("x = '# bwlint: ignore[leak]'\n", {}),
        ('"""\n# bwlint: ignore[leak]\n"""\n', {}),
        ("x = f'{y} # bwlint: ignore[leak]'\n", {}),
        ("# write bwlint: ignore[rule] here\n", {}),
        ("# see bwlint: it says\n", {}),
        ("x = '''\x85\u2028\x0c'''\r\ny = 1  # bwlint: ignore[leak]\r\n", {2: ("BW103",)}),
        ("x = 1\ry = 1  # bwlint: ignore[leak]\r", {2: ("BW103",)}),
    ],
)
def test_comments_and_what_they_act_on(source: str, expected: dict[int, tuple[str, ...]]) -> None:
    assert rules_by_line(source) == expected


@pytest.mark.parametrize(
    ("kind", "name", "source", "expected"),
    [
        ("cuda", "a.cu", "x; // bwlint: ignore[leak] why\n", {1: ("BW103",)}),
        ("cuda", "a.cu", "x; //bwlint:ignore[BW103]", {1: ("BW103",)}),
        ("cuda", "a.cu", "x; /* bwlint: ignore[leak] why */", {1: ("BW103",)}),
        ("cuda", "a.cu", "/* bwlint: ignore[leak] */ x;", {1: ("BW103",)}),
        ("cuda", "a.cu", "// bwlint: ignore[leak]\nx;", {2: ("BW103",)}),
        ("cuda", "a.cu", "  /* bwlint: ignore[leak] */  \r\nx;", {2: ("BW103",)}),
        ("cuda", "a.cu", "/* bwlint: ignore[leak] for a reason\n   of two lines */\nx;", {3: ("BW103",)}),
        ("cuda", "a.cu", "x; // NOLINT  // bwlint: ignore[leak] why", {1: ("BW103",)}),
        ("cuda", "a.cu", "#if X // bwlint: ignore[leak] why", {1: ("BW103",)}),
        ("cuda", "a.cu", 'x("// bwlint: ignore[leak]");', {}),
        ("cuda", "a.cu", 'x(R"(\n// bwlint: ignore[leak]\n)");', {}),
        ("cuda", "a.cu", "x; # bwlint: ignore[leak]", {}),
        ("cuda", "a.cu", "// write bwlint: ignore[rule] here", {}),
        ("cuda", "a.cu", "// in Python # bwlint: ignore[rule]", {}),
        ("ptx", "a.ptx", "// bwlint: ignore[leak]\nret;", {2: ("BW103",)}),
        ("build", "CMakeLists.txt", "set(A b) # bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "CMakeLists.txt", 'set(A "# bwlint: ignore[leak]")', {}),
        ("build", "Dockerfile", "# bwlint: ignore[leak]\nENV A=b", {2: ("BW103",)}),
        ("build", "a.yml", "a: b # bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "a.yml", "a: '# bwlint: ignore[leak]'", {}),
        ("build", "a.toml", "a = 1 # bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "a.hcl", "a = 1 // bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "a.hcl", "a = 1 # bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "Makefile", "A = b # bwlint: ignore[leak]", {1: ("BW103",)}),
        ("build", "build", "a '# bwlint: ignore[leak]' # bwlint: ignore[BW101]", {1: ("BW101",)}),
        ("build", "a.json", '{"#": "# bwlint: ignore[leak]"} # bwlint: ignore[leak]', {}),
    ],
)
def test_comments_of_other_languages(kind: str, name: str, source: str, expected: dict[int, tuple[str, ...]]) -> None:
    suppressions, bad = scan(source, KNOWN, comments_of(kind, name))
    assert bad == []
    assert {suppression.target: suppression.rules for suppression in suppressions} == expected


@pytest.mark.parametrize(
    ("kind", "name", "comment", "mark"),
    [
        ("cuda", "a.cu", "// bwlint: ignore", "//"),
        ("cuda", "a.cu", "/* bwlint: ignore leak */", "//"),
        ("ptx", "a.ptx", "// bwlint: disable=leak", "//"),
        ("build", "a.hcl", "# bwlint: ignore[]", "//"),
        ("build", "a.cmake", "# bwlint: ignore[leak", "#"),
        ("build", "a.sh", "# bwlint:", "#"),
    ],
)
def test_faulty_comments_of_other_languages(kind: str, name: str, comment: str, mark: str) -> None:
    suppressions, (bad,) = scan(f"x {comment}\n", KNOWN, comments_of(kind, name))
    assert suppressions == []
    assert bad.message.endswith(f" Write `{mark} bwlint: ignore[rule] reason`.")
    assert bad.region == Region(1, 3, 1, 3 + len(comment))


def test_the_reason_ends_before_the_comment_does() -> None:
    (suppression,), _ = scan("x; /* bwlint: ignore[leak] why */", KNOWN, comments_of("cuda", "a.cu"))
    assert suppression.reason == "why"


def test_comments_inside_brackets() -> None:
    source = "f(\n    # bwlint: ignore[leak]\n    a,  # bwlint: ignore[BW101]\n)"
    suppressions, _ = scan(source, KNOWN)
    assert [(s.target, s.rules) for s in suppressions] == [(3, ("BW103",)), (3, ("BW101",))]


def test_comments_above_may_be_stacked() -> None:
    suppressions, _ = scan("# bwlint: ignore[leak] a\n# bwlint: ignore[BW101] b\nx = 1\n", KNOWN)
    assert [(s.target, s.rules, s.reason) for s in suppressions] == [
        (3, ("BW103",), "a"),
        (3, ("BW101",), "b"),
    ]


def test_a_comment_above_does_not_reach_over_another_line() -> None:
    assert rules_by_line("# bwlint: ignore[leak]\n\nx = 1\n") == {2: ("BW103",)}
    assert rules_by_line("# bwlint: ignore[leak]\n# because\nx = 1\n") == {2: ("BW103",)}


def test_reason_and_place() -> None:
    (suppression,), bad = scan("x = '😀'  # noqa # bwlint: ignore[leak]  exact: issue #12\n", KNOWN)
    assert not bad
    assert suppression == Suppression(Region(1, 18, 1, 58), 1, ("BW103",), "exact: issue #12")


def test_two_in_one_comment() -> None:
    suppressions, _ = scan("x = 1  # bwlint: ignore[leak] a # bwlint: ignore[BW101] b\n", KNOWN)
    assert [(s.rules, s.reason) for s in suppressions] == [(("BW103",), "a"), (("BW101",), "b")]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# bwlint: ignore", "This names no rule in brackets. Write `# bwlint: ignore[rule] reason`."),
        ("# bwlint: ignore leak", "This names no rule in brackets."),
        ("# bwlint: ignore[leak", "This names no rule in brackets."),
        ("# bwlint: ignore-file[leak]", "This names no rule in brackets."),
        ("# bwlint: ignore[]", "The brackets are empty."),
        ("# bwlint: ignore[ , ]", "The brackets are empty."),
        ("# bwlint: disable=leak", "This is not understood."),
        ("# bwlint:", "This is not understood."),
        ("# bwlint: ignore[*]", "Unknown rule `*`."),
        ("# bwlint: ignore[BW1]", "Unknown rule `BW1`: comments take whole codes, such as BW101."),
        ("# bwlint: ignore[bw]", "Unknown rule `bw`: comments take whole codes, such as BW101."),
        ("# bwlint: ignore[all]", "Unknown rule `all`."),
        ("# bwlint: ignore[famly-split]", "Unknown rule `famly-split`; did you mean `family-split`?"),
        ("# bwlint: ignore[bw103]", "Unknown rule `bw103`; did you mean `BW103`?"),
    ],
)
def test_a_faulty_comment_suppresses_nothing(comment: str, message: str) -> None:
    suppressions, (bad,) = scan(f"x = 1  {comment}\n", KNOWN)
    assert suppressions == []
    assert bad.message.startswith(message)
    assert bad.region == Region(1, 8, 1, 8 + len(comment))


def test_an_unknown_rule_beside_a_known_one() -> None:
    (suppression,), (bad,) = scan("x = 1  # bwlint: ignore[leak, zzz]\n", KNOWN)
    assert (suppression.rules, bad.message) == (("BW103",), "Unknown rule `zzz`.")


@pytest.mark.parametrize(
    "source",
    [
        "x = 1  # bwlint: ignore[leak]\ny = '''\n",
        "x = 1  # bwlint: ignore[leak]\ny = (\n",
        "if x:\n        y = 1\n    z = 1  # bwlint: ignore[leak]\n",
        "x = 1  # bwlint: ignore[leak]\n" + "(" * 500,
    ],
)
def test_source_that_cannot_be_split_into_tokens(source: str) -> None:
    _, bad = scan(source, KNOWN)
    assert len(bad) == 1
    assert bad[0].message.startswith("comments after this line could not be read: ")


def test_source_without_the_mark_is_not_split_into_tokens() -> None:
    assert scan("'''", KNOWN) == ([], [])


def test_apply() -> None:
    suppressions, _ = scan("a  # bwlint: ignore[leak, BW101] why\nb\n# bwlint: ignore[leak]\nd\n", KNOWN)
    findings = [finding(1), finding(1), finding(2), finding(4, "BW103", end_line=9), finding(4)]
    kept, suppressed, unused = apply(findings, suppressions)
    assert kept == [findings[2], findings[4]]
    assert [(s.finding, s.reason) for s in suppressed] == [
        (findings[0], "why"),
        (findings[1], "why"),
        (findings[3], ""),
    ]
    assert [(s.target, s.rules) for s in unused] == [(1, ("BW103",))]


def test_the_second_of_two_equal_comments_is_unused() -> None:
    suppressions, _ = scan("# bwlint: ignore[leak] a\nx  # bwlint: ignore[leak] b\n", KNOWN)
    _, (suppressed,), (unused,) = apply([finding(2, "BW103")], suppressions)
    assert (suppressed.reason, unused.reason) == ("a", "b")


def test_nothing_to_apply() -> None:
    assert apply([finding(1)], []) == ([finding(1)], [], [])
