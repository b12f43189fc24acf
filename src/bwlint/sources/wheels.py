"""Wheels of one package for several platforms, fetched one after another with the user's own pip; and its source
distribution, which pip only locates, because it would run its setup."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from urllib.request import urlopen

from bwlint.sources.errors import ReadError
from bwlint.sources.kinds import kind_of
from bwlint.sources.member import chunks_of
from bwlint.sources.pypi import (
    NO_WHEEL,
    PREFIX,
    SourceError,
    Spec,
    ask_pip,
    last_lines,
    only_wheel,
    parse_spec,
    pip_download,
    plain,
    version_of,
)
from bwlint.sources.stretch import ByteSource

if TYPE_CHECKING:
    from email.message import Message

    from packaging.requirements import Requirement
    from packaging.version import Version

ANY = "any"
LINUX = ("x86_64", "aarch64")
"""The platforms that are looked at unless the user chooses: GPUs in servers and workstations, and the DGX Spark."""

_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", ANY: ANY}
# manylinux1, 2010 and 2014 are other names for glibc 2.5, 2.12 and 2.17; only x86-64 has the first two.
_NEWEST_GLIBC = 39
_OLDEST_GLIBC = {"x86_64": 5, "aarch64": 17}
_OLD_NAMES = {"x86_64": ("manylinux2014", "manylinux2010", "manylinux1"), "aarch64": ("manylinux2014",)}
_FULL_TAG = re.compile(r"(?:any|linux|manylinux|musllinux|win|macosx)[a-z0-9_]*")

_PYTHON = "3.12"
# For wheels that ask for a Python newer than that, and do not say by their tag which.
_NEWEST_PYTHON = "3.14"
# A wheel may have gigabytes.
_PIP_SECONDS = 3600
_LISTED_FILE = re.compile(r"[/ ]([A-Za-z0-9][^\s/#?]*\.(?:whl|tar\.gz|zip|tar\.bz2))(?=[\s#?]|$)")
_MOST_NAMED = 6
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
_LARGEST_TEXT = 1 << 20
_SOURCES_ALONE = "only a source distribution"


@dataclass(frozen=True, slots=True)
class Tag:
    """`machine` is x86_64, aarch64, any, or "" for others and several; `platform` is as in the name of the file."""

    machine: str
    platform: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A wheel at `path`, in a folder of its own. `asked` is the platform that it was fetched for."""

    asked: str
    path: Path
    version: str
    tag: Tag


@dataclass(frozen=True, slots=True)
class NotThere:
    """A platform that the package has no wheel for, and the address of its sources, if it has some."""

    machine: str
    reason: str
    sources: str = ""


@dataclass(frozen=True, slots=True)
class FetchedSources:
    """The source distribution at `path`, in a folder of its own; `lacks` says what there is no wheel for."""

    lacks: str
    path: Path


def parse_tag(filename: str) -> Tag:
    """The tag of a wheel by the name of its file; raises SourceError for a name that pip would refuse."""
    from packaging.utils import parse_wheel_filename

    try:
        parse_wheel_filename(filename)
    except ValueError:
        raise SourceError(f"{plain(filename)}: not the name of a wheel; pip would refuse it") from None
    platform = filename.removesuffix(".whl").rpartition("-")[2]
    machines = {_machine_of(one) for one in platform.split(".")}
    return Tag(machines.pop() if len(machines) == 1 else "", platform)


def fetch(spec: Spec, platforms: Sequence[str], into: Path) -> Iterator[Fetched | FetchedSources | NotThere]:
    """One row for each of `platforms` (those of `LINUX` without any), each fetched when it is asked for.

    A platform is x86_64 or aarch64 for Linux on it, or a wheel's platform tag such as win_amd64. The version is that
    of the first wheel that is had. A wheel for any machine is the last row and serves all platforms. Where some have
    none and there is a source distribution, that is the last row, one for all of these. Each file lies in a new folder
    below `into`, which the caller may delete. Raises SourceError for an unknown platform, package or version, and when
    pip fails.
    """
    asked = tuple(dict.fromkeys(platforms or LINUX))
    for platform in asked:
        _checked_platform(platform)
    without: list[NotThere] = []
    for platform in asked:
        row = _row(spec, platform, into)
        if isinstance(row, Fetched):
            spec = Spec(spec.name, row.version)
        elif row.sources:
            without.append(row)
            continue
        yield row
        if isinstance(row, Fetched) and row.tag.machine == ANY:
            return
    if without:
        yield from _sources(without, into)


def _sources(without: Sequence[NotThere], into: Path) -> Iterator[FetchedSources | NotThere]:
    first = without[0]
    try:
        path = fetch_source(first.sources, Path(tempfile.mkdtemp(prefix="sources-", dir=into.resolve())))
    except SourceError as error:
        yield from (NotThere(row.machine, f"{row.reason}; {error}") for row in without)
        return
    where = " and ".join(f"Linux {row.machine}" if row.machine in LINUX else row.machine for row in without)
    yield FetchedSources("no wheel" if first.reason.endswith(_SOURCES_ALONE) else f"no wheel for {where}", path)


def contents(wheel: Path, machine: str = LINUX[0]) -> tuple[Spec, ...]:
    """The packages that have all that a wheel is for: exact versions that it asks for where it holds nothing itself."""
    metadata = _metadata_alone(wheel)
    found: dict[Spec, None] = {}
    for asked in requirements(metadata, machine) if metadata is not None else ():
        try:
            (exact,) = asked.specifier
            if exact.operator == "==":
                found[parse_spec(f"{PREFIX}{asked.name}=={exact.version}")] = None
        except (SourceError, ValueError):
            continue
    return tuple(found)


def requirements(metadata: Message, machine: str) -> Iterator[Requirement]:
    """What a wheel asks for on Linux without any extra."""
    from packaging.requirements import InvalidRequirement, Requirement

    here = {"platform_machine": machine, "platform_system": "Linux", "sys_platform": "linux", "extra": ""}
    for text in metadata.get_all("Requires-Dist", []):
        try:
            asked = Requirement(str(text))
            if asked.marker is None or asked.marker.evaluate(here):
                yield asked
        except (InvalidRequirement, ValueError):
            continue


def _metadata_alone(wheel: Path) -> Message | None:
    """What a wheel says of itself, where it has no file of a kind that is read; None for any other."""
    from bwlint.sources import zips

    try:
        with wheel.open("rb") as file:
            members = list(zips.members(ByteSource.of_file(file.fileno()), lambda size: None))
            if any(kind_of(member.name.rpartition("/")[2]) for member in members):
                return None
            (own,) = (member for member in members if _METADATA.fullmatch(member.name) and member.size < _LARGEST_TEXT)
            content = own.content()
            data = b"".join(chunks_of(content) if isinstance(content, ByteSource) else content)
    except (OSError, ReadError, ValueError):
        return None
    return message_from_bytes(data)


def _machine_of(platform: str) -> str:
    return next((machine for end, machine in _MACHINES.items() if platform.endswith(end)), "")


def _checked_platform(platform: str) -> None:
    if platform not in LINUX and not _FULL_TAG.fullmatch(platform):
        words = "write x86_64, aarch64 or the platform tag of a wheel, such as win_amd64"
        raise SourceError(f"{plain(platform)!r} is not a platform; {words}")


def _tags(platform: str) -> tuple[str, ...]:
    """The platform tags that are meant, best first."""
    if platform not in LINUX:
        return (platform,)
    glibc = (f"manylinux_2_{minor}" for minor in range(_NEWEST_GLIBC, _OLDEST_GLIBC[platform] - 1, -1))
    return tuple(f"{name}_{platform}" for name in (*glibc, *_OLD_NAMES[platform], "linux"))


def released(spec: Spec, wheel: Path, options: tuple[str, ...] = ()) -> Spec | None:
    """The newest release of a package, where the wheel that pip took for want of another is a preview: sources, and
    wheels for others, are releases too. None where the wheel is none, or there is no release."""
    from packaging.version import Version

    if not Version(version_of(wheel)).is_prerelease:
        return None
    with tempfile.TemporaryDirectory(dir=wheel.parent) as again:
        _, listing = ask_pip(spec, Path(again), ("-vv", *options))
    versions = [file.version for file in _listed(listing, spec.name) if not file.version.is_prerelease]
    return Spec(spec.name, str(max(versions))) if versions else None


def _row(spec: Spec, platform: str, into: Path) -> Fetched | NotThere:
    # pip runs in that folder, so its path must not be relative.
    dest = Path(tempfile.mkdtemp(prefix="wheel-", dir=into.resolve()))
    options = tuple(option for tag in _tags(platform) for option in ("--platform", tag))
    failure = pip_download(spec, dest, options, _PIP_SECONDS)
    if failure is None:
        release = None if spec.version else released(spec, only_wheel(spec, dest), options)
        if release is None:
            return _fetched(spec, platform, dest)
        shutil.rmtree(dest)
        return _row(release, platform, into)
    if not _says_no_wheel(failure):
        raise cannot(spec, failure)
    # Said at length, pip names every file that it passes over.
    listing = _pip_for(_PYTHON, spec, dest, ("-vv", *options))
    if listing is None:
        return _fetched(spec, platform, dest)
    if not _says_no_wheel(listing):
        raise cannot(spec, listing)
    files = of_version(spec, failure, listing)
    python = _python_of(files, platform)
    if python is not None and _pip_for(python, spec, dest, options) is None:
        return _fetched(spec, platform, dest)
    return NotThere(platform, _reason(spec, platform, files), address(spec, listing))


def _pip_for(python: str, spec: Spec, dest: Path, options: tuple[str, ...]) -> str | None:
    return pip_download(spec, dest, (*options, "--python-version", python, "--implementation", "cp"), _PIP_SECONDS)


def _fetched(spec: Spec, platform: str, dest: Path) -> Fetched:
    wheel = only_wheel(spec, dest)
    return Fetched(platform, wheel, version_of(wheel), parse_tag(wheel.name))


def _says_no_wheel(output: str) -> bool:
    return any(words in output for words in NO_WHEEL)


def cannot(spec: Spec, output: str) -> SourceError:
    return SourceError(f"pip cannot download {spec.requirement}:\n{last_lines(output)}")


@dataclass(frozen=True, slots=True)
class _IndexFile:
    """One file of a package on the index; `tags` are those of a wheel, none for a source distribution."""

    version: Version
    tags: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def platforms(self) -> frozenset[str]:
        return frozenset(platform for _, _, platform in self.tags)


def _listed(output: str, name: str) -> tuple[_IndexFile, ...]:
    """The files of the package `name` that the long output of pip speaks of."""
    from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

    found: dict[str, _IndexFile] = {}
    for match in _LISTED_FILE.finditer(output):
        filename = unquote(match.group(1))
        try:
            if filename.endswith(".whl"):
                its_name, version, _, tags = parse_wheel_filename(filename)
                file = _IndexFile(version, frozenset((tag.interpreter, tag.abi, tag.platform) for tag in tags))
            else:
                its_name, version = parse_sdist_filename(filename)
                file = _IndexFile(version)
        except ValueError:
            continue
        if its_name == canonicalize_name(name):
            found[filename] = file
    return tuple(found.values())


def of_version(spec: Spec, failure: str, listing: str) -> tuple[_IndexFile, ...]:
    """The files of the version that is asked for, of those that the long output of pip lists; raises SourceError when
    there is no such version or package."""
    from packaging.specifiers import SpecifierSet

    files = _listed(listing, spec.name)
    if not files:
        # A package that is not there and an index that does not answer end in the same words.
        if " 404 " in listing and "Retrying" not in listing:
            raise SourceError(f"{spec.name}: the index has no package of this name")
        raise cannot(spec, failure)
    if spec.version is None:
        return files
    # "==2.9.0" is also met by 2.9.0+cu130.
    wanted = SpecifierSet(f"=={spec.version}", prereleases=True)
    found = tuple(file for file in files if file.version in wanted)
    if not found:
        newest = max(file.version for file in files)
        raise SourceError(f"{spec.name}: the index has no version {spec.version}; the newest is {newest}")
    return found


def _python_of(files: Iterable[_IndexFile], platform: str) -> str | None:
    """A Python that a wheel for the platform is for, when there is one; of several, the newest."""
    tags = set(_tags(platform))
    fitting = [tag for file in files for tag in file.tags if tag[2] in tags or tag[2] == ANY]
    if not fitting:
        return None
    # "cp313-cp313", and not "cp310-abi3" which 3.12 has been tried for.
    exact = [int(python[3:]) for python, abi, _ in fitting if python == abi and re.fullmatch(r"cp3\d+", python)]
    return f"3.{max(exact)}" if exact else _NEWEST_PYTHON


def _reason(spec: Spec, platform: str, files: tuple[_IndexFile, ...]) -> str:
    what = f"{spec.name} {spec.version}" if spec.version else spec.name
    where = f"Linux {platform}" if platform in LINUX else platform
    others = sorted({one for file in files for one in file.platforms})
    if not others:
        return f"{what} has no wheels, {_SOURCES_ALONE}"
    fitting = set(others) & {*_tags(platform), ANY}
    if fitting:
        return f"pip takes none of the wheels of {what} for {where}"
    named = ", ".join(others[:_MOST_NAMED]) + (", ..." if len(others) > _MOST_NAMED else "")
    return f"{what} has no wheel for {where}, only for {named}"


_LINK = re.compile(r"(?:https|file)://[^\s#?]+/([A-Za-z0-9][^\s/#?]*\.(?:tar\.gz|zip))(?=[\s#?]|$)")
_FETCH_SECONDS = 60
_LARGEST_SOURCES = 1024**3
_CHUNK = 1024 * 1024


def address(spec: Spec, listing: str) -> str:
    """Where pip's long output says that the sources of a package lie, of the newest version; "": nowhere."""
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name, parse_sdist_filename

    wanted = SpecifierSet(f"=={spec.version}" if spec.version else "", prereleases=bool(spec.version) or None)
    found = {}
    for match in _LINK.finditer(listing):
        try:
            name, version = parse_sdist_filename(unquote(match[1]))
        except ValueError:
            continue
        if name == canonicalize_name(spec.name) and version in wanted:
            found[version] = match[0]
    return found[max(found)] if found else ""


def fetch_source(where: str, into: Path) -> Path:
    """Download an address of `address` into a folder. Raises SourceError."""
    target = into / Path(unquote(where)).name
    try:
        with urlopen(where, timeout=_FETCH_SECONDS) as answer, target.open("xb") as out:
            while chunk := answer.read(_CHUNK):
                if out.tell() > _LARGEST_SOURCES:
                    raise SourceError(f"{plain(where)}: more than {_LARGEST_SOURCES // 1024**3} GiB")
                out.write(chunk)
    except (OSError, ValueError) as error:
        target.unlink(missing_ok=True)
        raise SourceError(f"{plain(where)} cannot be fetched: {plain(str(error))}") from None
    return target
