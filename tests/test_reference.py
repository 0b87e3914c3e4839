"""The shipped reference results, and a quick reproduction's figures that they complete."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from elanite import campaign, figures
from elanite.report.index import Writer
from elanite.results import frames
from elanite.store import Store
from elanite.validation import reference, short_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.figures import Figure
    from elanite.inputs.plan import Plan, Point

SHORTENED = [name for name in short_runs.table() if short_runs.left_out(name)]

BATCHES = 3


def made_up(points: Sequence[Point], beside: pl.DataFrame) -> pl.DataFrame:
    """Rows for points that were not simulated: the shipped rows' metrics for each of their jobs, in
    batches.
    """
    metrics = [*beside["metric"].unique(maintain_order=True), "accepted", "latency", "bandwidth"]
    tables = []
    for point in points:
        jobs = list(json.loads(point.json)["workload"].get("jobs", {}).get("jobs", {})) or [None]
        rows = list(product(jobs, dict.fromkeys(metrics), range(BATCHES)))
        values = [0.0 if metric == "saturated" else 100.0 + batch for _, metric, batch in rows]
        table = pl.DataFrame(
            rows, schema={"job": pl.String, "metric": pl.String, "batch": pl.UInt32}, orient="row"
        )
        tables.append(
            table.with_columns(unit=pl.lit("MB/s"), value=pl.Series(values, dtype=pl.Float64))
        )
    return frames.joined(points, tables)


def drawn(plan: Plan, rows: pl.DataFrame) -> list[Figure]:
    """The figures from some rows that need no other table."""
    wanted = [
        one for one in plan.figures if one["draw"] in figures.DRAWINGS or one["draw"] == "ablations"
    ]
    return [figure for one in wanted for figure in figures.draw(one, rows)]


def places(figure: Figure) -> int:
    """The places on the horizontal axis that have marks."""
    layers = figure.spec()["layer"]
    found = set()
    for layer in layers:
        field = layer.get("encoding", {}).get("x", {}).get("field")
        rows = figure.spec()["datasets"].get(
            layer.get("data", figure.spec().get("data", {})).get("name"), []
        )
        found |= {row[field] for row in rows if field in row and "mean" in row}
    return len(found)


@pytest.mark.parametrize("name", SHORTENED)
def test_every_series_that_a_quick_run_leaves_out_is_shipped(name: str) -> None:
    """If this fails after a change in results: `make docs` renews the file from a whole run."""
    rows = reference.rows(short_runs.planned(name, look=0))
    assert rows is not None
    assert set(rows["id"]) == {point.id for point in short_runs.left_out(name)}
    assert rows[frames.SHIPPED].all()


@pytest.mark.parametrize("name", SHORTENED)
def test_no_figure_of_a_quick_report_is_missing_or_has_empty_axes(name: str) -> None:
    whole, short = short_runs.planned(name), short_runs.planned(name, look=0)
    beside = reference.rows(short)
    assert beside is not None
    full = {figure.name: figure for figure in drawn(whole, made_up(whole.points, beside))}
    here = {
        figure.name: figure
        for figure in drawn(whole, reference.completed(made_up(short.points, beside), beside))
    }
    assert here.keys() == full.keys()
    for figure_name, figure in here.items():
        assert places(figure) >= min(2, places(full[figure_name])), figure_name
    alone = {figure.name for figure in drawn(whole, made_up(short.points, beside))}
    assert alone <= here.keys()
    assert any(figure.shipped or reference_sign(figure) for figure in here.values())


def reference_sign(figure: Figure) -> bool:
    """Whether a table marks cells as shipped."""
    return figure.grid is not None and "shipped results" in figure.caption


def test_a_quick_report_marks_the_shipped_results_and_only_those(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    short = short_runs.planned("today/rails", look=0)
    campaign.run([replace(short, points=short.points[:2])], store)
    own = {point.id for point in short.points}
    writer = Writer(tmp_path, store, quick=True)
    writer.write(["today/rails"])
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert figures.SHIPPED_MARKS in page
    found = figures.drawn(short, store, reference.rows(short))
    marked = [figure for figure in found if figure.shipped]
    assert {figure.name for figure in marked} == {
        "allreduce",
        "published",
        "exchange-rails",
        "exchange-all",
    }
    for figure in marked:
        for layer in figure.spec()["layer"]:
            mark, by = layer["mark"]["type"], layer["encoding"]
            if mark in ("line", "point", "bar") and by["y"].get("field") == "mean":
                assert of_shipped(by["strokeDash"]) != by["strokeDash"].get("value", [1, 0])
            if mark in ("point", "bar") and by["y"].get("field") == "mean":
                assert (of_shipped(by["fillOpacity"]), by["fillOpacity"]["value"]) == (0, 1)
                assert by["stroke"].get("field", "value") == by.get("color", by["stroke"]).get(
                    "field", "value"
                ), "a hollow mark has its curve's colour"
            if mark == "line" and by["y"].get("field") == "mean":
                assert by["detail"]["field"] == frames.SHIPPED, "no line joins them to the run's"
    published = next(figure for figure in marked if figure.name == "published")
    rows = [row for rows in published.spec()["datasets"].values() for row in rows if "mean" in row]
    assert [row for row in rows if not row[frames.SHIPPED]], "the run has marks"
    assert all(figures.SHIPPED_MARKS in figure.caption for figure in marked)
    for layer in (layer for figure in marked for layer in figure.spec()["layer"]):
        mark = layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"]
        if mark == "rule" and layer["encoding"].get("y", {}).get("field") == "low":
            assert of_shipped(layer["encoding"]["strokeDash"]), "a shipped interval is dotted"
    assert not {point.id for point in short_runs.left_out("today/rails")} & own
    whole = Writer(tmp_path, store)
    whole.write(["today/rails"])
    assert figures.SHIPPED_MARKS not in (tmp_path / "report" / "index.html").read_text(
        encoding="utf-8"
    )


def of_shipped(encoding: dict[str, Any]) -> object:
    """A channel's value for shipped results."""
    assert encoding["condition"]["test"] == f"datum.{frames.SHIPPED}"
    return encoding["condition"]["value"]


def test_points_of_the_run_stand_for_themselves(tmp_path: Path) -> None:
    """A point that the run has simulated is not drawn a second time from the shipped results."""
    store = Store(tmp_path / "store")
    short = short_runs.planned("today/rails", look=0)
    beside = reference.rows(short)
    assert beside is not None
    first = next(
        point for point in short_runs.left_out("today/rails") if point.series == "exchange-rails"
    )
    extended = replace(short, points=(*short.points, first))
    campaign.run([replace(short, points=(first,))], store)
    figure = next(
        one for one in figures.drawn(extended, store, beside) if one.name == "exchange-rails"
    )
    rows = [row for rows in figure.spec()["datasets"].values() for row in rows if "mean" in row]
    assert [row[frames.SHIPPED] for row in rows].count(False) == 1


def test_the_shipped_file_is_what_a_store_of_these_points_gives(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    plan = short_runs.planned("today/rails")
    point = min(
        (one for one in short_runs.left_out("today/rails")),
        key=lambda one: int("all" in one.series) + len(one.json),
    )
    campaign.run([replace(plan, points=(point,))], store)
    beside = reference.rows(plan)
    assert beside is not None
    ours = frames.tidy([point], store).select("metric", "unit", "batch", "value")
    theirs = beside.filter(pl.col("id") == point.id).select("metric", "unit", "batch", "value")
    assert theirs.equals(ours), "results have changed: `make docs` renews the shipped ones"
    with pytest.raises(LookupError, match="the store has no point"):
        reference.write(store, tmp_path / "reference.parquet")
