"""unified-memory: a memory query that GB10, whose memory is its host's, does not answer."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import group
from bwlint.chips.products import memory_error, memory_queries, no_answer
from bwlint.chips.wording import called
from bwlint.judging import claims
from bwlint.judging.aside import caught_elsewhere, for_developers
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.facts import Module
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("unified-memory")
_SHARED = group("memory-of-the-host")
_ELSEWHERE = Remedy(
    "status",
    evidence="the other branch does without NVML",
    unsafe="the other branch may count other memory than NVML does",
)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind != "memory-query":
            continue
        wrong = context.targets & _SHARED & context.let_to(module, one.at)
        if not wrong or (not one.checked and caught_elsewhere(context, module, one.qualname.rpartition(".")[2])):
            continue
        if one.name in memory_queries("call"):
            gives = f"raises {memory_error()}" if module.language == "python" else f"gives {no_answer('call')}"
            goes_on = "and its handler gives the device up" if one.checked else "and nothing here has another answer"
            says = f"On {called(wrong)} {one.name} {gives}, {goes_on}."
        elif one.name in memory_queries("table"):
            text = f"`{no_answer('table')}` as {one.name}"
            says = f"On {called(wrong)} nvidia-smi's table has {text}. This line parses it as numbers and raises."
        else:
            goes_on = "drops the row, and the device with it" if one.checked else "parses it as a number and raises"
            says = f"On {called(wrong)} nvidia-smi prints `{no_answer('column')}` for {one.name}. This line {goes_on}."
        raises = module.language == "python" and one.name in memory_queries("call") and not one.checked
        yield Draft(
            place=DraftPlace(module=module, at=one.at, admitted=wrong, certain=wrong),
            severity="note" if one.checked or for_developers(context, module) else "warning",
            confidence="medium",
            message=says,
            label="no answer for unified memory",
            advice=(
                "Fall back to torch.cuda.mem_get_info or total_memory of the device's properties (cudaMemGetInfo). The"
                " GPU shares the memory of its host with other programs."
            ),
            remedy=_ELSEWHERE if raises else None,
            claims=(Claimed(claims.other(says, wrong), one.at),),
        )
