"""How the CUDA version is spelled in a test, and what functions that test it come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

PREDICATE = """
import torch
from packaging.version import Version, parse
import cutlass
from kit import CUDA_VERSION, cuda_at_least, device_version, driver_version, get_nvcc_version, version_at_least

def is_sm120_supported(device):
    cuda = get_nvcc_version()
    major = int(torch.version.cuda.split(".")[0])
    return torch.cuda.get_device_capability(device)[0] == 12 and {test}
"""


@pytest.mark.parametrize(
    ("test", "fires"),
    [
        ('cuda_at_least("13.0")', True),
        ('version_at_least(torch.version.cuda, "13.0")', True),
        ("get_nvcc_version() >= (13, 0)", True),
        ("(13, 0) <= get_nvcc_version()", True),
        ("not get_nvcc_version() < (13, 0)", True),
        ("cuda >= (12, 9, 1)", True),
        ('Version(torch.version.cuda) > Version("12.8")', True),
        ('parse(torch.version.cuda) >= parse("13")', True),
        ('torch.version.cuda >= "13.0"', True),
        ("CUDA_VERSION >= 13000", True),
        ("cutlass.CUDA_VERSION.major >= 13", True),
        ("major >= 13", True),
        ("major > 12", True),
        ("get_nvcc_version() >= (12, 8)", False),
        ('Version(torch.version.cuda) > Version("12.6")', False),
        ("CUDA_VERSION >= 12080", False),
        ("major >= 12", False),
        ("major < 13", False),
        ("driver_version() >= (580, 0)", False),
        ("device_version() >= (13, 0)", False),
        ('version_at_least(torch.__version__, "13.0")', False),
        ("get_nvcc_version() >= wanted()", False),
        ("get_nvcc_version() in ((13, 0), (13, 1))", False),
    ],
)
def test_spellings(tmp_path: Path, test: str, fires: bool) -> None:
    found = levels(drafts(tmp_path, {"a.py": PREDICATE.format(test=test)}, "toolchain"))
    assert found == (["10 warning"] if fires else [])


HEAD = """
import torch
from kit import cuda_at_least

def {name}(device, batch=1):
    major, minor = torch.cuda.get_device_capability(device)
{body}
"""


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("sm120", "if major != 12:\n raise E\nif not cuda_at_least('13.0'):\n raise E", ["9 warning"]),
        ("gemm", "if major != 12:\n raise E\nif not cuda_at_least('13.0'):\n raise E", ["9 note"]),
        ("sm120", "if batch > 1 and not cuda_at_least('13.0'):\n raise E", []),
        ("sm120", "if major == 12 and batch > 1 and not cuda_at_least('13.0'):\n raise E", []),
        ("sm120", "if not cuda_at_least('13.0'):\n raise E", []),
        ("sm120", "assert major != 12 or cuda_at_least('13.0')", ["7 warning"]),
        ("sm120", "return major == 12 and (batch == 1 or cuda_at_least('13.0'))", []),
        ("sm121", "return (major, minor) == (12, 1) and cuda_at_least('12.8')", ["7 note"]),
        ("sm121a", "return (major, minor) == (12, 1) and cuda_at_least('12.8')", ["7 warning"]),
        ("sm121", "return (major, minor) == (12, 1) and cuda_at_least('12.9')", []),
        ("sm121", "return (major, minor) == (12, 1) and cuda_at_least('11.8')", []),
        ("sm90", "return major == 9 and cuda_at_least('13.0')", []),
    ],
)
def test_what_a_function_refuses(tmp_path: Path, name: str, body: str, found: list[str]) -> None:
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    assert levels(drafts(tmp_path, {"a.py": HEAD.format(name=name, body=indented)}, "toolchain")) == found
