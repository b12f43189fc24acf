"""The stand-ins that need more of a library than programs of the tests have: on objects with its parts."""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bwlint.confirm.simulate.inside import facts, hooks, library_answers, processes, torch_answers
from bwlint.confirm.simulate.program import simulated


@pytest.fixture(autouse=True)
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    """What is written down: kinds and what."""
    (tmp_path / "job.json").write_text(json.dumps({"facts": simulated("12.1").facts(), "stand_ins": ["mine._C"]}))
    monkeypatch.setenv(facts.FOLDER, str(tmp_path))
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(facts, "note", lambda kind, what, **_: found.append((kind, what)))
    facts._job.cache_clear()
    yield found
    facts._job.cache_clear()


class FakeTensor:
    """As much of a tensor as moving takes."""

    shape, dtype = (2, 3), "torch.float16"

    def __init__(self, device: Any = "cpu") -> None:
        self.on = device

    def as_subclass(self, kind: type) -> Any:
        return kind(self.on)

    def to(self, device: Any = None) -> FakeTensor:
        return FakeTensor(device)

    def cpu(self) -> FakeTensor:
        return FakeTensor("cpu")

    def cuda(self) -> FakeTensor:
        raise AssertionError("not compiled with CUDA")


class OnGpu(FakeTensor): ...


TORCH: Any = SimpleNamespace(
    Tensor=FakeTensor,
    device=type("FakeDevice", (), {}),
    _C=SimpleNamespace(DisableTorchFunctionSubclass=contextlib.nullcontext),
    zeros=lambda shape, dtype: FakeTensor(),
)


def empty(*_: int, device: Any = "cpu") -> FakeTensor:
    return FakeTensor(device)


def add(one: FakeTensor, _: Any) -> FakeTensor:
    return FakeTensor(one.on)


def same(one: FakeTensor) -> FakeTensor:
    return one


@pytest.mark.parametrize(
    ("func", "args", "kwargs", "kind", "lies_on"),
    [
        (empty, (2,), {"device": "cuda"}, OnGpu, "cpu"),
        (empty, (2,), {"device": "cuda:1"}, OnGpu, "cpu"),
        (empty, (2,), {"device": 0}, OnGpu, "cpu"),
        (empty, (2,), {"device": "cpu"}, FakeTensor, "cpu"),
        (empty, (2,), {"device": "meta"}, FakeTensor, "meta"),
        (empty, (2,), {}, FakeTensor, "cpu"),
        (FakeTensor.cuda, (FakeTensor(),), {}, OnGpu, "cpu"),
        (FakeTensor.to, (FakeTensor(), "cuda:0"), {}, OnGpu, "cpu"),
        (FakeTensor.to, (OnGpu(), "cpu"), {}, FakeTensor, "cpu"),
        (FakeTensor.cpu, (OnGpu(),), {}, FakeTensor, "cpu"),
        (add, (OnGpu(), 1), {}, OnGpu, "cpu"),
        (add, (FakeTensor(), OnGpu()), {}, OnGpu, "cpu"),
        (add, (FakeTensor(), 1), {}, FakeTensor, "cpu"),
    ],
)
def test_where_a_tensor_says_it_is(func: Any, args: Any, kwargs: Any, kind: type, lies_on: str) -> None:
    found = torch_answers._plainly(func, args, dict(kwargs), OnGpu, TORCH)
    assert (type(found), found.on) == (kind, lies_on)


def test_what_is_changed_in_place_stays_itself() -> None:
    one = OnGpu()
    assert torch_answers._plainly(same, (one,), {}, OnGpu, TORCH) is one


class Operation:
    """An overload; `fake` is what it does with tensors that are nowhere."""

    def __init__(self, returns: tuple[str, ...] = ("Tensor",), fake: Any = None) -> None:
        self._schema = SimpleNamespace(returns=returns)
        self._fake = fake

    def name(self) -> str:
        return "mine::op.default"

    def __call__(self, *args: Any) -> Any:
        if self._fake is None:
            raise NotImplementedError
        return self._fake(*args)


def operate(operation: Operation, given: dict[tuple[str, str], Any]) -> Any:
    return torch_answers._operation(operation, (OnGpu(),), {}, given, contextlib.nullcontext(), OnGpu, TORCH)


def test_an_operation_in_python_is_run(noted: list[tuple[str, str]]) -> None:
    assert operate(Operation(), {("mine::op", "CUDA"): lambda one: type(one)}) is OnGpu
    assert noted == []


def test_an_operation_without_a_kernel_is_a_launch(noted: list[tuple[str, str]]) -> None:
    assert operate(Operation(returns=()), {}) is None
    assert type(operate(Operation(fake=lambda one: one), {})) is OnGpu
    with pytest.raises(facts.Unanswered, match="what mine::op gives"):
        operate(Operation(), {})
    assert noted == [*[("launch", "mine::op")] * 3, ("unanswered", "what mine::op gives")]


def test_an_extension_is_neither_built_nor_guessed(noted: list[tuple[str, str]]) -> None:
    module: Any = SimpleNamespace()
    hooks.for_builds(module)
    built = module.load(name="ext", sources=["x.cu"])
    with pytest.raises(facts.Unanswered):
        built.forward(3)
    assert [kind for kind, _ in noted] == ["launch", "launch", "unanswered"]


def test_only_named_modules_are_taken_to_be_there() -> None:
    finder = hooks.NamedFinder()
    found = finder.find_spec("mine._C")
    assert found is not None and finder.find_spec("mine._D") is None
    assert isinstance(finder.create_module(found), hooks.UnbuiltExtension)


def test_a_library_that_lacks_cuda_stands_in_and_no_other(tmp_path: Path, noted: list[tuple[str, str]]) -> None:
    class Library:
        def __init__(self, name: Any) -> None:
            if name is not None:
                raise OSError(f"{name}: cannot open" if "plain" in str(name) else "libcublas.so.13: cannot open")

        def __getitem__(self, name: str) -> str:
            return name

    fake: Any = SimpleNamespace(CDLL=Library)
    hooks.for_ctypes(fake)
    for name in ("kernels.so", "plain.so"):
        (tmp_path / name).write_bytes(b"")
    call = Library(str(tmp_path / "kernels.so"))["launch"]
    assert (call(1), Library(None)["own"]) == (None, "own")  # type: ignore[operator]
    call.restype = ctypes.c_int  # type: ignore[attr-defined]
    with pytest.raises(facts.Unanswered):
        call(1)  # type: ignore[operator]
    for refused in ("plain.so", "absent.so"):
        with pytest.raises(OSError):
            Library(str(tmp_path / refused))
    assert noted[:2] == [("unanswered", "loading kernels.so"), ("launch", "kernels.so: launch")]


def test_cupy_and_numba_speak_of_the_chip(noted: list[tuple[str, str]]) -> None:
    cupy: Any = SimpleNamespace(cuda=SimpleNamespace(device=SimpleNamespace(), runtime=SimpleNamespace()))
    library_answers.for_cupy(cupy)
    cupy.RawKernel("source", "k")((1,), (32,), (5,))
    assert (cupy.cuda.Device().compute_capability, cupy.cuda.runtime.getDeviceCount()) == ("121", 1)
    numba: Any = SimpleNamespace(dispatcher=SimpleNamespace(CUDADispatcher=type("D", (), {"py_func": operate})))
    library_answers.for_numba(numba)
    numba.dispatcher.CUDADispatcher().call((1,), None)
    assert numba.get_current_device().compute_capability == (12, 1)
    assert numba.get_current_device().MULTIPROCESSOR_COUNT == 48
    with pytest.raises(AttributeError):
        numba.get_current_device().CLOCK_RATE  # noqa: B018
    assert [what.rpartition(".")[2] for kind, what in noted if kind == "launch"] == ["k", "operate"]


def test_kernels_of_cute_are_not_compiled(noted: list[tuple[str, str]]) -> None:
    cute: Any = SimpleNamespace()
    library_answers.for_cute(cute)
    cute.compile["--opt"](Operation(), 1)(2)
    assert [(kind, what.rpartition(".")[2]) for kind, what in noted] == [("launch", "Operation")] * 2


@pytest.mark.parametrize(
    ("event", "arguments", "refused"),
    [
        ("subprocess.Popen", ("nvcc", ["nvcc", "-c", "x.cu"], None, None), True),
        ("subprocess.Popen", ("/bin/sh", ["/bin/sh", "-c", "cd build && ninja"], None, None), True),
        ("subprocess.Popen", ("python", ["python", "-m", "ninja"], None, None), True),
        ("os.system", (b"/usr/local/cuda/bin/nvcc x.cu",), True),
        ("subprocess.Popen", ("nvidia-smi", ["nvidia-smi", "-L"], None, None), True),
        ("subprocess.Popen", ("nvcc", ["nvcc", "--version"], None, None), False),
        ("subprocess.Popen", ("which", ["which", "nvcc"], None, None), False),
        ("subprocess.Popen", ("gcc", ["gcc", "-c", "ninja.c"], None, None), False),
        ("open", ("nvcc", "r", 0), False),
    ],
)
def test_builds_are_refused_and_questions_are_not(event: str, arguments: Any, refused: bool) -> None:
    with pytest.raises(facts.Unanswered) if refused else contextlib.nullcontext():
        processes._heard(event, arguments)
