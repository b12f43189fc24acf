"""test-gate: a test runs on a chip that it must fail on, or is skipped on one that it would pass on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import ChipSet
from bwlint.judge import Context, Draft, Related
from bwlint.judged import Judged
from bwlint.libraries import Need
from bwlint.mentions import mentioned
from bwlint.rules import excluded, family_split, leak
from bwlint.siblings import Admission, admits
from bwlint.wording import plain

NAME = "test-gate"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if not judged.in_test or judged.other.ends != "skip":
        return
    if judged.gate.kind == "helper-call" and not context.tree.skips(judged.module, judged.gate.test):
        return  # what is called there is what the test is about
    found = list(leak.leaks(context, judged))
    if found:
        yield leak.draft(NAME, judged, *found[0])
        return
    yield from leak.open_bound(context, judged, NAME)
    yield from _split(context, judged)
    yield from _excluded(context, judged)


def _split(context: Context, judged: Judged) -> Iterator[Draft]:
    parts = family_split.split(context, judged)
    if parts is None and not _helper_splits(context, judged):
        yield from (
            replace(found, rule=NAME, category=NAME) for found in family_split.other_family(context, judged, NAME)
        )
        return
    missing = context.targets & judged.sets.live - judged.may
    api = admits(context, judged, missing)
    if api is not None:
        yield _against(judged, missing, api)
    elif parts is not None:
        yield replace(family_split.draft(context, NAME, judged, *parts), severity="note", category=NAME)
    else:
        yield _skipped(judged, missing, "note", "a helper for the exact part decides", None)


def _helper_splits(context: Context, judged: Judged) -> bool:
    here = judged.may & context.targets
    return bool(here) and here != context.targets & judged.sets.live


def _against(judged: Judged, out: ChipSet, api: Admission) -> Draft:
    """The test is skipped where what it calls says that it works."""
    related = Related(api.at, api.at.at, api.at.text)
    return _skipped(judged, out & api.chips, "warning", f"`{api.name}` admits {api.chips}", related)


def _excluded(context: Context, judged: Judged) -> Iterator[Draft]:
    out = context.targets & judged.sets.live - judged.may
    if out != context.targets & judged.sets.live or not out:
        return
    api = admits(context, judged, out)
    if api is not None:
        if out <= api.chips:
            # A module is built for what some of its arguments run on; a list on the function speaks for the call.
            yield replace(_against(judged, out, api), severity="note" if api.kind == "build" else "warning")
        return
    need = context.need_of(judged, judged.working) or _named(context, judged)
    if need is not None and out - need.legal:
        return
    for text in judged.other.texts[:1]:
        said = mentioned(text.text)
        if said.open_ended and out <= said.named and judged.admitted & said.named:
            reason = f"the reason it gives names {said.named}"
            yield _skipped(judged, out, "note", reason, Related(judged.module, text.at, "the reason"))
            return
    found = excluded.excluded(context, judged)
    if found is not None:
        chips, _, confidence, reason, related = found
        yield excluded.draft(NAME, judged, chips, "note", confidence, reason, related)


def _named(context: Context, judged: Judged) -> Need | None:
    """What the names of the test and of its file say is behind the gate."""
    path = judged.module.path
    return context.evidence.libraries.by_name(path, (judged.gate.qualname, path), judged.at)


def _skipped(judged: Judged, out: ChipSet, severity: str, reason: str, related: Related | None) -> Draft:
    return Draft(
        NAME,
        NAME,
        severity,
        "medium" if severity == "warning" else "low",
        judged.module,
        judged.at,
        f"the test is skipped on {plain(out)}: {reason}",
        f"runs on {judged.admitted}",
        f"run it on {plain(out)} too",
        judged.may,
        judged.must,
        None,
        judged.gate,
        (related,) if related else (),
    )
