"""Bytes of a model's weights, by what is quantized and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bwlint.chips.links import WeightForm, weight_forms
from bwlint.plan.model_config import Config, Shape, parts

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
