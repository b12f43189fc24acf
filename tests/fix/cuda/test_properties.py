"""Generated guards and tests: what every fix keeps, checked by an evaluator of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bwlint.chips import ALL_TARGETS, Target, all_chips

from .conftest import Mend

ARCH = st.sampled_from([750, 890, 900, 1000, 1100, 1200, 1200, 1200, 1210])
SPACE = st.sampled_from([" ", " ", "  ", " \\\n    "])
GUARD_ATOMS = st.one_of(
    st.builds("__CUDA_ARCH__ {} {}".format, st.sampled_from(["==", "==", "!=", ">=", "<"]), ARCH),
    st.builds("defined(__CUDA_ARCH_FEAT_SM{}_ALL)".format, st.sampled_from([90, 100, 120, 120, 121])),
    st.builds("__CUDA_ARCH_FAMILY_SPECIFIC__ == {}".format, st.sampled_from([1000, 1200, 1210])),
    st.just("defined(__CUDA_ARCH__)"),
)
TEST_ATOMS = st.one_of(
    st.builds(
        "sm_version {} {}".format, st.sampled_from(["==", "==", "!=", ">=", "<"]), st.sampled_from([89, 90, 100, 120])
    ),
    st.just("prop.major == 12 && prop.minor == 0"),
    st.just("prop.major != 12 || prop.minor != 0"),
    st.just("(prop.major == 9 && prop.minor == 0)"),
    st.builds("prop.major * 10 + prop.minor == {}".format, st.sampled_from([90, 120])),
    st.just("ready"),
)


def joined(atoms: st.SearchStrategy[str], space: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        sign = st.sampled_from(["&&", "||"])
        pair = st.builds(lambda a, s, sign, b: f"{a}{s}{sign}{s}{b}", inner, space, sign, inner)
        return st.one_of(pair, st.builds("({})".format, inner), st.builds("!({})".format, inner))

    return st.recursive(atoms, extend, max_leaves=5)


def python_of(test: str) -> str:
    """A condition of C++ as Python, which binds all but `!` alike; that comes with brackets."""
    plain = test.replace("\\\n", " ").replace("\n", " ")
    plain = re.sub(r"!(?!=)", " not ", plain)
    return " ".join(plain.replace("&&", " and ").replace("||", " or ").replace(" / ", " // ").split())


def macros(target: Target) -> dict[str, Any]:
    def defined(name: object) -> bool:
        return name != 0

    found: dict[str, Any] = {
        "defined": defined,
        "__CUDA_ARCH__": target.number * 10,
        "__CUDA_ARCH_FAMILY_SPECIFIC__": 0,
    }
    for number in (90, 100, 120, 121):
        found[f"__CUDA_ARCH_FEAT_SM{number}_ALL"] = int(target.name == f"sm_{number}a")
    if target.suffix:
        found["__CUDA_ARCH_FAMILY_SPECIFIC__"] = target.number * 10
    return found


def passing(test: str) -> set[str]:
    return {target.name for target in ALL_TARGETS if eval(python_of(test), {}, macros(target))}


KERNEL = "// head\n__global__ void k(float* out) {{\n#if {}\n  out[0] = 1.0f;\n#else\n  __trap();\n#endif\n}}\n// tail"
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@RELAXED
@given(joined(GUARD_ATOMS, SPACE))
def test_guards(mend: Mend, test: str) -> None:
    found = mend(KERNEL.format(test), ("family-split",))
    if not found.fixes:
        return
    text = found.text()
    head, tail = (
        KERNEL.split("{}")[0].replace("{{", "{"),
        "\n  out[0]" + KERNEL.split("\n  out[0]")[1].replace("}}", "}"),
    )
    assert text.startswith(head)
    assert text.endswith(tail)
    after = text[len(head) : -len(tail)]
    moved = passing(test) ^ passing(after)
    assert moved
    assert {name.rstrip("fa") for name in moved} in ({"sm_120"}, {"sm_121"})
    assert set(found.fixes[0].proof.before_may) == passing(test)
    assert set(found.fixes[0].proof.after_may) == passing(after)
    assert mend(text, ("family-split",)).text() == text


SOURCE = """// head
void check(cudaDeviceProp prop, int sm_version, bool ready) {{
  KIT_CHECK({}, "no");
  launch();
}}
// tail"""


def holds(test: str) -> Callable[[str, bool], bool]:
    class Properties:
        pass

    def run(name: str, ready: bool) -> bool:
        prop: Any = Properties()
        prop.major, prop.minor = map(int, name.split("."))
        values = {"prop": prop, "sm_version": prop.major * 10 + prop.minor, "ready": ready}
        return bool(eval(python_of(test), {}, values))

    return run


@RELAXED
@given(joined(TEST_ATOMS, st.sampled_from([" ", "\n      "])))
def test_tests(mend: Mend, test: str) -> None:
    found = mend(SOURCE.format(test), ("family-split",))
    if not found.fixes:
        return
    text = found.text()
    head, tail = SOURCE.split("{}")[0].replace("{{", "{"), SOURCE.split("{}")[1].replace("}}", "}")
    assert text.startswith(head)
    assert text.endswith(tail)
    before, after = holds(test), holds(text[len(head) : -len(tail)])
    changed = {
        chip.name
        for chip in all_chips()
        for ready in (True, False)
        if before(chip.name, ready) != after(chip.name, ready)
    }
    assert changed in ({"12.0"}, {"12.1"}, {"10.3"})
    for ready in (True, False):
        assert after("12.1", ready) == after("12.0", ready) or found.fixes[0].applicability == "unsafe"
    assert mend(text, ("family-split",)).text() == text
