"""Files that are not read as they stand: each is named with its reason, and the others are read."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from bwlint.cli import app
from bwlint.index import kept
from bwlint.readers import ReadError, python
from bwlint.readers.buildfiles import cmake
from bwlint.readers.buildfiles.cmake_syntax import expanded
from bwlint.readers.buildfiles.places import Places
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError
from bwlint.sources.walk import discover
from bwlint.world.collect import collect, load

GUARD = b"#if __CUDA_ARCH__ == 1200 /* \xe9 */\n__global__ void k() { }\n#endif\n"
ASKS = b"import torch\nx = torch.cuda.get_device_capability() == (12, 0)\n"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.cu", GUARD.decode("latin-1").encode("utf-16"), "encoded as UTF-16 or UTF-32"),
        ("a.py", ASKS.decode().encode("utf-16-le"), "encoded as UTF-16 or UTF-32"),
        ("a.py", b"x = '\xe9'\n" + ASKS, "not utf-8 and no encoding is declared: byte 0xe9 at offset 5 (line 1)"),
        ("a.py", ASKS + b"# \xe9\n", "not utf-8 and no encoding is declared: byte 0xe9 at offset 65 (line 3)"),
        ("a.py", ASKS + b"# \0\n", "syntax error: a NUL byte (line 3)"),
        (
            "a.py",
            ASKS + b"print 1\n",
            "syntax error: Missing parentheses in call to 'print'. Did you mean print(...)? (line 3)",
        ),
        (
            "a.py",
            ASKS + b"if x:\n\ty\n        z\n",
            "syntax error: inconsistent use of tabs and spaces in indentation (line 5)",
        ),
        ("a.cu", b"\0GITCRYPT\0" + bytes(range(256)), "encrypted by git-crypt"),
        ("a.py", b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS, not the file itself"),
        ("a.cu", bytes(range(256)), "not text: it has NUL bytes"),
        ("a.json", b'{"cuda_archs": ["8.0",\n "12.0a",}\n', "not JSON: Expecting ',' delimiter (line 2)"),
        ("a.json", b'{"cuda_archs": ' + b"[" * 100_000, "nested too deep to read"),
        ("a.yml", b"cuda_archs:\n  " + b"- " * 2000 + b"x", "nested too deep to read"),
        ("a.toml", b'cuda_archs = ["12.0a"\nb = \n', "not TOML: Unclosed array (at line 2, column 1)"),
        (
            "a.yml",
            b'env:\n  X_ARCH_LIST: "8.0 12.0a\nb: [\n',
            "not YAML: found unexpected end of stream (line 4)",
        ),
        ("a.py", ASKS + b"y = " + b"(" * 300 + b")" * 300, "syntax error: too many nested parentheses (line 3)"),
        ("a.py", ASKS + b"y = " + b"-" * 3000 + b"1", "nested too deep for Python's own parser"),
        ("pyproject.toml", b"[project]\nx = " + b"[" * 50_000 + b"]" * 50_000, "nested too deep to read"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "other.py").write_bytes(ASKS)
    found = collect(discover([str(tmp_path)]).files, 1)
    assert [(skip.path, skip.reason) for skip in found.skipped] == [(str(tmp_path / name), reason)]
    assert [file.path for file, _ in found.modules] == [str(tmp_path / "other.py")]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b'{\n  // a comment\n  "architectures": ["x86",],\n}\n'),
        ("a.json", b'\xef\xbb\xbf{"architectures": []}'),
        ("a.json", b'{"names": [}'),  # nothing that bwlint would look for
        ("a.json", b'{"cuda_archs": ["8.0", "12.0a"],'),  # found all the same
        ("a.toml", b'architectures = ["x86"]\n'),
        ("a.yml", b"architectures: [x86]\n"),
        ("a.yml", b"{% if x %}\nX_ARCH_LIST: 8.0 12.0a\n"),
        ("a.sh", b'X_ARCH_LIST="$A\n'),
        ("a.cu", b"int x; // \xe9\n"),
        ("a.py", b"print 1\n"),
    ],
)
def test_what_has_nothing_to_say_or_is_read_all_the_same_is_not(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert collect(discover([str(tmp_path)]).files, 1).skipped == ()


def test_a_file_for_which_there_is_no_memory_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = python.read

    def hungry(real: str, *rest: object, **named: object) -> object:
        if real.endswith("a.py"):
            raise MemoryError
        return read(real, *rest, **named)  # type: ignore[arg-type]

    for name in ("a.py", "b.py"):
        (tmp_path / name).write_bytes(ASKS)
    monkeypatch.setattr(python, "read", hungry)
    found = collect(discover([str(tmp_path)]).files, 1)
    assert [skip.reason for skip in found.skipped] == ["needs more memory than available"]
    assert len(found.modules) == 1


def test_what_there_was_no_memory_for_is_read_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "a.py").write_bytes(ASKS)
    real = str(tmp_path / "a.py")

    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    with kept.using(), monkeypatch.context() as once:
        once.setattr(python, "read", greedy)
        assert load(real, "a") is None
    with kept.using():
        found = load(real, "a")
    assert found is not None
    assert found.gates


def test_more_tokens_than_a_tree_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "MOST_TOKENS", 1000)
    python.parse("x = [" + "90," * 490 + "]")
    with pytest.raises(ReadError, match="more than 1,000 tokens"):
        python.parse("x = [" + "90," * 500 + "]")


def test_forty_lines_double_a_list_only_as_far_as_there_is_room() -> None:
    doubled = "".join(f"set(V{i + 1} ${{V{i}}} ${{V{i}}})\n" for i in range(400))
    file = cmake._CmakeFile(source := f"set(V0 90a)\n{doubled}", Places(source))
    file.read()
    assert sum(len(text) for texts in file.texts.values() for text in texts) < 20_000_000
    assert file.texts["V1"] == ("90a", "90a")


def test_a_reference_stays_where_there_is_no_room_for_it() -> None:
    assert expanded("${A}${B}", {"A": "a" * 100_000, "B": "b"}.get) == "a" * 100_000 + "${B}"
    assert expanded("${A}${B}${C}", {"A": "a", "B": "b" * 100_001}.get) == "a${B}${C}"


def test_a_comment_in_latin_1_hides_no_kernel_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_bytes(b"// caf\xe9\n/*\xe9\xe8*/ int x;\n" + GUARD)
    with ExitStack() as stack:
        (finding,) = check(CheckRequest((str(path),), jobs=1), stack).report.findings
    assert (finding.region.line, finding.region.column) == (3, 5)
    answer = CliRunner().invoke(app, ["check", "--fix", str(path)], prog_name="bwlint")
    assert answer.exit_code == 0, answer.output
    fixed = GUARD.replace(b"== 1200", b">= 1200 && __CUDA_ARCH__ < 1300")
    assert path.read_bytes() == b"// caf\xe9\n/*\xe9\xe8*/ int x;\n" + fixed


def test_a_target_that_is_none_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "bwlint.toml").write_text('target = ["13.7"]\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"bwlint.toml: unknown target sm_137"), ExitStack() as stack:
        check(CheckRequest((str(tmp_path),), jobs=1), stack)
    with pytest.raises(UsageError, match=r"^unknown target sm_138"), ExitStack() as stack:
        check(CheckRequest((str(tmp_path),), target=("13.8",), jobs=1), stack)
