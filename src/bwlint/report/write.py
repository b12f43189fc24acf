"""Where a report goes: stdout, or a file that is whole or untouched; and JSON that every parser takes and no terminal
obeys. The JSON report is an API, described by `findings.schema.json`; version 1 gains keys but loses none.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from bwlint.model.findings import Finding, Report
from bwlint.report import Setting

_STDOUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_ESCAPE = re.compile(r"\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(ud[89a-f][0-9a-f]{2})|.)")


def is_stdout(output: str | None) -> bool:
    """Whether what goes to a file of that name goes to stdout, as without any."""
    return output is None or output in _STDOUT


def write_report(text: str | bytes | Iterable[str], output: Path | None) -> None:
    """Write `text`, or pieces of one, to `output` as UTF-8, or to stdout where that is None; raises OSError.

    Bytes, such as a diff of files in many encodings, are written as they are.

    A regular file is replaced in one step, through a symlink at its target, with the permissions it had.
    What cannot be replaced (a pipe, a terminal, a descriptor) is appended to.
    """
    pieces = (text,) if isinstance(text, str | bytes) else text
    if output is None or is_stdout(str(output)):
        return _print(pieces)
    data = (_encoded(piece, "utf-8") for piece in pieces)
    target = output.resolve()
    if _is_special(output) or _is_special(target):
        with output.open("ab") as stream:
            stream.writelines(data)
        return
    _replace(target, data)


def check_writable(output: Path) -> None:
    """Raises OSError where no report could be written to `output`."""
    target = output.resolve()
    if str(output) in _STDOUT or _is_special(output) or _is_special(target):
        return  # a pipe without a reader would make us wait
    temporary = _beside(target)
    temporary.open("xb").close()
    temporary.unlink()


def _print(pieces: Iterable[str | bytes]) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for piece in pieces:
        if isinstance(piece, bytes) and hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(piece)
        else:
            sys.stdout.write(_encoded(piece, encoding).decode(encoding, "backslashreplace"))
    sys.stdout.flush()


def _encoded(piece: str | bytes, encoding: str) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode(encoding, "backslashreplace")


def _is_special(path: Path) -> bool:
    # A descriptor under /dev or /proc may lead to a regular file that its owner is still writing to.
    if path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",)):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(target: Path, data: Iterable[bytes]) -> None:
    temporary = _beside(target)
    try:
        # Created with the mode that the umask leaves, which tempfile would not do.
        with temporary.open("xb") as stream:
            stream.writelines(data)
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _beside(target: Path) -> Path:
    return target.with_name(f".bwlint-{os.urandom(8).hex()}.tmp")


def dumps(value: Any, *, sort_keys: bool = True) -> str:
    """`value` as indented ASCII JSON with a final newline, its keys sorted or in their own order.

    A lone surrogate (an undecodable byte of a file name) is no Unicode and makes strict parsers refuse the
    whole report: it is written as the six characters ``\\udc80``.
    """
    return _harmless(json.dumps(value, indent=2, sort_keys=sort_keys, allow_nan=False)) + "\n"


def in_a_line(value: Any) -> str:
    """The same in one line, which is ten times as fast: for lists of thousands."""
    return _harmless(json.dumps(value, sort_keys=True, allow_nan=False))


def written(version: str, *, sort_keys: bool = True, **parts: Any) -> str:
    """A document of bwlint in its first form, with these parts; `version` is bwlint's own."""
    return dumps({"version": 1, "tool": {"name": "bwlint", "version": version}, **parts}, sort_keys=sort_keys)


def plain(value: Any) -> Any:
    """A value as JSON has it: of a dataclass all fields, paths as texts, tuples as lists."""
    if is_dataclass(value):
        return picked(value, *(field.name for field in fields(value)))
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def picked(value: object, *names: str) -> dict[str, Any]:
    """Some attributes as JSON has them. A region is written as its four numbers, in its place."""
    found = {name: plain(getattr(value, name)) for name in names}
    place: dict[str, Any] = found.pop("region", {})
    return found | place


def _harmless(text: str) -> str:
    if "\\ud" in text:
        text = _ESCAPE.sub(lambda match: "\\\\" + match[1] if match[1] else match.group(), text)
    return text.replace("\x7f", "\\u007f")


def findings(report: Report, setting: Setting) -> str:
    return dumps(document(report, setting))


def document(report: Report, setting: Setting) -> dict[str, Any]:
    """`report` as plain values; an inspection adds its own to them."""
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": setting.version},
        "targets": list(report.targets),
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [{"finding": _finding(entry.finding), "reason": entry.reason} for entry in report.suppressed],
        "skipped": plain(report.skipped),
        "stats": dict(report.stats),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = plain(finding)
    for name in ("content", "ways", "bundled", "within"):  # they serve to tell what has moved, to ask, sort and name
        del told[name]
    for name in ("verdict", "trace"):
        if told[name] is None:
            del told[name]
    for related in told["related"]:
        if not related["rule"]:
            del related["rule"]
    return told
