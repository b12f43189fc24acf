"""Sizes of types in bytes: fundamental ones, those of the CUDA headers, and simple structs of the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bwlint.model.expr import Expr, const
from bwlint.readers.cuda.lexer import matching

_SIZES: dict[int, str] = {
    1: """bool char int8_t uint8_t int8 uint8 u8 byte float_e4m3_t float_e5m2_t float_ue8m0_t float_ue4m3_t
          __nv_fp8_e4m3 __nv_fp8_e5m2 __nv_fp8_storage_t Float8_e4m3fn Float8_e5m2 fp8_e4m3_t fp8_e5m2_t""",
    2: """short int16_t uint16_t half half_t __half bfloat16_t nv_bfloat16 __nv_bfloat16 BFloat16 Half bf16_t fp16_t
          __nv_fp8x2_e4m3""",
    4: """int unsigned signed float int32_t uint32_t half2 __half2 nv_bfloat162 __nv_bfloat162 tfloat32_t bf16x2_t
          fp16x2_t char4 uchar4 __nv_fp8x4_e4m3""",
    8: """long double int64_t uint64_t size_t ptrdiff_t uintptr_t float2 int2 uint2 ClusterBarrier
          ClusterTransactionBarrier""",
    16: "float4 int4 uint4 uint128_t double2 longlong2 ulonglong2",
}
_SIZE = {name: size for size, names in _SIZES.items() for name in names.split()}
_QUALIFIERS = frozenset({"const", "volatile", "struct", "typename", "mutable"})
_MEMBER = re.compile(
    r"(?:(?:alignas|__align__|CUTE_ALIGNAS)\s*\((?P<align>[^()]*)\)\s*)?"
    r"(?P<type>[A-Za-z_][\w:\s]*?(?:<[^;{}]*>)?[\s*&]+)(?P<names>[A-Za-z_]\w*\s*(?:\[[^;]*|=.*)?)$"
)
_NESTED = re.compile(r"(?P<kind>struct|union)\s*(?P<name>\w*)\s*(?=\{)")
_NO_DATA = re.compile(r"(?:static|using|typedef|friend|static_assert|enum|template)\b|$")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)*)$")
_STATEMENT_MARK = re.compile(r"[;{]")
_LONGEST_STRUCT = 4000


def size_of(words: str) -> int | None:
    """Bytes of a fundamental type, such as "unsigned int" or "cutlass::half_t"; a pointer has 8."""
    if "*" in words:
        return 8
    parts = [word for word in words.replace("::", " :: ").split() if word not in _QUALIFIERS]
    if "::" in parts:
        parts = parts[len(parts) - parts[::-1].index("::") :]
    if parts in (["unsigned", "char"], ["signed", "char"]):
        return 1
    if parts in (["unsigned", "short"], ["unsigned", "short", "int"], ["short", "int"]):
        return 2
    if parts and parts[0] in ("unsigned", "signed", "long") and len(parts) > 1:
        known = set(parts) <= {"unsigned", "signed", "long", "int"}
        return (8 if "long" in parts else 4) if known else None
    return _SIZE.get(parts[0]) if len(parts) == 1 else None


def rounded(size: Expr, to: int) -> Expr:
    """The next multiple."""
    if to == 1:
        return size
    return Expr("bin", ("*", Expr("bin", ("//", Expr("bin", ("+", size, const(to - 1))), const(to))), const(to)))


def times(left: Expr, right: Expr) -> Expr:
    return Expr("bin", ("*", left, right))


def plus(left: Expr, right: Expr) -> Expr:
    return Expr("bin", ("+", left, right))


def dimensions(text: str) -> list[tuple[int, int]]:
    """The offsets of what stands in each pair of square brackets."""
    found: list[tuple[int, int]] = []
    at = text.find("[")
    while at >= 0:
        close = matching(text, at, 400)
        if close < 0:
            return []
        found.append((at + 1, close))
        at = text.find("[", close)
    return found


def most(left: Expr, right: Expr) -> Expr:
    return Expr("call", (Expr("name", ("max",)), (left, right)))


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Data of a struct: type and place, alignment (0: its own), dimensions by offset; or its parts in place."""

    words: str
    at: int
    align: int
    sizes: list[tuple[int, int]]
    inner: Aggregate | None = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct, or a union, whose members lie over one another."""

    union: bool
    members: list[LaidOut]


def aggregate(text: str, start: int, end: int, *, union: bool) -> Aggregate | None:
    """What is between the braces of a struct or a union; None where that is more than data."""
    if end - start > _LONGEST_STRUCT:
        return None
    found: list[LaidOut] = []
    at = start
    while at < end:
        stop = _statement_end(text, at, end)
        member = _member(text, at, stop)
        if member is None:
            return None
        found += member
        at = stop + 1
    return Aggregate(union, found)


def _statement_end(text: str, at: int, end: int) -> int:
    """The semicolon that ends what begins at an offset, outside of braces."""
    while at < end:
        mark = _STATEMENT_MARK.search(text, at, end)
        if mark is None:
            return end
        if mark[0] == ";":
            return mark.start()
        close = matching(text, mark.start(), _LONGEST_STRUCT)
        if close < 0:
            return end
        at = close + 1
    return end


def _member(text: str, start: int, end: int) -> list[LaidOut] | None:
    """The data of one declaration, none for one without; None where it is not simple."""
    body = text[start:end].strip()
    begin = start + text[start:end].index(body) if body else start
    if _NO_DATA.match(body):
        return []
    nested = _NESTED.match(text, begin, end)
    if nested is not None:
        close = matching(text, nested.end(), _LONGEST_STRUCT)
        inner = aggregate(text, nested.end() + 1, close, union=nested["kind"] == "union") if close >= 0 else None
        name = text[close + 1 : end].strip()
        if inner is None or (name and not name.isidentifier()):
            return None
        return [LaidOut("", begin, 0, [], inner)] if name or not nested["name"] else []
    if "{" in body or "(" in re.sub(r"(?:alignas|__align__|CUTE_ALIGNAS)\s*\(", "", body):
        return None
    member = _MEMBER.match(body)
    if member is None:
        return None
    align = member["align"]
    if align is not None and not align.strip().isdigit():
        return None
    name_of = _NAME.match(member["names"].split("=")[0].strip())
    if name_of is None:
        return None
    shift = begin + member.start("names")
    sizes = [(shift + low, shift + high) for low, high in dimensions(member["names"])]
    return [LaidOut(member["type"].strip(), begin + member.start("type"), int(align) if align else 0, sizes)]
