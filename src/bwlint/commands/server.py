"""`bwlint server`: a language server for editors, on pygls (`bwlint[lsp]`).

One thread judges, one text at a time, the newest of each; requests are answered from what it has found. Nothing that is
open is imported or executed; what is not saved is read from the editor.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from bwlint import __version__
from bwlint.chips import EVERY
from bwlint.commands.editing import Judgement, LineNote, judged, tabulated
from bwlint.index import kept
from bwlint.model.findings import CATEGORIES, Finding, Region
from bwlint.report.words import sets
from bwlint.sources.read import SourceText

PAUSE, REST = 0.2, 1.0
"""Seconds without a key before a text is judged, and before fixes are looked for."""
_Result = TypeVar("_Result")
_LEVELS = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


@dataclass(slots=True)
class Desk:
    """What is known of the open texts, by URI, and the answers that come of it."""

    judgements: dict[str, Judgement] = field(default_factory=dict)
    rows: dict[str, tuple[LineNote, ...]] = field(default_factory=dict)

    def forget(self, uri: str) -> None:
        self.judgements.pop(uri, None)
        self.rows.pop(uri, None)

    def hover(self, uri: str, at: lsp.Position) -> lsp.Hover | None:
        found = [finding for finding in self._findings(uri) if _covers(finding.region, at)]
        if not found:
            return None
        text = "\n\n---\n\n".join(map(_card, found))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), _range(found[0].region))

    def actions(self, uri: str, where: lsp.Range, source: str) -> list[lsp.CodeAction]:
        """What can be done in the text that is `source` now: nothing where what was judged was another one."""
        if not self.is_of(uri, source):
            return []
        here = [(n, finding) for n, finding in enumerate(self._findings(uri)) if _meet(_range(finding.region), where)]
        return [action for number, finding in here for action in _actions(finding, number, uri)]

    def resolved(self, action: lsp.CodeAction) -> lsp.CodeAction:
        """The action with the comment that it stands for, whose place takes a while to find."""
        uri, number, message = action.data if isinstance(action.data, (list, tuple)) else ("", 0, "")
        found = self._findings(uri)
        # The text may have been judged again meanwhile.
        if not 0 <= number < len(found) or found[number].message != message:
            return action
        judgement = self.judgements[uri]
        comment = judgement.silencing(found[number])
        if comment is not None:
            place = lsp.Range(*(_position(judgement.text.source, at) for at in (comment.start, comment.end)))
            action.edit = lsp.WorkspaceEdit({uri: [lsp.TextEdit(place, comment.text)]})
        return action

    def is_of(self, uri: str, source: str) -> bool:
        """Whether what is known of a text was found in just this one."""
        return uri in self.judgements and self.judgements[uri].text.source == source

    def lenses(self, uri: str) -> list[lsp.CodeLens]:
        asked = self.judgements[uri].questions if uri in self.judgements else ()
        return [_lens(note) for note in (*self.rows.get(uri, ()), *asked)]

    def _findings(self, uri: str) -> tuple[Finding, ...]:
        return self.judgements[uri].findings if uri in self.judgements else ()


class _Judge:
    """Judges texts one after another, each once nothing more is typed, and tells the editor."""

    def __init__(self, server: LanguageServer, desk: Desk, targets: tuple[str, ...], *, with_index: bool) -> None:
        self._server, self._desk, self._targets = server, desk, targets
        # SQLite wants its file to be used by the thread that has opened it.
        self._thread = ThreadPoolExecutor(1, "bwlint", kept.use_again, (with_index,))
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def begin(self, uri: str, *, is_saved: bool) -> None:
        self.stop(uri)
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._look(uri, is_saved))

    def stop(self, uri: str) -> None:
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()

    async def _look(self, uri: str, is_saved: bool) -> None:
        try:
            await self._judge(uri, is_saved)
        except Exception as error:  # whatever it was: the next text is another one
            self._give_up(uri, f"internal error, not all of this was judged: {type(error).__name__}: {error}")

    def _give_up(self, uri: str, why: str) -> None:
        self._server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"bwlint: {uri}: {why}"))
        if not self._desk.is_of(uri, self._server.workspace.get_text_document(uri).source):
            self._desk.forget(uri)
        known = self._desk.judgements.get(uri) or Judgement(SourceText(""))
        told = list(_diagnostics(replace(known, fault=why), uri))
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, told))

    async def _judge(self, uri: str, is_saved: bool) -> None:
        await asyncio.sleep(0 if is_saved else PAUSE)
        path = to_fs_path(uri)
        if not path:
            return
        document = self._server.workspace.get_text_document(uri)
        text, version = document.source, document.version
        judgement = await self._run(partial(judged, path, text, self._targets, fixes=False))
        self._desk.judgements[uri] = judgement
        self._server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, list(_diagnostics(judgement, uri)), version)
        )
        if is_saved:
            self._desk.rows[uri] = await self._run(partial(tabulated, path, self._targets))
            able = self._server.client_capabilities.workspace
            if able and able.code_lens and able.code_lens.refresh_support:
                self._server.workspace_code_lens_refresh(None)
        if judgement.findings:
            await asyncio.sleep(0 if is_saved else REST)
            self._desk.judgements[uri] = await self._run(partial(judged, path, text, self._targets, fixes=True))

    async def _run(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class _Protocol(LanguageServerProtocol):
    """The protocol in UTF-16, in which we count, whatever else an editor would rather have."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


def served(targets: tuple[str, ...] = (), *, with_index: bool = True) -> LanguageServer:
    """A server that asks about `targets`, or about what the configuration of each file says."""
    server, desk = LanguageServer("bwlint", f"v{__version__}", protocol_cls=_Protocol), Desk()
    worker = _Judge(server, desk, targets, with_index=with_index)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        worker.begin(params.text_document.uri, is_saved=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        worker.begin(params.text_document.uri, is_saved=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        worker.begin(params.text_document.uri, is_saved=False)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        worker.stop(params.text_document.uri)
        desk.forget(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        return desk.hover(params.text_document.uri, params.position)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix], resolve_provider=True)
    )
    def asked(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return desk.actions(uri, params.range, server.workspace.get_text_document(uri).source)

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    def chosen(action: lsp.CodeAction) -> lsp.CodeAction:
        return desk.resolved(action)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return desk.lenses(params.text_document.uri)

    return server


def run(options: dict[str, Any]) -> int:
    """Serve on stdin and stdout until the editor ends it; the exit code, 1 where it has not said `shutdown` before."""
    server = served(tuple(options["target"]), with_index=not options["no_cache"])
    # pygls closes what it writes to when it ends; stdout stays the program's.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        server.start_io(stdout=out)
    return 0 if server.protocol._shutdown else 1  # pygls takes the code of its own exit for itself


def _diagnostics(judgement: Judgement, uri: str) -> Iterator[lsp.Diagnostic]:
    if judgement.fault:
        nowhere = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        yield lsp.Diagnostic(nowhere, judgement.fault, lsp.DiagnosticSeverity.Warning, source="bwlint")
    for number, finding in enumerate(judgement.findings):
        is_known = number in judgement.known
        yield lsp.Diagnostic(
            _range(finding.region),
            f"{finding.message} (in the baseline)" if is_known else finding.message,
            lsp.DiagnosticSeverity.Hint if is_known else _LEVELS[finding.severity],
            finding.rule,
            source=f"bwlint {finding.name}",
            related_information=[
                lsp.DiagnosticRelatedInformation(lsp.Location(_uri(item.path, uri), _range(item.region)), item.message)
                for item in finding.related
            ],
        )


def _card(finding: Finding) -> str:
    """A finding as Markdown: what it says, and for each chip what its gate does."""
    rows = [f"**{finding.rule} {finding.name}**: {finding.message}"]
    rows += [f"{key}: {value}" for key, value in sets(finding)]
    if not CATEGORIES[finding.category].is_gateless:
        rows.append("\n".join(["| chip | admitted | behind it |", "|---|---|---|", *_truth(finding)]))
    return "\n\n".join([*rows, f"instead: {finding.advice}"] if finding.advice else rows)


def _truth(finding: Finding) -> Iterator[str]:
    for chip in EVERY.names:
        outcome = "yes" if chip in finding.certain else "maybe" if chip in finding.admitted else "no"
        behind = "" if finding.legal is None else "works" if chip in finding.legal else "does not work"
        yield f"| {chip} | {outcome} | {behind} |"


def _actions(finding: Finding, number: int, uri: str) -> Iterator[lsp.CodeAction]:
    if finding.fix is not None:
        changes: dict[str, list[lsp.TextEdit]] = {}
        for edit in finding.fix.edits:
            changes.setdefault(_uri(edit.path, uri), []).append(lsp.TextEdit(_range(edit.region), edit.text))
        yield lsp.CodeAction(
            f"bwlint: {finding.fix.title} ({finding.fix.applicability})",
            lsp.CodeActionKind.QuickFix,
            is_preferred=finding.fix.applicability == "safe",
            edit=lsp.WorkspaceEdit(changes),
        )
    title = f"bwlint: ignore {finding.name} here"
    yield lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, data=[uri, number, finding.message])


def _lens(note: LineNote) -> lsp.CodeLens:
    start = lsp.Position(note.line - 1, 0)
    return lsp.CodeLens(lsp.Range(start, start), lsp.Command(note.text, "bwlint.none"))


def _uri(path: str, uri: str) -> str:
    """The URI of a path as a finding names it; that of the text itself stays as the editor writes it."""
    own = to_fs_path(uri)
    return uri if own and Path(own) == Path(path) else Path(path).resolve().as_uri()


def _range(region: Region) -> lsp.Range:
    """A region for an editor, which counts from 0, in UTF-16 units as we do."""
    return lsp.Range(
        lsp.Position(region.line - 1, region.column - 1), lsp.Position(region.end_line - 1, region.end_column - 1)
    )


def _position(source: str, offset: int) -> lsp.Position:
    before = source[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before[before.rfind("\n") + 1 :]
    return lsp.Position(before.count("\n"), len(line.encode("utf-16-le", "surrogatepass")) // 2)


def _covers(region: Region, position: lsp.Position) -> bool:
    start, end = (region.line - 1, region.column - 1), (region.end_line - 1, region.end_column - 1)
    return start <= (position.line, position.character) <= end


def _meet(one: lsp.Range, other: lsp.Range) -> bool:
    first, last = max(one.start, other.start), min(one.end, other.end)
    return (first.line, first.character) <= (last.line, last.character)
