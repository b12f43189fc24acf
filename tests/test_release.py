"""What a release is held against, and the workflows that test and publish it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import release
import yaml

from bwlint import __version__
from bwlint.data import read_toml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
DATED = f"# Changelog\n\n## [{__version__}] - 2026-01-31\n"


def test_every_python_from_the_oldest_on_is_tried() -> None:
    project = read_toml(ROOT / "pyproject.toml")["project"]
    minors = [int(version.removeprefix("3.")) for version in release.pythons()]
    assert project["requires-python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[-1] + 1)) and minors[-1] >= 14


@pytest.mark.parametrize(
    ("tag", "changelog", "pages", "faults"),
    [
        (f"v{__version__}", DATED, {}, []),
        (f"v{__version__}", DATED, {"ci.md": f"uses: OWNER/bwlint@v{__version__}\nrev: v{__version__}\n"}, []),
        (f"v{__version__}", DATED, {"ci.md": "actions/checkout@v4 and sm_120"}, []),
        (__version__, DATED, {}, [f"the tag is {__version__}, the version {__version__}"]),
        ("v9.9", DATED, {}, [f"the tag is v9.9, the version {__version__}"]),
        (f"v{__version__}", f"## [{__version__}] - unreleased\n", {}, ["CHANGELOG.md has no section"]),
        (f"v{__version__}", DATED.replace(__version__, "8.7.6"), {}, ["CHANGELOG.md has no section"]),
        (f"v{__version__}", DATED, {"ci.md": "us/bwlint@v9.9\nrev: v9.9\n"}, ["ci.md shows v9.9"]),
        (f"v{__version__}", DATED, {"a.md": "rev: v9.9", "b.md": "rev: v9.8"}, ["a.md shows v9.9", "b.md shows v9.8"]),
    ],
)
def test_a_tag_is_that_of_the_version(tag: str, changelog: str, pages: dict[str, str], faults: list[str]) -> None:
    found = list(release.faults_of_tag(tag, changelog, pages))
    assert len(found) == len(faults)
    assert all(told.startswith(words) for told, words in zip(found, faults, strict=True))


def test_the_pages_show_this_version() -> None:
    pages = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")}
    assert list(release.faults_of_tag(f"v{__version__}", DATED, pages)) == []
    assert f"v{__version__}" in pages["ci.md"]


def steps_of(path: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [(job, step) for job in jobs for step in job.get("steps", ())]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text("utf-8"))
    foreign = [one for one in used if not one.startswith("$/")]
    assert foreign and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in foreign)


def test_an_action_has_one_pin() -> None:
    text = "".join(path.read_text("utf-8") for path in [*WORKFLOWS, ROOT / "action.yml"])
    pins = set(re.findall(r"uses: ([\w./-]+@[0-9a-f]{40} # v[\d.]+)", text))
    assert len(pins) == len({pin.partition("@")[0] for pin in pins})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_may_do_little(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {}
    may = [set(job["permissions"].items()) for job in workflow["jobs"].values()]
    assert all(one in ({("contents", "read")}, {("id-token", "write")}) for one in may)
    checkouts = [step for _, step in steps_of(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_is_published_untested() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert (jobs["publish"]["needs"], jobs["build"]["needs"]) == ("build", "ci")
    assert jobs["ci"]["uses"] == "$/.github/workflows/ci.yml"
    runs = [step.get("run", "") for _, step in steps_of(ROOT / ".github/workflows/ci.yml")]
    assert {".ci/run", "python tools/release.py", "mkdocs build --strict"} <= set(runs)


def test_zizmor_finds_nothing() -> None:
    zizmor = shutil.which("zizmor", path=sysconfig.get_path("scripts")) or shutil.which("zizmor")
    if zizmor is None:
        pytest.skip("no zizmor")
    audited = map(str, [*WORKFLOWS, ROOT / "action.yml", ROOT / ".github/dependabot.yml"])
    command = [zizmor, "--offline", "--pedantic", "--no-progress", *audited]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_asks_for_the_version_and_what_to_attach(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    assert form["name"] and form["description"]
    asked = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(asked) == len(set(asked)) and asked[0] == "version"
    assert {"output"} < set(asked) and set(asked) & {"code", "input"}
