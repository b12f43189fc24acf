"""Class templates that put a guard around a kernel, in the file or in one that it includes."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

WRAPPER = """template <typename Kernel>
struct {name} : Kernel {{
  template <typename... Args>
  __device__ void operator()(Args&&... args) {{
#if __CUDA_ARCH__ >= 900
    Kernel::operator()(args...);
#endif
  }}
}};
"""
USER = """{include}
void run() {{
  launch(enable_sm90<Warpgroups>{{}});
}}
"""
INCLUDE = '#include "kit/wrap.cuh"'


@pytest.mark.parametrize(
    ("include", "files", "expected"),
    [
        (INCLUDE, {"kit/wrap.cuh": WRAPPER.format(name="enable_sm90")}, ["3 note"]),
        (
            INCLUDE,
            {"kit/wrap.cuh": '#include "more.cuh"', "kit/more.cuh": WRAPPER.format(name="enable_sm90")},
            ["3 note"],
        ),
        (INCLUDE, {"kit/wrap.cuh": WRAPPER.format(name="enable_any")}, []),
        (INCLUDE, {}, []),
        ("", {"kit/wrap.cuh": WRAPPER.format(name="enable_sm90")}, []),
    ],
)
def test_guards_of_what_is_included(tmp_path: Path, include: str, files: dict[str, str], expected: list[str]) -> None:
    """The run is on one file; the headers are read for it."""
    found = drafts(tmp_path, {"m.cu": USER.format(include=include), **files}, "leak", only="m.cu")
    assert levels(found) == expected


def test_a_wrapper_of_the_same_file(tmp_path: Path) -> None:
    text = WRAPPER.format(name="enable_sm90") + USER.format(include="")
    assert "12 note" in levels(drafts(tmp_path, {"m.cu": text}, "leak"))
