"""The child's side: one job on stdin, one answer on the file descriptor that `BWLINT_ANSWER` names."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from bwlint.confirm.driver import calls, jobs

_ANSWER = "BWLINT_ANSWER"


def _peer(driver: calls.Driver, job: dict[str, Any]) -> dict[str, Any]:
    # Few jobs are for two GPUs.
    from bwlint.confirm.driver.peer import peer

    return peer(driver, job)


_JOBS: dict[str, Callable[[calls.Driver, dict[str, Any]], dict[str, Any]]] = {
    "devices": jobs.devices,
    "image": jobs.image,
    "peer": _peer,
}


def main() -> None:
    # A kernel that prints may hold stdout; what we say goes elsewhere.
    answer = _answer(json.loads(sys.stdin.buffer.read()))
    _write(int(os.environ[_ANSWER]), json.dumps(answer).encode())
    # Taking a driver down may hang or fault, and nothing is left to do.
    sys.stdout.flush()
    os._exit(0)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return _JOBS[job["do"]](calls.opened(), job)
    except calls.Missing as missing:
        return {"missing": str(missing)}
    except calls.Refused as refused:
        return refused.answer()
    except (LookupError, TypeError, ValueError, AttributeError, OSError, MemoryError) as wrong:
        return {"missing": f"the job could not be done: {type(wrong).__name__}: {wrong}"[:500]}


def _write(to: int, answer: bytes) -> None:
    while answer:
        answer = answer[os.write(to, answer) :]
