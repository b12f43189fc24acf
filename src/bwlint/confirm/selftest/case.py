"""A case of the self-test: what bwlint reads, how it is built, and how a GPU is asked; and all of them.

About half fail on the tested chip; no case holds an expected result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Literal

from bwlint.chips import Chip, Target
from bwlint.chips.instructions import first_isa
from bwlint.chips.toolkits import version

INPUTS = Path(__file__).parent / "inputs"

Question = Literal["image", "program", "unnoticed", "bounds", "gate", "observed"]
"""What is asked of the device; `hardware` says what its answers mean."""


@dataclass(frozen=True, slots=True)
class PtxText:
    """PTX as it is, which the driver compiles."""


@dataclass(frozen=True, slots=True)
class AssembledCubin:
    """What ptxas makes of the PTX for its own target; with `label` its header is edited, and names that number."""

    label: str = ""


@dataclass(frozen=True, slots=True)
class Fatbin:
    """A fatbin of the PTX for several targets: `cubins` are assembled, `ptx` is put in as text."""

    cubins: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """An executable that nvcc makes of the input for `pairs` of -gencode ("80,sm_80"). With `others` each source is an
    object with relocatable code, these for pairs of their own. `code` is the source where the input is a build file,
    which has the pairs as FLAGS."""

    pairs: tuple[str, ...] = ("@PLAIN@,sm_@PLAIN@",)
    others: tuple[str, ...] = ()
    other_pairs: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class PickingGate:
    """A Python file whose `pick` hands out `behind`, a PTX statement, where its one test lets the device through."""


Make = PtxText | AssembledCubin | Fatbin | BuiltProgram | PickingGate


@dataclass(frozen=True, slots=True)
class SelftestCase:
    """One case. `rule` is the rule whose claim it tests, `template` a file of `inputs`. The kernel `k` of an image is
    launched with `grid` blocks; `opt_in` allows a cluster of any size.

    `values` fill in its @NAMES@; they may speak of the chip that is asked: PLAIN (90), SPECIFIC (90a), FAMILY (120f),
    MAJOR, MINOR, OPTIN, DEFAULT, PER_SM (bytes of shared memory), PORTABLE, LARGEST (blocks of a cluster), THREADS,
    BLOCKS (of a multiprocessor), each with "+1" or "-1024" behind it; ISA is the first version of PTX that names
    TARGET, and LEAST at least.
    """

    name: str
    rule: str
    question: Question
    template: str
    make: Make
    values: Mapping[str, str] = field(default_factory=dict)
    grid: str = "1"
    opt_in: bool = False


class NotForChip(Exception):
    """A case that a chip cannot have, such as one about a suffix that its targets lack; the message says why."""


_HOLE = re.compile(r"@([A-Z_]+)((?:[+-]\d+)?)@")
_WORD = re.compile(r"([A-Z_]+)((?:[+-]\d+)?)")
_LEAST = (7, 0)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a chip with the values of a case in front."""

    chip: Chip
    values: Mapping[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> str:
        """A text with its holes filled in. Raises NotForChip."""
        return _HOLE.sub(lambda hole: self.value(hole[1] + hole[2]), text)

    def value(self, text: str) -> str:
        """A value of a case: a word, a word and a number, or itself. Raises NotForChip."""
        found = _WORD.fullmatch(text)
        if found is None:
            return self.filled(text)
        word, more = found[1], found[2]
        given = self.values.get(word)
        plain = self.value(given) if given is not None else self._of_chip(word)
        return str(int(plain) + int(more)) if more else plain

    def number(self, text: str) -> int:
        return int(self.value(text))

    def _of_chip(self, word: str) -> str:
        if word in _NUMBERS:
            return str(getattr(self.chip, _NUMBERS[word]))
        if word in _SUFFIXES:
            suffix = _SUFFIXES[word]
            if suffix not in self.chip.suffixes:
                raise NotForChip(f"sm_{self.chip.joined} has no suffix {suffix!r}")
            return f"{self.chip.joined}{suffix}"
        if word == "ISA":  # the lowest that names the target, and knows what the case asks for where that is newer
            least = max(_LEAST, version(self.values.get("LEAST", "7.0")))
            own = first_isa(Target.parse(self.value("TARGET"))) or _LEAST
            return ".".join(map(str, max(own, least)))
        known: int | None = getattr(self.chip, _LIMITS[word])
        if known is None:
            raise NotForChip(f"{_LIMITS[word]} of {self.chip} is not known")
        return str(known)


_NUMBERS = {"PLAIN": "joined", "MAJOR": "major", "MINOR": "minor"}
_SUFFIXES = {"SPECIFIC": "a", "FAMILY": "f"}
_LIMITS = {
    "OPTIN": "smem_per_block_optin",
    "DEFAULT": "smem_per_block_default",
    "PER_SM": "smem_per_sm",
    "PORTABLE": "cluster_portable",
    "LARGEST": "cluster_optin",
    "THREADS": "max_threads_per_sm",
    "BLOCKS": "max_blocks_per_sm",
}


def template(name: str) -> str:
    """The text of an input with its holes, which make Python's no Python yet."""
    return (INPUTS / (f"{name}.in" if name.endswith(".py") else name)).read_text(encoding="utf-8")


def rendered(case: SelftestCase, chip: Chip) -> str:
    """The input of a case for a chip, as bwlint and the compilers read it. Raises NotForChip."""
    words = Words(chip, case.values)
    for value in case.values.values():
        words.value(value)
    return words.filled(template(case.template))


def gencode(pairs: Iterable[str]) -> list[str]:
    """nvcc's options for pairs such as "80,sm_80"."""
    options = []
    for pair in pairs:
        number, code = pair.split(",")
        options += ["-gencode", f"arch=compute_{number},code={code}"]
    return options


_PTX_TARGETS = (
    *("70", "75", "80", "86", "89", "90", "90a", "100", "100f", "100a", "103", "103f", "103a"),
    *("110", "120", "120f", "120a", "121", "121f", "121a"),
)
_CUBIN_TARGETS = (
    *("75", "80", "86", "89", "90", "90a", "100", "100f", "100a", "103", "110"),
    *("120", "120f", "120a", "121", "121f", "121a"),
)
_VERSIONS = ("7.0", "8.3", "8.7", "9.0", "9.1", "9.3", "9.5")
_FATBINS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "80-and-ptx-80": (("80",), ("80",)),
    "80-and-86": (("80", "86"), ()),
    "80-and-90": (("80", "90"), ()),
    "90a-and-100f-and-120f": (("90a", "100f", "120f"), ()),
    "100a-and-120a": (("100a", "120a"), ()),
    "100f-and-ptx-100f": (("100f",), ("100f",)),
    "90-and-120-and-ptx-120": (("90", "120"), ("120",)),
    "75-and-ptx-90a": (("75",), ("90a",)),
    "ptx-75": ((), ("75",)),
    "ptx-121a": ((), ("121a",)),
}
_STATEMENTS: dict[str, tuple[str, str]] = {
    # name: (rule, statement); each is asked for the plain target and for the most specific one.
    "tcgen05-alloc": ("tcgen05", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r0], 32;"),
    "tcgen05-fence": ("tcgen05", "tcgen05.fence::before_thread_sync;"),
    "tcgen05-mma": ("tcgen05", "tcgen05.mma.cta_group::1.kind::f16 [r1], x1, x2, r2, p;"),
    "wgmma-fence": ("wgmma", "wgmma.fence.sync.aligned;"),
    "wgmma-mma": (
        "wgmma",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f10,f11,f12,f13}, x1, x2, p, 1, 1, 0, 0;",
    ),
    "setmaxnreg": ("suffix-lost", "setmaxnreg.dec.sync.aligned.u32 24;"),
    "tensormap-replace": ("suffix-lost", "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [r0], x1;"),
    "mma-bf16": (
        "illegal-instruction",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {f10,f11,f12,f13}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};",
    ),
    "mma-e4m3": (
        "illegal-instruction",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f10,f11,f12,f13}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};",
    ),
    "mma-f8f6f4": (
        "illegal-instruction",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32"
        " {f10,f11,f12,f13}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};",
    ),
    "mma-block-scale": (
        "illegal-instruction",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
        " {f10,f11,f12,f13}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3}, r8, {0,0}, r9, {0,0};",
    ),
    "cvt-e2m1": ("illegal-instruction", "cvt.rn.satfinite.e2m1x2.f32 b0, f0, f1;"),
    "cvt-e4m3": ("illegal-instruction", "cvt.rn.satfinite.e4m3x2.f32 h10, f0, f1;"),
    "redux-f32": ("illegal-instruction", "redux.sync.min.f32 f10, f0, 0xffffffff;"),
    "stmatrix": ("illegal-instruction", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [r0], {r10,r11,r12,r13};"),
    "stmatrix-b8": ("illegal-instruction", "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [r0], {r10};"),
    "ld-256-bits": ("illegal-instruction", "ld.global.v8.b32 {r10,r11,r12,r13,r14,r15,r16,r17}, [x0];"),
    "f32x2": ("illegal-instruction", "add.rn.f32x2 x10, x0, x1;"),
    "clusterlaunchcontrol": (
        "illegal-instruction",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [r0], [r1];",
    ),
    "cta-group-2": (
        "cluster",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2"
        " [r0], [x0, {r2,r3}], [r1];",
    ),
    "tma-load": (
        "tma-slow-path",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r0], [x0, {r2,r3}], [r1];",
    ),
    "tma-multicast": (
        "tma-slow-path",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        " [r0], [x0, {r2,r3}], [r1], h0;",
    ),
    "scatter4": (
        "illegal-instruction",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [x0, {r2,r3,r4,r5,r6}], [r0];",
    ),
    "griddepcontrol": ("illegal-instruction", "griddepcontrol.wait;"),
    "mapa": ("illegal-instruction", "mapa.shared::cluster.u32 r10, r0, r1;"),
    "elect": ("illegal-instruction", "elect.sync r10|q, 0xffffffff;"),
}

_OPTED_IN = {"portable": "PORTABLE", "largest": "LARGEST", "over": "LARGEST+1"}
_OPT_IN = 'report.step("cudaFuncSetAttribute", cudaFuncSetAttribute(fill, cudaFuncAttribute{}, {}));'
_TO_MORE_MEMORY = f"{_OPT_IN.format('MaxDynamicSharedMemorySize', 'kBytes')} cudaGetLastError();"
_TO_ANY_CLUSTER = _OPT_IN.format("NonPortableClusterSizeAllowed", "1")


@cache
def all_cases() -> tuple[SelftestCase, ...]:
    """Every case, for whatever chip it may be asked, in a fixed order."""
    found = tuple(case for group in _GROUPS for case in group())
    assert len({case.name for case in found}) == len(found)
    return found


def _image(rule: str, name: str, template: str, make: Make | None = None, **values: str) -> SelftestCase:
    return SelftestCase(name, rule, "image", template, make or PtxText(), values)


def _program(
    rule: str, name: str, template: str, make: Make | None = None, question: Question = "program", **values: str
) -> SelftestCase:
    return SelftestCase(name, rule, question, template, make or BuiltProgram(), values)


def _images() -> Iterator[SelftestCase]:
    of_target = partial(_image, "arch-target")
    for target in _PTX_TARGETS:
        yield of_target(f"ptx-for-{target}", "plain.ptx", TARGET=target)
    for isa in _VERSIONS:
        yield of_target(f"ptx-version-{isa}", "plain.ptx", TARGET="75", LEAST=isa)
    for target in _CUBIN_TARGETS:
        yield of_target(f"cubin-for-{target}", "plain.ptx", AssembledCubin(), TARGET=target)
    for name, (cubins, ptx) in _FATBINS.items():
        yield of_target(f"fatbin-{name}", "plain.ptx", Fatbin(cubins, ptx), TARGET="75")
    for target in ("80", "100a", "120"):
        make = AssembledCubin(label="@PLAIN@")
        yield _image("relabelled", f"relabelled-from-{target}", "plain.ptx", make, TARGET=target)
    for label in ("75", "100"):
        make = AssembledCubin(label=label)
        yield _image("relabelled", f"relabelled-to-{label}", "plain.ptx", make, TARGET="PLAIN")


def _instructions() -> Iterator[SelftestCase]:
    for name in _STATEMENTS:
        for kind in ("plain", "specific", "family"):
            yield _instruction(f"{name}-{kind}", name, kind.upper())
    for name in ("tcgen05-alloc", "tcgen05-mma"):
        yield _instruction(f"{name}-100a", name, "100a")
    yield _instruction("wgmma-mma-cubin-90a", "wgmma-mma", "90a", AssembledCubin())


def _instruction(name: str, of: str, target: str, make: Make | None = None) -> SelftestCase:
    rule, statement = _STATEMENTS[of]
    return _image(rule, name, "instruction.ptx", make, TARGET=target, STATEMENT=statement, LEAST="8.8")


def _shared() -> Iterator[SelftestCase]:
    for name, size in (
        *(("default", "DEFAULT"), ("default-and-one", "DEFAULT+1"), ("96k", "98304"), ("99k", "101376")),
        *(("99k-and-one", "101377"), ("100k", "102400"), ("160k", "163840"), ("optin", "OPTIN")),
        *(("optin-and-one", "OPTIN+1"), ("multiprocessor", "PER_SM"), ("256k", "262144")),
    ):
        yield _program("smem", f"dynamic-{name}", "dynamic.cu", BYTES=size, OPT_IN=_TO_MORE_MEMORY)
    for name, size in (("half", "24576"), ("whole", "DEFAULT"), ("and-one", "DEFAULT+1"), ("64k", "65536")):
        yield _program("smem", f"no-optin-{name}", "dynamic.cu", BYTES=size, OPT_IN="")
    for name, size in (("optin", "OPTIN-1024"), ("over", "OPTIN-1020"), ("far-over", "OPTIN")):
        yield _program("smem", f"static-and-dynamic-{name}", "both.cu", STATIC="1024", BYTES=size)
    for kind in ("plain", "specific", "family"):
        for words, size in (("48k", "49152"), ("48k-and-one", "49153"), ("56000", "56000"), ("optin", "OPTIN")):
            yield _static(f"static-{words}-{kind}", kind.upper(), size)
        yield _static(f"static-optin-and-one-{kind}", kind.upper(), "OPTIN+1")
    make = BuiltProgram(("@SPECIFIC@,sm_@SPECIFIC@",))
    for words, size in (("48k", "49152"), ("56000", "56000")):
        yield _program("smem", f"static-program-{words}", "static.cu", make, BYTES=size)
    values = {"TARGET": "SPECIFIC", "BYTES": "56000", "LAST": "55999", "LEAST": "8.8"}
    yield _image("smem", "static-cubin-56000", "static.ptx", AssembledCubin(), **values)


def _static(name: str, target: str, size: str) -> SelftestCase:
    return _image("smem", name, "static.ptx", TARGET=target, BYTES=size, LAST="@BYTES-1@", LEAST="8.8")


def _unnoticed() -> Iterator[SelftestCase]:
    for name, size in (("optin", "OPTIN"), ("optin-and-one", "OPTIN+1"), ("256k", "262144"), ("64k", "65536")):
        for kind in ("unchecked", "checked"):
            yield _program("unchecked-launch", f"{kind}-{name}", f"{kind}.cu", question="unnoticed", BYTES=size)


def _clusters() -> Iterator[SelftestCase]:
    for kind, source, sizes in (
        ("cluster", "cluster.cu", ("1", "2", "6", "8", "16", "17")),
        ("cluster-dims", "cluster_fixed.cu", ("2", "8", "16")),
    ):
        for size in sizes:
            yield _program("cluster", f"{kind}-{size}", source, SIZE=size, OPT_IN="")
        for name, size in _OPTED_IN.items():
            yield _program("cluster", f"{kind}-{name}-opted-in", source, SIZE=size, OPT_IN=_TO_ANY_CLUSTER)
    for name, size in {"2": "2", **_OPTED_IN}.items():
        values = {"TARGET": "PLAIN", "SIZE": size, "LEAST": "8.8"}
        made = AssembledCubin()
        yield SelftestCase(f"cluster-cubin-{name}", "cluster", "image", "cluster.ptx", made, values, size, opt_in=True)


def _bounds() -> Iterator[SelftestCase]:
    asked = {"1024": ("1", "2", "3"), "512": ("3", "4", "5"), "32": ("24", "32", "33")}
    for threads, blocks in ((threads, blocks) for threads, several in asked.items() for blocks in several):
        values = {"THREADS_ASKED": threads, "BLOCKS_ASKED": blocks}
        yield SelftestCase(f"bounds-{threads}-{blocks}", "launch-bounds", "bounds", "bounds.cu", BuiltProgram(), values)
        values = {**values, "TARGET": "PLAIN", "LEAST": "8.8"}
        yield SelftestCase(f"bounds-ptx-{threads}-{blocks}", "launch-bounds", "bounds", "bounds.ptx", PtxText(), values)


def _programs() -> Iterator[SelftestCase]:
    """Executables for other targets than the device: what nvcc's pairs make of the same source."""
    for name, pairs in {
        "own": ("@PLAIN@,sm_@PLAIN@",),
        "specific": ("@SPECIFIC@,sm_@SPECIFIC@",),
        "80": ("80,sm_80",),
        "80-and-its-ptx": ("80,sm_80", "80,compute_80"),
        "100a-and-120a": ("100a,sm_100a", "120a,sm_120a"),
        "90a-and-120f": ("90a,sm_90a", "120f,sm_120f"),
        "ptx-100f": ("100f,compute_100f",),
    }.items():
        yield _program("arch-target", f"program-for-{name}", "simple.cu", BuiltProgram(pairs))
    both, own = ("80,sm_80", "80,compute_80"), ("@PLAIN@,sm_@PLAIN@",)
    for name, mine, others in (
        ("all-ptx", both, both),
        ("one-without-ptx", both, ("80,sm_80",)),
        ("none-with-ptx", ("80,sm_80",), ("80,sm_80",)),
        ("own", own, own),
    ):
        make = BuiltProgram(mine, ("linked_one.cu",), others)
        yield _program("arch-target", f"linked-{name}", "linked.cu", make)
    for name, pairs in {
        "up-to-89": ("75,sm_75", "80,sm_80", "86,sm_86", "89,sm_89"),
        "up-to-89-and-ptx": ("80,sm_80", "86,sm_86", "89,sm_89", "89,compute_89"),
        "for-all-and-own": ("80,sm_80", "86,sm_86", "@PLAIN@,sm_@PLAIN@"),
    }.items():
        flags = " ".join(gencode(dict.fromkeys(pairs)))
        make = BuiltProgram(tuple(dict.fromkeys(pairs)), code="simple.cu")
        yield _program("arch-target", f"makefile-{name}", "Makefile", make, FLAGS=flags)
    for number in ("1200", "1210"):
        test = f"__CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == {number}"
        yield _program("family-split", f"guard-of-one-sibling-{number}", "guarded.cu", TEST=test, OF="FAMILY")


def _gates() -> Iterator[SelftestCase]:
    """Tests of the device in Python, in front of a statement for its most specific target."""
    for name, (rule, statement, test) in {
        "leak-of-tcgen05": ("leak", "tcgen05-fence", "major >= 9"),
        "tcgen05-kept-to-10": ("leak", "tcgen05-fence", "major == 10"),
        "leak-of-wgmma": ("leak", "wgmma-fence", "major >= 9"),
        "wgmma-kept-to-9": ("leak", "wgmma-fence", "major == 9"),
        "leak-of-fp4": ("leak", "mma-block-scale", "capability >= (8, 9)"),
        "fp4-kept-to-12": ("leak", "mma-block-scale", "major == 12"),
        "bf16-from-8-on": ("excluded", "mma-bf16", "major >= 8"),
        "bf16-without-9-and-12": ("excluded", "mma-bf16", "major in (8, 10, 11)"),
        "bf16-in-a-closed-range": ("excluded", "mma-bf16", "80 <= major * 10 + minor < 90"),
        "bf16-by-name": ("excluded", "mma-bf16", 'f"sm_{major}{minor}" in ("sm_80", "sm_@PLAIN@")'),
        "bf16-by-number": ("excluded", "mma-bf16", "major * 10 + minor in (80, 90, 100, 120, 121)"),
        "tuple-and-number-ordered": ("capability-type", "mma-bf16", "capability >= 8"),
        "tuple-and-tuple-ordered": ("capability-type", "mma-bf16", "capability >= (8, 0)"),
        "tuple-among-numbers": ("capability-type", "mma-bf16", "capability in [80, 90, 100, 120, 121]"),
        "tuple-among-tuples": ("capability-type", "mma-bf16", "capability in [(8, 0), (@MAJOR@, @MINOR@)]"),
        "tuple-equal-to-a-number": ("capability-type", "mma-bf16", "capability == @PLAIN@"),
        "text-equal-to-a-number": ("capability-type", "mma-bf16", 'f"{major}{minor}" == @PLAIN@'),
        "one-sibling-of-12": ("family-split", "cvt-e2m1", "(major, minor) == (12, 0)"),
        "both-siblings-of-12": ("family-split", "cvt-e2m1", "(major, minor) in ((12, 0), (12, 1))"),
    }.items():
        values = {"STATEMENT": _STATEMENTS[statement][1], "TEST": test, "TARGET": "SPECIFIC", "LEAST": "8.8"}
        yield SelftestCase(f"gate-{name}", rule, "gate", "gate.py", PickingGate(), values)


def _observed() -> Iterator[SelftestCase]:
    """What no rule speaks of, looked at for the receipt alone."""
    for name, more in (("that-fits", ""), ("too-large", "+ 1")):
        yield _program("", f"cooperative-grid-{name}", "cooperative.cu", question="observed", MORE=more)
    for size in ("9", "12", "16", "17"):
        name, more = f"cluster-of-{size}-with-opt-in", _TO_ANY_CLUSTER
        yield _program("", name, "cluster.cu", question="observed", SIZE=size, OPT_IN=more)


_GROUPS = (_images, _instructions, _shared, _unnoticed, _clusters, _bounds, _programs, _gates, _observed)
