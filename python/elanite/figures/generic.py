"""Default figures of experiments without ``[[figure]]``, by their kinds of benchmarks.

Each kind names its metrics and the parameter of the horizontal axis (``_core.plots``). If this parameter does not vary,
or if the kind names none, the axis has the numeric parameter that varies most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite import _core
from elanite.figures.style import Figure, colour, layered, size_axis
from elanite.frames import SUFFIX, summarise, varying
from elanite.text import FEWEST, YES_OR_NO, heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CURVES = 7
"""If there are more curves than colours, all curves have one colour."""


def draw(rows: pl.DataFrame, kinds: Mapping[str, str] | None = None) -> Iterator[Figure]:
    """One figure per series and metric; ``kinds`` are those of the series."""
    plots = {kind: (over, metrics) for kind, over, metrics in _core.plots()}
    for series in rows["series"].unique(maintain_order=True).to_list():
        here = rows.filter(pl.col("series") == series)
        units = dict(here.select("metric", "unit").unique(maintain_order=True).iter_rows())
        over, metrics = plots.get((kinds or {}).get(series, ""), ("", list(units)))
        for metric in metrics:
            if metric in units:
                yield _metric(here.filter(pl.col("metric") == metric), (series, metric, units[metric]), over)


def _metric(rows: pl.DataFrame, words: tuple[str, str, str], over: str) -> Figure:
    series, metric, unit = words
    names = [name for name in varying(rows) if name != "series"]
    numeric = {name: column for name in names if (column := _numeric(rows, name))}
    main = max(numeric, key=lambda name: (name == over, rows[name].n_unique()), default=None)
    rest = [name for name in names if name != main]
    curve = pl.concat_str([pl.col(name).cast(pl.String) for name in rest], separator=" / ") if rest else pl.lit(metric)
    enough = pl.col("n") >= FEWEST if metric not in YES_OR_NO else pl.lit(False)
    data = summarise(rows).with_columns(
        curve=curve,
        low=pl.when(enough).then("low"),
        high=pl.when(enough).then("high"),
    )
    order = data["curve"].unique(maintain_order=True).to_list()
    title = f"{series}: {metric.replace('_', ' ')}"
    base = alt.Chart(data)
    if main is None:
        base = base.encode(x=alt.X("curve:N", title=" / ".join(rest)))
    else:
        column = numeric[main]
        base = base.encode(x=_horizontal(main, column, sorted(set(rows[column].to_list()))))
        if 1 < len(order) <= CURVES:
            base = base.encode(color=colour("curve", order, " / ".join(rest)))
        elif rest:
            base = base.encode(detail=alt.Detail("curve:N"))
    label = heading(metric.replace("_", " "), unit)
    sizes = main is not None and numeric[main] == main + SUFFIX["B"]
    many = sizes and unit == "us" and _many(data["mean"].to_list())
    scale = alt.Scale(type="log") if many else alt.Scale()
    y = alt.Y("mean:Q", title=label, scale=scale)
    tooltip = [*(alt.Tooltip(_field(name), title=name) for name in names), alt.Tooltip("mean:Q", title=metric)]
    layers = [base.mark_point(filled=True).encode(y=y, tooltip=tooltip)]
    if data["low"].count():
        # A layer without any interval would have an axis without ends.
        layers.insert(0, base.mark_errorbar().encode(y=alt.Y("low:Q", title=label, scale=scale), y2=alt.Y2("high:Q")))
    if main is not None:
        layers.insert(0, base.mark_line().encode(y=y))
    caption = f"Mean of {metric.replace('_', ' ')} over batches and seeds, with its 95% interval if there are three."
    return Figure(f"{series}-{metric}", title, "", caption, layered(title, layers))


def _horizontal(name: str, column: str, values: list[float]) -> alt.X:
    """The axis of a parameter: logarithmic, and for sizes in powers of two, if it spans so much."""
    size = column == name + SUFFIX["B"]
    spread = values[-1] > (2 if size else 50) * next((value for value in values if value), values[-1])
    if spread and values[0] <= 0:  # a logarithmic axis has no place for zero
        return alt.X(f"{_field(name)}:N", title=_axis(name, ""), sort=None, axis=alt.Axis(labelAngle=0))
    if size and values[0] > 0:
        return size_axis(_field(column), _axis(name, ""), values)
    scale = alt.Scale(type="log") if spread else alt.Scale()
    return alt.X(f"{_field(column)}:Q", title=_axis(name, column), scale=scale)


def _many(values: list[float]) -> bool:
    """Whether figures span so much that the small ones would lie on the axis."""
    return min(values) > 0 and max(values) > 10 * min(values)


def _field(name: str) -> str:
    """A column as Vega reads it: a dot would be a step into an object, and varied keys have dots."""
    return name.replace(".", "\\.")


def _axis(name: str, column: str) -> str:
    """The title of an axis: the parameter with the unit of its column."""
    unit = next((unit for unit, suffix in SUFFIX.items() if column == name + suffix), "")
    return heading(name.replace("_", " "), unit)


def _numeric(rows: pl.DataFrame, name: str) -> str | None:
    if rows.schema[name].is_numeric():
        return name
    twins = (name + suffix for suffix in SUFFIX.values())
    return next((twin for twin in twins if twin in rows.columns), None)
