"""What C++ asks of a class or a template by name."""

from __future__ import annotations

import pytest

from bwlint.model.expr import Expr, Span
from bwlint.readers.cuda.instances import asked

AT = Span(1, 0, 1, 1)


def _name(name: str, at: Span) -> Expr:
    return Expr("name", (name,), at)


@pytest.mark.parametrize(
    ("name", "key", "arguments"),
    [
        ("Sm100::is_compatible", "Sm100::is_compatible", []),
        ("arch::Range<100, 120>::contains", "Range::contains", [100, 120]),
        ("matches<Exact<100>, Family<120>>", "matches<>", ["Exact<100>", "Family<120>"]),
        ("ns::matches<kSm>", "matches<>", ["kSm"]),
        ("Traits<Sm90>::value", "Traits::value", ["Sm90"]),
    ],
)
def test_keys_and_arguments(name: str, key: str, arguments: list[object]) -> None:
    found = asked(name, AT, _name)
    assert found is not None
    assert (found[0], [one.args[0] for one in found[1]]) == (key, arguments)


@pytest.mark.parametrize("name", ["plain", "std::move", "at::cuda::getCurrentDeviceProperties", "value"])
def test_what_is_no_question_of_a_template(name: str) -> None:
    assert asked(name, AT, _name) is None
