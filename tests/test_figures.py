"""The figures of the shipped experiments, from synthetic results: each of the paper's figures is there and valid."""

from __future__ import annotations

import itertools
from typing import Any

import polars as pl

from elanite import figures

KB = 1024


def ping() -> pl.DataFrame:
    sizes = {"0 B": 0, "64 B": 64, "4 KB": 4 * KB, "4 MB": 4 * KB * KB}
    rows: list[dict[str, Any]] = [
        {
            "id": "x", "experiment": "qsnet/ping", "series": "ping", "seed": 1, "directions": directions,
            "source": source, "destination": destination, "message": message, "message_bytes": size,
            "metric": metric, "unit": unit, "batch": None, "value": size + 1.0,
        }
        for directions, source, destination, (message, size), (metric, unit) in itertools.product(
            ("one", "both"), ("elan", "main"), ("elan", "main"), sizes.items(),
            (("latency", "us"), ("bandwidth", "MB/s")),
        )
    ]  # fmt: skip
    return pl.DataFrame(rows)


def uniform() -> pl.DataFrame:
    def row(series: str, nodes: int, size: int, kinds: tuple[str, str], load: int, metric: str) -> dict[str, Any]:
        accepted = float(min(load, 4000 // nodes))
        return {
            "id": "x", "experiment": "qsnet/uniform", "series": series, "seed": 1, "nodes": nodes,
            "message": f"{size} B", "message_bytes": size, "sizes": kinds[0], "arrivals": kinds[1],
            "load": f"{load} MB/s", "load_MBps": float(load), "metric": metric, "unit": "MB/s", "batch": 0,
            "value": accepted if metric == "accepted" else float(load > accepted),
        }  # fmt: skip

    kinds = list(itertools.product(("uniform", "exponential"), repeat=2))
    loads = itertools.product((16, 32, 64), kinds, (10, 100, 300), ("accepted", "saturated"))
    sizes = itertools.product((320, 16 * KB, KB * KB), ("accepted", "saturated"))
    rows = [row("load", nodes, 256 * KB, kind, load, metric) for nodes, kind, load, metric in loads]
    rows += [row("size", 64, size, kinds[0], 350, metric) for size, metric in sizes]
    return pl.DataFrame(rows)


def names(drawn: list[figures.Figure]) -> list[str]:
    for figure in drawn:
        spec = figure.spec()  # validates against the Vega-Lite schema
        assert spec["title"]
        assert figure.caption
        titles = [layer["encoding"]["y"].get("title") for layer in spec["layer"] if "y" in layer["encoding"]]
        assert any(title and "," in title for title in titles), f"{figure.name}: the axis has no unit"
    return [figure.paper for figure in drawn]


def test_ping_gives_figures_9_and_10() -> None:
    expected = ["figure 9 a", "figure 9 b", "figure 10 a", "figure 10 b"]
    assert names(figures.draw("qsnet/ping", ping())) == expected


def test_uniform_gives_figures_11_and_12() -> None:
    expected = ["figure 11 a", "figure 11 b", "figure 11 c", "figure 11 d", "figure 12"]
    assert names(figures.draw("qsnet/uniform", uniform())) == expected


def test_saturated_points_are_marked() -> None:
    spec = figures.draw("qsnet/uniform", uniform())[0].spec()
    values = next(iter(data for data in spec["datasets"].values() if "state" in data[0]))
    assert {value["state"] for value in values} == {"steady", "saturated"}


def test_incomplete_results_give_fewer_figures() -> None:
    some = uniform().filter((pl.col("nodes") == 16) & (pl.col("series") == "load"))
    assert names(figures.draw("qsnet/uniform", some)) == ["figure 11 a"]
    assert figures.draw("qsnet/uniform", uniform().clear()) == []


def test_an_experiment_of_ones_own_gets_plain_figures() -> None:
    drawn = figures.draw("mine", ping())
    assert [figure.name for figure in drawn] == ["ping-latency", "ping-bandwidth"]
    names(drawn)


def test_congestion_compares_top_levels() -> None:
    rows = [
        {
            "series": "top-level",
            "machine": machine,
            "metric": "accepted",
            "unit": "MB/s",
            "batch": batch,
            "value": value,
        }
        for machine, value in (("unchanged", 280.0), ("topology.up=[4,2]", 140.0), ("topology.parallel=[1,2]", 280.0))
        for batch in range(3)
    ]
    (drawn,) = figures.draw("qsnet/congestion", pl.DataFrame(rows))
    names([drawn])
