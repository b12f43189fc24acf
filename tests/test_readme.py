"""What the README shows is what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

from bwlint.commands import explain
from bwlint.settings.catalog import rules

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_gate_is_as_printed() -> None:
    match = re.search(r"\$ bwlint explain --gate '(.+)'\n", README)
    assert match is not None
    assert explain.gate(match[1]).strip() in README


def test_every_rule_is_named() -> None:
    assert not [rule.name for rule in rules() if rule.code not in README]


def test_the_configuration_is_one(tmp_path: Path) -> None:
    from bwlint.settings.config import load

    match = re.search(r"```toml\n(.+?)```", README, re.DOTALL)
    assert match is not None
    file = tmp_path / "pyproject.toml"
    file.write_text(match[1], encoding="utf-8")
    config = load(str(file))
    assert config is not None
    assert config.target == ("12.0", "12.1")
    assert config.capability_functions
