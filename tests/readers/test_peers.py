"""What is read of paths over another GPU's memory; what rules make of it is in fixtures/p2p-atomics."""

from __future__ import annotations

import pytest
from effort import grows_as_its_input

from bwlint.model.facts import Module, Operation
from bwlint.readers import reader

KERNEL = "__global__ void k({params}) {{ {body} }}\n"


def read(source: str, kind: str = "cuda") -> Module:
    return reader(kind).read("a.cu" if kind == "cuda" else "a.py", source, "", False, frozenset())


def peers(module: Module, kind: str = "peer") -> list[Operation]:
    return [operation for operation in module.operations if operation.kind == kind]


@pytest.mark.parametrize(
    ("params", "body", "path"),
    [
        ("int* remote_flag", "atomicAdd_system(remote_flag, 1);", "remote-atomic"),
        ("int** peers, int rank", "atomicAdd_system(&peers[threadIdx.x][rank], 1);", "remote-atomic"),
        ("int** flag_ptrs, int rank", "atomicCAS_system(flag_ptrs[blockIdx.x] + rank, 0, 1);", "remote-atomic"),
        ("int* flags, int pe", "int* p = (int*)nvshmem_ptr(flags, pe); atomicExch_system(p, 1);", "remote-atomic"),
        (
            "int* peerFlag",
            'asm volatile("atom.add.release.sys.u32 %0, [%1], 1;" : "=r"(x) : "l"(peerFlag));',
            "remote-atomic",
        ),
        ("int* peer_flag", 'asm("{ st.release.sys.u32 [%0], 1; }" :: "l"(peer_flag));', "peer-store"),
        (
            "int* peer_flag",
            'asm("ld.volatile.global.u32 %0, [%[from]];" : "=r"(x) : [from] "l"(peer_flag));',
            "peer-store",
        ),
        ("int* anything", 'asm("multimem.st.relaxed.sys.global.u32 [%0], %1;" :: "l"(anything), "r"(1));', "multicast"),
        ("int* own", "atomicAdd_system(own, 1);", None),
        ("int** flag_ptrs, int rank", "atomicAdd_system(flag_ptrs[rank] + threadIdx.x, 1);", None),
        ("int* own, int peer_rank", "atomicAdd_system(own + peer_rank, 1);", None),
        ("int* own, int peer", "atomicAdd_system(&own[peer], 1);", None),
        ("int* remote_flag", "atomicAdd(remote_flag, 1);", None),
        ("int* remote_flag", "// atomicAdd_system(remote_flag, 1);", None),
        ("int* remote_flag", 'printf("atomicAdd_system(remote_flag, 1);");', None),
        ("int* peer_flag", 'asm("fence.acq_rel.sys;" ::: "memory");', None),
        ("int* peer_flag", 'asm("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(peer_flag));', None),
        ("unsigned peer_slot", 'asm("st.volatile.shared.u32 [%0], 1;" :: "r"(peer_slot));', None),
        ("int* remote_counts", "atomicAdd_system(remote_counts, 1);", None),
    ],
)
def test_what_a_kernel_does(params: str, body: str, path: str | None) -> None:
    found = peers(read(KERNEL.format(params=params, body=body)))
    assert {operation.name for operation in found} == ({path} if path else set())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os\nX = os.getenv('MY_SKIP_P2P_CHECK', 'true')\n", {"skip"}),
        ("MY_SKIP_P2P_CHECK = EnvBool(True)\n", {"skip"}),
        ("MY_SKIP_P2P_CHECK = EnvBool(False)\n", set()),
        ("def f(c):\n    x = c.cudaIpcOpenMemHandle(1)\n    use(x)\n", {"open"}),
        ("def f(c):\n    return c.cudaIpcOpenMemHandle(1)\n", set()),
        ("def f(c):\n    c.cudaDeviceEnablePeerAccess(1, 0)\n", {"enable"}),
        ("def f(c):\n    check(c.cudaDeviceEnablePeerAccess(1, 0))\n", set()),
        ("def f(a):\n    a.backend = 'mnnvl' if a.major >= 10 else None\n", {"option"}),
        ("def f(a):\n    if a.major >= 10:\n        return a.backend == 'mnnvl'\n", set()),
    ],
)
def test_switches_in_python(source: str, names: set[str]) -> None:
    assert {operation.name for operation in peers(read(source, "python"), "peer-switch")} == names


SPEED = "def get_nvlink_bw(links):\n{}\n"


@pytest.mark.parametrize(
    ("body", "gives"),
    [
        ("    return sum(links)", ["zero"]),
        ("    return 0.9 * sum(one.gbs for one in links)", ["zero"]),
        ("    total = 0\n    for one in links:\n        total += one\n    return round(total, 1)", ["zero"]),
        ("    total = 64\n    for one in links:\n        total += one\n    return total", []),
        ("    return sum(links, 64)", []),
        ("    if not links:\n        raise ValueError\n    return sum(links)", []),
        ("    if not links:\n        return 0.0\n    return links[0]", ["zero"]),
        ("    if links:\n        return links[0]\n    return None", ["none"]),
        ("    return links[0] if links else 64", []),
        ("    return False", []),
    ],
)
def test_what_tells_the_bandwidth_of_nvlink(body: str, gives: list[str]) -> None:
    assert [one.name for one in peers(read(SPEED.format(body), "python"), "link-speed")] == gives


@pytest.mark.parametrize(
    ("body", "uses"),
    [
        ("    return size / get_nvlink_bw()", ["division"]),
        ("    bw = get_nvlink_bw()\n    return size // bw", ["division"]),
        ("    bw = get_nvlink_bw()\n    assert bw\n    return size / bw", []),
        ("    bw = get_nvlink_bw()\n    return [size / bw for one in size if bw]", []),
        ("    bw = get_nvlink_bw()\n    match bw:\n        case 0:\n            return 0\n    return size / bw", []),
        ("    bw = get_nvlink_bw()\n    bw += 1\n    return size / bw", []),
        ("    bw: float = get_nvlink_bw()\n    print(bw)\n    return max(4, int(bw / size))", ["bound"]),
        ("    bw = get_nvlink_bw()\n    return max(0, int(bw / size))", []),
        ("    bw = get_nvlink_bw()\n    return max(4, int(bw / size + 2))", []),
        ("    bw = get_nvlink_bw()\n    return max(4, size / (size * bw))", []),
        (
            "    try:\n        return size / get_nvlink_bw()\n    except (OSError, ArithmeticError):\n        return 0",
            [],
        ),
        ("    try:\n        return size / get_nvlink_bw()\n    except KeyError:\n        return 0", ["division"]),
    ],
)
def test_what_is_computed_with_the_bandwidth_of_nvlink(body: str, uses: list[str]) -> None:
    source = f"def f(size):\n{body}\n"
    assert [one.name for one in peers(read(source, "python"), "link-use")] == uses


@pytest.mark.parametrize(
    "piece",
    [
        "    a{n} = get_nvlink_bw()\n    b{n} = max(4, a{n} / 2)\n",
        "    a = get_nvlink_bw()\n    b{n} = c / a\n",
        "    if a and b and x{n} / get_nvlink_bw():\n        pass\n",
    ],
)
def test_time_grows_with_length_in_python(piece: str) -> None:
    def whole(size: int) -> str:
        return "def f(c):\n" + "".join(piece.format(n=n) for n in range(size))

    grows_as_its_input(lambda source: read(source, "python"), whole, 100)


@pytest.mark.parametrize("chain", [" * a", " / a", " + a", ".a"])
def test_long_chains_are_read(chain: str) -> None:
    read(f"def f():\n    a = get_nvlink_bw()\n    b = max(4, a{chain * 2500})\n    return b\n", "python")


@pytest.mark.parametrize(
    "source",
    [
        'asm volatile("red.release.sys.global.add.u32 [%9], %1;" :: "l"(peer',
        "__global__ void k(int* remote_x) { atomicAdd_system(",
        "__global__ void k(int* peer_x) { *(volatile int*)",
        "void f() { cudaIpcOpenMemHandle(&" + "(" * 3000,
        "__device__ void f(int** peer_ptrs) {" + "peer_ptrs[" * 3000,
        "\0__global__ void k(int* peer_x) { peer_x[0] = 1; }\0",
    ],
)
def test_what_never_ends_is_read(source: str) -> None:
    read(source)


@pytest.mark.parametrize(
    "piece",
    [
        "__device__ void f{n}(int* peer_x) {{ atomicAdd_system(peer_x, {n}); f{m}(peer_x); }}\n",
        "void h{n}() {{ cudaIpcOpenMemHandle(&p, q, 0); h{m}(); }}\n",
        "int** peer_ptrs; void g{n}() {{ x = peer_ptrs[{n}] + (1 + 2) * y; }}\n",
    ],
)
def test_time_grows_with_length(piece: str) -> None:
    grows_as_its_input(read, lambda size: "".join(piece.format(n=n, m=n + 1) for n in range(size)), 250)
