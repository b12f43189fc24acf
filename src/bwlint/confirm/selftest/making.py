"""Build the cases with ptxas, fatbinary and nvcc, without a GPU."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.chips import Chip
from bwlint.confirm import child
from bwlint.confirm.selftest.case import (
    INPUTS,
    AssembledCubin,
    BuiltProgram,
    Fatbin,
    NotForChip,
    PickingGate,
    PtxText,
    SelftestCase,
    Words,
    rendered,
    template,
)
from bwlint.confirm.workbench import Toolkit

LIMIT = 300.0
RUNTIME = re.compile(r"libcudart\.so\.\d+")
_HEADER = "report.h"
_FLAGS = 48
"""Where an ELF file of 64 bits holds e_flags; from CUDA 13.0 on bits 8 to 15 are the number of the target."""


class NotMade(Exception):
    """The toolkit lacks what a case takes; the message says what."""


@dataclass(frozen=True, slots=True)
class MadeCase:
    """What became of a case, in a folder: `source` is what bwlint reads of it as text, `file` what a GPU is given."""

    source: str
    file: str


def make(case: SelftestCase, chip: Chip, toolkit: Toolkit, folder: Path) -> MadeCase:
    """Build a case in an empty folder. Raises NotForChip, NotMade."""
    words = Words(chip, case.values)
    source = case.template
    (folder / source).write_text(rendered(case, chip), encoding="utf-8")
    maker = _Maker(toolkit, folder, words)
    built = case.make
    if isinstance(built, PtxText | PickingGate):
        return MadeCase(source, source)
    if isinstance(built, AssembledCubin):
        return MadeCase(source, maker.cubin(source, words.value("TARGET"), words.value(built.label)))
    if isinstance(built, Fatbin):
        return MadeCase(source, maker.fatbin(case.template, built))
    return MadeCase(source, maker.program(built, source))


@dataclass(frozen=True, slots=True)
class _Maker:
    toolkit: Toolkit
    folder: Path
    words: Words

    def cubin(self, source: str, target: str, label: str = "", name: str = "image.cubin") -> str:
        if label and label == target.rstrip("af"):
            raise NotForChip(f"its header says {label} anyway")
        self._run(self._ptxas(), f"-arch=sm_{target}", source, "-o", name)
        if label:
            relabel(self.folder / name, int(label))
        return name

    def fatbin(self, source: str, built: Fatbin) -> str:
        images = []
        for target in dict.fromkeys((*built.cubins, *built.ptx)):
            self._for_target(source, target, f"{target}.ptx")
            if target in built.cubins:
                self.cubin(f"{target}.ptx", target, name=f"{target}.cubin")
                images.append(f"--image3=kind=elf,sm={target},file={target}.cubin")
            if target in built.ptx:
                images.append(f"--image3=kind=ptx,sm={target},file={target}.ptx")
        self._run(self._beside("fatbinary"), "-64", "--create=image.fatbin", *images)
        return "image.fatbin"

    def _for_target(self, source: str, target: str, name: str) -> None:
        words = Words(self.words.chip, {**self.words.values, "TARGET": target})
        (self.folder / name).write_text(words.filled(template(source)), encoding="utf-8")

    def program(self, built: BuiltProgram, source: str) -> str:
        shutil.copyfile(INPUTS / _HEADER, self.folder / _HEADER)
        if built.code:
            shutil.copyfile(INPUTS / built.code, self.folder / built.code)
            source = built.code
        if not built.others:
            self._nvcc(built.pairs, source, "-o", "program", *self._runtime())
            return "program"
        objects = []
        for name, pairs in ((source, built.pairs), *((other, built.other_pairs) for other in built.others)):
            if name != source:
                shutil.copyfile(INPUTS / name, self.folder / name)
            objects.append(f"{Path(name).stem}.o")
            self._nvcc(pairs, "-rdc=true", "-c", name, "-o", objects[-1])
        code = self.words.filled(built.pairs[0]).partition(",")[2]
        own = f"{code.removeprefix('sm_')},{code}"
        self._nvcc((own,), "-rdc=true", *objects, "-o", "program", *self._runtime())
        return "program"

    def _nvcc(self, pairs: Iterable[str], *arguments: str) -> None:
        if self.toolkit.nvcc is None:
            raise NotMade("there is no nvcc")
        options = gencode(map(self.words.filled, pairs))
        # The names of files between the steps end up in what is made.
        kept = ("--keep", "--keep-dir=kept", "-Wno-deprecated-gpu-targets", "-std=c++17")
        (self.folder / "kept").mkdir(exist_ok=True)
        self._run(str(self.toolkit.nvcc), *options, *kept, *arguments)
        shutil.rmtree(self.folder / "kept")

    def _runtime(self) -> Sequence[str]:
        """Options that link the runtime of the toolkit as a shared library, which then lies above the program."""
        library = runtime(self.toolkit)
        if library is None:
            return ()
        (self.folder / "libcudart.so").symlink_to(library)
        return ("-cudart=shared", "-L.", f"-L{library.parent}", "-Xlinker", "-rpath=$ORIGIN/..")

    def _ptxas(self) -> str:
        if self.toolkit.ptxas is None:
            raise NotMade("there is no ptxas")
        return str(self.toolkit.ptxas)

    def _beside(self, name: str) -> str:
        found = Path(self._ptxas()).with_name(name)
        if not found.is_file():
            raise NotMade(f"there is no {name} beside ptxas")
        return str(found)

    def _run(self, *command: str) -> None:
        """Run a program of the toolkit. Raises NotMade where it does not start, does not end or refuses."""
        place = Path(command[0])
        try:
            ended = child.run(command, limit=LIMIT, folder=self.folder, path=(str(place.parent),))
        except OSError as error:
            raise NotMade(f"{place.name} does not start: {error}") from None
        said = ended.trouble or ended.output.strip()[:2000] or f"exit status {ended.code}"
        if ended.trouble or ended.code:
            raise NotMade(f"{place.name}: {said}")


def gencode(pairs: Iterable[str]) -> list[str]:
    """nvcc's options for pairs such as "80,sm_80"."""
    options = []
    for pair in pairs:
        number, code = pair.split(",")
        options += ["-gencode", f"arch=compute_{number},code={code}"]
    return options


def runtime(toolkit: Toolkit) -> Path | None:
    """The shared library of the CUDA runtime of a toolkit, or None."""
    if toolkit.nvcc is None:
        return None
    root = toolkit.nvcc.resolve().parents[1]
    for folder in (root / "lib", root / "lib64", *sorted(root.glob("targets/*/lib"))):
        found = next((path for path in sorted(folder.glob("libcudart.so.*")) if RUNTIME.fullmatch(path.name)), None)
        if found is not None:
            return found
    return None


def relabel(cubin: Path, number: int) -> None:
    """Write another number into the header of a cubin of CUDA 13; its code and notes stay."""
    data = bytearray(cubin.read_bytes())
    data[_FLAGS + 1] = number
    cubin.write_bytes(bytes(data))
