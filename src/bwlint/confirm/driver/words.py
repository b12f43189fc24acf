"""Words that the probes leave behind, as their PTX writes them."""

UNTOUCHED = 0xA5A5A5A5
"""What a buffer for results is filled with."""
DONE = 0x600D
GIVEN_UP = 0xFFFFFFFF
