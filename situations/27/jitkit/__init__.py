from .ops import fp4_unpack

__all__ = ["fp4_unpack"]
