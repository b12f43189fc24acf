from __future__ import annotations

import itertools
import os
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from small_binaries import zipped

from bwlint.sources import wheels
from bwlint.sources.pypi import SourceError, Spec
from bwlint.sources.wheels import Fetched, FetchedSources, NotThere, Tag, contents, fetch, parse_tag

NO_WHEEL = "ERROR: No matching distribution found for x\n"


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("bitsandbytes-0.50.2-py3-none-manylinux_2_24_x86_64.whl", Tag("x86_64", "manylinux_2_24_x86_64")),
        ("bitsandbytes-0.50.2-py3-none-manylinux_2_24_aarch64.whl", Tag("aarch64", "manylinux_2_24_aarch64")),
        ("bitsandbytes-0.50.2-py3-none-win_amd64.whl", Tag("x86_64", "win_amd64")),
        ("x-1-py3-none-win_arm64.whl", Tag("aarch64", "win_arm64")),
        ("x-1-py3-none-macosx_14_0_arm64.whl", Tag("aarch64", "macosx_14_0_arm64")),
        ("torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl", Tag("x86_64", "linux_x86_64")),
        ("x-1-2-cp312-cp312-manylinux1_x86_64.whl", Tag("x86_64", "manylinux1_x86_64")),
        (
            "torchao-0.18.0-cp310-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
            Tag("x86_64", "manylinux_2_24_x86_64.manylinux_2_28_x86_64"),
        ),
        ("flashinfer_cubin-0.6.13-py3-none-any.whl", Tag("any", "any")),
        ("x-1-py3-none-win32.whl", Tag("", "win32")),
        ("x-1-py3-none-linux_ppc64le.whl", Tag("", "linux_ppc64le")),
        ("x-1-py3-none-macosx_11_0_universal2.whl", Tag("", "macosx_11_0_universal2")),
        (
            "x-1-py3-none-macosx_10_9_x86_64.macosx_11_0_arm64.whl",
            Tag("", "macosx_10_9_x86_64.macosx_11_0_arm64"),
        ),
    ],
)
def test_tags(name: str, tag: Tag) -> None:
    assert parse_tag(name) == tag


@pytest.mark.parametrize(
    "name", ["x.whl", "x-1.whl", "x-1-py3-none.whl", "x-y-py3-none-any.whl", "x-1.zip", "\x1b.whl"]
)
def test_names_that_are_no_wheels(name: str) -> None:
    with pytest.raises(SourceError, match="not the name of a wheel") as error:
        parse_tag(name)
    assert str(error.value).isprintable()


# Fetching, with a pip of our own


@dataclass
class Index:
    """A folder of names of files, and a pip that knows of tags what these tests need."""

    names: Sequence[str]
    python: str = "3.11"
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def pip(self, spec: Spec, dest: Path, options: tuple[str, ...], _: int) -> str | None:
        self.calls.append((spec.requirement, options))
        pairs = list(itertools.pairwise(options))
        platforms = [value for option, value in pairs if option == "--platform"]
        python = next((value for option, value in pairs if option == "--python-version"), self.python)
        for name in sorted(self.names, reverse=True):
            if name.endswith(".whl") and self._fits(name, spec, platforms, python.replace(".", "")):
                (dest / name).touch()
                return None
        return "\n".join([*(self._links() if "-vv" in options else []), NO_WHEEL])

    def ask(self, spec: Spec, dest: Path, options: tuple[str, ...]) -> tuple[int, str]:
        failure = self.pip(spec, dest, options, 0)
        return (1, failure) if failure else (0, "\n".join(self._links()))

    def _links(self) -> list[str]:
        return [f"  Skipping link: https://files/{name.replace('+', '%2B')}#sha256=ab" for name in self.names]

    def fetch(self, where: str, into: Path) -> Path:
        file = into / where.rpartition("/")[2]
        file.touch()
        return file

    def _fits(self, name: str, spec: Spec, platforms: Sequence[str], python: str) -> bool:
        version, tag, _, own = name.removesuffix(".whl").split("-")[1:]
        return (
            (spec.version or version) == version
            and tag in ("py3", f"cp{python}")
            and (own == "any" or bool(set(own.split(".")) & set(platforms)))
        )


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Index]:
    def make(*names: str) -> Index:
        made = Index(names)
        monkeypatch.setattr(wheels, "pip_download", made.pip)
        monkeypatch.setattr(wheels, "ask_pip", made.ask)
        monkeypatch.setattr(wheels, "fetch_source", made.fetch)
        return made

    return make


def rows(spec: str, into: Path, *platforms: str) -> list[str]:
    """What comes of a fetch, in a line each; wheels are deleted as the command does it."""
    found = []
    name, _, version = spec.partition("==")
    for row in fetch(Spec(name, version or None), platforms, into):
        if isinstance(row, NotThere):
            found.append(f"{row.machine}: {row.reason}")
            continue
        if isinstance(row, FetchedSources):
            found.append(f"{row.lacks}: {row.path.name}")
            continue
        assert row.path.is_file()
        shutil.rmtree(row.path.parent)
        found.append(f"{row.asked}: {row.version} {row.tag.machine} {row.path.name}")
    assert not list(into.glob("*/*.whl"))
    return found


X86, ARM, WIN = (
    "x-1.0-py3-none-manylinux_2_28_x86_64.whl",
    "x-1.0-py3-none-manylinux2014_aarch64.whl",
    "x-1.0-py3-none-win_amd64.whl",
)


@pytest.mark.parametrize(
    ("names", "spec", "platforms", "said"),
    [
        ((X86, ARM, WIN), "x", (), [f"x86_64: 1.0 x86_64 {X86}", f"aarch64: 1.0 aarch64 {ARM}"]),
        ((X86, ARM, WIN), "x==1.0", ("aarch64",), [f"aarch64: 1.0 aarch64 {ARM}"]),
        ((X86, ARM, WIN), "x", ("win_amd64",), [f"win_amd64: 1.0 x86_64 {WIN}"]),
        ((X86, ARM, WIN), "x", ("x86_64", "x86_64"), [f"x86_64: 1.0 x86_64 {X86}"]),
        ((X86,), "x", ("manylinux_2_28_x86_64",), [f"manylinux_2_28_x86_64: 1.0 x86_64 {X86}"]),
        # One for all machines is fetched once.
        (("x-1.0-py3-none-any.whl",), "x", (), ["x86_64: 1.0 any x-1.0-py3-none-any.whl"]),
        # The version of the first row is that of all.
        (
            (X86, "x-1.0-py3-none-linux_aarch64.whl", "x-2.0-py3-none-linux_aarch64.whl"),
            *("x", ()),
            [f"x86_64: 1.0 x86_64 {X86}", "aarch64: 1.0 aarch64 x-1.0-py3-none-linux_aarch64.whl"],
        ),
        (
            (X86, "x-2.0-py3-none-linux_aarch64.whl", WIN),
            *("x", ()),
            [
                f"x86_64: 1.0 x86_64 {X86}",
                "aarch64: x 1.0 has no wheel for Linux aarch64, only for manylinux_2_28_x86_64, win_amd64",
            ],
        ),
        # A wheel for another Python than the one that runs.
        (
            ("x-1.0-cp312-cp312-linux_x86_64.whl",),
            "x",
            ("x86_64",),
            ["x86_64: 1.0 x86_64 x-1.0-cp312-cp312-linux_x86_64.whl"],
        ),
        (
            ("x-1.0-cp38-cp38-linux_x86_64.whl", "x-1.0-cp39-cp39-linux_x86_64.whl"),
            *("x==1.0", ("x86_64",)),
            ["x86_64: 1.0 x86_64 x-1.0-cp39-cp39-linux_x86_64.whl"],
        ),
        # None.
        ((ARM,), "x", ("x86_64",), ["x86_64: x has no wheel for Linux x86_64, only for manylinux2014_aarch64"]),
        (
            (X86,),
            "x==1.0",
            ("win_amd64",),
            ["win_amd64: x 1.0 has no wheel for win_amd64, only for manylinux_2_28_x86_64"],
        ),
        (
            ("x-1.0+cu130-py3-none-win32.whl",),
            *("x==1.0", ("x86_64",)),
            ["x86_64: x 1.0 has no wheel for Linux x86_64, only for win32"],
        ),
        # The sources come last, once for all that have no wheel.
        (("x-1.0.tar.gz",), "x", ("x86_64",), ["no wheel: x-1.0.tar.gz"]),
        (("x-1.0.zip", "x-2.0.zip"), "x==1.0", ("x86_64", "win_amd64"), ["no wheel: x-1.0.zip"]),
        (("x-1.0.tar.gz", "x-2.0.tar.gz", "y-3.0.tar.gz"), "x", (), ["no wheel: x-2.0.tar.gz"]),
        ((X86, "x-1.0.tar.gz"), "x", (), [f"x86_64: 1.0 x86_64 {X86}", "no wheel for Linux aarch64: x-1.0.tar.gz"]),
        ((WIN, "x-1.0.tar.gz"), "x", (), ["no wheel for Linux x86_64 and Linux aarch64: x-1.0.tar.gz"]),
        ((X86, ARM, "x-1.0.tar.gz"), "x", (), [f"x86_64: 1.0 x86_64 {X86}", f"aarch64: 1.0 aarch64 {ARM}"]),
        (
            ("x-1.0-pp39-pypy39-linux_x86_64.whl",),
            *("x", ("x86_64",)),
            ["x86_64: pip takes none of the wheels of x for Linux x86_64"],
        ),
        (
            tuple(f"x-1.0-py3-none-macosx_{minor}_0_arm64.whl" for minor in range(11, 19)),
            *("x", ("x86_64",)),
            [
                "x86_64: x has no wheel for Linux x86_64, only for "
                + ", ".join(f"macosx_{minor}_0_arm64" for minor in range(11, 17))
                + ", ..."
            ],
        ),
    ],
)
def test_rows(
    tmp_path: Path,
    index: Callable[..., Index],
    names: Sequence[str],
    spec: str,
    platforms: tuple[str, ...],
    said: list[str],
) -> None:
    index(*names)
    assert rows(spec, tmp_path, *platforms) == said


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("y", "pip cannot download y:\n  ERROR: No matching distribution found"),
        ("x==3.0", "x: the index has no version 3.0; the newest is 2.0+cu130"),
    ],
)
def test_what_is_not_on_the_index(tmp_path: Path, index: Callable[..., Index], spec: str, reason: str) -> None:
    index("x-1.0-py3-none-win32.whl", "x-2.0+cu130-py3-none-win32.whl", "other-9.0.tar.gz")
    with pytest.raises(SourceError) as error:
        rows(spec, tmp_path)
    assert str(error.value).startswith(reason)


@pytest.mark.parametrize(
    ("names", "spec", "expected"),
    [
        # The only wheels are of a preview, and releases come as sources, as with deepspeed.
        (["x-0.3.dev5-py3-none-any.whl", "x-0.9.tar.gz", "x-0.18.tar.gz"], "x", ["no wheel: x-0.18.tar.gz"]),
        (["x-2.0rc1-py3-none-any.whl", "x-1.0.tar.gz"], "x", ["no wheel: x-1.0.tar.gz"]),
        # Of the release there are wheels for other machines alone, as with xformers.
        (
            ["x-1.0.dev7-py3-none-any.whl", X86, "x-1.0.tar.gz"],
            "x",
            ["no wheel for Linux aarch64: x-1.0.tar.gz"],
        ),
        (["x-0.3.dev5-py3-none-any.whl"], "x", ["aarch64: 0.3.dev5 any x-0.3.dev5-py3-none-any.whl"]),
        (
            ["x-0.3.dev5-py3-none-any.whl", "x-1.0rc1.tar.gz"],
            "x",
            ["aarch64: 0.3.dev5 any x-0.3.dev5-py3-none-any.whl"],
        ),
        (
            ["x-0.3.dev5-py3-none-any.whl", "x-0.18.tar.gz"],
            "x==0.3.dev5",
            ["aarch64: 0.3.dev5 any x-0.3.dev5-py3-none-any.whl"],
        ),
        ([ARM, "x-2.0.tar.gz"], "x", [f"aarch64: 1.0 aarch64 {ARM}"]),
    ],
)
def test_a_preview_is_not_taken_for_a_release(
    tmp_path: Path, index: Callable[..., Index], names: list[str], spec: str, expected: list[str]
) -> None:
    index(*names)
    assert rows(spec, tmp_path, "aarch64") == expected


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ('"GET /simple/x/ HTTP/1.1" 404 0\n' + NO_WHEEL, "x: the index has no package of this name"),
        ("WARNING: Retrying (Retry(total=0))\n" + NO_WHEEL, "pip cannot download x:\n  WARNING: Retrying"),
        ("GET 404 0\nWARNING: Retrying (Retry(total=0))\n" + NO_WHEEL, "pip cannot download x:\n"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "pip cannot download x:\n  ERROR: THESE PACKAGES"),
        ("No module named pip", "pip cannot download x:\n  No module named pip"),
        ("no answer within 60 minutes", "pip cannot download x:\n  no answer within 60 minutes"),
    ],
)
def test_pip_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, reason: str) -> None:
    monkeypatch.setattr(wheels, "pip_download", lambda *_: output)
    with pytest.raises(SourceError) as error:
        rows("x", tmp_path)
    assert str(error.value).startswith(reason)


@pytest.mark.parametrize(
    "platform", ["", "beos", "amd64", "linux x86_64", "win-amd64", "--index-url=x", "any\n", "WIN_AMD64"]
)
def test_platforms_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(wheels, "pip_download", lambda *_: pytest.fail("pip was run"))
    with pytest.raises(SourceError, match="is not a platform") as error:
        rows("x", tmp_path, "x86_64", platform)
    assert str(error.value).isprintable()


def test_platforms_that_pip_is_asked_for(tmp_path: Path, index: Callable[..., Index]) -> None:
    made = index(X86, ARM)
    rows("x", tmp_path)
    (first, x86), (second, arm) = made.calls
    assert (first, second) == ("x", "x==1.0")
    assert {"manylinux_2_5_x86_64", "manylinux_2_39_x86_64", "manylinux1_x86_64", "linux_x86_64"} < set(x86)
    assert {"manylinux_2_17_aarch64", "manylinux_2_39_aarch64", "manylinux2014_aarch64", "linux_aarch64"} < set(arm)
    assert x86.index("manylinux_2_39_x86_64") < x86.index("manylinux_2_5_x86_64") < x86.index("linux_x86_64")
    assert not {option for option in (*x86, *arm) if option.startswith("manylinux_2_40")}


def test_a_wheel_is_fetched_when_it_is_asked_for(tmp_path: Path, index: Callable[..., Index]) -> None:
    made = index(X86, ARM)
    found = fetch(Spec("x"), (), tmp_path)
    assert not made.calls
    assert isinstance(next(found), Fetched)
    assert len(made.calls) == 1


# Packages that have their content in others


@pytest.mark.parametrize(
    ("requires", "files", "found"),
    [
        (["y-libs==1.0"], {}, ["y-libs==1.0"]),
        (["y-libs-base==1.0", "y-libs-cu12 (==1.0)"], {"x.pth": b"y"}, ["y-libs-base==1.0", "y-libs-cu12==1.0"]),
        (
            ["y==1.0; extra == 'cu13'", "z==2; platform_machine == 'x86_64'", "w==2; sys_platform == 'win32'"],
            {},
            ["z==2"],
        ),
        # What may be any of several releases is no content of this one.
        (["y>=1.0", "y==1.*", "y", "y==1.0,!=1.1", "y @ https://files/y-1.0.zip", "-y", "y==--index-url=x"], {}, []),
        # What holds something itself.
        (["y-libs==1.0"], {"x/__init__.py": b""}, []),
        (["y-libs==1.0"], {"x/a.so": b""}, []),
    ],
)
def test_contents(tmp_path: Path, requires: Sequence[str], files: dict[str, bytes], found: Sequence[str]) -> None:
    said = "".join(f"Requires-Dist: {each}\n" for each in requires)
    data = {**files, "x-1.0.dist-info/METADATA": f"Name: x\nVersion: 1.0\n{said}\nRequires-Dist: text==1\n".encode()}
    (tmp_path / "x-1.0-py3-none-any.whl").write_bytes(zipped(data))
    assert [each.requirement for each in contents(tmp_path / "x-1.0-py3-none-any.whl")] == found


@pytest.mark.parametrize("data", [b"", b"PK", zipped({}), zipped({"x-1.0.dist-info/METADATA": bytes(2 << 20)})])
def test_contents_of_what_is_no_such_wheel(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x-1.0-py3-none-any.whl").write_bytes(data)
    assert contents(tmp_path / "x-1.0-py3-none-any.whl") == ()


# Fetching, with the real pip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, instead of any index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


def make_wheel(folder: Path, version: str, tag: str) -> None:
    info = f"bwdemo-{version}.dist-info"
    with zipfile.ZipFile(folder / f"bwdemo-{version}-{tag}.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: bwdemo\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")


def test_with_the_real_pip(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    make_wheel(folder, "1.0", "cp39-cp39-manylinux_2_31_x86_64")
    make_wheel(folder, "1.0", "py3-none-win_amd64")
    make_wheel(folder, "2.0", "py3-none-manylinux2014_aarch64")
    assert rows("bwdemo==1.0", tmp_path / "into") == [
        "x86_64: 1.0 x86_64 bwdemo-1.0-cp39-cp39-manylinux_2_31_x86_64.whl",
        "aarch64: bwdemo 1.0 has no wheel for Linux aarch64, only for manylinux_2_31_x86_64, win_amd64",
    ]
    with pytest.raises(SourceError, match="the index has no version 3"):
        rows("bwdemo==3", tmp_path / "into")


def test_a_package_that_the_real_pip_does_not_find(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"pip cannot download bwdemo:\n(?s:.*)No matching distribution found for bwdemo"
    ):
        rows("bwdemo", tmp_path)
