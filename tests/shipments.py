"""Libraries with device code as an inspection describes them, for the tests of several rooms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bwlint.binaries.shipments import FAMILY, JIT, LINK, NATIVE, NONE, DeviceLibrary, LoadUnit, LoadVerdict, Tally
from bwlint.model.images import CUBIN, PTX, Binary, Container, Image, Version


def make_library(
    path: str = "pkg/lib.so",
    served: Mapping[str, Mapping[str, int]] | None = None,
    *,
    isa: Version | None = (8, 8),
    reasons: tuple[str, ...] = ("only 90a",),
    **changes: Any,
) -> DeviceLibrary:
    """A library whose containers each chip runs in so many ways: ``{"12.0": {"native": 2, "none": 1}}``.

    A container holds a cubin and PTX `isa`, and is linked from one with such PTX; its verdicts follow the order native,
    family, jit, jit-link, none, with `reasons` by turns. `special` of the ways is the tally's `specialised`. Further
    keywords change the library or its binary.
    """
    ways = served or {"12.0": {NATIVE: 1}, "12.1": {NATIVE: 1}}
    total = max(sum(count for way, count in each.items() if way != "special") for each in ways.values())
    names = {
        chip: [way for way in (NATIVE, FAMILY, JIT, LINK, NONE) for _ in range(each.get(way, 0))]
        for chip, each in ways.items()
    }
    containers = tuple(_container(at * 0x1000, isa) for at in range(total))
    units = tuple(
        LoadUnit(each, {chip: _verdict(order[at], reasons[at % len(reasons)]) for chip, order in names.items()})
        for at, each in enumerate(containers)
    )
    parts = tuple(Container(each.linked_from[0], each.images[1:], "__nv_relfatbin") for each in containers)
    binary: dict[str, Any] = {
        "form": "elf",
        "containers": (*containers, *parts),
        "machine": "x86_64",
        "needed": ("libcudart.so.12", "libc.so.6"),
    }
    binary |= {key: changes.pop(key) for key in ("form", "containers", "machine", "needed", "faults") if key in changes}
    tallies = {chip: _tally(each) for chip, each in ways.items()}
    values: dict[str, Any] = {"units": units, "tallies": tallies, "toolkit": (12, 9), **changes}
    return DeviceLibrary(path, Binary(**binary), **values)


def _container(at: int, isa: Version | None) -> Container:
    cubin = Image(CUBIN, 120, "f", at + 0x100, 14336, 40960, "zstd")
    ptx = Image(PTX, 80, "", at + 0x900, 3000, 9000, "lz4", isa)
    return Container(at, (cubin, ptx), ".nv_fatbin", (at + 0x800,))


def _verdict(way: str, reason: str) -> LoadVerdict:
    places = {NATIVE: 0, FAMILY: 0, JIT: 1}
    return LoadVerdict(way, places.get(way), reason if way == NONE else f"{way} it is")


def _tally(ways: Mapping[str, int]) -> Tally:
    fields = {"link" if way == LINK else "specialised" if way == "special" else way: ways[way] for way in ways}
    return Tally(**fields)
