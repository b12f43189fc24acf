"""The request of a run."""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.model.findings import FailOn, Severity


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is asked for. Empty tuples and None mean that the configuration decides.

    `stdin` is the content to check under the name `paths[0]`. `fixes` asks for repairs with the findings,
    `ways` for what else may be done.
    `link_budget` is how many files beyond the given ones may be read. `config` is the file that takes the place of all
    configurations, `isolated` asks for none; `exclude` and `include` are gitignore patterns from the current folder.
    `decisions` is the file of what people have decided, where it is not the usual one.
    """

    paths: tuple[str, ...]
    target: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity | None = None
    fail_on: FailOn | None = None
    use_gitignore: bool = True
    force_exclude: bool = False
    jobs: int | None = None
    stdin: bytes | None = None
    fixes: bool = False
    ways: bool = False
    link_budget: int | None = None
    config: str | None = None
    isolated: bool = False
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    decisions: str | None = None
