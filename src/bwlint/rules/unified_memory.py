"""unified-memory: a driver is asked how much memory a device has that shares its host's, and gives no answer."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import group
from bwlint.chips.products import memory_queries, no_answer
from bwlint.chips.wording import called
from bwlint.judging import claims
from bwlint.judging.aside import for_developers
from bwlint.judging.caught import caught_elsewhere
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Module
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("unified-memory")
_SHARED = group("memory-of-the-host")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind != "memory-query":
            continue
        wrong = context.targets & _SHARED & context.let_to(module, one.at)
        if not wrong or (not one.checked and caught_elsewhere(context, module, one.qualname.rpartition(".")[2])):
            continue
        if one.name in memory_queries("call"):
            gives = "raises NVMLError_NotSupported" if module.language == "python" else "gives NVML_ERROR_NOT_SUPPORTED"
            goes_on = "what catches it gives the device up" if one.checked else "nothing here expects it"
            says = f"{one.name} {gives} on {called(wrong)}, and {goes_on}"
        elif one.name in memory_queries("table"):
            text = f"{no_answer('table')} as {one.name}"
            says = f"nvidia-smi's table has {text} on {called(wrong)}, and it is read as numbers"
        else:
            goes_on = "the row is left out, and the device with it" if one.checked else "it is read as a number here"
            says = f"nvidia-smi prints {no_answer('column')} for {one.name} on {called(wrong)}, and {goes_on}"
        yield Draft(
            rule=RULE,
            place=DraftPlace(module=module, at=one.at, admitted=wrong, certain=wrong),
            severity="note" if one.checked or for_developers(context, module) else "warning",
            confidence="medium",
            message=says,
            label="no answer for unified memory",
            advice=(
                "fall back to torch.cuda.mem_get_info or total_memory of the device's properties (cudaMemGetInfo): the"
                " GPU has the memory of its host, which other programs use too"
            ),
            claims=(Claimed(claims.other(says, wrong), one.at),),
        )
