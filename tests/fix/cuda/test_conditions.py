"""Tests of the running program in C++: what becomes of them, and which are left alone."""

from __future__ import annotations

import pytest

from .conftest import Mend

BODY = """void check(cudaDeviceProp prop, int sm, bool ready) {{
  int major = prop.major;
  int minor = prop.minor;
{text}
}}
"""
THROW = '  if ({test}) {{\n    throw std::runtime_error("no");\n  }}\n  launch();'
CHECK = '  KIT_CHECK({test}, "this kernel does not run here");\n  launch();'

REFUSALS = [
    ("prop.major != 12 || prop.minor != 0", "prop.major != 12"),
    ("!(prop.major == 12 && prop.minor == 0)", "!(prop.major == 12)"),
    ("prop.minor != 0 || prop.major != 12", "prop.major != 12"),
    ("major * 10 + minor != 120", "major != 12"),
    ("prop.major * 10 + prop.minor != 120", "prop.major != 12"),
    ("(prop.major * 10 + prop.minor) != 120", "prop.major != 12"),
    ("sm_version != 120", "sm_version / 10 != 12"),
    ("sm_version != 90 && sm_version != 120", "sm_version != 90 && sm_version != 120 && sm_version != 121"),
    ("!(sm_version == 120)", "!(sm_version / 10 == 12)"),
    ("prop.major != 12 || prop.minor > 0", None),
    ("version_of(sm) != 120", None),
]
"""Tests that lead to an error; None: no rewrite is known."""


def source_of(shape: str, test: str) -> str:
    return BODY.format(text=shape.format(test=test)).replace("int sm,", "int sm_version,")


def safety_of(test: str) -> str:
    """A parameter that is only called like a capability is for a person, unless the numbers of several chips tell."""
    return "unsafe" if "sm_version" in test and "90" not in test else "safe"


@pytest.mark.parametrize(("before", "after"), REFUSALS)
def test_refusal(mend: Mend, before: str, after: str | None) -> None:
    found = mend(source_of(THROW, before), ("family-split",))
    if after is None:
        assert not found.fixes
        return
    assert [fix.applicability for fix in found.fixes] == [safety_of(before)], found.found
    assert found.text() == source_of(THROW, after)
    assert "12.1" not in found.fixes[0].proof.after_must


CHECKS = [
    ("prop.major == 12 && prop.minor == 0", "prop.major == 12"),
    ("prop.minor == 0 && prop.major == 12", "prop.major == 12"),
    ("prop.major == 12 && prop.minor == 0 && ready", "prop.major == 12 && ready"),
    ("ready && prop.major == 12 && prop.minor == 0", "ready && prop.major == 12"),
    (
        "(prop.major == 8 && prop.minor == 9) || (prop.major == 12 && prop.minor == 0)",
        "(prop.major == 8 && prop.minor == 9) || (prop.major == 12)",
    ),
    ("major * 10 + minor == 120", "major == 12"),
    ("major * 10 + minor == 89 || major * 10 + minor == 120", "major * 10 + minor == 89 || major == 12"),
    (
        "major * 10 + minor == 89 ||\n                major * 10 + minor == 120",
        "major * 10 + minor == 89 ||\n                major == 12",
    ),
    ("sm_version == 120", "sm_version / 10 == 12"),
    ("sm_version == 120 && ready", "sm_version / 10 == 12 && ready"),
    ("sm_version == 90 || sm_version == 120", "sm_version == 90 || sm_version == 120 || sm_version == 121"),
    (
        "sm_version == 90 ||\n      sm_version == 120",
        "sm_version == 90 ||\n      sm_version == 120 ||\n      sm_version == 121",
    ),
]


@pytest.mark.parametrize(("before", "after"), CHECKS)
def test_check(mend: Mend, before: str, after: str) -> None:
    found = mend(source_of(CHECK, before), ("family-split",))
    assert [fix.applicability for fix in found.fixes] == [safety_of(before)], found.found
    assert found.text() == source_of(CHECK, after)
    assert mend(found.text(), ("family-split",)).text() == found.text()


def test_style_of_the_file(mend: Mend) -> None:
    """Where the file lists both parts elsewhere, it does so here."""
    other = "bool f(int sm_version) { return sm_version == 120 || sm_version == 121; }\n"
    found = mend(other + source_of(CHECK, "sm_version == 120 && ready"), ("family-split",))
    assert "KIT_CHECK((sm_version == 120 || sm_version == 121) && ready" in found.text()


UNSAFE = [
    "  if (sm_version == 120) {\n    tile = 64;\n  } else {\n    tile = 128;\n  }",
    "  if (sm_version == 120) {\n    return fast();\n  }\n  return slow();",
]


@pytest.mark.parametrize("text", UNSAFE)
def test_unsafe(mend: Mend, text: str) -> None:
    source = BODY.format(text=text).replace("int sm,", "int sm_version,")
    for fix in mend(source, ("family-split",)).fixes:
        assert fix.applicability == "unsafe"


SILENT = [
    "prop.major == 12",
    "prop.major == 12 && (prop.minor == 0 || prop.minor == 1)",
    "sm_version / 10 == 12",
    "sm_version == 120 || sm_version == 121",
    "sm_version >= 120 && sm_version < 130",
    "sm_version >= 120",
    "sm_version == 121",
    "sm_version == 90",
    "prop.major == 9 && prop.minor == 0",
    "count == 120",
]


@pytest.mark.parametrize("test", SILENT)
@pytest.mark.parametrize("shape", [CHECK, THROW.replace("{test}", "!({test})")])
def test_silent(mend: Mend, test: str, shape: str) -> None:
    assert not mend(source_of(shape, test), ("family-split",)).fixes


NEVER = [
    # the examples for 10.x: the test is wrong, and not for 12.1
    "(prop.major != 10 || prop.major != 11) && prop.minor != 0",
    "prop.major < 10 || prop.minor != 0",
]


@pytest.mark.parametrize("test", NEVER)
def test_never(mend: Mend, test: str) -> None:
    assert not mend(source_of(THROW, test), ("family-split",)).fixes


@pytest.mark.parametrize("comment", ["only sm_120", "exactly this part", "not on sm_121: hangs", "deliberately"])
def test_meant(mend: Mend, comment: str) -> None:
    source = source_of(CHECK, "prop.major == 12 && prop.minor == 0").replace(
        "  KIT_CHECK", f"  // {comment}\n  KIT_CHECK"
    )
    assert all(fix.applicability == "unsafe" for fix in mend(source, ("family-split",)).fixes)


def test_guard_of_the_file_leaves_it_out(mend: Mend) -> None:
    kernel = "__global__ void k(float* o) {\n#if __CUDA_ARCH__ == 1200\n  o[0] = 1.0f;\n#endif\n}\n"
    found = mend(kernel + source_of(CHECK, "prop.major == 12 && prop.minor == 0"), ("family-split",))
    kinds = {fix.title.partition(":")[2]: fix.applicability for fix in found.fixes}
    assert sorted(kinds.values()) == ["safe", "unsafe"]
    once = found.text(safe=True)
    again = mend(once, ("family-split",))
    assert [fix.applicability for fix in again.fixes] == ["safe"]  # with the kernel mended the check may follow


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_other_byte_is_kept(mend: Mend, ending: str) -> None:
    source = ("// é\n" + source_of(CHECK, "prop.major == 12 /* é */ && prop.minor == 0")).replace("\n", ending)
    found = mend(source, ("family-split",))
    after = found.text()
    assert after == source.replace(" /* é */ && prop.minor == 0", "") or after == source.replace(
        " && prop.minor == 0", ""
    )
