"""The chip that is simulated, as facts under the names by which the stand-ins ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bwlint.chips import Chip, parse_targets
from bwlint.chips.products import Product, products
from bwlint.chips.targets import letters
from bwlint.chips.toolkits import releases
from bwlint.settings.config import UsageError

_GIB = 1 << 30
_WARP = 32


@dataclass(frozen=True, slots=True)
class Simulated:
    """A chip, and the product whose numbers are given where one is named or the chip is sold as but one."""

    chip: Chip
    product: Product | None

    @property
    def name(self) -> str:
        return f"{self.chip} ({self.product.name})" if self.product else str(self.chip)

    def facts(self) -> dict[str, Any]:
        """What is known; sizes in bytes. Limits are the chip's, counts and memory the product's."""
        chip, product = self.chip, self.product
        known: dict[str, Any] = {
            "chip": self.name,
            "major": chip.major,
            "minor": chip.minor,
            "warp_size": _WARP,
            "cuda": releases()[-1],
            "shared_memory_per_block": chip.smem_per_block_default,
            "shared_memory_per_block_optin": chip.smem_per_block_optin,
            "shared_memory_per_multiprocessor": chip.smem_per_sm,
            "reserved_shared_memory_per_block": chip.smem_reserved,
            "max_threads_per_multiprocessor": chip.max_threads_per_sm,
            "max_blocks_per_multiprocessor": chip.max_blocks_per_sm,
        }
        if product is not None:
            known |= {
                "name": product.device_name or None,
                "multiprocessors": product.multiprocessors or None,
                "total_memory": product.memory_gib * _GIB or None,
            }
        elif of_chip := [one.name for one in products() if one.chip == chip.name]:
            known["instead"] = f"name a product, such as {of_chip[0]}: this value differs by product"
        return {key: value for key, value in known.items() if value is not None}

    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted, in words."""
        memory = ("total_memory is a whole number of GiB",) if "total_memory" in self.facts() else ()
        return (f"torch.version.cuda is {releases()[-1]} where torch is built without CUDA", *memory)


def simulated(text: str) -> Simulated:
    """The chip or product that a user names: "12.1", "sm_120", "RTX 5090"; raises UsageError."""
    try:
        chips = tuple(parse_targets((text,))[0])
    except ValueError as error:
        raise UsageError(str(error)) from None
    if len(chips) != 1:
        raise UsageError("simulate one chip at a time")
    of_chip = [one for one in products() if one.chip == chips[0].name]
    named = next((one for one in of_chip if letters(text) in _names(one)), None)
    only = next((one for one in of_chip if set(map(letters, chips[0].products)) <= _names(one)), None)
    return Simulated(chips[0], named or only)


def _names(product: Product) -> set[str]:
    return set(map(letters, (product.name, *product.aliases)))
