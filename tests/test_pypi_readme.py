"""The README as an index shows it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pypi_readme = pytest.importorskip("pypi_readme", exc_type=ImportError)
ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
AT = "https://github.com/us/it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](docs/a.md#b) and [c](C.md)", f"[a]({AT}/blob/v1.2/docs/a.md#b) and [c]({AT}/blob/v1.2/C.md)"),
        ("![a: b](docs/a.png)", f"![a: b]({AT}/raw/v1.2/docs/a.png)"),
        ("[a](https://example.org/b)", "[a](https://example.org/b)"),
        ("[a](#b)", "[a](#b)"),
        ("`x[0](y z)` and [a] (b)", "`x[0](y z)` and [a] (b)"),
    ],
)
def test_links_lead_to_the_repository(text: str, shown: str) -> None:
    assert pypi_readme.linked(text, AT, "1.2") == shown
    assert pypi_readme.linked(text, "", "1.2") == text


def test_no_link_of_the_readme_is_left_relative() -> None:
    assert re.findall(r"\]\((?!https?:)", README)
    assert not re.findall(r"\]\((?!https?:)", pypi_readme.linked(README, AT, "1.2"))


@pytest.mark.parametrize("address", ["", AT])
def test_the_metadata_have_it(tmp_path: Path, address: str) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", "src/bwlint/__init__.py", "tools/pypi_readme.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    project = (tmp_path / "pyproject.toml").read_text("utf-8")
    urls = f'[project.urls]\nRepository = "{address}"\n' if address else "[project.urls]\n"
    (tmp_path / "pyproject.toml").write_text(re.sub(r"(?m)^\[project\.urls\]\n(Repository = .*\n)?", urls, project))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    (packed,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        member = archive.extractfile(f"{packed.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None
        told = member.read().decode()
    assert ("Project-URL: Repository, " in told, f"({AT}/raw/v" in told) == (bool(address), bool(address))
    assert "Description-Content-Type: text/markdown\n" in told and "# bwlint\n" in told
