"""What is said of these chips in many places and is not so, beside what findings say (hardware.md, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from analysed import analysed

from bwlint.settings.catalog import rules

NEVER_SAID = ("corrupt", "deprecated", "1.8 TB/s", "228 KiB", "sm_120f is forward", "does not support clusters")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, code that meets it, and the rules that speak there with a part of what each says."""

    claim: str
    path: str
    source: str
    said: tuple[tuple[str, str], ...] = ()


def behind(test: str, *body: str, imports: str = "import torch") -> str:
    lines = (f"    if {test}:", *(f"        {line}" for line in body), "    return None")
    return "\n".join((imports, "", "", "def work(x):", *lines, ""))


def kernel(guard: str, statement: str) -> str:
    return f'#if {guard}\n__global__ void k(void* p) {{ asm volatile("{statement}" :: "l"(p), "r"(0)); }}\n#endif\n'


def ptx(target: str, statement: str) -> str:
    return f".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{\n  {statement}\n  ret;\n}}\n"


REPLACE = "tensormap.replace.tile.global_address.global.b1024.b64 [rd1], rd2;"
SPARSE = (
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
    ".f32.e2m1.e2m1.f32.ue4m3 {f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r5,r6,r7}, {f0,f1,f2,f3}, r8, 0, r9, {0,0}, r10, {0,0};"
)
CAPABILITY = "torch.cuda.get_device_capability()"
CLAIMS = (
    Claim(
        "bare compute_100 PTX cannot run on SM120: it is compiled when it is loaded",
        "build.sh",
        "nvcc -gencode arch=compute_100,code=compute_100 -c a.cu\n",
    ),
    Claim(
        "PTX for 120a becomes a cubin for 121a",
        "build.sh",
        "nvcc -gencode arch=compute_120a,code=sm_121a -c a.cu\n",
        (("arch-target", "cannot be compiled to future architecture"),),
    ),
    Claim(
        "an a cubin runs on the whole family",
        "CMakeLists.txt",
        'project(p LANGUAGES CUDA)\nset(CMAKE_CUDA_ARCHITECTURES "120a-real")\n',
        (("arch-target", "Only 12.0 loads sm_120a."),),
    ),
    Claim(
        "over 99 KiB a kernel corrupts memory: it does not run",
        "k.cu",
        "__global__ void k() {}\nvoid f() {\n"
        "  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072);\n"
        "  k<<<1, 128, 131072>>>();\n}\n",
        (("smem", "the kernel does not run"), ("unchecked-launch", "keeps old data")),
    ),
    Claim(
        "SM120 has no clusters: up to 8 blocks launch where they fit",
        "k.cu",
        "__global__ void __cluster_dims__(2, 1, 1) k(int* p) { p[0] = 1; }\n",
        (("cluster", "Clusters of up to 8 launch on these chips"),),
    ),
    Claim(
        "multicast loads do not assemble: they do, and are slow",
        "k.cu",
        kernel(
            "__CUDA_ARCH__ >= 1200",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
            " [%1], [%0], 16, [%1], 3;",
        ),
        (("tma-slow-path", "there is no multicast hardware"),),
    ),
    Claim(
        "SM120 has no TMA store",
        "k.cu",
        kernel("__CUDA_ARCH__ >= 1200", "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %1}], [%1];"),
    ),
    Claim(
        "TMA gathers no rows there",
        "k.cu",
        kernel(
            "__CUDA_ARCH__ >= 1200",
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes"
            " [%1], [%0, {%1, %1, %1, %1, %1}], [%1];",
        ),
    ),
    Claim(
        "wgmma is deprecated: it is not there outside of 90a",
        "k.cu",
        kernel("__CUDA_ARCH__ >= 900", "wgmma.fence.sync.aligned;"),
        (("wgmma", "Instruction 'wgmma.fence' not supported on .target 'sm_120'"),),
    ),
    Claim(
        "a build for 120f proves that tcgen05 is there",
        "k.cu",
        kernel("__CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200", "tcgen05.wait::ld.sync.aligned;"),
        (("tcgen05", "Instruction 'tcgen05.wait' not supported on .target 'sm_120f'"),),
    ),
    Claim(
        "one-shot reductions poll by atomics: polling alone is no fault",
        "k.cu",
        "__global__ void k(int* peer_flag) {\n  while (ld_acquire_sys(peer_flag) != 1) {}\n}\n",
    ),
    Claim(
        "B200 has 132 multiprocessors: H100 has",
        "k.py",
        "NUM_SMS = 132\n\n\ndef launch(kernel, x):\n    kernel.launch(grid=NUM_SMS, cooperative=True)\n",
        (("sm-count", "is 132, as on H100"),),
    ),
    Claim(
        "small parts are too small for templates by 68 multiprocessors",
        "k.py",
        "import torch\n\n\ndef is_big(i):\n"
        "    return torch.cuda.get_device_properties(i).multi_processor_count >= 68\n",
        (("sm-count", "GB10 has 48"),),
    ),
    Claim(
        "DeviceCapability equals its joined number",
        "k.py",
        "from vllm.platforms import current_platform\n\ncap = current_platform.get_device_capability()\n"
        "if cap not in [89, 120]:\n    raise RuntimeError('no')\n",
        (("capability-type", "never equals the number 89"),),
    ),
    Claim(
        "TRITON_PTXAS_PATH mends Triton on GB10",
        "k.py",
        "import os\n"
        + behind(f"{CAPABILITY}[0] == 12", "os.environ['TRITON_PTXAS_PATH'] = '/usr/local/cuda/bin/ptxas'"),
        (("toolchain", "reads TRITON_PTXAS_BLACKWELL_PATH there"),),
    ),
    Claim(
        "sm_120a is what CuTe DSL wants on GB10",
        "k.py",
        "import os\n\nos.environ['CUTE_DSL_ARCH'] = 'sm_120a'\n",
        (("toolchain", "which 12.1 (GB10) does not load"),),
    ),
    Claim(
        "libcudart.so.12 is everywhere",
        "k.py",
        "import ctypes\n\nlib = ctypes.CDLL('libcudart.so.12')\n",
        (("toolchain", "CUDA 13 has no libcudart.so.12"),),
    ),
    Claim(
        "SM120 needs CUDA 13",
        "k.py",
        f"import torch\n\n\ndef is_sm120_supported():\n    return {CAPABILITY}[0] == 12 and cuda_at_least('13.0')\n",
        (("toolchain", "nvcc knows sm_120 from 12.8 on"),),
    ),
    Claim(
        "trtllm-gen is for every Blackwell",
        "k.py",
        behind(
            f"{CAPABILITY}[0] >= 10",
            "return trtllm_batch_decode_with_kv_cache(x, backend='trtllm-gen')",
            imports="import torch\nfrom flashinfer.decode import trtllm_batch_decode_with_kv_cache",
        ),
        (("leak", "has trtllm-gen or tokenspeed kernels for 10.x only"),),
    ),
    Claim(
        "FlashAttention 3 falls back to SM120",
        "k.py",
        behind(
            f"{CAPABILITY}[0] >= 9",
            "return flash_attn_interface.flash_attn_func(x, x, x)",
            imports="import torch\nimport flash_attn_interface",
        ),
        (("leak", "FlashAttention 3 is built for 8.x and 9.0 only"),),
    ),
    Claim(
        "FlashAttention 4 is impossible there: it has a path for 12.x",
        "k.py",
        behind(
            f"{CAPABILITY}[0] >= 10",
            "return flash_attn_func(x, x, x)",
            imports="import torch\nfrom flash_attn.cute import flash_attn_func",
        ),
    ),
    Claim(
        "NVLink is 30 to 50 times faster than PCIe: like for like 14 times",
        "rtx-5090/serve.sh",
        "vllm serve some/model --data-parallel-size 2 --enable-expert-parallel\n",
        (("moe-plan", "14 times slower per direction"),),
    ),
    Claim(
        "tensor maps must be made on the host: plain 120 has no tensormap.replace",
        "k.ptx",
        ptx("sm_120", REPLACE),
        (("suffix-lost", "Instruction 'tensormap.replace' not supported on .target 'sm_120'"),),
    ),
    Claim("tensor maps must be made on the host: 120f replaces parts of them", "k.ptx", ptx("sm_120f", REPLACE)),
    Claim(
        "NVFP4 is the same everywhere: the sparse form is for the a targets alone",
        "k.ptx",
        ptx("sm_120f", SPARSE),
        (("suffix-lost", "not supported on .target 'sm_120f'"),),
    ),
    Claim(
        "12.x has no clusters: CUTLASS's builders take none",
        "k.cu",
        "using ClusterShape = cute::Shape<cute::_2, cute::_1, cute::_1>;\n"
        "using Main = typename cutlass::gemm::collective::CollectiveBuilder<\n"
        "    cutlass::arch::Sm120, cutlass::arch::OpClassBlockScaledTensorOp, A, L, 32, B, L, 32, float,\n"
        "    Tile, ClusterShape, S, K>::CollectiveOp;\n",
        (("cluster", "to a CUTLASS builder of SM120, which takes 1x1x1 only"),),
    ),
    Claim(
        "12.x has no clusters: the instructions assemble for plain 120",
        "k.ptx",
        ptx("sm_120", "barrier.cluster.arrive.aligned;"),
    ),
    Claim(
        "12.x has no griddepcontrol: it assembles for plain 120",
        "k.ptx",
        ptx("sm_120", "griddepcontrol.wait;"),
    ),
)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.claim for claim in CLAIMS])
def test_findings_agree_with_what_was_measured(claim: Claim, tmp_path: Path) -> None:
    names = [rule.name for rule in rules()]
    found = [one for _, some in analysed(tmp_path, {claim.path: claim.source}, names).drafts for one in some]
    texts = [(one.rule.name, f"{one.message}; {one.advice}") for one in found]
    for rule, part in claim.said:
        assert any(name == rule and part in text for name, text in texts), texts
    assert {name for name, _ in texts} == {rule for rule, _ in claim.said}
    assert not [word for word in NEVER_SAID for _, text in texts if word in text]
