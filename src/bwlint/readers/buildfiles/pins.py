"""Versions that a project pins: packages with device code, and CUDA base images.

`package-pin` is named after the package, `cuda-image` after the release. What a marker keeps to another system, and a
file for GPUs of another maker, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips.surroundings import shipped
from bwlint.model.details import CudaImage, PackagePin
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.releases import image_release

_PACKAGES = tuple(dict.fromkeys(one.name for one in shipped() if not one.called))
_ONE_RANGE = r"(?:[=<>!~]=|===|<|>)[ \t]*[0-9][\w.*+]{0,30}"
_PIN = re.compile(
    rf"(?:^|(?<=[ \t\"']))(?P<package>{'|'.join(_PACKAGES)})(?:\[[\w, -]{{1,60}}\])?[ \t]*"
    rf"\(?(?P<range>{_ONE_RANGE}(?:[ \t]*,[ \t]*{_ONE_RANGE}){{0,4}})\)?(?P<marker>[ \t]*;[^\n#]{{0,200}})?",
    re.M,
)
_POETRY = re.compile(
    rf"^(?P<package>{'|'.join(_PACKAGES)})[ \t]*=[ \t]*(?:\{{[ \t]*version[ \t]*=[ \t]*)?"
    rf"\"(?P<range>(?:==)?[0-9]+(?:\.[0-9]+){{1,2}}(?:\+cu[0-9]+)?)\"",
    re.M,
)
_IMAGE = re.compile(
    r"^[ \t]*(?:(?:FROM[ \t]+(?:--\S+[ \t]+)?|ARG[ \t]+\w*(?:IMAGE|BASE)\w*=[\"']?)(?P<name>\S+)"
    r"|(?:ARG|ENV)[ \t]+CUDA_VERSION[ =]\"?(?P<release>[0-9]{2}\.[0-9])(?![0-9]))",
    re.M | re.I,
)
_CONDA = re.compile(
    r"^[^#\n]{0,200}?(?<![\w-])(?:pytorch-cuda|cuda-?toolkit|cuda-version)"
    r"[ \t]*={1,2}[ \t]*(?P<release>[0-9]{2}\.[0-9])(?![0-9])",
    re.M,
)
HELD = (
    rf"(?:{'|'.join(_PACKAGES)})(?:\[[^\]]+\])? *\(? *[=<>!~]"
    r"|[Cc][Uu][Dd][Aa][:_-]?v?[0-9][0-9]\.[0-9]|CUDA_VERSION|nvcr\.io/nvidia/|[:_-]cu[0-9][0-9][0-9]"
    r"|(?:pytorch-cuda|cuda-?toolkit|cuda-version) *="
)
"""How a range of such a package begins, and an image, for engines that look at single lines."""
_HELD = re.compile(HELD.encode())
_BUILT = re.compile(r"\+cu([0-9]{2})([0-9])$")
_LOCAL = re.compile(r"\+\w+")
_KEEPS_OUT = re.compile(r"(?i)[a-z_]+[ \t]*!=[ \t]*[\"'](?!linux|posix|x86_64|amd64)[^\"']*[\"']")
"""A marker for all systems but one, which is none of ours."""
_OTHER_SYSTEM = re.compile(r"(?i)darwin|macos|win|python_version[ \t]*<|machine")
_OTHER_MAKER = re.compile(
    r"(?i)whl/(?:nightly/|test/)?(?:cpu|rocm|xpu)|\brocm/|intel[-_]extension|torch[-_](?:npu|xla)"
)
_OTHER_FILE = re.compile(
    r"(?i)(?:^|[^a-z])(?:rocm|hip|amd|cpu|xpu|npu|hpu|tpu|musa|ascend|mac|mps|metal|neuron|docs?)(?![a-z])"
)
_LISTS = (".txt", ".in")
_QUOTED = (".toml", ".py")
_IMAGES = re.compile(r"(?i)(?:^|/)(?:docker|container)file|\.dockerfile$")
_OF_CONDA = (".yml", ".yaml", ".sh", "Dockerfile")
_MOST = 40


ANCHORS = (b"install_requires",)
"""In Python; other files are asked whatever they hold."""


def may_hold(data: bytes) -> bool:
    """Most build files speak of the packages; few name a range of them, or an image."""
    return _HELD.search(data) is not None


def operations(path: str, source: str) -> tuple[Operation, ...]:
    """Of a build file or a list of requirements."""
    if not may_hold(source.encode("utf-8", "surrogatepass")) or _is_for_others(path, source):
        return ()
    places = Places(source)
    found = [*_pins(path, source, places), *(_images(source, places) if _IMAGES.search(path) else ())]
    for match in _CONDA.finditer(source) if path.endswith(_OF_CONDA) else ():
        at = places.span(*match.span("release"))
        found.append(Operation("cuda-image", match["release"], at, detail=CudaImage(compiles=True)))
    return tuple(found[:_MOST])


def of_setup(path: str, source: str) -> tuple[Operation, ...]:
    """Of a setup.py; nothing of another file in Python, which may write requirements for others."""
    return operations(path, source) if path.rpartition("/")[2] == "setup.py" else ()


def _is_for_others(path: str, source: str) -> bool:
    return _OTHER_FILE.search(path.rpartition("/")[2]) is not None or _OTHER_MAKER.search(source) is not None


def _pins(path: str, source: str, places: Places) -> Iterator[Operation]:
    for match in _PIN.finditer(source):
        line = source[places.line_start(match.start("package")) : match.start("package")]
        if "#" not in line and _stands(path, line):
            marker = _KEEPS_OUT.sub("", match["marker"] or "")
            if "linux" in marker or not _OTHER_SYSTEM.search(marker):
                yield _pin(match["package"], match["range"], places, match)
    for match in _POETRY.finditer(source) if path.endswith(".toml") else ():
        yield _pin(match["package"], f"=={match['range'].removeprefix('==')}", places, match)


def _pin(package: str, range_: str, places: Places, match: re.Match[str]) -> Operation:
    built = _BUILT.search(range_)
    at = places.span(match.start("package"), match.end("range"))
    release = f"{built[1]}.{built[2]}" if built else ""
    return Operation("package-pin", package, at, detail=PackagePin(_LOCAL.sub("", range_), release))


def _stands(path: str, line: str) -> bool:
    """Whether a requirement may stand behind what its line begins with, in a file of its kind."""
    bare = line.strip()
    if path.endswith(_LISTS):
        return not bare
    return bare.endswith(('"', "'")) if path.endswith(_QUOTED) else bare in ("", "-") or "install" in bare


def _images(source: str, places: Places) -> Iterator[Operation]:
    for match in _IMAGE.finditer(source):
        named, start = image_release(match["name"] or ""), match.start("name")
        if match["release"]:
            at, release = places.span(*match.span("release")), match["release"]
        elif named is not None:
            at, release = places.span(start + named.start, start + named.end), named.release
        else:
            continue
        made = "devel" in source or (named is not None and "/cuda:" not in match["name"])
        yield Operation("cuda-image", release, at, detail=CudaImage(compiles=made))
