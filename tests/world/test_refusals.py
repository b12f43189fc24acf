"""The chips on which a C++ function ends in an error, in words."""

from __future__ import annotations

import pytest

from bwlint.chips import EVERY, NONE
from bwlint.evaluate.sources import Sources
from bwlint.readers.cuda import read
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

ERROR = 'CHECK_NOT_IMPLEMENTED(false, "no kernel");'


def errors(body: str) -> str:
    module = read("/tree/a.cu", f"void f(int n) {{ int sm = get_sm_version_num(); {body} }}")
    tree = Tree(Sources({}), lambda path, name: None)
    out = NONE
    for error in Refusals(tree).errors(module, "f"):
        out |= EVERY - error.legal
    return str(out)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"if (sm == 90) {{ a(); return; }} {ERROR}", "every chip but 9.0"),
        (
            f"if (sm >= 100 && sm < 120) {{ a(); return; }} if (sm >= 90 && sm < 100) {{ return b(); }} {ERROR}",
            "7.x, 8.x and 12.x",
        ),
        (f"if (sm >= 90) {{ a(); }} else {{ {ERROR} }}", "7.x and 8.x"),
        ('CHECK(sm >= 90, "Hopper"); a();', "7.x and 8.x"),
        ("if (sm < 90) throw 1; a();", "7.x and 8.x"),
        ('if (n < 0) throw 1; CHECK(n % 8 == 0, "eights"); CHECK(sm >= 90, "Hopper"); a();', "7.x and 8.x"),
        ("if (n < 0) { return; } if (sm < 90) throw 1; a();", "no chip"),
        ("if (sm < 90) { return cudaErrorNotSupported; } a();", "7.x and 8.x"),
        (
            f"switch (sm) {{ case 90: a(); return; case 100: b(); return; default: {ERROR} }}",
            "every chip but 9.0 and 10.0",
        ),
        ('CHECK(n > 0); CHECK(sm >= 90, "Hopper"); a();', "7.x and 8.x"),
        (f"\n#ifdef WITH_A\nif (sm == 90) {{ a(); return; }}\n#endif\n{ERROR}", "every chip but 9.0"),
        (f"if (sm == 90 && n > 2) {{ a(); return; }} {ERROR}", "every chip but 9.0"),
        (f"if (sm != 90) {{ {ERROR} }}\n#ifdef SMALL\n{ERROR}\n#endif\na();", "every chip but 9.0"),
        (f"if (sm != 90) {{ {ERROR} }} switch (n) {{ case 64: a(); break; default: {ERROR} }}", "every chip but 9.0"),
        # no chip is sure to be refused
        ("if (sm < 90 && n > 2) throw 1; a();", "no chip"),
        (f"if (n > 2) {{ return; }} {ERROR}", "no chip"),
        (f"if (n > 2) {{ if (sm == 120) {ERROR} }}", "no chip"),
        ("for (int i = 0; i < n; ++i) { if (sm == 120) throw 1; }", "no chip"),
        ("auto g = [&] { if (sm == 120) throw 1; };", "no chip"),
        ("\n#ifdef WITH_A\na();\n#else\nCHECK(false);\n#endif\n", "no chip"),
        ("auto g = [&] { CHECK(sm < 120); };", "no chip"),
        ("try { a(); } catch (...) { throw; }", "no chip"),
        ("try { if (sm == 120) throw 1; a(); } catch (...) { b(); }", "no chip"),
        ("try { CHECK(sm < 120); a(); } catch (...) { b(); }", "no chip"),
        ("if (sm >= 90) { a(); return; } b();", "no chip"),
        ('CHECK(n > 0, "positive"); a();', "no chip"),
        ("if (sm >= 90) { if (n > 2) { return; } } else { return; }", "no chip"),
    ],
)
def test_errors(body: str, expected: str) -> None:
    assert errors(body) == expected


def test_a_path_of_many_tests_is_not_followed() -> None:
    assert errors("".join(f"if (n > {i} && sm == {i}) return; " for i in range(150)) + ERROR) == "no chip"


@pytest.mark.parametrize(
    ("early", "expected"),
    [
        (
            "if (m == 0 or n == 0) return true; CHECK(n % 8 == 0); if (k == 0) { clear(); return true; } return false;",
            "90",
        ),
        ("CHECK(n % 8 == 0); if (k > 4096) return true; return false;", ""),
        ("CHECK(n % 8 == 0); if (m == 0) return true; return k > 4096;", ""),
    ],
)
def test_a_helper_that_has_an_early_way_out_for_nothing_alone(early: str, expected: str) -> None:
    helper = f"static bool settled(int m, int n, int k) {{ int sm = get_sm_version_num(); {early} }}\n"
    body = f"int sm = get_sm_version_num(); if (settled(m, n, k)) return; if (sm == 90) {{ a(); return; }} {ERROR}"
    module = read("/tree/a.cu", f"{helper}void f(int m, int n, int k) {{ {body} }}")
    found = Refusals(Tree(Sources({}), lambda path, name: None)).errors(module, "f")
    assert [error.legal.names for error in found] == ([("9.0",)] if expected else [])
