"""Wheels as trees to scan: fetched by name from the user's package index, or given as a file.

Nothing of a wheel is installed, built, imported or run. `pip` fetches it; only files that bwlint reads are
unpacked, below limits, and each one that is refused is said.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bwlint.model.findings import Skipped
from bwlint.sources.kinds import BINARY, kind_of
from bwlint.sources.walk import Mount

if TYPE_CHECKING:
    import zipfile

PREFIX = "pypi:"

MOST_MEMBERS = 200_000
LARGEST_TOTAL = 2 * 1024**3
LARGEST_FILE = 64 * 1024**2
# Source compresses to a fifth or a tenth; generated tables reach 1 to 100. Small files may do what they like.
HIGHEST_RATIO = 200
RATIO_COUNTS_FROM = 1024**2
"""Limits for unpacking: members in the archive, bytes of all files and of one, bytes out per byte in."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_PIP_SECONDS = 600
_PIP_LINES = 6
_CHUNK = 1024 * 1024
NO_WHEEL = ("No matching distribution found", "Could not find a version that satisfies")
"""What pip says where it could fetch something if it were not for versions or platforms."""
# manylinux2014 stands for its two predecessors too: vLLM's wheels are tagged manylinux1.
_GPU_PLATFORMS = (
    "manylinux2014_x86_64",
    *(f"manylinux_2_{minor}_x86_64" for minor in range(5, 36)),
    "linux_x86_64",
)
_GPU_OPTIONS = (
    *(option for platform in _GPU_PLATFORMS for option in ("--platform", platform)),
    *("--python-version", "3.12", "--implementation", "cp"),
)


class SourceError(Exception):
    """A package that cannot be had; the message is for the user and free of control characters."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A package to fetch; `version` is normalised, None for the newest."""

    name: str
    version: str | None = None

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Unpacked:
    """`mount` is what `walk.discover` takes; `skipped` are members that were refused, as reported paths.

    Binaries stay in the `wheel`, to be read there.
    """

    mount: Mount
    wheel: Path
    skipped: tuple[Skipped, ...]


def is_package(argument: str) -> bool:
    """Whether an argument of `check` is for this module: ``pypi:...`` or a wheel file."""
    return argument.startswith(PREFIX) or (argument.endswith(".whl") and Path(argument).is_file())


def open_package(argument: str, into: Path) -> Unpacked:
    """The files of ``pypi:NAME[==VERSION]`` or of a local wheel, unpacked in a new folder below `into`.

    Raises SourceError.
    """
    if not argument.startswith(PREFIX):
        return unpack(Path(argument), into, argument)
    spec = parse_spec(argument)
    wheel = download(spec, into)
    return unpack(wheel, into, f"{PREFIX}{spec.name}=={spec.version or version_of(wheel)}")


def parse_spec(text: str) -> Spec:
    """``pypi:NAME`` or ``pypi:NAME==VERSION``; all else (URLs, extras, options, ranges) is a SourceError."""
    if not text.startswith(PREFIX):
        raise SourceError(f"expected pypi:NAME or pypi:NAME==VERSION, got {plain(text)}")
    name, equals, version = text.removeprefix(PREFIX).partition("==")
    if not _NAME.fullmatch(name):
        raise SourceError(f"{plain(name)!r} is not the name of a package; write pypi:NAME or pypi:NAME==VERSION")
    return Spec(name, _checked_version(version) if equals else None)


def download(spec: Spec, into: Path) -> Path:
    """Fetch the wheel of `spec` with the user's own pip configuration into a new folder below `into`.

    Where none fits this machine, one for Linux on x86-64 is taken, and stderr says so. Raises SourceError.
    """
    # pip runs in that folder, so its path must not be relative.
    dest = Path(tempfile.mkdtemp(prefix="wheel-", dir=into.resolve()))
    failure = pip_download(spec, dest, ())
    if failure and any(words in failure for words in NO_WHEEL):
        again = pip_download(spec, dest, _GPU_OPTIONS)
        if again is None:
            note = "no wheel for this platform; scanning the one for Linux x86-64 and CPython 3.12"
            print(f"{spec.requirement}: {note}", file=sys.stderr)
        failure = failure if again else None
    if failure:
        raise SourceError(f"pip cannot download {spec.requirement}:\n{last_lines(failure)}")
    return only_wheel(spec, dest)


def only_wheel(spec: Spec, folder: Path) -> Path:
    """The wheel that pip has put into a folder; raises SourceError."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip downloaded {len(wheels)} wheels for {spec.requirement}, expected one")
    return wheels[0]


def unpack(wheel: Path, into: Path, reported: str) -> Unpacked:
    """Extract the files of a known kind from `wheel` into a new folder below `into`.

    They are reported as `reported`/path. Raises SourceError when the archive as a whole cannot be read.
    """
    import zipfile

    try:
        with zipfile.ZipFile(wheel) as archive:
            if len(archive.infolist()) > MOST_MEMBERS:
                raise SourceError(f"{plain(reported)}: more than {MOST_MEMBERS:,} members")
            folder = Path(tempfile.mkdtemp(prefix="unpacked-", dir=into))
            skipped = _extract(archive, folder, reported)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise SourceError(f"{plain(reported)}: not a readable wheel: {plain(str(error))}") from None
    return Unpacked(Mount(reported, str(folder)), wheel, tuple(skipped))


def _checked_version(text: str) -> str:
    from packaging.version import InvalidVersion, Version

    try:
        # Version() strips white space, which would hide an option after a line break.
        if text != text.strip():
            raise InvalidVersion
        return str(Version(text))
    except InvalidVersion:
        raise SourceError(f"{plain(text)!r} is not a version; write pypi:NAME==VERSION") from None


def version_of(wheel: Path) -> str:
    """The version in the name of a wheel's file; raises SourceError."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        return str(parse_wheel_filename(wheel.name)[1])
    except InvalidWheelFilename:
        raise SourceError(f"pip downloaded a file with a strange name: {plain(wheel.name)}") from None


def pip_download(spec: Spec, dest: Path, options: tuple[str, ...], seconds: int = _PIP_SECONDS) -> str | None:
    """Have pip fetch a wheel into `dest`, within so many `seconds`; its output when it fails, else None."""
    pip = pip_command()
    if pip is None:
        return "there is no pip, in this Python or on PATH: install it, or give bwlint a wheel"
    command = [*pip, "download", "--only-binary", ":all:", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["--dest", str(dest), *options, spec.requirement]
    try:
        # `-m` looks for pip in the working folder first: that must not be the scanned tree.
        done = subprocess.run(
            command,
            cwd=dest,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {seconds // 60} minutes"
    except OSError as error:
        return f"{sys.executable} cannot be run: {error.strerror}"
    return None if done.returncode == 0 else done.stdout.decode("utf-8", "replace") or f"exit {done.returncode}"


def pip_command() -> tuple[str, ...] | None:
    """How to run pip: of this Python, else the one that Python brings for new environments (those of pipx and uv have
    none of their own), else the user's. None where there is none.
    """
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    bringing = find_spec("ensurepip")
    folders = bringing.submodule_search_locations if bringing is not None else None
    wheels = sorted(wheel for folder in folders or () for wheel in Path(folder).glob("_bundled/pip-*.whl"))
    if wheels:
        return (sys.executable, str(wheels[-1] / "pip"))
    program = shutil.which("pip3") or shutil.which("pip")
    return (program,) if program is not None and Path(program).is_absolute() else None


def last_lines(output: str) -> str:
    """The end of what pip says, indented, for a message."""
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join("  " + plain(line) for line in lines[-_PIP_LINES:])


def plain(text: str) -> str:
    """`text` for a terminal: what is not printable becomes a question mark."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _extract(archive: zipfile.ZipFile, folder: Path, reported: str) -> list[Skipped]:
    skipped: list[Skipped] = []
    room = LARGEST_TOTAL
    for member in archive.infolist():
        # Binaries are read in the archive, one by one.
        if kind_of(member.filename.rpartition("/")[2]) in (None, BINARY):
            continue
        refusal = _refusal(member, room)
        if refusal is None:
            written = _write(archive, member, folder / member.filename, room)
            if isinstance(written, int):
                room -= written
                continue
            refusal = written
        skipped.append(Skipped(f"{reported}/{member.filename}", refusal))
    return skipped


def _refusal(member: zipfile.ZipInfo, room: int) -> str | None:
    """Why a member is not unpacked, by what the archive says of it."""
    name, size = member.filename, member.file_size
    mode = member.external_attr >> 16
    if not name.isprintable() or "\\" in name or ":" in name:
        return "member with an unusual character in its name"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "member with a path that leads out of the wheel"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "member that is a symlink" if stat.S_ISLNK(mode) else "member that is not a regular file"
    if member.flag_bits & 0x1:
        return "encrypted member"
    if size > LARGEST_FILE:
        return f"member larger than {LARGEST_FILE // 1024**2} MiB"
    if size > room:
        return f"wheel with more than {LARGEST_TOTAL // 1024**3} GiB of source"
    if size > RATIO_COUNTS_FROM and size > HIGHEST_RATIO * member.compress_size:
        return f"member compressed more than 1 to {HIGHEST_RATIO}"
    return None


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, room: int) -> int | str:
    """Unpack one member; the bytes written, or why it failed. Nothing is overwritten, nothing half stays."""
    created = False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, target.open("xb") as out:
            created = True
            return _copy(packed, out, min(LARGEST_FILE, room))
    except FileExistsError:
        return "member named twice"
    # Each decompressor raises errors of its own, and hostile archives reach them all.
    except Exception as error:
        if created:
            target.unlink(missing_ok=True)
        return f"member not unpacked: {plain(str(error)) or type(error).__name__}"


def _copy(packed: IO[bytes], out: IO[bytes], limit: int) -> int:
    """Copy at most `limit` bytes, whatever the archive says of the size; ValueError when there are more."""
    written = 0
    while chunk := packed.read(_CHUNK):
        written += len(chunk)
        if written > limit:
            raise ValueError("larger than it says")
        out.write(chunk)
    return written
