"""Probes as they are written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolkit import Toolkit as Tools

from bwlint.confirm import probes
from bwlint.confirm.workbench import Device, Toolkit, Workbench
from bwlint.readers.binary import read
from bwlint.sources.stretch import ByteSource


@pytest.mark.parametrize(
    ("target", "version"),
    [
        ("sm_80", "7.8"),
        ("sm_90", "8.0"),
        ("sm_90a", "8.0"),
        ("sm_100a", "8.6"),
        ("sm_100f", "8.8"),
        ("sm_120", "8.7"),
        ("sm_120f", "8.8"),
        ("sm_121a", "8.8"),
        ("sm_110", "9.0"),
        ("sm_110f", "9.0"),
    ],
)
def test_versions(target: str, version: str) -> None:
    assert probes.version(target) == version


@pytest.mark.parametrize("target", ["", "90", "compute_90", "sm_120x", "sm_90 // "])
def test_no_targets(target: str) -> None:
    with pytest.raises(ValueError, match="is no target"):
        probes.version(target)


@pytest.mark.parametrize("name", probes.NAMES)
def test_only_the_head_changes(name: str) -> None:
    one, other = probes.text(name, "sm_90").splitlines(), probes.text(name, "sm_120f").splitlines()
    changed = [(before, after) for before, after in zip(one, other, strict=True) if before != after]
    assert changed == [(".version 8.0", ".version 8.8"), (".target sm_90", ".target sm_120f")]


def test_static_memory() -> None:
    text = probes.text("shared", "sm_90a", 232448)
    assert ".shared .align 16 .b8 held[232448];" in text
    assert ".extern" not in text


def device(driver: str) -> Device:
    return Device(0, "made up", "", "9.0", driver)


def test_without_a_toolkit_the_driver_assembles(tmp_path: Path) -> None:
    made = probes.written("cluster", "sm_90", Workbench(tmp_path, devices=(device("13.0"),)))
    assert (made.path.suffix, made.made_by, made.said) == (".ptx", "the driver's JIT", "")


@pytest.mark.parametrize(("driver", "suffix"), [("13.0", ".cubin"), ("14.0", ".cubin"), ("12.9", ".ptx")])
def test_a_toolkit_that_the_driver_is_not_behind(tmp_path: Path, toolkit: Tools, driver: str, suffix: str) -> None:
    tools = (Toolkit(toolkit.programs / "ptxas", None, "13.0.88", "a test"),)
    made = probes.written("cluster", "sm_90", Workbench(tmp_path, tools, (device(driver),)))
    assert made.path.suffix == suffix
    if suffix == ".cubin":
        found = read(ByteSource.of_bytes(made.path.read_bytes())).cubin
        assert found is not None
        assert [kernel.name for kernel in found.kernels] == ["cluster_exchange"]


def test_what_a_ptxas_refuses_is_kept(tmp_path: Path, toolkit: Tools) -> None:
    tools = (Toolkit(toolkit.programs / "ptxas", None, "13.0.88", "a test"),)
    made = probes.written("shared", "sm_90", Workbench(tmp_path, tools), static=49153)
    assert (made.path.suffix, made.made_by) == (".ptx", "the driver's JIT")
    assert "uses too much shared data (0xc001 bytes, 0xc000 max)" in made.said


def test_a_ptxas_that_does_not_start(tmp_path: Path) -> None:
    tools = (Toolkit(tmp_path / "absent", None, "13.0.88", "a test"),)
    made = probes.written("peer", "sm_90", Workbench(tmp_path, tools))
    assert made.path.suffix == ".ptx"
    assert "No such file" in made.said
