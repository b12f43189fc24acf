from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

from bwlint import cli
from bwlint.report.submission import Personal, document, personal

RECEIPTS = Path(__file__).parents[2] / "benchmarks" / "receipts" / "h100-580.159.04"
KNOWN = Personal(words=("mgrantham", "/home/mgrantham", "vault-17.corp.example", "vault-17"))
SECRETS = (
    "mgrantham",
    "Vault-17",
    "corp.example",
    "/home/",
    "elsewhere",
    "Jo Ann",
    "secret-project",
    "b6e81974",
    "1650923",
    "10.1.2.3",
    "02:42:ac",
    "sk-token",
    "fc-v657",
    "C:\\Users",
    "/opt/private",
)


def receipt(name: str) -> Any:
    return json.loads((RECEIPTS / name).read_text())


def poisoned(name: str) -> Any:
    """A receipt with what is personal wherever a text can hold it."""
    found = receipt(name)
    machine = found["machine"]
    machine["environment"] = {"API_KEY": "sk-token", "HOME": "/home/mgrantham"}
    machine["hostname"] = "vault-17.corp.example"
    machine["commits"] = [{"path": "/home/elsewhere/secret-project", "commit": "abc", "dirty": False}]
    machine["devices"][0]["serial"] = "1650923000123"
    machine["no_device"] = (
        "Vault-17 at 10.1.2.3 (02:42:ac:11:00:02), mgrantham@corp.example, serial number: 1650923000123"
    )
    machine["packages"][0]["changed"] = ["../../../home/mgrantham/x.py", "C:\\Users\\mgrantham\\y.py"]
    told = (
        "in /home/elsewhere/secret-project/csrc/k.cu, `/home/Jo Ann/k.cu` and -I/opt/private/include: elsewhere says no"
    )
    for row in (*found.get("receipts", ()), *found.get("cases", ())):
        row["reason" if "reason" in row else "rule"] = told
        row["note"] = "sk-token"
        for tried in row.get("claims", ({"attempts": [row["attempt"]]} if "attempt" in row else {},)):
            for attempt in tried["attempts"]:
                attempt["log"] = "sk-token of mgrantham"
                attempt["details"]["unit"] = "/home/elsewhere/secret-project/csrc/k.cu"
                attempt["details"]["of GPU-b6e81974-b074-c08e-ea4f-a08181349809"] = {"/opt/private/k.cu": [told]}
                attempt["details"]["slice"] = "sk-token"
    for row in found.get("receipts", ()):
        row["path"] = "/home/elsewhere/secret-project/csrc/k.cu"
    return found


def schema(kind: str) -> Any:
    return json.loads(files("bwlint.report").joinpath(f"{kind}.schema.json").read_text("utf-8"))


REGISTRY: Registry[Any] = Registry().with_resource("urn:bwlint:receipts:1", Resource.from_contents(schema("receipts")))


@pytest.mark.parametrize(("name", "kind"), [("selftest.json", "selftest"), ("findings.json", "receipts")])
def test_nothing_personal_is_left_and_it_reads_like_any_receipt(name: str, kind: str) -> None:
    for found in (poisoned(name), receipt(name)):
        packed = document([found], KNOWN)
        text = json.dumps(packed).lower()
        assert [
            secret for secret in SECRETS if secret.lower() in text or json.dumps(secret.lower())[1:-1] in text
        ] == []
        assert list(Draft202012Validator(schema("submission")).iter_errors(packed)) == []
        ((each),) = packed["documents"]
        assert each["kind"] == kind
        assert list(Draft202012Validator(schema(kind), registry=REGISTRY).iter_errors(each["document"])) == []


def test_what_was_seen_is_kept() -> None:
    """Verdicts, reasons, numbers and versions; a path keeps its place below the tree."""
    before, after = receipt("findings.json"), document([receipt("findings.json")], KNOWN)["documents"][0]["document"]
    assert [(row["rule"], row["line"], row["outcome"], row["reason"]) for row in before["receipts"]] == [
        (row["rule"], row["line"], row["outcome"], row["reason"]) for row in after["receipts"]
    ]
    assert after["machine"]["devices"][0]["attributes"]["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] == 232448
    assert after["machine"]["system"] == "Linux 6.18.44 x86_64"
    (packed,) = document([poisoned("findings.json")], KNOWN)["documents"]
    assert {row["path"] for row in packed["document"]["receipts"]} == {"csrc/k.cu"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no kernel in /tmp/x1/sub/k.cu:12: error", "no kernel in k.cu:12: error"),
        ("nvcc -I/home/mgrantham/inc -o ~/out/k.cubin", "nvcc -Iinc -o k.cubin"),
        ("mgrantham's GPU-b6e81974-b074-c08e-ea4f-a08181349809", "<removed>'s <removed>"),
        ("from https://vault-17.corp.example/a?token=1", "from <removed>"),
        ("src/mgrantham_ops.py", "src/<removed>_ops.py"),
        # what looks like it and tells nothing
        ("copy 0 to 1: 0 words wrong, 349.1 GB/s", "copy 0 to 1: 0 words wrong, 349.1 GB/s"),
        ("driver 580.159.04, libcublas 13.3.5.0.6", "driver 580.159.04, libcublas 13.3.5.0.6"),
        (
            "`tcgen05.mma.cta_group::1.kind::f16` on sm_120a and/or 12.1",
            "`tcgen05.mma.cta_group::1.kind::f16` on sm_120a and/or 12.1",
        ),
        ("csrc/moe/k.cu: 4 of 5", "csrc/moe/k.cu: 4 of 5"),
        ("granthams", "granthams"),
    ],
)
def test_texts(text: str, left: str) -> None:
    assert KNOWN.without(text) == left


def test_names_that_everybody_has_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a DGX Spark the user may be called nvidia, and a device that reads <removed> H100 is of no use."""
    for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "nvidia")
    assert "nvidia" not in personal().words


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["confirm", *arguments], prog_name="bwlint")


def test_what_is_in_it_is_shown_before_it_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    found = invoke("--submit", str(out), str(RECEIPTS / "selftest.json"), str(RECEIPTS / "findings.json"))
    assert found.exit_code == 0, found.output
    assert "223 cases of the self-test" in found.stderr and "GPU: NVIDIA H100 80GB HBM3 (9.0)" in found.stderr
    assert "left out: names of users and hosts" in found.stderr
    assert [each["kind"] for each in json.loads(out.read_text())["documents"]] == ["selftest", "receipts"]


def test_what_is_no_receipt_is_refused(tmp_path: Path) -> None:
    out, bad = tmp_path / "out.json", tmp_path / "bad.json"
    for text in (
        "[]",
        "{",
        '{"version": 1, "machine": {}}',
        "[" * 100_000,
        '{"version": 2, "machine": {}, "cases": []}',
    ):
        bad.write_text(text)
        found = invoke("--submit", str(out), str(bad))
        assert (found.exit_code, out.exists()) == (2, False), found.output
        assert "no receipt of bwlint confirm" in found.stderr
    assert invoke("--submit", str(out)).exit_code == 2
    assert invoke("--submit", str(bad), str(bad)).exit_code == 2
