from __future__ import annotations

import pytest
import torch


def _sm() -> int:
    if not torch.cuda.is_available():
        return 0
    major, minor = torch.cuda.get_device_capability()
    return 10 * major + minor


_MINIMUM = {"ada": 89, "sm100": 100}


def pytest_configure(config):
    for name, sm in _MINIMUM.items():
        config.addinivalue_line("markers", f"{name}: runs on sm_{sm}")


@pytest.fixture(autouse=True)
def _respect_markers(request):
    sm = _sm()
    for name, least in _MINIMUM.items():
        if request.node.get_closest_marker(name) and sm < least:
            pytest.skip(f"marked {name}, this GPU is sm_{sm}")


@pytest.fixture
def seeded():
    torch.manual_seed(1234)
    yield torch.Generator(device="cuda").manual_seed(1234)
