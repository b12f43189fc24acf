"""`bwlint plan`: compare ways to split a model over GPUs by link bandwidth and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bwlint.chips import group
from bwlint.chips.launchers import launchers
from bwlint.chips.links import wires
from bwlint.commands.terminal import CLEAN, FOUND, put_right, say, write_table
from bwlint.plan.compare import Comparison, JoinedGpus, Load, compare, machine
from bwlint.plan.launch import launches, with_suggestions
from bwlint.plan.model_config import is_fp8, load
from bwlint.report.plan import summary
from bwlint.settings.config import UsageError
from bwlint.sources.read import Unread, read_from_disk

_MOST_BYTES = 1 << 22
_YAML = (".yaml", ".yml")


def run(options: dict[str, Any]) -> int:
    with put_right():
        found = _compared(options)
    write_table("plan", found, options)
    say(f"bwlint: {summary(found)}\n")
    return CLEAN if found.best else FOUND


def _compared(options: dict[str, Any]) -> Comparison:
    launch_file, model_file = options["config"], options["model"]
    if model_file is None and launch_file is not None and not _is_launch(launch_file):
        launch_file, model_file = None, launch_file
    if model_file is None:
        raise UsageError("name the model's config.json with --model")
    inside = Path(model_file) / "config.json"
    model_file = str(inside) if Path(model_file).is_dir() else model_file
    config = load(_read(model_file), model_file)
    joined = machine(options["gpus"], options["link"], options["latency"])
    found = compare(config, model_file, joined, _load(options, is_fp8(config), joined))
    return found if launch_file is None else _with_launches(found, launch_file)


def _with_launches(found: Comparison, path: str) -> Comparison:
    starts = launches(_read(path).decode("utf-8", "replace"), path.lower().endswith(_YAML))
    if not starts:
        known = " or ".join(launcher.name for launcher in launchers())
        raise UsageError(f"{path}: no command that starts {known}, and no option that splits a model")
    return with_suggestions(found, path, starts)


def _load(options: dict[str, Any], is_fp8: bool, machine: JoinedGpus) -> Load:
    forms = wires()
    dispatch = options["dispatch"] or ("fp8" if is_fp8 else "bf16")
    copies = options["copies"] or ("all" if machine.product.chip in group("no-nvlink").names else "gpu")
    return Load(options["tokens"], forms[dispatch], forms[options["combine"]], forms["bf16"], copies)


def _is_launch(path: str) -> bool:
    return not path.lower().endswith(".json") and not Path(path).is_dir()


def _read(path: str) -> bytes:
    data = read_from_disk(path, _MOST_BYTES)
    if isinstance(data, Unread):
        raise UsageError(f"{path}: {data.reason}")
    return data
