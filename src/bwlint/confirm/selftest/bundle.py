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
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint import __version__
from bwlint.chips import Chip
from bwlint.confirm.selftest.case import BuiltProgram, NotForChip, SelftestCase
from bwlint.confirm.selftest.cases import all_cases
from bwlint.confirm.selftest.making import MadeCase, NotMade, make, runtime
from bwlint.confirm.workbench import Toolkit
from bwlint.sources.scratch import scratch_folder

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
        _tidy(folder)
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


def _tidy(folder: Path) -> None:
    """Leave what a bundle holds: objects and links were of use for the making alone."""
    for path in folder.iterdir():
        if path.is_symlink() or path.suffix not in _WANTED or path.name.startswith("."):
            path.unlink()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
