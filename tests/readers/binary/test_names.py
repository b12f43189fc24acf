"""Names of kernels: what nvcc makes of C++, what c++filt makes of that, and what is left alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from effort import at_most, grows_as_its_input
from toolkit import Toolkit

from bwlint.readers.binary import cubin, elf
from bwlint.readers.binary.names import operation, readable
from bwlint.sources.stretch import ByteSource

READABLE = {
    "_Z4normPf": "norm",
    "_ZL5quietPi": "quiet",
    "_ZN3ops4normIfLi4EEEvPT_": "ops::norm",
    "_ZN3ops4normIPNS_4TileELin3EEEvPT_": "ops::norm",
    "_ZN3ops4kindILNS_4KindE7ELb1EEEvPi": "ops::kind",
    "_ZN3ops6packedIiJdcPKcNS_4PackIJiNS_4IntsIJLi1ELi2ELi3EEEENS3_IJEEEEEEEEEvT_DpT0_": "ops::packed",
    "_ZN3ops4heldIiEEvNS_6HolderIT_E2InIS2_EEPS2_": "ops::held",
    "_ZN3ops6HolderIiE2InIfE3runEv": "ops::Holder::In::run",
    "_ZN3ops7pointedIXadL_ZNS_12global_valueEEEEEvPi": "ops::pointed",
    "_ZN3ops6calledIXadL_Z5twicefEEEEvPf": "ops::called",
    "_ZN3ops5applyIZ2goPiPfEUliE_EEvT_S1_": "ops::apply",
    "_ZN3ops5applyIZNS_2goIiEEvPT_EUlT_E0_EEvT_": "ops::apply",
    "_ZN3ops8functionIiJfNS_4TileEEEEvPFT_DpT0_EMS1_iDpPKPS3_": "ops::function",
    "_ZN3ops4takeIPFivEEEvT_": "ops::take",
    "_ZN3ops4takeIA4_KfEEvT_": "ops::take",
    "_ZN3ops4takeIDv4_fEEvT_": "ops::take",
    "_ZN3ops4takeIDF16_DF16bEEvT_": "ops::take",
    "_ZN3ops4takeIXaagtT_Li2EltT_Li9EEEEvv": "ops::take",
    "_ZN3ops4takeIXsrSt7is_sameIifE5valueEEEvv": "ops::take",
    "_ZN3ops4takeIXclL_Z3sizvEEEEEvv": "ops::take",
    "_ZN3ops4takeIXtlNS_4TileELi1ELi2EEEEEvv": "ops::take",
    "_ZN3ops4takeILf3f800000EEEvv": "ops::take",
    "_ZN3ops4takeIDnLDnEEEvv": "ops::take",
    "_ZN3ops4takeISt6vectorIiSaIiEENSt3mapIiS4_E5entryEEEvv": "ops::take",
    "_ZSt4swapIiEvRT_S1_": "std::swap",
    "_ZNSt6ranges4swapEv": "std::ranges::swap",
    "_ZN3ops4packB5cxx11Ev": "ops::pack",
    "_ZN3ops1fIiE5innerEi": "ops::f::inner",
    "_ZZN3ops2goIiEEvPT_E6kernel": "ops::go::kernel",
    "_ZZN3ops2goEvEN5Local6kernelEi": "ops::go::Local::kernel",
    "_ZZN3ops2goEvENK5Local6kernelEi": "ops::go::Local::kernel",
    # Anonymous namespaces, by g++'s name and by nvcc's, and static functions by that of older nvcc's.
    "_ZN12_GLOBAL__N_15innerEPi": "inner",
    "_ZN3ops36_GLOBAL__N__81c2f8b8_4_k_cu_a030afb06hiddenINS_4PackIJNS_4TileEPPiEEEEEvPT_": "ops::hidden",
    "_ZN34_INTERNAL_81c2f8b8_4_k_cu_a030afb05quietEPi": "quiet",
    "__nv_static_26__81c2f8b8_4_k_cu_a030afb0__ZN3ops4normIfEEvPT_": "ops::norm",
}

AS_THEY_ARE = (
    "",
    "norm",
    "norm_kernel_64x64",
    "_Z",
    "_ZN",
    "_ZNE",
    "_Z0",
    "_Z99norm",
    "_Z4nor",
    "_ZN3ops4normI",
    "_ZN3ops4normIfLi4EEvPT_",
    "_ZN3ops",
    "_ZN3opsplERKS_",
    "_ZN3opsC1Ev",
    "_ZN3opsD0Ev",
    "_ZN3opscviEv",
    "_ZNSi3getEv",
    "_ZNS_3getEv",
    "_ZTVN3ops4NormE",
    "_ZGVZN3ops2goEvE1x",
    "_ZNKUlvE_clEv",
    "_RNvCs1234_7mycrate3foo",
    "__nv_static_26__81c2f8b8_4_k_cu_a030afb0_quiet",
    "_ZN" + "I" * 100_000,
    "_ZN3ops4takeI" + "P" * 100_000,
    "_Z" + "9" * 100_000,
    "_ZN3ops4takeI" + "N" * 5_000 + "3ops" + "E" * 5_000 + "EEvv",
)

OPERATIONS = {
    "_ZN4k_fn4normIfEEvPT_": "k_fn::norm",
    "norm_sm90": "norm",
    "norm_sm_90a": "norm",
    "norm_sm100f_kernel": "norm_kernel",
    "sm90_norm": "norm",
    "SM100_norm": "norm",
    "normSm100fKernel_128": "normKernel_128",
    "normSM90": "norm",
    "norm_sm8x": "norm",
    "norm_sm1xx_fwd": "norm_fwd",
    "norm_for_sm80_sm89": "norm_for",
    "norm_sm80_to_sm89": "norm",
    "norm_sm90_or_later": "norm",
    "sm100Norm": "Norm",
    "_ZN3ops4sm908fwd_sm90EPi": "ops::fwd",
    "_ZN3ops5Sm10015norm_kernel_ptxILi3EEEvv": "ops::norm_kernel_ptx",
    "_ZN3cub26CUB_300001_SM_750_900_12006detail4scanEv": "cub::detail::scan",
    "_ZN3cub16_V_300303_SM_9006detail4scanEv": "cub::detail::scan",
    "_ZN3cub37CUB_200700_530_600_700_750_800_860_NS4scanEv": "cub::scan",
    # These are no tags of a target.
    "_ZN3cub10CUB_2007004scanEv": "cub::CUB_200700::scan",
    "_ZN3cub11tile_64_1284scanEv": "cub::tile_64_128::scan",
    "prism90": "prism90",
    "norm_smem": "norm_smem",
    "norm_sm90fwd": "norm_sm90fwd",
    "norm_sm1234": "norm_sm1234",
    "norm_sm2": "norm_sm2",
    "asm_80_loop": "asm_80_loop",
    "small_sm_count": "small_sm_count",
    "gemm_m16n8k16": "gemm_m16n8k16",
    "norm_90": "norm_90",
    # Nothing would be left of it.
    "sm90": "sm90",
    "_Z4sm90v": "sm90",
}


@pytest.mark.parametrize(("mangled", "name"), READABLE.items())
def test_readable(mangled: str, name: str) -> None:
    assert readable(mangled) == name
    assert operation(mangled) == name


@pytest.mark.parametrize("name", AS_THEY_ARE, ids=lambda name: name[:40])
def test_what_is_not_understood_stays(name: str) -> None:
    with at_most(0.5):
        assert readable(name) == name
        assert operation(name) == name


@pytest.mark.parametrize(("mangled", "name"), OPERATIONS.items())
def test_operation(mangled: str, name: str) -> None:
    assert operation(mangled) == name


def test_readable_keeps_the_tag() -> None:
    assert readable("_ZN3ops4sm908fwd_sm90EPi") == "ops::sm90::fwd_sm90"
    assert readable("_ZN3cub16_V_300303_SM_9006detail4scanEv") == "cub::_V_300303_SM_900::detail::scan"


def test_time_grows_with_the_length() -> None:
    tile = "N3ops4TileILi128ELi64EfEE"
    assert readable(f"_ZN3ops4takeI{tile * 500}E4lastEv") == "ops::take::last"
    grows_as_its_input(readable, lambda repeats: f"_ZN3ops4takeI{tile * repeats}E4lastEv", 1000)


def bare(demangled: str) -> str:
    """What c++filt -p prints, without template arguments, ABI tags and anonymous namespaces."""
    found, depth = [], 0
    for letter in re.sub(r"\(anonymous namespace\)::|\[abi:\w+\]", "", demangled):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            found.append(letter)
    return "".join(found)


def demangled(names: list[str]) -> list[str]:
    ran = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
    return ran.stdout.split("\n")


@pytest.mark.usefixtures("cxx")
def test_what_cxxfilt_reads() -> None:
    """The table above, less what c++filt knows nothing of."""
    names = [name for name in READABLE if not re.search("_INTERNAL_|__nv_static|_ZZ|gt", name)]
    assert [bare(name) for name in demangled(names)] == [READABLE[name] for name in names]


@pytest.mark.usefixtures("cxx")
def test_a_library_of_cxx() -> None:
    """All functions of libstdc++ but operators and constructors: the same as c++filt, or left as they are."""
    said = subprocess.run(["g++", "-print-file-name=libstdc++.so"], capture_output=True, text=True, check=True)
    with Path(said.stdout.strip()).open("rb") as file:
        found = elf.read(ByteSource.of_file(file.fileno()))
        table = found.section(".dynstr")
        assert table is not None
        names = [name.decode() for name in found.data(table).split(b"\0") if re.match(rb"_Z(?!T|G|Z)", name)]
    pairs = [(name, bare(text)) for name, text in zip(names, demangled(names), strict=True)]
    plain = [pair for pair in pairs if not re.search(r"operator|~|(\b\w+)::\1$", pair[1]) and pair[0] != pair[1]]
    wrong = [(name, text) for name, text in plain if readable(name) not in (name, text)]
    assert wrong == []
    assert sum(readable(name) == text for name, text in plain) > 0.8 * len(plain) > 1000


CXX = b"""
namespace ops {
struct Tile { int n; };
enum class Kind { a, b = 7 };
template <class... T> struct Pack {};
template <int... N> struct Ints {};
template <class T> struct Holder { template <class U> struct In {}; };
template <class T, int N> __global__ void norm(T *p) { p[N] = T(); }
template <Kind K, bool B> __global__ void kind(int *p) { *p = B; }
template <class A, class... R> __global__ void packed(A a, R... r) {}
namespace sm90 { __global__ void fwd_sm90(int *p) { *p = 1; } }
namespace { template <class T> __global__ void hidden(T *p) { *p = T(); } }
template <class T> __global__ void held(typename Holder<T>::template In<T> x, T *p) { *p = 1; }
template <int N> __global__ void sized(int (*p)[N], Ints<N + 1> x) { (*p)[0] = 1; }
template <class T> __global__ void doubled(T *p, Ints<sizeof(T) * 2> x) { *p = 1; }
template <class T> __global__ void added(T *p, decltype(T() + 1) q) { *p = q; }
__device__ int value;
template <int *P> __global__ void pointed(int *p) { *p = *P; }
template <class F> __global__ void apply(F f, int *p) { *p = f(1); }
template <class R, class... A> __global__ void function(R (*f)(A...), int Tile::*m, A *const *... a) {}
template <float (*F)(float)> __global__ void called(float *p) { *p = 1; }
}
static __global__ void quiet(int *p) { *p = 1; }
extern "C" __global__ void flat_sm_90a(int *p) { *p = 1; }
__device__ float twice(float x) { return 2 * x; }
void go(int *p, float *q) {
  using namespace ops;
  norm<float, 4><<<1, 1>>>(q);
  norm<Tile *, -3><<<1, 1>>>((Tile **)p);
  kind<Kind::b, true><<<1, 1>>>(p);
  packed<<<1, 1>>>(1, 2.0, 'c', (char const *)0, Pack<int, Ints<1, 2, 3>, Pack<>>());
  sm90::fwd_sm90<<<1, 1>>>(p);
  hidden<Pack<Tile, int **>><<<1, 1>>>(0);
  held<int><<<1, 1>>>(Holder<int>::In<int>(), p);
  sized<3><<<1, 1>>>((int (*)[3])p, Ints<4>());
  doubled<int><<<1, 1>>>(p, Ints<8>());
  added<int><<<1, 1>>>(p, 1);
  pointed<&value><<<1, 1>>>(p);
  apply<<<1, 1>>>([] __device__(int x) { return x; }, p);
  function<<<1, 1>>>((int (*)(float, Tile))0, &Tile::n, (float *const *)0, (Tile *const *)0);
  called<twice><<<1, 1>>>(q);
  quiet<<<1, 1>>>(p);
}
"""


def test_what_nvcc_mangles(nvcc: Toolkit) -> None:
    data = nvcc.made("nvcc", {"ops.cu": CXX}, "-cubin", "-arch=sm_90", "-std=c++17", "--extended-lambda", "ops.cu")
    names = cubin.kernel_names(ByteSource.of_bytes(data))
    inside = re.findall(r"__global__ void (\w+)\(", CXX.decode().partition("static")[0])
    wanted = {"quiet", "flat", *(f"ops::{name.removesuffix('_sm90')}" for name in inside)}
    assert (set(map(operation, names)), len(names), len(wanted)) == (wanted, 16, 15)
    assert [readable(name) for name in names] == [bare(name) for name in demangled(list(names))][: len(names)]
