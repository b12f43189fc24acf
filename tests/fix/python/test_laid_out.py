"""Edits in the layout of their tree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bwlint.fix.laid_out import _limit
from bwlint.fix.python.relaid import relaid, statements

CASES = [
    (  # longer: a condition in brackets of its own
        "    return major == 10 and minor == 0 and TorchVersion(torch.version.cuda) >= '12.9'",
        "    return major == 10 and minor == 0 and TorchVersion(torch.version.cuda) >= TorchVersion('12.9')",
        """    return (
        major == 10
        and minor == 0
        and TorchVersion(torch.version.cuda) >= TorchVersion('12.9')
    )""",
    ),
    (  # shorter: the brackets go
        """        if (
            backend == "fast"
            and not use_other_format
            and (capability[0] == 12 and capability[1] == 0)
        ):""",
        """        if (
            backend == "fast"
            and not use_other_format
            and (capability[0] == 12)
        ):""",
        """        if backend == "fast" and not use_other_format and (capability[0] == 12):""",
    ),
    (  # what was broken for a call that is in one line now
        """    if not is_family(query.device) or torch.cuda.get_device_capability(
        query.device
    ) != (12, 0):""",
        """    if not is_family(query.device) or torch.cuda.get_device_capability(
        query.device
    )[0] != 12:""",
        """    if (
        not is_family(query.device)
        or torch.cuda.get_device_capability(query.device)[0] != 12
    ):""",
    ),
    (  # a condition that becomes the longest of some arguments
        """@pytest.mark.skipif(
    not current_platform.has_device_capability(90), reason="SM90 and SM100 only"
)""",
        """@pytest.mark.skipif(
    not (
        current_platform.is_device_capability(90)
        or current_platform.is_device_capability_family(100)
    ), reason="SM90 and SM100 only"
)""",
        """@pytest.mark.skipif(
    not (
        current_platform.is_device_capability(90)
        or current_platform.is_device_capability_family(100)
    ),
    reason="SM90 and SM100 only",
)""",
    ),
    (  # an operand that does not fit any more
        """            if (
                sub_case[0] == scalar_types.float8_e4m3fn
                and current_platform.get_device_capability() not in [89, 120]
            ):""",
        """            if (
                sub_case[0] == scalar_types.float8_e4m3fn
                and current_platform.get_device_capability() not in [(8, 9), (12, 0), (12, 1)]
            ):""",
        """            if (
                sub_case[0] == scalar_types.float8_e4m3fn
                and current_platform.get_device_capability()
                not in [(8, 9), (12, 0), (12, 1)]
            ):""",
    ),
    (  # a list that keeps a line for each item, as its last one has a comma
        "    admitted = {\n        '12.0',\n    }",
        "    admitted = {\n        '12.0', '12.1',\n    }",
        "    admitted = {\n        '12.0',\n        '12.1',\n    }",
    ),
    (  # names of an import
        "from flashinfer.utils import get_compute_capability, is_sm100a_supported, is_sm90",
        "from flashinfer.utils import get_compute_capability, is_sm100a_supported, is_sm12x_supported, is_sm90",
        """from flashinfer.utils import (
    get_compute_capability,
    is_sm100a_supported,
    is_sm12x_supported,
    is_sm90,
)""",
    ),
    (  # a list that is too long for a line
        "SUPPORTED_CAPABILITIES_OF_THE_KERNEL = [(8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (12, 0)]",
        "SUPPORTED_CAPABILITIES_OF_THE_KERNEL = [(8, 0), (8, 6), (8, 7), (8, 9), (9, 0), (12, 0), (12, 1)]",
        "SUPPORTED_CAPABILITIES_OF_THE_KERNEL = [\n"
        + "".join(f"    ({chip}),\n" for chip in ("8, 0", "8, 6", "8, 7", "8, 9", "9, 0", "12, 0", "12, 1"))
        + "]",
    ),
    (  # the text of an assert in brackets of its own
        "            assert is_at_least_90(), 'This kernel is for SM90+'",
        "            assert is_at_least_90() and not is_at_least_100(), 'This kernel needs SM90 and no other one'",
        """            assert is_at_least_90() and not is_at_least_100(), (
                'This kernel needs SM90 and no other one'
            )""",
    ),
    (  # whose test is broken where it ends in a bracket
        "            assert is_at_least_90(), 'Expected SM90+'",
        "            assert is_at_least_90() and torch.cuda.get_device_capability() < (11, 0, 0), 'Expected SM90'",
        """            assert is_at_least_90() and torch.cuda.get_device_capability() < (
                11,
                0,
                0,
            ), 'Expected SM90'""",
    ),
    (  # or stands in brackets
        "            assert is_at_least_90(), 'Expected SM90+'",
        "            assert ready and is_at_least_90() and torch.cuda.get_device_capability() < (11, 0), 'Not SM90'",
        """            assert (
                ready
                and is_at_least_90()
                and torch.cuda.get_device_capability() < (11, 0)
            ), 'Not SM90'""",
    ),
    (  # without a text
        "            assert ready and is_at_least_90()",
        "            assert ready and is_at_least_90() and torch.cuda.get_device_capability() < (11, 0)",
        """            assert (
                ready
                and is_at_least_90()
                and torch.cuda.get_device_capability() < (11, 0)
            )""",
    ),
]
LEFT = [
    ("x = f(a,b)", "x = f(a,b,c)"),  # formatted in another way
    ("x = [\n    1,  # one\n    2,\n]", "x = [\n    1, 3,  # one\n    2,\n]"),
    ("x = a == 1 or \\\n    b == 2", "x = a == 1 or \\\n    b[0] == 2"),
    ("assert ready, 'this text alone takes more than eighty-eight columns, and nobody has ever broken it'",) * 2,
    (f"x = {'a' * 90} or b == 12", f"x = {'a' * 90} or b[0] == 12"),  # longer than the tree's formatter leaves it
    ("y = [x for x in (1, 2)]", "y = [x for x in (1, 2, 3)]"),
]


@pytest.mark.parametrize(("old", "new", "laid"), CASES)
def test_as_formatters_do(old: str, new: str, laid: str) -> None:
    assert relaid(old, new, 88) == laid
    assert relaid(laid, laid, 88) is None
    assert relaid(old, laid, 88) is None
    program = shutil.which("ruff")
    if program is None:
        return
    body = "\n        pass" if laid.endswith(":") else "\ndef f(): pass" if laid.startswith("@") else ""
    indent = len(laid) - len(laid.lstrip())
    text = "".join(f"{' ' * step}if x:\n" if step else "def f():\n" for step in range(0, indent, 4)) + laid
    text += body.replace("\n        ", f"\n{' ' * indent}    ") + "\n"
    command = [program, "format", "--isolated", "--config", "format.quote-style='preserve'", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    assert laid in done.stdout.decode()


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_what_is_left_as_it_is(old: str, new: str) -> None:
    assert relaid(old, new, 88) is None


def test_statements() -> None:
    source = '# a\nimport x\nif (\n    a\n):\n    """b\n    c"""\n    d = 1\n\ne = 2\n'
    assert statements(source) == ((2, 2), (3, 5), (6, 7), (8, 8), (10, 10))
    assert statements("x = (\n") == ()


@pytest.mark.parametrize(
    ("name", "said", "limit"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", 100),
        ("pyproject.toml", '[tool.black]\ntarget-version = ["py39"]\nline-length = 79\n\n[tool.x]\n', 79),
        ("pyproject.toml", "[tool.isort]\nline-length = 79\n", 0),
        ("pyproject.toml", "[tool.ruff.lint]\nselect = []\n", 88),
        ("ruff.toml", "", 88),
        (".pre-commit-config.yaml", "repos:\n- hooks:\n  - id: ruff-format\n", 88),
        ("ruff.toml", 'target-version = "py39"\nline-length = 110\n[lint]\n', 110),
        ("setup.cfg", "[metadata]\nname = x\n[flake8]\nmax-line-length = 119\n", 119),
        (".editorconfig", "root = true\n[*.py]\nindent_size = 4\nmax_line_length = 120\n", 120),
        (".editorconfig", "[*.md]\nmax_line_length = 70\n", 0),
    ],
)
def test_the_length_of_lines_that_a_tree_sets(name: str, said: str, limit: int, tmp_path: Path) -> None:
    (tmp_path / "pkg" / "deep").mkdir(parents=True)
    (tmp_path / name).write_text(said)
    assert _limit(str(tmp_path / "pkg" / "deep")) == limit
