"""The mutant trial: a pytest plugin that, in place of the tests, runs for each mutant the tests
that reach it.

All runs are in one process: polars threads do not survive a fork. The tests run once without a
mutant, which shows the mutants that each reaches, and its time. Then each mutant is switched on,
until the first test fails; a mutant with which the tests take too long is found, too. Function
caches filled under a mutant are dropped after it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from _pytest.runner import runtestprotocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pytest

    from mutants.planting import Finder, Switch

LONGEST = 3.0
"""Processor seconds of a test that counts; and of a mutant's tests, beyond those without it."""
COMMANDS = {"elanite", "campaign"}
"""Fixtures of tests that run commands."""
PEOPLE = os.dup(2)
"""Standard error, which pytest keeps from the tests."""


@dataclass
class Trial:
    """The mutants, and their outcomes."""

    finder: Finder
    switch: Switch
    chosen: Callable[[str], bool]
    accepted: Collection[str]
    """The names of those that may survive."""
    killed: set[int] = field(default_factory=set)
    survived: dict[int, int] = field(default_factory=dict)
    """By mutant: how many tests reached it."""
    without: list[str] = field(default_factory=list)
    """Tests that do not count: they fail without a mutant, run commands, or are long."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all mutants."""
        signal.signal(signal.SIGPROF, _late)
        reach, spent = self.recorded(session.items)
        for number, mutant in enumerate(self.finder.mutants):
            if not self.chosen(mutant.module):
                continue
            tests = sorted(
                (place for place, found in reach.items() if number in found),
                key=lambda one: spent[one],
            )
            if self.found(
                number,
                [session.items[place] for place in tests],
                sum(spent[place] for place in tests),
            ):
                self.killed.add(number)
            else:
                self.survived[number] = len(tests)
                if mutant.name not in self.accepted:
                    say(f"survives {len(tests):3} tests, line {mutant.line:3}: {mutant.name}")
        return True

    def recorded(
        self, items: Sequence[pytest.Item]
    ) -> tuple[dict[int, set[int]], dict[int, float]]:
        """For each test that counts: the mutants that it reaches, and its processor time."""
        reach: dict[int, set[int]] = {}
        spent: dict[int, float] = {}
        for place, item in enumerate(items):
            if COMMANDS & set(getattr(item, "fixturenames", ())):
                self.without.append(item.nodeid)
                continue
            self.switch.reached, begun = set(), time.process_time()
            forget(
                dict.fromkeys(cached(), -1)
            )  # a test may reach a mutant by way of a cache that another one filled
            if fails([item], LONGEST):
                self.without.append(item.nodeid)
            else:
                reach[place], spent[place] = self.switch.reached, time.process_time() - begun
        say(
            f"{len(reach)} tests take {sum(spent.values()):.0f} s; {len(self.without)} do not count"
        )
        return reach, spent

    def found(self, number: int, items: Sequence[pytest.Item], usual: float) -> bool:
        """Whether a test fails with a mutant."""
        before = {one: one.cache_info().misses for one in cached()}  # type: ignore[attr-defined]
        self.switch.on = number
        try:
            return fails(items, usual + LONGEST)
        finally:
            self.switch.on = -1
            forget(before)


def fails(items: Sequence[pytest.Item], seconds: float) -> bool:
    """Run tests until one fails; more processor time than this is a failure, too."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return any(
            report.failed
            for item in items
            for report in runtestprotocol(item, log=False, nextitem=None)
        )
    except TimeoutError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def cached() -> Iterator[object]:
    """All functions in the package that keep their results."""
    for name, module in list(sys.modules.items()):
        if name.startswith("elanite."):
            yield from (one for one in vars(module).values() if hasattr(one, "cache_info"))


def forget(before: dict[object, int]) -> None:
    """Drop function results computed since then."""
    for one, misses in before.items():
        if one.cache_info().misses != misses:  # type: ignore[attr-defined]
            one.cache_clear()  # type: ignore[attr-defined]


def _late(_signal: int, _frame: object) -> None:
    raise TimeoutError("the tests of a mutant take too long")


def say(text: str) -> None:
    """One line for people."""
    os.write(PEOPLE, f"{text}\n".encode())
