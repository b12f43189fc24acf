from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bwlint.settings import config
from bwlint.settings.config import DEFAULT, FORMS, Config, ConfigError, Configs, OwnLibrary, load

FULL = """
target = ["sm_120", "sm_121"]
select = ["family-split"]
ignore = ["BW105"]
severity = "note"
fail-on = "error"
baseline = "ci/known.json"
exclude = ["build/", "*_pb2.py"]

[per-file-ignores]
"tests/**" = ["leak", "excluded"]

[sources]
arch-lists = ["my_archs", "pkg.ARCHS"]
capability-functions = { "pkg.mod.get_cc" = "tuple", get_sm = "joined" }

[[library]]
name = "mylib.kernels.fp8_*"
chips = ["9.0", "10.0"]
what = "our FP8 kernels"
"""


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def library(more: str = "", name: str = "'a.b'", chips: str = "['10.0']", what: str = "'kernels'") -> str:
    """A row of a library, with a key more or another value."""
    return f"[[library]]\nname = {name}\nchips = {chips}\nwhat = {what}\n{more}"


def in_pyproject(text: str) -> str:
    return "[tool.bwlint]\n" + text.replace("[per-file", "[tool.bwlint.per-file").replace(
        "[sources]", "[tool.bwlint.sources]"
    ).replace("[[library]]", "[[tool.bwlint.library]]")


@pytest.mark.parametrize("name", ["bwlint.toml", "pyproject.toml"])
def test_every_key(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / name, FULL if name == "bwlint.toml" else in_pyproject(FULL))
    assert load(file) == Config(
        file=file,
        target=("sm_120", "sm_121"),
        select=("family-split",),
        ignore=("BW105",),
        severity="note",
        fail_on="error",
        baseline="ci/known.json",
        exclude=("build/", "*_pb2.py"),
        per_file_ignores=(("tests/**", ("leak", "excluded")),),
        arch_lists=("my_archs", "pkg.ARCHS"),
        capability_functions=(("pkg.mod.get_cc", "tuple"), ("get_sm", "joined")),
        library=(OwnLibrary("mylib.kernels.fp8_*", ("9.0", "10.0"), "our FP8 kernels"),),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targets = []", "`targets`: unknown key; did you mean `target`?"),
        ("fail_on = 'note'", "`fail_on`: unknown key; did you mean `fail-on`?"),
        (
            "zzz = 1",
            "`zzz`: unknown key (known: extend, target, select, ignore, severity, fail-on, baseline, exclude",
        ),
        ("output = 'x'", "`output`: unknown key"),
        ("[tool.bwlint]", "`tool`: unknown key; this file takes the keys without the prefix tool.bwlint"),
        ("target = 'sm_120'", "`target`: expected a list of strings, found a string"),
        ("target = ['sm_120', 120]", "`target`: expected a list of strings, found an integer in it"),
        ("select = true", "`select`: expected a list of strings, found a boolean"),
        ("severity = 'warnings'", "found 'warnings'; did you mean `warning`?"),
        (
            "severity = 1979-05-27",
            '`severity`: expected one of "note", "warning", "error", found a date or time',
        ),
        ("fail-on = ['error']", '`fail-on`: expected one of "note", "warning", "error", "never", found a list'),
        ("baseline = ''", "`baseline`: expected a path below the folder of the configuration, found ''"),
        ("baseline = '../a.json'", "`baseline`: expected a path below the folder of the configuration"),
        ("baseline = '/etc/passwd'", "`baseline`: expected a path below the folder of the configuration"),
        ("baseline = 'c:/a.json'", "`baseline`: expected a path below the folder of the configuration"),
        ("baseline = ['a.json']", "`baseline`: expected the path of a file, found a list"),
        ("exclude = ['[z']", "found '[z' is no gitignore pattern: `[` without `]`"),
        (r"exclude = ['csrc\a.cu']", r"'csrc\\a.cu' is no gitignore pattern: folders end in / and not in"),
        ("exclude = ['!']", "`exclude`: expected gitignore patterns, found '!' is no gitignore pattern"),
        ("exclude = ['*a*b*c*d*e*']", "too many wildcards in one part"),
        ("per-file-ignores = ['x']", "`per-file-ignores`: expected a table, found a list"),
        ("per-file-ignores = { 'a.py' = 'leak' }", "`per-file-ignores.a.py`: expected a list of strings"),
        (
            "per-file-ignores = { '!a.py' = ['leak'] }",
            "`per-file-ignores.!a.py`: expected a pattern without `!`",
        ),
        ("sources = 1", "`sources`: expected a table, found an integer"),
        ("sources = { arch-list = [] }", "`sources.arch-list`: unknown key; did you mean `arch-lists`?"),
        ("sources = { arch-lists = ['a-b'] }", "`sources.arch-lists`: expected a dotted name of Python"),
        ("sources = { arch-lists = [''] }", "`sources.arch-lists`: expected a dotted name of Python"),
        (
            "sources = { capability-functions = { 'a.b' = 'tupel' } }",
            '`sources.capability-functions.a.b`: expected one of "tuple"',
        ),
        (
            "[sources.capability-functions]\na.b = 'tuple'",
            '`sources.capability-functions.a`: expected one of "tuple"',
        ),
        (
            "sources = { capability-functions = { 'os.system()' = 'tuple' } }",
            "expected a dotted name of Python",
        ),
        ("library = 'a'", "`library`: expected tables ([[library]]), found a string"),
        ("library = ['a']", "`library.1`: expected a table, found a string"),
        ("[[library]]\nname = 'a'\nchips = ['10.0']", "`library.1`: expected name, chips and what, found no `what`"),
        (library("regex = 'a'"), "`library.1`: expected name, chips and what, found the key `regex`"),
        (library("names = 'a'"), "found the key `names`; did you mean `name`?"),
        (library(name="'(a+)+'"), "`library.1.name`: expected a dotted name of Python, with at most one `*` in a part"),
        (library(name="'a..b'"), "`library.1.name`: expected a dotted name"),
        (library(name="'a*b*c'"), "`library.1.name`: expected a dotted name"),
        (library(name="'*.*'"), "`library.1.name`: expected a dotted name"),
        (library(name="''"), "`library.1.name`: expected a dotted name"),
        (library(name="1"), "`library.1.name`: expected a dotted name of Python, found an integer"),
        (library(chips="'10.0'"), "`library.1.chips`: expected a list of strings, found a string"),
        (library(chips="['sm_100']"), '`library.1.chips`: expected compute capabilities such as "10.0", found unknown'),
        (library(chips="[]"), '`library.1.chips`: expected compute capabilities such as "10.0", found an empty list'),
        (library(what="''"), "`library.1.what`: expected a phrase for messages of at most 200 printable characters"),
        (library(what='"\\u001b[2J"'), "`library.1.what`: expected a phrase for messages"),
        (library(what="['a']"), "`library.1.what`: expected a phrase for messages, found a list"),
        ("target = [", "not TOML"),
        ("a = " + "[" * 5000, "bwlint.toml: "),
    ],
)
def test_faults_name_the_file_and_the_key(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path / "bwlint.toml", text)
    with pytest.raises(ConfigError) as error:
        load(file)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)


def test_the_key_in_a_pyproject_is_named_in_full(tmp_path: Path) -> None:
    file = write(tmp_path / "pyproject.toml", "[tool.bwlint.sources]\nlists = 1")
    with pytest.raises(ConfigError, match=r"`tool\.bwlint.sources.lists`: unknown key"):
        load(file)
    write(tmp_path / "pyproject.toml", "[tool]\nbwlint = 1")
    with pytest.raises(ConfigError, match=r"`tool\.bwlint`: expected a table, found an integer"):
        load(file)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "bwlint.toml").write_bytes(b"target = ['\xe4']")
    with pytest.raises(ConfigError, match="not UTF-8: byte at offset 11"):
        load(str(tmp_path / "bwlint.toml"))


@pytest.mark.parametrize(("name", "head"), [("bwlint.toml", ""), ("pyproject.toml", "[tool.bwlint]\n")])
def test_a_byte_order_mark_is_passed_over(tmp_path: Path, name: str, head: str) -> None:
    (tmp_path / name).write_bytes(f"\ufeff{head}severity = 'note'\n".encode())
    config = load(str(tmp_path / name))
    assert config is not None and config.severity == "note"


def test_the_nearest_file_wins_whole(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.bwlint]\ntarget = ['sm_90']\nignore = ['leak']")
    write(tmp_path / "a/bwlint.toml", "select = ['leak']")
    write(tmp_path / "a/pyproject.toml", "[tool.bwlint]\nselect = ['message']")
    write(tmp_path / "a/b/pyproject.toml", "[project]\nname = 'x'")
    (tmp_path / "c").mkdir()
    configs = Configs()
    near = configs.of(f"{tmp_path}/a/b/x.py")
    assert (near.select, near.target, near.ignore) == (("leak",), None, None)
    assert configs.of(f"{tmp_path}/c/not-there.py").target == ("sm_90",)
    assert configs.of(f"{tmp_path}/x.py").target == ("sm_90",)


def test_without_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "isfile", lambda path: False)
    assert Configs().of(f"{tmp_path}/a.py") == DEFAULT
    assert not DEFAULT.is_excluded(f"{tmp_path}/a.py")
    assert DEFAULT.ignored_rules(f"{tmp_path}/a.py") == frozenset()


def test_each_folder_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "bwlint.toml", "")
    reads: list[str] = []

    def watched(file: str) -> Config | None:
        reads.append(file)
        return load(file)

    monkeypatch.setattr(config, "load", watched)
    configs = Configs()
    for name in ("a/b/x.py", "a/b/y.py", "a/z.py", "c/x.py"):
        configs.of(f"{tmp_path}/{name}")
    assert reads == [f"{tmp_path}/bwlint.toml"]


def test_a_very_deep_folder() -> None:
    assert Configs().of("/" + "d/" * 2000 + "a.py") == Configs().of("/a.py")


@pytest.mark.parametrize(
    "text", ["not toml [", "[project]\nname = 'x'", "# no tool table for us", "[tool.ruff]\nexclude = ['x']"]
)
def test_a_pyproject_that_says_nothing_of_bwlint(tmp_path: Path, text: str) -> None:
    assert load(write(tmp_path / "pyproject.toml", text)) is None


@pytest.mark.parametrize("text", ["# bwlint", "[project]\nname = 'bwlint'", "tool = 1\nname = 'bwlint'"])
def test_a_pyproject_that_only_names_bwlint(tmp_path: Path, text: str) -> None:
    assert load(write(tmp_path / "pyproject.toml", text)) is None


def test_a_broken_pyproject_that_names_bwlint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not TOML"):
        load(write(tmp_path / "pyproject.toml", "[tool.bwlint"))


def test_a_configuration_that_is_no_file(tmp_path: Path) -> None:
    write(tmp_path / "bwlint.toml", "severity = 'note'")
    (tmp_path / "a/pyproject.toml").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b/pyproject.toml")
    assert {Configs().of(f"{tmp_path}/{folder}/x.py").severity for folder in "ab"} == {"note"}


def test_our_own_configuration_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder/bwlint.toml").mkdir(parents=True)
    for name, target in (("loop", "bwlint.toml"), ("gone", "nothing.toml")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bwlint.toml").symlink_to(target)
    for name, reason in (("folder", "not a regular file"), ("loop", "symlink loop"), ("gone", "no such file")):
        with pytest.raises(ConfigError, match=reason):
            Configs().of(f"{tmp_path}/{name}/x.py")


@pytest.mark.parametrize(
    ("path", "excluded", "ignored"),
    [
        ("a.py", False, set()),
        ("build/a.py", True, set()),
        ("src/build/deep/a.py", True, set()),
        ("x_pb2.py", True, set()),
        ("tests/a.py", False, {"leak", "excluded"}),
        ("src/tests/a.py", False, set()),
    ],
)
def test_globs_are_relative_to_the_file(tmp_path: Path, path: str, excluded: bool, ignored: set[str]) -> None:
    write(tmp_path / "bwlint.toml", FULL)
    found = Configs().of(f"{tmp_path}/{path}")
    assert found.is_excluded(f"{tmp_path}/{path}") == excluded
    assert found.ignored_rules(f"{tmp_path}/{path}") == ignored


def test_a_file_extends_another(tmp_path: Path) -> None:
    write(tmp_path / ".git/HEAD", "")
    write(tmp_path / "base.toml", FULL)
    write(tmp_path / "kit/bwlint.toml", "extend = '../base.toml'\nseverity = 'error'\n[sources]\narch-lists = ['MINE']")
    write(tmp_path / "kit/deep/pyproject.toml", "[tool.bwlint]\nextend = '../bwlint.toml'\nexclude = ['own.py']")
    base = load(f"{tmp_path}/base.toml")
    kit, deep = (Configs().of(f"{tmp_path}/{folder}/x.py") for folder in ("kit", "kit/deep"))
    assert base
    assert kit == replace(
        base,
        file=f"{tmp_path}/kit/bwlint.toml",
        baseline_in=base.file,
        exclude_in=base.file,
        per_file_ignores_in=base.file,
        severity="error",
        arch_lists=("MINE",),
    )
    assert deep.capability_functions == base.capability_functions
    # globs are told from where they stand
    assert kit.is_excluded(f"{tmp_path}/build/a.py")
    assert kit.ignored_rules(f"{tmp_path}/tests/a.py")
    assert not kit.ignored_rules(f"{tmp_path}/kit/tests/a.py")
    assert deep.ignored_rules(f"{tmp_path}/tests/a.py")
    assert not deep.is_excluded(f"{tmp_path}/build/a.py")
    assert deep.is_excluded(f"{tmp_path}/kit/deep/own.py")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"bwlint.toml": "extend = 'none.toml'"}, "`extend`: none.toml: no such file"),
        ({"bwlint.toml": "extend = './bwlint.toml'"}, "`extend`: ./bwlint.toml leads back to a file that extends it"),
        (
            {"bwlint.toml": "extend = 'a.toml'", "a.toml": "extend = 'bwlint.toml'"},
            "a.toml: `extend`: bwlint.toml leads back to a file that extends it",
        ),
        ({"bwlint.toml": "extend = '../out.toml'"}, "../out.toml is no TOML file of the same git tree or, without one"),
        ({"bwlint.toml": "extend = '/etc/x.toml'"}, "/etc/x.toml is no TOML file of the same git tree"),
        ({"bwlint.toml": "extend = 'link.toml'"}, "link.toml is no TOML file of the same git tree"),
        ({"bwlint.toml": "extend = 'hidden.toml'"}, "hidden.toml is no TOML file of the same git tree"),
        ({"bwlint.toml": "extend = 'folder.toml'", "folder.toml/x": ""}, "`extend`: folder.toml: no such file"),
        ({"bwlint.toml": "extend = 'setup.cfg'"}, "`extend`: expected the name of a TOML file, found 'setup.cfg'"),
        ({"bwlint.toml": "extend = ['a.toml']"}, "`extend`: expected the name of a TOML file, found a list"),
        ({"bwlint.toml": 'extend = "a\\u0000.toml"'}, "`extend`: expected the name of a TOML file, found"),
        ({"bwlint.toml": "extend = 'pyproject.toml'", "pyproject.toml": ""}, "has no table [tool.bwlint]"),
        ({"bwlint.toml": "extend = 'a.toml'", "a.toml": "selct = []"}, "a.toml: `selct`: unknown key; did you mean"),
        (
            {"bwlint.toml": "extend = '0.toml'", **{f"{n}.toml": f"extend = '{n + 1}.toml'" for n in range(20)}},
            "more than 16 files extend one another",
        ),
    ],
)
def test_what_cannot_be_extended(tmp_path: Path, files: dict[str, str], message: str) -> None:
    write(tmp_path / "out.toml", "severity = 'note'")
    for name, text in files.items():
        write(tmp_path / "tree" / name, text)
    (tmp_path / "tree/link.toml").symlink_to("../out.toml")
    (tmp_path / "tree/hidden.toml").symlink_to("bwlint.cfg")
    with pytest.raises(ConfigError, match=re.escape(message)):
        Configs().of(f"{tmp_path}/tree/x.py")


@pytest.mark.parametrize("is_git", [True, False])
def test_without_a_git_tree_the_folder_is_the_bound(tmp_path: Path, is_git: bool) -> None:
    write(tmp_path / "above.toml", "severity = 'note'")
    write(tmp_path / "tree/bwlint.toml", "extend = '../above.toml'")
    write(tmp_path / "tree/deep/bwlint.toml", "extend = 'below/more.toml'")
    write(tmp_path / "tree/deep/below/more.toml", "severity = 'note'")
    if is_git:
        write(tmp_path / ".git/HEAD", "")
        assert Configs().of(f"{tmp_path}/tree/x.py").severity == "note"
    else:
        with pytest.raises(ConfigError, match="is no TOML file of the same git tree"):
            Configs().of(f"{tmp_path}/tree/x.py")
    assert Configs().of(f"{tmp_path}/tree/deep/x.py").severity == "note"


def test_the_command_line_overrides() -> None:
    base = Config(target=("sm_120",), select=("leak",), severity="note")
    changed = base.override(target=("sm_90",), fail_on="error")
    assert changed == Config(target=("sm_90",), select=("leak",), severity="note", fail_on="error")
    assert base.override() == base


def test_no_key_can_name_a_program_an_output_or_an_index() -> None:
    keys = {*config._KEYS, *config._SOURCE_KEYS}
    assert keys == {
        "extend",
        "target",
        "select",
        "ignore",
        "severity",
        "fail-on",
        "baseline",
        "exclude",
        "per-file-ignores",
        "library",
        "arch-lists",
        "capability-functions",
    }


def test_the_forms_are_those_of_the_table() -> None:
    sources = pytest.importorskip("bwlint.evaluate.sources")
    assert set(FORMS) <= set(sources.KINDS)
