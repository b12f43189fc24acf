"""Launches that let a kernel begin before the one in front of it has ended (programmatic dependent launch).

Operations of kind dependent-launch come out: `name` is the kernel, "" where the call does not say which, or the library
(chips/macros.toml) whose class launches it. `given` says that a variable switches it on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips.switches import EarlyLaunch, early_launches
from bwlint.model.facts import Operation
from bwlint.readers.cuda.brackets import arguments
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import Scopes

_ATTRIBUTE = re.compile(
    r"(?:cudaLaunchAttribute|CU_LAUNCH_ATTRIBUTE_)(?:ProgrammaticStreamSerialization|PROGRAMMATIC_STREAM_SERIALIZATION)\b"
)
_ALLOWED = re.compile(r"programmaticStreamSerializationAllowed\s*=(?!=)\s*(?P<value>[^;,}]{1,200})")
_LAUNCH = re.compile(r"cu(?:da)?LaunchKernelExC?\s*(?:<[^<>;]*>\s*)?\(")
_KERNEL = re.compile(r"\s*&?\s*(?:\w+\s*::\s*)*(?P<name>[A-Za-z_]\w*)\s*(?:<.*)?\Z", re.DOTALL)
_IN_NAMES = re.compile(r"(?i)pdl|dependent")
_YES = frozenset({"1", "true"})
_NO = frozenset({"0", "false"})


def operations(code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    """The launches of a file; none of one that is switched off where it stands. Never raises."""
    if "rogrammatic" in code.text or "PROGRAMMATIC" in code.text:
        yield from _launched(code, directives, places)
    for member in early_launches():
        if member.library in code.text:
            yield from _by_member(member, code, directives, places)


def _launched(code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    text = code.text
    for match in _ATTRIBUTE.finditer(text):
        scope = places.function(match.start())
        if scope is None or directives.holds(match.start()):
            continue
        allowed = [one["value"].strip() for one in _ALLOWED.finditer(text, scope.open, scope.close)]
        if not allowed or _NO.issuperset(allowed):
            continue
        names = dict.fromkeys(
            _kernel(text, call.end() - 1) for call in _LAUNCH.finditer(text, match.end(), scope.close)
        )
        for name in names or ("",):
            yield Operation(
                "dependent-launch",
                name,
                code.span(*match.span()),
                path=directives.path(match.start()),
                qualname=places.qualname(match.start()),
                given=not _YES.issuperset(allowed),
            )


def _kernel(text: str, opening: int) -> str:
    parts = arguments(text, opening) or []
    found = _KERNEL.match(text[slice(*parts[1])]) if len(parts) > 1 else None
    return found["name"] if found else ""


def _by_member(member: EarlyLaunch, code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    text = code.text
    for match in re.finditer(rf"(?:\.|->)\s*{member.member}\s*\(", text):
        parts = [text[start:end].strip() for start, end in arguments(text, match.end() - 1) or ()]
        if len(parts) not in member.arguments or parts[-1] in _NO or places.function(match.start()) is None:
            continue
        if (parts[-1] in _YES and parts[-2] == "nullptr") or _IN_NAMES.search(parts[-1]):
            yield Operation(
                "dependent-launch",
                member.library,
                code.span(match.start(), match.end() - 1),
                path=directives.path(match.start()),
                qualname=places.qualname(match.start()),
                given=parts[-1] not in _YES,
            )
