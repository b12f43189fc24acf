"""The shape of a model from the config.json of Hugging Face, and the bytes of its weights. Every number is bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bwlint.chips.links import WeightForm, weight_forms
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


_USUAL = "bfloat16"
_FULL = 32
_SCALE_BITS = 16
_IGNORED = ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules")
_MOST_GROUP = 1 << 20
_FLOATS = {(8, 0): "fp8", (4, 16): "nvfp4", (4, 32): "mxfp4"}
"""Forms of floating point by their bits and how many share a scale."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes of the whole model, once. `tied`: the head is the embedding."""

    embedding: float
    head: float
    dense: float
    """What every token goes through: attention, feed-forwards without experts, routers."""
    experts: float
    tied: bool
    form: str
    """In words."""
    remarks: tuple[str, ...] = ()

    @property
    def vocabulary(self) -> float:
        """What the two ends take in memory where one GPU holds both."""
        return self.embedding if self.tied else self.embedding + self.head


def weigh(config: Config, shape: Shape) -> Weights:
    """The bytes of a model of this shape and configuration."""
    plain, remarks = _plain(config)
    quantization = _quantization(config)
    form = _form(quantization) if quantization else plain
    if form is None:
        remarks = (*remarks, "bwlint does not know this quantization, and counts the weights as not quantized")
        form = plain
    counted = parts(shape)
    attention_form = plain if form.experts_only or _ignores_attention(quantization) else form
    width_form = plain if form.experts_only else form
    dense = (
        counted["attention"] * attention_form.bytes_per_value
        + counted["feed_forward"] * width_form.bytes_per_value
        + counted["router"] * plain.bytes_per_value
    )
    ends = counted["vocabulary"] * plain.bytes_per_value
    experts = counted["experts"] * form.bytes_per_value
    named = plain.name if form is plain else f"{form.name}, the rest {plain.name}"
    return Weights(ends, ends, dense, experts, shape.tied, named, remarks)


def is_fp8(config: Config) -> bool:
    """Whether the weights are FP8, so that their activations may travel so."""
    form = _form(_quantization(config))
    return form is not None and form.bits == 8 and form.name.endswith("fp8")


def _plain(config: Config) -> tuple[WeightForm, tuple[str, ...]]:
    """The form of what is not quantized."""
    for place in _places(config):
        for key in ("torch_dtype", "dtype"):
            name = place.get(key)
            if isinstance(name, str) and name.removeprefix("torch.") in weight_forms():
                return weight_forms()[name.removeprefix("torch.")], ()
    return weight_forms()[_USUAL], (f"the configuration names no dtype: {_USUAL} assumed",)


def _places(config: Config) -> Iterator[Config]:
    yield config
    yield from (value for value in config.values() if isinstance(value, dict))


def _quantization(config: Config) -> Mapping[str, Any]:
    """What is said of it; nothing where nothing is."""
    for place in _places(config):
        for key in ("quantization_config", "compression_config"):
            found = place.get(key)
            if isinstance(found, dict):
                return found
    return {}


def _form(quantization: Mapping[str, Any]) -> WeightForm | None:
    for key in ("quant_algo", "quant_method", "format"):
        name = quantization.get(key)
        if isinstance(name, str) and (found := weight_forms().get(name.lower())):
            return found
    if quantization.get("load_in_4bit") is True or quantization.get("load_in_8bit") is True:
        return WeightForm("bitsandbytes", 4 if quantization.get("load_in_4bit") is True else 8)
    bits, group, is_float = _declared(quantization)
    if not bits:
        return None
    if is_float and (found := weight_forms().get(_FLOATS.get((bits, group if bits < 8 else 0), ""))):
        return replace(found, experts_only=False)
    name = quantization.get("quant_method")
    words = f"{bits} bits ({name[:40]})" if isinstance(name, str) else f"{bits} bits"
    return WeightForm(words, bits, group or 1, _SCALE_BITS + bits if group else 0)


def _declared(quantization: Mapping[str, Any]) -> tuple[int, int, bool]:
    """Bits of a weight, how many share a scale, 0 where it is not written, and whether they are floating point."""
    groups = quantization.get("config_groups")
    first = next((each for each in groups.values() if isinstance(each, dict)), {}) if isinstance(groups, dict) else {}
    weights = first.get("weights")
    told = weights if isinstance(weights, dict) else quantization
    bits = next((bits for key in ("bits", "num_bits", "w_bit") if (bits := _whole(told.get(key), _FULL))), 0)
    group = next((size for key in ("group_size", "q_group_size") if (size := _whole(told.get(key), _MOST_GROUP))), 0)
    return bits, group, told.get("type") == "float"


def _whole(value: object, most: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most else 0


def _ignores_attention(quantization: Mapping[str, Any]) -> bool:
    """Whether the attention is among what stays as it is."""
    lists = (quantization.get(key) for key in _IGNORED)
    return any(isinstance(name, str) and "attn" in name for names in lists if isinstance(names, list) for name in names)
