"""One file, read and judged: what is loaded by itself, what is looked into, and what is not believed."""

from __future__ import annotations

import pytest
from libraries import fatbin
from small_binaries import WRAPPER, Kernel, container, cubin, elf, entry, pe, ptx, shared_object

from bwlint.binaries.library import is_bare, joined, read_library
from bwlint.binaries.shipments import FAMILY, JIT, LINK, NATIVE, NONE, DeviceLibrary, Tally
from bwlint.chips import ChipSet
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

CONSUMER = ChipSet.of("12.0", "12.1")


def read(data: bytes, asked: ChipSet = CONSUMER, *, deep: bool = False) -> DeviceLibrary:
    return read_library("w/a.so", ByteSource.of_bytes(data), asked, deep=deep)


def ways(library: DeviceLibrary, chip: str = "12.0") -> list[str]:
    return [unit.verdicts[chip].way for unit in library.units]


# Containers


@pytest.mark.parametrize("packed", ["", "lz4", "zstd"])
@pytest.mark.parametrize("wrap", [lambda *each: b"".join(each), shared_object, pe], ids=["fatbin", "elf", "pe"])
def test_containers_of_a_file(wrap: object, packed: str) -> None:
    assert callable(wrap)
    found = read(wrap(fatbin("sm_120f ptx_80", packed=packed), fatbin("sm_90a", packed=packed)))
    assert ways(found) == [NATIVE, NONE]
    assert ways(found, "12.1") == [FAMILY, NONE]
    assert found.tallies["12.0"] == Tally(native=1, none=1, specialised=1)
    assert [unit.generation for unit in found.units] == ["", "Hopper"]
    assert (found.path, found.toolkit, found.binary.faults) == ("w/a.so", (13, 0), ())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no binary",
        bytes(5000),
        shared_object(container()),
        pe(),
        elf([]),
        elf([], machine=183),
        # Symbols alone, with the segments of the library that they are of.
        elf([], [(1, 4, 0, 0x10000, 0x10000, 1 << 20, 1 << 20, 0x1000)]),
    ],
)
def test_no_device_code(data: bytes) -> None:
    found = read(data)
    assert (found.units, found.tallies["12.0"].total, found.binary.faults) == ((), 0, ())


@pytest.mark.parametrize(
    ("data", "form", "way"),
    [
        (cubin(120), "cubin", NATIVE),
        (cubin(90, "a"), "cubin", NONE),
        (ptx(80), "ptx", JIT),
        (ptx(120, "f"), "ptx", JIT),
        (ptx(90, "a"), "ptx", NONE),
    ],
)
def test_bare_fatbin(data: bytes, form: str, way: str) -> None:
    found = read(data)
    assert (found.binary.form, ways(found), is_bare(found)) == (form, [way], True)
    assert found.units[0].kernels == (() if way == NONE or form == "ptx" else ("k",))


def test_what_is_bare() -> None:
    assert is_bare(read(fatbin("sm_120")))
    assert not is_bare(read(shared_object(fatbin("sm_120"))))
    assert not is_bare(read(pe(fatbin("sm_120"))))


def test_what_makes_no_sense() -> None:
    with pytest.raises(ReadError):
        read(cubin(120)[:200])


# Sets that the device linker made


@pytest.mark.parametrize(
    ("linked", "objects", "expected"),
    [
        ("sm_80", ["sm_80 ptx_80", "sm_80 ptx_80"], [LINK]),
        ("sm_80", ["sm_80 ptx_80", "sm_80"], [NONE]),
        ("sm_80 sm_120", ["sm_80 sm_120", "sm_80"], [NATIVE]),
        ("sm_120a", ["sm_120a ptx_120", "ptx_120"], [NATIVE]),
        ("sm_80", ["sm_80 lto_80", "ptx_80"], [NONE]),
    ],
)
@pytest.mark.parametrize("relocated", [False, True], ids=["pointers", "relocations"])
def test_linked_sets(linked: str, objects: list[str], expected: list[str], relocated: bool) -> None:
    """Objects are not loaded by themselves: they count through what they were linked into."""
    relocatable = [fatbin(each) for each in objects]
    found = read(shared_object(fatbin(linked), relocatable=relocatable, relocated=relocated))
    assert ways(found) == expected
    assert found.tallies["12.0"].total == 1


def test_a_linked_set_beside_others() -> None:
    data = shared_object(fatbin("sm_120f"), fatbin("sm_80"), relocatable=[fatbin("sm_80 ptx_80")])
    found = read(data)
    assert ways(found) == [NATIVE, LINK]
    assert found.units[1].verdicts["12.1"].reason == "relocatable PTX in all 1 objects, linked at first use"


# What is looked into


def looked_into(library: DeviceLibrary) -> list[list[int]]:
    """The places of the images of each container."""
    return [sorted(unit.cubins) for unit in library.units]


@pytest.mark.parametrize(
    ("containers", "asked", "expected"),
    [
        # What the chips load, and nothing else.
        (["sm_90a sm_100f sm_120f"], "12.0", [[2]]),
        (["sm_120 sm_121"], "12.0 12.1", [[0, 1]]),
        (["sm_120f ptx_120"], "12.0 12.1", [[0]]),
        (["sm_90a sm_100f sm_120f"], "9.0", [[0]]),
        (["sm_120a", "sm_90a"], "12.0", [[0], []]),
        # PTX tells nothing that a verdict needs.
        (["sm_80 ptx_80"], "12.0", [[]]),
        (["ptx_80"], "12.0", [[]]),
        (["sm_80 sm_90"], "12.0", [[]]),
        (["lto_120"], "12.0", [[]]),
    ],
)
def test_images_that_are_looked_into(containers: list[str], asked: str, expected: list[list[int]]) -> None:
    data = shared_object(*(fatbin(each) for each in containers))
    assert looked_into(read(data, ChipSet.of(*asked.split()))) == expected


@pytest.mark.parametrize(
    ("containers", "deep", "named"),
    [
        # Where everything runs, kernels of what was looked into.
        (["sm_120f"], False, [True]),
        (["sm_120f", "ptx_80"], False, [True, False]),
        # Nothing runs: there is nothing to compare.
        (["sm_80 sm_90", "sm_90"], False, [False, False]),
        # What is left out is for one other generation.
        (["sm_120f", "sm_90a", "ptx_80"], False, [True, False, False]),
        # Something is missing: then every name counts, those of PTX too.
        (["sm_120f", "sm_80 sm_90", "ptx_80", "sm_90a"], False, [True, True, True, False]),
        (["sm_120f", "sm_80 sm_90", "sm_90 ptx_80"], False, [True, True, True]),
        # All that is there.
        (["sm_80 sm_90", "ptx_80", "lto_80 ptx_80", "sm_90a"], True, [True, True, True, True]),
        (["lto_80"], True, [False]),
    ],
)
def test_names_of_kernels(containers: list[str], deep: bool, named: list[bool]) -> None:
    data = shared_object(*(fatbin(each, [f"k{number}", "k"]) for number, each in enumerate(containers)))
    found = read(data, deep=deep)
    assert [sorted(unit.kernels) for unit in found.units] == [
        ["k", f"k{number}"] if is_named else [] for number, is_named in enumerate(named)
    ]
    assert found.binary.faults == ()


def test_what_a_cubin_says() -> None:
    kernel = Kernel("k", 4000, 40, ((0x3D, bytes([4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])),), ("__cuda_syscall_x",))
    (unit,) = read(shared_object(fatbin("sm_120f", [kernel], "zstd"))).units
    assert unit.cubins[0].kernels[0].shared == 4000
    assert unit.cubins[0].kernels[0].cluster == (4, 2, 1)
    assert unit.cubin("12.1") == unit.cubins[0]
    assert unit.cubin("9.0") is None
    assert unit.image("12.1") == unit.container.images[0]


@pytest.mark.parametrize("suffix", ["", "f"])
def test_the_suffix_that_a_stripped_cubin_has_lost(suffix: str) -> None:
    """The container keeps the f, and no note denies it."""
    data = container(entry(cubin(120, "f", command=""), 120, suffix))
    (unit,) = read(data).units
    assert (unit.cubins[0].suffix, unit.cubins[0].relabelled) == (suffix, False)
    assert unit.verdicts["12.1"].way == FAMILY


@pytest.mark.parametrize(
    ("containers", "toolkit"),
    [
        ([entry(cubin(120), 120)], (13, 0)),
        ([entry(cubin(120, toolkit=(12, 8)), 120)], (12, 8)),
        # The newest.
        ([entry(cubin(120, toolkit=(12, 8)), 120), entry(cubin(121, toolkit=(12, 9)), 121)], (12, 9)),
        # Of a file of which nothing is loaded, one image is asked.
        ([entry(cubin(90, toolkit=(12, 4), abi=7), 90)], (12, 4)),
        # Without cubins, the first release that knows the PTX.
        ([entry(ptx(80), 80)], (12, 8)),
        ([entry(cubin(120), 120), entry(ptx(80), 80)], (13, 0)),
        ([entry(b"code", 120, kind=8)], None),
    ],
)
def test_toolkits(containers: list[bytes], toolkit: tuple[int, int] | None) -> None:
    assert read(shared_object(container(*containers))).toolkit == toolkit


# What does not open


def test_a_damaged_image_runs_nowhere() -> None:
    """The driver chooses by headers: what lies behind the image is not its choice."""
    broken = entry(cubin(120)[:300], 120)
    found = read(shared_object(container(broken, entry(ptx(80), 80))))
    assert ways(found) == [NONE]
    assert found.units[0].verdicts["12.0"].reason.startswith("its sm_120 image is damaged: ")
    assert found.units[0].verdicts["9.0"].way == JIT
    (fault,) = found.binary.faults
    assert fault.startswith("sm_120 at offset ")
    assert found.units[0].cubins == {}


@pytest.mark.parametrize(
    ("data", "way", "fault"),
    [
        (
            shared_object(container(entry(cubin(120), 120)), container(entry(cubin(90), 90)))[:-1200],
            NONE,
            "the file is cut off",
        ),
        # The table of sections lies behind what is loaded.
        (shared_object(container(entry(cubin(120), 120)))[:-100], NATIVE, "section table"),
        # A stripped cubin may be well.
        (shared_object(container(entry(cubin(120).replace(b".shstrtab", b".xhstrtab"), 120))), NATIVE, "no names"),
    ],
    ids=["loaded", "sections", "nameless"],
)
def test_a_file_that_ends_too_early_loads_nowhere(data: bytes, way: str, fault: str) -> None:
    found = read(data)
    assert set(ways(found)) == {way}
    assert fault in found.binary.faults[0]
    assert way == NATIVE or fault in found.units[0].verdicts["12.0"].reason


def test_a_packed_image_that_does_not_unpack() -> None:
    good = entry(cubin(120), 120, packed="zstd")
    found = read(container(good[:100] + bytes(40) + good[140:]))
    assert ways(found) == [NONE]
    assert len(found.binary.faults) == 1 and "does not unpack" in found.binary.faults[0]


def test_the_rest_of_a_container_that_is_cut_off() -> None:
    good = fatbin("sm_120f", ["a"]) + fatbin("sm_90a", ["b"])
    found = read(shared_object(good[:-100]))
    assert ways(found) == [NATIVE]
    assert len(found.binary.faults) == 1


# What the driver's compiler refuses


def shared(size: int, number: int = 80, suffix: str = "", element: str = ".b8") -> bytes:
    """PTX with a kernel of its own that takes an array of so many elements, and one that takes none."""
    array = f".shared .align 16 {element} own[{size}];\n// no block: {{\n".encode()
    return ptx(number, suffix, ["taker", "other"]).replace(b"{\n", b"{\n" + array, 1)


@pytest.mark.parametrize("packed", ["", "zstd"])
@pytest.mark.parametrize(
    ("text", "ways_of"),
    [
        # A driver allows what its chip has (run on an H100); ptxas has 0xc000 for targets without the suffix a.
        (shared(49152), (JIT, JIT)),
        (shared(49153), (JIT, JIT)),
        (shared(101_376), (JIT, JIT)),
        (shared(101_377), (NONE, NONE)),
        (shared(25345, element=".b32"), (NONE, NONE)),
        (shared(110_000, 120, "f"), (NONE, NONE)),
        (shared(100_000, 120, "a"), (JIT, NONE)),
        (shared(110_000, 120, "a"), (NONE, NONE)),
        # Dynamic shared memory is the launch's.
        (ptx(80).replace(b".visible", b".extern .shared .align 16 .b8 dynamic[];\n.visible", 1), (JIT, JIT)),
        # Cut off.
        (ptx(80)[:-3], (NONE, NONE)),
    ],
)
def test_ptx_that_does_not_compile(text: bytes, ways_of: tuple[str, str], packed: str) -> None:
    suffix = "a" if b"sm_120a" in text else "f" if b"sm_120f" in text else ""
    number = 120 if b"sm_120" in text else 80
    found = read(shared_object(container(entry(text, number, suffix, packed))))
    assert (*ways(found), *ways(found, "12.1")) == ways_of


def test_ptx_that_does_not_compile_says_why() -> None:
    (unit,) = read(shared(110_000)).units
    assert unit.verdicts["12.0"].reason == (
        "its PTX for sm_80 does not compile for 12.0: taker takes 110000 bytes (107.4 KiB) of static shared memory,"
        " and 99 KiB are allowed there"
    )


# What was linked


def in_order(data: bytes, order: str) -> bytes:
    """The same library with its wrappers of .nvFatBinSegment in another order: "o" an object, "L" what was linked."""
    start = data.index(WRAPPER.pack(0x466243B1, 1, 0, 0)[:8])
    rows = [data[at : at + WRAPPER.size] for at in range(start, start + WRAPPER.size * len(order), WRAPPER.size)]
    linked, objects = rows[-1], iter(rows[:-1])
    moved = b"".join(linked if each == "L" else next(objects) for each in order)
    return data[:start] + moved + data[start + len(moved) :]


@pytest.mark.parametrize("order", ["ooL", "oLo", "Loo"])
@pytest.mark.parametrize(
    ("objects", "way"),
    [
        ("sm_80 sm_120", NONE),
        ("sm_80 ptx_80", LINK),
    ],
)
def test_objects_of_a_link_are_not_loaded_by_themselves(order: str, objects: str, way: str) -> None:
    """The order is that in which the host's linker was given them, and changes nothing (nvcc -dlink for sm_80)."""
    made = shared_object(fatbin("sm_80"), relocatable=[fatbin(objects), fatbin(objects, ["b"])])
    found = read(in_order(made, order))
    assert ways(found) == [way]
    assert ways(found, "8.0") == [NATIVE]
    assert len(found.units[0].container.linked_from) == 2


def test_an_image_of_an_unknown_kind_hides_none_behind_it() -> None:
    made = container(entry(cubin(90), 90), entry(b"of tomorrow", 120, kind=64), entry(cubin(120), 120))
    found = read(made)
    assert ways(found) == [NATIVE]
    assert [image.kind for image in found.units[0].container.images] == ["cubin", "unknown", "cubin"]
    assert len(found.binary.faults) == 1 and "is of an unknown kind: 64" in found.binary.faults[0]
    alone = read(container(entry(b"of tomorrow", 120, kind=64)))
    assert alone.units[0].verdicts["12.0"].reason == "images of an unknown kind"


# What is not believed


@pytest.mark.parametrize(
    ("entries", "expected", "reason"),
    [
        # Silent: notes that agree, and none at all.
        ([entry(cubin(120), 120)], NATIVE, "cubin for sm_120"),
        ([entry(cubin(120, "a"), 120, "a")], NATIVE, "cubin for sm_120a"),
        ([entry(cubin(120, "f"), 120, "f")], NATIVE, "cubin for sm_120f"),
        ([entry(cubin(120, "a", command=""), 120, "a")], NATIVE, "cubin for sm_120a"),
        ([entry(cubin(120, "a", toolkit=(12, 8)), 120, "a")], NATIVE, "cubin for sm_120a"),
        ([entry(cubin(120, command="--help"), 120)], NATIVE, "cubin for sm_120"),
        # What nobody loads is not looked into.
        ([entry(cubin(120), 120), entry(cubin(90, command="-arch sm_80"), 90)], NATIVE, "cubin for sm_120"),
        # An edited header.
        ([entry(cubin(120, command="-arch sm_100f"), 120)], NONE, "no image whose header matches its code"),
        ([entry(cubin(120, command="-arch sm_120a"), 120)], NONE, "no image whose header matches its code"),
        ([entry(cubin(120, "a", command="-arch sm_120"), 120, "a")], NONE, "no image whose header matches its code"),
        (
            [entry(cubin(120, command="-arch sm_90"), 120), entry(cubin(90), 90)],
            NONE,
            "cubins for sm_90, no PTX",
        ),
        # Another image takes its place.
        (
            [entry(cubin(120, command="-arch sm_90"), 120), entry(ptx(80), 80)],
            JIT,
            "PTX for sm_80, compiled at first use",
        ),
        (
            [entry(cubin(120, "a", command="-arch sm_90a"), 120, "a"), entry(cubin(120, command="-arch sm_90"), 120)],
            NONE,
            "no image whose header matches its code",
        ),
        (
            [entry(cubin(120, "a", command="-arch sm_90a"), 120, "a"), entry(cubin(120), 120)],
            NATIVE,
            "cubin for sm_120",
        ),
        # An edited container around an honest cubin.
        ([entry(cubin(90), 120)], NONE, "no image whose header matches its code"),
        ([entry(cubin(90, command=""), 120)], NONE, "no image whose header matches its code"),
        ([entry(cubin(120, "a"), 120)], NONE, "no image whose header matches its code"),
        ([entry(cubin(120, "a", command=""), 120, "f")], NONE, "no image whose header matches its code"),
    ],
)
def test_relabelled(entries: list[bytes], expected: str, reason: str) -> None:
    (unit,) = read(shared_object(container(*entries))).units
    assert (unit.verdicts["12.0"].way, unit.verdicts["12.0"].reason) == (expected, reason)


def test_what_is_false_is_kept_for_the_report() -> None:
    false = [cubin(120, "a", command="-arch sm_90a"), cubin(120, command="-arch sm_100f")]
    found = read(container(entry(false[0], 120, "a"), entry(false[1], 120), entry(ptx(120), 120)))
    (unit,) = found.units
    assert [each.noted for each in unit.cubins.values() if each.relabelled] == [90, 100]
    assert found.tallies["12.1"] == Tally(jit=1)


def test_a_false_image_of_a_linked_set() -> None:
    """The other chips still link its objects anew."""
    linked = container(entry(cubin(120, "a", command="-arch sm_90a"), 120, "a"))
    (unit,) = read(shared_object(linked, relocatable=[fatbin("ptx_80")])).units
    assert (unit.verdicts["12.0"].way, unit.verdicts["12.1"].way) == (NONE, LINK)


# Many files as one


def test_joined() -> None:
    first = read_library("w/x.cubin", ByteSource.of_bytes(cubin(120, toolkit=(12, 8))), CONSUMER, deep=False)
    second = read_library("w/y.cubin", ByteSource.of_bytes(cubin(90)), CONSUMER, deep=False)
    broken = read_library(
        "w/z.fatbin", ByteSource.of_bytes(fatbin("sm_120f") + fatbin("sm_120f")[:-8]), CONSUMER, deep=False
    )
    found = joined("w", [first, second, broken])
    assert (found.path, found.binary.form, found.toolkit) == ("w", "cubin", (13, 0))
    assert [unit.path for unit in found.units] == ["w/x.cubin", "w/y.cubin", "w/z.fatbin"]
    assert found.tallies["12.0"] == Tally(native=2, none=1, specialised=1)
    assert len(found.binary.faults) == 1 and found.binary.faults[0].startswith("w/z.fatbin: ")


# What nvcc's linker leaves behind

STUB = shared_object(container(entry(cubin(52, kernels=()), 52)))


def test_a_stub_without_kernels_is_no_device_code() -> None:
    assert read(STUB).units == ()
    assert ways(read(shared_object(container(entry(cubin(52), 52))))) == [NONE]
    assert ways(read(container(entry(cubin(52, kernels=()), 52)))) == [NONE]
    assert ways(read(shared_object(container(entry(cubin(52, kernels=()), 52)), fatbin("sm_90")))) == [NONE, NONE]


def test_containers_among_the_data_of_a_library_that_loads_them_itself() -> None:
    held = bytes(-len(STUB) % 8) + fatbin("sm_120") + fatbin("sm_90")
    assert ways(read(STUB + held)) == [NONE, NATIVE, NONE]
    # Where there are several for the runtime to load, the rest of the file is not searched.
    several = shared_object(fatbin("sm_80 ptx_80"), fatbin("sm_90"))
    assert ways(read(several + bytes(-len(several) % 8) + fatbin("sm_120"))) == [JIT, NONE]
