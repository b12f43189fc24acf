"""Comments at all that is found, on real files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from repair.trees import put

from bwlint import cli

GATE = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
KERNEL = """#if __CUDA_ARCH__ >= 1200
__global__ void k() {
  asm volatile("tcgen05.fence::before_thread_sync;");
}
#endif
"""
OPEN = "if x:\n    y = '''\nbwlint'''\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["check", "--no-cache", *arguments], prog_name="bwlint")


def test_everything_shown_gets_a_comment(here: Path) -> None:
    put(here, {"a.py": GATE, "sub/k.cu": KERNEL, "other.py": OPEN})
    result = invoke("--severity", "note", "--add-suppressions", "old part, see #12", ".")
    assert "suppressed 2 findings in 2 files" in result.stderr
    assert (here / "a.py").read_text().splitlines()[3] == (
        "    if torch.cuda.get_device_capability() != (12, 0):  # bwlint: ignore[family-split] old part, see #12"
    )
    assert "// bwlint: ignore[tcgen05] old part, see #12" in (here / "sub/k.cu").read_text()
    assert (here / "other.py").read_text() == OPEN
    again = invoke("--severity", "note", ".")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "2 suppressed" in again.stderr


def test_what_has_no_place_is_said_and_not_counted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a.py": GATE, "b.py": GATE})
    with zipfile.ZipFile("kit-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("kit/c.py", GATE)
    (here / "b.py").chmod(0o444)
    result = invoke("--add-suppressions", "old", "a.py", "b.py", "kit-1.0-py3-none-any.whl")
    assert "suppressed 1 finding in 1 file\n" in result.stderr
    assert "not suppressed: kit-1.0-py3-none-any.whl/kit/c.py:4: in an archive" in result.stderr
    assert "b.py: read-only" in result.stderr
    assert result.exit_code == 1


def test_json_is_said_to_have_no_comments(here: Path) -> None:
    text = '{"configurePresets": [{"cacheVariables": {"CMAKE_CUDA_ARCHITECTURES": "120a"}}]}\n'
    put(here, {"CMakePresets.json": text})
    said = invoke("--severity", "note", "--add-suppressions", "old", ".").stderr
    assert (
        "not suppressed: CMakePresets.json:1: JSON has no comments; a baseline or `per-file-ignores` hides it" in said
    )
    assert (here / "CMakePresets.json").read_text() == text


def test_a_comment_between_the_lines_of_a_dockerfile_is_read_as_meant(here: Path) -> None:
    image = 'FROM nvidia/cuda:12.9.1-devel\nRUN make deps && \\\n    TORCH_CUDA_ARCH_LIST="9.0a 12.0a" pip install .\n'
    put(here, {"Dockerfile": image})
    assert "suppressed 1 finding in 1 file" in invoke("--add-suppressions", "one card", ".").stderr
    assert (here / "Dockerfile").read_text().splitlines()[2] == "    # bwlint: ignore[arch-target] one card"
    again = invoke(".")
    assert (again.exit_code, again.stdout) == (0, "") and "1 suppressed" in again.stderr


def test_a_comment_of_bwlint_gets_none(here: Path) -> None:
    put(here, {"a.py": GATE.replace("(12, 0):", "(12, 0):  # bwlint: ignore[leak, lek] x"), "b.py": "x = 1\n"})
    result = invoke("--add-suppressions", "old", ".")
    assert "suppressed 1 finding in 1 file\n" in result.stderr
    assert result.stderr.count("not suppressed: a.py:4: this is a comment of bwlint: correct or delete it\n") == 2
    assert "unused-suppression" not in (here / "a.py").read_text()


def test_what_is_not_shown_stays(here: Path) -> None:
    put(here, {"a.py": GATE})
    result = invoke("--severity", "error", "--add-suppressions", "old", ".")
    assert "suppressed" not in result.stderr
    assert (here / "a.py").read_text() == GATE


def test_several_findings_of_a_line_have_one_comment(here: Path) -> None:
    gate = "import torch\nmajor, minor = torch.cuda.get_device_capability()\n"
    gate += 'ok = (major, minor) == (12, 0) or torch.cuda.get_device_capability() == 120\nassert ok, "no"\n'
    put(here, {"a.py": gate})
    result = invoke("--severity", "note", "--add-suppressions", "old", ".")
    text = (here / "a.py").read_text()
    assert text.count("bwlint: ignore[") == 1, result.output
    assert invoke("--severity", "note", ".").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--add-suppressions", " ", "."), "needs a reason"),
        (("--add-suppressions", "old", "-"), "cannot write to standard input"),
        (("--add-suppressions", "old", "--fix", "."), "does not go with"),
    ],
)
def test_what_does_not_go(here: Path, arguments: tuple[str, ...], words: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_link_is_not_written_through(here: Path) -> None:
    put(here, {"real/a.py": GATE})
    (here / "tree").mkdir()
    (here / "tree" / "a.py").symlink_to(here / "real" / "a.py")
    result = invoke("--add-suppressions", "old", "tree/a.py")
    assert "not suppressed: tree/a.py:4: bwlint does not write through a symbolic link" in result.stderr
    assert (here / "real" / "a.py").read_text() == GATE
