"""What a use leads to: definitions through imports and facades, and the proofs at the end of the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.model.expr import Span
from bwlint.model.facts import Use
from bwlint.world.builds import Builds
from bwlint.world.collect import load
from bwlint.world.definitions import Definitions
from bwlint.world.libraries import Libraries
from bwlint.world.native import Native
from bwlint.world.outlines import Outlines
from bwlint.world.proofs import Graph
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

FILES = {
    "pyproject.toml": "",
    "kit/__init__.py": "from .facade import *\nfrom .deep import run as go\n",
    "kit/facade.py": "from .dense import DenseGemm, Runner\n",
    "kit/dense.py": (
        "from cutlass.cute.nvgpu import tcgen05\n"
        "class DenseGemm:\n    def __init__(self):\n        self.op = tcgen05.MmaOp()\n"
        "class Base:\n    def build(self):\n        return DenseGemm()\n"
        "class Runner(Base):\n    def again(self):\n        return self.build()\n"
        "class Holder:\n    def __init__(self):\n        self.inner = Runner()\n"
        "    def call(self):\n        return self.inner.again()\n"
        "class Module(Module):\n    pass\n"
        "class Net(elsewhere.Net, Runner):\n    pass\n"
    ),
    "kit/deep.py": "from kit import DenseGemm\ndef run(x):\n    return DenseGemm()(x)\n",
    "kit/choice.py": (
        "import torch\nfrom .deep import run\n"
        "def by_chip(x):\n    if torch.cuda.get_device_capability()[0] == 10:\n        return run(x)\n    return x\n"
        "def by_error(x):\n    if torch.cuda.get_device_capability()[0] != 9:\n        raise OSError\n    return x\n"
        "def fallback(x):\n    if torch.cuda.get_device_capability()[0] == 12:\n        return x\n    return run(x)\n"
        "def backend(x):\n    return x(backend='trtllm-gen')\n"
        "def names(x):\n    return isinstance(x, BlackwellMXScaleLayout)\n"
        "def makes(x):\n    return x(BlackwellMXScaleLayout())\n"
    ),
    "kit/circle.py": "def a():\n    b()\ndef b():\n    a()\nfrom .circle import c as c\n",
    "kit/chain.py": "from .deep import run\n"
    + "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(9))
    + "def f9():\n    run(0)\n",
    "user.py": (
        "import torch\nimport kit\nfrom kit import DenseGemm, Runner, go\n"
        "from kit.dense import Holder\n"
        "from kit.choice import by_chip, by_error, fallback, backend\nfrom kit.circle import a, c\n"
        "from kit.chain import f0, f6\nDEVICE = torch.cuda.get_device_capability()\n"
        "def local():\n    return go(1)\n"
    ),
}
TCGEN05 = ChipSet.of("10.0", "10.1", "10.3", "10.7", "11.0")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def halves(tree: Tree) -> tuple[Definitions, Graph]:
    native = Native(tree, Builds(()), Refusals(tree))
    definitions = Definitions(tree, Outlines(tree), Libraries(), native)
    return definitions, Graph({"python": definitions, "cuda": native})


def reached(project: Path, name: str) -> tuple[str | None, list[tuple[str, ChipSet]]]:
    """The definition that a call in user.py leads to, and the kinds of its proofs with the chips they are against."""
    tree = Tree(Sources(), load)
    user = load(str(project / "user.py"), "user")
    assert user is not None
    tree.give(user.path, user.name, str(project), lambda: user)
    definitions, graph = halves(tree)
    place = definitions.definition(user, Use(name, "call", Span(9, 0, 9, 1)))
    if place is None:
        return None, []
    return place.definition.qualname, [(proof.kind, proof.against) for proof in graph.proofs(place)]


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("kit.DenseGemm", "DenseGemm"),
        ("kit.Runner", "Runner"),
        ("kit.Runner.build", "Base.build"),
        ("kit.go", "run"),
        ("kit.dense.Holder", "Holder"),
        ("local", "local"),
        ("kit.choice.by_chip", "by_chip"),
        ("kit.missing", None),
        ("kit.Runner.missing", None),
        ("kit.dense.Module.missing", None),
        ("kit.dense.Net.missing", None),
        ("kit.dense.Net.again", "Runner.again"),
        ("kit.go.attribute", None),
        ("kit.circle.c", None),
        ("torch.cuda.synchronize", None),
        ("print", None),
        ("unknown", None),
    ],
)
def test_definitions(project: Path, name: str, definition: str | None) -> None:
    assert reached(project, name)[0] == definition


@pytest.mark.parametrize(
    ("name", "proofs"),
    [
        ("kit.DenseGemm", [("operation", ~TCGEN05)]),
        ("kit.go", [("operation", ~TCGEN05)]),
        ("kit.Runner.again", [("operation", ~TCGEN05)]),
        ("kit.dense.Holder.call", [("operation", ~TCGEN05)]),
        ("local", [("operation", ~TCGEN05)]),
        ("kit.choice.by_error", [("gate", ~ChipSet.of("9.0"))]),
        ("kit.choice.fallback", [("operation", ~TCGEN05 - ChipSet.of("12.0", "12.1"))]),
        ("kit.choice.backend", [("library", ~ChipSet.of("10.0", "10.3", "10.7"))]),
        ("kit.choice.makes", [("library", ~ChipSet.of("10.0", "10.3", "10.7"))]),
        ("kit.choice.names", []),
        ("kit.chain.f6", [("operation", ~TCGEN05)]),
        ("kit.choice.by_chip", []),
        ("kit.chain.f5", [("operation", ~TCGEN05)]),
        ("kit.chain.f0", [("operation", ~TCGEN05)]),
        ("kit.circle.a", []),
    ],
)
def test_proofs(project: Path, name: str, proofs: list[tuple[str, ChipSet]]) -> None:
    assert reached(project, name)[1] == proofs


def test_a_path_has_a_place_and_a_sentence_for_every_step(project: Path) -> None:
    tree = Tree(Sources(), load)
    user = load(str(project / "user.py"), "user")
    assert user is not None
    tree.give(user.path, user.name, str(project), lambda: user)
    definitions, graph = halves(tree)
    place = definitions.definition(user, Use("kit.go", "call", Span(9, 0, 9, 1)))
    assert place is not None
    (proof,) = graph.proofs(place)
    assert [(Path(hop.path).name, hop.text) for hop in proof.hops] == [
        ("deep.py", "`run` uses `kit.DenseGemm`"),
        ("dense.py", f"`tcgen05.MmaOp` works on {TCGEN05}"),
    ]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (["kit/pyproject.toml"], False),  # a checkout that is called like the package in it: nothing lies beside it
        (["kit/pyproject.toml", "kit/__init__.py"], True),
        (["kit/kernels/__init__.py"], True),
    ],
)
def test_a_file_is_part_of_the_package_that_it_imports_from(tmp_path: Path, marks: list[str], expected: bool) -> None:
    for mark in marks:
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).touch()
    tree = Tree(Sources(), lambda path, dotted: None)
    tree.expect(str(tmp_path / "kit/examples/run.py"), "kit.kernels")
    assert tree.expected == ([str(tmp_path)] if expected else [])
