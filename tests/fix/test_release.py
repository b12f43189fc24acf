"""The release of CUDA that a test or a row asks for, mended as a user would."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

HELPER = '''def is_sm121a_supported(device):
    """SM121a of a DGX Spark. It needs CUDA {0} or newer."""
    major, minor = get_compute_capability(device)
    return major == 12 and minor == 1 and version_at_least(torch.version.cuda, "{0}")
'''
NUMBERS = """def is_sm12x_supported(device):
    if cuda_version() < {0}:
        return False
    return torch.cuda.get_device_capability(device)[0] == 12 or torch.cuda.get_device_capability(device)[0] == 8
"""
NAMED = '''def arch_of(major, minor):
    """With CUDA {0} the family target."""
    if major == 12:
        if is_cuda_version_at_least("{0}"):
            return (major, "0f")
        return (major, "0a")
    return (major, str(minor))
'''
ROWS = """def has_sm(compute, version):
    return compute in flags and get_cuda_version() >= Version(version)


CAPABILITIES = {{
    "sm100": has_sm("compute_100", "12.8"),
    "sm103": has_sm("compute_103", "{0}"),
    "sm121": has_sm("compute_121", "{1}"),
}}
"""
MIN = 'MIN_CUDA = {{"sm_100": "12.8", "sm_103": "12.9", "sm_120": "{0}"}}\n'

MENDED = [
    (HELPER.format("13.0"), HELPER.format("12.9"), "unsafe"),
    (NAMED.format("13.0"), NAMED.format("12.9"), "unsafe"),
    (ROWS.format("12.8", "13.0"), ROWS.format("12.8", "12.9"), "unsafe"),
    # a table of what nvcc knows, by its other rows
    (ROWS.format("12.9", "13.0"), ROWS.format("12.9", "12.9"), "safe"),
    (ROWS.format("12.9", "12.8"), ROWS.format("12.9", "12.9"), "safe"),
    (MIN.format("13.0"), MIN.format("12.8"), "safe"),
]


def _found(folder: Path, text: str) -> list[Finding]:
    (folder / "pyproject.toml").write_text("[project]\nname = 'kit'\n", encoding="utf-8")
    path = folder / "kit.py"
    path.write_text(text, encoding="utf-8")
    request = CheckRequest((str(path),), ("sm_120", "sm_121"), ("toolchain",), severity="note", fixes=True)
    with ExitStack() as stack:
        return list(check(request, stack).report.findings)


@pytest.mark.parametrize(("before", "after", "applicability"), MENDED)
def test_the_first_release_that_knows_the_chip(tmp_path: Path, before: str, after: str, applicability: str) -> None:
    (found,) = [one for one in _found(tmp_path, before) if one.fix is not None]
    assert found.fix is not None
    assert apply(before, found.fix.edits) == after
    assert found.fix.applicability == applicability
    assert _found(tmp_path, after) == []


REFUSED = [
    # the release stands elsewhere, and others may ask for it
    HELPER.replace('"{0}"', "MIN_CUDA").format("13.0") + 'MIN_CUDA = "13.0"\n',
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_left_to_a_person(tmp_path: Path, text: str) -> None:
    assert all(one.fix is None and one.fix_refused for one in _found(tmp_path, text))


SILENT = [HELPER.format("12.9"), NAMED.format("12.9"), ROWS.format("12.9", "12.9"), MIN.format("12.8")]


@pytest.mark.parametrize("text", SILENT)
def test_right_ones_stay(tmp_path: Path, text: str) -> None:
    assert _found(tmp_path, text) == []
