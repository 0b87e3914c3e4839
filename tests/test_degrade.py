"""Figures for experiments with faults: the closed form beside the simulation, and other synthetic
results.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import elanite as el
from conftest import Row, data, figures_of, frame
from elanite.inputs import sources
from elanite.inputs.plan import plan

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

SHORT = "faults.backoff=10 us, faults.timeout=8 us"

FAULTS = [name for name in sources.shipped("experiment") if name.startswith("faults/")]


@pytest.fixture(scope="module")
def goodput(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The closed form as shipped, and a shorter stream than is shipped."""
    out: Path = tmp_path_factory.mktemp("goodput")
    changes = [
        "series.published.run.window=5 ms",
        "series.short.run.window=100 ms",
        "series.published.run.seeds=1",
    ]
    return el.run(el.Experiment.load("faults/goodput", changes), out=out).frame()


def accepted(rows: pl.DataFrame, series: str, machine: str) -> dict[float, list[float]]:
    """Goodput by bit error rate."""
    found: dict[float, list[float]] = {}
    for row in rows.filter(metric="accepted", series=series, machine=machine).iter_rows(named=True):
        found.setdefault(row["fault.bit_error_rate"], []).append(row["value"])
    return found


def test_the_stream_has_the_goodput_of_the_closed_form(goodput: pl.DataFrame) -> None:
    """Within 4 standard errors over the batches, which are below 3% at all rates."""
    form, stream = accepted(goodput, "form", SHORT), accepted(goodput, "short", SHORT)
    assert sorted(stream) == [1e-9, 1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4]
    for rate, values in stream.items():
        (expected,) = form[rate]
        mean = sum(values) / len(values)
        error = (
            sum((value - mean) ** 2 for value in values) / (len(values) * (len(values) - 1))
        ) ** 0.5
        assert error < 0.03 * mean
        assert abs(mean - expected) < 4 * max(error, 1e-4 * mean), rate
    assert form[1e-4][0] < 0.2 * form[1e-9][0]
    metrics = goodput.group_by("series").agg("metric").rows()
    assert {series: "packets_resent" in found for series, found in metrics} == {
        **dict.fromkeys(["published", "short"], True),
        "form": False,  # no packet of the closed form's run meets an error
    }


def test_the_closed_form_is_dashed_over_decades(goodput: pl.DataFrame) -> None:
    (figure,) = figures_of("faults/goodput", goodput)
    marks = [layer for layer in figure.spec()["layer"] if "strokeDash" in layer["mark"]]
    assert len(marks) == 1
    axes = [layer["encoding"]["x"] for layer in figure.spec()["layer"]]
    assert {axis["scale"]["type"] for axis in axes if "scale" in axis} == {"log"}
    curves = {(row["curve"], row["fault_bit_error_rate"]) for row in data(figure, "mean")}
    rates = {rate for _, rate in curves}
    assert rates >= {1e-9, 3e-9, 1e-4}
    assert {curve for curve, _ in curves} == {
        "8 ms + 10 ms",
        "8 µs + 10 µs",
    }


@pytest.mark.parametrize("name", FAULTS)
def test_every_figure_has_rows_to_draw(name: str) -> None:
    """Synthetic results for all points in all series: each figure is drawn, and names all its
    curves.
    """
    planned = plan(sources.read("experiment", name))
    rows: list[Row] = []
    for point, batch in itertools.product(planned.points, (0, 1)):
        common: Row = {
            "id": point.id,
            "experiment": name,
            "series": point.series,
            "seed": point.seed,
            "batch": batch,
        }
        metrics = ("accepted", "latency", "bandwidth", "latency_mean", "accepted_part")
        rows += [
            common | point.parameters | {"metric": metric, "unit": "x", "value": 1.0 + batch}
            for metric in metrics
        ]
    drawn = figures_of(name, frame(rows))
    wanted = {figure["name"].split("{")[0] for figure in planned.figures}
    assert all(any(figure.name.startswith(start) for figure in drawn) for start in wanted)
    for figure in drawn:
        curves = {row["curve"] for row in data(figure, "curve")}
        assert curves
        assert not any("=" in curve for curve in curves), "a curve has the words of a machine file"
