"""test-gate: a test runs on a chip that it must fail on, or is skipped on one that it would pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from bwlint.chips import EVERY, ChipSet, frameworks, group, spelling, words
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, marked, plain, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.family_evidence import against
from bwlint.judging.siblings import Admission, admission_of, admits, calls
from bwlint.model.expr import walk
from bwlint.model.facts import Hop, Prose, Use
from bwlint.model.findings import NoFix, Severity
from bwlint.model.naming import spoken
from bwlint.model.rule import RuleTraits
from bwlint.rules.excluded import gate as excluded
from bwlint.rules.family_split import gate as family_split
from bwlint.rules.family_split import reasons
from bwlint.rules.leak import needs as leak
from bwlint.rules.leak import own_words, predicate
from bwlint.rules.message import EXCEPTION
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF, Need, called_after
from bwlint.world.prepared import Prepared, tests

RULE = RuleTraits("test-gate", explains=8)
_NEVER_RUN = "the test has not run there yet"
_MADE_FOR = re.compile(rf"\b{words.said('made-for')}\b", re.I)
_BY_NUMBER = re.compile(r"capabilit", re.I)
_NUMBERED = re.compile(rf"{spelling.IN_WORDS}[0-9]")
_OLD_NAMES = group("renamed")
_FAMILY, _SECOND = group("consumer-blackwell"), group("second-consumer")
_REFUSED = re.compile(words.said("refusal"), re.I)
_ASKED = re.compile(words.said("demand"), re.I)
_TAKES_BACK = re.compile(rf"\bnot?\b|\bonly\b|{words.said('refusal')}", re.I)
_MEANT_FOR_SOME = NoFix("the skip's reason names other chips only: decide whether the test is for these too")
_ODD_ONES = 2
"""A refusal of no more chips than these names the ones its author did not try, and not its users."""


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if not judged.in_test or judged.other.ends != "skip":
        return
    if judged.gate.kind == "helper-call" and not _is_a_skip(context, judged):
        return
    behind = [one for one in leak.leaks(context, judged) if not _only_imported(one[1])]
    found = [one for one in predicate.untold(context, judged) if not _only_imported(one[1])] if behind else []
    if behind and not found:
        return
    if found:
        side, need, wrong = found[0]
        one = leak.draft(judged, side, need, wrong)
        if _only_probed(judged, need):
            one = replace(one, severity="note", confidence="low")
        if one.cause is None:
            one = replace(one, cause=(judged.module.path, need.what))  # the tests of a file are bounded together
        related = (*one.related, *predicate.comparisons(context, judged))
        yield leak.with_remedy(context, judged, side, need, wrong, replace(one, related=related))
        return
    prepared = leak_of_tests(context, judged)
    if prepared is not None:
        need, wrong = prepared
        one = leak.draft(judged, judged.working, need, wrong)
        yield leak.with_remedy(context, judged, judged.working, need, wrong, replace(one, severity="warning"))
        return
    asked = (own_words.instruction_tested, own_words.contradicted, own_words.open_bound)
    said = next(filter(None, (list(one(context, judged)) for one in asked)), [])
    yield from said
    yield from _split(context, judged)
    yield from _excluded(context, judged)


def _is_a_skip(context: Context, judged: Judged) -> bool:
    """Whether a call that may skip is made for that; what is tested may skip, too, and a test that a script runs."""
    is_test = judged.gate.name.rpartition(".")[2].startswith("test")
    return not is_test and context.tree.skips(judged.module, judged.gate.test)


def _only_imported(need: Need) -> bool:
    """Whether a test imports something of the tree: nothing of it runs before it is called."""
    return need.use.how == "import" and need.kind != "library"


def _only_probed(judged: Judged, need: Need) -> bool:
    """Whether a function imports a library to see that it is there, and uses nothing of it behind the gate."""
    name, whole_file = need.use.name.rpartition(".")[2], judged.gate.qualname == "<module>"
    return (
        need.use.how == "import"
        and not whole_file
        and not any(use.how != "import" and name in use.name.split(".") for use in judged.working.uses)
    )


def _split(context: Context, judged: Judged) -> Iterator[Draft]:
    parts, live = family_split.split(context, judged), context.targets & judged.sets.live
    missing = live - judged.may
    if parts is None and (not missing or missing == live):
        return  # nor does a helper part them
    api = admits(context, judged, missing) or admits_before_tests(context, judged, missing)
    if api is not None:
        told = "note" if reasons.untried(judged) else _by_build(context, judged, missing, api)
        found = replace(_against(judged, missing, api), severity=told)
    elif (text := _naming(judged, missing)) is not None:
        found = _said_otherwise(judged, missing, text, "warning")
    elif parts is not None:
        runs_into_it = bool(missing) and not missing & _SECOND  # 12.0 is skipped, and its twin is not
        sure = not judged.sets.guessed and not family_split.meant(judged)
        unmeant = runs_into_it or family_split.spans_generations(judged)
        severity: Severity = "warning" if unmeant and sure else "note"
        found = replace(family_split.draft(context, judged, *parts), severity=severity)
    else:
        reason = f", but runs on {marked(live - missing)}. Both run the same instructions"
        found = _skipped(judged, missing, severity="note", reason=reason, related=None)
    evidence = "" if api is None else f"`{api.name}`, which the test calls, is for {api.chips}"
    remedy = Remedy(
        "test",
        _letting_in(judged, missing),
        evidence=evidence or f"{plain(missing)} is only skipped",
        unsafe=_doubt(context, judged, missing, api),
    )
    yield replace(found, remedy=remedy)


def _naming(judged: Judged, missing: ChipSet) -> Prose | None:
    """The reason of a skip, where it names the whole family of chips that are skipped: "SM12x", and not "SM120"."""
    for text in judged.other.texts:
        said = mentioned(text.text)
        if missing and missing <= said.named and not said.exact & _FAMILY and not _REFUSED.search(text.text):
            return text
    return None


def _said_otherwise(judged: Judged, out: ChipSet, text: Prose, severity: Severity) -> Draft:
    reason = f", but its own reason names {them(out)} too"
    related = RelatedSpan(judged.module, text.at, "the reason")
    return _skipped(judged, out, severity=severity, reason=reason, related=related)


def _letting_in(judged: Judged, chips: ChipSet) -> ChipSet:
    """The set of a test that runs on `chips` too."""
    return judged.core - chips if judged.denies else judged.core | chips


def _doubt(context: Context, judged: Judged, missing: ChipSet, api: Admission | None) -> str | None:
    """Why a test may be meant for the one part; None where nothing says so."""
    held = context.targets & judged.may
    asked = [judged, *_askers(context, judged)]
    said = next(filter(None, (against(context, one, held, missing) for one in asked)), None)
    if said is not None:
        return said
    if api is not None:
        return None
    if context.builds_exact(judged):
        return "the file builds for one part alone"
    texts = [text.text for one in asked for side in (one.gate.yes, one.gate.no) for text in side.texts]
    if any(mentioned(text).exact & held - _FAMILY for text in texts):
        return "the reason gives the number of the one part"  # SM120 is what authors call the family
    meant = any(family_split.meant(one) for one in asked) or any(_MADE_FOR.search(text) for text in texts)
    return "the exact part may be meant" if meant or held & _SECOND else None


def _askers(context: Context, judged: Judged) -> Iterator[Judged]:
    """The calls of a helper in a file, of which `judged` is one, or its test."""
    helper = judged.gate.name if judged.gate.kind == "helper-call" else judged.gate.qualname
    for other in context.beside(judged.module):
        if other is not judged and other.gate.kind == "helper-call" and other.gate.name == helper:
            yield other


def _against(judged: Judged, out: ChipSet, api: Admission) -> Draft:
    """The test is skipped where what it calls says that it works."""
    related = RelatedSpan(api.at, api.at.at, api.at.text)
    reason = f", but `{api.name}` accepts {plain(api.chips)}"
    found = _skipped(judged, out & api.chips, severity="warning", reason=reason, related=related)
    works = claims.need(api.name, out & api.chips, api.chips, f"`{api.name}` works on {plain(out & api.chips)} too")
    evidence = f"`{api.name}`, which the test calls, is for {api.chips}"
    remedy = Remedy("test", _letting_in(judged, out & api.chips), evidence=evidence, unsafe=_NEVER_RUN)
    return replace(found, remedy=remedy, claims=(Claimed(works, api.at.at, api.at),))


def _excluded(context: Context, judged: Judged) -> Iterator[Draft]:
    out = context.targets & judged.sets.live - judged.may
    if out != context.targets & judged.sets.live or not out:
        return
    if any(EXCEPTION.search(text.text) and out & mentioned(text.text).named for text in judged.other.texts[:1]):
        return  # who is kept out is named
    api = admits(context, judged, out) or admits_before_tests(context, judged, out)
    if api is not None:
        if out <= api.chips and len(EVERY - api.chips) > _ODD_ONES:
            found = replace(_against(judged, out, api), severity=_by_build(context, judged, out, api))
            others = ChipSet.union(mentioned(text.text).named for text in judged.other.texts)
            yield replace(found, remedy=_MEANT_FOR_SOME) if others and not others & out else found
        return
    need = context.need_of(judged, judged.working) or _named(context, judged)
    if need is not None and out - need.legal:
        return
    for text in judged.other.texts[:1]:
        said = mentioned(text.text)
        if EXCEPTION.search(text.text):
            return
        asks = not said.open_ended and _ASKED.search(text.text) and not _TAKES_BACK.search(text.text)
        if judged.admitted & said.named and (out & said.named if asks else said.open_ended and out <= said.named):
            found = _said_otherwise(judged, out, text, "warning" if asks else "note")
            yield replace(found, remedy=_as_said(context, judged, text.text, f"the reason it gives names {said.named}"))
            return
    kept_out = excluded.excluded(context, judged)
    if kept_out is not None:
        yield excluded.draft(judged, replace(kept_out, severity="note"))


def _by_build(context: Context, judged: Judged, out: ChipSet, api: Admission) -> Severity:
    """A module is built for what some of its arguments run on; a list on the function speaks for the call, and so does
    the reason of the skip, unless the function refuses some calls on these chips.
    """
    if api.kind != "build":
        return "warning"
    promised = any((said := mentioned(text.text)).open_ended and out <= said.named for text in judged.other.texts)
    return "warning" if promised and not _refuses_some(context, judged, out) else "note"


def _refuses_some(context: Context, judged: Judged, out: ChipSet) -> bool:
    """Whether something that the test calls ends in an error on some of these chips, if only for some arguments."""
    return any(
        refuses(side) and other.on(side) & out and other.on(side) != other.sets.live
        for use in calls(context, judged, judged.working)
        for other in context.evidence.own_gates(judged.module, use)
        for side in (other.gate.yes, other.gate.no)
    )


def _as_said(context: Context, judged: Judged, text: str, reason: str) -> Remedy | NoFix:
    """The test that a reason with an open end describes; "SM100+" is said of kernels for 10.x alone, too."""
    if not _BY_NUMBER.search(text) or _NUMBERED.search(text) or EXCEPTION.search(text) or context.near_tcgen05(judged):
        return NoFix("nothing here says which is wrong, the reason or the test")
    chips = mentioned(text).named & judged.sets.live - _OLD_NAMES
    return Remedy("test", _letting_in(judged, chips), evidence=reason, unsafe=_NEVER_RUN)


def _named(context: Context, judged: Judged) -> Need | None:
    """What the names of the test and of its file say is behind the gate."""
    path = judged.module.path
    return context.evidence.libraries.by_name(path, (judged.gate.qualname, path), judged.at)


def _skipped(judged: Judged, out: ChipSet, *, severity: Severity, reason: str, related: RelatedSpan | None) -> Draft:
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity=severity,
        confidence="medium" if severity == "warning" else "low",
        message=f"This test is skipped on {called(out)}{reason}.",
        label=f"runs on {judged.admitted}",
        advice=f"Run it on {called(out)} too.",
        related=(related,) if related else (),
    )


def leak_of_tests(context: Context, judged: Judged) -> tuple[Need, ChipSet] | None:
    """A need of a test that is let run on targets which lack it, with these; what is proved comes first."""
    found = [one for one in _needs(context, judged) if one[1] and judged.admitted & one[0].legal]
    kept = judged.sets.live - judged.admitted
    found = [one for one in found if not kept <= one[0].legal]
    return next((one for one in found if one[0].strength == PROOF), None) or next(iter(found), None)


def admits_before_tests(context: Context, judged: Judged, chips: ChipSet) -> Admission | None:
    """A gate of what the tests behind a fixture call which admits some of `chips`, where none of them refuses those."""
    first: Admission | None = None
    for test in _tests(context, judged):
        found = admission_of(test.node.definition.qualname, context.evidence.of_node(test.node))
        if found is None or not chips & test.chips:
            continue
        if not found.chips & chips:
            return None
        first = first or found
    return first


def _needs(context: Context, judged: Judged) -> Iterator[tuple[Need, ChipSet]]:
    if not judged.admitted & context.targets:
        return
    for test in _tests(context, judged):
        use = Use(test.node.definition.qualname, "call", judged.at)
        for need in (context.evidence.of_test(test.node, use), _named_instruction(test)):
            if need is not None:
                coming = judged.admitted & context.targets & test.chips & need.arriving
                yield replace(need, use=use), coming - need.legal


def _tests(context: Context, judged: Judged) -> Iterator[Prepared]:
    """The tests before which the function around a gate runs."""
    owner, _, method = judged.gate.qualname.rpartition(".")
    if judged.module.language == "python":
        for test in context.preparations.prepared(judged.module, judged.gate.qualname):
            if not _asked_marks(judged) or _asks_for(judged, test):
                beside = (one for one in context.within(judged) if one is not judged and _asks_for(one, test))
                chips = (one.admitted for one in beside if one.other.ends == "skip")
                yield replace(test, chips=reduce(ChipSet.__and__, chips, test.chips))
    elif method in frameworks.names("sets_up"):
        yield from tests(context.native, owner.rpartition(".")[2], judged.module.path)


def _asked_marks(judged: Judged) -> set[str]:
    """The marks for which a gate asks beside the device: others than their bearers have no part in it."""
    asked: set[str] = set()
    around = (test for test in judged.gate.path if test.op != "not")
    for one in (node for test in (judged.gate.test, *around) for node in walk(test)):
        by_call = one.op == "call" and one.args[0].args[-1:] in (("get_closest_marker",), ("iter_markers",))
        by_word = one.op == "cmp" and one.args[0] == "in" and one.args[1][1].args[-1:] == ("keywords",)
        first = [name.args[-1] if name.op == "kw" else name for name in (one.args[1][:1] if by_call or by_word else ())]
        asked.update(str(name.args[0]) for name in first if name.op == "const")
    return asked


def _asks_for(judged: Judged, test: Prepared) -> bool:
    """Whether a gate asks for a mark that a test bears."""
    return not _asked_marks(judged).isdisjoint(use.name.rpartition(".")[2] for use in test.node.definition.marks)


def _named_instruction(test: Prepared) -> Need | None:
    """The instruction after which a test, its class, or something that it surely uses is called."""
    definition, path = test.node.definition, test.node.outline.path
    for name, at in (
        (definition.qualname, definition.at),
        *((use.name, use.at) for use in definition.uses if use.sure),
    ):
        found = called_after(" ".join(map(spoken, name.split("."))), at)
        if found is not None:
            hop = Hop(path, at, f"`{name.rpartition('.')[2]}` in the test `{definition.qualname}`")
            return replace(found, strength="name", hops=(hop,))
    return None
