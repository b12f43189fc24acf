"""A slice computes and answers; whatever else it tries ends in time, decides nothing and does nothing outside."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from bwlint.chips import chip
from bwlint.confirm import child
from bwlint.confirm.slicing import sandbox, seccomp
from bwlint.confirm.slicing.closure import Cutout, Slice
from bwlint.confirm.slicing.sandbox import SandboxRun, run_slice

pytestmark = pytest.mark.skipif(seccomp.unavailable() is not None, reason="there is no filter of system calls here")

# What every Python has behind its objects: a module of the system, whatever names are taken away.
SYSTEM = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__"
MODULES = f"{SYSTEM}['sys'].modules"
KILLED = "it was ended after a system call"


def run(body: str, folder: Path, limit: float = 3.0) -> SandboxRun:
    source = "def __gate__():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    plan = Cutout("", [(source, ["__gate__"])])
    return run_slice(Slice("m", "test", {"m": plan}, frozenset()), [chip("12.0")], folder, limit)


@pytest.mark.parametrize(
    ("body", "gives"),
    [
        ("return 2 in (1, 2)", ("true",)),
        ("return sorted({3: 1}.items()) == []", ("false",)),
        ("return torch.cuda.get_device_capability() == (12, 0)", ("true",)),
        ("return unknown", ("false", "true")),
        ("return [][0]", ("raises: IndexError: list index out of range",)),
        ("raise SystemExit(3)", ("raises: SystemExit: 3",)),
        ("print('x' * 100_000_000)\nreturn True", ("true",)),
    ],
)
def test_what_computes(body: str, gives: tuple[str, ...], tmp_path: Path) -> None:
    ran = run(body, tmp_path)
    assert (ran.refused, ran.trouble, ran.log) == ("", "", "")
    assert (ran.answers["12.0"].gives, ran.answers["12.0"].undecided) == (gives, "")


ESCAPES = {
    "a file, by name": ("open({mark!r}, 'w')", "`open`"),
    "a file, behind objects": (MODULES + "['builtins'].open({mark!r}, 'w')", KILLED),
    "a file that is there": (MODULES + "['builtins'].open('/etc/passwd').read()", KILLED),
    "a program": (SYSTEM + "['system']('touch {mark}')", KILLED),
    "another process": (SYSTEM + "['fork']()", KILLED),
    "another program in place of this": (SYSTEM + "['execv']('/bin/touch', ['touch', {mark!r}])", KILLED),
    "a signal to who started it": (SYSTEM + "['kill'](" + SYSTEM + "['getppid'](), 9)", KILLED),
    "a module": (MODULES + "['builtins'].__import__('socket').socket()", KILLED),
    "a socket, past Python": (MODULES + "['ctypes'].CDLL(None).socket(2, 1, 0)", KILLED),
    "memory that runs": (MODULES + "['ctypes'].CDLL(None).mmap(0, 4096, 7, 34, -1, 0)", KILLED),
    "a thread": (MODULES + "['_thread'].start_new_thread(print, ())", KILLED),
    "another output": (SYSTEM + "['write'](1, b'x' * 100_000_000)", KILLED),
    "another limit": (MODULES + "['resource'].setrlimit(0, (-1, -1))", KILLED),
    "no filter": (MODULES + "['ctypes'].CDLL(None).prctl(22, 0, 0, 0, 0)", KILLED),
    "its end": (SYSTEM + "['_exit'](0)", "without an answer"),
    "an answer of its own": (SYSTEM + "['write'](int(" + SYSTEM + "['environ']['BWLINT_ANSWER']), b'[1]')", "without"),
}


@pytest.mark.parametrize("case", ESCAPES)
def test_what_it_must_not_do(case: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    expression, reason = ESCAPES[case]
    ran = run(f"{expression.replace('{mark!r}', repr(str(mark))).replace('{mark}', str(mark))}\nreturn True", tmp_path)
    told = ran.trouble or ran.answers["12.0"].undecided
    assert reason in told
    assert not mark.exists()
    assert ran.log == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True:\n    pass", "not done after"),
        ("return 10 ** 10 ** 10 > 1", "not done after"),
        ("def f(n):\n    return f(n + 1)\nreturn f(0)", "RecursionError"),
        ("return len('x' * (1 << 30)) > 1", "MemoryError"),
        ("return len([0] * (1 << 28)) > 1", "MemoryError"),
        ("x = []\nwhile True:\n    x.append('x' * 50_000_000)", ""),
        (
            f"{MODULES}['sys'].setrecursionlimit(10 ** 9)\ndef f(n):\n    return f(n + 1)\nreturn f(0)",
            "",
        ),
    ],
)
def test_what_has_no_end(body: str, reason: str, tmp_path: Path) -> None:
    ran = run(body, tmp_path, limit=1.5)
    told = ran.trouble or ran.answers["12.0"].undecided
    assert reason in told
    assert told


def test_a_slice_that_is_none(tmp_path: Path) -> None:
    plan = Cutout("", [("def __gate__(:", ["__gate__"])])
    ran = run_slice(Slice("m", "test", {"m": plan}, frozenset()), [chip("12.0")], tmp_path, 10)
    assert "does not compile" in ran.trouble


def test_a_kernel_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(Path(sandbox.__file__).parents[3])
    code = (
        f"import sys; sys.path += [{folder!r}]; from bwlint.confirm.slicing import inside, seccomp\n"
        "def refuse(descriptor): raise OSError(22, 'the kernel refuses a filter of system calls')\n"
        "seccomp.install = refuse; inside.main()"
    )
    monkeypatch.setattr(sandbox, "command", lambda _: (sys.executable, "-I", "-S", "-c", code))
    ran = run("return True", tmp_path)
    assert (ran.answers, "refuses a filter" in ran.refused) == ({}, True)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{",
        b"[]",
        b'{"chips": []}',
        b'{"chips": {"12.0": {}}}',
        b'{"chips": {"12.0": {"runs": 1}}}',
        b"[" * 100_000,
    ],
)
def test_answers_that_are_none(answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "run", lambda *_, **__: child.Ended(0, "", 0, answer, "", 0.0))
    assert run("return True", tmp_path).trouble == "the slice ended without an answer"


@pytest.mark.parametrize(
    ("system", "machine", "word"),
    [
        ("darwin", "arm64", "darwin"),
        ("win32", "AMD64", "win32"),
        ("linux", "riscv64", "riscv64"),
        ("linux", "i686", "i686"),
    ],
)
def test_machines_without_a_filter(system: str, machine: str, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bwlint.confirm.slicing.seccomp.sys.platform", system)
    monkeypatch.setattr("bwlint.confirm.slicing.seccomp.platform.machine", lambda: machine)
    assert word in (seccomp.unavailable() or "")


def decided(machine: str, audit: int, number: int, first: int = 0, third: int = 0, files_fail: bool = False) -> str:
    """What the filter of a machine makes of a system call: it is run here as the kernel runs it."""
    data = struct.pack("<iIQ6Q", number, audit, 0, first, 0, third, 0, 0, 0)
    program = seccomp._program(seccomp._MACHINES[machine], (7,), files_fail)
    lines = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    at = value = 0
    while True:
        code, yes, no, operand = lines[at]
        if code == 0x06:
            return {0x80000000: "killed", 0x7FFF0000: "allowed", 0x0005000D: "fails"}[operand]
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, operand)
            at += 1
            continue
        holds = value == operand if code == 0x15 else bool(value & operand)
        at += 1 + (yes if holds else no)


X86, ARM = 0xC000003E, 0xC00000B7
CALLS = [
    # machine, architecture, call, its first and third argument
    ("x86_64", X86, 231, 0, 0, "allowed"),  # exit_group
    ("x86_64", X86, 1, 7, 0, "allowed"),  # write to the answer
    ("x86_64", X86, 1, 1, 0, "killed"),  # write to stdout
    ("x86_64", X86, 0, 7, 0, "killed"),  # read
    ("x86_64", X86, 9, 0, 3, "allowed"),  # mmap of memory to write
    ("x86_64", X86, 9, 0, 7, "killed"),  # mmap of memory to run
    ("x86_64", X86, 10, 0, 5, "killed"),  # mprotect of memory to run
    ("x86_64", X86, 2, 0, 0, "killed"),  # open
    ("x86_64", X86, 41, 0, 0, "killed"),  # socket
    ("x86_64", X86, 57, 0, 0, "killed"),  # fork
    ("x86_64", X86, 59, 0, 0, "killed"),  # execve
    ("x86_64", X86, 0x40000001, 7, 0, "killed"),  # write of the x32 table
    ("x86_64", 0x40000003, 4, 7, 0, "killed"),  # write of a 32-bit program
    ("aarch64", ARM, 94, 0, 0, "allowed"),  # exit_group
    ("aarch64", ARM, 64, 7, 0, "allowed"),  # write to the answer
    ("aarch64", ARM, 64, 2, 0, "killed"),  # write to stderr
    ("aarch64", ARM, 222, 0, 7, "killed"),  # mmap of memory to run
    ("aarch64", ARM, 226, 0, 1, "allowed"),  # mprotect of memory to read
    ("aarch64", ARM, 56, 0, 0, "killed"),  # openat
    ("aarch64", ARM, 198, 0, 0, "killed"),  # socket
    ("aarch64", ARM, 220, 0, 0, "killed"),  # clone
    ("aarch64", X86, 231, 0, 0, "killed"),
]


@pytest.mark.parametrize(("machine", "audit", "number", "first", "third", "outcome"), CALLS)
def test_system_calls(machine: str, audit: int, number: int, first: int, third: int, outcome: str) -> None:
    assert decided(machine, audit, number, first, third) == outcome


@pytest.mark.parametrize(
    ("machine", "audit", "number", "outcome"),
    [
        ("x86_64", X86, 257, "fails"),  # openat
        ("x86_64", X86, 16, "fails"),  # ioctl
        ("x86_64", X86, 2, "killed"),  # open
        ("x86_64", X86, 57, "killed"),  # fork
        ("aarch64", ARM, 56, "fails"),
        ("aarch64", ARM, 29, "fails"),
        ("aarch64", ARM, 220, "killed"),  # clone
    ],
)
def test_files_that_fail(machine: str, audit: int, number: int, outcome: str) -> None:
    assert decided(machine, audit, number, files_fail=True) == outcome
