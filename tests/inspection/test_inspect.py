"""`bwlint inspect` from end to end: what is in a file, wheel or folder, to the words, findings and exit codes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from libraries import AARCH64, arm, fatbin
from small_binaries import container, cubin, elf, entry, pe, ptx, shared_object, static_library, tarred, wheel, zipped
from toolkit import Toolkit

from bwlint import cli
from bwlint.binaries.shipments import Shipment
from bwlint.inspection import Inspected, InspectionRequest, inspect
from bwlint.settings.config import UsageError
from bwlint.sources import wheels
from bwlint.sources.pypi import SourceError, Spec

X86, ARM = "x-1.0-py3-none-manylinux_2_28_x86_64.whl", "x-1.0-py3-none-manylinux2014_aarch64.whl"
ANY = "x-1.0-py3-none-any.whl"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, data: bytes) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(data)
    return name


def inspected(*things: str, **options: Any) -> Inspected:
    return inspect(InspectionRequest(things, severity="note", **options))


def shipment_of(name: str, data: bytes, **options: Any) -> Shipment:
    (shipment,) = inspected(put(name, data), **options).inspection.shipments
    return shipment


def findings(found: Inspected) -> list[str]:
    """ "warning arch-target a.so" of each finding."""
    return sorted(f"{each.severity} {each.name} {each.path}" for each in found.inspection.report.findings)


def messages(found: Inspected, rule: str) -> list[str]:
    return [each.message for each in found.inspection.report.findings if each.name == rule]


def words(shipment: Shipment, chip: str = "12.1") -> dict[str, str]:
    return {library.path: library.tallies[chip].word for library in shipment.libraries}


# Findings on what is built for whom


@pytest.mark.parametrize(
    "containers",
    [
        # Silent, notes included: every container runs, and none by JIT alone.
        ["sm_120f"],
        ["sm_120"],
        ["sm_120a sm_121a"],
        ["sm_120 sm_121"],
        ["sm_80 sm_90 sm_100f sm_120f"],
        ["sm_120f ptx_120"],
        ["sm_120f", "sm_80 ptx_80"],
        ["sm_120f", "sm_80 sm_120f", "sm_120"],
        # Specialised: for one other family or generation, beside what serves both.
        ["sm_120f", "sm_90a"],
        ["sm_120f", "sm_100f sm_103a", "sm_75", "sm_110"],
        ["sm_120f", "sm_90a ptx_90a"],
        # An operation with a variant for both.
        ["sm_120f: gemm", "sm_80 sm_90: gemm"],
        # The same kernels, built for each chip apart.
        ["sm_120a: gemm", "sm_121a: gemm"],
        ["sm_120a: gemm", "sm_121a: gemm copy", "sm_120f: copy"],
        ["sm_120a: gemm", "ptx_120: gemm"],
        # No device code.
        [],
        ["lto_120 sm_120f"],
    ],
)
def test_nothing_to_say(containers: list[str]) -> None:
    data = arm(*containers) if containers else elf([], machine=AARCH64)
    assert findings(inspected(put("a.so", data))) == []


@pytest.mark.parametrize(
    ("containers", "expected", "message"),
    [
        (
            ["sm_120a"],
            ["warning arch-target a.so"],
            "This library runs on 12.0 and not on 12.1 (GB10): sm_120a is for 12.0 alone.",
        ),
        (
            ["sm_120f", "sm_80 sm_120a", "sm_120f"],
            ["warning arch-target a.so"],
            "1 of 3 containers runs on 12.0 and not on 12.1 (GB10): sm_120a is for 12.0 alone.",
        ),
        (
            ["sm_120a: gemm copy", "sm_120f: gemm"],
            ["warning arch-target a.so"],
            "1 of 2 containers runs on 12.0 and not on 12.1 (GB10): sm_120a is for 12.0 alone.",
        ),
        (
            ["sm_121", "sm_121a"],
            ["warning arch-target a.so"],
            "2 of 2 containers run on 12.1 (GB10) and not on 12.0 (RTX 5090): built for later minors only (sm_121).",
        ),
        (
            ["sm_80 sm_90"],
            ["error arch-target a.so"],
            "Nothing here runs on 12.x: cubins for sm_80, sm_90, no PTX (1 container of device code).",
        ),
        # Meant for others, as it seems.
        (
            ["sm_90a", "sm_100f"],
            ["warning arch-target a.so"],
            "Nothing here runs on 12.x: cubins for sm_90a, sm_100f, no PTX (2 containers of device code).",
        ),
        (
            ["sm_80 ptx_80"],
            ["note arch-target a.so"],
            "This library has no cubin for 12.x, only PTX for sm_80, compiled at first use."
            " The first run waits for that.",
        ),
    ],
)
def test_what_a_library_lacks(containers: list[str], expected: list[str], message: str) -> None:
    found = inspected(put("a.so", arm(*containers)))
    assert findings(found) == expected
    assert messages(found, "arch-target") == [message]


@pytest.mark.parametrize(
    ("files", "expected", "answer"),
    [
        # Silent but for notes: one source, compiled for each chip into a file of its own.
        ({"a": "120a k", "b": "121a k"}, [], "runs on 12.0 and 12.1"),
        ({"a": "90a k", "b": "100a k", "c": "120f k"}, ["note a", "note b"], "runs on 12.0 and 12.1"),
        ({"a": "120a k l", "b": "121a k", "c": "121a l"}, [], "runs on 12.0 and 12.1"),
        # Others kernels, or none.
        (
            {"a": "120a k", "b": "121a l"},
            ["warning a", "warning b"],
            "runs on 12.0 in part: a.cubin; nothing of b.cubin loads there;"
            " runs on 12.1 in part: b.cubin; nothing of a.cubin loads there",
        ),
        (
            {"a": "120a k l", "b": "121a k"},
            ["warning a"],
            "runs on 12.0; runs on 12.1 in part: b.cubin; nothing of a.cubin loads there",
        ),
        (
            {"a": "120a k", "b": "90a k"},
            ["note b", "warning a"],
            "runs on 12.0; does not run on 12.1: sm_120a is for 12.0 alone",
        ),
    ],
)
def test_cubins_beside_each_other(files: Mapping[str, str], expected: list[str], answer: str) -> None:
    for name, text in files.items():
        target, *kernels = text.split()
        put(f"kernels/{name}.cubin", cubin(int(target.rstrip("af")), target.lstrip("0123456789"), kernels))
    found = inspected("kernels")
    short = [each.replace("arch-target kernels/", "").removesuffix(".cubin") for each in findings(found)]
    assert short == expected
    assert found.inspection.answers == (answer,)


def test_a_kernel_of_the_same_name_in_another_library_is_no_help() -> None:
    put("lib/a.so", arm("sm_120a: k"))
    put("lib/b.so", arm("sm_120f: k"))
    assert findings(inspected("lib")) == ["warning arch-target lib/a.so"]


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        # Silent: a variant under another tag, or with other template arguments.
        (("_Z9gemm_sm90v", "_Z10gemm_sm120v"), []),
        (("_Z4gemmILi90EEvv", "_Z4gemmILi120EEvv"), []),
        (("gemm", "gemm"), []),
        (("_Z4gemmv", "_Z4copyv"), ["warning arch-target a.so"]),
        (("_ZN3ops4gemmEv", "_Z4gemmv"), ["warning arch-target a.so"]),
        (("gemm_f16", "gemm_f32"), ["warning arch-target a.so"]),
        # A name in C with many numbers holds what template arguments would.
        (("gemm_f16_128x128", "gemm_f16_64x64"), ["note arch-target a.so"]),
    ],
)
def test_an_operation_without_a_kernel(kernels: tuple[str, str], expected: list[str]) -> None:
    data = shared_object(fatbin("sm_80 sm_90", kernels[:1]), fatbin("sm_120f", kernels[1:]), machine=AARCH64)
    assert findings(inspected(put("a.so", data))) == expected


def test_an_operation_that_one_of_two_siblings_runs_is_told_once() -> None:
    put("a.so", arm("sm_120f", "sm_80 sm_120a: gemm"))
    found = inspected("a.so")
    assert found.inspection.answers == ("runs on 12.0; runs on 12.1, but the operation gemm has no kernel",)
    assert messages(found, "arch-target") == [
        "1 of 2 containers runs on 12.0 and not on 12.1 (GB10): sm_120a is for 12.0 alone."
    ]
    # Nobody asked about its sibling.
    assert messages(inspected("a.so", target=("12.1",)), "arch-target") == [
        "`gemm` has no kernel for 12.1 (GB10): sm_120a is for 12.0 alone."
    ]


def test_an_operation_in_words() -> None:
    data = shared_object(fatbin("sm_80 sm_90", ["_Z4gemmv"]), fatbin("sm_120f", ["_Z4copyv"]), machine=AARCH64)
    found = inspected(put("a.so", data))
    assert messages(found, "arch-target") == ["`gemm` has no kernel for 12.x: cubins for sm_80, sm_90, no PTX."]
    assert found.inspection.answers == ("runs on 12.0 and 12.1, but the operation gemm has no kernel",)
    assert found.inspection.report.findings[0].admitted == ("8.0", "8.6", "8.8", "8.9", "9.0")


@pytest.mark.parametrize(
    ("objects", "way", "expected"),
    [
        (["sm_80 ptx_80", "sm_80 ptx_80"], "all", ["note arch-target a.so"]),
        (["sm_80 ptx_80", "sm_80"], "none", ["warning arch-target a.so"]),
        (["sm_80 ptx_80", "lto_80"], "none", ["warning arch-target a.so"]),
    ],
)
def test_relocatable_objects(objects: list[str], way: str, expected: list[str]) -> None:
    """One object without PTX makes the whole set fail, with error 300 (run on an H100)."""
    data = shared_object(fatbin("sm_80"), relocatable=[fatbin(each) for each in objects], machine=AARCH64)
    found = inspected(put("a.so", data))
    (shipment,) = found.inspection.shipments
    assert words(shipment) == {"a.so": way}
    assert findings(found) == expected


# Machines


@pytest.mark.parametrize(
    ("name", "machine", "judged"),
    [
        (X86, 62, ("12.0",)),
        (ARM, AARCH64, ("12.0", "12.1")),
        # The tag decides, then what the libraries are for.
        ("w.zip", 62, ("12.0",)),
        ("w.zip", AARCH64, ("12.0", "12.1")),
        # A wheel that somebody has renamed.
        ("w.whl", 62, ("12.0",)),
        ("w.whl", AARCH64, ("12.0", "12.1")),
        (ANY, 62, ("12.0",)),
        (ANY, AARCH64, ("12.0", "12.1")),
    ],
)
def test_each_machine_is_judged_on_its_chips(name: str, machine: int, judged: tuple[str, ...]) -> None:
    exact = shared_object(fatbin("sm_120a"), machine=machine)
    found = inspected(put(name, wheel({"x/exact.so": exact})))
    (shipment,) = found.inspection.shipments
    level = "warning" if "12.1" in judged else "note"
    assert findings(found) == [f"{level} arch-target {name}/x/exact.so"]
    document = json.loads(run("inspect", "--format", "json", name).stdout)
    assert document["shipments"][0]["judged"] == list(judged)
    assert words(shipment, "12.0") == {f"{name}/x/exact.so": "all"}
    assert words(shipment, "12.1") == {f"{name}/x/exact.so": "none"}


def test_a_wheel_of_nothing_but_images_is_for_every_machine() -> None:
    found = inspected(put(ANY, wheel({"x/k.cubin": cubin(120, "a")})))
    assert findings(found) == [f"warning arch-target {ANY}/x/k.cubin"]
    assert found.inspection.shipments[0].machine == ""


def test_two_wheels_of_one_release() -> None:
    """What 12.1 gets is what the aarch64 wheel holds, not the other."""
    put(f"dist/{X86}", wheel({"x/a.so": shared_object(fatbin("sm_120a"))}))
    put(f"dist/{ARM}", wheel({"x/a.so": arm("sm_120f")}))
    found = inspected("dist")
    assert dict(zip((each.name for each in found.inspection.shipments), found.inspection.answers, strict=True)) == {
        f"dist/{X86}": "runs on 12.0; 12.1 needs a build for aarch64, and this one is for x86_64",
        f"dist/{ARM}": "runs on 12.0 and 12.1",
    }
    assert findings(found) == [f"note arch-target dist/{X86}/x/a.so"]


# A whole wheel


def test_all_partial_and_none_in_one_wheel() -> None:
    files = {
        "x/all.so": arm("sm_120f", "sm_80 sm_120"),
        "x/partial.so": shared_object(
            fatbin("sm_120f", ["_Z4basev"]), fatbin("sm_80 sm_90", ["_Z4basev"]), fatbin("sm_90a"), machine=AARCH64
        ),
        "x/none.so": arm("sm_90a", "sm_100f"),
        "x/jit.so": arm("sm_80 ptx_80"),
        "x/host.so": elf([], machine=AARCH64),
        "x/__init__.py": b"import torch\n",
    }
    found = inspected(put(ARM, wheel(files)))
    (shipment,) = found.inspection.shipments
    assert words(shipment) == {
        f"{ARM}/x/all.so": "all",
        f"{ARM}/x/partial.so": "partial",
        f"{ARM}/x/none.so": "none",
        f"{ARM}/x/jit.so": "all",
    }
    assert (shipment.others, shipment.tag, shipment.machine) == (1, "manylinux2014_aarch64", "aarch64")
    assert found.inspection.answers == ("runs on 12.0 and 12.1: all and partial; by JIT: jit; for other chips: none",)
    assert findings(found) == [f"note arch-target {ARM}/x/jit.so", f"note arch-target {ARM}/x/none.so"]
    assert found.inspection.report.stats == {"libraries": 4, "containers": 8, "images": 11}
    assert found.scanned == 5


def test_a_library_of_no_use_that_was_built_for_everybody() -> None:
    files = {"x/all.so": arm("sm_120f"), "x/none.so": arm("sm_80 sm_90")}
    found = inspected(put(ARM, wheel(files)))
    assert findings(found) == [f"warning arch-target {ARM}/x/none.so"]
    assert messages(found, "arch-target") == [
        "Nothing in this library runs on 12.x: cubins for sm_80, sm_90, no PTX (1 container of device code)."
    ]


def test_a_wheel_of_no_use() -> None:
    files = {"x/a.so": arm("sm_80 sm_90"), "x/b.so": arm("sm_90a")}
    found = inspected(put(ARM, wheel(files)))
    assert findings(found) == [f"error arch-target {ARM}"]
    assert messages(found, "arch-target")[0].startswith(
        "Nothing here runs on 12.x: cubins for sm_80, sm_90, sm_90a, no PTX (2 containers of device code in 2 files)"
    )


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        (ARM, wheel),
        ("x.zip", zipped),
        ("x.tar", tarred),
        ("x.tar.gz", lambda files: tarred(files, "gz")),
        ("x.tar.zst", lambda files: tarred(files, "zstd")),
        ("x.zip", lambda files: zipped({"inner.tar.gz": tarred(files, "gz")})),
    ],
    ids=["wheel", "zip", "tar", "tar.gz", "tar.zst", "nested"],
)
def test_archives(name: str, pack: Any) -> None:
    shipment = shipment_of(name, pack({"x/a.so": arm("sm_120f"), "x/b.cubin": cubin(90)}))
    assert sorted((Path(path).name, word) for path, word in words(shipment).items()) == [
        ("a.so", "all"),
        ("b.cubin", "none"),
    ]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.cubin", cubin(120, "f"), {"a.cubin": "all"}),
        ("a.fatbin", fatbin("sm_90 ptx_120"), {"a.fatbin": "all"}),
        ("a.ptx", ptx(120, "a"), {"a.ptx": "none"}),
        ("a.dll", pe(fatbin("sm_120f")), {"a.dll": "all"}),
        ("a.pyd", pe(fatbin("sm_90a")), {"a.pyd": "none"}),
        ("a", arm("sm_120f"), {"a": "all"}),
        ("data.bin", b"padding!" + fatbin("sm_120f"), {"data.bin": "all"}),
        ("notes.txt", b"sm_120", {}),
        ("empty.so", b"", {}),
    ],
)
def test_files_of_every_form(name: str, data: bytes, expected: dict[str, str]) -> None:
    assert words(shipment_of(name, data)) == expected


def test_a_static_library_is_one() -> None:
    objects = {"a.o": arm("sm_120f"), "b.o": arm("sm_90a"), "c.o": elf([], machine=AARCH64)}
    shipment = shipment_of("ops.a", static_library(objects))
    assert words(shipment) == {"ops.a": "partial"}
    assert [unit.path for unit in shipment.libraries[0].units] == ["ops.a/a.o", "ops.a/b.o"]


@pytest.mark.parametrize(("count", "libraries"), [(12, 12), (13, 1)])
def test_many_images_of_one_folder_are_one_library(count: int, libraries: int) -> None:
    for number in range(count):
        put(f"kernels/{number:02}.cubin", cubin(120 if number else 90, "f" if number else ""))
    (shipment,) = inspected("kernels").inspection.shipments
    assert len(shipment.libraries) == libraries
    served = sum(library.tallies["12.1"].served for library in shipment.libraries)
    assert (served, sum(library.tallies["12.1"].none for library in shipment.libraries)) == (count - 1, 1)


def test_a_folder() -> None:
    put("lib/a.so", arm("sm_120f"))
    put("lib/sub/b.so", arm("sm_90a"))
    put("lib/.gitignore", b"*.so\n")
    put("lib/.git/config", b"")
    found = inspected("lib")
    assert words(found.inspection.shipments[0]) == {"lib/a.so": "all", "lib/sub/b.so": "none"}
    assert findings(found) == ["note arch-target lib/sub/b.so"]


def test_a_broken_file_in_a_folder_is_said_and_the_rest_is_read() -> None:
    put("lib/a.so", arm("sm_120f"))
    put("lib/cut.cubin", cubin(120)[:100])
    put("lib/bad.zip", b"no archive")
    found = inspected("lib")
    assert {path: word for each in found.inspection.shipments for path, word in words(each).items()} == {
        "lib/a.so": "all"
    }
    assert sorted(skip.path for skip in found.inspection.report.skipped) == [
        "lib/bad.zip",
        "lib/cut.cubin",
    ]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("missing.so", None, "no such file or directory"),
        ("bad.zip", b"no archive", "not a readable zip archive"),
        (X86, b"no archive", "not a readable zip archive"),
        ("x.whl", b"", "not a readable zip archive"),
        ("pypi:../x", None, "not the name of a package"),
    ],
)
def test_what_is_named_and_cannot_be_read_is_an_error(name: str, data: bytes | None, reason: str) -> None:
    if data is not None:
        put(name, data)
    with pytest.raises(UsageError, match=reason):
        inspected(name)


# Kernels, as ptxas makes them

HEAD = ".version 9.0\n.target sm_{}\n.address_size 64\n"
PLAIN = ".visible .entry plain() { ret; }"
SHARED = """.visible .entry {name}(.param .u64 p) {{ .shared .align 16 .b8 s[{size}]; .reg .b32 r;
    mov.u32 r, s; st.shared.b32 [r], r; ret; }}"""
TENSOR = """.visible .entry tensor() { .reg .b32 a; .shared .align 16 .b8 s[16]; mov.u32 a, s;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 32; ret; }"""
CLUSTER = ".visible .entry cluster() .reqnctapercluster {}, 1, 1 {{ ret; }}"
RANK = ".visible .entry rank() .explicitcluster .maxclusterrank 16 { ret; }"
TMA = """.visible .entry tma(.param .u64 p) {{ .shared .align 128 .b8 s[1024]; .shared .align 16 .b8 m[16];
    .reg .b32 a, b, c; .reg .b16 k; .reg .b64 x; mov.u32 a, s; mov.u32 b, m; mov.u32 c, %tid.x; mov.u16 k, 3;
    ld.param.u64 x, [p];
    cp.async.bulk.tensor.2d.shared::{to}.global.tile.mbarrier::complete_tx::bytes{many} [a], [x, {{c, c}}], [b]{mask};
    ret; }}"""


def compiled(toolkit: Toolkit, target: str, *kernels: str) -> bytes:
    return toolkit.cubin("\n".join((HEAD.format(target), *kernels)), f"sm_{target}")


def relabelled(data: bytes, number: int) -> bytes:
    """A cubin with another SM number in the flags of its header."""
    (flags,) = struct.unpack_from("<I", data, 48)
    return data[:48] + struct.pack("<I", (flags & ~0xFF00) | number << 8) + data[52:]


def stripped(data: bytes) -> bytes:
    """The same, without notes that its readers find."""
    for name in (b".note.nv.tkinfo", b".note.nv.cuinfo", b".nv.compat"):
        assert name in data
        data = data.replace(name, b".x" + name[2:])
    return data


@pytest.mark.parametrize(
    ("target", "kernels"),
    [
        ("120a", [PLAIN, SHARED.format(name="large", size=101376)]),
        ("120f", [SHARED.format(name="small", size=49152)]),
        ("120f", [CLUSTER.format(8)]),
        ("120f", [CLUSTER.format(2), RANK]),
        ("120f", [TMA.format(to="cta", many="", mask="")]),
        ("121a", [PLAIN]),
        ("100f", [TENSOR, CLUSTER.format(8)]),
        ("100a", [TENSOR, SHARED.format(name="large", size=232000)]),
        ("90a", [TMA.format(to="cluster", many=".multicast::cluster", mask=", k"), CLUSTER.format(8)]),
    ],
)
def test_kernels_that_are_fine(toolkit: Toolkit, target: str, kernels: list[str]) -> None:
    """On the chip that they are for; and what 12.x does not load is no finding on kernels there."""
    text = [each.replace("shared::cta.global", "shared::cta.global") for each in kernels]
    name = put("a.cubin", compiled(toolkit, target, *text))
    rules = ("tcgen05", "smem", "cluster", "tma-slow-path", "relabelled")
    for chips in ((f"sm_{target.rstrip('af')}",), ("12.0", "12.1")):
        assert findings(inspected(name, select=rules, target=chips)) == []


def test_a_cluster_over_the_portable_maximum(toolkit: Toolkit) -> None:
    found = inspected(put("a.cubin", compiled(toolkit, "120f", PLAIN, CLUSTER.format(16))))
    assert findings(found) == ["note cluster a.cubin"]
    assert messages(found, "cluster") == [
        "`cluster`: compiled for clusters of 16 blocks. The portable maximum of 12.x is 8."
    ]


@pytest.mark.parametrize(
    ("many", "mask", "routine"),
    [("", "", "tensor_2d_tile_unicast"), (".multicast::cluster", ", k", "tensor_2d_tile_multicast")],
)
def test_bulk_loads_in_software(toolkit: Toolkit, many: str, mask: str, routine: str) -> None:
    data = compiled(toolkit, "120a", TMA.format(to="cluster", many=many, mask=mask))
    found = inspected(put("a.cubin", data), target=("12.0",))
    assert findings(found) == ["note tma-slow-path a.cubin"]
    assert messages(found, "tma-slow-path") == [
        f"`tma`: bulk loads that call a routine of the driver on 12.0 (RTX 5090): {routine}."
    ]


def packed(target: str, data: bytes) -> bytes:
    """A library for aarch64 with one cubin."""
    number, suffix = int(target.rstrip("af")), target.lstrip("0123456789")
    return shared_object(container(entry(data, number, suffix, "zstd")), machine=AARCH64)


@pytest.mark.parametrize(
    ("target", "number", "claims", "words_of_it"),
    [
        ("100f", 120, "120", "says sm_120, but the compiler's notes in it say sm_100f."),
        ("90", 120, "120", "says sm_120, but the compiler's notes in it say sm_90."),
        ("90a", 120, "120a", "says sm_120a, but the compiler's notes in it say sm_90a."),
        ("120", 121, "121", "says sm_121, but the compiler's notes in it say sm_120."),
        ("120a", 121, "121a", "says sm_121a, but the compiler's notes in it say sm_120a."),
    ],
)
def test_an_edited_header(toolkit: Toolkit, target: str, number: int, claims: str, words_of_it: str) -> None:
    """The image counts for no chip, and what its kernels do is beside the point."""
    kernels = [TENSOR] if target == "100f" else [PLAIN]
    edited = relabelled(compiled(toolkit, target, *kernels), number)
    for name, data in (("a.cubin", edited), ("a.so", packed(claims, edited))):
        found = inspected(put(name, data))
        assert [each for each in findings(found) if "arch-target" not in each] == [f"error relabelled {name}"]
        assert messages(found, "relabelled") == [f"The header of a cubin {words_of_it}"]
        assert words(found.inspection.shipments[0]) == {name: "none"}
        assert "no image whose header matches its code" in found.inspection.answers[0]


def test_an_edited_suffix(toolkit: Toolkit) -> None:
    """An image for 12.0 alone that is made out to be for 12.1 too."""
    data = compiled(toolkit, "120a", PLAIN)
    place = data.index(b"\x02\x09\x01\x00")
    found = inspected(put("a.cubin", data[: place + 2] + b"\0" + data[place + 3 :]))
    assert messages(found, "relabelled") == [
        "The header of a cubin says sm_120, but the compiler's notes in it say sm_120a."
    ]
    # The same by the flags of its container.
    found = inspected(put("a.so", packed("120", data)))
    assert messages(found, "relabelled") == [
        "The header of a cubin says sm_120, but the compiler's notes in it say sm_120a."
    ]


def test_honest_cubins_are_none_of_these(toolkit: Toolkit) -> None:
    for target in ("120", "120a", "120f", "121", "121a", "121f"):
        data = compiled(toolkit, target, PLAIN)
        for each in (data, stripped(data)):
            assert messages(inspected(put("a.so", packed(target, each))), "relabelled") == []
    # PTX for an earlier target.
    earlier = toolkit.cubin(HEAD.format("80") + PLAIN, "sm_121a")
    assert messages(inspected(put("a.cubin", earlier)), "relabelled") == []


def test_an_edited_header_without_notes_is_known_by_its_kernels(toolkit: Toolkit) -> None:
    tensor = stripped(relabelled(compiled(toolkit, "100f", TENSOR, PLAIN), 120))
    found = inspected(put("a.cubin", tensor))
    assert findings(found) == ["error tcgen05 a.cubin"]
    assert messages(found, "tcgen05") == ["`tensor`: tcgen05 instructions in a cubin that loads on 12.x."]
    large = stripped(relabelled(compiled(toolkit, "90a", SHARED.format(name="large", size=200000)), 120))
    found = inspected(put("b.cubin", large))
    assert findings(found) == ["error smem b.cubin"]
    assert messages(found, "smem") == [
        "The static shared memory of `large` is up to 200000 bytes (195.3 KiB). 12.x allow 99 KiB a block."
    ]


# The command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fine.so"], 0),
        (["host.so"], 0),
        (["jit.so"], 0),
        (["x86.so"], 0),
        (["fine.so", "host.so"], 0),
        (["exact.so"], 1),
        (["none.so"], 1),
        (["fine.so", "exact.so"], 1),
        (["exact.so", "--fail-on", "error"], 0),
        (["none.so", "--fail-on", "error"], 1),
        (["jit.so", "--fail-on", "note"], 1),
        (["none.so", "--exit-zero"], 0),
        (["none.so", "--severity", "error"], 1),
        (["none.so", "--ignore", "arch-target"], 0),
        (["none.so", "--select", "BW302"], 0),
        # Other chips.
        (["none.so", "--target", "sm_90"], 0),
        (["exact.so", "--target", "sm_120"], 0),
        (["exact.so", "--target", "12.1"], 1),
        (["fine.so", "--target", "sm_90"], 1),
        (["x86.so", "--target", "12.1"], 1),
        (["x86.so", "--target", "12.1", "--fail-on", "never"], 0),
        (["x86.so", "--target", "12.1", "--exit-zero"], 0),
        (["x86.so", "--target", "12.0"], 0),
        # Usage.
        ([], 2),
        (["missing.so"], 2),
        (["fine.so", "missing.so"], 2),
        (["x.whl"], 2),
        (["pypi:../x"], 2),
        (["--installed", "no-such-distribution-anywhere"], 2),
        (["fine.so", "--target", "sm_999"], 2),
        (["fine.so", "--select", "nothing"], 2),
        (["fine.so", "--format", "concise"], 2),
        (["pypi:x", "--platform", "beos"], 2),
        (["fine.so", "--output", "no/such/folder/x"], 2),
        # Nothing was read.
        (["empty"], 3),
        (["cut.cubin"], 3),
    ],
)
def test_exit_codes(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    put("fine.so", arm("sm_120f"))
    put("exact.so", arm("sm_120a"))
    put("none.so", arm("sm_80 sm_90"))
    put("jit.so", arm("ptx_80"))
    put("x86.so", shared_object(fatbin("sm_120a")))
    put("host.so", elf([]))
    put("cut.cubin", cubin(120)[:100])
    Path("empty").mkdir()
    assert cli.run(["inspect", *arguments]) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    if code == 2:
        # What else was asked for is told all the same.
        assert ("fine.so" in arguments and "missing.so" in arguments) == bool(captured.out)
        assert captured.err


def test_text() -> None:
    put("a.so", arm("sm_120f", "sm_90a"))
    result = run("inspect", "a.so")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "a.so: runs on 12.0 and 12.1"
    assert result.stdout.splitlines()[2].split()[3:6] == ["12.0", "12.1", "11.0"]
    assert result.stderr == "bwlint: no findings\n"


def test_the_columns_are_the_chips_that_are_asked_for() -> None:
    put("a.so", arm("sm_90a"))
    result = run("inspect", "--target", "sm_90", "a.so")
    assert result.stdout.splitlines()[:6] == [
        "a.so runs on H100 (9.0).",
        "",
        "a.so: runs on 9.0",
        "",
        "file  CUDA  containers  9.0",
        "a.so  13.0           1  all",
    ]


def test_kernels_are_listed_when_asked_for() -> None:
    put("a.so", shared_object(fatbin("sm_120f ptx_80", ["_ZN3ops4gemmILi64EEEvv"]), fatbin("sm_90", ["other"])))
    assert "ops::gemm" not in run("inspect", "a.so").stdout
    listed = run("inspect", "--kernels", "a.so").stdout
    assert "kernel ops::gemm" in listed
    assert "kernel other" in listed
    assert "80 ptx 8.7" in listed


def test_json() -> None:
    put(ARM, wheel({"x/a.so": arm("sm_120a"), "x/b.so": arm("sm_120f")}))
    document = json.loads(run("inspect", "--format", "json", ARM).stdout)
    assert (document["version"], document["targets"]) == (1, ["12.0", "12.1"])
    (shipment,) = document["shipments"]
    assert shipment["answer"] == "runs on 12.0; runs on 12.1 in part: b; nothing of a loads there"
    runs, in_part = document["sentences"]
    assert runs == "x 1.0 runs on RTX 5090 (12.0): its wheel has ready code for it."
    assert in_part.startswith("x 1.0 runs on DGX Spark (GB10, 12.1) in part")
    assert {library["path"]: library["chips"]["12.1"]["verdict"] for library in shipment["libraries"]} == {
        f"{ARM}/x/a.so": "none",
        f"{ARM}/x/b.so": "all",
    }
    assert "units" not in shipment["libraries"][0]
    assert [(each["name"], each["severity"], each["path"]) for each in document["findings"]] == [
        ("arch-target", "warning", f"{ARM}/x/a.so")
    ]
    with_kernels = json.loads(run("inspect", "--format", "json", "--kernels", ARM).stdout)
    (unit,) = with_kernels["shipments"][0]["libraries"][0]["units"]
    assert unit["images"][0]["cubin"]["kernels"][0]["name"] == "k0"


def test_sarif() -> None:
    put("a.so", arm("sm_120a"))
    log = json.loads(run("inspect", "--format", "sarif", "a.so").stdout)
    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("BW301", "warning")
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a.so"


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_output(form: str) -> None:
    put("a.so", arm("sm_120a"))
    printed = run("inspect", "--format", form, "a.so")
    written = run("inspect", "--format", form, "--output", "report", "a.so")
    assert written.exit_code == printed.exit_code == 1
    assert written.stdout == ""
    assert Path("report").read_text() == printed.stdout


def test_what_was_skipped_is_listed() -> None:
    put("lib/a.so", arm("sm_120f"))
    put("lib/cut.cubin", cubin(120)[:100])
    assert "skipped lib/cut.cubin: the section table" in run("inspect", "lib").stderr


def test_names_of_an_archive_do_not_reach_a_terminal_raw() -> None:
    put("x.zip", zipped({"x/\x1b[31m.so": arm("sm_120a"), "x/a.so": shared_object(fatbin("sm_120f", ["k\x1b[31m"]))}))
    for form in ("text", "json", "sarif"):
        result = run("inspect", "-v", "--kernels", "--format", form, "x.zip")
        assert "\x1b" not in result.stdout + result.stderr


def test_configuration_counts() -> None:
    put("a.so", arm("sm_120a"))
    put("bwlint.toml", b'target = ["sm_90"]\n')
    assert findings(inspected("a.so")) == ["warning arch-target a.so"]
    assert inspected("a.so").inspection.asked == ("9.0",)
    put("bwlint.toml", b'ignore = ["arch-target"]\n')
    assert findings(inspected("a.so")) == []


# Packages


def test_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release with a wheel for x86_64 alone: GB10 has nothing to install."""

    def pip(spec: Spec, dest: Path, options: tuple[str, ...], _: int) -> str | None:
        if "manylinux_2_28_x86_64" in options:
            (dest / X86).write_bytes(wheel({"x/a.so": shared_object(fatbin("sm_120a"))}))
            return None
        return f"  link https://files/{X86}\nERROR: No matching distribution found for x\n"

    monkeypatch.setattr(wheels, "pip_download", pip)
    result = run("inspect", "pypi:x")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{X86}: runs on 12.0; 12.1 needs a build for aarch64, and this one is for x86_64")
    assert lines[-1] == (
        "pypi:x (aarch64): not installable: x 1.0 has no wheel for Linux aarch64, only for manylinux_2_28_x86_64"
    )
    missing = json.loads(run("inspect", "--format", "json", "--platform", "aarch64", "pypi:x").stdout)["shipments"]
    assert [(each["name"], each["machine"], bool(each["missing"])) for each in missing] == [("pypi:x", "aarch64", True)]
    assert run("inspect", "--platform", "aarch64", "pypi:x").exit_code == 3


def test_an_installed_distribution(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = "lib/python3.12/site-packages"
    put(f"{packages}/x/a.so", arm("sm_120a"))
    put(f"{packages}/x/__init__.py", b"raise SystemExit('imported')\n")
    put(f"{packages}/x-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    put(f"{packages}/x-1.0.dist-info/RECORD", b"x/a.so,,\nx/__init__.py,,\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(here))
    found = inspected(installed=("x",))
    (shipment,) = found.inspection.shipments
    assert (shipment.name, words(shipment)) == ("x==1.0", {"x/x/a.so": "none"})
    assert findings(found) == ["warning arch-target x/x/a.so"]


@pytest.mark.parametrize(
    ("asks", "answers", "code"),
    [
        (
            "y==1.0",
            [
                "no device code; it requires y==1.0: bwlint inspect pypi:y==1.0",
                "no ready device code; it compiles at run time (Triton)",
            ],
            0,
        ),
        ("away==1.0", ["no device code; it requires away==1.0: bwlint inspect pypi:away==1.0"], 0),
        ("y>=1.0", ["no device code"], 3),
    ],
)
def test_a_package_without_code_leads_to_the_one_that_it_is_released_with(
    monkeypatch: pytest.MonkeyPatch, asks: str, answers: list[str], code: int
) -> None:
    text = {"x": "import y\n", "y": "import triton\n\n@triton.jit\ndef kernel(x):\n    pass\n"}

    def pip(spec: Spec, dest: Path, options: tuple[str, ...], _: int) -> None:
        if spec.name not in text:
            raise SourceError(f"{spec.name} is not there")
        needs = f"Requires-Dist: {asks}\n" if spec.name == "x" else ""
        metadata = f"Name: {spec.name}\nVersion: 1.0\n{needs}".encode()
        files = {f"{spec.name}/a.py": text[spec.name].encode(), f"{spec.name}-1.0.dist-info/METADATA": metadata}
        (dest / f"{spec.name}-1.0-py3-none-any.whl").write_bytes(zipped(files))

    monkeypatch.setattr(wheels, "pip_download", pip)
    done = run("inspect", "--format", "json", "pypi:x")
    assert [one["answer"] for one in json.loads(done.stdout)["shipments"]] == answers
    assert done.exit_code == code
