"""All cases for a chip in one zip, built without a GPU: inputs, what was made of them, and a manifest.

    manifest.json           {"bundle": 1, "bwlint", "chip", "machine", "toolkit", "cases", "left_out", "files"}
    cases/NAME/...          what bwlint reads and what a GPU is given
    cases/libcudart.so.13   the runtime that the programs are linked with

The same tools make the same bytes. Programs are for the machine that made them (`machine`): another kind of host builds
its own.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import platform
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint import __version__
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
    all_cases,
    gencode,
    rendered,
    template,
)
from bwlint.confirm.workbench import Toolkit
from bwlint.sources.held import scratch_folder

MANIFEST = "manifest.json"
_CASES = "cases"
_VERSION = 1
_DATE = (1980, 1, 1, 0, 0, 0)
_WANTED = frozenset({".ptx", ".cu", ".h", ".py", ".cubin", ".fatbin", ""})
MOST_BYTES = 256 << 20
"""Of what a bundle unpacks to."""
_MOST_FILES = 20_000


class BadBundle(Exception):
    """A bundle that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A bundle on disk. `made` are its cases by name, `left_out` says why others are not there."""

    folder: Path
    chip: str
    machine: str
    toolkit: dict[str, Any]
    made: dict[str, MadeCase]
    left_out: dict[str, str]

    def place(self, name: str) -> Path:
        return self.folder / _CASES / name


def build(
    chip: Chip, toolkit: Toolkit, output: Path, *, cases: Sequence[SelftestCase] | None = None, jobs: int = 2
) -> Opened:
    """Build cases into a folder `output` that is not there yet. What cannot be built is left out, with the reason."""
    places = output / _CASES
    places.mkdir(parents=True)
    chosen = all_cases() if cases is None else cases

    def one(case: SelftestCase) -> tuple[str, MadeCase | str]:
        folder = places / case.name
        folder.mkdir()
        try:
            made: MadeCase | str = make(case, chip, toolkit, folder)
        except (NotForChip, NotMade) as error:
            shutil.rmtree(folder)
            return case.name, str(error)
        for path in folder.iterdir():  # objects and links were of use for the making alone
            if path.is_symlink() or path.suffix not in _WANTED or path.name.startswith("."):
                path.unlink()
        return case.name, made

    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(one, chosen))
    library = runtime(toolkit)
    if library is not None and any(isinstance(case.make, BuiltProgram) for case in chosen):
        shutil.copyfile(library, places / library.name)
    made = {name: answer for name, answer in answers if isinstance(answer, MadeCase)}
    left_out = {name: answer for name, answer in answers if isinstance(answer, str)}
    described = {"version": toolkit.version, "origin": toolkit.origin, "nvcc": toolkit.nvcc is not None}
    opened = Opened(output, chip.name, platform.machine(), described, made, left_out)
    (output / MANIFEST).write_text(json.dumps(_manifest(opened), indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return opened


def write(chip: Chip, toolkit: Toolkit, output: Path, *, jobs: int = 2) -> Opened:
    """Build all cases for a chip into one file; what is left out, and why. Nothing of them stays on disk beside it."""
    with ExitStack() as stack:
        opened = build(chip, toolkit, scratch_folder(stack) / "bundle", jobs=jobs)
        pack(opened, output)
    return opened


def pack(opened: Opened, output: Path) -> None:
    """Write a built folder into one zip, in a fixed order and without dates."""
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in _files(opened.folder):
            entry = zipfile.ZipInfo(str(path.relative_to(opened.folder)), _DATE)
            entry.external_attr = (0o100755 if path.name == "program" else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def unpack(bundle: Path, folder: Path) -> Opened:
    """Unpack a bundle into an empty folder and check it against its manifest. Raises BadBundle."""
    if not bundle.is_file():
        # A pipe may never come to its end.
        raise BadBundle(f"{bundle}: no plain file")
    try:
        with zipfile.ZipFile(bundle) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_FILES:
                raise BadBundle(f"it holds more than {_MOST_FILES} files")
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise BadBundle(f"it unpacks to more than {MOST_BYTES >> 20} MiB")
            archive.extractall(folder)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError, RuntimeError) as error:
        raise BadBundle(f"{bundle}: {error}") from None
    return opened(folder)


def opened(folder: Path) -> Opened:
    """A bundle that lies unpacked in a folder. Raises BadBundle where it is not as its manifest says."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["bundle"] != _VERSION:
            raise BadBundle(f"a bundle of version {manifest['bundle']}, and this bwlint reads {_VERSION}")
        made = {name: MadeCase(row["source"], row["file"]) for name, row in manifest["cases"].items()}
        found = Opened(
            folder, manifest["chip"], manifest["machine"], manifest["toolkit"], made, dict(manifest["left_out"])
        )
        sums = dict(manifest["files"])
        _check_types(found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadBundle(f"its manifest cannot be read: {error}") from None
    known = {case.name for case in all_cases()}
    strange = sorted(made.keys() - known)
    if strange:
        raise BadBundle(f"cases that this bwlint does not know: {', '.join(strange[:5])}")
    if any(f"{_CASES}/{case}/{name}" not in sums for case, row in made.items() for name in (row.source, row.file)):
        raise BadBundle("its manifest names files elsewhere")
    there = {str(path.relative_to(folder)): path for path in _files(folder)}
    there.pop(MANIFEST, None)
    wrong = sorted(name for name in {*sums, *there} if name not in there or sums.get(name) != _sum(there[name]))
    if wrong:
        raise BadBundle(f"not as its manifest says: {', '.join(wrong[:5])}")
    for path in folder.glob(f"{_CASES}/*/program"):
        path.chmod(0o755)
    return found


def _check_types(found: Opened) -> None:
    """Raise TypeError where a manifest holds something else than what is written there."""
    texts = [found.chip, found.machine, *found.left_out.values()]
    texts += [text for row in found.made.values() for text in (row.source, row.file)]
    if not isinstance(found.toolkit, dict) or not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is expected")


def _manifest(opened: Opened) -> dict[str, Any]:
    files = {str(path.relative_to(opened.folder)): _sum(path) for path in _files(opened.folder)}
    return {
        "bundle": _VERSION,
        "bwlint": __version__,
        "chip": opened.chip,
        "machine": opened.machine,
        "toolkit": opened.toolkit,
        "cases": {name: {"source": made.source, "file": made.file} for name, made in opened.made.items()},
        "left_out": opened.left_out,
        "files": files,
    }


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
            data = bytearray((self.folder / name).read_bytes())
            data[_FLAGS + 1] = int(label)
            (self.folder / name).write_bytes(data)
        return name

    def fatbin(self, source: str, built: Fatbin) -> str:
        images = []
        for target in dict.fromkeys((*built.cubins, *built.ptx)):
            words = Words(self.words.chip, {**self.words.values, "TARGET": target})
            (self.folder / f"{target}.ptx").write_text(words.filled(template(source)), encoding="utf-8")
            if target in built.cubins:
                self.cubin(f"{target}.ptx", target, name=f"{target}.cubin")
                images.append(f"--image3=kind=elf,sm={target},file={target}.cubin")
            if target in built.ptx:
                images.append(f"--image3=kind=ptx,sm={target},file={target}.ptx")
        fatbinary = Path(self._ptxas()).with_name("fatbinary")
        if not fatbinary.is_file():
            raise NotMade("there is no fatbinary beside ptxas")
        self._run(str(fatbinary), "-64", "--create=image.fatbin", *images)
        return "image.fatbin"

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
