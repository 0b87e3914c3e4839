"""``--compute-scale``: computation times, multiplied by factors per rank and per region.

A trace holds the computation times of the processors that recorded it. A factor of 0.5 replays it
on processors twice as fast; a factor for some ranks makes these the stragglers, and one for a
region is that of a faster or slower loop. Messages and their order stay. In a trace with regions,
computations without one stay, too: sleeps, waits for files, and unsuccessful polls, which no
processor makes shorter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from typing import TYPE_CHECKING

from elanite.base.text import counted
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANK = re.compile(r"(\d+)(?:-(\d+))?")
_RANKS = re.compile(r"\s*\d+(-\d+)?\s*(,\s*\d+(-\d+)?\s*)*")
_NAMED = 5
"""How many regions an error names."""


@dataclass(frozen=True)
class Factors:
    """The factors on a trace's computation times; all are empty if the times hold."""

    classes: tuple[tuple[float, ...], ...] = ()
    """For each class of ranks: the factor on computations without a region, then that of each
    region.
    """
    ranks: tuple[int, ...] = ()
    """Each rank's class."""
    by_rank: tuple[float, ...] = ()
    """Each rank's factor, but for the regions with their own ones."""
    regions: tuple[str, ...] = ()
    """The names of the regions with their own factors."""

    @property
    def span(self) -> list[float]:
        """The least and the largest factor."""
        every = [factor for each in self.classes for factor in each[1:] or each]
        return [min(every), max(every)] if every else []


def factors(scales: Sequence[str], ranks: int, regions: Sequence[str] = ()) -> Factors:
    """The factors of ``0.5`` for all, ``0-3,8=2`` for these ranks, ``REGION=2`` for these regions
    and ``0-3:REGION=2``.

    A region is a name or a pattern (``*MPI_Allreduce*``); later texts win. Raises ``UsageError``.
    """
    if not scales:
        return Factors()
    rows = [[1.0] * (len(regions) + 1) for _ in range(ranks)]
    by_rank = [1.0] * ranks
    own: dict[str, None] = {}
    for text in scales:
        chosen, given, number = text.rpartition("=")
        factor = _factor(text, number)
        of_ranks, named = (
            _chosen(text, chosen, ranks, regions) if given else (list(range(ranks)), None)
        )
        every = range(1, len(regions) + 1) if regions else range(1)
        for rank in of_ranks:
            for place in every if named is None else named:
                rows[rank][place] = factor
            if named is None:
                by_rank[rank] = factor
        own.update(dict.fromkeys(regions[place - 1] for place in named or ()))
    classes: dict[tuple[float, ...], int] = {}
    found = [classes.setdefault(tuple(row), len(classes)) for row in rows]
    return Factors(tuple(classes), tuple(found), tuple(by_rank), tuple(own))


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


def _chosen(
    text: str, chosen: str, ranks: int, regions: Sequence[str]
) -> tuple[list[int], list[int] | None]:
    """The ranks that a text names, and its regions from 1 on; ``None`` if it names ranks only."""
    if not regions or _RANKS.fullmatch(chosen):
        return _ranks(text, chosen, ranks, regions), None
    before, parted, pattern = chosen.partition(":")
    if parted and _RANKS.fullmatch(before):
        return _ranks(text, before, ranks, regions), _regions(text, pattern.strip(), regions)
    return list(range(ranks)), _regions(text, chosen.strip(), regions)


def _regions(text: str, pattern: str, regions: Sequence[str]) -> list[int]:
    if pattern in regions:
        return [regions.index(pattern) + 1]
    found = [place for place, name in enumerate(regions, 1) if fnmatchcase(name, pattern)]
    if not found:
        named = ", ".join(f"`{name}`" for name in regions[:_NAMED])
        more = f" and {len(regions) - _NAMED} more" if len(regions) > _NAMED else ""
        raise UsageError(
            f"--compute-scale: `{text}`: `{pattern}` is neither ranks nor a region; the trace has"
            f" {counted(len(regions), 'region')}: {named}{more}; write a name, or a pattern such as"
            " '*MPI_Allreduce*=2'"
        )
    return found


def _ranks(text: str, chosen: str, ranks: int, regions: Sequence[str]) -> list[int]:
    found: list[int] = []
    for part in chosen.split(","):
        matched = _RANK.fullmatch(part.strip())
        if matched is None:
            lacks = "" if regions else "; the trace has no regions"
            raise UsageError(
                f"--compute-scale: `{text}`: `{part.strip()}` is not a rank or a range; write"
                f" '0-3,8=2'{lacks}"
            )
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if not first <= last < ranks:
            raise UsageError(f"--compute-scale: `{text}`: the trace has the ranks 0 to {ranks - 1}")
        found += range(first, last + 1)
    return found
