"""`confirm --simulate`: programs in processes of their own, on a torch that was written for this."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

import bwlint.report
from bwlint import cli
from bwlint.chips import all_chips
from bwlint.confirm.simulate.program import simulated
from bwlint.settings.config import UsageError

SCHEMAS = Path(bwlint.report.__file__).parent
TORCH = {
    "__init__.py": "from types import SimpleNamespace\nfrom torch import cuda, version, _C, backends\n",
    "cuda.py": "def is_available(): return False\ndef get_device_capability(_=None): raise RuntimeError('no GPU')\n",
    "version.py": "cuda = None\n",
    "_C.py": "",
    "backends.py": "from types import SimpleNamespace\ncuda = SimpleNamespace(is_built=lambda: False)\n",
}
TRITON = {
    "__init__.py": "",
    "runtime/__init__.py": "",
    "runtime/jit.py": """class JITFunction:
    def __init__(self, fn): self.fn = fn
    def __getitem__(self, grid): return lambda *a, **k: self.run(*a, grid=grid, warmup=False, **k)
    def run(self, *a, grid, warmup, **k): raise RuntimeError("no driver")
""",
}
BINDINGS = {
    "__init__.py": "",
    "bindings/__init__.py": "",
    "bindings/driver.py": """import enum
class CUresult(enum.IntEnum): CUDA_SUCCESS = 0
class CUdevice_attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38
def cuInit(flags): raise RuntimeError("no libcuda")
cuDeviceGetAttribute = cuLaunchKernel = cuMemAlloc = cuInit
""",
}
NVML = {
    "pynvml.py": "def nvmlInit(): raise OSError('no libnvidia-ml')\n"
    "nvmlDeviceGetHandleByIndex = nvmlDeviceGetCudaComputeCapability = nvmlDeviceGetMemoryInfo = nvmlInit\n"
}


@pytest.fixture(autouse=True)
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with libraries for whom there is no GPU."""
    folder = tmp_path / "libraries"
    for package, files in (("torch", TORCH), ("triton", TRITON), ("cuda", BINDINGS), ("", NVML)):
        for name, text in files.items():
            path = folder / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.chdir(tmp_path)


def invoke(program: str, *options: str, chip: str = "12.1") -> Result:
    Path("program.py").write_text(program)
    arguments = ("confirm", "--simulate", chip, "--format", "json", *options, "--", "program.py")
    return CliRunner().invoke(cli.app, arguments, prog_name="bwlint")


def receipt(program: str, *options: str, chip: str = "12.1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke(program, *options, chip=chip).stdout)
    schemas = [json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("simulation", "findings")]
    registry = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in schemas)
    assert list(Draft202012Validator(schemas[0], registry=registry).iter_errors(found)) == []
    return found


def told(rows: list[dict[str, Any]], key: str) -> list[tuple[str, str, int]]:
    return [(row["what"], row[key], row["where"]["line"]) for row in rows]


def test_what_is_asked_is_answered_and_where() -> None:
    found = receipt(
        "import torch\n"
        "if torch.cuda.is_available():\n"
        "    major, minor = torch.cuda.get_device_capability()\n"
        "    assert torch.cuda.get_device_properties(0).shared_memory_per_block_optin == 101376\n"
        "assert torch._C._cuda_getDeviceProperties(0).name == 'NVIDIA GB10'\n"
        "if (major, minor) != (12, 0):\n"
        "    raise RuntimeError('needs SM120')\n"
    )
    assert told(found["queries"], "answer") == [
        ("torch.cuda.is_available", "True", 2),
        ("torch.cuda.get_device_capability", "(12, 1)", 3),
        ("torch.cuda.get_device_properties().shared_memory_per_block_optin", "101376", 4),
        ("torch.cuda.get_device_properties().name", "NVIDIA GB10", 5),
    ]
    assert told(found["exceptions"], "message") == [("RuntimeError", "needs SM120", 7)]
    assert (found["ended"]["code"], found["missing"], found["unanswered"]) == (1, [], [])
    assert (found["chip"], found["product"]) == ("12.1", "GB10")


def test_the_same_program_goes_on_on_the_sibling() -> None:
    found = receipt("import torch\nif torch.cuda.get_device_capability() != (12, 0): raise OSError\n", chip="RTX 5090")
    assert (found["ended"]["code"], found["exceptions"], found["product"]) == (0, [], "RTX 5090")


def test_what_is_not_known_is_not_made_up() -> None:
    found = receipt(
        "import torch\n"
        "p = torch.cuda.get_device_properties(0)\n"
        "assert not hasattr(p, 'L2_cache_size')\n"
        "assert getattr(p, 'multi_processor_count', None) is None\n"  # of 12.0 there are parts from 36 to 188
        "assert torch.cuda.get_arch_list() == []\n"
        "torch.cuda.mem_get_info()\n",
        chip="12.0",
    )
    assert [(row["what"].rpartition(".")[2], row["where"]["line"]) for row in found["unanswered"]] == [
        ("L2_cache_size", 3),
        ("multi_processor_count", 4),
        ("get_arch_list", 5),
        ("mem_get_info", 6),
    ]
    assert (found["exceptions"][0]["what"], found["product"]) == ("Unanswered", None)
    assert "name a product, such as RTX PRO 6000" in found["unanswered"][1]["reason"]


def test_kernels_are_written_down_and_not_launched() -> None:
    found = receipt(
        "import subprocess\n"
        "from triton.runtime.jit import JITFunction\n"
        "from cuda.bindings import driver\n"
        "def kernel(): ...\n"
        "JITFunction(kernel)[(3,)](None, 5, BLOCK=64)\n"
        "assert driver.cuLaunchKernel(1, 2) == (driver.CUresult.CUDA_SUCCESS,)\n"
        "try: subprocess.run(['nvcc', '-c', 'x.cu'])\n"
        "except RuntimeError: pass\n"
        "try: subprocess.run('cd . && ninja x', shell=True)\n"
        "except RuntimeError: pass\n"
        "subprocess.run(['echo', 'nvcc'], check=True)\n"
    )
    assert [(row["kind"], row["what"], row["arguments"], row["where"]["line"]) for row in found["launches"]] == [
        ("triton", "__main__.kernel", ["None", "5", "BLOCK=64"], 5),
        ("driver", "cuda.bindings.driver.cuLaunchKernel", ["1", "2"], 6),
        ("build", "nvcc", ["'-c'", "'x.cu'"], 7),
        ("build", "ninja", ["'.'", "'&&'", "'ninja'", "'x'"], 9),
    ]
    assert found["ended"]["code"] == 0


def test_the_driver_and_nvml_speak_of_the_same_chip() -> None:
    found = receipt(
        "from cuda.bindings.driver import CUdevice_attribute as A, cuDeviceGetAttribute as get, cuInit, cuMemAlloc\n"
        "cuInit(0)\n"
        "assert get(A.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) == (0, 1)\n"
        "import pynvml\n"
        "pynvml.nvmlInit()\n"
        "assert pynvml.nvmlDeviceGetCudaComputeCapability(pynvml.nvmlDeviceGetHandleByIndex(0)) == (12, 1)\n"
        "l2 = lambda: get(A.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 0)\n"
        "for ask in (l2, cuMemAlloc, pynvml.nvmlDeviceGetMemoryInfo):\n"
        "    try: ask()\n"
        "    except RuntimeError: continue\n"
        "    raise SystemExit(9)\n"
    )
    assert (found["ended"]["code"], len(found["unanswered"]), len(found["queries"])) == (0, 3, 2)


def test_children_and_other_pythons_are_simulated_too() -> None:
    found = receipt(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import torch; torch.cuda.get_device_capability()'], check=True)\n"
    )
    assert (len(found["processes"]), len(found["queries"])) == (2, 1)


_RECORDS = "next(f for f in pathlib.Path(os.environ['BWLINT_SIMULATION']).iterdir() if f.suffix == '.records')"
HOSTILE = {
    "leaves": ("os._exit(0)", 0, "os._exit"),
    "kills itself": ("os.kill(os.getpid(), 9)", None, "os._exit"),
    "writes into the records": (f"open({_RECORDS}, 'a').write('{{\"kind\": 1}}\\n[[[\\n')", 0, "2 lines"),
    "puts a pipe among the records": (f"os.mkfifo({_RECORDS}.with_name('0-1-2.records'))", 0, "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_whoever_ends_early_leaves_what_was_written(name: str) -> None:
    code, ended, missing = HOSTILE[name]
    found = receipt(f"import os, pathlib, torch\ntorch.cuda.get_device_capability()\n{code}\n")
    assert (found["ended"]["code"], len(found["queries"])) == (ended, 1)
    assert missing in found["missing"][0]


def test_a_fork_is_heard_and_one_that_takes_the_folder_away_goes_on() -> None:
    found = receipt(
        "import os, torch\nif os.fork() == 0:\n    torch.cuda.get_device_capability()\n    os._exit(0)\nos.wait()\n"
    )
    assert (len(found["queries"]), found["missing"], found["ended"]["code"]) == (1, [], 0)
    ended = invoke(
        "import os, shutil, torch\nshutil.rmtree(os.environ['BWLINT_SIMULATION'])\ntorch.cuda.is_available()\n"
    )
    assert (ended.exit_code, json.loads(ended.stdout)["ended"]["code"]) == (3, 0)


def test_a_program_that_becomes_another_is_followed() -> None:
    Path("other.py").write_text("import torch; torch.cuda.get_device_capability()")
    found = receipt("import os, sys, torch\nos.execv(sys.executable, [sys.executable, 'other.py'])\n")
    assert (found["ended"]["code"], len(found["queries"]), found["missing"]) == (0, 1, [])


def test_a_thread_that_is_left_behind_ends_with_the_time(tmp_path: Path) -> None:
    found = receipt(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()", "--time-limit=1"
    )
    assert (found["ended"]["code"], found["ended"]["trouble"]) == (None, "not done after 1 s")


def test_an_exception_of_a_thread_is_told() -> None:
    found = receipt(
        "import threading\ndef f(): raise KeyError('x')\nt = threading.Thread(target=f); t.start(); t.join()"
    )
    assert told(found["exceptions"], "message") == [("KeyError", "'x'", 2)]


def test_an_exception_is_told_where_a_library_has_a_hook_of_its_own() -> None:
    found = receipt("import sys\nsys.excepthook = lambda *_: None\nraise KeyError('x')\n")
    assert told(found["exceptions"], "message") == [("KeyError", "'x'", 3)]


def test_what_pytest_reports_is_told() -> None:
    Path("test_it.py").write_text(
        "import pytest, torch\n"
        "def test_a():\n"
        "    if torch.cuda.get_device_capability()[0] == 12: pytest.skip('not on SM12x')\n"
        "def test_b(): assert torch.cuda.get_device_capability() == (12, 0)\n"
    )
    arguments = ("confirm", "--simulate", "12.1", "--format=json", "--", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    found = json.loads(CliRunner().invoke(cli.app, [*arguments, "test_it.py"]).stdout)
    assert [(row["what"], row["where"]["line"]) for row in found["exceptions"]] == [
        ("Skipped", 3),
        ("AssertionError", 4),
    ]


def test_the_users_own_sitecustomize_stays(tmp_path: Path) -> None:
    (tmp_path / "libraries" / "sitecustomize.py").write_text("import builtins; builtins.mine = 1")
    assert receipt("assert mine == 1")["ended"]["code"] == 0


def test_the_table_for_people() -> None:
    Path("p.py").write_text("import torch\ntorch.cuda.get_device_capability()\ntorch.cuda.mem_get_info()\n")
    found = CliRunner().invoke(cli.app, ["confirm", "--simulate", "gb10", "--receipts", "r.json", "--", "p.py"])
    lines = found.stdout.splitlines()
    assert found.exit_code == 1
    assert lines[:3] == [
        "as on 12.1 (GB10): p.py",
        "asked",
        "  torch.cuda.get_device_capability = (12, 1)  p.py:2 <module>",
    ]
    assert "not answered" in lines and "raises" in lines
    assert json.loads(Path("r.json").read_text())["chip"] == "12.1"
    assert "1 question, 0 kernels, 1 exception, 1 gap; the program ended with 1" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--simulate", "12.1"), "takes the program to run"),
        (("--simulate", "12.1", "--yes", "--", "x.py"), "--yes does not go with --simulate"),
        (("--simulate", "12.1", "--selftest", "--", "x.py"), "--selftest does not go with --simulate"),
        (("--stand-in", "m", "x.py"), "--stand-in is for --simulate"),
        (("--simulate", "12.1", "--format", "sarif", "--", "x.py"), "the formats text and json"),
        (("--simulate", "12.1", "--", "none.py"), "no such script"),
        (("--simulate", "12.1", "--", "no-such-program"), "no such program"),
        (("--simulate", "12.1", "--", "-m"), "names no module"),
        (("--simulate", "12.1,12.0", "--", "x.py"), "one chip"),
        (("--simulate", "12.9", "--", "x.py"), "unknown target"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    found = CliRunner().invoke(cli.app, ["confirm", *arguments])
    assert (found.exit_code, words in found.stderr) == (2, True)


def test_what_is_no_python_is_said_to_be_none() -> None:
    found = CliRunner().invoke(cli.app, ["confirm", "--simulate", "12.1", "--", "true"])
    assert found.exit_code == 3
    assert "no Python was simulated" in found.stdout


def test_every_chip_can_be_simulated() -> None:
    for chip in all_chips():
        facts = simulated(chip.name).facts()
        assert (facts["major"], facts["minor"]) == (chip.major, chip.minor)
        assert None not in facts.values()
    with pytest.raises(UsageError):
        simulated("")


def test_a_product_is_not_guessed() -> None:
    assert [str(simulated(text).product and simulated(text).name) for text in ("9.0", "H200", "spark", "8.9")] == [
        "None",
        "9.0 (H200)",
        "12.1 (GB10)",
        "None",
    ]
    assert "multiprocessors" not in simulated("9.0").facts()
    assert simulated("H200").facts()["multiprocessors"] == 132


def test_the_environment_goes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "12.1")
    kept = os.environ["PYTHONPATH"]
    found = receipt(
        f"import os\nassert os.environ['TORCH_CUDA_ARCH_LIST'] == '12.1'\nassert {kept!r} in os.environ['PYTHONPATH']"
    )
    assert found["ended"]["code"] == 0
