"""Mutants behind switches: the planted changes, equal results without a switch, and the survivor
ledger.
"""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from mutants.__main__ import FILES, LEDGER, MODULES, PACKAGE, TESTS, accepted
from mutants.planting import planted, source_of, switch

SOURCE = """
LIMIT = 1 < 2

def kind(one: int, two: int = 3) -> str:
    if one < two and two:
        return "less"
    return max("equal", "even") if one == two else "more"

def evens(values):
    if not values:
        raise ValueError(f"{1 + 1} is no list")
    return [value * 2 for value in values if value % 2 == 0]

PICK = {"low": lambda number: number.low}
"""
CHANGES = {
    "kind: one < two and two -> not (one < two and two)",
    "kind: one < two and two -> one < two or two",
    "kind: one < two -> one <= two",
    "kind: one < two -> one >= two",
    (
        "kind: max('equal', 'even') if one == two else 'more' -> 'more' if one == two else"
        " max('equal', 'even')"
    ),
    "kind: max('equal', 'even') -> min('equal', 'even')",
    "kind: one == two -> one != two",
    "evens: not values -> values",
    "evens: value * 2 -> value / 2",
    "evens: 2 -> 3",
    "evens: value % 2 == 0 -> True",
    "evens: value % 2 == 0 -> value % 2 != 0",
    "evens: value % 2 -> value * 2",
    "evens: 2 -> 3 (2)",
    "evens: 0 -> 1",
    "<module>: number.low -> number.high",
}


def test_each_mutant_changes_one_expression() -> None:
    tree, mutants = planted(SOURCE, "example")
    assert {one.name.removeprefix("example: ") for one in mutants} == CHANGES
    here: dict[str, Any] = {}
    exec(compile(tree, "example", "exec"), here)  # type: ignore[arg-type]  # noqa: S102
    on = switch()

    def results() -> tuple[object, ...]:
        return (
            here["kind"](1, 2),
            here["kind"](2, 2),
            here["kind"](3, 2),
            here["kind"](0, 0),
            here["evens"]([2, 3, 6]),
        )

    assert results() == ("less", "even", "more", "even", [4, 12])
    unlike = set()
    for number, mutant in enumerate(mutants):
        on.on = number
        try:
            if results() != ("less", "even", "more", "even", [4, 12]):
                unlike.add(mutant.name.removeprefix("example: "))
        except ValueError:
            unlike.add(mutant.name.removeprefix("example: "))
        finally:
            on.on = -1
    assert CHANGES - unlike == {"<module>: number.low -> number.high"}


@pytest.mark.parametrize("module", MODULES)
def test_all_judging_modules_can_have_mutants(module: str) -> None:
    file = source_of(PACKAGE, module)
    tree, mutants = planted(file.read_text(encoding="utf-8"), module)
    compile(tree, str(file), "exec")  # type: ignore[arg-type]
    assert len(mutants) > 1
    assert len({one.name for one in mutants}) == len(mutants)


def test_the_ledger_names_mutants_that_there_are() -> None:
    names = set()
    for module in MODULES:
        names |= {
            one.name
            for one in planted(source_of(PACKAGE, module).read_text(encoding="utf-8"), module)[1]
        }
    listed = [
        name for entry in tomllib.loads(LEDGER.read_text())["accepted"] for name in entry["mutants"]
    ]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= names
    assert all(reason.strip() for reason in accepted().values())


def test_the_tests_of_the_trial_exist() -> None:
    assert [name for name in FILES if not (TESTS / f"{name}.py").exists()] == []
