"""Build files: what they compile for, and what launches in them ask for. CMake is parsed, others go line by line."""

from __future__ import annotations

import re

from bwlint.model.facts import Module
from bwlint.readers import launches, switches, variables
from bwlint.readers.buildfiles import digits, pins, releases

__all__ = ["is_cmake", "may_matter", "read"]

_WORDS = (
    *(b"gencode", b"arch=compute_", b"arch=sm_", b"arch sm_", b'arch="sm_', b"arch='sm_", b"gpu-name", b"in_list"),
    *(b"arch_list", b"archlist", b"archs", b"arches", b"architectures", b"capabilit", b"compute_$", b"compute_cap"),
    *(b"-arch=", b"-arch ", b".cu)", b".cu\n", b".cu ", b"-real", b"-virtual"),
)
_CMAKE = re.compile(r"(?:^|/)CMakeLists\.txt$|\.cmake$")


def may_matter(data: bytes, own: frozenset[str] = frozenset()) -> bool:
    """The prefilter of a build file: literals alone, since most files of these kinds are data without a target."""
    lowered = data.lower()
    own_words = any(one.may_hold(data) for one in (variables, switches, releases, pins, digits))
    return own_words or any(word in lowered for word in _WORDS) or launches.may_hold(lowered)


def is_cmake(path: str) -> bool:
    """Whether a build file is one of CMake's."""
    return _CMAKE.search(path) is not None


def read(path: str, source: str, name: str, is_package: bool, own: frozenset[str] = frozenset()) -> Module:
    """Facts of one build file; never raises."""
    from bwlint.readers.buildfiles import cmake, text  # a run on Python alone needs the folder and not these

    lowered = source.lower().encode("utf-8", "surrogatepass")
    if is_cmake(path):
        carries = cmake.read(source)
    else:
        carries = text.read(path, source) if b"sm_" in lowered or any(word in lowered for word in _WORDS) else ()
    operations = (
        *(launches.operations(source) if not is_cmake(path) and launches.may_hold(lowered) else ()),
        *variables.of_text(source),
        *switches.operations(source),
        *releases.operations(path, source),
        *pins.operations(path, source),
        *digits.operations(source, is_cmake=is_cmake(path)),
    )
    return Module(path=path, name=name, is_package=is_package, language="build", carries=carries, operations=operations)
