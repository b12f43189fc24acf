"""Calls of the driver by way of cuda-bindings: their errors become `Refused`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bwlint.confirm.driver.errors import INVALID_VALUE

STICKY = frozenset((4, 46, 100, 101, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999))
"""What a context does not get over: faults of a kernel, devices that went away, memory that is damaged."""


class Missing(Exception):
    """There is no driver to speak to; says which part is missing."""


class Refused(Exception):
    """A call that the driver answered with an error; `more` is what the answer to a job holds besides."""

    def __init__(self, error: int, name: str, call: str) -> None:
        super().__init__(f"{call}: {name} ({error})")
        self.error = error
        self.name = name
        self.call = call
        self.more: dict[str, Any] = {}

    def answer(self) -> dict[str, Any]:
        return {"error": self.error, "name": self.name, "call": self.call, **self.more}


@dataclass(frozen=True, slots=True)
class Driver:
    """The module `cuda.bindings.driver`, with errors as exceptions and enumerations by their short names."""

    module: Any

    def __call__(self, name: str, *given: Any) -> Any:
        """Call a function of the driver; its result, a tuple where there are several, None where there is none."""
        code, *results = getattr(self.module, name)(*given)
        if int(code):
            raise Refused(int(code), self.error_name(code), name)
        return results[0] if len(results) == 1 else tuple(results) or None

    def error_name(self, code: Any) -> str:
        failed, text = self.module.cuGetErrorName(code)
        if int(failed) or text is None:
            return str(getattr(code, "name", f"error {int(code)}"))
        return text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)

    def constant(self, enumeration: str, prefix: str, name: str) -> Any:
        """A value by its name without the prefix; ValueError where these bindings have none of this name."""
        found = getattr(getattr(self.module, enumeration), f"{prefix}{name}", None)
        if found is None:
            raise ValueError(f"cuda-bindings knows no {prefix}{name}")
        return found

    def names(self, enumeration: str, prefix: str) -> dict[str, Any]:
        """All values of an enumeration by their names without the prefix."""
        members = getattr(self.module, enumeration).__members__
        return {name.removeprefix(prefix): value for name, value in members.items() if not name.endswith("_MAX")}

    def told(self, names: tuple[str, str], call: str, *about: Any) -> dict[str, int]:
        """What a call tells by the names of an enumeration; what this driver does not know is left out."""
        found: dict[str, int] = {}
        for name, attribute in self.names(*names).items():
            try:
                found[name] = int(self(call, attribute, *about))
            except Refused as refused:
                if refused.error != INVALID_VALUE:
                    raise
        return found


def opened() -> Driver:
    """The driver, initialized. Raises `Missing` and `Refused`."""
    try:
        from cuda.bindings import driver  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise Missing("no cuda-bindings (pip install bwlint[gpu])") from None
    except ImportError as error:
        raise Missing(f"cuda-bindings cannot be imported: {error}") from None
    found = Driver(driver)
    try:
        found("cuInit", 0)
    except Refused:
        raise
    except (RuntimeError, OSError) as error:
        raise Missing(f"no driver (libcuda.so.1): {' '.join(str(error).split())[:300]}") from None
    return found
