"""Figures of small random experiments with real runs: a mark for each configuration, at its rows'
mean.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import drawings
import elanite as el
from elanite.base.text import worded

if TYPE_CHECKING:
    from pathlib import Path

USUAL = el.Machine.load(
    "es40-qsnet", ["topology.nodes=16", "topology.down=[4,4]", "topology.up=[4]"]
)
FAST = USUAL.with_({"link.rate": "800 MB/s"}, "fast")


MEMORY = {"source": "main", "destination": "main"}
LONG = {"from": 0, "to": 15, "directions": "one", "message": "4 KB", "repeats": 1} | MEMORY
PING = {"name": "ping", "title": "ping", "ping": LONG}


def experiment(random: Random) -> dict[str, Any]:
    """Traffic with one job or two, and pings, with randomly chosen value lists."""

    def some(values: list[Any], most: int) -> list[Any]:
        return random.sample(values, random.randint(1, most))

    def job(nodes: list[str]) -> dict[str, Any]:
        common = {
            "processes": 2,
            "sizes": "fixed",
            "arrivals": "exponential",
            "message": some(["1 KB", "4 KB"], 2),
        }
        loads = some(["50 MB/s", "100 MB/s", "200 MB/s"], 3)
        return common | {
            "pattern": some(["uniform", "shift 3", "complement"], 3),
            "nodes": nodes,
            "load": loads,
        }

    jobs = {"one": job(some(["0-7", "0-15:2"], 2))}
    if random.random() < 0.5:
        fixed = {"pattern": "uniform", "load": "100 MB/s", "message": "1 KB"}
        jobs["other"] = job(["8-15"]) | fixed
        jobs["one"]["nodes"] = ["0-7"]
    ping = {
        "from": 0,
        "to": [1, 15],
        "directions": "one",
        "source": some(["elan", "main"], 2),
        "destination": "main",
    }
    ping |= {"message": ["64 B", "4 KB"], "repeats": 1}
    run = {
        "warm_up": "10 us",
        "window": "40 us",
        "batches": random.randint(1, 4),
        "seeds": random.randint(1, 2),
    }
    series = [
        {"name": "traffic", "title": "traffic", "jobs": jobs},
        {"name": "ping", "title": "ping", "ping": ping},
    ]
    return {
        "title": "small",
        "source": "a test",
        "machine": "es40-qsnet",
        "run": run,
        "series": series,
    }


def means(rows: pl.DataFrame, metric: str) -> Counter[float]:
    """Each configuration's mean: over all seeds and batches of the points that differ only in the
    seed.
    """
    other = ("id", "seed", "unit", "batch", "value")
    keys = [name for name in rows.columns if name not in other]
    assert metric in rows["metric"]
    found = rows.filter(pl.col("metric") == metric).group_by(keys).agg(pl.col("value").mean())
    return Counter(round(value, 6) for value in found["value"].to_list())


def drawn(found: list[Any], metric: str) -> Counter[float]:
    words = worded(metric)
    of = [figure for figure in found if figure.title.partition(": ")[2].split(",")[0] == words]
    return Counter(round(mark.mean, 6) for figure in of for mark in drawings.marks(figure))


@pytest.mark.parametrize("seed", range(4))
def test_each_mark_is_the_mean_of_one_configuration(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    machines = [USUAL, FAST] if random.random() < 0.7 else [USUAL]
    result = el.run(el.Experiment.from_dict(experiment(random)), machines, out=tmp_path, jobs=1)
    found, rows = result.figures(), result.frame()
    for metric in ("accepted", "latency_mean", "latency", "bandwidth"):
        assert drawn(found, metric) == means(rows, metric), metric
    pictures = result.chart().to_dict()["vconcat"]
    assert [" ".join(one["title"]["text"]) for one in pictures] == [
        figure.caption for figure in found
    ]


def test_each_mark_of_a_sweep_is_the_mean_of_one_combination(tmp_path: Path) -> None:
    small = experiment(Random(0))
    small["series"] = [one | {"jobs": one["jobs"]} for one in small["series"] if "jobs" in one]
    vary = {"topology.up": ["[2]", "[4]"], "link.hop_delay": ["55 ns", "80 ns"]}
    swept = el.sweep(el.Experiment.from_dict(small), vary, USUAL, out=tmp_path, jobs=1)
    found = swept.whole.figures()
    assert drawn(found, "accepted") == means(swept.frame(), "accepted")
    assert "[" not in "".join(mark.curve for figure in found for mark in drawings.marks(figure))


def test_marks_of_a_sample_are_not_joined(tmp_path: Path) -> None:
    """Along an axis, a Latin hypercube's other parameters go up and down."""
    small = experiment(Random(0)) | {"series": [PING]}
    vary = {"link.hop_delay": "50 ns..200 ns", "bus.rate": "100 MB/s..400 MB/s"}
    swept = el.sweep(
        el.Experiment.from_dict(small), vary, USUAL, sample=("lhs", 9), out=tmp_path, jobs=1
    )
    for figure in swept.whole.figures():
        assert len(drawings.marks(figure)) == 9
        assert "line" not in [drawings.kind(layer) for layer in drawings.layers(figure)]
        assert re.search(r"differ in (link.hop_delay|bus.rate), too", figure.caption)
