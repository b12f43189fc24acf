"""What is taken of a compile command of a scanned tree, and what is dropped."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from toolkit import Toolkit

from bwlint.confirm.compiling.options import Options, commands, guessed, sift, with_own


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "include" / "my lib").mkdir(parents=True)
    (root / "config.h").write_text("#pragma once\n")
    (root / "a.cu").write_text("")
    return root


def sifted(tree: Path, *arguments: str) -> Options:
    return sift(arguments, str(tree), str(tree), str(tree / "a.cu"))


TAKEN = {
    "-Iinclude": "-I{}/include",
    "-I include": "-I{}/include",
    "-I=include": "-I{}/include",
    "--include-path include": "-I{}/include",
    "-I./include/../include": "-I{}/include",
    "-isystem include": "-isystem={}/include",
    "-isystem=include": "-isystem={}/include",
    "--system-include=include": "-isystem={}/include",
    "-DX": "-DX",
    "-D X=1": "-DX=1",
    "-DX=a::b+1%2": "-DX=a::b+1%2",
    "--define-macro=X=1": "-DX=1",
    "-UNDEBUG": "-UNDEBUG",
    "-std=c++20": "-std=c++20",
    "--std c++17": "-std=c++17",
    "-std=gnu++17": "-std=gnu++17",
    "-include config.h": "-include={}/config.h",
    "--expt-relaxed-constexpr": "--expt-relaxed-constexpr",
    "-extended-lambda": "-extended-lambda",
}


@pytest.mark.parametrize("given", TAKEN)
def test_what_is_taken(tree: Path, given: str) -> None:
    found = sifted(tree, *given.split(" "))
    assert (found.taken, found.dropped) == ((TAKEN[given].format(tree),), ())


def test_a_folder_with_a_space_is_one_folder(tree: Path) -> None:
    assert sifted(tree, "-Iinclude/my lib").taken == (f"-I{tree}/include/my lib",)


def test_a_comma_parts_folders(tree: Path) -> None:
    assert sifted(tree, "-Iinclude,.").taken == (f"-I{tree}/include", f"-I{tree}")


DROPPED = [
    "-ccbin ./evil",
    "-ccbin=./evil",
    "--compiler-bindir=./evil",
    "--compiler-bindir ./evil",
    "-wrapper ./evil",
    "-Xcompiler -fplugin=./evil.so",
    "-Xcompiler=-fplugin=./evil.so",
    "--compiler-options -wrapper,./evil",
    "-fplugin=./evil.so",
    "-fplugin-arg-evil-x=1",
    "-B.",
    "-specs=evil.specs",
    "-Xptxas -v",
    "--ptxas-options=-v",
    "-Xcudafe --include=evil.h",
    "--options-file evil.txt",
    "--options-file=evil.txt",
    "-optf evil.txt",
    "@evil.txt",
    "-keep",
    "--run",
    "-run",
    "--run-args x",
    "-o ../../out",
    "--output-directory=/etc",
    "-dryrun",
    "-x cu",
    "-c",
    "-ldir=evil",
    "-L.",
    "-lcuda",
    "-Wall",
    "other.cu",
    "--target-directory=evil",
    "-include /etc/passwd",
    "-include missing.h",
    "-include .",
    "-std=evil",
    "-std=",
    "-D1X",
    "-D-ccbin=./evil",
    "-DX=$(touch pwned)",
    "-DX=`touch pwned`",
    '-DX="; touch pwned; "',
    "-DX='a'",
    "-DX=1;touch",
    "-DX=1|touch",
    "-DX=1&touch",
    "-DX=1>pwned",
    "-DX=a\\",
    "-DX=1\ntouch pwned",
    "-DX=!x",
    "-DX=*",
    "-DX(a)=1",
    "-DX=1,-ccbin",
    "-UX=1",
    "-U-ccbin",
    "-I$(touch pwned)",
    "-I`touch pwned`",
    "-Iinclude\ntouch pwned",
    "-I",
    "-D",
    "-arch=evil",
    "-gencode arch=$(touch pwned)",
    "-IX\\",
]


@pytest.mark.parametrize("given", DROPPED)
def test_what_is_dropped_and_listed(tree: Path, given: str) -> None:
    name, space, value = given.partition(" ") if not given.startswith(("-D", "-I")) else (given, "", "")
    found = sifted(tree, name, *([value] if space else []))
    assert found.taken == ()
    assert len(found.dropped) in (1, 2)
    assert " ".join(found.dropped).startswith(name)


def test_a_dropped_option_takes_its_value_with_it(tree: Path) -> None:
    found = sifted(tree, "-Xcompiler", "-DX=1", "-ccbin", "a.cu", "-DY")
    assert found.taken == ("-DY",)
    assert found.dropped == ("-Xcompiler -DX=1", "-ccbin a.cu")


def test_the_file_itself_is_neither_taken_nor_dropped(tree: Path) -> None:
    assert sifted(tree, "-DX", "a.cu", str(tree / "a.cu"), "./a.cu") == Options(("-DX",))


def test_targets_are_known_and_not_taken(tree: Path) -> None:
    found = sifted(
        tree,
        "-gencode",
        "arch=compute_120a,code=sm_120a",
        "--generate-code=arch=compute_90a,code=[sm_90a,compute_90a]",
        "-arch=sm_121",
        "-gencode=arch=compute_199,code=sm_199",
    )
    assert found.targets == ("sm_120a", "sm_90a", "sm_121")
    assert found.taken == found.dropped == ()


def test_folders_outside_of_the_tree_are_taken_and_listed(tree: Path) -> None:
    found = sifted(tree, "-I/usr/include/x", "-I../../elsewhere", "-Iinclude")
    elsewhere = os.path.normpath(tree.parents[1] / "elsewhere")
    assert found.taken == ("-I/usr/include/x", f"-I{elsewhere}", f"-I{tree}/include")
    assert found.outside == ("/usr/include/x", elsewhere)


def test_a_link_out_of_the_tree_is_outside(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.h").write_text("")
    (tree / "linked.h").symlink_to(tmp_path / "elsewhere.h")
    assert sifted(tree, "-include", "linked.h").taken == ()


def test_what_is_listed_is_bounded(tree: Path) -> None:
    found = sifted(tree, *(f"-Wl,{number}{'x' * 1000}" for number in range(3000)), *["-Wall"] * 3000)
    assert len(found.dropped) == 61
    assert all(len(each) <= 160 for each in found.dropped)


def write(tree: Path, content: object, name: str = "compile_commands.json") -> Path:
    path = tree / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("name", ["compile_commands.json", "build/compile_commands.json"])
def test_the_commands_of_a_tree_are_found(tree: Path, name: str) -> None:
    entry = {"directory": str(tree), "file": "a.cu", "command": "nvcc -ccbin evil -I include '-DX=a b' -c a.cu -o a.o"}
    path = write(tree, [entry], name)
    found = commands(str(tree)).options(str(tree / "a.cu"), str(tree))
    assert found is not None
    assert found.origin == str(path)
    assert found.taken == (f"-I{tree}/include", "-DX=a b")
    assert found.dropped == ("-ccbin evil", "-c", "-o a.o")


def test_arguments_do_as_well(tree: Path) -> None:
    write(tree, [{"directory": ".", "file": "a.cu", "arguments": ["nvcc", "-DX=1", 7, None, "-D\0"]}])
    found = commands(str(tree)).options(str(tree / "a.cu"), str(tree))
    assert found is not None
    assert found.taken == ("-DX=1",)


def test_the_user_names_another_file(tree: Path, tmp_path: Path) -> None:
    write(tree, [{"directory": str(tree), "file": "a.cu", "command": "nvcc -DTREE"}])
    given = write(tmp_path, [{"directory": str(tree), "file": "a.cu", "command": "nvcc -DUSER"}])
    found = commands(str(tree), given).options(str(tree / "a.cu"), str(tree))
    assert found is not None
    assert found.taken == ("-DUSER",)


def test_another_file_has_no_command(tree: Path) -> None:
    write(tree, [{"directory": str(tree), "file": "b.cu", "command": "nvcc -DX"}])
    assert commands(str(tree)).options(str(tree / "a.cu"), str(tree)) is None


BROKEN = {
    "no JSON": "[{",
    "no list": "{}",
    "deep": "[" * 100_000,
    "a long number": "1" * 10_000,
    "no entries": "[1, null, [], {}, {'file': 3}]",
    "no text": '[{"file": 3, "directory": [], "command": {}}]',
    "an open quote": '[{"file": "a.cu", "directory": "", "command": "nvcc \'-DX"}]',
    "no command": '[{"file": "a.cu", "directory": ""}]',
    "a name with a zero": '[{"file": "a.cu\\u0000", "directory": "", "command": "nvcc -DX"}]',
    "half a letter": '[{"file": "\\ud800.cu", "directory": "", "command": "nvcc -DX"}]',
    "a long command": json.dumps([{"file": "a.cu", "directory": "", "command": "nvcc " + "-DX " * 100_000}]),
    "nothing": "",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_commands_that_cannot_be_read_are_none(tree: Path, content: str) -> None:
    write(tree, content)
    assert commands(str(tree)).options(str(tree / "a.cu"), str(tree)) is None


def test_neither_a_pipe_nor_a_device_is_read(tree: Path) -> None:
    os.mkfifo(tree / "compile_commands.json")
    assert commands(str(tree)).by_file == {}
    assert commands(str(tree), Path("/dev/zero")).by_file == {}


def test_a_large_file_is_not_read(tree: Path) -> None:
    with write(tree, "").open("r+b") as file:
        file.truncate(33 << 20)
    assert commands(str(tree)).trouble == "more than 32 MiB"


def test_guessed_folders_are_those_that_a_shell_leaves_alone() -> None:
    found = guessed(["/a/include", "/b/$(touch pwned)"])
    assert found.taken[-1] == "-I/a/include"
    assert len(found.dropped) == 1


def test_the_users_own_options_are_taken_as_they_are() -> None:
    found = with_own(guessed(["/a"]), ["-ccbin", "g++-12"])
    assert found.taken[:2] == ("-ccbin", "g++-12")
    assert with_own(guessed([]), ()) == guessed([])


def test_nvcc_hands_nothing_of_it_to_a_shell(nvcc: Toolkit, tmp_path: Path) -> None:
    """Every printable letter in a macro: each that is taken comes out as it went in."""
    letters = [chr(code) for code in range(32, 127)]
    taken = sift([f"-DA{ord(letter)}={letter}" for letter in letters], "/", "/", "")
    (tmp_path / "unit.cu").write_text("".join(f"a{ord(letter)} A{ord(letter)} z\n" for letter in letters))
    lines = [line.split() for line in nvcc.run("nvcc", "-E", *taken.taken, "unit.cu", folder=tmp_path).splitlines()]
    values = [option.partition("=") for option in taken.taken]
    assert {chr(int(name[3:])) for name, _, _ in values} >= set("azAZ09_./+:@%=~- ")
    for name, _, value in values:
        assert f"a{name[3:]} {value.strip()} z".split() in lines, name


def test_nvcc_finds_folders_with_odd_names(nvcc: Toolkit, tmp_path: Path) -> None:
    folder = tmp_path / "a b%c@d~e+f=g:h,i"
    folder.mkdir()
    (folder / "odd.h").write_text("found\n")
    (tmp_path / "unit.cu").write_text('#include "odd.h"\n')
    taken = sift([f"-I{str(folder).partition(',')[0]}", f"-isystem={folder}"], "/", "/", "").taken
    assert len(taken) == 3
    folder.rename(str(folder).partition(",")[0])
    assert "found" in nvcc.run("nvcc", "-E", *taken[:1], "unit.cu", folder=tmp_path).splitlines()
