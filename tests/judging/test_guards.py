"""Class templates that put a guard around kernels: found once, where the guard is, with all that is put into them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.chips import ChipSet, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.judging.guards import served_elsewhere
from bwlint.readers.cuda import read
from bwlint.run.engine import analyse
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

WRAPPER = """template <typename Kernel>
struct {name} : Kernel {{
  template <typename... Args>
  __device__ void operator()(Args&&... args) {{
#if {test}
    Kernel::operator()(args...);
#endif
  }}
}};
"""
USE = '#include "{header}"\nvoid run() {{\n  launch({name}<{kernel}>{{}});\n}}\n'
EXACT, OPEN, FAMILY = "__CUDA_ARCH__ == 1200", "__CUDA_ARCH__ >= 900", "__CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300"
SWITCH = "#if defined(__CUDA_ARCH_FEAT_SM120_ALL)\n#define KIT_HAS_IT 1\n#endif\n"


@pytest.mark.parametrize(
    ("name", "test", "users", "expected"),
    [
        ("enable_sm120", EXACT, ["wrap.h"], ["warning kernel0.cu:3"]),
        ("enable_sm120", EXACT, ["wrap.h", "wrap.h"], ["warning kernel0.cu:3 kernel1.cu:3"]),
        ("enable_sm120", EXACT, [], ["note"]),
        ("enable_sm120", FAMILY, ["wrap.h"], []),
    ],
)
def test_a_guard_with_all_that_it_guards(
    tmp_path: Path, name: str, test: str, users: list[str], expected: list[str]
) -> None:
    files = {"wrap.h": WRAPPER.format(name=name, test=test)}
    files |= {f"kernel{i}.cu": USE.format(header=header, name=name, kernel="Warps") for i, header in enumerate(users)}
    found = drafts(tmp_path, files, "family-split")
    assert [" ".join([one.severity, *_wrapped(one)]) for one in found] == expected


@pytest.mark.parametrize(
    "body",
    [
        "void run() { launch(enable_sm120{}); }\n",
        "// once: launch(enable_sm120<Warps>{});\n",
        "struct enable_sm120_only {};\nvoid run() { launch(enable_sm120_only<Warps>{}); }\n",
    ],
)
def test_what_is_no_use(tmp_path: Path, body: str) -> None:
    files = {"wrap.h": WRAPPER.format(name="enable_sm120", test=EXACT), "user.cu": f'#include "wrap.h"\n{body}'}
    assert [one.severity for one in drafts(tmp_path, files, "family-split")] == ["note"]


def test_a_user_in_another_folder_of_a_tree_without_a_mark(tmp_path: Path) -> None:
    """What unpacks a release has no .git, and may have no pyproject.toml."""
    files = {"include/wrap.h": WRAPPER.format(name="enable_sm120", test=EXACT)}
    files["kernels/user.cu"] = USE.format(header="../include/wrap.h", name="enable_sm120", kernel="Warps")
    assert [one.severity for one in drafts(tmp_path, files, "family-split")] == ["warning"]


def test_nothing_is_said_where_a_kernel_is_wrapped(tmp_path: Path) -> None:
    files = {"wrap.h": WRAPPER.format(name="enable_sm120", test=EXACT)}
    files["kernel.cu"] = USE.format(header="wrap.h", name="enable_sm120", kernel="Warps")
    assert drafts(tmp_path, files, "family-split", only="kernel.cu") == []


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-gencode=arch=compute_90a,code=sm_90a", ["note"]),
        ("-gencode=arch=compute_120,code=sm_120", ["warning"]),
        ("", ["warning"]),
    ],
)
def test_a_lower_bound_that_no_build_asks_for_is_a_note(tmp_path: Path, flags: str, expected: list[str]) -> None:
    setup = (
        "from glob import glob\nfrom setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\n"
        "dims = ['64', '128']\nsources = [f'kernels/forward_{dim}.cu' for dim in dims]\n"
        f"setup(ext_modules=[CUDAExtension('kernels', sources, extra_compile_args={{'nvcc': [{flags!r}]}})])\n"
    )
    name = "enable_sm90_or_later"
    files = {
        "setup.py": setup,
        "kernels/wrap.h": WRAPPER.format(name=name, test=OPEN),
        "kernels/forward_64.cu": USE.format(header="wrap.h", name=name, kernel="ForwardSm90"),
    }
    found = drafts(tmp_path, files, "leak")
    assert [one.severity for one in found] == expected


def _wrapped(draft: object) -> list[str]:
    places = [one for one in draft.related if one.message == "wrapped here"]  # type: ignore[attr-defined]
    return [f"{Path(one.module.path).name}:{one.at.line}" for one in places]


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
