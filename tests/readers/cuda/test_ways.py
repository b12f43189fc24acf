"""Names of C++ that hold lambdas and objects."""

from __future__ import annotations

import pytest

from bwlint.readers.cuda.ways import held


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Runner r; r.run(x);", ("Runner", ())),
        ("Runner<90, half> r{}; r.run(x);", ("Runner", ("90", "half"))),
        ("auto r = std::make_unique<Runner>(x); r->run(x);", ("Runner", ())),
        ("auto r = Runner{x}; r.run(x);", ("Runner", ())),
        ("auto* r = new Runner(x); r->run(x);", ("Runner", ())),
        ("Runner{}.run(x);", ("Runner", ())),
        ("void f(const Runner& r) { r.run(x); }", ("Runner", ())),
        ("return r; r.run(x);", None),
        ("run(x);", None),
        ("unknown.run(x);", None),
    ],
)
def test_the_class_of_what_has_a_member(text: str, owner: tuple[str, tuple[str, ...]] | None) -> None:
    assert held(text).owner(text.rindex("run(")) == owner


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Runner run; run(x);", ("Runner", ())),
        ("Runner<90, half> run{}; run(x);", ("Runner", ("90", "half"))),
        ("auto run = Runner{x}; run(x);", ("Runner", ())),
        ("void run(int x); run(x);", None),
        ("return run(x);", None),
        ("auto run = choose(); other(); run;", None),
        ("struct Row { Runner run; }; void f(Row row) { row.run(x); }", None),
    ],
)
def test_the_class_of_what_is_called(text: str, owner: tuple[str, tuple[str, ...]] | None) -> None:
    assert held(text).called("run", text.rindex("run")) == owner


def test_the_body_of_a_lambda_is_found_below_it_alone() -> None:
    text = "go(); auto go = [&](int n) { launch(n); }; go(1);"
    assert held(text).body("go", 0) is None
    body = held(text).body("go", text.rindex("go("))
    assert body is not None
    assert text[slice(*body)].strip() == "launch(n);"
