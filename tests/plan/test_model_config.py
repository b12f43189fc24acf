from __future__ import annotations

import json
from typing import Any

import pytest
from plan.configs import DEEPSEEK_V3, GPT_OSS_120B, LLAMA_70B, MIXTRAL_8X7B, QWEN3_235B

from bwlint.plan.model_config import is_fp8, load, parameters, shape, weigh
from bwlint.settings.config import UsageError

KINDS = [
    (LLAMA_70B, "70.6", 0, 0, 0),
    (MIXTRAL_8X7B, "46.7", 8, 2, 32),
    (DEEPSEEK_V3, "671.0", 256, 8, 58),
    (QWEN3_235B, "235.1", 128, 8, 94),
    (GPT_OSS_120B, "116.8", 128, 4, 36),
]


@pytest.mark.parametrize(("config", "billions", "experts", "chosen", "layers"), KINDS)
def test_parameters_are_those_that_are_published(
    config: dict[str, Any], billions: str, experts: int, chosen: int, layers: int
) -> None:
    found = shape(config, "config.json")
    assert (found.experts, found.chosen, found.expert_layers) == (experts, chosen, layers)
    assert f"{parameters(found) / 1e9:.1f}" == billions


@pytest.mark.parametrize(
    ("change", "layers"),
    [
        ({"decoder_sparse_step": 2}, 47),
        ({"mlp_only_layers": [0, 1, 93]}, 91),
        ({"mlp_only_layers": [0], "decoder_sparse_step": 2}, 47),
        ({"first_k_dense_replace": 4}, 90),
        ({"moe_layer_freq": 2, "decoder_sparse_step": None}, 47),
        ({"moe_layer_freq": [0, 1, 1]}, 2),
        ({"moe_layers": [5, 6, 200]}, 2),
        ({"num_experts": 0}, 0),
    ],
)
def test_layers_with_experts(change: dict[str, Any], layers: int) -> None:
    assert shape({**QWEN3_235B, **change}, "c").expert_layers == layers


@pytest.mark.parametrize(
    "config",
    [
        {"architectures": ["VisionModel"], "text_config": MIXTRAL_8X7B, "vision_config": {"hidden_size": 1024}},
        {"architectures": ["OmniModel"], "thinker_config": {"text_config": MIXTRAL_8X7B}},
    ],
)
def test_a_language_model_inside(config: dict[str, Any]) -> None:
    found = shape(config, "c")
    assert (found.name, found.hidden, found.experts) == (config["architectures"][0], 4096, 8)
    assert any("language model" in each for each in found.remarks)


def test_layers_of_another_kind_are_told() -> None:
    assert any("mamba_d_ssm" in each for each in shape({**LLAMA_70B, "mamba_d_ssm": 4}, "c").remarks)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "the JSON is not an object"),
        (b'{"hidden_size": 1' + b"0" * 5000 + b"}", "not JSON"),
        (b"{}", "no hidden_size"),
        (b'{"hidden_size": 64, "num_hidden_layers": 2}', "no num_attention_heads"),
    ],
)
def test_what_is_none(data: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shape(load(data, "c.json"), "c.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden_size": -1}, "hidden_size"),
        ({"hidden_size": 1e400}, "hidden_size"),
        ({"hidden_size": "8192"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": 10**30}, "hidden_size"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_experts_per_tok": None}, "num_experts_per_tok"),
        ({"num_experts_per_tok": 9}, "num_experts_per_tok"),
        ({"num_local_experts": 10**9}, "num_local_experts"),
        ({"kv_lora_rank": 4}, "qk_nope_head_dim"),
    ],
)
def test_numbers_are_bounded(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shape({**MIXTRAL_8X7B, **change}, "c.json")


def test_odd_lists_do_no_harm() -> None:
    odd = {**QWEN3_235B, "mlp_only_layers": [[1], {}, None, "x", 3], "architectures": [5], "model_type": None}
    assert shape(json.loads(json.dumps(odd)), "c").expert_layers == 93


@pytest.mark.parametrize(
    ("config", "gigabytes"),
    [
        (LLAMA_70B, 141.1),  # two bytes each
        (MIXTRAL_8X7B, 93.4),
        (DEEPSEEK_V3, 673.15),  # a byte each, but for embedding, head and routers; scales
        (GPT_OSS_120B, 65.2),  # experts of 4.25 bits
        ({**LLAMA_70B, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}, 39.8),
        ({**LLAMA_70B, "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}, 42.7),
        ({**LLAMA_70B, "torch_dtype": "float32"}, 282.2),
    ],
)
def test_bytes(config: dict[str, Any], gigabytes: float) -> None:
    found = weigh(config, shape(config, "c"))
    assert (found.vocabulary + found.dense + found.experts) / 1e9 == pytest.approx(gigabytes, abs=0.06)


GROUPS = {"config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}


@pytest.mark.parametrize(
    ("quantization", "form", "fp8"),
    [
        ({"quant_method": "fp8"}, "fp8, the rest bfloat16", True),
        ({"quant_method": "compressed-tensors", **GROUPS}, "fp8, the rest bfloat16", True),
        ({"quant_method": "compressed-tensors", "config_groups": {}}, "bfloat16", False),
        ({"load_in_4bit": True}, "bitsandbytes, the rest bfloat16", False),
        ({"quant_method": "gptq", "bits": 8}, "8 bits (gptq), the rest bfloat16", False),
        ({"quant_method": "gptq", "bits": 1e9}, "bfloat16", False),
        ({"quant_method": ["x"]}, "bfloat16", False),
    ],
)
def test_forms(quantization: dict[str, Any], form: str, fp8: bool) -> None:
    config = {**LLAMA_70B, "quantization_config": quantization}
    found = weigh(config, shape(config, "c"))
    assert (found.form, is_fp8(config)) == (form, fp8)
    assert bool(found.remarks) == (form == "bfloat16")


def test_what_is_left_as_it_is() -> None:
    plain = {**LLAMA_70B, "quantization_config": {"quant_method": "fp8"}}
    kept = {**LLAMA_70B, "quantization_config": {"quant_method": "fp8", "ignored_layers": ["model.0.self_attn"]}}
    assert weigh(kept, shape(kept, "c")).dense > weigh(plain, shape(plain, "c")).dense


def test_one_embedding_for_both_ends() -> None:
    tied = shape({**LLAMA_70B, "tie_word_embeddings": True}, "c")
    assert parameters(shape(LLAMA_70B, "c")) - parameters(tied) == 128256 * 8192
