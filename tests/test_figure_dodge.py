"""Intervals at one place on an axis: each is visible, and belongs to its place."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from itertools import combinations
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import altair as alt
import polars as pl
import pytest
import vl_convert

from drawings import layers
from elanite.figures import Figure, default_figures, dodge, figure_requests
from elanite.figures.style import SHAPES
from test_figure_grouping import base

Row = dict[str, Any]

SEEDS = range(24)

PLACES: dict[str, list[Any]] = {
    "load": [40, 80, 120, 160, 240, 320],
    "message": [64, 1024, 4096, 65536, 2**20],
    "pattern": ["uniform", "tornado", "shift 1", "neighbor"],
}


def case(seed: int) -> tuple[str, pl.DataFrame]:
    """Curves over loads, sizes or names, with three values at each place, many with overlapping
    intervals.
    """
    draw = Random(seed)
    axis = draw.choice(list(PLACES))
    places = PLACES[axis][: draw.randint(2, len(PLACES[axis]))]
    curves = [f"machine-{number}" for number in range(draw.randint(2, 7))]
    twins = {"load": "load_MBps", "message": "message_bytes"}
    texts = {"load": "{} MB/s", "message": "{} B", "pattern": "{}"}
    rows = [
        {
            "series": "s",
            "job": None,
            "seed": 1,
            "on": curve,
            axis: texts[axis].format(place),
            **({twins[axis]: place} if axis in twins else {}),
            "metric": "accepted",
            "unit": "MB/s",
            "batch": batch,
            "value": mean + noise * half,
        }
        for curve in curves
        for place in places
        for mean, half in [
            (draw.choice([100.0, 104.0, 150.0, 300.0]), draw.choice([0.0, 1.0, 8.0]))
        ]
        for batch, noise in enumerate((-1.0, 0.0, 1.0))
    ]
    return axis, pl.DataFrame(rows)


def drawn(seed: int) -> list[Figure]:
    axis, rows = case(seed)
    if seed % 2:
        return list(default_figures.draw(rows, {"s": "jobs"}))
    column = {"load": "load_MBps", "message": "message_bytes"}.get(axis, axis)
    wanted = base() | {
        "x": column,
        "curve": ["{on}"],
        "x_scale": "sizes" if axis == "message" else "linear",
    }
    return list(figure_requests.figures_over(wanted, rows))


def data(figure: Figure) -> list[Row]:
    """The marks' rows, with their places on the axis."""
    (bars,) = {id(one["rows"]): one for one in layers(figure) if "y2" in one["encoding"]}.values()
    field = bars["encoding"]["x"]["field"]
    return [{**row, "_at": row[field]} for row in bars["rows"]]


def overlap(one: Row, other: Row) -> bool:
    wide = one["high"] > one["low"] or other["high"] > other["low"]
    return bool(wide and one["low"] <= other["high"] and other["low"] <= one["high"])


def on_narrow_page(value: Any, places: list[Any]) -> float:
    """A place's pixel on a narrow axis; names are in the middles of equal parts."""
    if isinstance(value, str):
        return dodge.NARROW * (places.index(value) + 0.5) / len(places)
    scaled = math.log if places[0] == PLACES["message"][0] else float
    first, last, at = (scaled(one) for one in (min(places), max(places), value))
    return dodge.NARROW * (at - first) / (last - first)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_interval_is_visible_and_nearest_to_its_place(seed: int) -> None:
    for figure in drawn(seed):
        rows = data(figure)
        places = list(dict.fromkeys(row["_at"] for row in rows))
        at: dict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            at[row["_at"]].append(row)
        hidden = [
            (one, other)
            for here in at.values()
            for one, other in combinations(here, 2)
            if overlap(one, other)
        ]
        apart = [abs(one[dodge.SHIFT] - other[dodge.SHIFT]) for one, other in hidden]
        assert all(distance >= dodge.LEAST for distance in apart)
        assert (
            bool(hidden)
            == any(row[dodge.SHIFT] for row in rows)
            == (dodge.SIDE_BY_SIDE in figure.caption)
        )
        here = [on_narrow_page(place, places) for place in places]
        for row in rows:
            pixel = on_narrow_page(row["_at"], places)
            nearest = min(here, key=lambda place: abs(place - (pixel + row[dodge.SHIFT])))
            assert nearest == pytest.approx(pixel), "a mark belongs to its place"


TRANSLATE = re.compile(r"translate\(([-\d.]+),")


def pixels(figure: Figure, role: str) -> set[int]:
    """The horizontal pixels of a kind's drawn marks, rounded."""
    svg = vl_convert.vegalite_to_svg(json.dumps(figure.spec()))
    found = set()
    for group in ET.fromstring(svg).iter():  # noqa: S314 - a picture of our own
        if f"{role} role-mark" in group.get("class", ""):
            found |= {round(float(TRANSLATE.findall(one.get("transform", ""))[0])) for one in group}
    return found


def test_bars_and_marks_are_moved_alike() -> None:
    figure = next(
        one for seed in SEEDS for one in drawn(seed) if any(row[dodge.SHIFT] for row in data(one))
    )
    bars, marks = (pixels(figure, role) for role in ("mark-rule", "mark-symbol"))
    assert bars == marks
    assert len(bars) > len({row["_at"] for row in data(figure)})


def test_nothing_moves_without_intervals() -> None:
    _, rows = case(1)
    single = rows.filter(pl.col("batch") == 0)
    for figure in default_figures.draw(single, {"s": "jobs"}):
        assert all("xOffset" not in str(layer["mark"]) for layer in layers(figure))
        assert dodge.SIDE_BY_SIDE not in figure.caption


@pytest.mark.parametrize(("values", "beside"), [((1.0, 1.0), True), ((1.0, 9.0), False)])
def test_marks_of_names_hide_no_others(values: tuple[float, float], beside: bool) -> None:
    """No line shows which curve a hidden mark belongs to."""
    rows = [
        {"series": "s", "job": job, "seed": 1, "case": case, "metric": "slowdown", "unit": ""}
        | {"batch": None, "value": value}
        for case in ("packed", "spread")
        for job, value in zip("ab", values, strict=True)
    ]
    (figure,) = default_figures.draw(
        pl.DataFrame(rows, schema_overrides={"batch": pl.UInt32}), {"s": "traces"}
    )
    places = pixels(figure, "mark-symbol")
    assert len(places) == (4 if beside else 2)
    assert (dodge.SIDE_BY_SIDE in figure.caption) == beside


def test_every_mark_has_an_area() -> None:
    """Filled marks have no outline: a line would be invisible, and its value missing."""
    for shape in SHAPES:
        chart = (
            alt.Chart(pl.DataFrame({"x": [1.0]}))
            .mark_point(shape=shape, filled=True)
            .encode(x="x:Q")
        )
        svg = vl_convert.vegalite_to_svg(chart.to_json())
        (path,) = (
            one.get("d", "")
            for group in ET.fromstring(svg).iter()  # noqa: S314 - a picture of our own
            if "mark-symbol role-mark" in group.get("class", "")
            for one in group
        )
        numbers = [abs(float(number)) for number in re.findall(r"-?[\d.]+", path)]
        assert "A" in path or sum(number > 1 for number in numbers) > 3, (shape, path)
