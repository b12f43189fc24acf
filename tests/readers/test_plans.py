"""What is read of launches, in text and in Python; what the rule makes of it is in fixtures/moe-plan."""

from __future__ import annotations

import pytest
from effort import grows_as_its_input

from bwlint.chips.backends import cards, linked, plan_of, plans
from bwlint.model.details import PlanBranch, PlanOption
from bwlint.model.facts import Operation
from bwlint.readers import launches, reader


def asked(source: str, path: str = "a.sh") -> list[Operation]:
    kind = "python" if path.endswith(".py") else "build"
    module = reader(kind).read(path, source, "", False, frozenset())
    return [one for one in module.operations if one.kind in ("plan-option", "plan-branch")]


def spelled(found: list[Operation]) -> list[str]:
    return [f"{one.name}={option(one).value}" for one in found]


def option(one: Operation) -> PlanOption | PlanBranch:
    assert isinstance(one.detail, PlanOption | PlanBranch)
    return one.detail


def given(one: Operation) -> PlanOption:
    assert isinstance(one.detail, PlanOption)
    return one.detail


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("vllm serve m --all2all-backend pplx", "all2all-backend=pplx"),
        ("vllm serve m --all2all-backend=pplx", "all2all-backend=pplx"),
        ("vllm serve m --all2all-backend 'pplx'", "all2all-backend=pplx"),
        ("vllm serve m \\\n  --all2all-backend \\\n  pplx", "all2all-backend=pplx"),
        ("export VLLM_ALL2ALL_BACKEND=pplx", "VLLM_ALL2ALL_BACKEND=pplx"),
        ('env VLLM_ALL2ALL_BACKEND="pplx" vllm serve m', "VLLM_ALL2ALL_BACKEND=pplx"),
        ("ENV VLLM_ALL2ALL_BACKEND pplx", "VLLM_ALL2ALL_BACKEND=pplx"),
        ("Environment=VLLM_ALL2ALL_BACKEND=pplx", "VLLM_ALL2ALL_BACKEND=pplx"),
        ('WAY=pplx\nvllm serve m --all2all-backend "${WAY}"', "all2all-backend=pplx"),
        ("vllm serve m --all2all-backend ${WAY:-pplx}", "all2all-backend=pplx"),
        ("all2all_backend: pplx", "all2all_backend=pplx"),
        ('all2all_backend = "pplx"', "all2all_backend=pplx"),
        ('{"all2all_backend": "pplx"}', "all2all_backend=pplx"),
        ('args: ["--all2all-backend", "pplx"]', "all2all-backend=pplx"),
        ("args:\n  - --all2all-backend\n  - pplx", "all2all-backend=pplx"),
        ('env:\n  - name: VLLM_ALL2ALL_BACKEND\n    value: "pplx"', "VLLM_ALL2ALL_BACKEND=pplx"),
        ('{"name": "VLLM_ALL2ALL_BACKEND", "value": "pplx"}', "VLLM_ALL2ALL_BACKEND=pplx"),
        ("actor.config.all2all_backend=pplx", "all2all_backend=pplx"),
        ("moe_config:\n  n: 1\n  backend: TRTLLM", "moe_config.backend=TRTLLM"),
        ('{"moe_config": {"n": 1, "backend": "TRTLLM"}}', "moe_config.backend=TRTLLM"),
        ("vllm serve m --attention-config.backend FLASHMLA", "attention-config.backend=FLASHMLA"),
        ("vllm serve m -ac.backend FLASHMLA", "ac.backend=FLASHMLA"),
        ("""vllm serve m --attention-config '{"backend": "FLASHMLA"}'""", "attention-config.backend=FLASHMLA"),
        ("python pretrain.py --moe-enable-deepep --bf16", "moe-enable-deepep="),
    ],
)
def test_an_option_with_its_value(source: str, expected: str) -> None:
    assert spelled(asked(source)) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "vllm serve m --all2all-backend allgather_reducescatter",
        "# vllm serve m --all2all-backend pplx",
        "echo --all2all-backend pplx",
        "see `--all2all-backend pplx` for that",
        "Nobody should ever give --all2all-backend pplx to it",
        'description: "as fast as --all2all-backend pplx"',
        'if [ "$all2all_backend" == "pplx" ]; then',
        "--my-all2all-backend pplx",
        "--all2all-backends pplx",
        "all2all_backend pplx",
        "moe_config:\n  backend: CUTLASS\nother:\n  backend: TRTLLM",
        "moe_config: {n: 1}\nother:\n  backend: TRTLLM",
        "use_deepep: true",
    ],
)
def test_what_asks_for_nothing(source: str) -> None:
    assert spelled(asked(source)) == []


@pytest.mark.parametrize(
    ("source", "near"),
    [
        ("# for the RTX 5090\nvllm serve m --all2all-backend pplx", ("rtx 5090",)),
        ("vllm serve m --all2all-backend pplx  # gb10", ("gb10",)),
        ("h200:\n  args: --all2all-backend pplx", ("h200",)),
        ("if [ $GPU = b200 ]; then\n  vllm serve m --all2all-backend pplx\nfi", ("b200",)),
        ("h200:\n  a: 1\nother:\n  args: --all2all-backend pplx", ()),
        ("## Spark\nOn a DGX Spark:\n```\nvllm serve m --all2all-backend pplx\n```", ("dgx spark",)),
    ],
)
def test_the_words_near_by(source: str, near: tuple[str, ...]) -> None:
    (found,) = asked(source, "a.yaml")
    assert given(found).near == near


def test_a_list_of_hardware_and_the_same_option_elsewhere() -> None:
    source = (
        "hardware:\n  b200: yes\n  rtx_pro_6000: yes\nblackwell:\n  args: --moe-backend deep_gemm_mega_moe\n"
        "rtx_pro_6000:\n  args: --moe-backend auto\n"
    )
    (found,) = asked(source, "a.yaml")
    assert given(found).declared == ("b200", "rtx_pro_6000")
    assert given(found).elsewhere == ("rtx_pro_6000",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('C = ["--attention-backend", "fa3"]\n', "--attention-backend=fa3"),
        ('E = {"VLLM_ALL2ALL_BACKEND": "pplx"}\n', "VLLM_ALL2ALL_BACKEND=pplx"),
        ('os.environ["VLLM_ALL2ALL_BACKEND"] = "pplx"\n', "VLLM_ALL2ALL_BACKEND=pplx"),
        ('os.environ.setdefault("VLLM_ALL2ALL_BACKEND", "pplx")\n', "VLLM_ALL2ALL_BACKEND=pplx"),
        ('LLM("m", attention_backend="FLASHMLA")\n', "attention_backend=FLASHMLA"),
        ('if all2all_backend == "pplx":\n    x = Manager()\n', "all2all_backend=pplx"),
        ('if a:\n    o.moe_a2a_backend = "deepep"\n', "moe_a2a_backend=deepep"),
    ],
)
def test_launches_and_branches_in_python(source: str, expected: str) -> None:
    assert spelled(asked(source, "a.py")) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        'C = ["--attention-backend", "triton", "fa3"]\n',
        'D = {"attention_backend": "fa3"}\n',
        'configure(attention_backend="FLASHMLA")\n',
        'if all2all_backend == "pplx":\n    print(1)\n',
        'if all2all_backend == "pplx" and has_nvlink():\n    x = Manager()\n',
        'if capability == (9, 0):\n    if all2all_backend == "pplx":\n        x = Manager()\n',
        'if transfer_backend == "mooncake":\n    x = Manager()\n',
        'if enable_deepep:\n    o.moe_a2a_backend = "deepep"\n',
        'o.moe_a2a_backend = "deepep"\n',
    ],
)
def test_python_that_does_not(source: str) -> None:
    assert spelled(asked(source, "a.py")) == []


def test_every_row_is_found_and_names_chips() -> None:
    for plan in plans():
        assert plan.legal and "12.0" not in plan.legal
        for option in plan.options:
            for value in plan.values:
                assert plan_of(option, value) is not None


def test_a_name_of_a_backend_is_not_that_of_any() -> None:
    assert linked("self_all2all_backend".removeprefix("self_"), "pplx")
    assert linked("a2a_backend", "deepep")
    assert not linked("backend", "deepep")
    assert not linked("all2all_backend", "naive")


def test_cards() -> None:
    assert cards(["rtx pro 6000"]).chips.names == ("12.0",)
    assert cards(["gb200", "dgx spark"]).chips.names == ("10.0", "12.1")
    assert cards(["mi300x"]).foreign


@pytest.mark.parametrize(
    "piece",
    [
        "--all2all-backend pplx ",
        "moe_config ",
        "--all2all-backend $A\n",
        "  --moe-backend\n",
        "# b200\n",
        "moe_config:\n backend: x\n",
        "```\n  --all2all-backend pplx\n",
    ],
)
def test_the_work_grows_as_the_input(piece: str) -> None:
    grows_as_its_input(launches.operations, lambda size: piece * size + "\n--all2all-backend pplx", 2000)
