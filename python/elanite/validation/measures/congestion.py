"""Measures for congestion matrices (petrini2003 s5.4)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from elanite.results import congestion
from elanite.results.numbers import Finding, all_hold, at_least, number

if TYPE_CHECKING:
    from collections.abc import Sequence

EVEN = 0.1
"""Delay sums that differ from their mean by at most this fraction are even (petrini2003 s5.4 gives
no figure).
"""

UNEVEN = 0.1
"""Destinations that differ by more than this fraction of their mean are uneven (petrini2003 s5.4
gives no figure).
"""

HOT = 2.0
"""Half the links are hot if they have this many times the delays of the others (s5.4 gives no
figure).
"""

CLOSE = 0.05
"""Delays that differ from the published ones by at most this fraction are as published."""


def even_and_growing(rows: pl.DataFrame, figures: Sequence[float]) -> Finding:
    """Delays that are even over a level's switches and grow with every step on the path to the
    destination.

    ``figures`` are the delays with which packets enter the first switches, and the destination.
    """
    switches = (
        rows.drop_nulls("enters")
        .group_by("id", "enters_level", "enters", maintain_order=True)
        .agg(pl.col("delay_us").sum())
    )
    mean = pl.col("delay_us").mean().over("id", "enters_level")
    (off,) = switches.select((pl.col("delay_us") / mean - 1).abs().max()).row(0)
    path = congestion.path(rows).to_dicts()
    growing = all(before["mean_delay"] < after["mean_delay"] for before, after in pairwise(path))
    *first, last = figures
    expected = dict(enumerate(first)) | {len(path) - 1: last}
    close = all(
        abs(path[step]["mean_delay"] / value - 1) <= CLOSE for step, value in expected.items()
    )
    words = []
    for index, step in enumerate(path):
        said = f"{step['way']} {step['mean_delay']:.1f}"
        if index in expected:
            said += f" ({step['mean_delay'] / expected[index] - 1:+.0%} of {expected[index]:g})"
        words.append(f"{said}, single links {step['least_delay']:.1f} to {step['most_delay']:.1f}")
    text = (
        f"mean delay on coming in by a link {'; '.join(words)}; the switches of a level within"
        f" {off:.1%} of their mean"
    )
    return Finding(off <= EVEN and growing and close and path[-1]["most_delay"] == 100, text)


def hot_links(rows: pl.DataFrame, figures: Sequence[float]) -> Finding:  # noqa: ARG001
    """Some but not all links at the first switch level are hot, and destinations are served
    unevenly.
    """
    packets = pl.col("packets")
    apart, elsewhere, ratios, shares = True, 0, [], []
    for _, links in rows.group_by("id", maintain_order=True):
        hot = links.top_k(-(-len(links) // 10), by="delay_us")
        elsewhere += len(hot.filter(pl.col("link_level") > 1))
        into_first = sorted(
            links.filter((pl.col("link_level") == 1) & ~pl.col("up"))["delay_us"].to_list()
        )
        half = len(into_first) // 2
        ratios.append(sum(into_first[-half:]) / sum(into_first[:half]))
        served = links.filter((pl.col("link_level") == 0) & ~pl.col("up") & (packets > 0))
        least, most = served.select(
            packets.min() / packets.mean(), most=packets.max() / packets.mean()
        ).row(0)
        shares += [least, most]
        apart = apart and most - least > UNEVEN
    ratio = number(ratios)
    above = f"{elsewhere} at higher levels" if elsewhere else "all at the first level"
    text = (
        f"the most loaded tenth of the links: {above}; of the links down to it the more loaded half"
        f" has {ratio.text} times the delays of the other; destinations get {min(shares):.2f} to"
        f" {max(shares):.2f} of the mean"
    )
    return Finding(all_hold([elsewhere == 0, at_least(ratio, HOT), apart]), text, (ratio,))
