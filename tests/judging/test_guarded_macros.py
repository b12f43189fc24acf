"""What becomes of those whom a switch leaves out, over the files of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.chips import ChipSet, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.judging.guarded_macros import only_errors, served_elsewhere
from bwlint.readers.cuda import read
from bwlint.run.engine import analyse
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

SWITCH = "#if defined(__CUDA_ARCH_FEAT_SM120_ALL)\n#define KIT_HAS_IT 1\n#endif\n"
USE = '#include "kit.h"\nvoid f() {{\n#if {test}\n  {yes}\n#else\n  {no}\n#endif\n}}\n'


def said(folder: Path, switch: str, users: dict[str, str]) -> tuple[str, str]:
    """What is said of the first guard of kit.h beside these files."""
    (folder / "pyproject.toml").touch()
    for name, text in {"kit.h": switch, **users}.items():
        (folder / name).write_text(text)
    real = str((folder / "kit.h").resolve())
    file = SourceFile(real, real, "cuda", str(folder.resolve()))
    both = ChipSet.of("12.0", "12.1")
    context = analyse(Collected(((file, read(real, switch)),), (), ()), Sources(), both, ["family-split"]).context
    guarded = context.guards[real][0]
    return only_errors(context, guarded), served_elsewhere(context, guarded, TargetSet.of("121a"))


@pytest.mark.parametrize(
    ("test", "yes", "no", "only"),
    [
        ("defined(KIT_HAS_IT)", "mma();", "KIT_NOT_IMPLEMENTED();", True),
        ("defined(KIT_HAS_IT)", "mma();", "__trap();", True),
        ("KIT_HAS_IT", "mma();", 'printf("ERROR: not built for this chip");', True),
        ("!defined(KIT_HAS_IT)", "__trap();", "mma();", True),
        ("defined(KIT_HAS_IT)", "mma();", "fallback();", False),
        ("!defined(KIT_HAS_IT)", "fallback();", "__trap();", False),
        ("defined(KIT_HAS_IT) || defined(KIT_HAS_MORE)", "mma();", "__trap();", False),
        ("KIT_ENABLED(KIT_HAS_IT)", "mma();", "__trap();", False),
        ("KIT_HAS_OTHER /* KIT_HAS_IT */", "mma();", "__trap();", False),
        ("KIT_HAS_IT == 2", "mma();", "__trap();", False),
        ("defined(KIT_HAS_OTHER)", "mma();", "__trap();", False),
        ("defined(KIT_HAS_IT)", "mma();", 'printf("slower on this chip");', False),
    ],
)
def test_only_errors(tmp_path: Path, test: str, yes: str, no: str, only: bool) -> None:
    user = USE.format(test=test, yes=yes, no=no)
    found, _ = said(tmp_path, SWITCH, {"user.cuh": user})
    assert bool(found) == only
    assert bool(said(tmp_path, SWITCH + user.partition("\n")[2], {"user.cuh": ""})[0]) == only


def test_all_users_count(tmp_path: Path) -> None:
    error = USE.format(test="defined(KIT_HAS_IT)", yes="mma();", no="__trap();")
    works = USE.format(test="defined(KIT_HAS_IT)", yes="mma();", no="fallback();")
    assert said(tmp_path, SWITCH, {"a.cuh": error, "b.cuh": works})[0] == ""


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
    assert bool(said(tmp_path, SWITCH, {"user.h": DERIVED + more})[1]) == served
