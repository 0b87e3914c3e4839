"""Mistakes planted in the silent limit code, each found by one of its tests."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

import test_limits as tests
from elanite.inputs import warmup
from elanite.study import limits
from test_result_mistakes import with_mistake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from conftest import Ended

Check = Any
"""A limit test, which takes a command line and a folder."""


def early(elanite: Callable[..., Ended], tmp_path: Path) -> None:
    """Windows that begin before the arrivals are stationary."""
    for case in (
        ("exponential", 246, 410, 0.55),
        ("uniform", 819, 410, -0.26),
        ("exponential", 819, 410, 0.0),
    ):
        tests.test_a_window_before_the_arrivals_are_stationary_is_told(elanite, tmp_path, *case)


def named(_: Callable[..., Ended], tmp_path: Path) -> None:
    tests.test_a_limit_names_the_changes_with_which_the_machine_has_it(tmp_path)


@pytest.mark.parametrize(
    ("module", "old", "new", "check"),
    [
        pytest.param(
            limits,
            "len({limit.message for limit, _ in limits}) - 1",
            "len(limits) - len(limits)",
            tests.test_a_run_warns_once_of_its_machine,
            id="other machines uncounted",
        ),
        pytest.param(
            limits,
            "with_it = [changes for limit, changes in limits if limit.message == first.message]",
            "with_it = [changes for _, changes in limits]",
            named,
            id="subject of all machines",
        ),
        pytest.param(
            limits,
            "common = [change for change in with_it[0] if all(change in changes for changes in"
            " with_it)]",
            "common = with_it[0]",
            named,
            id="changes that do not matter",
        ),
        pytest.param(
            limits,
            "worst = max(starts, key=lambda one: abs(one[1].excess))",
            "worst = min(starts, key=lambda one: abs(one[1].excess))",
            early,
            id="least early point",
        ),
        pytest.param(
            limits,
            "if abs(worst.excess) <= warmup.MOST:",
            "if worst.excess <= warmup.MOST:",
            early,
            id="lower load is no limit",
        ),
        pytest.param(
            limits, '"more" if worst.excess > 0 else "less"', '"more"', early, id="always more"
        ),
        pytest.param(
            limits,
            "needed = max((start for _, start in starts), key=lambda start:"
            " start.needed_us).needed_us",
            "needed = min((start for _, start in starts), key=lambda start:"
            " start.needed_us).needed_us",
            tests.test_the_remedy_for_a_short_warm_up_is_enough,
            id="remedy for the highest load",
        ),
        pytest.param(
            warmup,
            'job.get("processes", 1) * stated(job["message"])',
            'stated(job["message"])',
            early,
            id="load of a node from each process",
        ),
        pytest.param(
            warmup,
            "return last * (1.0 + time) - last * last / 2",
            "return time",
            early,
            id="stationary from the start",
        ),
        pytest.param(
            warmup,
            "math.ceil(time_us / digit - 1e-9)",
            "math.floor(time_us / digit)",
            tests.test_the_remedy_for_a_short_warm_up_is_enough,
            id="remedy rounded down",
        ),
        pytest.param(
            limits,
            "        if not keys:\n            repeated[series]",
            "        if False:\n            repeated[series]",
            tests.test_values_that_make_the_same_points_are_told,
            id="repeated values unnamed",
        ),
        pytest.param(
            limits,
            "for name, value in point.parameters.items() if name != key}",
            "for name, value in point.parameters.items()}",
            tests.test_a_sweep_of_a_key_without_effect_is_told,
            id="points differ in the key itself",
        ),
        pytest.param(
            limits,
            "if same.get(key) != several}",
            "if same.get(key) == several}",
            tests.test_a_sweep_of_a_key_without_effect_is_told,
            id="same points as equal results",
        ),
        pytest.param(
            limits,
            'for name in ("kind", "subject", "key", "value", "message")}',
            'for name in ("kind", "subject", "key", "message")} | {"value": ""}',
            tests.test_check_prints_warnings_and_errors_as_data,
            id="data without values",
        ),
    ],
)
def test_a_planted_mistake_is_found(
    module: ModuleType,
    old: str,
    new: str,
    check: Check,
    elanite_here: Callable[..., Ended],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = with_mistake(module, old, new, tmp_path)
    for name, value in vars(wrong).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            monkeypatch.setattr(module, name, value)
    with pytest.raises(AssertionError):
        check(elanite_here, tmp_path)


@pytest.mark.parametrize(
    "check",
    [
        early,
        named,
        tests.test_a_run_warns_once_of_its_machine,
        tests.test_the_remedy_for_a_short_warm_up_is_enough,
        tests.test_values_that_make_the_same_points_are_told,
        tests.test_a_sweep_of_a_key_without_effect_is_told,
        tests.test_check_prints_warnings_and_errors_as_data,
    ],
)
def test_the_checks_hold_without_a_mistake(
    check: Check, elanite_here: Callable[..., Ended], tmp_path: Path
) -> None:
    check(elanite_here, tmp_path)
