"""What the README and the pages that people write show is what the program prints and takes."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from bwlint.commands import explain
from bwlint.commands.init import HookOrigin, _gitlab

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_it_is_one_screen_with_one_picture_and_two_commands() -> None:
    assert len(README.splitlines()) <= 60
    assert README.count("![") == 1
    install, test = re.findall(r"```sh\n(.+)\n```", README)
    assert "pip install . &&" in install
    assert test.endswith('python -m pytest -q -n auto -m "not toolkit"')


def test_the_gate_is_as_printed() -> None:
    text = page("command-line.md")
    match = re.search(r"\$ bwlint explain --gate '(.+)'\n", text)
    assert match is not None
    assert explain.gate(match[1]).strip() in text


def test_the_configuration_is_one(tmp_path: Path) -> None:
    from bwlint.settings.config import load

    match = re.search(r"```toml\n(.+?)```", page("configuration.md"), re.DOTALL)
    assert match is not None
    file = tmp_path / "pyproject.toml"
    file.write_text(match[1], encoding="utf-8")
    config = load(str(file))
    assert config is not None
    assert config.target == ("12.0", "12.1")
    assert config.capability_functions


def test_ci_is_that_of_the_action_and_of_init() -> None:
    text = page("ci.md")
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    for name, about in inputs.items():
        default = f"`{about['default']}`" if about["default"] else ""
        assert f"| `{name}` | {default} | {about['description']} |" in text
    assert _gitlab(HookOrigin("https://gitlab.example.org/OWNER/bwlint", "v0.1.0")) in text
