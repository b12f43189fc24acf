"""Build scripts of Rust, Buck and SCons name targets as all others do."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

FLAG = "-gencode=arch=compute_120a,code=sm_120a"
CARGO = f'fn main() {{\n    cc::Build::new().cuda(true)\n        .flag("{FLAG}").compile("k");\n}}\n'
BUCK = f'cuda_library(\n    name = "k",\n    nvcc_flags = ["{FLAG}"],\n)\n'
SCONS = f'env = Environment()\nenv.Append(NVCCFLAGS=["{FLAG}"])\n'


@pytest.mark.parametrize(
    ("path", "script", "line"),
    [("k/build.rs", CARGO, 3), ("k/BUCK", BUCK, 3), ("k/TARGETS", BUCK, 3), ("SConstruct", SCONS, 2)],
)
@pytest.mark.parametrize(("target", "warned"), [("120a", True), ("120f", False), ("90a", False)])
def test_a_target_of_one_chip(tmp_path: Path, path: str, script: str, line: int, target: str, warned: bool) -> None:
    found = drafts(tmp_path, {path: script.replace("120a", target)}, "arch-target")
    assert levels(found) == [f"{line} warning"] * warned
