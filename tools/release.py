"""Makes a release ready and tries it: nothing is uploaded and no tag is made.

    python tools/release.py                 builds and checks sdist and wheel, uses the wheel on every Python
    python tools/release.py --tag v0.1.0    the same for a tag: version, changelog and pages must be those of it

Takes `pip install -e '.[release]'` and a package index. uv finds the Pythons (or has them) that the classifiers name.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bwlint import __version__
from bwlint.data import read_toml

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures" / "family-split"
_PYTHON = re.compile(r"Programming Language :: Python :: (3\.\d+)")
_SHOWN = re.compile(r"(?:bwlint@|rev: )v(\d[\w.]*)")


def pythons() -> list[str]:
    """The versions of Python that the classifiers name."""
    project: dict[str, Any] = read_toml(ROOT / "pyproject.toml")["project"]
    return [found[1] for name in project["classifiers"] if (found := _PYTHON.fullmatch(name))]


def faults_of_tag(tag: str, changelog: str, pages: dict[str, str]) -> Iterator[str]:
    """Why a tag is none of this version: its name, the changelog without a date, pages that show another version."""
    if tag != f"v{__version__}":
        yield f"the tag is {tag}, the version {__version__}"
    if not re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no section of {__version__} with a date"
    for name, text in pages.items():
        for shown in sorted(set(_SHOWN.findall(text)) - {__version__}):
            yield f"{name} shows v{shown}"


def build(folder: Path) -> Path:
    """The wheel, built from the sdist, both in a folder and as the index wants them."""
    _run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    names = sorted(path.name for path in folder.iterdir())
    wanted = [f"bwlint-{__version__}-py3-none-any.whl", f"bwlint-{__version__}.tar.gz"]
    if names != wanted:
        raise SystemExit(f"{folder} holds {', '.join(names)} and not {', '.join(wanted)}")
    _run(sys.executable, "-m", "twine", "check", "--strict", *(folder / name for name in names))
    return folder / wanted[0]


def try_on(python: str, wheel: Path, folder: Path) -> None:
    """Install a wheel in an empty environment and use it, outside of the checkout. Raises SystemExit."""
    there = folder / python
    _run("uv", "venv", "--quiet", "--python", python, there)
    _run("uv", "pip", "install", "--quiet", "--python", there, wheel)
    bwlint = there / ("Scripts" if os.name == "nt" else "bin") / "bwlint"
    said = _run(bwlint, "--version")
    if said.strip() != f"bwlint {__version__}":
        raise SystemExit(f"{python}: bwlint --version says {said!r}")
    _use(bwlint, folder)
    # sarif-om asks for pbr, which asks for setuptools; neither is imported.
    _run("uv", "pip", "uninstall", "--quiet", "--python", there, "pbr", "setuptools")
    _use(bwlint, folder)


def _use(bwlint: Path, folder: Path) -> None:
    _run(bwlint, "check", "--no-cache", FIXTURES / "guards.py", code=1, cwd=folder)
    _run(bwlint, "check", "--no-cache", "--format", "sarif", FIXTURES / "families.py", cwd=folder)
    _run(bwlint, "explain", "BW101", cwd=folder)


def _run(program: str | Path, *arguments: str | Path, code: int = 0, cwd: Path | None = None) -> str:
    """What a program prints. Raises SystemExit where it ends with another code."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [program, *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        words = " ".join(map(str, (program, *arguments)))
        raise SystemExit(f"{words}: exit code {done.returncode}, {code} expected\n{done.stdout}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", metavar="TAG", help="the tag that is to be released")
    parser.add_argument("--dist", metavar="DIR", type=Path, help="keep sdist and wheel in this empty folder")
    parser.add_argument("--python", metavar="VERSION", action="append", help="only on this Python (repeatable)")
    asked = parser.parse_args()
    if asked.tag:
        pages = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
        faults = list(faults_of_tag(asked.tag, (ROOT / "CHANGELOG.md").read_text("utf-8"), pages))
        if faults:
            raise SystemExit("\n".join(faults))
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build(asked.dist or Path(scratch, "dist"))
        print(f"built and checked: {wheel.name} and the sdist", flush=True)
        failed = False
        for python in asked.python or pythons():
            try:
                try_on(python, wheel, Path(scratch))
            except SystemExit as error:
                failed = True
                print(f"Python {python}: {error}", flush=True)
            else:
                print(f"Python {python}: installed and used", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
