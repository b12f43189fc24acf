"""leak: what a function does not do by default, and somebody asks it for, does not work on a chip that it lets in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.behind import MAX_CALLERS, hits, let_to
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, RelatedSpan
from bwlint.model.facts import Hop, Module
from bwlint.rules.leak import predicate
from bwlint.rules.leak.needs import draft, leaks
from bwlint.sources.tree import module_name
from bwlint.world.gates import TEST_FILE, Judged, refuses


def asked_for(context: Context, judged: Judged) -> Iterator[Draft]:
    """A check in front of a function that lets chips in which an option of it does not work for."""
    module, qualname = judged.module, judged.gate.qualname
    here = judged.on(judged.working) & context.targets
    if module.language != "python" or judged.in_test or not here or not refuses(judged.other):
        return
    for option in _options(module, qualname):
        for site, given, asking in _asking(context, module, qualname, option):
            need = context.evidence.at_arguments(module, qualname, given, judged.at)
            wrong = here & asking & need.arriving - need.legal if need is not None else NONE
            if need is not None and wrong:
                if any(predicate.tells(context, judged, one) for one in leaks(context, judged)):
                    return  # nothing of it works there, whatever is asked for
                found = draft(judged, judged.working, need, wrong)
                message = f"where `{option}` is true, {found.message}"
                advice = f"refuse `{option}` on {plain(wrong)}, or give it a path that works there"
                yield replace(found, message=message, advice=advice, related=(site, *found.related))
                return


def _options(module: Module, qualname: str) -> Iterator[str]:
    """The parameters of a function that are false by default."""
    function = module.functions.get(qualname)
    for name, default in zip(function.params, function.defaults, strict=False) if function is not None else ():
        if default is not None and default.op == "const" and default.args[0] is False:
            yield name


def _asking(
    context: Context, module: Module, qualname: str, option: str
) -> Iterator[tuple[RelatedSpan, tuple[str, ...], ChipSet]]:
    """The calls in the project that ask for an option, with all that they write out, and the chips that get there;
    those of tests try everything.
    """
    name = qualname.rpartition(".")[2]
    files = dict.fromkeys(hit.file for hit in hits(context, module, name) if not TEST_FILE.search(hit.file.real))
    for file in islice(files, MAX_CALLERS):
        asking = context.tree.at(file.real, module_name(file.real, file.root))
        for use in context.evidence.calls_in(file, name):
            if f"{option}=True" in use.given:
                hop = Hop(file.real, use.at, "asked for here")
                yield RelatedSpan(hop, hop.at, hop.text), use.given, let_to(context, asking, use.at)
