"""Inspected libraries, made of words: for tests of what an inspection says.

container("sm_120f ptx_80 lto_90")      images by kind and target
unit("sm_120f: gemm copy")              a container that is judged, with the names of its kernels
library("w/a.so", "sm_90a", "ptx_80")   a file of such containers
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import small_binaries

from bwlint.binaries.shipments import DeviceLibrary, LoadUnit
from bwlint.binaries.verdicts import generation, tally, verdicts
from bwlint.model.images import CUBIN, LTO, PTX, Binary, Container, Image

AARCH64 = 183
"""The machine in the header of an ELF file."""

_IMAGE = re.compile(r"(sm|ptx|lto)_(\d+)([af]?)")
_KINDS = {"sm": CUBIN, "ptx": PTX, "lto": LTO}


def image(text: str) -> Image:
    """The image of "sm_120f", "ptx_80" or "lto_90"."""
    found = _IMAGE.fullmatch(text)
    assert found, text
    return Image(_KINDS[found[1]], int(found[2]), found[3], 0, 1, 1)


def container(text: str) -> Container:
    return Container(0, tuple(image(each) for each in text.split()))


def unit(text: str) -> LoadUnit:
    images, _, kernels = text.partition(":")
    made = container(images)
    return LoadUnit(made, verdicts(made), generation(made), tuple(kernels.split()))


def library(path: str, *units: str | LoadUnit, **binary: Any) -> DeviceLibrary:
    """A library of these containers; keywords are those of its `Binary`."""
    made = tuple(unit(each) if isinstance(each, str) else each for each in units)
    values = {"form": "elf", "containers": tuple(each.container for each in made), "machine": "x86_64", **binary}
    return DeviceLibrary(path, Binary(**values), made, tally((each.verdicts, each.generation) for each in made))


def fatbin(text: str, kernels: Sequence[str | small_binaries.Kernel] = ("k",), packed: str = "") -> bytes:
    return small_binaries.container(*(_entry(each, kernels, packed) for each in text.split()))


def arm(*containers: str, relocatable: Sequence[str] = ()) -> bytes:
    """A shared object for aarch64, where 12.0 and 12.1 are both judged; "sm_90: gemm" names kernels too.

    Those of a container without names are its own: k0, k1.
    """
    made = [_named(each, f"k{number}") for number, each in enumerate(containers)]
    return small_binaries.shared_object(*made, relocatable=[fatbin(each) for each in relocatable], machine=AARCH64)


def _named(text: str, kernel: str) -> bytes:
    images, _, kernels = text.partition(":")
    return fatbin(images, kernels.split() or [kernel])


def _entry(text: str, kernels: Sequence[str | small_binaries.Kernel], packed: str) -> bytes:
    made = image(text)
    if made.kind == LTO:
        return small_binaries.entry(b"intermediate code", made.number, made.suffix, kind=8)
    if made.kind == PTX:
        names = [each if isinstance(each, str) else each.name for each in kernels]
        return small_binaries.entry(
            small_binaries.ptx(made.number, made.suffix, names), made.number, made.suffix, packed
        )
    return small_binaries.entry(
        small_binaries.cubin(made.number, made.suffix, kernels), made.number, made.suffix, packed
    )
