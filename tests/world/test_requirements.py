"""What versions a project pins."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from bwlint.world.requirements import MAX_FILES, Pins, meet, pins

WANTED = frozenset({"torch", "flash-attn"})
UNKNOWN = ""

ONE_FILE = [
    ("requirements.txt", "torch==2.9.0\n", "==2.9.0"),
    ("requirements.txt", "Torch [opt] >=2.8, <3 ; python_version > '3.9'  # why\n", "<3,>=2.8"),
    ("requirements.txt", "torch==2.9.0+cu128 --hash=sha256:ab\n", "==2.9.0"),
    ("requirements.txt", "torch \\\n  ==2.9.0\n", "==2.9.0"),
    ("requirements-cuda.txt", "torch~=2.9\n", "~=2.9"),
    ("requirements/cuda.txt", "torch==2.9.*\n", "==2.9.*"),
    ("constraints.txt", "torch!=2.8.1\n", "!=2.8.1"),
    ("pyproject.toml", '[project]\ndependencies = ["torch>=2.9"]\n', ">=2.9"),
    ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch>=2.9"]\n', ">=2.9"),
    ("pyproject.toml", '[dependency-groups]\ngpu = [{include-group = "x"}, "torch>=2.9"]\n', ">=2.9"),
    ("pyproject.toml", '[project]\nname = "torch"\nversion = "2.10.0"\n', "==2.10.0"),
    ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch<2.9\n", "<2.9"),
    ("setup.cfg", "[options.extras_require]\ngpu =\n    torch<2.9\n", "<2.9"),
    ("setup.cfg", "[metadata]\nname = torch\nversion = 2.10\n", "==2.10"),
    ("setup.py", "from setuptools import setup\nsetup(install_requires=['torch>=2.9', name])\n", ">=2.9"),
    ("setup.py", "import setuptools\nneeds = ['torch>=2.9']\nsetuptools.setup(install_requires=needs)\n", ">=2.9"),
    ("setup.py", "needs = ['torch>=2.9']\ntested = ['torch==2.8']\nsetup(install_requires=needs)\n", ">=2.9"),
    ("setup.py", "a.needs = b[0] = needs = ['torch>=2.9']\nsetup(install_requires=needs)\n", ">=2.9"),
    ("setup.py", "a.needs = needs\nsetup(install_requires=needs or ['torch>=2.9'])\n", UNKNOWN),
    ("setup.py", "setup(extras_require={'gpu': ['torch>=2.9']})\n", ">=2.9"),
    ("setup.py", "setup(name='torch', version='2.9')\n", "==2.9"),
    ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.9.1"\nsource = 1\n', "==2.9.1"),
    ("poetry.lock", '[[package]]\nname = "torch"\nversion = "2.9.1"\n', "==2.9.1"),
    ("PKG-INFO", "Name: torch\nVersion: 2.9.1\n\nVersion: 3\n", "==2.9.1"),
    ("PKG-INFO", "Name: x\nRequires-Dist: torch<3\n", "<3"),
    ("x-1.0.dist-info/METADATA", "Name: x\nVersion: 1.0\nRequires-Dist: torch<3\n", "<3"),
    ("torch/_version.py", "__version__ = version = '2.9.1'\n", "==2.9.1"),
    # Nothing is known from these.
    ("requirements.txt", "torch\n", UNKNOWN),
    ("requirements.txt", "torchvision==0.24\npytorch==2\n", UNKNOWN),
    ("requirements.txt", "# torch==2.9.0\n--index-url torch==2.9.0\n", UNKNOWN),
    ("requirements.txt", "torch @ git+https://example.org/torch@v2.9.0\n", UNKNOWN),
    ("requirements.txt", "torch===anything\ntorch==\ntorch=2.9\n", UNKNOWN),
    ("requirements.txt", "-r ../outside.txt\n-r requirements.txt\n-r missing.txt\n", UNKNOWN),
    ("docs/requirements.txt", "torch==2.9.0\n", UNKNOWN),
    ("notes.txt", "torch==2.9.0\n", UNKNOWN),
    ("pyproject.toml", '[build-system]\nrequires = ["torch==2.9"]\n', UNKNOWN),
    ("pyproject.toml", "[project\n", UNKNOWN),
    ("pyproject.toml", "project = 1\n", UNKNOWN),
    ("pyproject.toml", '[project]\nname = "torch"\ndynamic = ["version"]\n', UNKNOWN),
    ("pyproject.toml", '[project]\ndependencies = "torch==2.9"\n', UNKNOWN),
    ("setup.cfg", "torch==2.9\n", UNKNOWN),
    ("setup.py", "setup(install_requires=read('torch==2.9'))\n", UNKNOWN),
    ("setup.py", "setup(install_requires=[\n", UNKNOWN),
    ("setup.py", "extra = ['torch==2.9']\nneeds = read()\nsetup(install_requires=needs)\n", UNKNOWN),
    ("setup.py", "a.needs, needs[0] = 1, 2\nneeds = ['torch==2.9']\nsetup(install_requires=needs)\n", "==2.9"),
    ("setup.py", "note(install_requires=['torch==2.9'])\n", UNKNOWN),
    ("uv.lock", '[[package]]\nname = "torch"\n', UNKNOWN),
    ("torch/version.py", "__version__ = '2.9.1'\n", UNKNOWN),
    ("torch/_version.py", "__version__ = version = read()\n", UNKNOWN),
]


def project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder.resolve()


def asked(folder: Path, name: str = "torch") -> list[str]:
    return [str(each) for each in pins(str(folder), WANTED).ranges.get(name, ())]


@pytest.mark.parametrize(("file", "text", "expected"), ONE_FILE)
def test_one_file(tmp_path: Path, file: str, text: str, expected: str) -> None:
    package = {f"{file.rpartition('/')[0]}/__init__.py": ""} if file.endswith(".py") and "/" in file else {}
    assert asked(project(tmp_path / "p", {file: text, **package})) == ([expected] if expected else [])


def test_several_files_are_alternatives_and_included_ones_count(tmp_path: Path) -> None:
    files = {"requirements.txt": "-r more/common.txt\ntorch==2.9\n", "more/common.txt": "torch==2.8\n"}
    assert sorted(asked(project(tmp_path, files))) == ["==2.8", "==2.9"]


@pytest.mark.parametrize(("files", "expected"), [(MAX_FILES, ["==2.9"]), (MAX_FILES + 1, [])])
def test_so_many_included_files_are_read(tmp_path: Path, files: int, expected: list[str]) -> None:
    names = ["requirements.txt", *(f"more{number}.txt" for number in range(1, files))]
    texts = [*(f"-r {name}\n" for name in names[1:]), "torch==2.9\n"]
    assert asked(project(tmp_path, dict(zip(names, texts, strict=True)))) == expected


def test_a_lock_file_says_more_than_what_is_asked_for(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch>=2.6\n", "uv.lock": '[[package]]\nname = "torch"\nversion = "2.9.1"\n'}
    assert asked(project(tmp_path, files)) == ["==2.9.1"]


def test_a_project_that_is_the_library_has_its_own_version(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "Flash_Attn"\ndynamic = ["version"]\n',
        "version.txt": "2.8.3\n",
        "requirements.txt": "flash-attn<2\n",
    }
    assert asked(project(tmp_path, files), "flash-attn") == ["==2.8.3"]


def test_what_is_asked_for_in_too_many_ways_is_not_known(tmp_path: Path) -> None:
    lines = "".join(f"torch=={number}\n" for number in range(100))
    assert asked(project(tmp_path, {"requirements.txt": lines})) == []


HOSTILE = [
    ("requirements.txt", "torch" + "[" * 300 + "\n" + "torch" + "=" * 100_000 + "\n"),
    ("requirements.txt", "".join(f"-r r{number}.txt\n" for number in range(10_000))),
    ("pyproject.toml", "a = " + "[" * 100_000),
    ("setup.py", "setup(install_requires=" + "[" * 5000 + "]" * 5000 + ")"),
    ("setup.py", "a" + ".a" * 5000 + ".setup(install_requires=['torch==1'])"),
    ("setup.cfg", "[a]\n[a]\n%(x)s = 1\n"),
    ("uv.lock", "[[package]]\n" * 100_000),
    ("version.txt", "1" * 100_000),
]


@pytest.mark.parametrize(("file", "text"), HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_breaks_it(tmp_path: Path, file: str, text: str) -> None:
    pins(str(project(tmp_path, {file: text})), WANTED)


MEETINGS = [
    (">=2.9", "==2.9.0", True),
    (">=2.9", "==2.8.1", False),
    (">=2.9,<2.10", "~=2.9.3", True),
    (">=2.9,<2.10", ">=2.10", False),
    (">=2.9,<2.10", "<2.9", False),
    (">=2.9,<2.10", ">2.9", True),
    ("<2.9", ">=2.8", True),
    ("<2.9", "!=2.8", True),
    ("<2.9", "==2.8.*", True),
    ("<2.9", "==2.9.*", False),
    ("<2.9", "==2.9.0.dev20251001", False),
    (">=2.9", "==2.10.0.dev20251001", True),
]


@pytest.mark.parametrize(("first", "second", "expected"), MEETINGS)
def test_ranges_meet(first: str, second: str, expected: bool) -> None:
    assert meet(SpecifierSet(first), SpecifierSet(second)) is expected
    assert meet(SpecifierSet(second), SpecifierSet(first)) is expected


@pytest.mark.parametrize(
    ("pinned", "versions", "expected"),
    [
        (None, "", True),
        (None, ">=2.9", True),
        (None, "<2.9", False),
        ("==2.8", "<2.9", True),
        ("==2.8", ">=2.9", False),
        ("==2.8", "", True),
        ("~=2.8", "<2.9", True),
        (">=2.6,<2.9", "<2.8", True),
        (">=2.6", "<2.9", False),
        (">=2.6", ">=2.9", True),
        ("!=2.9.1", "<2.9", False),
    ],
)
def test_a_row_counts_where_its_versions_are_among_those_pinned(
    pinned: str | None, versions: str, expected: bool
) -> None:
    known = Pins({} if pinned is None else {"flash-attn": (SpecifierSet(pinned),)})
    assert known.admit("Flash_Attn", versions) is expected
