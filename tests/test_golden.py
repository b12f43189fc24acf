"""What findings say: whole reports on the fixtures and on small binaries, held to the letter.

A change of words is written down with `pytest tests/test_golden.py --update-golden`, and then read in the diff.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from libraries import arm
from small_binaries import Kernel, container, cubin, entry, shared_object
from snapshots import FIXTURES, Golden, checked, of_fixtures, rendered

from bwlint.run.request import Outcome
from bwlint.settings import catalog

pytestmark = pytest.mark.shared

FOLDERS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
GOLDEN = Path(__file__).parent / "golden"

REPRESENTATIVE = {rule.name: f"{rule.name}/fires.py" for rule in catalog.rules()} | {
    "arch-lost": "arch-lost/kernels.py",
    "arch-target": "arch-target/CMakeLists.txt",
    "bad-suppression": "suppression/comments.py",
    "capability-type": "capability-type/comparisons.py",
    "cluster": "cluster/sizes.cu",
    "dead-arm": "dead-arm/chains.py",
    "empty-body": "empty-body/consumer.cu",
    "excluded": "excluded/lists.py",
    "family-split": "family-split/guards.py",
    "illegal-instruction": "illegal-instruction/others.ptx",
    "launch-bounds": "launch-bounds/minimums.cu",
    "leak": "reached/user.py",
    "message": "message/texts.py",
    "moe-plan": "moe-plan/named/by_card.sh",
    "p2p-atomics": "p2p-atomics/remote_atomic/fires/backends.py",
    "pdl-noop": "pdl-noop/guarded/scale.cu",
    "relabelled": "binaries/edited/headers.so",
    "toolchain": "toolchain/floors/fires/predicates.py",
    "sm-count": "sm-count/resident.py",
    "smem": "smem/requests.cu",
    "suffix-lost": "suffix-lost/guards.cu",
    "tcgen05": "tcgen05/kernels.cu",
    "test-gate": "test-gate/tests/test_leaks.py",
    "tma-slow-path": "tma-slow-path/loads.cu",
    "unchecked-launch": "unchecked-launch/statuses.cu",
    "unified-memory": "unified-memory/queries.py",
    "unused-suppression": "suppression/comments.cu",
    "wgmma": "wgmma/kernels.cu",
}
"""The file that shows most of what a rule has to say, of the fixtures or of `BINARIES`."""
OTHER_FORMATS = {"suppression.sarif": ("sarif", "suppression"), "family-split.concise.txt": ("concise", "family-split")}


def _kernel(name: str, *attributes: tuple[int, bytes | int | None], shared: int = 0, calls: str = "") -> Kernel:
    return Kernel(name, shared, attributes=attributes, calls=(calls,) if calls else ())


# Attributes of kernels, as their readers name them: a cluster that is demanded, tcgen05 for one block.
_WIDE = (0x3D, struct.pack("<III", 16, 1, 1))
_TENSOR = (0x51, None)
_BULK = "__cuda_syscall_cp_async_bulk_tensor_2d_tile_"
_HEADERS = (
    container(entry(cubin(120, kernels=["one"], command="-arch sm_100f "), 120)),
    container(entry(cubin(121, kernels=["two"], command="-arch sm_120 "), 121)),
    container(entry(cubin(120, kernels=["three"], command="-arch sm_120f "), 120, "f")),
)
BINARIES: Mapping[str, bytes] = {
    "edited/headers.so": shared_object(*_HEADERS, machine=183),
    "edited/one.cubin": cubin(120, "a", command="-arch sm_90a "),
    "edited/unknown.cubin": cubin(120, "a", command="-arch sm_130a "),
    "kernels/tensor.cubin": cubin(120, "f", [_kernel("tensor", _TENSOR), _kernel("plain")]),
    "kernels/shared.cubin": cubin(120, "f", [_kernel("large", shared=200_000), _kernel("larger", shared=210_000)]),
    "kernels/fits.cubin": cubin(120, "f", [_kernel("fits", shared=90_000)]),
    "kernels/cluster.cubin": cubin(120, "f", [_kernel("wide", _WIDE)]),
    "kernels/loads.cubin": cubin(
        120,
        "f",
        [_kernel("one", calls=f"{_BULK}unicast"), _kernel("many", calls=f"{_BULK}multicast"), _kernel("none")],
    ),
    "half/exact.so": arm("sm_120a"),
    "half/some.so": arm("sm_120f", "sm_80 sm_120a", "sm_120f"),
    "half/build.sh": b"nvcc -gencode arch=compute_121,code=sm_121 a.cu\n",
    "later/minors.so": arm("sm_121", "sm_121a"),
    "nothing/older.so": arm("sm_80 sm_90"),
    "exact/others.so": arm("sm_90a", "sm_100f"),
    "absent/hopper.so": arm("sm_90: gemm"),
    "absent/exact.so": arm("sm_90a: attention"),
    "absent/family.so": arm("sm_120f: norm"),
    "compiled/later.so": arm("sm_80 ptx_80"),
    "operations/gemm.so": arm("sm_120f: _Z4copyv", "sm_80 sm_90: _Z4gemmv _Z4foldv"),
    "fine/family.so": arm("sm_120f"),
    "fine/every.so": arm("sm_80 sm_90 sm_100f sm_120f"),
    "unread/cut.cubin": cubin(120)[:100],
}
"""A tree of small binaries, each folder a library of its own."""


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(GOLDEN, request.config.getoption("--update-golden"))


@pytest.fixture
def of_binaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What is found in the tree of binaries, read in their order."""
    for name, data in BINARIES.items():
        path = tmp_path / "binaries" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return checked("binaries")


def of_rule(outcome: Outcome, rule: str) -> str:
    """The findings of a rule in its representative file as the text for people."""
    found = tuple(one for one in outcome.report.findings if (one.name, one.path) == (rule, REPRESENTATIVE[rule]))
    assert found, f"{REPRESENTATIVE[rule]} has nothing of {rule}"
    return rendered(outcome, "text", replace(outcome.report, findings=found))


@pytest.mark.parametrize("folder", FOLDERS)
def test_reports_on_the_fixtures(folder: str, golden: Golden) -> None:
    golden.holds(f"{folder}.json", rendered(of_fixtures(folder), "json"))


def test_report_on_binaries(of_binaries: Outcome, golden: Golden) -> None:
    golden.holds("binaries.json", rendered(of_binaries, "json"))


@pytest.mark.parametrize("rule", [name for name in REPRESENTATIVE if name != "relabelled"])
def test_words_of_each_rule(rule: str, golden: Golden) -> None:
    golden.holds(f"text/{rule}.txt", of_rule(of_fixtures(REPRESENTATIVE[rule].partition("/")[0]), rule))


def test_words_of_edited_headers(of_binaries: Outcome, golden: Golden) -> None:
    golden.holds("text/relabelled.txt", of_rule(of_binaries, "relabelled"))


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_other_formats(name: str, golden: Golden) -> None:
    form, folder = OTHER_FORMATS[name]
    golden.holds(name, rendered(of_fixtures(folder), form))


def test_every_file_is_rendered(golden: Golden) -> None:
    """A folder without a file, and a file without a folder, are no oversight that stays unseen."""
    assert set(REPRESENTATIVE) == {rule.name for rule in catalog.rules()}
    reports = [f"{name}.json" for name in (*FOLDERS, "binaries")]
    golden.holds_no_others([*reports, *(f"text/{rule}.txt" for rule in REPRESENTATIVE), *OTHER_FORMATS])


def test_every_rule_of_binaries_is_held(of_binaries: Outcome) -> None:
    found = {finding.name for finding in of_binaries.report.findings}
    assert found == {"arch-target", "cluster", "relabelled", "smem", "tcgen05", "tma-slow-path"}


# The comparison itself


@pytest.mark.parametrize("wanted", [('"label": "', '"label": "not '), ("sm_120", "sm_121"), ("\n", "\r\n")])
def test_a_difference_fails(wanted: tuple[str, str], tmp_path: Path) -> None:
    text = (GOLDEN / "leak.json").read_text(encoding="utf-8")
    (tmp_path / "leak.json").write_text(text.replace(*wanted, 1), encoding="utf-8", newline="")
    with pytest.raises(pytest.fail.Exception, match="differs") as failed:
        Golden(tmp_path).holds("leak.json", text)
    assert len(str(failed.value).splitlines()) < 70


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("x" * 1000 + "\n" * 1000, encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match="lines more") as failed:
        Golden(tmp_path).holds("a.json", "y\n" * 1000)
    assert len(str(failed.value)) < 5000


def test_what_is_missing_or_left_fails(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="missing"):
        Golden(tmp_path).holds("a.json", "")
    (tmp_path / "old.json").write_text("", encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"old\.json"):
        Golden(tmp_path).holds_no_others([])
    with pytest.raises(pytest.fail.Exception, match=r"a\.json"):
        Golden(tmp_path).holds_no_others(["old.json", "a.json"])
    Golden(tmp_path).holds_no_others(["old.json"])


def test_only_the_option_writes(tmp_path: Path) -> None:
    Golden(tmp_path, update=True).holds("text/a.txt", "a\n")
    Golden(tmp_path).holds("text/a.txt", "a\n")
    with pytest.raises(pytest.fail.Exception):
        Golden(tmp_path).holds("text/a.txt", "b\n")
    assert (tmp_path / "text" / "a.txt").read_text(encoding="utf-8") == "a\n"
    Golden(tmp_path, update=True).holds_no_others([])
    assert not (tmp_path / "text" / "a.txt").exists()
