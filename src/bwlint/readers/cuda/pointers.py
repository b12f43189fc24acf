"""Calls, arguments and the names of pointers in blanked C++ text, as `peers` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from bwlint.chips.peers import libraries, remote_pointers
from bwlint.readers.cuda.lexer import matching

LONGEST_CALL = 4000
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<<<|<[^<>;{}()]*>\s*(?=\(|<<<)|(?=\())")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
CAST = re.compile(
    r"\b(?:reinterpret|static|const)_cast\s*<[^;<>]*(?:<[^<>]*>[^;<>]*)?>|\(\s*(?:const\s+)?[\w:]+(?:\s+\w+)*\s*\*+\s*\)"
)
_OF_A_PEER = frozenset({"peer", "peers", "remote", "symm", "symmetric", "ipc", "p2p"}) | libraries()
_ASKS = re.compile(rf"\b(?:{remote_pointers()})\s*\(")
_CALLED = re.compile(r"\s*[&*(\s]*(?:[\w:]+(?:\.|->|::))*(\w+)\s*(?:<[^<>]*>)?\s*\(")
_NO_POINTER = frozenset(
    [
        *("rank", "ranks", "id", "ids", "idx", "index", "num", "count", "counts", "size", "world", "pe", "offset"),
        *("bytes", "mask", "device", "gpu", "dev", "name", "handle", "handles", "step", "stride", "n", "no", "ok"),
        *("enabled", "my", "self", "own", "local"),
    ]
)


def declared(param: str) -> str:
    """The name that a parameter declares."""
    found = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", param.partition("=")[0]))
    return found[-1] if len(found) > 1 else ""


def calls_in(text: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    for match in _CALL.finditer(text):
        opening = match.end()
        if text.startswith("<<<", opening) or match[0].endswith("<<<"):
            opening = text.find(">>>", opening, opening + 400)
            opening = text.find("(", opening, opening + 8) if opening >= 0 else -1
        if opening < 0 or text[opening : opening + 1] != "(" or match[1] in ("if", "for", "while", "switch", "return"):
            continue
        given = tuple(arguments(text, opening))
        yield match[1], match.start(), given
        # A launcher takes the kernel among its first arguments and hands the rest on to it.
        for position, argument in enumerate(given[:3]):
            kernel = re.fullmatch(r"\s*(?:\(void\s*\*\)\s*)?&?\s*([A-Za-z_]\w*)\s*(?:<.*>)?\s*", argument, re.DOTALL)
            if kernel is not None and "aunch" in match[1].replace("LAUNCH", "Launch"):
                yield kernel[1], match.start(), given[position + 1 :]


def arguments(text: str, opening: int) -> list[str]:
    close = matching(text, opening, LONGEST_CALL)
    return split(text[opening + 1 : close]) if close > 0 else []


def split(text: str) -> list[str]:
    """The parts of a list between its commas, brackets respected."""
    parts: list[str] = []
    depth = angle = last = 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "<" and text[at - 1 : at].isalnum():
            angle += 1
        elif char == ">" and angle and text[at - 1] != "-":
            angle -= 1
        elif char == "," and depth == 0 and angle == 0:
            parts.append(text[last:at])
            last = at + 1
    rest = text[last:]
    return [*parts, rest] if rest.strip() or parts else []


def first_term(address: str) -> str:
    """What stands before the first `+` outside brackets: the pointer, without what is added to it."""
    depth = 0
    for at, char in enumerate(address):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == "+" and depth == 0:
            return address[:at]
        if depth < 0:
            return address[:at]
    inner = address.strip()
    if inner.startswith("(") and matching(inner, 0) == len(inner) - 1:
        return first_term(inner[1:-1])
    return address


@dataclass(frozen=True, slots=True)
class Address:
    """What the text of an address says by itself."""

    piece: str
    """What stands before the first `+`."""
    asks: bool
    """Whether it is asked of a library for the memory of a peer."""
    called: str
    """The function that gives it, where one does."""
    of_a_pair: bool
    names: tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def address_of(text: str) -> Address:
    """A text is read once, however many rounds ask for it."""
    piece = first_term(CAST.sub(" ", text))
    called = _CALLED.match(piece)
    return Address(
        piece,
        _ASKS.search(piece) is not None,
        called[1] if called is not None else "",
        called is not None and called[1].startswith("get") and names_a_pair(piece[called.end() :]),
        tuple(names_of(piece)),
    )


def names_of(piece: str) -> list[str]:
    """The names of an access path, without indices."""
    previous = ""
    while previous != piece:
        previous, piece = piece, re.sub(r"\[[^\[\]]*\]", " ", piece)
    return re.findall(r"[A-Za-z_]\w*", piece)


def base_of(address: str) -> str:
    """The variable that an address begins with."""
    names = names_of(first_term(CAST.sub(" ", address)))
    return names[0] if names else ""


@cache
def is_pointer_name(name: str) -> bool:
    """Whether a name says that something belongs to a peer and is not its number."""
    words = [word.lower() for word in _WORD.findall(name.replace("p2p", "peer").replace("P2P", "peer"))]
    return bool(words) and not _OF_A_PEER.isdisjoint(words) and _NO_POINTER.isdisjoint(words)


def names_a_pair(given: str) -> bool:
    """Arguments that name this rank and another: what they find lies between the two."""
    names = re.findall(r"\w+", given)
    others = [name for name in names if re.search(r"(?i)(?:peer|remote|dst|target)_?rank$|^peer$", name)]
    return bool(others) and any(re.search(r"(?i)rank$", name) for name in names if name not in others)


def trimmed(text: str, begin: int, end: int) -> int:
    return begin + len(text[begin:end].rstrip("( \n"))
