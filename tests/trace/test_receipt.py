"""Lines into processes, as they are and as a kill may leave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_binaries import cubin

from bwlint.trace.receipt import KernelLaunch, Process, TracedDevice, choices, processes, requested

HEAD = {"process": 7, "parent": 1, "cupti": 130001, "program": "/bin/x", "arguments": "x\0--y"}
DEVICE = {"device": 0, "name": "NVIDIA GeForce RTX 5090", "capability": "12.0"}
KERNEL = {
    **{"kernel": 0, "name": "_Z1kv", "device": 0, "grid": [4, 1, 1], "block": [32, 1, 1], "cluster": [0, 0, 0]},
    **{"static_shared": 0, "dynamic_shared": 1024, "registers": 16, "in_graph": False},
}
RAN = {"ran": 0, "count": 3, "ns": 300}
JIT_BUILD = "system must define TOOLS_VERSION_EXTENDED"


def seen(folder: Path, *lines: dict[str, Any], end: bytes = b"") -> tuple[Process, ...]:
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / "7.jsonl").write_bytes(text.encode() + end)
    return processes(folder)


def test_launches_add_up(tmp_path: Path) -> None:
    asked = {"launches": 9, "graph_launches": 2}
    (process,) = seen(tmp_path, HEAD, DEVICE, KERNEL, RAN, asked, RAN, {"end": True})
    assert [(launch.count, launch.ns) for launch in process.launches] == [(6, 600)]
    assert (process.arguments, process.ended, process.unseen, process.graphs_asked) == (("x", "--y"), True, 3, 2)
    assert process.capability(0) == "12.0" and process.capability(1) == ""


@pytest.mark.parametrize("end", [b'{"ran": 0, "cou', b'{"ran": 5, "count": 1, "ns": 1}\n', b"[]\n", b'{"ran": 0}\n'])
def test_a_line_that_is_not_whole_is_a_fault_and_no_more(end: bytes, tmp_path: Path) -> None:
    (process,) = seen(tmp_path, HEAD, KERNEL, RAN, end=end)
    assert process.ran == 3 and not process.ended
    assert process.faults == ("line 4 of 7.jsonl is cut off",)


def test_a_number_may_be_that_of_two_processes(tmp_path: Path) -> None:
    first, second = seen(tmp_path, HEAD, KERNEL, RAN, HEAD, KERNEL)
    assert (first.ran, second.ran) == (3, 0)


def test_nothing_is_no_process(tmp_path: Path) -> None:
    assert processes(tmp_path) == () and seen(tmp_path, RAN) == ()


def test_launches_in_graphs_are_not_those_that_were_asked_for(tmp_path: Path) -> None:
    (process,) = seen(tmp_path, HEAD, {**KERNEL, "in_graph": True}, RAN, {"launches": 1, "graph_launches": 3})
    assert (process.ran, process.unseen) == (3, 1)


@pytest.mark.parametrize(
    ("image", "container", "target"),
    [
        (cubin(120, "", ["_Z1kv"]), "cubin", "sm_120"),
        (cubin(120, "a", ["_Z1kv"]), "exact cubin", "sm_120a"),
        (cubin(120, "f", ["_Z1kv"]), "family cubin", "sm_120f"),
        (cubin(120, "a", ["_Z1kv"], build=JIT_BUILD), "jit", "sm_120a"),
        (b"\x7fELF", "unknown", ""),
    ],
)
def test_where_code_came_from(image: bytes, container: str, target: str, tmp_path: Path) -> None:
    (tmp_path / "a.cubin").write_bytes(image)
    module = {"module": 1, "size": len(image), "file": "a.cubin"}
    (process,) = seen(tmp_path, HEAD, module, KERNEL, RAN)
    (loaded,) = process.modules
    assert (loaded.container, loaded.target, bool(loaded.fault)) == (container, target, container == "unknown")
    assert process.launches[0].containers == ((f"{container} {target}",) if target else ())


def test_a_module_that_was_not_kept_is_said_to_be(tmp_path: Path) -> None:
    (process,) = seen(tmp_path, HEAD, {"module": 1, "size": 9})
    assert process.modules[0].fault == "the program loaded more code than a receipt can hold"


def test_code_of_the_jit_that_no_module_owns_up_to_is_a_fault(tmp_path: Path) -> None:
    (process,) = seen(tmp_path, HEAD, {"jit": "compile", "from": "ptx", "device": 0, "size": 0, "ns": 1})
    assert process.jit == {"compile ptx": 1} and "compiled from PTX" in process.faults[0]


def test_frames_are_file_line_and_function(tmp_path: Path) -> None:
    stack = 'Stack (most recent call first):\n  File "/a b.py", line 3 in f\n  File "/c.py", line 9 in <module>\n'
    (process,) = seen(tmp_path, HEAD, {"asked": "_Z1kv", "stack": stack}, {"asked": "_Z1gv"})
    assert [call.stack for call in process.calls] == [("/a b.py:3 f", "/c.py:9 <module>"), ()]
    assert process.unfinished == ("_Z1kv", "_Z1gv")


FLASH = "_ZN5flash16flash_fwd_kernelI1XEEv"
FLASHINFER = "_ZN10flashinfer33BatchDecodeWithPagedKVCacheKernelILi1EEEv"
MLA = "_Z28flash_fwd_splitkv_mla_kernelv"
GEMM = "nvjet_sm90_tst"


def process(*kernels: str, capability: str = "12.0") -> Process:
    shape = (1, 1, 1)
    launches = tuple(KernelLaunch(kernel, 0, shape, shape, (0, 0, 0), 0, 0, 1, False, 1, 1) for kernel in kernels)
    devices = (TracedDevice(0, "GPU", capability),)
    return Process(1, 0, "", (), 1, True, 1, 0, 0, devices, launches, (), (), (), {}, ())


@pytest.mark.parametrize(
    ("words", "variables", "found"),
    [
        (["--attention-backend=FLASHINFER"], {}, [("--attention-backend", "FLASHINFER")]),
        (["--attention-backend", "flashmla"], {}, [("--attention-backend", "flashmla")]),
        (["--moe_backend", "triton"], {}, [("--moe_backend", "triton")]),
        ([], {"VLLM_ATTENTION_BACKEND": "TRITON_ATTN"}, [("VLLM_ATTENTION_BACKEND", "TRITON_ATTN")]),
        (["--attention-backend", "auto"], {"MOE_BACKEND": ""}, []),
        (["--attention-backend", "--port", "80"], {}, []),
        (["--attention-backend"], {}, []),
        (["attention-backend=fa3", "--port", "80", "--model", "flashinfer"], {"PATH": "/x"}, []),
    ],
)
def test_what_names_a_backend(words: list[str], variables: dict[str, str], found: list[tuple[str, str]]) -> None:
    assert list(requested(["serve", *words], variables)) == found


@pytest.mark.parametrize(
    ("value", "kernels", "capability", "outcome", "eligible"),
    [
        ("FLASHINFER", [FLASHINFER, GEMM], "12.0", "executed", None),
        ("FLASHINFER", [FLASHINFER, FLASH], "12.0", "executed", None),
        ("FLASHINFER", [FLASH, GEMM], "12.0", "replaced", None),
        ("FLASHINFER", [GEMM], "12.0", "not executed", None),
        ("FLASH_ATTN", [MLA], "9.0", "replaced", None),
        ("FLASHMLA", [MLA], "9.0", "executed", True),
        ("FLASHMLA", [FLASH], "9.0", "replaced", True),
        ("FLASHMLA", [FLASH], "12.1", "replaced", False),
        ("FLASHMLA", [], "12.1", "not executed", None),
        ("TOKENSPEED_MLA", [FLASH], "12.0", "replaced", False),
        ("TOKENSPEED_MLA", [FLASH], "10.0", "not known", True),
        ("OF_OUR_OWN", [FLASH], "12.0", "not known", None),
    ],
)
def test_what_became_of_it(
    value: str, kernels: list[str], capability: str, outcome: str, eligible: bool | None
) -> None:
    (choice,) = choices([("VLLM_ATTENTION_BACKEND", value)], [process(*kernels, capability=capability)])
    assert (choice.outcome, choice.eligible) == (outcome, eligible)
    assert bool(choice.executed) == (outcome == "executed")
    assert not (choice.executed and choice.instead)
