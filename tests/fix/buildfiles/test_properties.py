"""Whatever a list looks like: mending twice is mending once, and nothing but the new targets is new in the text."""

from __future__ import annotations

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bwlint.chips import ChipSet, Target
from bwlint.evaluate.sources import Sources
from bwlint.fix import Job, propose
from bwlint.fix.buildfiles.proof import reached, stated
from bwlint.fix.edited import apply
from bwlint.judging.drafts import Remedy
from bwlint.model.findings import Fix
from bwlint.readers.buildfiles import read
from bwlint.readers.unparsed import fault
from bwlint.run.engine import analyse
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

BOTH = ChipSet.of("12.0", "12.1")
NAMES = ("75", "80", "90", "90a", "100", "100a", "100f", "103a", "110f", "120", "120a", "120f", "121", "121a", "121f")
TOKEN = re.compile(r"(?<![\w.])(?:1[02][0-9][af]?|1[02]\.[0-9][af]?)(?:-real|\+PTX)?(?![\w.])")

CMAKE, SHELL = "/kit/CMakeLists.txt", "/kit/build.sh"


def fixes(path: str, text: str) -> list[Fix]:
    """The fixes of every finding of a build file, in order."""
    module = read(path, text, "", False)
    file = SourceFile(path, path, "build", "/kit")
    analysis = analyse(Collected(((file, module),), (), ()), Sources({}), BOTH, ["arch-target"])
    found = []
    for _, drafts in analysis.drafts:
        for draft in drafts:
            if isinstance(draft.remedy, Remedy):
                fix = propose(Job(analysis.context, draft, draft.remedy, None, "/kit", text))
                found += [fix] if isinstance(fix, Fix) else []
    return found


def mended(path: str, text: str) -> str:
    """The text when nothing is left to mend."""
    for _ in range(6):
        found = fixes(path, text)
        if not found:
            return text
        text = apply(text, found[0].edits)
    raise AssertionError(f"no end: {text}")


@st.composite
def lists(draw: st.DrawFn) -> tuple[str, str]:
    """A file with a list, and what is between its words."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True))
    dotted = draw(st.booleans())
    digits = [name.rstrip("af") for name in names]
    words = [f"{n[:-1]}.{n[-1]}{name[len(n) :]}" for n, name in zip(digits, names, strict=True)] if dotted else names
    shape = draw(st.sampled_from(("filter", "set", "kernel", "shell", "torch", "quoted", "lines")))
    gap = draw(st.sampled_from((";", " "))) if shape in ("shell", "torch", "quoted") else " "
    text = gap.join(words)
    head = draw(st.sampled_from(("", "# a comment, ünïcode\n", "\r\n")))
    if shape == "filter":
        return CMAKE, f"{head}set(KIT_SUPPORTED_ARCHS {text})\nset(OTHER 120a)\n"
    if shape == "set":
        return CMAKE, f"{head}set(KIT_ARCHS {text})\nset(OTHER 120a)\n"
    if shape == "kernel":
        return CMAKE, f'{head}kit_arch_filter(KIT_ARCHS "{";".join(words)}" "${{CUDA_ARCHS}}")\n'
    if shape == "quoted":
        return CMAKE, f'{head}set(KIT_ARCHS "{text}")\n'
    if shape == "lines":
        joined = "\n    ".join(words)
        return CMAKE, f"{head}set(KIT_ARCHS\n    {joined}\n)\n"
    name = "TORCH_CUDA_ARCH_LIST" if shape == "torch" else "KIT_CUDA_ARCH_LIST"
    return SHELL, f'{head}export {name}="{text}" # as asked\n'


@settings(max_examples=60, deadline=None)
@given(lists())
def test_twice_is_once(case: tuple[str, str]) -> None:
    path, text = case
    once = mended(path, text)
    assert mended(path, once) == once


@settings(max_examples=60, deadline=None)
@given(lists())
def test_nothing_else_changes(case: tuple[str, str]) -> None:
    path, text = case
    found = fixes(path, text)
    assume(found)
    fix = found[0]
    after = apply(text, fix.edits)
    before_words, after_words = TOKEN.findall(text), TOKEN.findall(after)
    if fix.kind == "family":
        assert re.sub(r"[\s;]+", "", TOKEN.sub("", after)) == re.sub(r"[\s;]+", "", TOKEN.sub("", text))
        inserted = all((e.region.line, e.region.column) == (e.region.end_line, e.region.end_column) for e in fix.edits)
        left = iter(after_words)
        assert not inserted or all(word in left for word in before_words)
        assert inserted or len(after_words) == len(before_words)
    family = ChipSet.of("12.0", "12.1")
    for old, new in zip(stated(read(path, text, "", False)), stated(read(path, after, "", False)), strict=True):
        assert reached(old) - family == reached(new) - family
        assert reached(old) <= reached(new)
        others = [name for name in new.sass if Target.parse(name).chip not in family]
        assert others == [name for name in old.sass if Target.parse(name).chip not in family]
        assert len(set(new.sass)) == len(new.sass)


@settings(max_examples=60, deadline=None)
@given(lists())
def test_a_proof_says_what_is_there(case: tuple[str, str]) -> None:
    path, text = case
    for fix in fixes(path, text):
        after = read(path, apply(text, fix.edits), "", False)
        assert fix.proof.after_must in [reached(carry).names for carry in stated(after)]
        assert set(fix.proof.before_must) <= set(fix.proof.after_must)


PATTERNS = st.lists(
    st.sampled_from(("100a", "120a", "120f", "120", "12.0a", r"12\\.0a", "^120a$", "12[01]a", "sm_120a", "90a|100a")),
    min_size=1,
    max_size=4,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(PATTERNS, st.booleans(), st.sampled_from(("/kit/test/CMakeLists.txt", CMAKE)))
def test_conditions(patterns: list[str], grouped: bool, path: str) -> None:
    pattern = f"({'|'.join(patterns)})" if grouped else "|".join(patterns)
    text = f'if(KIT_ARCHS MATCHES "{pattern}")\n  kit_add(k.cu)\nendif()\n'
    once = mended(path, text)
    assert mended(path, once) == once
    if once != text:
        at = next(n for n, (a, b) in enumerate(zip(text, once, strict=False)) if a != b)
        added = len(once) - len(text)
        assert text == once[:at] + once[at + added :]
        (old,), (new,) = stated(read(path, text, "", False)), stated(read(path, once, "", False))
        assert set(old.sass) < set(new.sass)
        assert ChipSet.joining(Target.parse(name).chip for name in set(new.sass) - set(old.sass)) <= BOTH


PATHS = (CMAKE, SHELL, "/kit/Dockerfile", "/kit/k.json", "/kit/k.yml", "/kit/test/CMakeLists.txt")
FRAGMENTS = st.lists(
    st.sampled_from(
        (
            *("set(KIT_SUPPORTED_ARCHS ", "set(KIT_ARCHS ", 'if(KIT_ARCHS MATCHES "', "if(KIT_ARCHS MATCHES ", ")\n"),
            *('"', ";", " ", "\n", "\r\n", "\t", "# 120a\n", "[[", "]]", "\\", "${X}", "|", "(", ")", "ü", "\ufeff"),
            *("120a", "12.0a", "120f", "121a", "120", "90a", "120a-real", "12.0a+PTX", "sm_120a", "endif()\n", "AND "),
            *("-gencode arch=compute_120a,code=sm_120a", "-gencode=arch=compute_121a,code=[sm_121a,compute_121a]"),
            *("env:\n", "  TORCH_CUDA_ARCH_LIST: ", "- name: KIT_ARCH_LIST\n", "  value: ", ">\n", "- "),
            *("{", "}", "[", "]", ", ", "'"),
            *('TORCH_CUDA_ARCH_LIST="', "KIT_ARCH_LIST=", "list(APPEND KIT_ARCHS ", '"120a" IN_LIST KIT_ARCHS'),
        )
    ),
    max_size=25,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(FRAGMENTS, st.sampled_from(PATHS))
def test_whatever_stands_there(text: str, path: str) -> None:
    for fix in fixes(path, text):
        after = apply(text, fix.edits)
        assert after != text
        assert fault(path, text) or not fault(path, after)
        old, new = (stated(read(path, each, "", False)) for each in (text, after))
        assert len(new) - len(old) in (0, 1)
        assert fix.proof.after_must in [reached(carry).names for carry in new] or len(new) > len(old)
