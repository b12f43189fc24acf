"""`bwlint init`: a configuration, a hook and a workflow for a repository, shown before anything is written."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click

from bwlint import __version__
from bwlint.commands.terminal import CLEAN, WRONG, failure, put_right, repository, say
from bwlint.data import hooks_file
from bwlint.report.write import write_report
from bwlint.sources.kinds import FOREIGN_FOLDERS
from bwlint.sources.worktree import commit_of, origin_of, revision_of, top_of

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class HookOrigin:
    """Where bwlint itself can be had: its repository and what to take of it. Without a URL, nobody has named one."""

    url: str = ""
    rev: str = ""
    is_indexed: bool = False
    """Whether this copy was installed by name, so that an index has its version."""

    @property
    def requirement(self) -> str:
        """What pip installs it by."""
        return f"git+{self.url}@{self.rev}" if self.url else f"bwlint=={__version__}"

    @property
    def is_local(self) -> bool:
        return self.url.startswith(("file:", "/", "."))

    @property
    def is_anywhere(self) -> bool:
        """Whether a job of CI can have it, as far as this copy knows."""
        return not self.is_local if self.url else self.is_indexed

    @property
    def action(self) -> str:
        """What a workflow of GitHub uses: the action of a repository there; "" of any other."""
        there = re.match(r"(?:\w+://)?(?:[^@/]+@)?github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", self.url)
        return f"{there[1]}@{self.rev}" if there else ""


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """A file as it is (None: there is none) and as it is to be."""

    path: Path
    before: str | None
    after: str


def run(options: dict[str, Any]) -> int:
    """Show the files to write, and write them if the user agrees; the exit code."""
    folder = _repository(options["path"])
    origin = HookOrigin(options["repo"], _own_revision()) if options["repo"] else own_origin()
    if options["rev"]:
        if not origin.url:
            raise failure(ValueError("this bwlint does not know its repository: name it with --repo URL"))
        origin = replace(origin, rev=options["rev"])
    proposals, remarks = proposed(folder, origin, audit=_audits(options["audit"]))
    click.echo("".join(_diff(proposal, folder) for proposal in proposals), nl=False)
    for remark in remarks:
        say(f"bwlint: {remark}\n")
    if not proposals:
        say("bwlint: nothing to write\n")
        return CLEAN
    if not options["yes"] and not sys.stdin.isatty():
        say("bwlint: nothing was written, for there is no terminal to ask on: add --yes to write it\n")
        return WRONG
    if not options["yes"] and not _agrees(len(proposals)):
        say("bwlint: nothing was written; --yes writes it\n")
        return CLEAN
    for proposal in proposals:
        _write(proposal)
    say("bwlint: written. Next: `bwlint baseline .` if much is found, git add these files, `pre-commit install`\n")
    return CLEAN


def _repository(named: str | None) -> Path:
    """The folder to set up: the named one, else the top of the git tree that we are in. Raises Failure where the named
    one is only a part of a git tree."""
    here = os.path.realpath(named or os.curdir)
    top = top_of(here)
    if top is None or top == here:
        return Path(named or os.curdir)
    if named is not None:
        words = f"{named} is a folder of {top}. pre-commit and CI read their files at the top only: `bwlint init {top}`"
        raise failure(ValueError(words))
    say(f"bwlint: this sets up {top}, the top of the repository: pre-commit and CI read their files there only\n")
    return Path(top)


def _audits(wish: bool | None) -> bool:
    """Whether hook and CI are to fail for questions that nobody has decided: as told, or as the user answers."""
    if wish is not None:
        return wish
    if not sys.stdin.isatty():
        say("bwlint: --audit makes hooks and CI also stop at new checks of the chip until somebody decides them\n")
        return False
    words = "Stop commits and pull requests at new checks of the chip until somebody decides them (bwlint audit)?"
    return click.confirm(words, default=False, err=True)


def proposed(folder: Path, origin: HookOrigin, *, audit: bool = False) -> tuple[list[ProposedFile], list[str]]:
    """What to write in a repository, with `bwlint audit` or without it, and what the user has to do by himself."""
    found: list[ProposedFile] = []
    remarks: list[str] = []
    for made in (_configuration(folder), _hook(folder, origin, audit=audit), *_jobs(folder, origin, audit=audit)):
        if isinstance(made, ProposedFile):
            found.append(made)
        elif made:
            remarks.append(made)
    if top_of(os.path.realpath(folder)) is None:
        remarks.append(f"{folder} is in no git tree, and hooks need one: `git init`")
    if origin.is_local:
        remarks.append(f"{origin.url} is on this machine: a workflow of CI does not get it there")
    if not origin.url and not origin.is_indexed:
        words = f"the hook runs the bwlint on PATH. CI installs {origin.requirement} by name: put it on the index there"
        remarks.append(f"{words}, or name a repository with --repo URL")
    return found, remarks


def own_origin() -> HookOrigin:
    """Where this bwlint was installed from, or where its distribution says that it is kept."""
    told = _installed_from()
    if told is None:
        return HookOrigin()
    direct = json.loads(told or "{}")
    version = direct.get("vcs_info", {}).get("commit_id")
    if version and not direct["url"].startswith("file:"):
        return HookOrigin(direct["url"], version)
    if "dir_info" in direct and (origin := _cloned(direct["url"])):
        return origin
    url = repository()
    return HookOrigin(url, f"v{__version__}" if url else "", is_indexed=not told)


def _installed_from() -> str | None:
    """What the distribution of this bwlint says of where it was had (PEP 610), "" where an index was asked for it by
    name; None where there is no distribution."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution("bwlint").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return None


def _own_revision() -> str:
    """What to take of a repository of bwlint: the commit of this copy, where it has one and no tag of its version."""
    tag, direct = f"v{__version__}", json.loads(_installed_from() or "{}")
    if commit := direct.get("vcs_info", {}).get("commit_id"):
        return str(commit)
    top = _top_of_clone(direct["url"]) if "dir_info" in direct else None
    return tag if top is None or revision_of(top, tag) else commit_of(top) or tag


def _top_of_clone(uri: str) -> str | None:
    return top_of(os.path.realpath(url2pathname(urlsplit(uri).path)))


def _cloned(uri: str) -> HookOrigin | None:
    """What a clone of bwlint, from which it was installed, was cloned from, and the commit that is there now."""
    top = _top_of_clone(uri)
    url, commit = (origin_of(top), commit_of(top)) if top else (None, None)
    return HookOrigin(url, commit) if url and commit else None


def _configuration(folder: Path) -> ProposedFile | str | None:
    pyproject = folder / "pyproject.toml"
    if (folder / "bwlint.toml").exists():
        return "bwlint.toml already exists"
    if re.search(r"^\[tool\.bwlint\b", _text(pyproject) or "", re.MULTILINE):
        return "pyproject.toml has [tool.bwlint] already"
    own = [name for name in FOREIGN_FOLDERS if (folder / name).is_dir()]
    below = (name for name in _submodules(folder) if name.partition("/")[0] not in own)
    foreign = sorted({*own, *below})
    rows = [
        "# What bwlint is asked about: GB10 (DGX Spark) beside the RTX 50 series.\n",
        'target = ["sm_120", "sm_121"]\n',
        "# The lowest severity to show, and to fail on.\n",
        'severity = "warning"\nfail-on = "warning"\n',
        "# `bwlint baseline .` records today's findings in this file and uncomments the line.\n",
        "# `bwlint check` then reports new findings only.\n",
        '# baseline = "bwlint-baseline.json"\n',
    ]
    if foreign:
        rows += ["# Code of others.\n", f"exclude = {json.dumps([f'/{name}/' for name in foreign])}\n"]
    return ProposedFile(folder / "bwlint.toml", None, "".join(rows))


def _submodules(folder: Path) -> list[str]:
    text = _text(folder / ".gitmodules") or ""
    return [path.strip() for path in re.findall(r"^\s*path\s*=\s*([\w./-]+)\s*$", text, re.MULTILINE)]


def _hook(folder: Path, origin: HookOrigin, *, audit: bool) -> ProposedFile | str | None:
    path = folder / ".pre-commit-config.yaml"
    before = _text(path)
    try:
        there = {} if before is None else _hooks_in(before)
    except ValueError as error:
        words = f"{path.name} is not read: {error}. Correct it and run `bwlint init` again, or add the hook by hand"
        raise failure(ValueError(words)) from None
    own = {repo for name, repo in there.items() if name.startswith("bwlint")}
    lacking = ["bwlint"] * (not own) + ["bwlint-audit"] * (audit and "bwlint-audit" not in there)
    if own and (not lacking or "local" not in own):
        return f"{path.name} has the hook already{'; add `- id: bwlint-audit` beside it' if lacking else ''}"
    rows = _hook_rows(origin, lacking)
    if before is None:
        return ProposedFile(path, None, "repos:\n" + "".join(f"{row}\n" for row in rows))
    listed = re.sub(r"^repos:[ \t]*\[\s*\]", "repos:", before, count=1, flags=re.MULTILINE)
    first = re.search(r"^( *)- +repo:", listed, re.MULTILINE)
    # From `repos:` to the next key of the file. Comments in front of that are its own.
    entries = re.search(r"^repos:\s*(?:#.*)?$(?:\n(?![^\s#-]).*)*", listed, re.MULTILINE)
    if entries is not None:
        indent = first[1] if first else ""
        block = "".join(f"{indent}{row}\n" for row in rows)
        end = entries.end()
        if end < len(listed):
            end -= len(entries[0]) - len(re.sub(r"(?:\n(?:#.*|[ \t\r]*))*\Z", "", entries[0]))
        after = "".join((listed[:end].rstrip(), "\n", block, listed[end:].removeprefix("\n")))
        if _adds_one(before, after):
            return ProposedFile(path, before, after)
    words = f"{path.name}: this form is not added to. Add the hook to `repos` by hand and run `bwlint init` again:"
    raise failure(ValueError("\n".join((words, *rows))))


def _hook_rows(origin: HookOrigin, names: Sequence[str]) -> list[str]:
    """The lines of an entry with these hooks: of bwlint's repository or, where none is known, local ones."""
    import yaml

    if origin.url:
        entry = {"repo": origin.url, "rev": origin.rev, "hooks": [{"id": name} for name in names]}
    else:
        listed = yaml.safe_load(hooks_file().read_text(encoding="utf-8"))
        installed = {"additional_dependencies": [origin.requirement]} if origin.is_indexed else {"language": "system"}
        own = [hook | installed for hook in listed if hook["id"] in names]
        for hook in own:
            del hook["description"]  # it names chips, of which an audit of the repository would tell
        entry = {"repo": "local", "hooks": own}
    text: str = yaml.safe_dump([entry], sort_keys=False, width=float("inf"))
    return text.splitlines()


def _hooks_in(text: str) -> dict[str, str]:
    """The repository of each hook in a configuration of pre-commit. Raises ValueError for what is none."""
    import yaml

    try:
        return {str(hook["id"]): entry["repo"] for entry in yaml.safe_load(text)["repos"] for hook in entry["hooks"]}
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{place}{error.problem}") from None
    except (yaml.YAMLError, LookupError, TypeError, RecursionError):  # whatever else a file may hold
        raise ValueError("it needs a list `repos` of entries with `repo` and `hooks`") from None


def _adds_one(before: str, after: str) -> bool:
    """Whether the one thing that differs between two configurations is a repository more."""
    import yaml

    try:
        old, new = yaml.safe_load(before), yaml.safe_load(after)
        return bool(new["repos"][:-1] == old["repos"] and {**new, "repos": old["repos"]} == old)
    except (yaml.YAMLError, LookupError, TypeError, RecursionError):
        return False


def _jobs(folder: Path, origin: HookOrigin, *, audit: bool) -> Iterator[ProposedFile | str | None]:
    top = top_of(os.path.realpath(folder))
    host = urlsplit((top and origin_of(top)) or "").hostname or ""
    pipeline = folder / ".gitlab-ci.yml"
    is_gitlab = pipeline.exists() or any(part.startswith("gitlab") for part in host.split("."))
    if (folder / ".github").is_dir() or not is_gitlab:
        path = folder / ".github" / "workflows" / "bwlint.yml"
        yield _job(path, "workflow", partial(_workflow, origin), audit=audit)
    if is_gitlab:
        job = partial(_gitlab, origin, _stage(_text(pipeline) or ""))
        yield (made := _job(folder / ".gitlab" / "bwlint.yml", "job", job, audit=audit))
        if not pipeline.exists():
            yield ProposedFile(pipeline, None, "include:\n- local: .gitlab/bwlint.yml\n")
        elif isinstance(made, ProposedFile) and made.before is None:
            yield "add to .gitlab-ci.yml `- local: .gitlab/bwlint.yml` under `include:`"


def _job(path: Path, called: str, text: Callable[..., str], *, audit: bool) -> ProposedFile | str:
    """What CI runs. A file that is there gets the audit where it is as this writes it without one."""
    before = _text(path)
    if before is None or (audit and before == text(audit=False)):
        return ProposedFile(path, before, text(audit=audit))
    without = f" without an audit: rename {path.name}, and `bwlint init --audit` writes one with it"
    return f"the {called} already exists" + (without if audit and "audit" not in before else "")


def _workflow(origin: HookOrigin, *, audit: bool) -> str:
    with_action = f"    - uses: {origin.action}\n{_AUDIT_OF_ACTION if audit else ''}"
    return f"""\
name: bwlint
on:
  push:
    branches: [main, master]
  pull_request:
permissions:
  actions: read            # for upload-sarif in a private repository
  contents: read
  security-events: write   # for upload-sarif
jobs:
  bwlint:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v7
      with:
        persist-credentials: false
{_WHOLE_HISTORY if audit else ""}\
{with_action if origin.action else _with_pip(origin, audit=audit)}"""


def _replace(indent: str, origin: HookOrigin) -> str:
    """The comment above the line that installs bwlint, where CI may not get it by that."""
    words = "Replace this by what CI can install: a version on its index, or git+URL@REV of a repository"
    return "" if origin.is_anywhere else f"{indent}# {words}.\n"


def _with_pip(origin: HookOrigin, *, audit: bool) -> str:
    return f"""\
    - uses: actions/setup-python@v7
      with:
        python-version: "3.12"
{_replace("    ", origin)}\
    - run: pip install "{origin.requirement}"
    - run: bwlint check --format sarif:bwlint.sarif --format github .
{_AUDIT if audit else ""}\
    - uses: github/codeql-action/upload-sarif@v4
      if: always() && hashFiles('bwlint.sarif') != ''
      with:
        sarif_file: bwlint.sarif
        category: bwlint
"""


_WHOLE_HISTORY = """\
        fetch-depth: 0         # for --since
"""
# A merge request is judged by a pipeline of its own as soon as one job, that of the audit, asks for it.
_RULES_OF_GITLAB = """\
  rules:
  - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
"""
_AUDIT_OF_ACTION = """\
      with:
        since: ${{ github.event.pull_request.base.sha }}
        audit: ${{ github.event_name == 'pull_request' && 'review' || '' }}
"""
_AUDIT = """\
    - run: bwlint audit --since "origin/$GITHUB_BASE_REF" --fail-on review .
      if: ${{ !cancelled() && github.event_name == 'pull_request' }}
"""


_STAGES = ("test", "check", "lint", "verify")
"""Names of stages that fit, the best first. `test` is one of those that GitLab has where no file lists any."""


def _stage(pipeline: str) -> str:
    """The stage of `.gitlab-ci.yml` for a job: of those that it lists, one that fits, else the first."""
    import yaml

    listed: list[str] = []
    try:
        whole = yaml.compose(pipeline, yaml.SafeLoader)  # without a look at tags, such as !reference
        rows = whole.value if isinstance(whole, yaml.MappingNode) else ()
        for key, value in rows:
            if key.value == "stages" and isinstance(value, yaml.SequenceNode):
                listed += [one.value for one in value.value if isinstance(one, yaml.ScalarNode)]
    except (yaml.YAMLError, RecursionError):
        pass
    found = next((name for name in _STAGES if name in listed), listed[0] if listed else _STAGES[0])
    return found if re.fullmatch(r"[A-Za-z][\w.-]*", found) else json.dumps(found)


def _gitlab(origin: HookOrigin, stage: str = _STAGES[0], *, audit: bool = False) -> str:
    return f"""\
bwlint:
  stage: {stage}   # one of `stages:`, if .gitlab-ci.yml lists them
  image: python:3.12
{_RULES_OF_GITLAB if audit else ""}\
  script:
{_replace("  ", origin)}\
  - pip install "{origin.requirement}"
  - bwlint check --format gitlab:gl-code-quality-report.json --format concise .
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
{_gitlab_audit(origin, stage) if audit else ""}"""


def _gitlab_audit(origin: HookOrigin, stage: str) -> str:
    return f"""\

bwlint-audit:
  stage: {stage}   # one of `stages:`, if .gitlab-ci.yml lists them
  image: python:3.12
  rules:
  - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  variables:
    GIT_DEPTH: 0               # for --since
  script:
{_replace("  ", origin)}\
  - pip install "{origin.requirement}"
  - bwlint audit --since "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --fail-on review .
"""


def _text(path: Path) -> str | None:
    """What is in a file of moderate size; None where there is none. Raises Failure for one that cannot be read."""
    if not path.exists():
        return None
    with put_right(doing=str(path)):
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            raise OSError(0, "no file of moderate size")
        data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise failure(ValueError(f"{path}: not UTF-8")) from None


def _diff(proposal: ProposedFile, folder: Path) -> str:
    name = proposal.path.relative_to(folder).as_posix()
    old = (proposal.before or "").splitlines(keepends=True)
    source = "/dev/null" if proposal.before is None else f"a/{name}"
    return "".join(unified_diff(old, proposal.after.splitlines(keepends=True), source, f"b/{name}"))


def _agrees(count: int) -> bool:
    return click.confirm(f"Write {count} file{'s' * (count > 1)}?", default=False, err=True)


def _write(proposal: ProposedFile) -> None:
    with put_right(doing=f"cannot write {proposal.path}"):
        proposal.path.parent.mkdir(parents=True, exist_ok=True)
        if _text(proposal.path) != proposal.before:
            raise OSError(0, "changed since it was read")
        write_report(proposal.after, proposal.path)
