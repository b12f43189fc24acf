"""What an inspected library asks of the machine: CUDA libraries, and a Linux driver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bwlint.chips.drivers import driver_for_cubin, driver_for_jit, minimum
from bwlint.images import Version
from bwlint.shipments import FAMILY, NATIVE, Library, Unit, Verdict

_CUDA = re.compile(
    r"(?:lib)?(?:cudart|cublas(?:Lt)?|cudnn(?:_\w+)?|nvrtc(?:-builtins)?|cufftw?|curand|cusparse(?:Lt)?|cusolver(?:Mg)?"
    r"|nccl|nvJitLink|cupti)(?:64_[\d_]+)?\.(?:so(?:\.\d+)*|dll)"
)


def dotted(version: Version) -> str:
    """ "13.0"."""
    return ".".join(map(str, version))


def cuda_libraries(needed: Iterable[str]) -> list[str]:
    """The CUDA libraries among the names that a file asks the loader for, sorted."""
    return sorted({name for name in needed if _CUDA.fullmatch(name)})


def driver(library: Library, asked: Iterable[str]) -> str | None:
    """The first Linux driver that is enough for the library on those of the chips that run it, or None: not known."""
    if library.binary.form == "pe":
        return None
    wanted = set[str | None]()
    for chip in asked:
        for unit in library.units:
            if chip in unit.verdicts and unit.verdicts[chip].way in (NATIVE, FAMILY):
                wanted.add(_for_toolkit(library))
            elif isa := jit_isa(unit, chip):
                wanted.add(driver_for_jit(isa))
    return minimum(*wanted) or _for_toolkit(library)


def verdicts(library: Library, chip: str) -> Iterator[Verdict]:
    """How the chip runs each container of the library, as far as that was judged."""
    return (unit.verdicts[chip] for unit in library.units if chip in unit.verdicts)


def faults(library: Library) -> tuple[str, ...]:
    """What of the file and of its containers could not be read."""
    own = (container.fault for container in library.binary.containers if container.fault)
    return (*library.binary.faults, *own)


def jit_isa(unit: Unit, chip: str) -> Version | None:
    """The version of the PTX that the driver compiles for a chip; None where it compiles none."""
    image = unit.image(chip) if chip in unit.verdicts else None
    return None if image is None else image.isa


def _for_toolkit(library: Library) -> str | None:
    return None if library.toolkit is None else driver_for_cubin(library.toolkit)
