import importlib
import logging

from vserve.attention.base import AttentionBackend, by_priority
from vserve.platform import current_platform

logger = logging.getLogger(__name__)

_MODULES = ("vserve.attention.flashinfer_gen", "vserve.attention.triton_paged")


def _load_all() -> None:
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError as e:
            logger.info("attention module %s is not available: %s", name, e)


def select_backend(head_size: int, scale: float, max_len: int) -> AttentionBackend:
    _load_all()
    capability = current_platform.get_device_capability()
    refused = {}
    for cls in by_priority():
        reasons = cls.why_not(capability, head_size)
        if not reasons:
            logger.info("using %s", cls.name)
            return cls(scale=scale, max_len=max_len)
        refused[cls.name] = reasons
    raise ValueError(f"no attention backend for {capability.as_version_str()}: {refused}")
