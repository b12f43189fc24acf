"""Packages as trees to scan: fetched by name from the user's package index, or a wheel that is given as a file.

Nothing of a package is installed, built, imported or run. `pip` fetches wheels; only files that bwlint reads are
unpacked, below limits, and each one that is refused is said.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bwlint.model.findings import Skipped
from bwlint.sources.errors import ReadError
from bwlint.sources.kinds import BINARY, KINDS, kind_of
from bwlint.sources.stretch import ByteSource
from bwlint.sources.walk import Mount

if TYPE_CHECKING:
    from bwlint.sources.member import Member

PREFIX = "pypi:"

MOST_MEMBERS = 200_000
LARGEST_TOTAL = 2 * 1024**3
LARGEST_FILE = 64 * 1024**2
# Source compresses to a fifth or a tenth; generated tables reach 1 to 100. Small files may do what they like.
HIGHEST_RATIO = 200
RATIO_COUNTS_FROM = 1024**2
"""Limits for unpacking: members in the archive, bytes of all files and of one, bytes out per byte in."""

# Binaries are read in the archive, one by one.
_TEXTS = frozenset(kind.name for kind in KINDS) - {BINARY}
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_PIP_SECONDS = 600
_PIP_LINES = 6
NO_WHEEL = ("No matching distribution found", "Could not find a version that satisfies")
"""What pip says where it could fetch something if it were not for versions or platforms."""
_UNREACHABLE = re.compile(r"Retrying \(.*(?:NewConnectionError|NameResolutionError|ProxyError)(?:.*\] ([\w ]+))?")
"""What pip says of an index, or a proxy before it, to which no connection comes about."""
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
    """`mount` is for `walk.discover`; `skipped` are refused members; binaries stay in the `archive`."""

    mount: Mount
    archive: Path
    skipped: tuple[Skipped, ...]


def is_package(argument: str) -> bool:
    """Whether an argument of `check` is for this module: ``pypi:...``, a wheel or a source distribution."""
    if not argument.endswith((".whl", ".tar.gz", ".zip")):
        return argument.startswith(PREFIX)
    return Path(argument).is_file() and (argument.endswith(".whl") or _is_sources(Path(argument).name))


def package_hint(argument: str) -> str:
    """What follows where nothing lies at an argument that looks like the name of a package: how to write one."""
    name = argument.partition("==")[0]
    is_one = _NAME.fullmatch(name) and "." not in name and not Path(argument).exists()
    return f" (for the package, write {PREFIX}{argument})" if is_one else ""


def _is_sources(name: str) -> bool:
    from packaging.utils import InvalidSdistFilename, parse_sdist_filename

    try:
        return bool(parse_sdist_filename(name))
    except InvalidSdistFilename:
        return False


def open_packages(argument: str, into: Path) -> Iterator[Unpacked]:
    """The files of ``pypi:NAME[==VERSION]`` or of a local archive, unpacked in a new folder below `into`.

    Where a wheel of an index holds nothing itself, those of the packages follow that have its content. Raises
    SourceError.
    """
    if not argument.startswith(PREFIX):
        yield unpack(Path(argument), into, argument)
        return
    from bwlint.sources.wheels import contents

    spec = parse_spec(argument)
    archive = download(spec, into)
    yield unpack(archive, into, f"{PREFIX}{spec.name}=={spec.version or version_of(archive)}")
    for other in contents(archive) if archive.suffix == ".whl" else ():
        print(f"{spec.requirement}: its content is in {other.requirement}, which is scanned too", file=sys.stderr)
        archive = download(other, into)
        yield unpack(archive, into, f"{PREFIX}{other.requirement}")


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

    Where none fits this machine, one for Linux on x86-64 is taken, and where there is none, the source distribution;
    stderr says so. Raises SourceError.
    """
    from bwlint.sources.wheels import address, cannot, fetch_source, of_version, released

    # pip runs in that folder, so its path must not be relative.
    dest = Path(tempfile.mkdtemp(prefix="wheel-", dir=into.resolve()))
    failure = pip_download(spec, dest, ())
    if failure is None and spec.version is None:
        release = released(spec, only_wheel(spec, dest))
        return download(release, into) if release else only_wheel(spec, dest)
    if failure and any(words in failure for words in NO_WHEEL):
        again = pip_download(spec, dest, _GPU_OPTIONS)
        if again is None:
            note = "no wheel for this platform; scanning the one for Linux x86-64 and CPython 3.12"
            print(f"{spec.requirement}: {note}", file=sys.stderr)
        failure = failure if again else None
    if failure and any(words in failure for words in NO_WHEEL):
        listing = pip_download(spec, dest, ("-vv",)) or ""
        if where := address(spec, listing):
            print(f"{spec.requirement}: no wheel: it is built on your machine; scanning its sources", file=sys.stderr)
            return fetch_source(where, dest)
        of_version(spec, failure, listing)
    if failure:
        raise cannot(spec, failure)
    return only_wheel(spec, dest)


def only_wheel(spec: Spec, folder: Path) -> Path:
    """The wheel that pip has put into a folder; raises SourceError."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip downloaded {len(wheels)} wheels for {spec.requirement}, expected one")
    return wheels[0]


def unpack(archive: Path, into: Path, reported: str, kinds: frozenset[str] = _TEXTS) -> Unpacked:
    """Extract the files of these kinds from a wheel or a source distribution into a new folder below `into`.

    They are reported as `reported`/path; of sources the folder around all of them is left out. Raises SourceError when
    the archive as a whole cannot be read.
    """
    from bwlint.sources import tars, zips

    is_wheel = archive.suffix == ".whl"
    folder = Path(tempfile.mkdtemp(prefix="unpacked-", dir=into))
    left = LARGEST_TOTAL

    def meter(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise ReadError(f"more than {LARGEST_TOTAL // 1024**3} GiB unpacked")

    try:
        with archive.open("rb") as file:
            members = (tars if archive.suffix == ".gz" else zips).members(ByteSource.of_file(file.fileno()), meter)
            skipped = _extract(members, folder, reported, kinds)
    except (OSError, ReadError) as error:
        what = "wheel" if is_wheel else "archive"
        raise SourceError(f"{plain(reported)}: not a readable {what}: {plain(str(error))}") from None
    tops = [] if is_wheel else list(folder.iterdir())
    top = tops[0] if len(tops) == 1 and tops[0].is_dir() else folder
    return Unpacked(Mount(reported, str(top)), archive, tuple(skipped))


def _checked_version(text: str) -> str:
    from packaging.version import InvalidVersion, Version

    try:
        # Version() strips white space, which would hide an option after a line break.
        if text != text.strip():
            raise InvalidVersion
        return str(Version(text))
    except InvalidVersion:
        raise SourceError(f"{plain(text)!r} is not a version; write pypi:NAME==VERSION") from None


def version_of(archive: Path) -> str:
    """The version in the name of a wheel or a source distribution; raises SourceError."""
    from packaging.utils import parse_sdist_filename, parse_wheel_filename

    try:
        name = archive.name
        return str((parse_wheel_filename if archive.suffix == ".whl" else parse_sdist_filename)(name)[1])
    except ValueError:
        raise SourceError(f"pip downloaded a file with a strange name: {plain(archive.name)}") from None


def pip_download(spec: Spec, dest: Path, options: tuple[str, ...], seconds: int = _PIP_SECONDS) -> str | None:
    """Have pip fetch a wheel into `dest`, within so many `seconds`; its output when it fails, else None. Raises
    SourceError where the index cannot be reached: of one that answers badly, pip is let try as often as it likes."""
    code, said = ask_pip(spec, dest, ("--retries", "1", *options), seconds)
    if code != 0 and "Retrying (" in said:
        unreachable = _UNREACHABLE.search(said)
        if unreachable is not None:
            reason = f" ({plain(unreachable[1])})" if unreachable[1] else ""
            advice = "check the network, PIP_INDEX_URL and the proxy, or give bwlint a wheel or a folder"
            raise SourceError(f"{spec.requirement}: pip cannot reach the package index{reason}: {advice}")
        code, said = ask_pip(spec, dest, options, seconds)
    return None if code == 0 else said or f"exit {code}"


def ask_pip(spec: Spec, dest: Path, options: tuple[str, ...], seconds: int = _PIP_SECONDS) -> tuple[int, str]:
    """The same with the exit code, -1 where pip did not run to its end, and all that it has said."""
    pip = pip_command()
    if pip is None:
        return -1, "there is no pip, in this Python or on PATH: install it, or give bwlint a wheel"
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
        return -1, f"no answer within {seconds // 60} minutes"
    except OSError as error:
        return -1, f"{sys.executable} cannot be run: {error.strerror}"
    return done.returncode, done.stdout.decode("utf-8", "replace")


def pip_command() -> tuple[str, ...] | None:
    """How to run pip: of this Python, else its bundled one, else the user's. None where there is none."""
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


def _extract(members: Iterable[Member], folder: Path, reported: str, kinds: frozenset[str]) -> list[Skipped]:
    skipped: list[Skipped] = []
    room, count = LARGEST_TOTAL, 0
    try:
        for member in members:
            count += 1
            if count > MOST_MEMBERS:
                raise SourceError(f"{plain(reported)}: more than {MOST_MEMBERS:,} members")
            if kind_of(member.name.rpartition("/")[2]) not in kinds:
                continue
            written = _refusal(member, room) or _write(member, folder / member.name, min(room, LARGEST_FILE))
            if isinstance(written, int):
                room -= written
            else:
                skipped.append(Skipped(f"{reported}/{member.name}", written))
    except ReadError as error:
        if not count:
            raise
        skipped.append(Skipped(reported, f"archive not read to its end: {error}"))
    return skipped


def _refusal(member: Member, room: int) -> str:
    """Why a member is not unpacked, by what the archive says of it."""
    if not member.name.isprintable() or "\\" in member.name or ":" in member.name:
        return "member with an unusual character in its name"
    if any(part in ("", ".", "..") for part in member.name.split("/")):
        return "member with a path that leads out of the archive"
    if member.link:
        return "member that is a link"
    if member.size > LARGEST_FILE:
        return f"member larger than {LARGEST_FILE // 1024**2} MiB"
    if member.size > room:
        return f"archive with more than {LARGEST_TOTAL // 1024**3} GiB of source"
    return member.refusal


def _write(member: Member, target: Path, limit: int) -> int | str:
    """Unpack one member; the bytes written, or why it failed. Nothing is overwritten, nothing half stays."""
    from bwlint.sources.member import chunks_of

    created = False
    written = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        content = member.content()
        with target.open("xb") as out:
            created = True
            for chunk in chunks_of(content) if isinstance(content, ByteSource) else content:
                written += len(chunk)
                if written > limit:
                    raise ReadError("larger than it says")
                out.write(chunk)
    except FileExistsError:
        return "member named twice"
    except (OSError, ReadError) as error:
        if created:
            target.unlink(missing_ok=True)
        return f"member not unpacked: {plain(str(error))}"
    return written
