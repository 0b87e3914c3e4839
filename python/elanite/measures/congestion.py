"""Measures of congestion matrices (petrini2003 s5.4)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from elanite import congestion
from elanite.measures.numbers import Finding

if TYPE_CHECKING:
    from elanite.claims import Claim

EVEN = 0.1
"""Sums of delays that differ from their mean by at most this fraction are even (petrini2003 s5.4 gives no figure)."""

UNEVEN = 0.1
"""Destinations that differ by more than this fraction of their mean are uneven (petrini2003 s5.4 gives no figure)."""

CLOSE = 0.05
"""Delays that differ from the published ones by at most this fraction are as published."""


def even_and_growing(rows: pl.DataFrame, claim: Claim) -> Finding:
    """Delays that are even over the switches of a level and grow with every step of the path to the destination.

    The claim gives the delays of the first steps, and of the last one.
    """
    switches = rows.group_by("id", "level", "from").agg(pl.col("waiting_us").sum())
    switches = switches.with_columns(
        off=(pl.col("waiting_us") / pl.col("waiting_us").mean().over("id", "level") - 1).abs()
    )
    (off,) = switches.select(pl.col("off").max()).row(0)
    path = congestion.path(rows).to_dicts()
    growing = all(before["mean"] < after["mean"] for before, after in pairwise(path))
    *first, last = claim.figures
    expected = dict(enumerate(first)) | {len(path) - 1: last}
    close = all(abs(path[step]["mean"] / value - 1) <= CLOSE for step, value in expected.items())
    words = []
    for index, step in enumerate(path):
        said = f"{'up' if step['up'] else 'down'} from level {step['level']} {step['mean']:.1f}"
        if index in expected:
            said += f" ({step['mean'] / expected[index] - 1:+.0%} of {expected[index]:g})"
        words.append(f"{said}, single links {step['least']:.1f} to {step['most']:.1f}")
    text = f"mean delay of a link {'; '.join(words)}; the switches of a level within {off:.1%} of their mean"
    return Finding(off <= EVEN and growing and close and path[-1]["most"] == 100, text)


def hot_links(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Some links at the first level of switches are hot, not all of them, and destinations are served unevenly."""
    packets = pl.col("packets")
    down = (pl.col("level") == 2) & ~pl.col("up")
    hot = rows.top_k(-(-len(rows) // 10), by="waiting_us")
    at_first = hot.filter(down | (pl.col("level") == 1))
    into_first = sorted(rows.filter(down)["waiting_us"].to_list())
    half = len(into_first) // 2
    ratio = sum(into_first[-half:]) / sum(into_first[:half])
    served = rows.filter((pl.col("level") == 1) & ~pl.col("up") & (packets > 0))
    least, most = served.select(packets.min() / packets.mean(), most=packets.max() / packets.mean()).row(0)
    text = (
        f"{len(at_first)} of the {len(hot)} most loaded links are at the first level; of the links down to it the more"
        f" loaded half has {ratio:.1f} times the delays of the other; destinations get {least:.2f} to {most:.2f} of the"
        " mean"
    )
    return Finding(len(at_first) == len(hot) and ratio >= 2 and most - least > UNEVEN, text)
