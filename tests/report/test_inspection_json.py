from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

import bwlint.report
from bwlint.binaries.shipments import DeviceLibrary, Inspection, Shipment
from bwlint.chips import all_chips
from bwlint.report import Setting, write
from bwlint.report.inspection_json import render
from bwlint.report.write import dumps

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS = (
    json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("inspection", "findings")
)
REGISTRY: Registry[Any] = Registry().with_resource(FINDINGS["$id"], Resource.from_contents(FINDINGS))
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)

MakeLibrary = Callable[..., DeviceLibrary]
MakeInspection = Callable[..., Inspection]


def errors(value: Any) -> list[str]:
    return [f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(value)]


def log_of(inspection: Inspection, kernels: bool = False) -> Any:
    return json.loads(render(inspection, Setting(version="0.1.0"), kernels))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:bwlint:inspection:1"


@pytest.mark.parametrize("kernels", [False, True])
def test_an_inspection_follows_the_schema(
    kernels: bool, rich_inspection: Inspection, inspection: MakeInspection
) -> None:
    for found in (rich_inspection, inspection(), inspection(Shipment("a"))):
        assert errors(log_of(found, kernels)) == []


def test_the_contract(rich_inspection: Inspection) -> None:
    log = log_of(rich_inspection)
    told = "findings sentences shipments skipped stats suppressed targets tool verdicts version"
    assert list(log) == told.split()
    assert (log["version"], log["targets"]) == (1, ["12.0", "12.1"])
    wheel, missing, empty = log["shipments"]
    libraries = wheel.pop("libraries")
    assert wheel == {
        "name": "a.whl",
        "tag": "manylinux_2_28_aarch64",
        "machine": "aarch64",
        "missing": "",
        "answer": "answer 1",
        "judged": ["12.0", "12.1"],
        "others": 3,
        "compiles": [],
        "compilers": [],
        "built": "",
        "elsewhere": [],
        "own": [],
        "possible": [each.name for each in all_chips()],
        "chips": {"12.0": "partial", "12.1": "partial"},
        "operations": [
            {
                "name": "gemm",
                "library": "a.whl/pkg/core.so",
                "unserved": ["12.1"],
                "reason": "only 90a",
                "specific": True,
            }
        ],
    }
    assert [library["path"] for library in libraries] == ["a.whl/pkg/all.so", "a.whl/pkg/core.so"]
    assert libraries[1] == {
        "path": "a.whl/pkg/core.so",
        "form": "elf",
        "machine": "x86_64",
        "needed": ["libcudart.so.12", "libcublasLt.so.12", "libtorch.so"],
        "toolkit": "12.9",
        "driver": "575.51.03",
        "windows_driver": "576.02",
        "faults": ["section 3 ends outside of the file", "cut off at 0x2000"],
        "containers": 7,
        "chips": {
            "12.0": {
                "verdict": "partial",
                "native": 2,
                "family": 0,
                "jit": 1,
                "jit_link": 1,
                "none": 3,
                "specialised": 2,
            },
            "12.1": {
                "verdict": "none",
                "native": 0,
                "family": 0,
                "jit": 0,
                "jit_link": 0,
                "none": 7,
                "specialised": 0,
            },
        },
    }
    assert (missing["missing"], missing["machine"], missing["libraries"]) == ("no wheel for it", "x86_64", [])
    assert (empty["others"], empty["chips"]) == (12, {})


def test_units(rich_inspection: Inspection) -> None:
    first, second = log_of(rich_inspection, kernels=True)["shipments"][0]["libraries"][1]["units"][:2]
    images = first.pop("images")
    assert first == {
        "path": "",
        "at": 0,
        "part": ".nv_fatbin",
        "linked_from": [16, 32],
        "fault": "cut off at 0x2000",
        "generation": "120f",
        "chips": {
            "12.0": {"way": "native", "image": 256, "reason": "native it is"},
            "12.1": {"way": "none", "image": None, "reason": "only 90a"},
        },
        "kernels": ["_Z4gemmv", "_Z4copyv"],
    }
    cubin = images[0].pop("cubin")
    assert images == [
        {
            "kind": "cubin",
            "target": "sm_120f",
            "at": 256,
            "size": 14336,
            "full_size": 40960,
            "packed": "zstd",
            "isa": None,
        },
        {
            "kind": "ptx",
            "target": "sm_80",
            "at": 2304,
            "size": 3000,
            "full_size": 9000,
            "packed": "lz4",
            "isa": "8.8",
            "cubin": None,
        },
    ]
    kernels = cubin.pop("kernels")
    assert cubin == {
        "target": "sm_120f",
        "noted": "sm_100f",
        "relabelled": True,
        "abi": 8,
        "toolkit": "13.0",
        "command": "ptxas -arch sm_100f",
        "relocatable": False,
    }
    assert kernels[0] == {
        "name": "_Z4gemmv",
        "shared": 1024,
        "registers": 64,
        "cluster": [2, 1, 1],
        "max_cluster": 16,
        "explicit_cluster": True,
        "tcgen05": 2,
        "driver_calls": ["__cuda_syscall_x"],
        "setmaxnreg": True,
        "threads": [256, 1, 1],
        "required_threads": [128, 1, 1],
        "source": None,
    }
    assert second["images"][0]["cubin"] is None


def test_findings_are_those_of_a_check(rich_inspection: Inspection) -> None:
    log = log_of(rich_inspection)
    check = json.loads(write.findings(rich_inspection.report, Setting(version="0.1.0")))
    assert len(log["findings"]) == 1
    assert {key: log[key] for key in check if key != "targets"} == {
        key: check[key] for key in check if key != "targets"
    }


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["all"], "all"),
        (["all", "all"], "all"),
        (["none"], "none"),
        (["none", "none"], "none"),
        (["partial"], "partial"),
        (["all", "none"], "partial"),
        (["all", "partial"], "partial"),
        (["partial", "none"], "partial"),
        ([], None),
    ],
)
def test_one_word_for_a_shipment(
    words: list[str], word: str | None, library: MakeLibrary, inspection: MakeInspection
) -> None:
    ways = {"all": {"jit": 2}, "none": {"none": 2}, "partial": {"native": 1, "none": 1}}
    libraries = tuple(library(f"w/{place}.so", {"12.0": ways[each]}) for place, each in enumerate(words))
    chips = log_of(inspection(Shipment("w", libraries)))["shipments"][0]["chips"]
    assert chips == ({} if word is None else {"12.0": word})


def test_the_order_is_that_of_the_paths(library: MakeLibrary, inspection: MakeInspection) -> None:
    libraries = tuple(library(f"w/{name}.so") for name in "cab")
    one, other = (inspection(Shipment("w", each)) for each in (libraries, libraries[::-1]))
    assert render(one, Setting()) == render(other, Setting())
    found = [library["path"] for library in log_of(one)["shipments"][0]["libraries"]]
    assert found == ["w/a.so", "w/b.so", "w/c.so"]


def test_the_text_is_laid_out_like_that_of_a_check(
    rich_inspection: Inspection, library: MakeLibrary, inspection: MakeInspection
) -> None:
    trap = '"libraries": []'
    odd = Shipment(trap, (library(trap, needed=(trap,)),), missing=f"a\n{trap}")
    for found in (rich_inspection, inspection(), inspection(odd, Shipment("w"), odd, answers=(trap, "", trap))):
        rendered = render(found, Setting(version="0.1.0"))
        assert dumps(json.loads(rendered)) == rendered


def test_containers_are_laid_out_a_line_each(rich_inspection: Inspection) -> None:
    rendered = render(rich_inspection, Setting(version="0.1.0"), True)
    lines = [line.strip().rstrip(",") for line in rendered.splitlines()]
    for shipment in json.loads(rendered)["shipments"]:
        for library in shipment["libraries"]:
            assert all(json.dumps(unit, sort_keys=True) in lines for unit in library["units"])


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("extra",), 1),
        (("targets",), ["sm_120"]),
        (("targets",), ["12.0", "12.0"]),
        (("tool",), None),
        (("findings", 0, "severity"), "info"),
        (("findings", 0, "extra"), 1),
        (("stats", "files"), "many"),
        (("shipments", 0, "extra"), 1),
        (("shipments", 0, "others"), -1),
        (("shipments", 0, "chips", "12.0"), "some"),
        (("shipments", 0, "chips", "B200"), "all"),
        (("shipments", 0, "operations", 0, "unserved"), ["gb10"]),
        (("shipments", 0, "libraries", 0, "toolkit"), 13.0),
        (("shipments", 0, "libraries", 0, "form"), "zip"),
        (("shipments", 0, "libraries", 0, "driver"), ""),
        (("shipments", 0, "libraries", 0, "chips", "12.0", "verdict"), "jit"),
        (("shipments", 0, "libraries", 0, "chips", "12.0", "none"), -1),
        (("shipments", 0, "libraries", 0, "units", 0, "chips", "12.0", "way"), "all"),
        (("shipments", 0, "libraries", 0, "units", 0, "images", 0, "kind"), "elf"),
        (("shipments", 0, "libraries", 1, "units", 0, "images", 0, "cubin", "kernels", 0, "cluster"), [1, 2]),
        (("shipments", 0, "libraries", 1, "units", 0, "images", 0, "cubin", "kernels", 0, "tcgen05"), 3),
    ],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else None,
)
def test_the_schema_refuses(place: tuple[Any, ...], value: Any, rich_inspection: Inspection) -> None:
    log = log_of(rich_inspection, kernels=True)
    holder = log
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    assert errors(log)


@pytest.mark.parametrize("key", [key for key in SCHEMA["$defs"]["library"]["properties"] if key != "units"])
def test_the_schema_misses(key: str, rich_inspection: Inspection) -> None:
    log = log_of(rich_inspection)
    del log["shipments"][0]["libraries"][0][key]
    assert errors(log)


@pytest.mark.parametrize("text", ["\x1b[31m", "\udcff", "\ud800", "\x00\x7f", "日本", "x" * 10_000, "\U000e0041"])
def test_hostile_names(text: str, library: MakeLibrary, inspection: MakeInspection) -> None:
    lib = library(f"w/{text}", needed=(text,), faults=(text,))
    found = inspection(replace(Shipment(text, (lib,)), tag=text, missing=text), answers=(text,))
    for kernels in (False, True):
        rendered = render(found, Setting(version="0.1.0"), kernels)
        assert rendered.isascii()
        assert "\x1b" not in rendered
        assert "\x7f" not in rendered
        assert errors(json.loads(rendered)) == []
        json.loads(rendered)["shipments"][0]["name"].encode()
