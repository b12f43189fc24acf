from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from effort import at_most

from bwlint.model.findings import Skipped
from bwlint.sources import disk
from bwlint.sources.walk import Discovery, Mount, discover


def plant(top: Path, files: Iterable[str]) -> Path:
    """Files below `top`, ``name`` with one line of Python or ``name: text``."""
    for row in files:
        name, colon, text = row.partition(": ")
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if colon else "x = 1\n")
    return top


def names(found: Discovery, top: Path) -> list[str]:
    return [file.path.removeprefix(f"{top}/") for file in found.files]


def in_tree(top: Path, **options: Any) -> list[str]:
    return names(discover([str(top)], **options), top)


def test_python_files_of_a_tree_in_order(tmp_path: Path) -> None:
    plant(tmp_path, ["b.py", "a/z.pyi", "a/b.py", "README.md", "a/run", ".buildkite/gen.py", "py"])
    assert in_tree(tmp_path) == [".buildkite/gen.py", "a/b.py", "a/z.pyi", "b.py"]


@pytest.mark.parametrize(
    "folder",
    [".git", ".hg", ".svn", "__pycache__", ".mypy_cache", ".tox", ".nox", "node_modules", "a.egg-info"],
)
def test_version_control_and_caches_are_left_out(tmp_path: Path, folder: str) -> None:
    plant(tmp_path, ["a.py", f"{folder}/b.py", f"sub/{folder}/c.py"])
    assert in_tree(tmp_path) == ["a.py"]
    assert in_tree(tmp_path, use_gitignore=False) == ["a.py"]


def test_virtual_environments_are_left_out_unless_named(tmp_path: Path) -> None:
    plant(tmp_path, ["a.py", "env/pyvenv.cfg: home = /usr", "env/lib/b.py"])
    (tmp_path / "linked").symlink_to(tmp_path / "env")
    assert discover([str(tmp_path)]).skipped == ()
    assert in_tree(tmp_path) == ["a.py"]
    assert in_tree(tmp_path / "env") == ["lib/b.py"]


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        *((one, "a/b.py") for one in (".", "./", "a", "a/", "./a", ".//a/", "././a/b.py", "a/b.py")),
        ("../tree", "../tree/a/b.py"),
        ("./../tree/a", "../tree/a/b.py"),
        ("a/.", "a/./b.py"),
    ],
)
def test_paths_are_the_argument_joined_with_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, path: str
) -> None:
    plant(tmp_path, ["tree/a/b.py"])
    monkeypatch.chdir(tmp_path / "tree")
    (file,) = discover([argument]).files
    assert (file.path, file.real) == (path, str(tmp_path.resolve() / "tree/a/b.py"))
    assert file.named == argument.endswith(".py")


def test_a_folder_named_like_a_file_is_a_folder(tmp_path: Path) -> None:
    plant(tmp_path, ["x.py/y.py"])
    assert in_tree(tmp_path) == ["x.py/y.py"]
    assert in_tree(tmp_path / "x.py") == ["y.py"]


def test_a_missing_argument_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, ["a.py"])
    missing = str(tmp_path / "no\x1b.py")
    found = discover([missing, str(tmp_path / "a.py"), str(tmp_path / "a.py/b.py"), "nul\0"])
    assert [error.path for error in found.errors] == [missing, f"{tmp_path}/a.py/b.py", "nul\0"]
    assert found.errors[0].reason == "no such file or directory"
    assert names(found, tmp_path) == ["a.py"]


def test_each_file_is_read_once(tmp_path: Path) -> None:
    plant(tmp_path, ["a/b.py", "c.py"])
    found = discover([f"{tmp_path}/a/b.py", str(tmp_path), f"{tmp_path}/a"])
    assert names(found, tmp_path) == ["a/b.py", "c.py"]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/usr/bin/env -S python3.12 -u\n", "python"),
        ("run", "#!/bin/sh\npython\n", "build"),
        ("run", "#!/usr/bin/env bash\n", "build"),
        ("run", "#!/usr/bin/perl\npython\n", None),
        ("run", "", None),
        ("data.csv", "#!/usr/bin/env python3\n", None),
    ],
)
def test_a_named_file_without_a_suffix_goes_by_its_first_line(
    tmp_path: Path, name: str, text: str, kind: str | None
) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = discover([str(path)])
    assert [file.kind for file in found.files] == ([kind] if kind else [])
    if kind is None:
        assert found.skipped == (Skipped(str(path), "not a kind of file that bwlint reads"),)


# Ignore files


@pytest.mark.parametrize(
    ("ignore", "kept"),
    [
        ("", ["a.py", "gen/a.py", "gen/deep/b.py", "src/gen.py"]),
        ("# a.py\n\n", ["a.py", "gen/a.py", "gen/deep/b.py", "src/gen.py"]),
        ("a.py\n", ["gen/deep/b.py", "src/gen.py"]),
        ("a.py\r\n", ["gen/deep/b.py", "src/gen.py"]),
        ("/a.py", ["gen/a.py", "gen/deep/b.py", "src/gen.py"]),
        ("gen/", ["a.py", "src/gen.py"]),
        ("gen/*\n!gen/a.py", ["a.py", "gen/a.py", "src/gen.py"]),
        ("gen/\n!gen/a.py", ["a.py", "src/gen.py"]),
        ("*.py\n!/src/*.py", ["src/gen.py"]),
        ("**/deep/**", ["a.py", "gen/a.py", "src/gen.py"]),
        ("gen/**/b.py", ["a.py", "gen/a.py", "src/gen.py"]),
        ("[ab].py", ["src/gen.py"]),
        ("[^a].py", ["a.py", "gen/a.py", "src/gen.py"]),
        ("\\a.py", ["gen/deep/b.py", "src/gen.py"]),
        ("?.py", ["src/gen.py"]),
        ("\ufeffa.py", ["gen/deep/b.py", "src/gen.py"]),
        ("!\n[z-a]\na.py", ["gen/deep/b.py", "src/gen.py"]),
    ],
)
def test_gitignore(tmp_path: Path, ignore: str, kept: list[str]) -> None:
    plant(tmp_path, ["a.py", "gen/a.py", "gen/deep/b.py", "src/gen.py"])
    (tmp_path / ".gitignore").write_text(ignore, encoding="utf-8", newline="")
    assert in_tree(tmp_path) == kept
    assert len(in_tree(tmp_path, use_gitignore=False)) == 4


def test_the_deepest_ignore_file_decides(tmp_path: Path) -> None:
    plant(tmp_path, ["a/b.py", "a/c.py", "c.py", ".gitignore: c.py", "a/.gitignore: !c.py\nb.py"])
    assert in_tree(tmp_path) == ["a/c.py"]


def test_ignore_files_above_count_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: *.py", "repo/.gitignore: b.py", "repo/a/b.py", "repo/a/c.py"])
    (tmp_path / "repo/.git/info").mkdir(parents=True)
    assert in_tree(tmp_path / "repo/a") == ["c.py"]
    (tmp_path / "repo/.git/info/exclude").write_text("c.py\n!b.py\n")
    assert in_tree(tmp_path / "repo/a") == []


def test_ignore_files_above_do_not_count_outside_a_repository(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: b.py", "a/b.py"])
    assert in_tree(tmp_path / "a") == ["b.py"]


def test_a_repository_inside_another_begins_anew(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: *.py", ".git/x: y", "sub/.git: gitdir: ../x", "sub/a.py", "b.py"])
    assert in_tree(tmp_path) == ["sub/a.py"]


@pytest.mark.parametrize("pattern", ["build/", "build", "/build", "out/build/", "**/build/"])
def test_an_ignored_folder_is_read_when_it_is_named(tmp_path: Path, pattern: str) -> None:
    plant(tmp_path, [f".gitignore: {pattern}", "out/build/a.py", "build/a.py"])
    (tmp_path / ".git").mkdir()
    argument = tmp_path / ("out/build" if "out" in pattern else "build")
    assert in_tree(argument) == ["a.py"]
    assert in_tree(argument, force_exclude=True) == []


def test_a_named_file_is_read_though_ignored_unless_forced(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: build/\nx.py", "build/deep/a.py", "x.py", "y.py"])
    (tmp_path / ".git").mkdir()
    paths = [f"{tmp_path}/{name}" for name in ("build/deep/a.py", "x.py", "y.py")]
    assert len(discover(paths).files) == 3
    assert names(discover(paths, force_exclude=True), tmp_path) == ["y.py"]
    assert len(discover(paths, force_exclude=True, use_gitignore=False).files) == 3


def test_a_slow_pattern_in_an_ignore_file_is_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: " + "*a" * 60 + "b", "a" * 200 + ".py"])
    with at_most(5):
        assert len(in_tree(tmp_path)) == 1


def test_ignore_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    plant(tmp_path, ["a.py"])
    (tmp_path / ".gitignore").write_bytes(b"#" * (2 * 1024 * 1024))
    found = discover([str(tmp_path)])
    assert names(found, tmp_path) == ["a.py"]
    assert found.skipped == (Skipped(f"{tmp_path}/.gitignore", "ignore file not read: larger than 1 MiB"),)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("seed", range(40))
def test_the_same_files_as_git(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    words = ["a", "b", "ab", "build", "gen_a"]
    for _ in range(40):
        folders = chance.choices(words, k=chance.randint(0, 3))
        path = tmp_path.joinpath(*folders, chance.choice(words) + chance.choice([".py", ".pyi", "_b.py"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    folders_there = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]
    pieces = [*words, "*", "**", "*.py", "a*", "?b", "[ab]", "[!a]*", "gen_*", "*_b.py", "b.py", "a.pyi"]
    for folder in chance.sample(folders_there, min(3, len(folders_there))):
        lines = [
            chance.choice(["", "", "", "!", "/", "!/"])
            + "/".join(chance.choices(pieces, k=chance.choice([1, 1, 2, 3])))
            + chance.choice(["", "", "/"])
            for _ in range(chance.randint(1, 5))
        ]
        (folder / ".gitignore").write_text("\n".join(lines))
    git = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    expected = sorted(name for name in listed.stdout.splitlines() if name.endswith((".py", ".pyi")))
    assert in_tree(tmp_path) == expected


# Links and special files


def test_a_linked_file_is_read_once_and_under_its_own_name(tmp_path: Path) -> None:
    plant(tmp_path, ["z.py", "script: x = 1"])
    (tmp_path / "a.py").symlink_to("z.py")
    (tmp_path / "b.py").symlink_to("script")
    (tmp_path / "c.py").symlink_to("b.py")
    found = discover([str(tmp_path)])
    assert names(found, tmp_path) == ["b.py", "z.py"]
    assert found.files[0].real == str(tmp_path.resolve() / "script")


def test_links_that_lead_nowhere_good_are_listed(tmp_path: Path) -> None:
    top = plant(tmp_path / "top", ["a/b.py"])
    plant(tmp_path, ["out/c.py"])
    (top / "a/up").symlink_to("..")
    (top / "a/self.py").symlink_to("self.py")
    (top / "a/gone.py").symlink_to("nothing.py")
    (top / "a/gone.txt").symlink_to("nothing.txt")
    (top / "a/out").symlink_to(tmp_path / "out")
    (top / "a/out.py").symlink_to(tmp_path / "out/c.py")
    (top / "again").symlink_to("a")
    found = discover([str(top)])
    assert names(found, top) == ["a/b.py"]
    assert found.skipped == (
        Skipped(f"{top}/a/gone.py", "symlink to nothing"),
        Skipped(f"{top}/a/out", "symlink leading out of the tree"),
        Skipped(f"{top}/a/out.py", "symlink leading out of the tree"),
        Skipped(f"{top}/a/self.py", "symlink loop"),
        Skipped(f"{top}/a/up", "symlink loop"),
    )


def test_arguments_may_be_links(tmp_path: Path) -> None:
    plant(tmp_path, ["real/b.py"])
    (tmp_path / "tree").symlink_to("real")
    (tmp_path / "c.py").symlink_to("real/b.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    assert in_tree(tmp_path / "tree") == ["b.py"]
    assert names(discover([f"{tmp_path}/c.py"]), tmp_path) == ["c.py"]
    assert discover([f"{tmp_path}/loop.py"]).skipped == (Skipped(f"{tmp_path}/loop.py", "symlink loop"),)


def test_special_files_are_listed_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo.py")
    os.mkfifo(tmp_path / "fifo.txt")
    (tmp_path / "linked.py").symlink_to("fifo.py")
    monkeypatch.chdir(tmp_path)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock.py")
        found = discover([".", "/dev/null", "fifo.py"])
    assert found.files == ()
    assert {skip.path: skip.reason for skip in found.skipped} == {
        "fifo.py": "not a regular file: a FIFO",
        "linked.py": "not a regular file: a FIFO",
        "sock.py": "not a regular file: a socket",
        "/dev/null": "not a regular file: a device",
    }


def test_a_folder_that_cannot_be_listed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions mean nothing to root, so the system call itself is made to fail.
    plant(tmp_path, ["a.py", "shut/b.py"])
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("/shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover([str(tmp_path)])
    assert names(found, tmp_path) == ["a.py"]
    assert found.skipped == (Skipped(f"{tmp_path}/shut", "folder not read: permission denied"),)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    for name in (b"latin-\xe9.py", "späte\n\x1b[31m.py".encode()):
        (tmp_path / os.fsdecode(name)).write_text("x = 1")
    found = discover([str(tmp_path)])
    assert sorted(names(found, tmp_path)) == ["latin-\\xe9.py", "späte\n\x1b[31m.py"]
    assert all(os.path.exists(file.real) for file in found.files)  # noqa: PTH110


def test_a_very_deep_tree(tmp_path: Path) -> None:
    folders = [tmp_path]
    while len(folders) < 1300:
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
        (folders[-1] / "__init__.py").touch()
    try:
        found = discover([str(tmp_path)])
        assert len(found.files) == 1299
        assert {file.root for file in found.files} == {str(tmp_path.resolve())}
    finally:
        # Deeper than what shutil.rmtree can remove.
        for folder in reversed(folders[1:]):
            (folder / "__init__.py").unlink()
            folder.rmdir()


# Mounts and roots


def test_a_mount_is_reported_by_its_name_and_has_no_rules_from_above(tmp_path: Path) -> None:
    plant(tmp_path, [".gitignore: *.py", "unpacked/vllm/a.py"])
    (tmp_path / ".git").mkdir()
    (file,) = discover([Mount("pypi:vllm==1.0", f"{tmp_path}/unpacked")]).files
    assert file.path == "pypi:vllm==1.0/vllm/a.py"


def test_roots(tmp_path: Path) -> None:
    plant(tmp_path, ["src/p/__init__.py", "src/p/q/__init__.py", "src/p/q/a.py", "src/p/data/b.py", "c.py"])
    real = tmp_path.resolve()
    expected = {"src/p/q/a.py": real / "src", "src/p/data/b.py": real / "src", "c.py": real}
    for argument in (tmp_path, tmp_path / "src/p", *(tmp_path / path for path in expected)):
        roots = {str(Path(file.real).relative_to(real)): Path(file.root) for file in discover([str(argument)]).files}
        assert roots
        assert expected.items() & roots.items() == {key: expected[key] for key in expected if key in roots}.items()


def _repository(top: Path, *tracked: str) -> None:
    git = ("git", "-c", "core.excludesFile=", "-c", "init.defaultBranch=main", "-C", str(top))
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", *tracked], check=True)


@pytest.mark.parametrize(
    ("ignore", "tracked", "read", "ignored"),
    [
        pytest.param("build/\n*.txt", ["CMakeLists.txt"], ["CMakeLists.txt", "a.py"], 1, id="a-pattern-too-wide"),
        pytest.param(
            "build/", ["build/gen/a.py"], ["CMakeLists.txt", "a.py", "build/gen/a.py"], 1, id="one-file-of-a-folder"
        ),
        pytest.param("build/", ["a.py"], ["CMakeLists.txt", "a.py"], 1, id="untracked-stays-out"),
        pytest.param("*.py", ["a.py", "build/gen/b.py"], ["CMakeLists.txt", "a.py", "build/gen/b.py"], 1, id="some"),
    ],
)
def test_what_git_tracks_is_read_whatever_ignore_files_say(
    tmp_path: Path, ignore: str, tracked: list[str], read: list[str], ignored: int
) -> None:
    plant(tmp_path, ["a.py", "CMakeLists.txt", "build/gen/a.py", "build/gen/b.py", f".gitignore: {ignore}\n"])
    _repository(tmp_path, ".gitignore", *tracked)
    found = discover([str(tmp_path)])
    assert (names(found, tmp_path), found.ignored) == (read, ignored)


def test_a_tracked_file_that_is_named_is_read_with_force_exclude(tmp_path: Path) -> None:
    plant(tmp_path, ["a.py", "b.py", ".gitignore: *.py\n"])
    _repository(tmp_path, "a.py")
    found = discover([str(tmp_path / name) for name in ("a.py", "b.py")], force_exclude=True)
    assert names(found, tmp_path) == ["a.py"]


def test_what_git_tracks_is_looked_at_again(tmp_path: Path) -> None:
    plant(tmp_path, ["a.py", ".gitignore: *.py\n"])
    _repository(tmp_path, ".gitignore")
    with disk.watching() as watch:
        disk.forget()
        assert in_tree(tmp_path) == []
    sight, look = next((key, look) for key, look in watch.looks.items() if key[0] == "tracked")
    assert disk.now(*sight, look, watch.began) is not None
    _repository(tmp_path, "a.py")
    assert disk.now(*sight, look, watch.began) is None
    disk.forget()
    assert in_tree(tmp_path) == ["a.py"]


@pytest.mark.parametrize("ignore", ["*.py\n", "*.txt\n"], ids=["some-left-out", "none-left-out"])
def test_where_git_does_not_list_what_it_tracks_this_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignore: str
) -> None:
    plant(tmp_path, ["a.py", f".gitignore: {ignore}"])
    _repository(tmp_path, "a.py")
    (tmp_path / ".git" / "index").write_bytes(b"broken")
    reasons = [[skip.reason for skip in discover([str(tmp_path)]).skipped]]
    disk.forget()
    monkeypatch.setenv("PATH", "")
    reasons.append([skip.reason for skip in discover([str(tmp_path)]).skipped])
    told = "git does not list the tracked files: "
    expected = [[f"{told}fatal: .git/index: index file smaller than expected"], [f"{told}git is not installed"]]
    assert reasons == (expected if ignore == "*.py\n" else [[], []])


def test_what_git_refuses_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, ["a.py", ".gitignore: *.py\n"])
    _repository(tmp_path, "a.py")
    os.utime(tmp_path / ".git" / "index", (1, 1))
    with disk.watching() as watch, monkeypatch.context() as without_git:
        without_git.setenv("PATH", "")
        disk.forget()
        assert in_tree(tmp_path) == []
    sight, look = next((key, look) for key, look in watch.looks.items() if key[0] == "tracked")
    assert disk.now(*sight, look, watch.began) is None
