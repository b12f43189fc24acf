"""A filter of system calls for a process that has all it needs: from then on it can compute, and answer.

What may be called is memory, time, signals to itself and the end; writing, to descriptors that are named. Anything
else ends the process, but for what asks for files where that may fail. Nothing of it can be undone from within.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass

# linux/audit.h: the architecture as the kernel names it in the data of a filter.
_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7


@dataclass(frozen=True, slots=True)
class _Machine:
    """System calls by number. `checked` have one argument looked at: write its descriptor, the others their rights."""

    audit: int
    write: int
    files: tuple[int, ...]
    mapping: tuple[int, ...]
    plain: tuple[int, ...]


# asm/unistd_64.h and asm-generic/unistd.h of Linux; write, openat, ioctl, newfstatat, mmap and mprotect, then munmap,
# brk, mremap, madvise, rt_sigaction, rt_sigprocmask, rt_sigreturn, sigaltstack, restart_syscall, sched_yield, futex,
# clock_gettime, gettimeofday, getrandom, exit, exit_group, gettid.
_MACHINES = {
    "x86_64": _Machine(
        _X86_64, 1, (257, 16, 262), (9, 10), (11, 12, 25, 28, 13, 14, 15, 131, 219, 24, 202, 228, 96, 318, 60, 231, 186)
    ),
    "aarch64": _Machine(
        _AARCH64,
        64,
        (56, 29, 79),
        (222, 226),
        (215, 214, 216, 233, 134, 135, 139, 132, 128, 124, 98, 113, 169, 278, 93, 94, 178),
    ),
}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000
_EXECUTABLE = 0x4
# Offsets in `struct seccomp_data`, and the classic BPF instructions that are used.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06


def unavailable() -> str | None:
    """Why this machine has no such filter; None where it has."""
    if sys.platform != "linux":
        return f"a gate runs only behind a filter of system calls, which {sys.platform} does not have"
    if platform.machine() not in _MACHINES or struct.calcsize("P") != 8:
        return f"a gate runs only behind a filter of system calls, and there is none for {platform.machine()}"
    return None


def install(*descriptors: int, files_fail: bool = False) -> None:
    """From now on this process may write to `descriptors`, compute, and end. Raises OSError where that is refused. With
    `files_fail` who opens a file, or asks whether one is there or is a terminal, gets an error, and goes on:
    what warns or raises looks for its source."""
    program = _program(_MACHINES[platform.machine()], descriptors, files_fail)
    library = ctypes.CDLL(None, use_errno=True)
    filter_ = ctypes.create_string_buffer(program)
    # struct sock_fprog: a count of instructions and a pointer to them
    described = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(filter_)))
    pointer = ctypes.addressof(described)
    for option, second, third in ((_PR_SET_NO_NEW_PRIVS, 1, 0), (_PR_SET_SECCOMP, _MODE_FILTER, pointer)):
        if library.prctl(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in (second, third, 0, 0))):
            raise OSError(ctypes.get_errno(), "the kernel refuses a filter of system calls")


def _program(machine: _Machine, descriptors: Sequence[int], files_fail: bool) -> bytes:
    """The filter as instructions of classic BPF."""
    kill, allow = _instruction(_RETURN, _KILL), _instruction(_RETURN, _ALLOW)
    lines = [_instruction(_LOAD, _ARCHITECTURE), _instruction(_EQUAL, machine.audit, yes=1), kill]
    lines.append(_instruction(_LOAD, _NUMBER))
    if files_fail:
        for number in machine.files:
            lines += [_instruction(_EQUAL, number, no=1), _instruction(_RETURN, _FAIL | errno.EACCES)]
    for number in machine.plain:
        lines += [_instruction(_EQUAL, number, no=1), allow]
    for number in machine.mapping:  # memory that can be run is not for who only computes
        rights = _instruction(_LOAD, _ARGUMENTS + 8 * 2)
        lines += [_instruction(_EQUAL, number, no=4), rights, _instruction(_ANY_BIT, _EXECUTABLE, no=1), kill, allow]
    lines += [_instruction(_EQUAL, machine.write, yes=1), kill, _instruction(_LOAD, _ARGUMENTS)]
    for descriptor in descriptors:
        lines += [_instruction(_EQUAL, descriptor, no=1), allow]
    lines.append(kill)
    return b"".join(lines)


def _instruction(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """`struct sock_filter`: how many instructions to jump over where a comparison holds, and where it does not."""
    return struct.pack("@HBBI", code, yes, no, value)
