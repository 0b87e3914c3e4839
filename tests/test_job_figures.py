"""Figures for permutations, hot-spots, I/O, combined jobs and ablations, from synthetic results."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import polars as pl

from conftest import Row, data, figures_of, frame
from test_figures import names

if TYPE_CHECKING:
    from elanite import figures

KINDS = ("uniform", "exponential")


def rows(loads: dict[str, float], saturated: float = 0.0, /, **parameters: Any) -> list[Row]:
    """Rows with two batches, with the parameters common to all jobs."""
    common = {
        "id": "x",
        "experiment": "x",
        "seed": 1,
        "job": "x",
        "message": "1 MB",
        "message_bytes": 2**20,
    }
    common |= {"sizes": "uniform", "arrivals": "uniform", "unit": "MB/s"} | parameters
    several = [
        common | {"metric": m, "batch": b, "value": v + b} for m, v in loads.items() for b in (0, 1)
    ]
    return [*several, common | {"metric": "saturated", "batch": None, "value": saturated}]


def doubled(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with as many batches again, with the same values."""
    return pl.concat([rows, rows.with_columns(batch=pl.col("batch") + 2)])


def permutations() -> pl.DataFrame:
    parts = []
    for pattern, load in itertools.product(("complement", "shuffle"), (100.0, 300.0)):
        here = {"pattern": pattern, "nodes": 64}
        loads = {"accepted": min(load, 200.0), "offered": load}
        parts += rows(loads, series="load", load_MBps=load, **here)
        parts += rows(
            {"accepted": load},
            series="size",
            load_MBps=350.0,
            **(here | {"message_bytes": int(load)}),
        )
    return frame(parts)


def hotspot() -> pl.DataFrame:
    parts = []
    for nodes, sizes, series in itertools.product((8, 64), KINDS, ("nodes", "reads")):
        parts += rows({"server_accepted": 300.0}, series=series, nodes=nodes, sizes=sizes)
    return frame(parts)


def io() -> pl.DataFrame:
    parts = []
    servers = {"clustered": "56-63", "distributed": "0-63:8"}
    for place, pattern, nodes in itertools.product(
        servers, ("uniform", "blocks"), ("0-63", "0-55")
    ):
        here = {"pattern": pattern, "nodes": nodes, "servers": servers[place]}
        loads = {"server_accepted": 200.0, "server_offered": 300.0}
        parts += rows(loads, series=f"{place}-load", writes=0.5, load_MBps=40.0, **here)
        for writes in (0.0, 0.5, 1.0):
            parts += rows(loads, series=place, writes=writes, load_MBps=350.0, **here)
    return frame(parts)


def combined() -> pl.DataFrame:
    empty = dict.fromkeys(
        ("nodes", "load_MBps", "compute.nodes", "compute.load_MBps", "io.load_MBps")
    )
    parts = []
    for load, light in ((50.0, "light-"), (350.0, "")):
        loads = {"accepted": min(load, 130.0), "offered": load}
        alone = empty | {"nodes": "0-31", "load_MBps": load, "job": "compute"}
        parts += rows(loads, series=f"{light}alone", **alone)
        for kind, mapping, io_load in itertools.product(
            ("shared", "dedicated"), ("1c", "1i", "distributed"), (28.0, 84.0, 140.0)
        ):
            beside = empty | {
                "compute.nodes": "0-31",
                "compute.load_MBps": load,
                "io.load_MBps": io_load,
            }
            for job in ("compute", "io"):
                served = {"accepted": min(io_load, 32.5), "offered": io_load}
                served |= {"server_accepted": 130.0, "server_offered": 4 * io_load}
                parts += rows(
                    served if job == "io" else loads,
                    float(job == "io" and io_load > 28),
                    series=f"{light}{kind}-{mapping}",
                    **beside,
                    job=job,
                )
    return frame(parts)


def ablations() -> pl.DataFrame:
    parts = []
    for machine, accepted, hot in (
        ("unchanged", 200.0, 300.0),
        ("link.channels=1", 150.0, 340.0),
        ("a change of one's own", 202.0, 300.0),
    ):
        parts += rows(
            {"accepted": accepted},
            series="patterns",
            machine=machine,
            pattern="shuffle",
            nodes=64,
            servers=None,
        )
        loads = {"accepted": 5.0, "server_accepted": hot}
        parts += rows(
            loads, series="hotspot", machine=machine, pattern="uniform", nodes=64, servers="0"
        )
    return frame(parts)


def test_permutations_give_figures_13_and_14() -> None:
    assert names(figures_of("qsnet/permutations", permutations())) == ["figure 13", "figure 14"]


def test_hotspot_gives_figure_16() -> None:
    assert names(figures_of("qsnet/hotspot", hotspot())) == ["figure 16 a", ""]
    common = {
        "series": "nodes",
        "seed": 1,
        "sizes": "uniform",
        "arrivals": "uniform",
        "accepted": 4.0,
    }
    nodes = [
        common | {"nodes": nodes, "node": node} for nodes in (8, 64) for node in range(1, nodes)
    ]
    (figure,) = figures_of("qsnet/hotspot", frame(nodes), "nodes")
    assert names([figure]) == ["figure 16 b"]
    assert [row["node"] for row in data(figure, "node")] == list(range(1, 64)), (
        "the largest configuration only"
    )


def test_io_gives_figures_17_and_18_and_table_1() -> None:
    expected = ["figure 17 a", "figure 17 b", "figure 18 a", "figure 18 b", "table 1"]
    assert names(figures_of("qsnet/io", io())) == expected


def test_combined_gives_figures_19_and_20() -> None:
    drawn = figures_of("qsnet/combined", combined())
    assert names(drawn) == [*(f"figure 19 {letter}" for letter in "abcdef"), "figure 20"]
    titles = [figure.title for figure in drawn]
    curves = data(drawn[0], "mapping")
    assert {row["load"] for row in curves} == {50.0, 350.0}, (
        "the series of the lower loads belong to it"
    )
    assert {row["mapping"] for row in curves} == {"clustered 1c", "clustered 1i", "distributed"}
    assert "shared I/O nodes, I/O load 0.1 (28 MB/s)" in titles[0]
    assert "dedicated I/O nodes, I/O load 0.1 (28 MB/s)" in titles[1]
    assert "shared I/O nodes, I/O load 0.5 (140 MB/s)" in titles[4]


def test_figures_19_and_20_say_how_the_io_job_fares() -> None:
    drawn = figures_of("qsnet/combined", combined())
    assert "an I/O node gets: clustered 1c 130 of 112; clustered 1i" in drawn[0].caption
    assert "130 of 336, saturated" in drawn[2].caption
    summary = drawn[-1]
    assert (
        "130 to 130 MB/s at 0.1 (28 MB/s), none saturated; 130 to 130 MB/s at 0.3 (84 MB/s), all"
        in summary.caption
    )


def test_readings_of_the_io_load_are_over_a_parameter_of_the_io_job() -> None:
    """The axis name has a dot, which Vega-Lite would take for a path."""
    parts = [
        row
        for load in (28.0, 34.0)
        for writes in (0.0, 0.5, 1.0)
        for row in rows(
            {"accepted": 130.0 - 10 * writes},
            **{
                "series": "readings-shared-1i",
                "io.load_MBps": load,
                "io.writes": writes,
                "job": "compute",
            },
        )
    ]
    (drawn,) = figures_of("qsnet/combined", frame(parts))
    assert drawn.name == "readings-a"
    assert "shared and clustered I/O nodes" in drawn.title
    points = data(drawn, "curve")
    assert {row["curve"] for row in points} == {"reads only", "half of each", "writes only"}
    assert {row["io_load_MBps"] for row in points} == {28.0, 34.0}
    assert '"io_load_MBps"' in json.dumps(drawn.spec())
    assert '"field": "io.load_MBps"' not in json.dumps(drawn.spec())


def test_figure_19_compares_with_the_same_nodes_alone() -> None:
    """Nodes without a mapping in the figure are not in it."""
    elsewhere = (
        combined()
        .filter(pl.col("series") == "alone")
        .with_columns(nodes=pl.lit("32-63"), value=1.0)
    )
    drawn = figures_of("qsnet/combined", pl.concat([combined(), elsewhere]))
    lines = [data for data in drawn[0].spec()["datasets"].values() if "mapping" in data[0]]
    assert len(lines) == 2, "beside the I/O job, and alone"
    assert all(point["mean"] > 1 for data in lines for point in data)


def test_figure_20_has_three_states() -> None:
    """The kept fraction, with its interval; where that crosses the bound, there is no claim."""
    noise = pl.when(pl.col("batch") == 0).then(-60.0).otherwise(60.0)
    disturbed = pl.col("series").is_in(["shared-1i", "shared-distributed"])
    rows = combined().with_columns(
        value=pl.when(disturbed & (pl.col("metric") == "accepted") & (pl.col("job") == "compute"))
        .then(
            pl.col("value") * 0.6
            + pl.when(pl.col("series") == "shared-distributed").then(noise).otherwise(0.0)
        )
        .otherwise("value")
    )
    few = data(figures_of("qsnet/combined", rows)[-1], "state")
    assert {row["state"] for row in few} == {"not resolved"}
    assert "100.0%" in {row["text"] for row in few}, "two values have no interval"
    rows = doubled(rows)
    found = data(figures_of("qsnet/combined", rows)[-1], "state")
    states = {row["mapping"]: row["state"] for row in found}
    assert states["shared, clustered 1c"] == "undisturbed"
    assert states["shared, clustered 1i"] == "suffers"
    assert states["shared, distributed"] == "not resolved"
    assert {row["text"] for row in found if row["mapping"] == "shared, clustered 1c"} == {
        "100.0 ± 0.0%"
    }


def test_ablations_are_one_table() -> None:
    (few,) = figures_of("qsnet/ablations", ablations())
    assert not [word for word in words(few) if "±" in word], "two values have no interval"
    (figure,) = figures_of("qsnet/ablations", doubled(ablations()))
    assert lines(figure)[0] == [
        "change of the machine",
        "shuffle",
        "hot-spot",
        "of 64",
        "what it makes",
    ]
    found = words(figure)
    assert {
        "the machine as it is",
        "one virtual channel instead of",
        "300",
        "200",
        "150",
        "± 0.9",
    } <= found
    assert "the reference of all others" in found
    assert "lower: shuffle -25%; higher: hot-spot of 64" in found
    assert "no figure by 3% or more" in found
    assert "a change of one's own" in found


def words(figure: figures.Figure) -> set[str]:
    """A table's contents."""
    return {word["text"] for word in data(figure, "text")}


def lines(figure: figures.Figure) -> list[list[str]]:
    """A table's words, by kind: headings first."""
    found = data(figure, "text")
    return [
        [word["text"] for word in found if word["kind"] == kind]
        for kind in ("heading", "plain", "tinted")
    ]


def test_table_1_has_the_published_figures_beside_the_simulated_ones() -> None:
    assert lines(figures_of("qsnet/io", io())[-1])[2][:2] == ["200.5", "+2%"], (
        "two values have no interval"
    )
    table = figures_of("qsnet/io", doubled(io()))[-1]
    assert table.paper == "table 1"
    headings, plain, tinted = lines(table)
    assert headings[:3] == ["destinations, I/O nodes", "published", "half written"]
    assert plain[:4] == ["random", "clustered", "196", "200.5 ± 0.9"]
    assert tinted[:2] == ["200.5 ± 0.9", "+2%"]
    assert [word for word in plain if word in ("196", "234", "320", "338")] == [
        "196",
        "234",
        "320",
        "338",
    ]


def test_incomplete_results_give_fewer_figures() -> None:
    some = {
        "qsnet/permutations": permutations().filter(pl.col("series") == "size"),
        "qsnet/io": io().filter(
            (pl.col("series") == "clustered-load") & (pl.col("pattern") == "uniform")
        ),
        "qsnet/combined": combined().filter(pl.col("series") == "shared-1c"),
    }
    papers = {name: names(figures_of(name, here)) for name, here in some.items()}
    assert papers == {
        "qsnet/permutations": ["figure 14"],
        "qsnet/io": ["figure 17 a"],
        "qsnet/combined": ["figure 19 a", "figure 19 c", "figure 19 e"],
    }
