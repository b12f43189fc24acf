"""Names for a number of multiprocessors, and queries for it, in any language."""

from __future__ import annotations

import re

_NAME = re.compile(
    r"(?:_|k_|m_|g_|default_|max_|total_|device_|dev_|gpu_|hw_|hardware_|cuda_)*"
    r"(?:num(?:ber)?_?(?:of_)?sms?|n_sms?|sms?_?count|sms?_num|(?:num_)?multi_?processors?(?:_?count)?)_?"
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ASKS = re.compile(
    r"multi_?processor|hardware_?info|compute_units|occupancy|max_active"
    r"|(?:get|query|detect|fetch|read|device|available|actual)\w{0,40}_(?:num_)?sms?(?:_|$)|get\w{0,40}smcount",
    re.I,
)
_WAITS = re.compile(
    r"^cooperative$|cooperative_?(?:launch|grid)|launch_?cooperative|grid_?(?:sync|barrier)"
    r"|(?:sync|barrier)_?(?:all_)?grid|this_grid|global_?barrier",
    re.I,
)
_LONGEST = 60


def counts(name: str) -> bool:
    """Whether a variable is called the multiprocessors of a device, of no product and for no purpose."""
    return len(name) <= _LONGEST and _NAME.fullmatch(_CAPITAL.sub("_", name).lower()) is not None


def asks(word: str) -> bool:
    """Whether a word is one by which the device is asked, or what fits on it."""
    return _ASKS.search(word) is not None


def waits(word: str) -> bool:
    """Whether a word is one of a grid whose blocks wait for each other, so that all have to run at once."""
    return _WAITS.search(word) is not None
