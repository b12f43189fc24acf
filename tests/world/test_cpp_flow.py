"""Which C++ values are the device: by what they were given, and not by what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

PROPERTIES = "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);"
SUM = "p.major * 10 + p.minor"
ASKS = "\nvoid use(int n) { int v = level(); if (v == 120) { small(n); } else { big(n); } }\n"

FOLLOWED = {
    "a local structure": f"int level() {{ {PROPERTIES} return {SUM}; }}{ASKS}",
    "a pointer to the properties": (
        "int level() { auto* q = at::cuda::getCurrentDeviceProperties(); return q->major * 10 + q->minor; }" + ASKS
    ),
    "a reference to the properties": (
        "int level() { const auto& q = *at::cuda::getDeviceProperties(0); const int v = q.major * 10 + q.minor;"
        " return v; }" + ASKS
    ),
    "a query in a test": (
        "int level() { cudaDeviceProp p; if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) { return -1; }"
        f" return {SUM}; }}{ASKS}"
    ),
    "a row of a cache that a lambda fills": (
        "int level(int d = 0) {\n  static std::vector<int> known(count(), -1);\n"
        f"  auto fill = [&]() {{ {PROPERTIES} known[d] = {SUM}; }};\n  fill();\n  return known[d];\n}}{ASKS}"
    ),
    "a method of an object that a function gives": (
        "class Info { public: static Info& get(); int sm() const { return sm_; }"
        f" Info() {{ {PROPERTIES} sm_ = {SUM}; }} int sm_ = 0; }};\n"
        f"int level() {{ return Info::get().sm(); }}{ASKS}"
    ),
    "a member that is declared as the properties": (
        "class Engine { public: void run(int n); cudaDeviceProp props_; };\nvoid Engine::run(int n) {"
        " if (props_.major * 10 + props_.minor == 120) { small(n); } else { big(n); } }\n"
    ),
    "a member that is made on the first call": (
        "struct Runtime { cudaDeviceProp* prop = nullptr; cudaDeviceProp* get() { if (!prop) {"
        " prop = new cudaDeviceProp; cudaGetDeviceProperties(prop, 0); } return prop; } };\n"
        "int level() { auto q = runtime().get(); return q->major * 10 + q->minor; }" + ASKS
    ),
}
NO_DEVICE = {
    "a row of numbers": "int level() { static int known[4]; known[0] = 120; return known[0]; }" + ASKS,
    "a structure of another kind": "int level() { HostProp q; fill(&q, 0); return q.rank * 10 + q.size; }" + ASKS,
    "an error beside a number of its own": (
        "int level() { if (cudaGetDevice(&d) != cudaSuccess) { return -1; } return table_size; }" + ASKS
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_asked_of_the_device_is_no_guess(tmp_path: Path, name: str) -> None:
    (found,) = drafts(tmp_path, {"a.cpp": FOLLOWED[name]}, "family-split")
    assert found.severity == "warning"
    assert "false on 12.1 (GB10), which takes another path." in found.message


@pytest.mark.parametrize("name", NO_DEVICE)
def test_other_numbers_are_none(tmp_path: Path, name: str) -> None:
    assert drafts(tmp_path, {"a.cpp": NO_DEVICE[name]}, "family-split") == []


DECLARED = "#pragma once\nnamespace k { int arch_of_gpu(int d = -1); }\n"
DEFINED = (
    '#include "../x/dev.h"\nnamespace k {\nint arch_of_gpu(int d) {\n  cudaDeviceProp p;\n'
    "  cudaGetDeviceProperties(&p, d);\n  return p.major * 10 + p.minor;\n}\n}\n"
)
CALLS = '#include "../x/dev.h"' + ASKS.replace("level()", "k::arch_of_gpu()")


def test_a_function_may_be_defined_in_any_folder_of_the_project(tmp_path: Path) -> None:
    files = {"pyproject.toml": "", "x/dev.h": DECLARED, "y/impl.cu": DEFINED, "z/a.cpp": CALLS}
    (found,) = drafts(tmp_path, files, "family-split")
    assert found.severity == "warning"


def test_of_two_definitions_nobody_knows_which(tmp_path: Path) -> None:
    files = {"pyproject.toml": "", "x/dev.h": DECLARED, "y/impl.cu": DEFINED, "w/impl.cu": DEFINED, "z/a.cpp": CALLS}
    assert [one.severity for one in drafts(tmp_path, files, "family-split")] in ([], ["note"])
