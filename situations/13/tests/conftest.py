import pytest
import torch

_MARKS = {
    "umma": "needs tensor memory (10.x)",
    "blackwell": "needs a Blackwell GPU, any of them",
}


def pytest_configure(config):
    for name, text in _MARKS.items():
        config.addinivalue_line("markers", f"{name}: {text}")


def _major() -> int:
    return torch.cuda.get_device_capability()[0] if torch.cuda.is_available() else 0


_RUNS = {
    "umma": lambda major: major == 10,
    "blackwell": lambda major: major >= 10,
}


def pytest_collection_modifyitems(config, items):
    major = _major()
    for item in items:
        for name, runs in _RUNS.items():
            if item.get_closest_marker(name) and not runs(major):
                item.add_marker(pytest.mark.skip(reason=f"{_MARKS[name]}; this is {major}.x"))
