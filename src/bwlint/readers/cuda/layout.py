"""Sizes of types in bytes: fundamental ones, those of the CUDA headers, and simple structs of the file."""

from __future__ import annotations

import re

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
    r"(?:alignas\s*\((?P<align>[^()]*)\)\s*)?(?P<type>[A-Za-z_][\w:\s]*?[\s*&]+)(?P<names>[A-Za-z_]\w*\s*(?:[\[=,][^;]*)?)$"
)
_NO_DATA = re.compile(r"(?:static|using|typedef|friend|static_assert|enum|template)\b|$")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)*)$")
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


def members(text: str, start: int, end: int) -> list[tuple[str, int, list[tuple[int, int]]]] | None:
    """The data of a struct between its braces: type, alignment (0: its own), dimensions by offset. None: not simple."""
    if end - start > _LONGEST_STRUCT or "{" in text[start:end] or "(" in re.sub(r"alignas\s*\(", "", text[start:end]):
        return None
    found: list[tuple[str, int, list[tuple[int, int]]]] = []
    at = start
    for part in text[start:end].split(";"):
        begin, at = at, at + len(part) + 1
        body = part.strip()
        if _NO_DATA.match(body):
            continue
        member = _MEMBER.match(body)
        if member is None or ("," in member["names"] and "[" not in member["names"]):
            return None
        align = member["align"]
        if align is not None and not align.strip().isdigit():
            return None
        name = _NAME.match(member["names"].split("=")[0].strip())
        if name is None:
            return None
        shift = begin + part.index(body) + body.index(member["names"])
        sizes = [(shift + low, shift + high) for low, high in dimensions(member["names"])]
        found.append((member["type"], int(align) if align else 0, sizes))
    return found
