"""`bwlint inspect`: which chips run what wheels, libraries and archives carry."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import click

from bwlint.binaries.shipments import PackageVerdict, Runs
from bwlint.commands.progress import progress
from bwlint.commands.terminal import (
    CLEAN,
    FOUND,
    NOTHING,
    WRONG,
    failed_strictly,
    fails_strictly,
    failure,
    nothing,
    put_right,
    say,
    setting,
    write,
)
from bwlint.inspection import Inspected, InspectionRequest, inspect
from bwlint.model.escape import visible
from bwlint.readers.binary.names import readable
from bwlint.report import html, inspection_json, inspection_text
from bwlint.report.summary import at_least, not_read, summary
from bwlint.report.text import folded
from bwlint.run.own_code import own_places


def run(options: dict[str, Any]) -> int:
    if not (options["things"] or options["installed"]):
        raise click.UsageError("name a file, a folder, pypi:NAME, or --installed NAME")
    if options["platforms"] and not any(thing.startswith("pypi:") for thing in options["things"]):
        raise click.UsageError("--platform needs a pypi:NAME")
    request = InspectionRequest(**{field.name: options[field.name] for field in fields(InspectionRequest)})
    with put_right(), progress() as advance:
        found = inspect(request, advance, own_places)
    write(_inspection(found, options), options)
    report = found.inspection.report
    if options["verbose"] or not options["quiet"]:
        say(not_read(report.skipped, every=options["verbose"]))
    if not options["quiet"]:
        looked_at = "built code: " if any(one.own for one in found.inspection.shipments) else ""
        say(f"bwlint: {looked_at}{summary(report, found.severity)}\n")
    for fault in found.failures:
        failure(Exception(fault)).show()
    if fails_strictly(options, report.skipped):
        return failed_strictly(report.skipped)
    if found.failures:
        return WRONG
    if found.scanned == 0:
        for thing in map(visible, filter(os.path.exists, options["things"])):
            say(f"bwlint: no built code in {thing}; bwlint check {thing} reads its source\n")
        return nothing()
    fails = options["target"] and found.fail_on != "never" and _fails(found.inspection.verdicts)
    if (fails or at_least(report, found.fail_on).findings) and not options["exit_zero"]:
        return FOUND
    for name in found.unjudged:
        say(f"bwlint: found nothing to check in {visible(name)}\n")
    return NOTHING if found.unjudged else CLEAN


def _inspection(found: Inspected, options: dict[str, Any]) -> str | Iterable[str]:
    """The report of an inspection, as it is asked for; a long one in pieces."""
    inspection = replace(found.inspection, report=at_least(found.inspection.report, found.severity))
    how = setting(options, skipped=inspection.report.skipped)
    sentences = [verdict.sentence for verdict in inspection.verdicts] if options["target"] else []
    if options["form"] in ("json", "html"):
        pieces = inspection_json.pieces(inspection, how, options["kernels"])
        if options["form"] == "json":
            return pieces
        return html.page("inspection", pieces, html.of_inspection(inspection, how, sentences), how.subject)
    if options["form"] == "sarif":
        from bwlint.report import sarif  # slow to load

        return sarif.render(inspection.report, how)
    chips = inspection.asked if options["target"] else ()
    text = inspection_text.render(inspection, how, options["kernels"], chips, readable)
    told = (line for sentence in sentences for line in (*folded([visible(sentence)], how), ""))
    return "".join(f"{line}\n" for line in told) + text


def _fails(verdicts: Iterable[PackageVerdict]) -> bool:
    """Whether a package runs on a card from none of the builds that were named, each for machines of its own."""
    builds: dict[tuple[str, str], set[Runs]] = {}
    for verdict in verdicts:
        builds.setdefault((verdict.package, verdict.chip), set()).add(verdict.runs)
    return {"no"} in builds.values()
