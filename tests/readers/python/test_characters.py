"""Where a capability is handled as a text."""

from __future__ import annotations

import pytest

from bwlint.readers.python import read

HEAD = "import torch\ndef f(cc, widths):\n    major, minor = torch.cuda.get_device_capability()\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("x = cc[0] + cc[2]", ["cc[0] + cc[2]"]),
        ("x = f'sm_{cc[0]}{cc[2]}'", ["f'sm_{cc[0]}{cc[2]}'"]),
        ("major, minor = target.split('_')[1]", ["target.split('_')[1]"]),
        ("x = device.compute_capability < '80'", ["device.compute_capability < '80'"]),
        ("major, minor = str(sm_version)", ["str(sm_version)"]),
        ("major, minor = map(int, str(cc))", ["map(int, str(cc))"]),
        ("major, minor = [int(one) for one in cc[3:]]", ["cc[3:]", "[int(one) for one in cc[3:]]"]),
        ("major, minor = list(f'{cc}')", ["list(f'{cc}')"]),
        ("x = int(cc[3:5])", ["int(cc[3:5])"]),
        ("x = int(sm[-2:])", ["int(sm[-2:])"]),
        ("x = int(cc[3])", ["int(cc[3])"]),
        ("x = r'sm_(\\d)(\\d)'", ["sm_(\\d)(\\d)"]),
        ("x = r'compute_[0-9]{2}'", ["compute_[0-9]{2}"]),
        ("x = r'(?:sm|compute)_(?P<n>\\d\\d)$'", ["(?:sm|compute)_(?P<n>\\d\\d)$"]),
        ("x = r'sm_(\\d+)(\\d)'", []),
        ("x = r'sm_\\d{2,3}'", []),
        ("x = r'sm_\\d\\d\\d'", []),
        ("x = r'sm_(\\d\\d?)(\\d)'", []),
        ("x = r'sm_\\d{2}|sm_1\\d{2}'", []),
        ("x = r'cu(\\d)(\\d)'", []),
        ("major, minor = map(int, cc)", []),
        ("major, minor = map(int, cc.split('.'))", []),
        ("x, y = str(sm_version)", []),
        ("major, minor = str(release)", []),
        ("x = int(cc[3:])", []),
        ("x = int(cc[3:-1])", []),
        ("x = int(cc[0])", []),
        ("x = int(widths[-2:])", []),
        ("x = cc[3:5]", []),
        ("x = int(cc[3:5]) if len(cc) == 5 else int(cc[3:6])", []),
        ("x = int(arch[3:5]) if arch.startswith('gfx') else 0", []),
        ("x = cc[0] * 10 + cc[1]", []),
        ("x = widths[0] + widths[2]", []),
        ("major, minor = target.split('.')", []),
        ("name, rest = target.split('_')[1]", []),
        ("x = device.compute_capability < 80", []),
    ],
)
def test_parts_and_orders(code: str, found: list[str]) -> None:
    module = read("a.py", f"{HEAD}    {code}\n", "a", False)
    assert [one.name for one in module.operations if one.kind == "as-text"] == found
