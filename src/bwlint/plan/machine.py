"""Parse the user's GPUs and link: `4xRTX-PRO-6000`, `pcie5x16`."""

from __future__ import annotations

import re

from bwlint.chips.links import Link, UnknownNameError, link, product
from bwlint.chips.products import Product
from bwlint.plan.table import JoinedGpus
from bwlint.settings.config import UsageError

MOST_GPUS = 1024

_GPUS = re.compile(r"\s*(?:(\d{1,9})\s*[xX*\u00d7]\s*)?(\S.*)")


def machine(gpus: str, link_name: str | None, latency_us: float | None) -> JoinedGpus:
    """The machine of these names; raises `UsageError`."""
    match = _GPUS.match(gpus)
    if match is None:
        raise UsageError("name the GPUs: --gpus 4xRTX-PRO-6000")
    count = int(match[1] or 1)
    if not 1 <= count <= MOST_GPUS:
        raise UsageError(f"{count} GPUs: from 1 to {MOST_GPUS} can be compared")
    try:
        sold = product(match[2])
        joined = link(link_name or sold.links[0])
    except UnknownNameError as error:
        raise UsageError(str(error)) from None
    _check(sold, joined)
    return JoinedGpus(count, sold, joined, joined.latency_us if latency_us is None else latency_us)


def _check(sold: Product, joined: Link) -> None:
    """A network joins whatever has a host; all else the GPU has to have."""
    if not joined.is_network and joined.name not in sold.links:
        raise UsageError(f"bwlint knows no {joined.what} for {sold.name}: its links are {', '.join(sold.links)}")
