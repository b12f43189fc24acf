"""Which fixes go together into one pass."""

from __future__ import annotations

import pytest

from bwlint.model.findings import Finding, Fix, Proof, Region
from bwlint.repair.changes import TextChange
from bwlint.repair.plan import PassPlan, Quit, Wish, connected, plan


def wish(name: str, *changes: tuple[str, int, int, str]) -> Wish:
    proof = Proof((), (), (), (), "")
    fix = Fix("safe", "family", name, (), proof)
    region = Region(1, 1, 1, 1)
    finding = Finding(
        rule="BW1",
        name="rule",
        category="other",
        severity="warning",
        confidence="high",
        path="m.py",
        region=region,
        message=name,
        fix=fix,
        fingerprint=name,
    )
    return Wish(finding, tuple((real, TextChange(start, end, text)) for real, start, end, text in changes))


ONE = wish("one", ("/a", 0, 2, "x"))
IMPORT = ("/a", 50, 50, "import x\n")


@pytest.mark.parametrize(
    ("wishes", "chosen"),
    [
        ([ONE, wish("two", ("/a", 5, 6, "y"))], ["one", "two"]),
        ([ONE, wish("two", ("/a", 1, 6, "y"))], ["one"]),
        ([ONE, wish("two", ("/b", 1, 6, "y"))], ["one", "two"]),
        # all of a fix or nothing of it
        ([ONE, wish("two", ("/b", 1, 6, "y"), ("/a", 1, 6, "y"))], ["one"]),
        (
            [ONE, wish("two", ("/b", 1, 6, "y"), ("/a", 1, 6, "y")), wish("three", ("/b", 2, 3, ""))],
            ["one", "three"],
        ),
        # the same change is made once
        ([wish("one", ("/a", 0, 2, "x"), IMPORT), wish("two", ("/a", 5, 6, "y"), IMPORT)], ["one", "two"]),
        ([wish("one", IMPORT), wish("two", ("/a", 50, 50, "import y\n"))], ["one"]),
        ([], []),
    ],
)
def test_plan(wishes: list[Wish], chosen: list[str]) -> None:
    assert names(plan(wishes, frozenset(), lambda wish: wish).chosen) == chosen


def names(wishes: list[Wish]) -> list[str]:
    return [wish.finding.message for wish in wishes]


def test_the_changes_of_a_file_come_in_order_and_once() -> None:
    made = plan(
        [wish("one", ("/a", 9, 9, "x"), IMPORT), wish("two", ("/a", 5, 6, "y"), IMPORT)], frozenset(), lambda wish: wish
    )
    assert made.changes() == {"/a": [TextChange(5, 6, "y"), TextChange(9, 9, "x"), TextChange(50, 50, "import x\n")]}


def test_one_fix_at_a_time() -> None:
    wishes = [ONE, wish("two", ("/a", 5, 6, "y")), wish("three", ("/b", 5, 6, "y"))]
    made = plan(wishes, frozenset({"/a"}), lambda wish: wish)
    assert names(made.chosen) == ["one", "three"]


def test_who_is_asked() -> None:
    asked: list[str] = []

    def decide(wish: Wish) -> Wish | Quit | None:
        asked.append(wish.finding.message)
        return {"one": None, "two": wish, "three": wish}.get(wish.finding.message, Quit())

    wishes = [ONE, wish("two", ("/a", 1, 4, "y")), wish("three", ("/a", 1, 6, "y")), wish("four", ("/a", 7, 8, "y"))]
    made = plan([*wishes, wish("five", ("/b", 0, 1, ""))], frozenset(), decide)
    assert asked == ["one", "two", "four"], "what has to wait is asked about when its turn comes"
    assert names(made.chosen) == ["two"]


def test_connected() -> None:
    first, second = (
        wish("first", ("/a", 0, 1, ""), ("/b", 0, 1, "")),
        wish("second", ("/b", 3, 4, ""), ("/c", 0, 1, "")),
    )
    third = wish("third", ("/d", 0, 1, ""))
    assert names(list(connected([second, third, first], ["/a"]))) == ["first", "second"]
    assert list(connected([first], [])) == []
    assert PassPlan().changes() == {}
