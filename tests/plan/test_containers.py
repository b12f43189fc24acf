"""Commands that YAML holds as lists of words."""

from __future__ import annotations

import pytest

from bwlint.plan.containers import container_commands
from bwlint.plan.launch import launches

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
SCRIPT = """
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
        (SCRIPT, []),
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
        (SCRIPT, 8, {"tensor": "2"}),
    ],
)
def test_a_launch_is_read_once_with_all_its_options(text: str, line: int, split: dict[str, str]) -> None:
    assert [(launch.line, launch.split) for launch in launches(text, is_yaml=True)] == [(line, split)]


def test_lists_of_one_container_and_the_script_of_another() -> None:
    found = launches(ARGS_FIRST + SCRIPT, is_yaml=True)
    assert [launch.split for launch in found] == [{"tensor": "4"}, {"tensor": "2"}]


def test_what_is_no_yaml_has_no_containers() -> None:
    assert launches(ARGS_FIRST, is_yaml=False) == []


def test_many_keys_take_no_longer_than_their_lines() -> None:
    text = "a:\n" + "  command: [x]\n" * 2000
    assert sum(1 for _ in container_commands(text)) == 1
