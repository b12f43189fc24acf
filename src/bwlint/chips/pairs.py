"""Whether nvcc and ptxas accept a pair of targets: PTX for `arch`, assembled for `code`."""

from __future__ import annotations

from bwlint.chips.targets import Target

# Each form was run: nvcc --dryrun for 18 x 18 pairs, and ptxas on PTX of each target for each of the others.
_NVCC = "nvcc fatal : Incompatible code generation requested: arch='compute_{arch}', code='sm_{code}'"
_FUTURE = "ptxas fatal : Program with .target 'sm_{arch}' cannot be compiled to future architecture"


def refusal(arch: Target, code: Target) -> str | None:
    """The words in which nvcc, or after it ptxas, refuses ``arch=compute_*,code=sm_*``; None where both accept."""
    names = {"arch": arch.name.removeprefix("sm_"), "code": code.name.removeprefix("sm_")}
    if not _passes_nvcc(arch, code):
        return _NVCC.format(**names)
    if arch.suffix == "a" and arch != code:
        return _FUTURE.format(**names)
    return None


def _passes_nvcc(arch: Target, code: Target) -> bool:
    if code.number < arch.number:
        return False
    if arch.suffix == "a":
        return code.suffix == "a"
    return arch.suffix == "" or arch.chip.family == code.chip.family


def same_cubin(one: Target, other: Target) -> bool:
    """Whether nvcc refuses to make both cubins in one build: the plain and the family one of the same number."""
    return one.number == other.number and {one.suffix, other.suffix} == {"", "f"}
