"""Numbers that both sides of a job know: the driver's errors (cuda.h), what groups of them say, and words of probes."""

INVALID_VALUE = 1
INVALID_IMAGE = 200
NO_BINARY = 209
INVALID_PTX = 218
UNSUPPORTED_PTX_VERSION = 222
INVALID_SOURCE = 300
LAUNCH_OUT_OF_RESOURCES = 701
COOPERATIVE_LAUNCH_TOO_LARGE = 720
NOT_SUPPORTED = 801
INVALID_CLUSTER_SIZE = 912

NO_MACHINE_CODE = frozenset({NO_BINARY, INVALID_PTX, INVALID_SOURCE, NOT_SUPPORTED})
"""About the chip: no machine code for it, or PTX that it has no machine code for. NOT_SUPPORTED is what an H100 (driver
580.159) says of cubins for other chips whose header was edited to name it."""
TOO_MUCH_ASKED = frozenset({INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES})
"""Of a launch that asks for more memory or threads than there are, before the first instruction."""
LAUNCH_REFUSED = TOO_MUCH_ASKED | {COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_CLUSTER_SIZE}
"""Of a launch of what the device does not have."""
BAD_IMAGE = NO_MACHINE_CODE | {INVALID_IMAGE, UNSUPPORTED_PTX_VERSION}
FAULTS = frozenset({700, 714, 715, 716, 717, 718, 719})
"""Of a kernel that runs and should not: illegal address, illegal instruction and their like."""

UNTOUCHED = 0xA5A5A5A5
"""What a buffer for results is filled with."""
DONE = 0x600D
GIVEN_UP = 0xFFFFFFFF
