"""Addresses of git, and what comes of one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bwlint.sources.git import Repository, check_out, commit_of, is_repository, parse_repository
from bwlint.sources.pypi import SourceError

COMMIT = "0123456789" * 4


@pytest.mark.parametrize(
    ("text", "url", "ref", "scheme"),
    [
        ("https://host/o/r.git", "https://host/o/r.git", "HEAD", "https"),
        ("https://host:8443/o/r@v1.2", "https://host:8443/o/r", "v1.2", "https"),
        ("git+https://host/o/r@feature/x", "https://host/o/r", "feature/x", "https"),
        ("ssh://git@host:22/o/r@main", "ssh://git@host:22/o/r", "main", "ssh"),
        ("git@host:o/r.git", "git@host:o/r.git", "HEAD", "ssh"),
        (f"git@host:o/r.git@{COMMIT}", "git@host:o/r.git", COMMIT, "ssh"),
        ("file:///a/b", "file:///a/b", "HEAD", "file"),
        ("file:///a@b/c@HEAD", "file:///a@b/c", "HEAD", "file"),
        ("https://[::1]/r", "https://[::1]/r", "HEAD", "https"),
    ],
)
def test_an_address(text: str, url: str, ref: str, scheme: str) -> None:
    assert is_repository(text)
    assert parse_repository(text) == Repository(url, ref, scheme)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://host/r", "http:// is not read"),
        ("git://host/r", "git:// is not read"),
        ("ext::sh -c touch% x://r", "unusual character"),
        ("ext::sh://r", "ext::sh:// is not read"),
        ("https://host/r@-x", "'-x' is not the name of a branch"),
        ("https://host/r@--upload-pack=x", "is not the name of a branch"),
        ("https://host/r@a..b", "is not the name of a branch"),
        ("https://host/r@", "'' is not the name of a branch"),
        ("https://host/@x", "'x' is not the name of a branch"),
        ("https://host/r@*", "is not the name of a branch"),
        ("ssh://-oProxyCommand=x/r", "is not the name of a host"),
        ("https:///r", "'' is not the name of a host"),
        ("https://token@host/r", "would stand in reports"),
        ("ssh://git:secret@host/r", "would stand in reports"),
        ("file://host/r", "write file:///"),
        ("https://host/a b", "unusual character"),
        ("https://host/a\x1b", "unusual character"),
    ],
)
def test_a_refusal(text: str, words: str) -> None:
    with pytest.raises(SourceError, match=r"(?s).*") as raised:
        parse_repository(text)
    assert words in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("text", ["/a/b", "a@b", "pkg/x.whl", "C:/x", "host:path", "."])
def test_a_path_is_no_address(text: str) -> None:
    assert not is_repository(text)


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder, without the configuration of whoever runs the tests."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a commit behind a tag, another on main, filters, hooks and a submodule that is nowhere."""
    folder = tmp_path_factory.mktemp("origin")
    git(folder, "init", "--quiet")
    (folder / "a.py").write_text("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "-a", "v1", "-m", "v1")
    git(folder, "branch", "feature/x")
    (folder / "a.py").write_text("x = 2\n")
    (folder / ".gitattributes").write_text("*.py filter=harm\n")
    (folder / ".gitmodules").write_text('[submodule "m"]\n\tpath = m\n\turl = file:///nowhere\n')
    git(folder, "add", ".")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{COMMIT},m")
    git(folder, "commit", "--quiet", "-m", "two")
    return folder


@pytest.mark.parametrize(
    ("ref", "content"),
    [
        ("", "x = 2\n"),
        ("@main", "x = 2\n"),
        ("@v1", "x = 1\n"),
        ("@feature/x", "x = 1\n"),
        ("@refs/heads/main", "x = 2\n"),
    ],
)
def test_what_comes_of_it(ref: str, content: str, origin: Path, tmp_path: Path) -> None:
    repository = parse_repository(f"file://{origin}{ref}")
    commit = check_out(repository, tmp_path / "tree")
    assert (tmp_path / "tree" / "a.py").read_text() == content
    assert commit == commit_of(repository) == git(origin, "rev-parse", f"{ref.lstrip('@') or 'HEAD'}^{{commit}}")
    assert git(tmp_path / "tree", "rev-list", "--count", "HEAD") == "1"


def test_a_commit_is_known_without_asking(origin: Path, tmp_path: Path) -> None:
    commit = git(origin, "rev-parse", "v1^{commit}")
    assert commit_of(parse_repository(f"https://nowhere.invalid/r@{commit}")) == commit
    assert check_out(parse_repository(f"file://{origin}@{commit}"), tmp_path / "tree") == commit


def test_nothing_of_it_is_run(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harm = tmp_path / "harm"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    hook = hooks / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {harm}\n")
    hook.chmod(0o755)
    configuration = tmp_path / "configuration"
    configuration.write_text(
        f'[filter "harm"]\n\tsmudge = touch {harm}; cat\n\trequired = true\n[core]\n\thooksPath = {hooks}\n'
        "[submodule]\n\trecurse = true\n[fetch]\n\trecurseSubmodules = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    check_out(parse_repository(f"file://{origin}"), tmp_path / "tree")
    assert not harm.exists()
    assert not list((tmp_path / "tree" / "m").glob("*"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file:///nowhere/at/all", "git ls-remote: fatal: "),
        ("file://{origin}@nothing", "has no branch or tag nothing"),
        ("file://{origin}@abc123", "has no branch or tag abc123"),
        ("file://{origin}@" + "0" * 40, "git fetch: fatal: "),
    ],
)
def test_what_does_not_come(text: str, words: str, origin: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as raised:
        check_out(parse_repository(text.format(origin=origin)), tmp_path / "tree")
    assert words in str(raised.value)


def test_what_both_ends_say_at_once_is_told_in_one_order(origin: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    git(tmp_path, "clone", "--quiet", "--bare", str(origin), str(damaged))
    for name in (git(damaged, "rev-parse", "HEAD:a.py"), git(damaged, "rev-parse", "v1:a.py")):
        (damaged / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(SourceError) as raised:
        check_out(parse_repository(f"file://{damaged}"), tmp_path / "tree")
    told = str(raised.value).removeprefix("git fetch: ").split("; ")
    assert len(told) > 1
    fatal = [line for line in told if line.startswith("fatal: ")]
    assert fatal
    assert told[: len(fatal)] == sorted(fatal)


def test_an_address_turned_into_a_forbidden_one(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = tmp_path / "configuration"
    configuration.write_text(f'[url "file://{origin}"]\n\tinsteadOf = https://host/r\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    with pytest.raises(SourceError, match="transport 'file' not allowed"):
        commit_of(parse_repository("https://host/r"))
