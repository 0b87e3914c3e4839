"""The figures of permutations, hot-spots, I/O, combined jobs and ablations, from synthetic results."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl

from elanite import figures
from test_figures import names

Row = dict[str, Any]

KINDS = ("uniform", "exponential")


def rows(loads: dict[str, float], **parameters: Any) -> list[Row]:
    """Rows of two batches, with the parameters that all jobs have."""
    common = {"id": "x", "experiment": "x", "seed": 1, "job": "x", "message": "1 MB", "message_bytes": 2**20}
    common |= {"sizes": "uniform", "arrivals": "uniform", "unit": "MB/s"} | parameters
    several = [common | {"metric": m, "batch": b, "value": v + b} for m, v in loads.items() for b in (0, 1)]
    return [*several, common | {"metric": "saturated", "batch": None, "value": 0.0}]


def frame(parts: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(parts, infer_schema_length=None)


def permutations() -> pl.DataFrame:
    parts = []
    for pattern, load in itertools.product(("complement", "shuffle"), (100.0, 300.0)):
        here = {"pattern": pattern, "nodes": 64}
        loads = {"accepted": min(load, 200.0), "offered": load}
        parts += rows(loads, series="load", load_MBps=load, **here)
        parts += rows({"accepted": load}, series="size", load_MBps=350.0, **(here | {"message_bytes": int(load)}))
    return frame(parts)


def hotspot() -> pl.DataFrame:
    parts = []
    for nodes, sizes, series in itertools.product((8, 64), KINDS, ("nodes", "reads")):
        parts += rows({"server_accepted": 300.0}, series=series, nodes=nodes, sizes=sizes)
    return frame(parts)


def io() -> pl.DataFrame:
    parts = []
    for place, pattern, nodes in itertools.product(
        ("clustered", "distributed"), ("uniform", "blocks"), ("0-63", "0-55")
    ):
        here = {"pattern": pattern, "nodes": nodes}
        loads = {"server_accepted": 200.0, "server_offered": 300.0}
        parts += rows(loads, series=f"{place}-load", writes=0.5, load_MBps=40.0, **here)
        for writes in (0.0, 0.5, 1.0):
            parts += rows(loads, series=place, writes=writes, load_MBps=350.0, **here)
    return frame(parts)


def combined() -> pl.DataFrame:
    empty = dict.fromkeys(("nodes", "load_MBps", "compute.nodes", "compute.load_MBps", "io.load_MBps"))
    parts = []
    for load in (50.0, 350.0):
        loads = {"accepted": min(load, 130.0), "offered": load}
        alone = empty | {"nodes": "0-31", "load_MBps": load, "job": "compute"}
        parts += rows(loads, series="alone", **alone)
        for kind, mapping, io_load in itertools.product(
            ("shared", "dedicated"), ("1c", "1i", "distributed"), (34.0, 101.0, 168.0)
        ):
            beside = empty | {"compute.nodes": "0-31", "compute.load_MBps": load, "io.load_MBps": io_load}
            for job in ("compute", "io"):
                parts += rows(loads, series=f"{kind}-{mapping}", **(beside | {"job": job}))
    return frame(parts)


def ablations() -> pl.DataFrame:
    parts = []
    for machine in ("unchanged", "link.channels=1"):
        parts += rows(
            {"accepted": 200.0}, series="patterns", machine=machine, pattern="shuffle", nodes=64, servers=None
        )
        loads = {"accepted": 5.0, "server_accepted": 300.0}
        parts += rows(loads, series="hotspot", machine=machine, pattern="uniform", nodes=64, servers="0")
    return frame(parts)


def test_permutations_give_figures_13_and_14() -> None:
    assert names(figures.draw("qsnet/permutations", permutations())) == ["figure 13", "figure 14"]


def test_hotspot_gives_figure_16() -> None:
    assert names(figures.draw("qsnet/hotspot", hotspot())) == ["figure 16 a", ""]
    nodes = [
        {
            "series": "nodes",
            "seed": 1,
            "sizes": "uniform",
            "arrivals": "uniform",
            "nodes": nodes,
            "node": node,
            "accepted": 4.0,
        }
        for nodes in (8, 64)
        for node in range(1, nodes)
    ]
    (figure,) = figures.NODES["qsnet/hotspot"](pl.DataFrame(nodes))
    assert names([figure]) == ["figure 16 b"]
    data = max(figure.spec()["datasets"].values(), key=len)
    assert [row["node"] for row in data] == list(range(1, 64)), "the largest configuration only"


def test_io_gives_figures_17_and_18_and_table_1() -> None:
    expected = ["figure 17 a", "figure 17 b", "figure 18 a", "figure 18 b", "table 1"]
    assert names(figures.draw("qsnet/io", io())) == expected


def test_combined_gives_figures_19_and_20() -> None:
    drawn = figures.draw("qsnet/combined", combined())
    assert names(drawn) == [*(f"figure 19 {letter}" for letter in "abcdef"), "figure 20"]
    titles = [figure.title for figure in drawn]
    assert "shared I/O nodes, I/O load 34" in titles[0]
    assert "dedicated I/O nodes, I/O load 34" in titles[1]
    assert "shared I/O nodes, I/O load 168" in titles[4]


def test_ablations_are_one_table() -> None:
    (figure,) = figures.draw("qsnet/ablations", ablations())
    (data,) = figure.spec()["datasets"].values()
    found = {(row["machine"], row["traffic"]): row["text"] for row in data}
    assert found["unchanged", "hot-spot, 64 nodes"] == "300"
    assert found["link.channels=1", "shuffle"] == "200"
    assert all(row["ratio"] == 1 for row in data)


def test_incomplete_results_give_fewer_figures() -> None:
    some = {
        "qsnet/permutations": permutations().filter(pl.col("series") == "size"),
        "qsnet/io": io().filter((pl.col("series") == "clustered-load") & (pl.col("pattern") == "uniform")),
        "qsnet/combined": combined().filter(pl.col("series") == "shared-1c"),
    }
    papers = {name: names(figures.draw(name, here)) for name, here in some.items()}
    assert papers == {
        "qsnet/permutations": ["figure 14"],
        "qsnet/io": ["figure 17 a"],
        "qsnet/combined": ["figure 19 a", "figure 19 c", "figure 19 e"],
    }
