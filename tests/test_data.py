"""Where the tables lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint import data


def test_tables_are_found() -> None:
    assert (data.tables_folder() / "devices.toml").is_file()
    assert len(data.table("devices")["chip"]) == 16


def test_rules_of_a_checkout_lie_at_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "bwlint"
    package.mkdir(parents=True)
    monkeypatch.setattr(data, "_PACKAGE", package)
    assert data.rules_folder() == tmp_path / "rules"


def test_rules_of_a_wheel_lie_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "bwlint" / "rules_data"
    packed.mkdir(parents=True)
    monkeypatch.setattr(data, "_PACKAGE", packed.parent)
    assert data.rules_folder() == packed


def test_the_hooks_of_a_checkout_lie_at_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "src" / "bwlint")
    assert data.hooks_file() == tmp_path / ".pre-commit-hooks.yaml"


def test_the_hooks_of_a_wheel_lie_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "bwlint" / "commands" / "hooks.yaml"
    packed.parent.mkdir(parents=True)
    packed.touch()
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "bwlint")
    assert data.hooks_file() == packed
