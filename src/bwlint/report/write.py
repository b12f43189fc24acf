"""Where a report goes: stdout, or a file that is whole or untouched."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

_STDOUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})


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
