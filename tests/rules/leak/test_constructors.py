"""A constructor that refuses stands in front of what the methods of its class need."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

NEWER = "torch.cuda.get_device_capability() >= (9, 0)"
OPEN = f"assert {NEWER}, 'needs SM90'"
NEEDS = "def run(self, a, b, c, d):\n        return torch._scaled_grouped_mm(a, b, c, d)"
PLAIN = "def {}(self, a, b):\n        return a @ b"


def runner(*body: str) -> str:
    return "\n\n    ".join(("import torch\n\n\nclass Runner:", *body)) + "\n"


def made(test: str) -> str:
    return f"def __init__(self, n):\n        {test}\n        self.n = n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((made(OPEN), NEEDS), ["7 warning"]),
        ((made(f"if not ({NEWER}):\n            raise OSError"), NEEDS), ["7 warning"]),
        ((made(OPEN), NEEDS, PLAIN.format("plan")), ["7 warning"]),
        ((made(OPEN), NEEDS, PLAIN.format("_hidden"), PLAIN.format("_other")), ["7 warning"]),
        ((made(OPEN), NEEDS.replace("run", "__call__")), ["7 warning"]),
        # the class is for more than that
        ((made(OPEN), NEEDS, PLAIN.format("plain"), PLAIN.format("other")), []),
        ((made(OPEN), NEEDS.replace("run", "_run")), []),
        ((made(OPEN), NEEDS, "def go(self, a, b, c, d):\n        return self.run(a, b, c, d) if self.n else a"), []),
        # the method asks again
        (
            (
                made(OPEN),
                NEEDS.replace(
                    "return",
                    "if torch.cuda.get_device_capability()[0] == 12:\n            return None\n        return",
                ),
            ),
            [],
        ),
        # it refuses by itself
        ((made(OPEN), f"def run(self, a):\n        {OPEN.replace('>= (9, 0)', '< (12, 0)')}\n        return a"), []),
        # who comes there is refused, or was never asked
        ((made(f"{OPEN}\n        assert torch.cuda.get_device_capability()[0] != 12"), NEEDS), []),
        ((made("if n:\n            " + OPEN), NEEDS), []),
        ((made(OPEN).replace("__init__", "prepare"), NEEDS), []),
        ((made(OPEN.replace(">= (9, 0)", "in ((9, 0), (10, 0))")), NEEDS), []),
    ],
)
def test_what_the_methods_need(tmp_path: Path, body: tuple[str, ...], expected: list[str]) -> None:
    found = drafts(tmp_path, {"p/a.py": runner(*body)}, "leak")
    assert [one for one in levels(found) if one.endswith("warning")] == expected


def test_the_finding_leads_to_the_method(tmp_path: Path) -> None:
    (found,) = drafts(tmp_path, {"p/a.py": runner(made(OPEN), NEEDS)}, "leak")
    assert found.message.startswith("This check lets 12.x through to `Runner` and on to `_scaled_grouped_mm`.")
    assert [span.message for span in found.related][-1] == "`Runner.run` uses `torch._scaled_grouped_mm`"
