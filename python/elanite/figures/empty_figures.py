"""An experiment file's figures that stay empty although all points are finished, in sentences.

A figure is empty if it selects no rows, if its rows have no values for its metric, or if its rows
have no place on the axis; a special figure kind, if it finds no results that it knows (see
``figure_checks``). A figure for series that were left out of the run (``--series``) is not missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite import figures
from elanite.inputs import figure_checks
from elanite.inputs.sources import did_you_mean
from elanite.results import frames
from elanite.results.selection import chosen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from elanite.inputs.contents import FigureSection
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Store

ROWS = ("curves", "bars", "loads")
"""The figure kinds that draw a metric from any rows."""


def missing(plan: Plan, store: Store, drawn: Collection[str]) -> list[str]:
    """A sentence for each empty ``[[figure]]`` in ``plan``; ``drawn`` are the names of all
    figures.
    """
    points = frames.finished(plan, store)
    if len(points) < len(plan.points) or not points:
        return []
    there = {point.series for point in points}
    whole = there >= {name for name, _ in plan.titles}
    asked = [one for one in plan.figures if (there & {*one["series"]} if one["series"] else whole)]
    rows = frames.tidy(points, store) if asked else None
    found = []
    for one in asked:
        if one["draw"] in ROWS:
            reasons = [] if rows is None or _is_drawn(one, drawn) else list(_reasons(one, rows))
        else:
            reasons = list(_special(one, points, store))
        found += [f"the figure `{one['name']}` is empty: {reason}" for reason in reasons]
    return found


def _special(asked: FigureSection, points: Sequence[Point], store: Store) -> Iterator[str]:
    """The reason why a special figure kind stays empty; figures in such a kind have their own
    names.
    """
    kind = asked["draw"]
    if kind == "congestion":
        here = [point for point in points if not asked["series"] or point.series in asked["series"]]
        if not any(point.run["slices"] for point in here):
            yield "no point has slices of time; set run.slices"
    elif not figures.draw(asked, frames.tidy(points, store, figures.OWN[kind][0])):
        shipped = figure_checks.NEEDS[kind][-1] if kind in figure_checks.NEEDS else ""
        yield f"no results that draw = `{kind}` shows" + (
            f", which are those of {shipped}" if shipped else ""
        )


def _is_drawn(asked: FigureSection, drawn: Collection[str]) -> bool:
    fixed, column, _ = asked["name"].partition("{")
    if column:  # each panel has its own letter or value
        return any(one.startswith(fixed) for one in drawn)
    return any(one == fixed or one.startswith(f"{fixed}-") for one in drawn)


def _reasons(asked: FigureSection, rows: pl.DataFrame) -> Iterator[str]:
    """The first reason."""
    here = chosen(
        rows, {**({"series": asked["series"]} if asked["series"] else {}), **asked["where"]}
    )
    metric = asked["metric"] or "accepted"
    if here.is_empty():
        yield "its `series` and `where` select no rows"
        return
    have = here["metric"].unique(maintain_order=True).to_list()
    if metric not in have:
        yield (
            f"no row has the metric `{metric}`{did_you_mean(metric, have)}; the metrics are"
            f" {', '.join(have)}"
        )
        return
    if asked["steady"]:
        yield f"no point with the metric `{metric}` is steady"
        return
    x = f" at `{asked['x']}`" if asked["x"] else ""
    yield (
        f"no row of the metric `{metric}` has a place{x}; the parameters are"
        f" {', '.join(frames.parameters(here))}"
    )
