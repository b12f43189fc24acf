from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files


@dataclass(frozen=True)
class Entry:
    op: str
    sm: int
    sm_end: int
    target: str
    priority: int = 0

    def admits(self, sm: int) -> bool:
        return self.sm <= sm < self.sm_end

    def load(self):
        module, _, name = self.target.partition(":")
        return getattr(import_module(module), name)


@cache
def entries() -> tuple[Entry, ...]:
    text = files("nvfp4kit").joinpath("kernels.toml").read_text()
    return tuple(Entry(**row) for row in tomllib.loads(text)["kernel"])


@cache
def lookup(op: str, sm: int):
    found = [e for e in entries() if e.op == op and e.admits(sm)]
    if not found:
        raise NotImplementedError(f"{op}: nothing for sm_{sm}")
    return max(found, key=lambda e: e.priority).load()
