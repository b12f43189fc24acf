"""The language server, asked by a client of its own over pipes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from repair.trees import put

from bwlint.cli import run
from bwlint.commands import editing

lsp = pytest.importorskip("lsprotocol.types")
client_module = pytest.importorskip("pygls.lsp.client")

SOURCE = str(Path(__file__).parents[2] / "src")
GATE = """# é🎉
import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
CLEAN = "x = 1\n"


class Editor:
    """An editor with one open text, and what it was told of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = client_module.LanguageClient("test", "1")
        self.told: asyncio.Queue[Any] = asyncio.Queue()
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.told.put_nowait(params))
        self.client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)(lambda _: None)

    async def start(self) -> Any:
        command = f"import sys; sys.path.insert(0, {SOURCE!r}); from bwlint.cli import main; main()"
        await self.client.start_io(sys.executable, "-c", command, "server", "--no-cache")
        general = lsp.GeneralClientCapabilities(position_encodings=["utf-8", "utf-32", "utf-16"])
        able = lsp.ClientCapabilities(general=general)
        asked = lsp.InitializeParams(capabilities=able, root_uri=self.folder.as_uri())
        answer = await self.client.initialize_async(asked)
        self.client.initialized(lsp.InitializedParams())
        return answer

    async def diagnostics(self) -> Any:
        return await asyncio.wait_for(self.told.get(), 60)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> Any:
        item = lsp.TextDocumentItem(self.uri(name), "python", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return lsp.TextDocumentIdentifier(self.uri(name))

    def change(self, name: str, version: int, text: str) -> None:
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        which = lsp.VersionedTextDocumentIdentifier(version, self.uri(name))
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(which, [whole]))


def serving(folder: Path, talk: Callable[[Editor], Awaitable[None]]) -> None:
    async def session() -> None:
        editor = Editor(folder)
        answer = await editor.start()
        assert answer.capabilities.position_encoding == "utf-16"  # though the editor would rather have another
        try:
            await talk(editor)
        finally:
            await asyncio.wait_for(editor.client.shutdown_async(None), 60)
            editor.client.exit(None)
            await editor.client.stop()

    asyncio.run(session())


def applied(text: str, edit: Any) -> str:
    lines = text.split("\n")
    assert edit.range.start.line == edit.range.end.line
    line = lines[edit.range.start.line]
    lines[edit.range.start.line] = line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
    return "\n".join(lines)


def test_a_text_is_judged_as_it_is_typed(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": GATE})

    async def talk(editor: Editor) -> None:
        document = editor.open("a.py", GATE)
        first = await editor.diagnostics()
        (found,) = first.diagnostics
        assert (found.code, found.source, found.severity) == ("BW101", "bwlint family-split", 2)
        assert (found.range.start.line, found.range.start.character) == (4, 7)
        spot = lsp.Position(4, 10)
        card = await editor.client.text_document_hover_async(lsp.HoverParams(document, spot))
        assert "| 12.0 | yes |  |" in card.contents.value and "| 12.1 | no |  |" in card.contents.value
        nothing = await editor.client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(1, 1)))
        assert nothing is None
        where = lsp.Range(spot, spot)
        asked = lsp.CodeActionParams(document, where, lsp.CodeActionContext([found]))
        actions = await editor.client.text_document_code_action_async(asked)
        while len(actions) < 2:  # the proof of a fix takes longer than the finding
            await asyncio.sleep(0.1)
            actions = await editor.client.text_document_code_action_async(asked)
        fix, silence = actions
        assert fix.title.startswith("bwlint: ") and silence.title == "bwlint: ignore family-split here"
        silence = await editor.client.code_action_resolve_async(silence)
        (edit,) = fix.edit.changes[editor.uri("a.py")]
        editor.change("a.py", 2, applied(GATE, edit))
        mended = await editor.diagnostics()
        assert (mended.version, list(mended.diagnostics)) == (2, [])
        (note,) = silence.edit.changes[editor.uri("a.py")]
        editor.change("a.py", 3, applied(GATE, note))
        assert not (await editor.diagnostics()).diagnostics

    serving(tmp_path, talk)


def test_questions_to_review_stand_above_their_lines(tmp_path: Path) -> None:
    only_ten = "import torch\n\nif torch.cuda.get_device_capability()[0] == 10:\n    import fast\n"

    async def talk(editor: Editor) -> None:
        document = editor.open("a.py", only_ten)
        assert not (await editor.diagnostics()).diagnostics
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(document))
        assert lenses
        (lens,) = lenses
        assert lens.range.start.line == 2
        assert lens.command.title == "12.0, 12.1: review (Treats 12.x, 8.9 and 9.0 alike, and 10.0 differently)"

    serving(tmp_path, talk)


def test_rows_of_the_matrix_stand_at_their_operations(tmp_path: Path) -> None:
    put(tmp_path, {"pkg/__init__.py": "from pkg.a import fast\n", "pkg/a.py": GATE})

    async def talk(editor: Editor) -> None:
        document = editor.open("pkg/a.py", GATE)
        await editor.diagnostics()
        for _ in range(100):
            lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(document))
            if lenses:
                break
            await asyncio.sleep(0.1)
        assert [(lens.range.start.line, lens.command.title) for lens in lenses] == [(3, "12.0: yes · 12.1: no")]

    serving(tmp_path, talk)


def test_an_action_is_for_the_text_that_was_judged(tmp_path: Path) -> None:
    from bwlint.commands.editing import judged
    from bwlint.commands.server import Desk

    path = tmp_path / "a b.py"
    desk, everywhere = Desk(), lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    desk.judgements[path.as_uri()] = judged(str(path), GATE, (), fixes=True)
    fix, silence = desk.actions(path.as_uri(), everywhere, GATE)
    assert (
        fix.edit is not None
        and list(fix.edit.changes or ()) == [path.as_uri()]
        and desk.resolved(silence).edit is not None
    )
    assert desk.actions(path.as_uri(), everywhere, f"\n{GATE}") == []  # still typed at: places have moved


@pytest.mark.parametrize("fails", [1, 2], ids=["the text", "its fixes"])
def test_a_server_goes_on_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    from bwlint.commands import server

    uri, told, calls = (tmp_path / "a.py").as_uri(), list[Any](), list[bool]()
    document = SimpleNamespace(source=GATE, version=1)
    fake: Any = SimpleNamespace(
        workspace=SimpleNamespace(get_text_document=lambda _: document),
        text_document_publish_diagnostics=lambda params: told.append([entry.message for entry in params.diagnostics]),
        window_log_message=lambda params: told.append(params.message),
        workspace_code_lens_refresh=lambda _: None,
    )

    def judged(*arguments: Any, fixes: bool) -> Any:
        calls.append(fixes)
        if len(calls) == fails:
            raise ZeroDivisionError("by design")
        return editing.judged(*arguments, fixes=fixes)

    monkeypatch.setattr(server, "judged", judged)
    monkeypatch.setattr(server, "REST", 0)
    desk = server.Desk()

    async def talk() -> None:
        worker = server._Judge(fake, desk, (), with_index=False)
        for _ in range(2):
            worker.begin(uri, is_saved=False)
            await worker._waiting[uri]

    asyncio.run(talk())
    said = "internal error, not all of this was judged: ZeroDivisionError: by design"
    (found,) = (finding.message for finding in desk.judgements[uri].findings)
    failing = [f"bwlint: {uri}: {said}", [said] if fails == 1 else [said, found]]
    assert told == (failing if fails == 1 else [[found], *failing]) + [[found]]


@pytest.mark.parametrize("support", [True, False, None])
def test_lenses_are_asked_for_again_where_the_editor_can(tmp_path: Path, support: bool | None) -> None:
    from bwlint.commands import server

    told = list[str]()
    lens = lsp.CodeLensWorkspaceClientCapabilities(refresh_support=support)
    fake: Any = SimpleNamespace(
        workspace=SimpleNamespace(get_text_document=lambda _: SimpleNamespace(source=CLEAN, version=1)),
        client_capabilities=lsp.ClientCapabilities(workspace=lsp.WorkspaceClientCapabilities(code_lens=lens)),
        text_document_publish_diagnostics=lambda _: None,
        workspace_code_lens_refresh=lambda _: told.append("refresh"),
    )

    async def talk() -> None:
        await server._Judge(fake, server.Desk(), (), with_index=False)._judge((tmp_path / "a.py").as_uri(), True)

    put(tmp_path, {"a.py": CLEAN})
    asyncio.run(talk())
    assert told == ["refresh"] * bool(support)


def test_a_text_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": GATE})

    async def talk(editor: Editor) -> None:
        for uri in ("untitled:Untitled-1", "git:/a/b.py?HEAD", "file:", "file:///no/such/a%00b.py"):
            item = lsp.TextDocumentItem(uri, "python", 1, GATE)
            editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        editor.open("a.py", GATE)
        told = await editor.diagnostics()
        while told.uri != editor.uri("a.py"):
            told = await editor.diagnostics()
        assert [entry.code for entry in told.diagnostics] == ["BW101"]

    serving(tmp_path, talk)


def test_what_is_wrong_is_said_in_the_text(tmp_path: Path) -> None:
    put(tmp_path, {"bwlint.toml": "severty = 1\n"})

    async def talk(editor: Editor) -> None:
        editor.open("a.py", CLEAN)
        (fault,) = (await editor.diagnostics()).diagnostics
        assert "severty" in fault.message and "did you mean" in fault.message
        editor.client.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(editor.uri("a.py")))
        )
        assert not (await editor.diagnostics()).diagnostics

    serving(tmp_path, talk)


def test_without_pygls_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from bwlint import cli

    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    monkeypatch.delitem(sys.modules, "bwlint.commands.server", raising=False)
    result = CliRunner().invoke(cli.app, ["server"], prog_name="bwlint")
    assert (result.exit_code, "pip install 'bwlint[lsp]'" in result.stderr) == (2, True)


def test_what_the_baseline_knows_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"bwlint.toml": 'baseline = "known.json"\n', "a.py": GATE})
    path = str(tmp_path / "a.py")
    missing = editing.judged(path, GATE, (), fixes=False)
    assert "`bwlint baseline` writes one" in missing.fault and (len(missing.findings), missing.known) == (
        1,
        frozenset(),
    )
    monkeypatch.chdir(tmp_path)
    assert run(["baseline", "--no-cache", "."]) == 0
    more = GATE.replace("fast", "another") + GATE
    judgement = editing.judged(path, more, (), fixes=False)
    assert len(judgement.findings) == 2 and set(judgement.known) == {1}
    from bwlint.commands.server import _diagnostics

    found = _diagnostics(judgement, Path(path).as_uri())
    told = [(one.severity, one.message.endswith(" (in the baseline)")) for one in found]
    assert told == [(lsp.DiagnosticSeverity.Warning, False), (lsp.DiagnosticSeverity.Hint, True)]


@pytest.mark.parametrize(("last", "code"), [([{"id": 2, "method": "shutdown"}], 0), ([], 1)])
def test_the_program_ends_as_the_editor_asks(tmp_path: Path, last: list[dict[str, Any]], code: int) -> None:
    put(tmp_path, {"a.py": GATE})
    document = {"uri": (tmp_path / "a.py").as_uri(), "languageId": "python", "version": 1, "text": GATE}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        *last,
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    asked = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    command = f"import sys; sys.path.insert(0, {SOURCE!r}); from bwlint.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", command, "server", "--no-cache"], input=asked, capture_output=True, timeout=300
    )
    assert (ended.returncode, ended.stderr) == (code, b"")
    assert (b'"id": 2' in ended.stdout or b'"id":2' in ended.stdout) == bool(last)
