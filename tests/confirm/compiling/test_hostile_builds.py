"""Trees whose sources and build commands want to run programs, to read what is not theirs, or never to end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import toolkit as wheels

from bwlint.confirm.compiling import compiler
from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs.assemble import attempt
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import Claim, Finding, Region

FENCE = "tcgen05.fence::before_thread_sync"
KERNEL = '__global__ void kernel(int *p) {\n  asm volatile("tcgen05.fence::before_thread_sync;");\n}\n'
Ask = Callable[..., Attempt]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture
def ask(nvcc: wheels.Toolkit, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks about the fence in a file, wherever it stands there, with little time and memory."""
    host = shutil.which("g++")
    assert host is not None
    monkeypatch.setattr(compiler, "_MOST_MEMORY", 3 << 30)
    kit = Toolkit(nvcc.programs / "ptxas", nvcc.programs / "nvcc", "13", "a wheel", Path(host))

    def asked(
        name: str = "a.cu", line: int = 2, limit: float = 30.0, kind: str = "instruction", own: tuple[str, ...] = ()
    ) -> Attempt:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        at = Region(line, 1, line, 2)
        claim = Claim(kind, "", targets=("sm_120a",), subject=FENCE, at=at)  # type: ignore[arg-type]
        finding = Finding(
            rule="BW000",
            name="test",
            category="other",
            severity="note",
            confidence="high",
            path=name,
            region=at,
            message="",
        )
        world = Workbench(scratch, (kit,), nvcc_args=own, compile_limit=limit)
        return attempt(Subject(finding, claim, str(root / name), str(root)), world)

    return asked


def evil(path: Path) -> Path:
    """A program that leaves a mark."""
    path.write_text(f"#!/bin/sh\ntouch '{path.parent}/pwned'\nexec g++ \"$@\"\n")
    path.chmod(0o755)
    return path


def pwned(root: Path) -> list[str]:
    return sorted(path.name for path in root.parent.rglob("*pwned*"))


OPTIONS = [
    "-ccbin ./evil",
    "-ccbin=./evil",
    "-wrapper ./evil",
    "-Xcompiler -wrapper,./evil",
    "-Xcompiler -fplugin=./evil",
    "-Xcompiler -B.",
    "@options",
    "--options-file options",
    "'-DX=$(touch pwned)'",
    "'-DX=`touch pwned`'",
    "'-DX=\"; touch pwned; \"'",
    "'-D$(touch pwned)'",
    "'-I$(touch pwned)'",
    "'-isystem=`touch pwned`'",
    "'-include' '$(touch pwned).h'",
    "'-std=c++17; touch pwned'",
    "'-gencode' 'arch=compute_90,code=$(touch pwned)'",
    "-run",
    "-Xptxas '$(touch pwned)'",
    "-Xcudafe '$(touch pwned)'",
    "-odir '$(touch pwned)'",
    "-keep-dir '`touch pwned`'",
]


def test_a_build_starts_nothing(ask: Ask, root: Path) -> None:
    """All of it at once: each would leave a mark, in the tree or in the folder in which nvcc runs."""
    (root / "a.cu").write_text(KERNEL)
    (root / "options").write_text("-ccbin ./evil\n")
    (root / "$(touch pwned).h").write_text("")
    for name in ("evil", "nvcc", "ptxas", "gcc", "g++", "cicc", "cc1plus", "as", "nvcc.profile"):
        evil(root / name)
    (root / "compile_commands.json").write_text(
        json.dumps([{"directory": str(root), "file": "a.cu", "command": "./evil " + " ".join(OPTIONS) + " -c a.cu"}])
    )
    (root / "$(touch pwned).h").rename(root / "$(touch x).h")
    found = ask()
    assert found.outcome == "confirmed", found.reason
    assert pwned(root) == []
    assert len(found.details["dropped"]) >= len(OPTIONS)
    assert found.details["options from"] == str(root / "compile_commands.json")


def test_the_users_own_options_are_not_sifted(ask: Ask, root: Path) -> None:
    """Which shows, too, that the marks above would be there."""
    (root / "a.cu").write_text(KERNEL)
    ask(own=("-DX=$(touch pwned)",))
    assert pwned(root) == ["pwned"]


@pytest.mark.parametrize("kind", ["instruction", "guard"])
def test_names_of_files_are_no_commands(ask: Ask, root: Path, kind: str) -> None:
    name = "a $(touch pwned) `touch pwned` ; touch pwned ' .cu"
    (root / "$(touch pwned)").mkdir()
    (root / "$(touch pwned)" / "$(touch pwned).h").write_text("#define THEIRS\n")
    head = '#include "$(touch pwned)/$(touch pwned).h"\n#if defined(THEIRS)\n'
    (root / name).write_text(f"{head}{KERNEL}#endif\n")
    found = ask(name, 2 if kind == "guard" else 4, kind=kind)
    assert found.executed
    assert found.outcome == ("confirmed" if kind == "instruction" else "refuted"), found.reason
    assert [mark for mark in pwned(root) if "touch" not in mark] == []


@pytest.mark.parametrize("name", ['a".cu', "a\\.cu", "a\n.cu"])
def test_names_that_no_include_can_hold_are_not_compiled(ask: Ask, root: Path, name: str) -> None:
    (root / name).write_text(KERNEL)
    found = ask(name)
    assert (found.eligible, found.executed) == (False, False)


ENDLESS = {
    "a device": '#include "/dev/zero"\n',
    "itself, twice each time": '#include "a.cu"\n#include "a.cu"\n',
    "templates without an end": (
        "template <int N, int M> struct T { static constexpr long v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct T<0, M> { static constexpr long v = 1; };\n"
        "__global__ void kernel(long *p) { *p = T<60, 1>::v; }\n"
    ),
    "constants without an end": (
        "constexpr long f(long n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n"
        "template <long N> struct C {};\nC<f(90)> c;\n"
    ),
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_never_ends_is_ended(ask: Ask, root: Path, text: str) -> None:
    (root / "a.cu").write_text(f"{text}\n{KERNEL}")
    found = ask(limit=1.0)
    assert found.outcome == "inconclusive"


def test_a_line_of_a_hundred_megabytes(ask: Ask, root: Path) -> None:
    with (root / "a.cu").open("w") as file:
        file.write("int x[] = {")
        for _ in range(100):
            file.write("1," * 500_000)
        file.write("};\n" + KERNEL)
    found = ask(limit=1.0)
    assert found.outcome == "inconclusive"


@pytest.mark.parametrize("include", ['#include "{}"', '#include "linked.h"', "#define NAME <{}>\n#include NAME"])
def test_texts_of_other_files_are_not_told(ask: Ask, root: Path, tmp_path: Path, include: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2 is = my password;\n")
    (root / "linked.h").symlink_to(secret)
    (root / "a.cu").write_text(f"{include.format(secret)}\n{KERNEL}")
    found = ask()
    assert found.outcome == "inconclusive"
    told = json.dumps([found.reason, found.log, dict(found.details)])
    assert "hunter2" not in told
    assert "password" not in told


def test_a_flood_of_messages_is_cut(ask: Ask, root: Path) -> None:
    (root / "a.cu").write_text(
        KERNEL + "".join(f'__global__ void k{n}() {{ asm volatile("no{n};"); }}\n' for n in range(300))
    )
    found = ask(limit=30.0)
    assert found.executed
    assert len(found.log) <= 8000
    assert all(len(str(value)) < 4000 for value in found.details.values())


def test_a_ptx_file_that_is_none(ask: Ask, root: Path) -> None:
    (root / "a.ptx").write_bytes(b"\0\xff{{{{" * 1000 + b'.version 99.9 @ $(touch pwned) "')
    found = ask("a.ptx")
    assert found.outcome == "inconclusive"
    assert pwned(root) == []
