"""For which host a list is."""

from __future__ import annotations

import pytest

from bwlint.chips.hosts import host_of, of_condition, other, without_host
from bwlint.readers.buildfiles import read


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Dockerfile.x86_64", "x86_64"),
        ("linux/arm64", "aarch64"),
        ("ubuntu-22.04-arm64 on amd64", ""),
        ("cuda-12.8", ""),
    ],
)
def test_one_host_is_named(text: str, host: str) -> None:
    assert host_of(text) == host


def test_conditions_may_ask_for_the_other_one() -> None:
    assert of_condition('[ "$ARCH" = "x86_64" ]') == "x86_64"
    assert of_condition('[ "$ARCH" != "x86_64" ]') == "aarch64"
    assert of_condition("NOT CMAKE_SYSTEM_PROCESSOR MATCHES aarch64") == "x86_64"
    assert other("") == ""
    assert without_host("x86_64_archs") == without_host("aarch64_archs")


@pytest.mark.parametrize(
    ("path", "source", "hosts"),
    [
        ("a.sh", 'if [ "$M" = "x86_64" ]; then\nARCHS="80 120a"\nelse\nARCHS="90 120a"\nfi\n', ["x86_64", "aarch64"]),
        ("a.sh", 'case "$M" in\n x86_64)\n ARCHS="80 120a" ;;\n *)\n ARCHS="90 120a" ;;\nesac\n', ["x86_64", ""]),
        ("Dockerfile", 'FROM --platform=linux/arm64 cuda\nENV ARCHS="80 120a"\n', ["aarch64"]),
        ("Dockerfile.amd64", 'FROM cuda\nENV ARCHS="80 120a"\n', ["x86_64"]),
        ("a.cmake", "if(P MATCHES aarch64)\nset(ARCHS 80 120a)\nendif()\nset(ARCHS 80 120a)\n", ["aarch64", ""]),
    ],
)
def test_lists_have_their_hosts(path: str, source: str, hosts: list[str]) -> None:
    assert [carry.host for carry in read(path, source, "", False).carries] == hosts
