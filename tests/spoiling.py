"""Files that are spoilt at random, for the tests of what reads them.

``ELANITE_FUZZ_SEED`` and ``ELANITE_FUZZ_SECONDS`` choose the cases; ``make fuzz-inputs`` runs more. A test that fails
prints how to see its last case again.
"""

from __future__ import annotations

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
SECONDS = float(os.environ.get("ELANITE_FUZZ_SECONDS", "1.5"))
CASES = int(os.environ.get("ELANITE_FUZZ_CASES", "1000000"))
LEAST = 40
"""Cases of a test, however busy the host is."""

LAST: dict[str, str] = {}
"""How to repeat the last case of a test."""


def cases(name: str, least: int = LEAST) -> Iterator[random.Random]:
    """Random numbers for one case after the other, for a while; a test that fails prints the last case.

    However busy the host is, there are as many cases as a test needs to see both what is right and what is wrong.
    """
    end = time.monotonic() + SECONDS
    for seed in range(SEED, SEED + CASES):
        if time.monotonic() > end and seed >= SEED + least:
            return
        LAST[name] = f"ELANITE_FUZZ_SEED={seed} ELANITE_FUZZ_CASES=1 pytest tests -k {name}"
        yield random.Random(f"{name} {seed}")


@pytest.fixture(autouse=True)
def say_how_to_see_it_again() -> Iterator[None]:
    """Pytest shows what a test that fails has printed."""
    LAST.clear()
    yield
    for line in LAST.values():
        sys.stdout.write(f"to see it again: {line}\n")


def attempt(read: Callable[[], Any]) -> tuple[Any, str]:
    """What was read, or the words of its refusal."""
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
