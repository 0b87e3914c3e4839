"""``--compute-scale``: the ranks' computation times, multiplied by factors.

A trace holds the computation times of the processors that recorded it. A factor of 0.5 replays it on processors twice
as fast; a factor for some ranks makes these the stragglers. Messages and their order stay.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANKS = re.compile(r"(\d+)(?:-(\d+))?")


def factors(scales: Sequence[str], ranks: int) -> list[float]:
    """The factor of each rank: ``0.5`` holds for all, ``0-3,8=2`` for these ranks; later texts win.

    An empty list if no text is given. Raises ``UsageError``.
    """
    found = [1.0] * ranks if scales else []
    for text in scales:
        chosen, _, number = text.rpartition("=")
        factor = _factor(text, number)
        for rank in _ranks(text, chosen, ranks) if "=" in text else range(ranks):
            found[rank] = factor
    return found


def _factor(text: str, number: str) -> float:
    try:
        factor = float(number)
    except ValueError:
        factor = -1.0
    if not isfinite(factor) or not 0 <= factor <= 1e6:
        raise UsageError(
            f"--compute-scale: `{text}`: `{number.strip()}` is not a factor from 0 to 1000000;"
            " write 0.5 for all ranks, or '0-3,8=2' for some"
        )
    return factor


def _ranks(text: str, chosen: str, ranks: int) -> list[int]:
    found: list[int] = []
    for part in chosen.split(","):
        matched = _RANKS.fullmatch(part.strip())
        if matched is None:
            raise UsageError(f"--compute-scale: `{text}`: `{part.strip()}` is not a rank or a range; write '0-3,8=2'")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if not first <= last < ranks:
            raise UsageError(f"--compute-scale: `{text}`: the trace has the ranks 0 to {ranks - 1}")
        found += range(first, last + 1)
    return found
