"""Build files set against the binaries beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from libraries import arm

from bwlint import cli

LIST = 'set(CMAKE_CUDA_ARCHITECTURES "{}")\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def related(library: bytes, archs: str) -> list[list[str]]:
    """For each finding in the library what it says of other places."""
    Path("CMakeLists.txt").write_text(LIST.format(archs))
    Path("a.so").write_bytes(library)
    options = ("check", "--severity", "note", "--format", "json", ".")
    findings = json.loads(CliRunner().invoke(cli.app, options, prog_name="bwlint").stdout)["findings"]
    return [
        [f"{place['path']}: {place['message']}" for place in one["related"]]
        for one in findings
        if "a.so" in one["path"]
    ]


@pytest.mark.parametrize(
    ("image", "archs", "expected"),
    [
        # What is asked for is there, or nobody asks for it.
        ("sm_120f", "90;120;121", []),
        ("sm_120", "120", []),
        ("sm_120a", "90;100", [[]]),
        ("sm_120a", "90;120a", [[]]),
        ("sm_90a", "90a;100a", [[]]),
        # The binary lacks what the build asks for.
        ("sm_120a", "90;121", [["CMakeLists.txt: the build asks for sm_121 here"]]),
        ("sm_120a", "90;120f", [["CMakeLists.txt: the build asks for sm_120f here"]]),
        ("sm_120a", "90;120;121", [["CMakeLists.txt: the build asks for sm_121 here"]]),
        ("sm_90", "90;120", [["CMakeLists.txt: the build asks for sm_120 here"]]),
    ],
)
def test_the_build_is_named_where_it_asks_for_more(image: str, archs: str, expected: list[list[str]]) -> None:
    assert related(arm(image), archs) == expected
