"""Chips and sizes in words, for messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bwlint.chips import ChipSet, group

_FEW = 4
_OF_THE_CHIP = re.compile(r"tensor memory|TMA|stochastic[ -]rounding|tcgen05|wgmma")
_OF_A_LIBRARY = re.compile(r"kernel|backend|attention|\bwhich\b", re.I)
_SAYS_HOW = re.compile(r"refuses|raises|asserts|ends in an error|does not support")
# Names of kernels run to hundreds of letters; --kernels and JSON have them whole.
_LONGEST = 64


def plain(chips: ChipSet) -> str:
    """A set in words for the middle of a sentence: "12.0" and not "12.0 only"."""
    return str(chips).removesuffix(" only")


def only(chips: ChipSet) -> str:
    """As `plain`, of what is meant for nothing else: "12.0 only", "10.x only"."""
    return f"{plain(chips)} only"


def refused_but(legal: ChipSet, every: str = "all") -> str:
    """Whom a refusal refuses that leaves `legal`: "all but 10.x and 11.0", and of few "12.x"."""
    words = plain(legal)
    few = words.removeprefix("every chip but ")
    return few if few != words else f"{every} but {words}"


def called(chips: ChipSet) -> str:
    """As `plain`, and a single chip with its product: "12.1 (GB10)"."""
    first = next(iter(chips), None)
    return f"{first} ({first.products[0]})" if first and len(chips) == 1 and first.products else plain(chips)


def shortened(text: str, most: int = 60) -> str:
    """A text on one line, cut where it is longer."""
    line = " ".join(text.split()).replace("`", "'")
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def them(chips: ChipSet) -> str:
    """The pronoun for chips that a sentence has named: "it" for one, else "them"."""
    return "it" if len(chips) == 1 else "them"


def its(chips: ChipSet) -> str:
    return "its" if len(chips) == 1 else "their"


def have(chips: ChipSet) -> str:
    return "has" if len(chips) == 1 else "have"


def does(what: str) -> str:
    """What code does that is called `what`: "uses tcgen05"; of "code that refuses 12.x" "refuses 12.x"."""
    said = what.removeprefix("code that ")
    return said if said != what else f"uses {what}"


def sentence(name: str, what: str) -> str:
    """What a name leads to: "`f` uses tcgen05"; of "DeepGEMM, which has no kernels" "DeepGEMM has no kernels"."""
    subject, which, said = what.partition(", which ")
    if _says(name, what):
        return f"{capital(what)} is needed"
    return f"{capital(subject)} {said}" if which else f"`{name}` {does(what)}"


def reached(name: str, what: str) -> str:
    """A name with what it leads to: "`f`, which uses tcgen05", "`f`. DeepGEMM has no kernels"."""
    if _says(name, what):
        return what
    return f"`{name}`. {sentence(name, what)}" if ", which " in what else f"`{name}`, which {does(what)}"


def _says(name: str, what: str) -> bool:
    """Whether a name is the thing itself in a text's words: "stochastic rounding"."""
    return " " in name and any(said in what.lower() for said in (name.lower(), name.lower().replace(" ", "-")))


def failing(kind: str, what: str, chips: ChipSet) -> str:
    """What becomes of it on chips, as one more sentence: " 12.x have neither: it does not compile there."; "" where
    `what` says so. `kind` is one of `world.proofs.RANK`.
    """
    of_chip = kind == "library" and _OF_THE_CHIP.search(what) and not _OF_A_LIBRARY.search(what)
    if of_chip or (kind == "operation" and does(what) == f"uses {what}"):
        several = re.search(" and | or ", what) is not None
        lack = f"{have(chips)} neither" if several else f"{'does' if len(chips) == 1 else 'do'} not have it"
        return f" {plain(chips)} {lack}: it does not compile there."
    if kind == "build":
        return f" A launch on {plain(chips)} finds no kernel."
    return f" It fails on {plain(chips)}." if kind == "library" and not _SAYS_HOW.search(what) else ""


def marked(chips: ChipSet) -> str:
    """As `plain`, but GB10 with its product: few know it by its number."""
    return called(chips) if chips <= group("second-consumer") else plain(chips)


def targets(chips: ChipSet) -> str:
    """What compilers call chips: "sm_120 and sm_121"."""
    return " and ".join(f"sm_{chip.joined}" for chip in chips)


def kib(size: int) -> str:
    """Bytes as a person reads them: "192 KiB", and what is no whole number of KiB as "100000 bytes (97.66 KiB)"."""
    return f"{size} bytes ({size / 1024:.4g} KiB)" if size % 1024 else f"{size // 1024} KiB"


def listed(names: Sequence[str]) -> str:
    """ "a, b and 3 more"; long names are cut."""
    shown = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..." for name in names[:_FEW]]
    if len(names) > _FEW:
        shown[-1:] = [f"{len(names) - _FEW + 1} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
