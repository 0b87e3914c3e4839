"""Randomly spoilt files, for the reader tests.

Each test has a fixed case count, seeds from 0 on: the same on every host, fast or busy.
``make fuzz-inputs`` runs more: ``ELANITE_FUZZ_SEED`` is the first seed, ``ELANITE_FUZZ_CASES`` the
case count, and ``ELANITE_FUZZ_SECONDS`` the time after which no case begins, instead of a count. A
failing test prints how to repeat its last case.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from elanite.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = int(os.environ.get("ELANITE_FUZZ_SEED", "0"))
SECONDS = os.environ.get("ELANITE_FUZZ_SECONDS")
CASES = os.environ.get("ELANITE_FUZZ_CASES")

LAST: dict[str, str] = {}
"""How to repeat a test's last case."""


def fuzzing() -> bool:
    """Whether the cases are not the usual ones: a few may not contain any correct input, or any
    wrong input.
    """
    return (SECONDS or CASES) is not None


def seeds(usual: int) -> Iterator[int]:
    """A test's seeds; it has this number of cases unless the environment chooses others."""
    if SECONDS is None or CASES is not None:
        yield from range(SEED, SEED + int(CASES or usual))
        return
    end = time.monotonic() + float(SECONDS)
    for seed in itertools.count(SEED):
        if time.monotonic() > end:
            return
        yield seed


def cases(name: str, usual: int) -> Iterator[random.Random]:
    """Random numbers for one case after the other; a test that fails prints the last case."""
    for seed in seeds(usual):
        LAST[name] = f"ELANITE_FUZZ_SEED={seed} ELANITE_FUZZ_CASES=1 pytest tests -k {name}"
        yield random.Random(f"{name} {seed}")


@pytest.fixture(autouse=True)
def say_how_to_see_it_again() -> Iterator[None]:
    """Pytest shows a failing test's output."""
    LAST.clear()
    yield
    for line in LAST.values():
        sys.stdout.write(f"to see it again: {line}\n")


def attempt(read: Callable[[], Any]) -> tuple[Any, str]:
    """The read result, or the refusal's words."""
    try:
        return read(), ""
    except (UsageError, RunError) as error:
        return None, str(error)


def spoil(data: bytes, draw: random.Random) -> bytes:
    """The bytes with a few changes."""
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(6):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + draw.randrange(1, 30) :]
            case 2:
                data = data[:at] + draw.randbytes(draw.randrange(1, 9)) + data[at:]
            case 3:
                data = data[:at] + data[max(0, at - 50) : at] + data[at:]
            case _ if at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
            case _:
                pass
    return data
