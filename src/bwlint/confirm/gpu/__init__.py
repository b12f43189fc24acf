"""Talk to the GPU through a child process, which may hang, crash or print without end.

A job is a dictionary, and so is its answer; `driver.jobs` and `driver.peer` say which there are. The child is the only
code that loads a driver, and it loads no library of a scanned tree.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint.chips.wording import listed
from bwlint.confirm import child
from bwlint.confirm.receipt import Attempt, Rung, not_eligible, not_requested
from bwlint.confirm.workbench import Device, Workbench
from bwlint.model.findings import BUILDER, Claim

_START = "import json, sys; sys.path[:0] = json.loads(sys.argv[1]); from bwlint.confirm.driver.jobs import main; main()"
_OWN = Path(__file__).parents[3]
_LIBRARIES, _DEVICES = "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"
_SET = {
    # What the driver keeps of an earlier run would answer for this one.
    "CUDA_CACHE_DISABLE": "1",
    # A kernel that cannot be loaded has to say so when its image is, not when it is launched.
    "CUDA_MODULE_LOADING": "EAGER",
}
_MODULE = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back of a job: None as `answer` where the child gave none, and how the child ended."""

    answer: dict[str, Any] | None
    ended: child.Ended

    @property
    def trouble(self) -> str:
        """Why there is no answer to build on, in words; "" where there is one."""
        if self.ended.trouble:
            was = "" if self.ended.trouble.startswith(("ended", "not ")) else "ended: "
            return f"the process that called the driver was {was}{self.ended.trouble}"
        if self.answer is None:
            return f"the process that called the driver gave no answer (exit status {self.ended.code})"
        if "missing" in self.answer:
            return str(self.answer["missing"])
        if self.answer.get("error"):
            return failure(self.answer)
        return ""

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The answers to the steps of a job "image"; none where it failed as a whole."""
        found = (self.answer or {}).get("steps", [])
        return [step for step in found if isinstance(step, dict)] if isinstance(found, list) else []

    @property
    def failed(self) -> str:
        """The first error of its steps, in words; "" where there is none."""
        return next((text for text in map(failure, self.steps) if text), "")


def ask(job: Mapping[str, Any], *, folder: Path, limit: float, trees: Sequence[str] = ()) -> Answered:
    """Do one job in a child, within `limit` seconds, in the scratch folder `folder`. `trees` are what was scanned, as
    real paths: nothing below them is imported or loaded. Never raises for what a driver, a device or a kernel does."""
    closed = [Path(tree) for tree in trees]
    kept = {_DEVICES: value} if (value := os.environ.get(_DEVICES)) else {}
    libraries = [entry for entry in os.environ.get(_LIBRARIES, "").split(os.pathsep) if _is_open(entry, closed)]
    if libraries:
        kept[_LIBRARIES] = os.pathsep.join(libraries)
    # What the child imports from besides its interpreter's own: our folder, and the open ones of sys.path.
    interpreters = [Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()]
    others = [entry for entry in sys.path if _is_open(entry, [*closed, *interpreters])]
    command = [sys.executable, "-I", "-c", _START, json.dumps(list(dict.fromkeys([str(_OWN), *others])))]
    try:
        ended = child.run(
            command, limit=limit, folder=folder, environment={**kept, **_SET}, stdin=json.dumps(job).encode()
        )
    except OSError as error:
        ended = child.Ended(None, "", 0, b"", f"not started: {error}", 0.0)
    return Answered(_read(ended.answer), ended)


def devices(*, folder: Path, limit: float = 60.0, trees: Sequence[str] = ()) -> tuple[tuple[Device, ...], str]:
    """The GPUs that the driver shows, and, where there are none, why. `trees` as for `ask`."""
    asked = ask({"do": "devices"}, folder=folder, limit=limit, trees=trees)
    if asked.trouble or asked.answer is None:
        return (), asked.trouble
    found = tuple(Device(**one, driver=asked.answer["driver"]) for one in asked.answer["devices"])
    return found, "" if found else "the driver shows no GPU"


def kernel_module() -> str:
    """The version of NVIDIA's kernel module ("580.159.03"); "" where none is loaded."""
    try:
        text = _MODULE.read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(r"\b\d{3,}\.\d+(?:\.\d+)?\b", text)
    return found[0] if found else ""


def failure(step: Mapping[str, Any]) -> str:
    """An error of the driver in words: its call, name and number; "" where there is none."""
    if "skipped" in step:
        return str(step["skipped"])
    if not step.get("error"):
        return ""
    call = f"{step['call']}: " if step.get("call") else ""
    return f"{call}{step.get('name', 'error')} ({step['error']})"


def _read(answer: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_open(entry: str, closed: Sequence[Path]) -> bool:
    """Whether an entry of a path is a folder, told in full, that is not the current one and lies in none of these."""
    folder = Path(entry)
    if not folder.is_absolute() or not folder.exists():
        return False
    real = folder.resolve()
    return real != Path.cwd() and not any(real.is_relative_to(one.resolve()) for one in closed)


def chosen(rung: Rung, claim: Claim, world: Workbench) -> Device | Attempt:
    """The first GPU that the claim is about; else the attempt that says why none is."""
    if not world.devices:
        return not_eligible(rung, world.no_device)
    if not claim.chips:
        return not_eligible(rung, "the claim names no chip")
    found = next((device for device in world.devices if device.capability in claim.chips), None)
    if found is not None:
        return found
    there = list(dict.fromkeys(device.capability for device in world.devices))
    have = f"the device is {there[0]}" if len(world.devices) == 1 else f"the devices are {listed(there)}"
    return not_eligible(rung, f"{have}, the claim is about {listed(claim.chips)}", {"devices": there})


def for_amounts(rung: Rung, claim: Claim, world: Workbench) -> Device | Attempt:
    """The same for a claim about amounts that a kernel of our own can ask for."""
    if claim.subject == BUILDER:
        return not_requested(rung, "a builder refuses it while it compiles: there is nothing to launch")
    found = chosen(rung, claim, world)
    if isinstance(found, Device) and not claim.amounts:
        return not_eligible(rung, "the claim names no amount")
    return found


def ask_on(world: Workbench, job: Mapping[str, Any]) -> Answered:
    return ask(job, folder=world.scratch, limit=world.limit, trees=world.scanned)


SHARE = 0.8
"""Of the time of a child, what the steps for many images may take: the rest is for the driver to come up."""


def ask_steps(
    world: Workbench, device: Device, steps: Sequence[Mapping[str, Any]], image: str | Mapping[str, Any] = ""
) -> Answered:
    """Have a device take steps with an image; without one, with all those that the steps load, as far as time is."""
    of = {"image": image} if image else {"seconds": world.limit * SHARE}
    return ask_on(world, {"do": "image", "device": device.ordinal, **of, "steps": steps})


def about(device: Device) -> dict[str, str]:
    """A device as the details of an attempt name it."""
    return {"device": device.name, "capability": device.capability, "driver": device.driver}
