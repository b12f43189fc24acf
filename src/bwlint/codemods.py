"""The fixes as codemods of libcst, one for each kind.

    python -m libcst.tool codemod -x bwlint.codemods.Family FILE

A codemod of libcst sees one file at a time, while a fix is judged by its whole project. So these do not look for
spellings themselves: they run the check on their file, and apply the edits that `bwlint --fix` would apply of their
kind. With `--no-format` nothing else in the file changes.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from bwlint.fix.edited import apply
from bwlint.model.findings import Edit
from bwlint.report.summary import at_least
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import ConfigError, UsageError

_MOST_PASSES = 5
_MARK = "\ufeff"


class _Command(CodemodCommand):
    """The command of libcst asks for a class; what differs is the kind of the fixes."""

    KIND = ""

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.add_argument("--unsafe-fixes", action="store_true", help="apply the unsafe ones too")

    def __init__(self, context: CodemodContext, unsafe_fixes: bool = False) -> None:
        super().__init__(context)
        self._unsafe = unsafe_fixes

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        if self.context.filename is None:
            raise SkipFile("a fix is judged by the project of its file, and this text has none")
        path, text = str(Path(self.context.filename).resolve()), tree.code
        fixed = text.removeprefix(_MARK)
        for _ in range(_MOST_PASSES):
            edits = self._edits(path, fixed)
            if not edits:
                break
            fixed = apply(fixed, edits)
        fixed = _MARK + fixed if text.startswith(_MARK) else fixed
        return tree if fixed == text else cst.parse_module(fixed.encode(tree.encoding), tree.config_for_parsing)

    def _edits(self, path: str, text: str) -> list[Edit]:
        request = CheckRequest((path,), jobs=1, stdin=text.encode("utf-8", "surrogatepass"), fixes=True)
        try:
            with ExitStack() as stack:
                outcome = check(request, stack)
        except (UsageError, ConfigError) as error:
            raise SkipFile(str(error)) from error
        fixes = (one.fix for one in at_least(outcome.report, outcome.severity).findings if one.fix is not None)
        wanted = (fix for fix in fixes if fix.kind == self.KIND and (self._unsafe or fix.applicability == "safe"))
        own = (fix.edits for fix in wanted if {outcome.names.real(edit.path) for edit in fix.edits} == {path})
        return [edit for edits in own for edit in edits]


class Family(_Command):
    DESCRIPTION = "Tests that name one member of a chip family hold for the others too."
    KIND = "family"


class Type(_Command):
    DESCRIPTION = "Comparisons that can never be true for their types, or order texts, compare like with like."
    KIND = "type"


class Text(_Command):
    DESCRIPTION = "Messages and comments that name the wrong parts name the right ones."
    KIND = "text"


class Admit(_Command):
    DESCRIPTION = "Tests that keep out chips on which what they guard works let them in (most of these are unsafe)."
    KIND = "admit"


class Bound(_Command):
    DESCRIPTION = "Open bounds in front of what one generation has end below the next (all of these are unsafe)."
    KIND = "bound"
