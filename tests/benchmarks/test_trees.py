"""The trees that benchmarks measure: which parts are taken, which files are changed."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePath

import pytest
from timing.trees import PARTS, change, copied, five, portion, portions, seen, spaced

DEVICE = "import torch\n\nif torch.cuda.get_device_capability()[0] >= 10:\n    print('new')\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Sixteen folders with two files each, a file at the top."""
    folder = tmp_path / "tree"
    for number in range(16):
        (folder / f"f{number:02}").mkdir(parents=True)
        (folder / f"f{number:02}" / "a.py").write_text(DEVICE)
        (folder / f"f{number:02}" / "b.cu").write_text("#if __CUDA_ARCH__ >= 1000\n#endif\n")
    (folder / "setup.py").write_text("x = 1\n")
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "sizes",
    [
        {f"a/{number:02}": 10 for number in range(16)},
        {f"a/{number:02}": 1 + number % 3 for number in range(100)},
        {"": 5, "a": 100, "b": 1, "c": 1},
        {"": 5},
        {},
    ],
)
def test_each_folder_is_in_one_part(sizes: dict[str, int]) -> None:
    places = {PurePath(path): size for path, size in sizes.items()}
    parts = portions(places)
    assert len(parts) == PARTS
    assert sorted(place for part in parts for place in part) == sorted(places)
    assert portions(dict(reversed(places.items()))) == parts


def test_parts_are_of_about_the_same_size_and_from_all_over_the_tree() -> None:
    sizes = {PurePath(f"{region}/{number:02}"): 1 + number % 3 for region in "abc" for number in range(40)}
    parts = portions(sizes)
    held = [sum(sizes[folder] for folder in part) for part in parts]
    assert max(held) - min(held) <= 3
    assert [{folder.parts[0] for folder in part} for part in parts] == [set("abc")] * PARTS


def test_what_lies_at_the_top_is_in_the_first_part() -> None:
    assert portions({PurePath(path): 1 for path in ("b", "a", ".")})[0] == [PurePath()]


def test_a_half_holds_the_quarter_and_whole_folders(tree: Path, tmp_path: Path) -> None:
    copy = copied("tree", tree, tmp_path / "copy")
    quarter, half = (portion(copy, parts, tmp_path / str(parts)) for parts in (2, 4))
    assert (quarter.name, half.name) == ("1/4", "1/2")
    assert contents(quarter.folder).items() < contents(half.folder).items() < contents(copy.folder).items()
    assert contents(half.folder)["setup.py"] == "x = 1\n"
    assert {len(list(folder.iterdir())) for folder in half.folder.iterdir() if folder.is_dir()} == {2}
    assert 0.4 <= half.mebibytes / copy.mebibytes <= 0.6


def test_nothing_is_written_to_the_tree_itself(tree: Path, tmp_path: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text("")
    before = contents(tree)
    copy = copied("tree", tree, tmp_path / "copy")
    for file in five(copy):
        change(file, 1)
    assert contents(tree) == before
    assert (copy.folder / ".git").is_dir()  # so that ignore files count in both
    assert not list((copy.folder / ".git").iterdir())
    assert len(contents(copy.folder).items() - before.items()) == 5 + 1


def test_a_wheel_is_a_tree(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("pkg/a.py", DEVICE)
    assert [file.kind for file in copied("wheel", tmp_path / "a.whl", tmp_path / "copy").files] == ["python"]


def test_five_files_have_to_be_read_and_are_from_all_over_the_tree(tree: Path) -> None:
    (tree / "f00" / "plain.py").write_text("x = 1\n")
    found = five(seen("tree", tree))
    assert [Path(file.real).relative_to(tree).as_posix() for file in found] == [
        *("f01/b.cu", "f04/b.cu", "f08/a.py", "f11/a.py", "f14/a.py")
    ]


@pytest.mark.parametrize(("number", "found"), [(0, ""), (3, "abc"), (5, "abcde"), (10, "bdfhj")])
def test_the_middles_of_five_stretches(number: int, found: str, tmp_path: Path) -> None:
    for letter in "abcdefghij"[:number]:
        (tmp_path / f"{letter}.py").write_text("")
    assert "".join(Path(file.real).stem for file in spaced(seen("tree", tmp_path).files, 5)) == found


@pytest.mark.parametrize(("name", "end"), [("a.py", "\n# changed 3\n"), ("b.cu", "\n// changed 3\n")])
def test_a_change_is_a_comment(tree: Path, name: str, end: str) -> None:
    (file,) = (file for file in seen("tree", tree / "f00").files if file.path.endswith(name))
    before = Path(file.real).read_text()
    change(file, 3)
    assert Path(file.real).read_text() == before + end
