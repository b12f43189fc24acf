"""Whether what a switch is for is switched on by others, over the files of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.chips import ChipSet, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.judging.guarded_macros import served_elsewhere
from bwlint.readers.cuda import read
from bwlint.run.engine import analyse
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

SWITCH = "#if defined(__CUDA_ARCH_FEAT_SM120_ALL)\n#define KIT_HAS_IT 1\n#endif\n"


def said(folder: Path, switch: str, users: dict[str, str]) -> str:
    """What is said of the first guard of kit.h beside these files."""
    (folder / "pyproject.toml").touch()
    for name, text in {"kit.h": switch, **users}.items():
        (folder / name).write_text(text)
    real = str((folder / "kit.h").resolve())
    file = SourceFile(real, real, "cuda", str(folder.resolve()))
    both = ChipSet.of("12.0", "12.1")
    context = analyse(Collected(((file, read(real, switch)),), (), ()), Sources(), both, ["family-split"]).context
    guarded = context.guards[real][0]
    return served_elsewhere(context, guarded, TargetSet.of("121a"))


DERIVED = '#include "kit.h"\n#if defined(KIT_HAS_IT)\n#define KIT_USES_IT 1\n#endif\n'


@pytest.mark.parametrize(
    ("more", "served"),
    [
        ("#if defined(__CUDA_ARCH_FEAT_SM121_ALL)\n#define KIT_USES_IT 1\n#endif\n", True),
        ("#if __CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300\n#define KIT_USES_IT 1\n#endif\n", True),
        ("#if defined(__CUDA_ARCH_FEAT_SM100_ALL)\n#define KIT_USES_IT 1\n#endif\n", False),
        ("#if KIT_ANYTHING\n#define KIT_USES_IT 1\n#endif\n", False),
        ("#define KIT_USES_OTHER 1\n", False),
        ("", False),
    ],
)
def test_served_elsewhere(tmp_path: Path, more: str, served: bool) -> None:
    assert bool(said(tmp_path, SWITCH, {"user.h": DERIVED + more})) == served
