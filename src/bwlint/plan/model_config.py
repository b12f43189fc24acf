"""The shape of a model from the config.json of Hugging Face. Every number is bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bwlint.settings.config import UsageError

Config = Mapping[str, Any]

_NESTED = ("text_config", "language_config", "llm_config", "thinker_config")
_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_k", "top_k_experts")
_OTHER_LAYERS = ("mamba", "ssm", "linear_num", "linear_attn", "rwkv", "conv_kernel", "hybrid_override")
_LONGEST_NAME = 80
_MOST = {"layers": 4096, "hidden": 1 << 20, "experts": 1 << 16, "vocabulary": 1 << 26, "heads": 1 << 16}


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a model decides bytes. `experts` is 0 for a dense one."""

    name: str
    hidden: int
    layers: int
    vocabulary: int
    tied: bool
    heads: int
    attention: int
    """Parameters of the attention of a layer."""
    feed_forward: int
    """Width of a layer without experts."""
    experts: int
    chosen: int
    expert_width: int
    shared_width: int
    """Width of what every token goes through beside its experts."""
    expert_layers: int
    remarks: tuple[str, ...] = ()


def load(data: bytes, name: str) -> Config:
    """The configuration that the bytes of a file are; raises `UsageError`."""
    try:
        config = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageError(f"{name}: not JSON") from None
    if not isinstance(config, dict):
        raise UsageError(f"{name}: not the config.json of a model: the JSON is not an object")
    return config


def shape(config: Config, file: str) -> Shape:
    """The shape of the language model of a configuration; raises `UsageError` where it has none."""
    inner = _language(config)
    numbers = _ConfigNumbers(config if inner is None or "hidden_size" in config else inner, file)
    hidden = numbers.need("hidden_size", _MOST["hidden"])
    layers = numbers.need("num_hidden_layers", _MOST["layers"])
    heads = numbers.need("num_attention_heads", _MOST["heads"])
    experts = numbers.first(_EXPERTS, _MOST["experts"])
    chosen = numbers.first(_CHOSEN, _MOST["experts"]) if experts else 0
    if experts and not 1 <= chosen <= experts:
        raise UsageError(f"{file}: {experts} experts, and no {_CHOSEN[0]} from 1 to {experts}")
    expert_layers = _expert_layers(numbers, layers) if experts else 0
    width = numbers.may("intermediate_size", _MOST["hidden"]) or 4 * hidden
    expert_width = numbers.may("moe_intermediate_size", _MOST["hidden"]) or width
    shared = numbers.may("n_shared_experts", _MOST["experts"]) * expert_width
    shared = numbers.may("shared_expert_intermediate_size", _MOST["hidden"]) or shared
    return Shape(
        _name(config, file),
        hidden,
        layers,
        numbers.need("vocab_size", _MOST["vocabulary"]),
        any(told.get("tie_word_embeddings") is True for told in (numbers.config, config)),
        heads,
        _attention(numbers, hidden, heads),
        numbers.may("intermediate_size_mlp", _MOST["hidden"]) or width,
        experts if expert_layers else 0,
        chosen if expert_layers else 0,
        expert_width,
        shared,
        expert_layers,
        tuple(_remarks(numbers, inner is not None)),
    )


def _language(config: Config) -> Config | None:
    """The part about the language model, where there is more."""
    inner = next((config[key] for key in _NESTED if isinstance(config.get(key), dict)), None)
    return inner if inner is None or "hidden_size" in inner else _language(inner) or inner


def parts(shape: Shape) -> dict[str, int]:
    """Parameters: of the vocabulary (once), the attention, the feed-forwards without experts, the experts."""
    per_width = 3 * shape.hidden
    dense_layers = shape.layers - shape.expert_layers
    return {
        "vocabulary": shape.vocabulary * shape.hidden,
        "attention": shape.layers * shape.attention,
        "feed_forward": per_width * (dense_layers * shape.feed_forward + shape.expert_layers * shape.shared_width),
        "router": shape.expert_layers * shape.experts * shape.hidden,
        "experts": per_width * shape.expert_layers * shape.experts * shape.expert_width,
    }


def parameters(shape: Shape) -> int:
    found = parts(shape)
    return sum(found.values()) + (0 if shape.tied else found["vocabulary"])


@dataclass(frozen=True, slots=True)
class _ConfigNumbers:
    """Whole numbers of a configuration within bounds."""

    config: Config
    file: str

    def may(self, key: str, most: int) -> int:
        value = self.config.get(key)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise UsageError(f"{self.file}: {key} is not a whole number from 0 to {most}")
        return value

    def need(self, key: str, most: int) -> int:
        found = self.may(key, most)
        if not found:
            raise UsageError(f"{self.file}: no {key}: bwlint does not know this kind of config.json")
        return found

    def first(self, keys: Sequence[str], most: int) -> int:
        return next((found for key in keys if (found := self.may(key, most))), 0)


def _expert_layers(numbers: _ConfigNumbers, layers: int) -> int:
    config = numbers.config
    listed, every = config.get("moe_layers"), config.get("moe_layer_freq")
    every_one = range(layers)
    if isinstance(listed, list):
        return len(_whole_numbers(listed) & {*every_one})
    if isinstance(every, list):
        return sum(bool(each) for each in every[:layers])
    first = numbers.may("first_k_dense_replace", _MOST["layers"])
    only_dense = _whole_numbers(config.get("mlp_only_layers"))
    steps = (numbers.may(key, _MOST["layers"]) for key in ("decoder_sparse_step", "interleave_moe_layer_step"))
    step = next(filter(None, steps), 0)
    if step:  # these count from 1
        return sum((layer + 1) % step == 0 and layer >= first and layer not in only_dense for layer in every_one)
    step = numbers.may("moe_layer_freq", _MOST["layers"]) or 1
    return sum(layer % step == 0 and layer >= first and layer not in only_dense for layer in every_one)


def _whole_numbers(value: object) -> frozenset[int]:
    return frozenset(each for each in value if isinstance(each, int)) if isinstance(value, list) else frozenset()


def _attention(numbers: _ConfigNumbers, hidden: int, heads: int) -> int:
    """Parameters of a layer's attention: of multi-head latent attention where there is a rank, of plain heads else."""
    rank = numbers.may("kv_lora_rank", _MOST["hidden"])
    if not rank:
        size = numbers.may("head_dim", _MOST["hidden"]) or max(1, hidden // heads)
        shared = numbers.may("num_key_value_heads", _MOST["heads"]) or heads
        return 2 * hidden * size * (heads + shared)
    plain, turned, value = (
        numbers.need(key, _MOST["hidden"]) for key in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    )
    query = numbers.may("q_lora_rank", _MOST["hidden"])
    queries = query * (hidden + heads * (plain + turned)) if query else hidden * heads * (plain + turned)
    return queries + hidden * (rank + turned) + rank * heads * (plain + value) + heads * value * hidden


def _name(config: Config, file: str) -> str:
    names = config.get("architectures")
    first = names[0] if isinstance(names, list) and names else config.get("model_type")
    return first[:_LONGEST_NAME] if isinstance(first, str) else file


def _remarks(numbers: _ConfigNumbers, nested: bool) -> list[str]:
    found = []
    if nested:
        found.append("bwlint counts the language model only, without its parts for images or sound")
    other = next((key for key in numbers.config if isinstance(key, str) and key.startswith(_OTHER_LAYERS)), None)
    if other is not None:
        found.append(f"layers of another kind ({other[:40]}) are counted as attention: weights may be off")
    return found
