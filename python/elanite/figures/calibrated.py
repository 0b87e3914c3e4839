"""Figures of a calibration: measured values against simulated ones, and the residuals.

Each series and metric has two charts. The first has the measured values with their 95% intervals, and as lines the
values that were simulated on the machine before and after the calibration. The second has the residuals after the
calibration, in standard errors of the measured values: if the machine explains the values, most are within two.

Every mark is one line of the file of measured values, every curve one configuration without the parameter of the axis.
Beyond ``MOST`` curves there are several charts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.colours import PALETTE
from elanite.figures.style import RULE, Figure, colour, layered, size_axis
from elanite.frames import SUFFIX, varying
from elanite.text import heading, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.calibration import Calibration, Place

MOST = len(PALETTE)
"""Most curves of a chart."""

NORMAL = 1.96
"""Standard errors on either side of a 95% interval."""


def draw(found: Calibration) -> Iterator[Figure]:
    """Two figures for each series and metric, in the order of the file of measured values."""
    groups: dict[tuple[str, str, str], list[Place]] = {}
    for place in found.places:
        groups.setdefault((place.about["experiment"], place.about["series"], place.metric), []).append(place)
    for (experiment, series, metric), places in groups.items():
        yield from _group(experiment, series, metric, places)


def _group(experiment: str, series: str, metric: str, places: Sequence[Place]) -> Iterator[Figure]:
    without = ("id", "seed", "experiment", "series")
    about = [{k: v for k, v in each.about.items() if k not in without} | {"job": each.job} for each in places]
    frame = pl.DataFrame(about, infer_schema_length=None, strict=False)
    names = varying(frame)
    numeric = {name: column for name in names if (column := _numeric(frame, name))}
    main = max(numeric, key=lambda name: frame[name].n_unique(), default=None)
    rest = [name for name in names if name != main]
    label = pl.concat_str([pl.col(name).map_elements(plain, pl.String) for name in rest], separator=" / ")
    data = frame.with_columns(
        (label if rest else pl.lit(metric.replace("_", " "))).alias("_curve"),
        pl.Series("_measured", [each.measured for each in places]),
        pl.Series("_before", [each.before for each in places]),
        pl.Series("_after", [each.after for each in places]),
        pl.Series("_low", [each.measured - NORMAL * each.sigma for each in places]),
        pl.Series("_high", [each.measured + NORMAL * each.sigma for each in places]),
        pl.Series("_residual", [(each.after - each.measured) / each.sigma for each in places]),
    )
    curves = data["_curve"].unique(maintain_order=True).to_list()
    parts = [curves[start : start + MOST] for start in range(0, len(curves), MOST)] if main else [curves]
    for number, part in enumerate(parts, 1):
        here = data.filter(pl.col("_curve").is_in(part))
        title = f"{series}: {metric.replace('_', ' ')}" + (f" ({number} of {len(parts)})" if len(parts) > 1 else "")
        name = f"{experiment}-{series}-{metric}-{number}"
        chart = _Chart(here, names, rest, numeric.get(main or ""), main, part, heading(metric, places[0].unit))
        words = (
            "Points: measured, with 95% intervals; lines: simulated with the result; dashes: on the machine as it was."
        )
        yield Figure(name, title, "", words, chart.values(title))
        words = "Simulated with the result less measured, in standard errors of the measured values; the band is ±2."
        yield Figure(f"{name}-residuals", f"{title}, residuals", "", words, chart.residuals(f"{title}, residuals"))


class _Chart:
    """The layers over one axis."""

    def __init__(
        self,
        data: pl.DataFrame,
        names: Sequence[str],
        rest: Sequence[str],
        column: str | None,
        main: str | None,
        curves: Sequence[str],
        unit: str,
    ) -> None:
        self.data = data
        self.unit = unit
        self.lines = main is not None
        self.x = alt.X("_curve:N", title=" / ".join(rest), sort=None, axis=alt.Axis(labelAngle=-30, labelLimit=200))
        if main is not None and column is not None:
            self.x = _axis(main, column, sorted(set(data[column].to_list())))
        self.colour = colour("_curve", curves, " / ".join(rest)) if self.lines and len(curves) > 1 else None
        self.tooltip = [alt.Tooltip(_field(name), title=name) for name in names] + [
            alt.Tooltip(f"_{what}:Q", title=what, format=".4~g") for what in ("measured", "before", "after", "residual")
        ]

    def values(self, title: str) -> alt.LayerChart:
        """Measured and simulated values."""
        ends = [value for name in ("_low", "_high", "_before", "_after") for value in self.data[name].to_list()]
        many = min(ends) > 0 and max(ends) > 10 * min(ends)
        scale = alt.Scale(type="log") if many else alt.Scale(zero=False, padding=8)

        def y(name: str) -> alt.Y:
            return alt.Y(f"{name}:Q", title=self.unit, scale=scale)

        base = self._base()
        if self.lines:
            simulated = [
                base.mark_line(strokeDash=[4, 4], opacity=0.6).encode(y=y("_before")),
                base.mark_line().encode(y=y("_after")),
            ]
        else:
            simulated = [
                base.mark_tick(orient="horizontal", thickness=2, size=24, color=RULE).encode(y=y("_before")),
                base.mark_tick(orient="horizontal", thickness=2, size=24).encode(y=y("_after")),
            ]
        bars = base.mark_rule().encode(y=y("_low"), y2=alt.Y2("_high"))
        points = base.mark_point(filled=True, size=50, opacity=1).encode(y=y("_measured"), tooltip=self.tooltip)
        return layered(title, [*simulated, bars, points])

    def residuals(self, title: str) -> alt.LayerChart:
        """Differences in standard errors."""
        far = max(3.0, *(abs(value) for value in self.data["_residual"].to_list()))
        y = alt.Y("_residual:Q", title="residual, standard errors", scale=alt.Scale(domain=[-far, far]))
        band = alt.Chart(pl.DataFrame({"low": [-2.0], "high": [2.0]})).mark_rect(opacity=0.12, color=RULE)
        zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=RULE).encode(y=alt.Y("zero:Q"))
        points = self._base().mark_point(filled=True, size=50, opacity=1).encode(y=y, tooltip=self.tooltip)
        layers = [band.encode(y=alt.Y("low:Q"), y2=alt.Y2("high")), zero, points]
        return layered(title, layers, height=180)

    def _base(self) -> alt.Chart:
        base = alt.Chart(self.data).encode(x=self.x)
        return base.encode(color=self.colour) if self.colour else base


def _axis(name: str, column: str, values: Sequence[float]) -> alt.X:
    """The axis of a parameter: of sizes in powers of two, and logarithmic where a parameter spans so much."""
    unit = next((unit for unit, suffix in SUFFIX.items() if column == name + suffix), "")
    title = heading(name.replace("_", " "), unit)
    wide = values[0] > 0 and values[-1] > 50 * values[0]
    if unit == "B":
        title = name.replace("_", " ")
        if values[0] > 0 and values[-1] > 2 * values[0]:
            return size_axis(_field(column), title, values)
        return alt.X(f"{_field(name)}:N", title=title, sort=None, axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(type="log") if wide else alt.Scale(zero=False, padding=8)
    return alt.X(f"{_field(column)}:Q", title=title, scale=scale)


def _field(name: str) -> str:
    """A column as Vega reads it: a dot would be a step into an object, and varied keys have dots."""
    return name.replace(".", "\\.")


def _numeric(rows: pl.DataFrame, name: str) -> str | None:
    """The column with the numbers of a parameter; None if it has none."""
    if rows.schema[name].is_numeric():
        return name
    twins = (name + suffix for suffix in SUFFIX.values())
    return next((twin for twin in twins if twin in rows.columns), None)
