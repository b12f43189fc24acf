"""Result words that the probe kernels write, as laid out by their PTX."""

UNTOUCHED = 0xA5A5A5A5
"""What a buffer for results is filled with."""
DONE = 0x600D
GIVEN_UP = 0xFFFFFFFF
