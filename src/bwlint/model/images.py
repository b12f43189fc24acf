"""What readers say of a binary: containers, images in them, kernels of an image. Offsets and sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

Version = tuple[int, int]
"""Of CUDA or of the PTX ISA: (13, 0)."""
Place = tuple[str, int]
"""A source file as the compiler was given it, and a line of it, from 1 on."""

CUBIN, PTX, LTO, UNKNOWN = "cubin", "ptx", "lto", "unknown"
DRIVER_CALL = "__cuda_syscall_cp_async_bulk_"
"""How the routines of the driver begin that stand in for bulk copies to another block's shared memory."""


@dataclass(frozen=True, slots=True)
class Image:
    """One image of a container: a cubin, PTX, LTO intermediate code, or of a kind that is not known.

    `number` and `suffix` are those of its target (120 and "f"), whether bwlint knows such a chip or not. `at` and
    `size` say where its bytes lie, `packed` how ("", "lz4" or "zstd"), `full_size` how many they are unpacked.
    `isa` is the PTX version of PTX, and None for others or where it is not said.
    """

    kind: str
    number: int
    suffix: str
    at: int
    size: int
    full_size: int
    packed: str = ""
    isa: Version | None = None

    @property
    def target(self) -> str:
        return f"sm_{self.number}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Container:
    """The unit that a driver loads: the best of its images for a device, when one of its kernels is launched.

    `part` is the section that holds it ("" for a bare one). `linked_from` are the offsets of the relocatable
    containers that were linked into this one. `fault` says why its end was not read.
    """

    at: int
    images: tuple[Image, ...]
    part: str = ""
    linked_from: tuple[int, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Binary:
    """One file with what it holds for devices.

    `form` is elf, pe, cubin, fatbin, ptx or bare (containers in a file of another kind). `machine` is the host's:
    x86_64, aarch64, or "" where nothing says so. `needed` are the shared libraries that it asks the loader for.
    `faults` say what of it could not be read, `broken` why no loader takes the file at all, `cubin` what a bare cubin
    says of itself.
    """

    form: str
    containers: tuple[Container, ...]
    machine: str = ""
    needed: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    cubin: Cubin | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry function of a cubin. None is "not said".

    `shared` is static shared memory in bytes, without what the system reserves. `cluster` is the shape that every
    launch must have, `max_cluster` the largest number of blocks, `explicit_cluster` that the launch must name one.
    `tcgen05` is the number of CTAs of its tensor core instructions (0, 1 or 2); `driver_calls` are routines of the
    driver for bulk copies that it calls; `threads` are those that it is compiled for, at most. `source` is the file
    and the line of its definition, where the cubin has a line table.
    """

    name: str
    shared: int = 0
    registers: int | None = None
    cluster: tuple[int, int, int] | None = None
    max_cluster: int | None = None
    explicit_cluster: bool = False
    tcgen05: int = 0
    driver_calls: tuple[str, ...] = ()
    setmaxnreg: bool = False
    threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    source: Place | None = None


@dataclass(frozen=True, slots=True)
class Cubin:
    """What an unpacked cubin says of itself.

    `number` and `suffix` are those of its header and attributes. `command` is what ptxas (or nvlink) was called with,
    `toolkit` which CUDA wrote it. `noted` and `noted_suffix` are those of the command, or else of its PTX where that
    was for a later chip than the header's (.note.nv.cuinfo). None or "" where it does not say. `by_jit`: a compiler
    that came with a driver or a library made it at run time, and no toolkit. `unplaced` says why its line table was not
    read to the end.
    """

    number: int
    suffix: str
    abi: int
    kernels: tuple[Kernel, ...]
    noted: int | None = None
    noted_suffix: str = ""
    command: str = ""
    toolkit: Version | None = None
    relocatable: bool = False
    by_jit: bool = False
    unplaced: str = ""

    @property
    def relabelled(self) -> bool:
        """Whether the header names another chip than the notes, or drops or adds an "a": somebody has edited it."""
        if self.noted is None:
            return False
        return self.noted != self.number or (self.noted_suffix == "a") != (self.suffix == "a")

    def of_target(self, number: int, suffix: str) -> Cubin:
        """The same cubin under its container's target; another chip there, or a dropped "a", means an edit."""
        if number == self.number and (suffix == "a" or self.suffix != "a"):
            return replace(self, suffix=suffix)
        return replace(self, number=number, suffix=suffix, noted=self.number, noted_suffix=self.suffix)
