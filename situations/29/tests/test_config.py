import pytest

from moe.config import MoeConfig
from moe.dispatch import resolve
from moe.runners import run_loop


def test_loop_by_environment(monkeypatch):
    monkeypatch.setenv("MOE_RUNNER", "loop")
    cfg = MoeConfig(num_experts=4, top_k=2, hidden=256, inner=512)
    assert cfg.runner == "loop"
    assert resolve(cfg.runner) is run_loop


@pytest.mark.parametrize("hidden", [100, 129])
def test_sizes(hidden):
    with pytest.raises(ValueError):
        MoeConfig(num_experts=4, top_k=2, hidden=hidden, inner=512, runner="loop")


def test_unknown_runner():
    with pytest.raises(ValueError):
        MoeConfig(num_experts=4, top_k=2, hidden=128, inner=128, runner="fast")
