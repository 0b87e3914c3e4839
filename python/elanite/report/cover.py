"""The report's cover: the model's fidelity in one picture.

Every claim about a number is a row: the simulated figure over the published one on a logarithmic
scale, with its 95% confidence interval, over the band in which the claim holds. Predictions and
fitted claims stand apart. Findings and orders have no such ratio: they are tiles. This module
computes the places in per cent of the picture's width, so that the page draws the picture without a
script, at any width.

A figure beyond the scale's ends stands at the end, with an arrow. Ranges are measured against their
middle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from elanite.base.text import percent
from elanite.validation.board import measured
from elanite.validation.cells import published
from elanite.validation.papers import OTHERS, chapter_of_claim, papers
from elanite.validation.tally import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.validation.verdict import Verdict

ENDS = (0.5, 2.0)
"""The scale's ends, simulated over published."""

MARKS = (0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
"""Where the scale has lines."""

NUMBERS = ("value", "max", "min", "range")
"""The claim kinds that state a number."""


@dataclass(frozen=True)
class ClaimBar:
    """A row in the picture; places are in per cent of its width."""

    verdict: Verdict
    at: float
    low: float
    high: float
    band: tuple[float, float]
    """Where the figure may be for the claim to hold."""
    beyond: str
    """An arrow if the figure is beyond an end of the scale."""

    @property
    def off(self) -> str:
        """The distance from the published figure in words."""
        return percent(self.verdict.error)


@dataclass(frozen=True)
class PaperGroup:
    """One paper's claims: those with a number, and those without."""

    name: str
    bars: tuple[ClaimBar, ...]
    tiles: tuple[Verdict, ...]


def place(ratio: float) -> float:
    """Where a ratio is on the scale, in per cent."""
    low, high = (math.log(end) for end in ENDS)
    return 100 * (math.log(min(max(ratio, ENDS[0]), ENDS[1])) - low) / (high - low)


def bar(verdict: Verdict) -> ClaimBar | None:
    """The row for a claim about a number; `None` for other claims, and without figures to
    compare.
    """
    claim, simulated = verdict.claim, verdict.simulated
    if claim.kind not in NUMBERS or not isinstance(simulated, int | float):
        return None
    reference = sum(claim.bounds) / 2 if claim.kind == "range" else claim.value or 0.0
    if reference <= 0:
        return None
    ends = (
        simulated if verdict.low is None else verdict.low,
        simulated if verdict.high is None else verdict.high,
    )
    ratio, low, high = (figure / reference for figure in (simulated, *ends))
    least, most = (bound / reference for bound in claim.bounds)
    beyond = "◂" if ratio < ENDS[0] else "▸" if ratio > ENDS[1] else ""
    return ClaimBar(
        verdict, place(ratio), place(low), place(high), (place(least), place(most)), beyond
    )


def groups(verdicts: Sequence[Verdict], lines: Sequence[str]) -> list[PaperGroup]:
    """The judged claims that some count lines have, by paper (``elanite.validation.tally``)."""
    found = []
    judged = [verdict for verdict in verdicts if verdict.judged and line_of(verdict) in lines]
    names = {key: paper.short for key, paper in papers().items() if paper.chapter} | {
        OTHERS: "Other publications"
    }
    for key, name in names.items():
        here = [verdict for verdict in judged if chapter_of_claim(verdict.claim) == key]
        rows = [(verdict, bar(verdict)) for verdict in here]
        bars = tuple(row for _, row in rows if row is not None)
        tiles = tuple(verdict for verdict, row in rows if row is None)
        if here:
            found.append(PaperGroup(name, bars, tiles))
    return found


def typical(verdicts: Sequence[Verdict], lines: Sequence[str]) -> float | None:
    """The median distance between some lines' simulated figures and the published ones, as a
    fraction.
    """
    values = [
        verdict
        for verdict in verdicts
        if verdict.claim.kind == "value" and line_of(verdict) in lines
    ]
    errors = [abs(verdict.error) for verdict in values if verdict.error is not None]
    return median(errors) if errors else None


def row_text(verdict: Verdict) -> str:
    """A row or a tile in one line, for pointers and screen readers."""
    words = (
        f"{verdict.claim.id}: {verdict.state}. {verdict.claim.says} Published:"
        f" {published(verdict.claim)}."
    )
    if isinstance(verdict.simulated, str):
        return words
    return f"{words} Simulated: {measured(verdict)} {percent(verdict.error)}".rstrip() + "."
