"""What runs before a test of Python, also where one file alone is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CAP = "torch.cuda.get_device_capability()"
OPS = f"import torch\n\n\ndef stage(n):\n    if {CAP}[0] != 10:\n        raise OSError('needs a B200')\n"
SKIPS = f"    if {CAP}[0] != 10:\n        pytest.skip('needs a B200')\n"
HEAD = "import pytest\nimport torch\nfrom ops import stage\n\n\n"
LATER = f"@pytest.mark.skipif({CAP}[0] < 9, reason='needs 9.0')\n"
CONFTEST = f"import pytest\nimport torch\n\n\n@pytest.fixture{{how}}\ndef b200():\n{SKIPS}"
FIXTURE = CONFTEST.format(how="")
ALWAYS = CONFTEST.format(how="(autouse=True)")
ON_ONE = "def test_it({}):\n    stage(1)\n"


def found(folder: Path, test: str, conftest: str = "", where: str = "tests/conftest.py") -> list[str]:
    files = {"ops.py": OPS, "tests/test_x.py": HEAD + test, **({where: conftest} if conftest else {})}
    return levels(drafts(folder, files, "test-gate", only="tests/test_x.py"))


@pytest.mark.parametrize(
    ("test", "conftest", "expected"),
    [
        (LATER + ON_ONE.format(""), "", ["6 warning"]),
        (LATER + ON_ONE.format(""), FIXTURE, ["6 warning"]),
        (LATER + ON_ONE.format("b200"), FIXTURE, []),
        (LATER + ON_ONE.format(""), ALWAYS, []),
        (f"@pytest.mark.usefixtures('b200')\n{LATER}{ON_ONE.format('')}", FIXTURE, []),
        (f"pytestmark = pytest.mark.usefixtures('b200')\n\n\n{LATER}{ON_ONE.format('')}", FIXTURE, []),
        (f"@pytest.fixture\ndef b200():\n    return 1\n\n\n{LATER}{ON_ONE.format('b200')}", FIXTURE, ["11 warning"]),
        (f"@pytest.fixture\ndef gpu(b200):\n    return b200\n\n\n{LATER}{ON_ONE.format('gpu')}", FIXTURE, []),
        (f"def setup_module():\n{SKIPS}\n\n{LATER}{ON_ONE.format('')}", "", []),
        (f"def prepare():\n{SKIPS}\n\n{LATER}{ON_ONE.format('')}", "", ["11 warning"]),
    ],
)
def test_what_keeps_a_chip_from_a_test(tmp_path: Path, test: str, conftest: str, expected: list[str]) -> None:
    assert found(tmp_path, test, conftest) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [("conftest.py", []), ("tests/conftest.py", []), ("tests/more/conftest.py", ["6 warning"])],
)
def test_a_conftest_is_for_its_folder_and_those_in_it(tmp_path: Path, where: str, expected: list[str]) -> None:
    assert found(tmp_path, LATER + ON_ONE.format(""), ALWAYS, where) == expected


def test_a_fixture_is_told_of_by_itself(tmp_path: Path) -> None:
    wide = FIXTURE.replace("!= 10", "< 10")
    files = {"ops.py": OPS, "tests/conftest.py": wide, "tests/test_x.py": HEAD + ON_ONE.format("b200")}
    assert levels(drafts(tmp_path, files, "test-gate", only="tests/conftest.py")) == ["7 warning"]
