"""Figures with several jobs at a time, each with its own load."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from conftest import frame
from elanite import figures
from elanite.errors import UsageError
from elanite.figures import default_figures, tabular
from elanite.figures.style import BYTES
from elanite.results import frames
from test_figure_grouping import base

LOADS = (50, 100, 150)


def jobs() -> pl.DataFrame:
    """The jobs a, with three loads, and b with one, for two message sizes; a is best at 100
    MB/s.
    """
    rows = []
    for size, load in ((size, load) for size in (1024, 4096) for load in LOADS):
        here: dict[str, Any] = {
            "experiment": "x",
            "series": "s",
            "seed": 1,
            "unit": "MB/s",
            "id": f"{size}-{load}",
        }
        here |= {
            "a.message": f"{size // 1024} KB",
            "a.message_bytes": size,
            "b.load": "70 MB/s",
            "b.load_MBps": 70.0,
        }
        here |= {"a.load": f"{load} MB/s", "a.load_MBps": float(load)}
        for job, accepted in (("a", size + (90.0 if load == 100 else load / 2)), ("b", 70.0)):
            for metric, value in (
                ("accepted", accepted),
                ("offered", accepted),
                ("saturated", 0.0),
            ):
                rows.append(here | {"job": job, "metric": metric, "batch": 0, "value": value})
    return frame(rows)


def data(**wanted: Any) -> list[tuple[str, ...]]:
    found = figures.draw(base() | wanted, jobs())
    return [(figure.title, *row) for figure in found for row in tabular.table(figure)[1]]


def test_marks_of_a_job_at_loads_of_another_have_rows_of_their_own() -> None:
    found = figures.draw(base() | {"draw": "loads", "metric": "", "x": ""}, jobs())
    rows = data(draw="loads", metric="", x="")
    assert len(rows) == len(set(rows)) == 2 * 2 * len(LOADS)
    assert all("a.load" in tabular.table(figure)[0] for figure in found)
    assert all("Marks of the other jobs differ in a.load;" in figure.caption for figure in found)


def test_the_sustained_load_is_that_of_each_job() -> None:
    rows = data(draw="curves", sustained=True, x="a.message_bytes")
    values = {row[1:] for row in rows if row[1] == "b.load 70 MB/s, a"}
    assert {value[2] for value in values} == {
        "1,114",
        "4,186",
    }, "job a has one mark at each size, the best"
    others = {row[1] for row in rows if row[1].endswith(", b")}
    assert others == {f"a.load {load} MB/s, b" for load in LOADS}, (
        "the loads of a are configurations of b"
    )
    assert len(rows) == 2 + 2 * len(LOADS)
    assert len(frames.sustained(jobs())) == len(rows)


@pytest.mark.parametrize("metric", ["offered", "accepted"])
def test_what_has_no_sustained_load_is_an_error_with_the_name_of_the_figure(metric: str) -> None:
    rows = (
        jobs().drop("a.load_MBps", "b.load_MBps", "a.load", "b.load")
        if metric == "accepted"
        else jobs()
    )
    with pytest.raises(UsageError, match="the figure `own` has sustained = true"):
        figures.draw(base() | {"sustained": True, "metric": metric, "x": "a.message_bytes"}, rows)


def test_undecided_points_have_a_sign_of_their_own() -> None:
    lost = pl.col("value") * pl.when(pl.col("metric") == "offered").then(2.0).otherwise(1.0)
    wanted = base() | {"draw": "loads", "metric": "", "x": ""}
    for rows, states in ((jobs(), {"steady"}), (jobs().with_columns(value=lost), {"undecided"})):
        for figure in figures.draw(wanted, rows):
            columns, data = tabular.table(figure)
            assert {row[columns.index("state")] for row in data} == states
            signs = {key.name for legend in tabular.legends(figure.spec()) for key in legend.keys}
            assert (
                ("undecided" in signs)
                == ("Diamonds are undecided" in figure.caption)
                == (states == {"undecided"})
            )


def offered(*means: float, half: float = 1.0) -> pl.DataFrame:
    """Accepted and offered load for two nominal loads, with these offered loads and about this half
    interval.
    """
    rows = [
        {
            "series": "s",
            "job": "a",
            "seed": 1,
            "load": f"{load} MB/s",
            "load_MBps": float(load),
            "metric": metric,
            "unit": "MB/s",
            "batch": batch,
            "value": mean + noise * half,
        }
        for load, mean in zip((60, 120), means, strict=True)
        for metric in ("accepted", "offered")
        for batch, noise in enumerate((-0.8, 0.0, 0.0, 0.8, 0.0))
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("means", "half", "measured"),
    [
        pytest.param((102.4, 121.0), 12.9, True, id="beyond the interval"),
        pytest.param((80.0, 121.0), 30.0, False, id="within the interval"),
        pytest.param((61.5, 121.0), 0.1, False, id="within 5%"),
        pytest.param((60.0, 120.0), 0.1, False, id="nominal"),
    ],
)
def test_general_figures_have_the_offered_load_where_it_is_not_the_nominal_one(
    means: tuple[float, float], half: float, measured: bool
) -> None:
    (figure,) = default_figures.draw(
        offered(*means, half=half).filter(pl.col("metric") != ""), {"s": "jobs"}
    )
    x = next(layer["encoding"]["x"] for layer in figure.spec()["layer"])
    values = next(rows for rows in figure.spec()["datasets"].values() if "mean" in rows[0])
    assert x["field"] == ("offered" if measured else "load_MBps")
    assert x["title"] == (
        "offered load, MB/s per node" if measured else "nominal load, MB/s per node"
    )
    assert ("at 60 MB/s they offered 102.4 ±" in figure.caption) == measured
    if measured:
        other = offered(*(mean / 2 for mean in means), half=half).with_columns(job=pl.lit("b"))
        one, *_ = default_figures.draw(
            pl.concat([offered(*means, half=half), other]), {"s": "jobs"}
        )
        assert "at 60 MB/s they offered 51.2 to 102.4 MB/s." in one.caption, "of both jobs"
        assert [row["offered"] for row in values] == pytest.approx(means)
        assert [row["mean"] for row in values] == pytest.approx(means)


def test_captions_have_the_loads_that_a_figure_leaves_out() -> None:
    few = pl.when(pl.col("a.load") == "150 MB/s").then(0.5).otherwise(1.0)
    rows = jobs().filter(pl.col("job") == "a").drop("b.load", "b.load_MBps")
    rows = rows.with_columns(
        value=pl.when(pl.col("metric") == "accepted").then(few * pl.col("value")).otherwise("value")
    )
    wanted = base() | {"x": "a.load_MBps"}
    (steady,) = figures.draw(wanted | {"steady": True}, rows)
    assert "Left out: 2 undecided of 6 loads." in steady.caption
    assert len(tabular.table(steady)[1]) == 4
    assert steady.spec()["layer"][0]["encoding"]["x"]["title"] == "nominal load of a, MB/s per node"
    (every,) = figures.draw(wanted, rows)
    assert "Left out" not in every.caption
    (best,) = figures.draw(base() | {"x": "a.message_bytes", "sustained": True}, rows)
    assert "at the load with the highest accepted load" in best.caption


@pytest.mark.parametrize("kind", [{"draw": "bars"}, {"x_scale": "log"}, {"x_scale": "linear"}])
def test_sizes_on_an_axis_have_their_units(kind: dict[str, str]) -> None:
    rows = jobs().filter((pl.col("job") == "a") & (pl.col("a.load") == "50 MB/s"))
    (figure,) = figures.draw(base() | {"x": "a.message_bytes"} | kind, rows)
    x = figure.spec()["layer"][0]["encoding"]["x"]
    assert x["axis"]["labelExpr"] == BYTES


def pings() -> pl.DataFrame:
    """Bandwidths of two sizes to each memory, in one direction and in both."""
    rows = [
        {
            "experiment": "x",
            "series": "s",
            "seed": 1,
            "directions": way,
            "destination": to,
            "message": f"{size} KB",
            "message_bytes": 1024 * size,
            "metric": "bandwidth",
            "unit": "MB/s",
            "batch": None,
            "value": 10.0 * size + (1.0 if to == "elan" else 0.0) + (100.0 if way == "both" else 0),
        }
        for way in ("one", "both")
        for to in ("main", "elan")
        for size in (1, 4)
    ]
    return frame(rows)


def test_dashed_curves_are_those_of_their_panel_and_lines() -> None:
    wanted = base() | {"metric": "bandwidth", "x": "message_bytes", "panel": "directions"}
    wanted |= {"where": {"destination": "main"}}
    wanted |= {"beside": {"series": [], "where": {"destination": "elan"}}}
    found = figures.draw(wanted, pings())
    assert len(found) == 2
    domains = set()
    for figure, more in zip(found, (0.0, 100.0), strict=True):
        spec = figure.spec()
        (dashed,) = (one for one in spec["layer"] if "strokeDash" in one["mark"])
        rows = spec["datasets"][dashed["data"]["name"]]
        assert [row["mean"] for row in rows] == [11.0 + more, 41.0 + more]
        assert not dashed["encoding"]["detail"], "one line, not a point for each size"
        domains.add(tuple(spec["layer"][0]["encoding"]["y"]["scale"]["domain"]))
    assert len(domains) == 1, "the panels have one axis"


def test_captions_name_the_values_that_count_twice() -> None:
    wanted = base() | {"metric": "bandwidth", "x": "message_bytes", "curve": ["{destination}"]}
    wanted |= {"panel": "directions", "twice": {"directions": "both"}}
    one, both = figures.draw(wanted, pings())
    assert "count twice" not in one.caption
    assert "Values with directions both count twice." in both.caption
    assert {row[2] for row in tabular.table(both)[1]} == {"220", "222", "280", "282"}
