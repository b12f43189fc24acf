"""Lines that speak of a chip, in the spellings that people use, and lines that do not."""

from __future__ import annotations

import time

import pytest

from bwlint.data import table
from bwlint.model.ledger import Sighting
from bwlint.readers.sightings import sightings

SEEN = [
    ("python", "free, total = torch.cuda.mem_get_info(device)", "unit"),
    ("cuda", "cudaMemGetInfo(&free, &total);", "unit"),
    ("python", "budget = props.total_memory * 0.9", "unit"),
    ("cuda", 'std::string command = "nvidia-smi --id=0";', "unit"),
    ("python", "flush_l2_size = int(8e9 // 4)", "unit"),
    ("build", 'if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64") message(FATAL_ERROR "no GPU")', "unit"),
    ("python", "acc = tl.dot_scaled(a, sa, 'e4m3', b, sb, 'e4m3', acc)", "unit"),
    ("python", "out = torch._scaled_mm(a, b)", "unit"),
    ("cuda", "cudaLaunchCooperativeKernel(kernel, grid, block, args);", "unit"),
    ("python", "key = torch.cuda.get_device_properties(0).name.lower()", "unit"),
    ("build", "onnxruntime-gpu==1.20.1", "toolkit"),
    ("python", '"BLOCK_SIZE_M": 128,', "unit"),
    ("cuda", "#if __CUDA_ARCH__ >= 1000", "asked"),
    ("cuda", "if (1200 == __CUDA_ARCH__) {", "asked"),
    ("cuda", "return elem(sm, {80, 90, 100});", "asked"),
    ("cuda", "std::find(archs.begin(), archs.end(), 90)", "asked"),
    ("cuda", "if constexpr (Arch >= 90) {", "asked"),
    ("cuda", "if (80 <= cc && cc < 100)", "asked"),
    ("cuda", "    case 90: return hopper();", "asked"),
    ("python", "if torch.cuda.get_device_capability()[0] >= 10:", "asked"),
    ("python", "if props.major == 12 and props.minor == 0:", "asked"),
    ("python", "ok = capability in ((8, 9), (9, 0))", "asked"),
    ("python", 'if arch == "sm_90":', "asked"),
    ("build", "if(ARCH VERSION_GREATER_EQUAL 9.0)", "asked"),
    ("build", "nvidia-smi --query-gpu=compute_cap --format=csv | sed 's/[.]//'", "asked"),
    ("build", "list(FIND archs sm_${cc} at)", "chip"),
    ("build", "set(ENABLE_SM${X} ON)", "chip"),
    ("build", "foreach(arch 80 90 100)", "chip"),
    ("build", "set(TARGETS 90a 120f)", "chip"),
    ("build", 'TORCH_CUDA_ARCH_LIST="8.0;9.0;12.0+PTX"', "chip"),
    ("cuda", "constexpr int ARCH_NAME = 86;", "chip"),
    ("cuda", "return kSM_120;", "chip"),
    ("cuda", "using Kernel = KernelTma2SmSm100;", "chip"),
    ("cuda", "case_of(gpu, 0x78);", "chip"),
    ("python", "SUPPORTED = [(9, 0), (12, 0)]", "chip"),
    ("python", 'if hasattr(module, "sm90"):', "chip"),
    ("python", 'name = f"sm_{major}{minor}"', "chip"),
    ("cuda", "if (cc >= GGML_CUDA_CC_HOPPER)", "generation"),
    ("python", "if is_blackwell():", "generation"),
    ("python", 'if "RTX 5090" in name:', "product"),
    ("python", "GB10 = 48", "product"),
    ("cuda", 'asm("tcgen05.alloc;");', "unit"),
    ("cuda", "cudaDeviceCanAccessPeer(&yes, 0, 1);", "unit"),
    ("python", "limit = props.shared_memory_per_block_optin", "unit"),
    ("python", 'backend = "deepep"', "unit"),
    ("python", "tiles = props.multi_processor_count * 2", "unit"),
    ("python", "fn = cute.compile(kernel)", "unit"),
    ("python", "if backend == 'trtllm': pass", "unit"),
    ("build", "FROM nvidia/cuda:12.8.1-devel", "toolkit"),
    ("cuda", "if (getSMVersion() == 90) {", "asked"),
    ("cuda", "if (get_sm_version() >= 100) {", "asked"),
    ("cuda", "if (p.on && 90 <= p.cc) {", "asked"),
    ("cuda", "if (supports_cc(90)) {", "asked"),
    ("cuda", "switch (sm) {", "asked"),
    ("cuda", "switch (props->major) {", "asked"),
    ("cuda", "switch (getSMVersion()) {", "asked"),
    ("cuda", "\tcase\t90: return hopper();", "asked"),
    ("python", "if platform.has_device_capability(90):", "asked"),
    ("python", "if platform.is_device_capability((9, 0)):", "asked"),
    ("python", "if cuda_arch_at_least(sm, 90):", "asked"),
    ("python", 'if name.startswith("sm_9"):', "asked"),
    ("python", 'if name.startswith(("sm_9", "x")):', "asked"),
    ("python", "if (12, 0) == cap:", "asked"),
    ("python", "if ( 12, 0 ) <= device.capability:", "asked"),
    ("python", "if props.major * 10 + props.minor >= 90:", "asked"),
    ("python", '{"compute_capability": 90}', "asked"),
    ("build", "if(90 IN_LIST ARCHS)", "asked"),
    ("build", "if(${ver} LESS 90)", "asked"),
    ("build", "if(ver GREATER_EQUAL 120)", "asked"),
    ("cuda", "return kernel<cc70>(x);", "chip"),
    ("python", "SUPPORTED = [( 9, 0 )]", "chip"),
    ("cuda", "if (cc == GGML_CUDA_CC_ADA)", "generation"),
    ("python", "if is_ada():", "generation"),
    ("cuda", "extern __shared__ char buffer[];", "unit"),
    ("cuda", "int bytes = sizeof(Kernel::SharedStorage);", "unit"),
    ("cuda", "int kStages = 3;", "unit"),
    ("cuda", "cudaOccupancyMaxActiveBlocks(&n, k, 1, 2);", "unit"),
    ("cuda", "__threadfence_system();", "unit"),
    ("cuda", "atomicAdd_system(p, 1);", "unit"),
    ("cuda", "cudaIpcMemHandle_t handle;", "unit"),
    ("cuda", "cuMemCreate(&h, n, &p, 0);", "unit"),
    ("cuda", "cudaHostRegister(p, n, 0);", "unit"),
    ("cuda", 'asm("ld.acquire.sys.u32 %0, [%1];");', "unit"),
    ("cuda", "cublasCreate(&handle);", "unit"),
    ("cuda", "using F = e2m1;", "unit"),
    ("python", "num_stages = 4", "unit"),
    ("python", "@triton.autotune(", "unit"),
    ("python", "triton.Config({}, maxnreg=128)", "unit"),
    ("python", 'raise RuntimeError("this GPU is not supported")', "unit"),
    ("python", 'message = "requires a newer GPU"', "unit"),
    ("python", "speed = pcie_speed(0)", "unit"),
    ("python", 'backend = "nccl"', "unit"),
    ("python", "use_gpu_direct = True", "unit"),
    ("python", "rdma = True", "unit"),
    ("python", "unified_memory = True", "unit"),
    ("python", 'kind = "mma_v3"', "unit"),
    ("python", "tensor_cores = True", "unit"),
    ("python", "fp4 = True", "unit"),
    ("python", "block_scaled(x)", "unit"),
    ("python", "import tensorrt", "unit"),
    ("python", "import flash_attn", "unit"),
    ("python", "import sageattention", "unit"),
    ("python", "torch.backends.cudnn.enabled = False", "unit"),
    ("python", "if version.parse(triton_version) < V:", "toolkit"),
    ("python", "if parse_version(torch.__version__) < V:", "toolkit"),
    ("cuda", "cudaDriverGetVersion(&version);", "toolkit"),
    ("build", "torch==2.7", "toolkit"),
    ("build", "triton>=3.3", "toolkit"),
    ("build", "nvcc -O3 a.cu", "toolkit"),
    ("build", "FROM base:cu118", "toolkit"),
    ("build", "FROM base:cuda-11", "toolkit"),
    ("build", "cp libcublas.so.12 lib", "toolkit"),
    ("build", "set(V ${CMAKE_CUDA_COMPILER_VERSION})", "toolkit"),
    ("build", "find_package(CUDAToolkit REQUIRED)", "toolkit"),
    ("python", "if docker_major_version == 19: pass", "word"),
    ("python", "if sys.version_info.major >= 3:", "word"),
    ("python", "self.arch = arch", "word"),
    ("python", "is_nvfp4 = True", "unit"),
    ("build", "CUDAARCHS=90 cmake .", "chip"),
    ("cuda", "bool b = 90 <= p.cc;", "asked"),
    ("cuda", "cudaIpcOpenMemHandle(&p, h, flags);", "unit"),
    ("cuda", "__managed__ int x;", "unit"),
    ("python", "    (12, 0),", "chip"),
    ("build", "release: 8.0;9.0+PTX", "chip"),
    ("python", "if compiled_arch >= 90:", "asked"),
    ("python", "major, minor = torch.cuda.get_device_capability()", "word"),
]
UNSEEN = [
    ("python", "quantizer(scale_bits=(8, 0))"),
    ("python", "if torchvision_version_major == 0 and torchvision_version_minor < 12:"),
    ("build", "set(ARM_SOURCES dot_aarch64.S)"),
    ("python", "total = memory_total(pages)"),
    ("python", "self.name = name"),
    ("cuda", "cooperative_fetch(a, b);"),
    ("python", "BLOCK_SIZE_M: tl.constexpr,"),
    ("build", "onnxruntime==1.20.1"),
    ("python", "search = archive.research(marching)"),
    ("python", "self.architectures = model.architectures"),
    ("cuda", "int prism90 = 0;"),
    ("cuda", 'printf("Summary");'),
    ("cuda", "#if __clang_major__ < 7"),
    ("cuda", "#if __GNUC_MINOR__ >= 9"),
    ("cuda", "#if NLOHMANN_JSON_VERSION_MAJOR != 3"),
    ("cuda", "if (HIP_VERSION_MAJOR >= 6) {"),
    ("cuda", "switch (mode) {"),
    ("cuda", "read(0x78);"),
    ("python", "for i in range(8, 0):"),
    ("python", "for i in range(9, 0, -1):"),
    ("python", "(3, 4) == shape"),
    ("python", "if torch_version_major >= 2:"),
    ("python", "linux_major = 5"),
    ("python", "granada = adapter.ada_boost"),
    ("python", 'if name.startswith("sm"):'),
    ("python", "stages = backstage(2)"),
    ("python", "managed = fabricated(spcie)"),
    ("python", 'print("on the GPU")'),
    ("python", "import torch"),
    ("python", 'toolkit = "9.0"'),
    ("build", "torchvision==0.7"),
    ("build", "my-torch==2.7"),
    ("build", "if(COUNT LESS 4)"),
    ("build", "if(WARPS EQUAL 64)"),
    ("build", "if(NAME IN_LIST NAMES)"),
    ("python", "capturing, manufacturing, restructuring = 1, 2, 3"),
    ("python", "voltage = 90"),
    ("cuda", "ColumnMajorInterleaved<64> layout;"),
    ("cuda", "// a tile in row-major order, col-major else"),
    ("python", "adapter.load(adagrad)"),
    ("python", "shape = (8, 8)"),
    ("python", "heads = [(7, 0), (10, 17)]"),
    ("python", "x = 9.0 * 12.0"),
    ("python", 'version = "1.12.0"'),
    ("python", "b2 = b1 + h2"),
    ("cuda", "for (int i = 0; i < 90; i++)"),
    ("build", "sparkle: true"),
    ("python", "orin_in_features = 4090"),
    ("cuda", "kmeans(clusterSizes);"),
    ("python", ""),
]


@pytest.mark.parametrize(("kind", "line", "what"), SEEN)
def test_a_line_that_speaks_of_a_chip(kind: str, line: str, what: str) -> None:
    (found,) = sightings(kind, line)
    assert (found.what, found.line, found.text) == (what, 1, " ".join(line.split()))


@pytest.mark.parametrize(("kind", "line"), UNSEEN)
def test_a_line_that_does_not(kind: str, line: str) -> None:
    assert sightings(kind, line) == ()


def test_what_is_written_for_bwlint_speaks_of_no_chip() -> None:
    text = '[tool.bwlint]\ntarget = ["sm_121"]\n[[tool.bwlint.library]]\nchips = ["sm_120"]\n[tool.x]\na = "sm_90"\n'
    assert [(one.line, one.tokens) for one in sightings("build", text)] == [(6, ("sm_90",))]
    assert sightings("build", text[: text.index("[tool.x]")]) == ()
    text = "# bwlint: ignore[leak] sm_120 alone\nx = 'sm_90'  # bwlint: ignore[leak] sm_120 alone\n"
    assert [(one.line, one.tokens) for one in sightings("python", text)] == [(2, ("sm_90",))]
    (found,) = sightings("cuda", "/* bwlint: ignore[leak] sm_120 */ int sm_90;")
    assert found.tokens == ("sm_90",)


def test_a_release_of_cuda_is_no_chip() -> None:
    assert [one.what for one in sightings("cuda", "#if __CUDACC_VER_MAJOR__ >= 12")] == ["toolkit"]


def test_every_row_of_the_table_is_reached_by_its_own_anchors() -> None:
    """A line of `SEEN` for each row: its words are looked for where an anchor stands, and nowhere else."""
    import re

    lines = [line.lower() for _, line, _ in SEEN]
    for row in table("sightings")["sighting"]:
        pattern = re.compile("|".join(row["words"]))
        reached = [line for line in lines if pattern.search(line) and any(anchor in line for anchor in row["anchors"])]
        assert reached, row["says"]


PYTHON = '''class Runner:
    """For Hopper."""

    def run(self, cap):
        # sm_90 alone
        if cap >= (9, 0):
            return 1


arch = 90
'''


def test_what_is_around_a_line_and_what_is_prose() -> None:
    found = [(one.line, one.what, one.within, one.prose) for one in sightings("python", PYTHON)]
    assert found == [
        (2, "generation", "Runner", True),
        (5, "chip", "Runner.run", True),
        (6, "chip", "Runner.run", False),
        (10, "chip", "", False),
    ]


def test_what_is_around_a_line_of_cpp() -> None:
    source = "struct Traits {\n  static int a = Sm90;\n};\nvoid launch(int sm)\n{\n  if (sm == 90) {}\n}\n"
    assert [(one.line, one.within) for one in sightings("cuda", source)] == [(2, "Traits"), (6, "launch")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_from_one(end: str) -> None:
    assert [one.line for one in sightings("python", end.join(["x", "sm_90", "", "sm_120"]))] == [2, 4]


@pytest.mark.parametrize("text", ["İ sm_90", "x = '\udcff' # sm_90", "ﬁ sm_90"])
def test_letters_that_are_no_ascii(text: str) -> None:
    assert [one.tokens for one in sightings("python", text)] == [("sm_90",)]


def test_a_letter_that_becomes_two_hides_no_word_in_capitals() -> None:
    assert [one.what for one in sightings("python", "x = 'İ'\nif __CUDA_ARCH__ >= 900 and Hopper: pass")] == ["asked"]


def test_tabs_indent() -> None:
    (found,) = sightings("python", "class A:\n\tdef f(self):\n\t\tsm90\n")
    assert found.within == "A.f"


def test_names_are_told_whole() -> None:
    (found,) = sightings("cuda", "launch_sm100_gemm<Sm90Tag>(a, is_sm120a_supported);")
    assert found.tokens == ("launch_sm100_gemm", "Sm90Tag", "is_sm120a_supported")


def test_a_long_line_is_cut() -> None:
    found = sightings("build", "sm_90 " * 100_000)
    assert found == (Sighting(1, "chip", ("sm_90",), found[0].text, "", False),)
    assert len(found[0].text) <= 200


HOSTILE = {
    "a word": "a" * 1_000_000,
    "blanks and brackets": "f ( " * 250_000,
    "no end of an identifier": "A" * 500_000 + " " * 500_000,
    "anchors": "sm_arch cc " * 90_000,
    "words in one identifier": "x_sm90_" * 142_857,
    "words in many": ("sm90_" * 399 + "\n") * 500,
    "quotes": '"""' * 300_000,
    "comparisons": "arch >= " * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["python", "cuda", "build"])
def test_a_hostile_line_is_read_in_time(kind: str, name: str) -> None:
    begin = time.process_time()
    sightings(kind, HOSTILE[name])
    assert time.process_time() - begin < 20
