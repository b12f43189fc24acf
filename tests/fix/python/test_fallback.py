"""Questions that GB10 has no answer to, in functions that have another way."""

from __future__ import annotations

import pytest

from .conftest import Project

HEAD = "import torch\n\ntry:\n    import pynvml\nexcept ImportError:\n    pynvml = None\n\n\n"
FREE = (
    HEAD
    + """\
def free(index=None):
    if pynvml:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        info = pynvml.nvmlDeviceGetMemoryInfo(handle)  # in bytes
        return info.free
    else:
        # an estimate
        total = torch.cuda.get_device_properties(index).total_memory
        return total - torch.cuda.memory_allocated(index)
"""
)
FREE_AFTER = (
    HEAD
    + """\
def free(index=None):
    if pynvml:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        try:
            info = pynvml.nvmlDeviceGetMemoryInfo(handle)  # in bytes
            return info.free
        except pynvml.NVMLError_NotSupported:
            total = torch.cuda.get_device_properties(index).total_memory
            return total - torch.cuda.memory_allocated(index)
    else:
        # an estimate
        total = torch.cuda.get_device_properties(index).total_memory
        return total - torch.cuda.memory_allocated(index)
"""
)
SET = (
    HEAD
    + """\
def report(index):
    if HAVE_NVML:
        used = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index)).used
    else:
        used = torch.cuda.memory_reserved(index)
    print(used)
"""
)
SET_AFTER = (
    HEAD
    + """\
def report(index):
    if HAVE_NVML:
        try:
            used = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index)).used
        except pynvml.NVMLError_NotSupported:
            used = torch.cuda.memory_reserved(index)
    else:
        used = torch.cuda.memory_reserved(index)
    print(used)
"""
)


@pytest.mark.parametrize(("before", "after"), [(FREE, FREE_AFTER), (SET, SET_AFTER)])
def test_other_branch_where_nvml_raises(project: Project, before: str, after: str) -> None:
    assert project({"m.py": before}).fixes("unified-memory") == [("unsafe", after)]
    assert not [one for one in project({"m.py": after}).findings if one.name == "unified-memory"]


WITHOUT = "    else:\n        used = torch.cuda.memory_reserved(index)\n"


@pytest.mark.parametrize(
    "before",
    [
        SET.replace(WITHOUT, ""),
        SET.replace("used = torch", "other = torch"),  # sets something else
        SET.replace("used = torch.cuda.memory_reserved(index)", "raise RuntimeError('no NVML')"),
        SET.replace("if HAVE_NVML", "if index == 0"),  # which asks something else
        SET.replace("torch.cuda.memory_reserved(index)", "pynvml.nvmlDeviceGetName(index)"),
        SET.replace("torch.cuda.memory_reserved(index)", 'len("""a\n    b""")'),
        SET.replace("pynvml.nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo"),
    ],
)
def test_left_to_a_person(project: Project, before: str) -> None:
    found = project({"m.py": before})
    assert found.fixes("unified-memory") == []
    assert ["mem_get_info" in one for one in found.refusals("unified-memory")] == [True]


@pytest.mark.parametrize("before", [FREE_AFTER, HEAD + "def free(i):\n    return torch.cuda.mem_get_info(i)[0]\n"])
def test_silent(project: Project, before: str) -> None:
    assert not [one for one in project({"m.py": before}).findings if one.name == "unified-memory"]
