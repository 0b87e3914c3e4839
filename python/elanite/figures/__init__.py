"""Figures: an experiment's Vega-Lite charts, drawn from its finished points alone.

An experiment file requests figures (``[[figure]]``, see ``figure_requests``); a file without one
gets a plain figure for each series and metric. A figure carries its number in the paper, with marks
for published values. ``matrices`` draws the congestion matrices for all points with time slices.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

import polars as pl

from elanite.errors import UsageError
from elanite.figures import (
    ablations,
    collectives,
    comparison,
    deadlock,
    default_figures,
    figure_requests,
    hotspot,
    io,
    io_interference,
    multirail_beyond,
    multirail_static,
    noise,
    origin,
)
from elanite.figures.congestion import matrices
from elanite.figures.style import Figure
from elanite.inputs import sources
from elanite.results import frames
from elanite.validation import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from elanite.inputs.contents import FigureSection
    from elanite.inputs.plan import Plan
    from elanite.store import Store, Table

__all__ = ["DRAWINGS", "OWN", "Figure", "charts", "draw", "drawn", "matrices", "unique"]

DRAWINGS: dict[str, Callable[[FigureSection, pl.DataFrame], Iterator[Figure]]] = {
    "curves": figure_requests.figures_over,
    "bars": figure_requests.figures_over,
    "loads": figure_requests.loads,
}
"""The general figure kinds, which draw any rows."""

OWN: dict[str, tuple[Table, Callable[[pl.DataFrame], Iterator[Figure]]]] = {
    "nodes": ("nodes", hotspot.of_nodes),
    "io-table": ("rows", io.draw),
    "kept": ("rows", io_interference.draw),
    "ablations": ("rows", ablations.draw),
    "machines": ("rows", comparison.draw),
    "policies": ("rows", multirail_beyond.draw),
    "distribution": ("distribution", collectives.distributions),
    "histogram": ("distribution", noise.draw),
    "noise": ("rows", noise.scaling),
    "deadlocks": ("rows", deadlock.draw),
    "cycles": ("deadlock", deadlock.cycles),
    "allocation": ("rows", multirail_static.draw),
    "matrices": ("allocation", multirail_static.matrices),
}
"""The special figure kinds, each with the store's table that it draws; they leave out parts without
data.
"""


SHIPPED_MARKS = (
    "Hollow marks with dashed outlines, and dash-dotted lines, are shipped results of the"
    " whole run, with its longer windows, not simulated in this one."
)
"""The caption for figures with shipped reference results."""


def draw(wanted: FigureSection, rows: pl.DataFrame) -> list[Figure]:
    """The figures for one ``[[figure]]``, from its table's rows; empty without rows."""
    if rows.is_empty():
        return []
    if wanted["draw"] in DRAWINGS:
        return list(DRAWINGS[wanted["draw"]](wanted, rows))
    _, kind = OWN[wanted["draw"]]
    found = []
    for texts, here in figure_requests.panels(wanted, rows):
        try:
            found += [(here, figure) for figure in _titled(texts, list(kind(here)))]
        except (
            pl.exceptions.PolarsError
        ) as error:  # a column that only experiments of this kind have
            words = str(error).splitlines()[0]
            raise UsageError(
                f"the figure `{wanted['name']}` cannot be drawn with draw = `{wanted['draw']}`:"
                f" {words}\n  write draw = curves, bars or loads"
            ) from None
    return [figure if origin.owned(here) else replace(figure, paper="") for here, figure in found]


def drawn(plan: Plan, store: Store, beside: pl.DataFrame | None = None) -> list[Figure]:
    """All figures for an experiment from its finished points; for an unfinished one, those that can
    be drawn.

    ``beside`` are rows from the shipped reference results (see ``reference``), which figures draw
    with dashed outlines.
    """
    found = charts(plan, store, beside)
    congested = matrices(
        frames.finished(plan, store), store, plan.figures, origin.foreign_machines(plan)
    )
    return list(unique(found + congested))


def charts(plan: Plan, store: Store, beside: pl.DataFrame | None = None) -> list[Figure]:
    """An experiment's figures without the congestion matrices; arguments as for ``drawn``."""
    points = frames.finished(plan, store)
    if not points:
        return []
    rows = frames.tidy(points, store)
    if beside is not None:
        rows = reference.completed(rows, beside)
    rows = origin.marked(rows, plan)
    tables: dict[Table, pl.DataFrame] = {"rows": rows}
    # A special kind's figures have their numbers in the papers in the shipped experiments alone.
    shipped = sources.read_shipped("experiment", plan.experiment.name)
    own = shipped is None or shipped.text != plan.experiment.text
    found: list[Figure] = []
    for wanted in plan.figures:
        if wanted["draw"] == "congestion":
            continue
        table = OWN[wanted["draw"]][0] if wanted["draw"] in OWN else "rows"
        if table not in tables:
            tables[table] = origin.marked(frames.tidy(points, store, table), plan)
        try:
            made = draw(wanted, tables[table])
            if own and wanted["draw"] in OWN and not wanted["paper"]:
                made = [replace(one, paper="") for one in made]
            found += made
        except UsageError:
            if len(points) == len(plan.points):
                raise
            # The parameter that the figure asks for may belong to points that are still to come.
    if plan.general or not plan.figures:
        found += list(
            default_figures.draw(tables["rows"], {point.series: point.kind for point in points})
        )
    if beside is not None:
        found = [
            replace(one, caption=f"{one.caption} {SHIPPED_MARKS}") if one.shipped else one
            for one in found
        ]
    return list(unique(found))


def unique(found: Iterable[Figure]) -> Iterator[Figure]:
    """The figures with distinct names: a page finds a figure's data by its name."""
    taken: set[str] = set()
    for figure in found:
        others = (f"{figure.name}-{number}" for number in count(2))
        name = next(name for name in chain([figure.name], others) if name not in taken)
        taken.add(name)
        yield figure if name == figure.name else replace(figure, name=name)


def _titled(wanted: FigureSection, found: list[Figure]) -> list[Figure]:
    """The drawn figures with the file's texts; if a kind draws several figures, these keep their
    own texts.
    """
    if len(found) != 1:
        return found
    (one,) = found
    title = wanted["title"] or one.title
    caption = " ".join(text for text in (wanted["caption"], one.caption) if text)
    chart = one.chart.properties(title=title)
    return [
        replace(
            one,
            chart=chart,
            name=wanted["name"],
            title=title,
            paper=wanted["paper"],
            caption=caption,
        )
    ]
