from __future__ import annotations

import pytest
from plan.configs import LLAMA_70B, MIXTRAL_8X7B

from bwlint.chips.links import wires
from bwlint.plan.compare import Load, PlanCost, Split, Suggestion, compare, cost, machine
from bwlint.plan.launch import container_commands, launches, suggestion
from bwlint.plan.model_config import shape, weigh

BF16 = wires()["bf16"]
LOAD = Load(1, BF16, BF16, BF16, "gpu")
EP4, TP4, TP2_PP2, PP4 = (
    Split("EP", expert=4),
    Split("TP", tensor=4),
    Split("TP+PP", tensor=2, pipeline=2),
    Split("TP+PP", pipeline=4),
)

PRO_6000 = machine("4xRTX-PRO-6000", None, None)


def costing(split: Split) -> PlanCost:
    model = shape(MIXTRAL_8X7B, "c")
    return cost(split, model, weigh(MIXTRAL_8X7B, model), machine("4xRTX-PRO-6000", None, None), LOAD)


def suggested(text: str, best: Split, yaml: bool = False) -> Suggestion:
    (launch,) = launches(text, yaml)
    return suggestion(launch, costing(best), PRO_6000)


@pytest.mark.parametrize(
    ("line", "present"),
    [
        ("vllm serve m --tensor-parallel-size 4", "TP4"),
        ("vllm serve m -tp 4", "TP4"),
        ("vllm serve m --tensor_parallel_size=4", "TP4"),
        ("vllm serve m --tensor-parallel-size '4' -ep", "TP4"),
        ("vllm serve m -tp 2 -pp 2", "TP2+PP2"),
        ("vllm serve m --pipeline-parallel-size 4", "PP4"),
        ("vllm serve m -tp 1 -dp 4 --enable-expert-parallel", "EP4"),
        ("vllm serve m -dp 4", ""),
        ("vllm serve m", ""),
        ("vllm serve m -tp 8", ""),
        ("vllm serve m -tp $TP", ""),
        ("vllm serve m -tp", ""),
        ("python3 -m vllm.entrypoints.openai.api_server --model m -tp 4", "TP4"),
        ("docker run --gpus all vllm/vllm-openai:v0.33.0 --model m -tp 4", "TP4"),
        ("python -m sglang.launch_server --model-path m --tp 4", "TP4"),
        ("sglang serve m --tp-size 4 --ep-size 4", "TP4"),
        ("sglang serve m --tp 4 --attn-dp-size 4 --ep 4", "EP4"),
        ("sglang serve m --tp 4 --dp-size 4 --enable-dp-attention --ep 4 --moe-a2a-backend deepep", "EP4"),
        ("sglang serve m --tp 2 --pp-size 2", "TP2+PP2"),
    ],
)
def test_the_plan_that_a_line_is(line: str, present: str) -> None:
    assert suggested(line, EP4).present == present


TP, PP, DP, ON = (
    "--tensor-parallel-size",
    "--pipeline-parallel-size",
    "--data-parallel-size",
    "--enable-expert-parallel",
)


@pytest.mark.parametrize(
    ("line", "best", "written"),
    [
        (f"vllm serve m {TP} 4 --port 1", TP2_PP2, f"vllm serve m {TP} 2 --port 1 {PP} 2"),
        ("vllm serve m -tp 4 -ep --port 1", EP4, f"vllm serve m {ON} --port 1 {DP} 4"),
        ("vllm serve m -dp 4 -ep --all2all-backend pplx", TP4, f"vllm serve m {TP} 4"),
        ("vllm serve m -ep --all2all-backend x", EP4, f"vllm serve m {ON} --all2all-backend x {DP} 4"),
        (f"vllm serve m {TP}=4", PP4, f"vllm serve m {PP} 4"),
        ("vllm serve m", TP4, f"vllm serve m {TP} 4"),
        ("A=1 vllm serve m > log 2>&1 &", TP4, f"A=1 vllm serve m {TP} 4 > log 2>&1 &"),
        ("cd x && vllm serve 'a b' | tee log # now", TP4, f"cd x && vllm serve 'a b' {TP} 4 | tee log"),
        ("sglang serve m --tp 2 --pp 2", TP4, "sglang serve m --tp-size 4"),
        ("sglang serve m --tp 4", EP4, "sglang serve m --tp-size 4 --attn-dp-size 4 --ep-size 4"),
        (f"vllm serve m {TP} 4", TP4, None),
        ("vllm serve m -tp 4 -ep", TP4, None),  # costs the same
    ],
)
def test_a_line_rewritten(line: str, best: Split, written: str | None) -> None:
    assert suggested(line, best).written == ((written,) if written else ())


SCRIPT = """\
#!/bin/bash
# vllm serve nothing
export A=1; echo start
vllm serve mistralai/Mixtral-8x7B \\
    --tensor-parallel-size 4 \\
    --max-model-len 8192 \\
    --enable-expert-parallel

curl localhost
"""


def test_an_option_a_line_where_the_command_has_lines() -> None:
    found = suggested(SCRIPT, TP2_PP2)
    assert (found.line, found.present, found.launcher) == (4, "TP4", "vLLM")
    assert "all-reduce" in found.why
    assert found.written == (
        "vllm serve mistralai/Mixtral-8x7B \\",
        "    --tensor-parallel-size 2 \\",
        "    --max-model-len 8192 \\",
        "    --pipeline-parallel-size 2",
    )


def test_what_a_shell_is_given() -> None:
    found = suggested('docker run x bash -c "vllm serve m -tp 4 --port 1"', TP2_PP2)
    assert (found.present, found.written) == (
        "TP4",
        ("vllm serve m --tensor-parallel-size 2 --port 1 --pipeline-parallel-size 2",),
    )


def test_json_in_quotes_over_lines() -> None:
    text = "vllm serve m \\\n  --kv-transfer-config '{\n    \"a\": 1\n  }' \\\n  -tp 4\necho 'it is'\n"
    found = suggested(text, TP2_PP2)
    assert found.present == "TP4"
    assert "\n".join(found.written) == (
        "vllm serve m \\\n    --kv-transfer-config '{\n    \"a\": 1\n  }' \\\n"
        "    --tensor-parallel-size 2 \\\n    --pipeline-parallel-size 2"
    )


def test_what_belongs_to_experts_goes_with_them() -> None:
    line = "vllm serve m -dp 4 -dpl 2 -ep --enable-eplb --num-redundant-experts 2 --port 1"
    found = suggested(line, TP4)
    assert (found.present, found.written) == ("EP4", (f"vllm serve m --port 1 {TP} 4",))


@pytest.mark.parametrize(
    ("line", "unseen"),
    [
        ('vllm serve "${ARGS[@]}"', True),
        ("vllm serve m $EXTRA_ARGS", True),
        ('vllm serve "$@"', True),
        ('vllm serve "$MODEL" --port $PORT', False),
    ],
)
def test_options_from_variables(line: str, unseen: bool) -> None:
    assert ("variables" in suggested(line, TP4).remark) == unseen


def test_folded_text_of_yaml() -> None:
    found = suggested(
        "services:\n  a:\n    command: >\n      vllm serve m\n      --tensor-parallel-size 4\n", PP4, True
    )
    assert found.present == "TP4"


def test_a_remark_where_the_default_is_something_else() -> None:
    assert "--copies all" in suggested("vllm serve m", EP4).remark
    assert suggested("vllm serve m", TP4).remark == ""


def test_options_in_yaml() -> None:
    text = "model: m  # which\ntensor-parallel-size: 4\nenable_expert_parallel: true\n  nested: 1\nport: 8000\n"
    found = suggested(text, TP2_PP2, True)
    assert (found.launcher, found.present) == ("vLLM", "TP4")
    assert found.written == (
        "tensor-parallel-size: 2",
        "# without enable-expert-parallel",
        "pipeline-parallel-size: 2",
    )


def test_options_in_yaml_of_another() -> None:
    found = suggested('model-path: m\ntp-size: "4"\n', EP4, True)
    assert (found.launcher, found.present) == ("SGLang", "TP4")
    assert found.written == ("tp-size: 4", "attn-dp-size: 4", "ep-size: 4")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "echo hello\n",
        "model: m\nport: 1\n",
        "# vllm serve m\n",
        "pip install vllm\n",
        "docker pull vllm/vllm-openai:v1\n",
        "docker run vllm/vllm-openai-cpu:v1\n",
        "a: b\n",
        "'vllm serve m -tp",
    ],
)
@pytest.mark.parametrize("yaml", [True, False])
def test_what_launches_nothing(text: str, yaml: bool) -> None:
    assert launches(text, yaml) == []


@pytest.mark.parametrize(
    "text",
    [
        "\"'\\'\"" * 20_000,
        "vllm serve " + "'\"\\" * 20_000,
        "vllm serve m " + "--tensor-parallel-size " * 20_000,
        "vllm serve m \\\n" * 20_000,
        "vllm serve m;" * 20_000,
        "a:" * 100_000,
        "vllm '" * 20_000,
        'vllm "\n' * 20_000,
        "a: 1\n" * 20_000,
        "\x00" * 100_000,
    ],
    ids=range(10),
)
@pytest.mark.parametrize("yaml", [True, False])
def test_hostile_text_ends_soon(text: str, yaml: bool) -> None:
    for launch in launches(text, yaml):
        suggestion(launch, costing(EP4), PRO_6000)
    assert len(launches(text, yaml)) <= 8


def test_every_plan_can_be_written() -> None:
    for config in (LLAMA_70B, MIXTRAL_8X7B):
        found = compare(config, "c", machine("4xB200", None, None), LOAD)
        for best in found.rows:
            for text in ("vllm serve m", "sglang serve m"):
                (launch,) = launches(text, False)
                written = suggestion(launch, best, PRO_6000).written
                (again,) = launches("\n".join(written), False)
                assert suggestion(again, best, PRO_6000).present == best.split.name


@pytest.mark.parametrize(
    ("line", "gpus", "stopped"),
    [
        ("vllm serve m -dp 4 -ep --all2all-backend deepep_low_latency", "4xRTX-PRO-6000", "DeepEP"),
        ("vllm serve m -dp 4 -ep --all2all-backend=pplx", "4xRTX-5090", "pplx"),
        ("VLLM_ALL2ALL_BACKEND=deepep_high_throughput vllm serve m -dp 4 -ep", "4xRTX-PRO-6000", "DeepEP"),
        ("sglang serve m --tp 4 --moe-a2a-backend 'deepep'", "4xRTX-5090", "exchange"),
        ("sglang serve m --tp 4 --enable-deepep-moe", "4xSpark", "DeepEP"),
        ("vllm serve m -tp 4 --attention-backend FLASHMLA", "4xRTX-PRO-6000", "FlashMLA"),
        ("vllm serve m -dp 4 -ep --all2all-backend deepep_low_latency", "4xB200", ""),
        ("vllm serve m -dp 4 -ep --all2all-backend allgather_reducescatter", "4xRTX-PRO-6000", ""),
        ("vllm serve m -dp 4 -ep", "4xRTX-5090", ""),
        ("vllm serve m -tp 4 --moe-a2a-backend deepep", "4xRTX-PRO-6000", ""),  # no option of this launcher
    ],
)
def test_what_cannot_run_is_never_the_better_plan(line: str, gpus: str, stopped: str) -> None:
    (launch,) = launches(line, False)
    for best in (EP4, TP4):
        found = suggestion(launch, costing(best), machine(gpus, None, None))
        assert bool(found.stopped) == bool(stopped) and stopped in "".join(found.stopped)
        assert not stopped or found.written
        assert not any(word in "".join(found.written).lower() for word in ("deepep", "pplx", "flashmla")) or not stopped


POD = """
spec:
  containers:
  - name: server
    command: ["python3", "-m", "sglang.launch_server"]
    args:
    - --model-path
    - some/model  # the one of last week

    # two machines
    - --tp-size
    - "8"
    - '--dp-size'
    - '8'
    - --enable-dp-attention
    env:
    - name: TP
"""
ARGS_FIRST = """
      containers:
        - args:
            - --tensor-parallel-size
            - "4"
          command:
            - vllm
            - serve
            - m
          image: some/image
        - args: [--tensor-parallel-size, "2"]
          name: sidecar
"""
FLOW_OVER_LINES = """
services:
  server:
    command: ["vllm", "serve", "m",
      "--tensor-parallel-size", "2"]
"""
SCRIPT_OF_A_CONTAINER = """
    - name: server
      command:
      - /bin/bash
      - -c
      args:
      - |
        vllm serve m \\
          --tensor-parallel-size 2
"""


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        (
            POD,
            ["python3 -m sglang.launch_server --model-path some/model --tp-size 8 --dp-size 8 --enable-dp-attention"],
        ),
        (ARGS_FIRST, ["vllm serve m --tensor-parallel-size 4", "--tensor-parallel-size 2"]),
        (FLOW_OVER_LINES, ["vllm serve m --tensor-parallel-size 2"]),
        (SCRIPT_OF_A_CONTAINER, []),
        ("command: vllm serve m\n", []),
        ("commands:\n- vllm\n", []),
        ("command:\n- vllm\n- {a: b}\n", []),
        ("command: [vllm, serve", []),
        ("  command:\n- vllm\n", [""]),
        ("command:\n- \"a \\\"b\\\"\"\n- 'it''s'\n", ['a "b" it\'s']),
    ],
)
def test_the_words_of_lists(text: str, commands: list[str]) -> None:
    assert [" ".join(command.words) for command in container_commands(text)] == commands


@pytest.mark.parametrize(
    ("text", "line", "split"),
    [
        (POD, 5, {"tensor": "8", "data": "8", "data-attention": "on"}),
        (ARGS_FIRST, 3, {"tensor": "4"}),
        (SCRIPT_OF_A_CONTAINER, 8, {"tensor": "2"}),
    ],
)
def test_a_launch_is_read_once_with_all_its_options(text: str, line: int, split: dict[str, str]) -> None:
    assert [(launch.line, launch.split) for launch in launches(text, is_yaml=True)] == [(line, split)]


def test_lists_of_one_container_and_the_script_of_another() -> None:
    found = launches(ARGS_FIRST + SCRIPT_OF_A_CONTAINER, is_yaml=True)
    assert [launch.split for launch in found] == [{"tensor": "4"}, {"tensor": "2"}]


def test_what_is_no_yaml_has_no_containers() -> None:
    assert launches(ARGS_FIRST, is_yaml=False) == []


def test_many_keys_take_no_longer_than_their_lines() -> None:
    text = "a:\n" + "  command: [x]\n" * 2000
    assert sum(1 for _ in container_commands(text)) == 1
