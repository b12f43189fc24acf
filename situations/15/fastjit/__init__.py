from .arch import Arch
from .ops import histogram

__all__ = ["Arch", "histogram"]
