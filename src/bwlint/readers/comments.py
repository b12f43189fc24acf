"""Where the comments of a file stand, by its kind: one pass that knows no more than strings and comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

Span = tuple[int, int]
"""Offsets of a comment in the source, its marks included."""


class Unreadable(Exception):
    """From a line on comments cannot be told from strings; `args` are that line, from 1, and why."""


@dataclass(frozen=True, slots=True)
class Comments:
    """How a language writes comments: the mark to write one with, and a scanner that may raise `Unreadable`.

    `beside` says that one may be written behind code: Docker, systemd and env files take it for a value there, and in
    make the blanks before it are part of one. `between`: one may stand between the lines of what goes on.
    """

    mark: str
    find: Callable[[str], Iterator[Span]]
    beside: bool = True
    between: bool = False


def python(source: str) -> Iterator[Span]:
    import io
    import tokenize

    lines = re.split(r"\r\n|\r|\n", source)
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", source))]
    # tokenize ends lines at \n only.
    reader = io.StringIO("\n".join(lines)).readline
    line = 1
    try:
        for token in tokenize.generate_tokens(reader):
            line = token.start[0]
            if token.type == tokenize.COMMENT:
                start = starts[line - 1] + token.start[1]
                yield start, start + len(token.string)
    except (tokenize.TokenError, SyntaxError, SystemError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(line, error.args[0] if error.args else type(error).__name__) from error


def cpp(source: str) -> Iterator[Span]:
    from bwlint.readers.cuda.lexer import clean

    yield from clean(source).comments


def _scanner(pattern: str) -> Callable[[str], Iterator[Span]]:
    """A scanner for a pattern that matches strings and, in the group `comment`, comments."""
    compiled = re.compile(pattern, re.VERBOSE | re.DOTALL | re.MULTILINE)

    def find(source: str) -> Iterator[Span]:
        for match in compiled.finditer(source):
            if match["comment"] is not None:
                yield match.span("comment")

    return find


_cmake = _scanner(
    r"""
    (?P<comment>\#(?:\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z)|[^\r\n]*))
  | \\.
  | "(?:[^"\\]|\\.)*(?:"|\Z)
  | \[(?P<depth>=*)\[.*?(?:\](?P=depth)\]|\Z)
    """
)
_toml = _scanner(
    r"""
    (?P<comment>\#[^\r\n]*)
  | \"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z) | '''.*?(?:'''|\Z)
  | "(?:[^"\\\r\n]|\\.)*"? | '[^'\r\n]*'?
    """
)
_yaml = _scanner(
    r"""
    (?<![^\s;])(?P<comment>\#[^\r\n]*)
  | (?<!\w)"(?:[^"\\\r\n]|\\.)*"? | (?<!\w)'[^'\r\n]*'
    """
)
_make = _scanner(
    r"""
    (?<![^\s;])(?P<comment>\#[^\r\n]*)
  | \\. | (?<!\w)"(?:[^"\\\r\n]|\\.)*"? | (?<!\w)'[^'\r\n]*'
    """
)
_settings = _scanner(r"^[ \t]*(?P<comment>\#[^\r\n]*)")
_shell = _scanner(
    r"""
    (?<![^\s;&|()`])(?P<comment>\#[^\r\n]*)
  | \\. | '[^']*(?:'|\Z) | "(?:[^"\\]|\\.)*(?:"|\Z)
    """
)
_hcl = _scanner(
    r"""
    (?P<comment>\#[^\r\n]*|//[^\r\n]*|/\*.*?(?:\*/|\Z))
  | "(?:[^"\\\r\n]|\\.)*"?
    """
)
_HEREDOC = re.compile(r"(?<!<)<<[-~]?[ \t]*([\"']?)([A-Za-z_]\w*)\1[^\n]*\n")
_MOST_OPEN = 50


def _outside_heredocs(find: Callable[[str], Iterator[Span]]) -> Callable[[str], Iterator[Span]]:
    """A scanner that takes the text of heredocs for blank."""

    def outside(source: str) -> Iterator[Span]:
        yield from find(_without_heredocs(source) if "<<" in source else source)

    return outside


def _without_heredocs(source: str) -> str:
    pieces: list[str] = []
    at, unclosed = 0, 0
    while unclosed < _MOST_OPEN and (opening := _HEREDOC.search(source, at)) is not None:
        closing = re.compile(rf"^[ \t]*{opening[2]}[ \t]*$", re.MULTILINE).search(source, opening.end())
        if closing is None:
            unclosed += 1
            pieces.append(source[at : opening.end()])
            at = opening.end()
            continue
        pieces.append(source[at : opening.end()])
        pieces.append(re.sub(r"[^\n]+", lambda run: " " * len(run[0]), source[opening.end() : closing.end()]))
        at = closing.end()
    return "".join((*pieces, source[at:]))


PYTHON = Comments("#", python)
_CPP = Comments("//", cpp)
_SHELL = Comments("#", _outside_heredocs(_shell))
_DOCKER = replace(_SHELL, beside=False, between=True)
_MAKE = Comments("#", _make, beside=False)
_BY_SUFFIX = {
    ".cmake": Comments("#", _cmake),
    ".mk": _MAKE,
    **dict.fromkeys((".env", ".service"), replace(_SHELL, beside=False)),
    **dict.fromkeys((".dockerfile", ".Dockerfile"), _DOCKER),
    ".yml": Comments("#", _yaml),
    ".yaml": Comments("#", _yaml),
    **dict.fromkeys((".toml", ".bzl", ".bazel", ".build", ".options"), Comments("#", _toml)),
    ".cfg": Comments("#", _settings),
    ".hcl": Comments("//", _outside_heredocs(_hcl)),
    ".json": Comments("", lambda _: iter(())),
}
_BY_STEM = {"CMakeLists": Comments("#", _cmake), "BUILD": Comments("#", _toml)}
_BY_STEM |= dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), _MAKE)
_BY_STEM |= dict.fromkeys(("Dockerfile", "Containerfile"), _DOCKER)


def comments_of(kind: str, name: str) -> Comments:
    """How a file of this kind (see `sources.kinds`) and name, without its folder, writes comments."""
    if kind == "python":
        return PYTHON
    if kind in ("cuda", "ptx"):
        return _CPP
    found = _BY_SUFFIX.get(name[name.rfind(".") :]) if "." in name else None
    return found or _BY_STEM.get(name.partition(".")[0], _SHELL)
