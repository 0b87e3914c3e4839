"""Experiments built by calls: the same points as from a dictionary, and the same errors as in
experiment files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite as el
from elanite.inputs.plan import plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

BUILT = el.jobs("uniform", nodes=16, message="1 KB", load="50 MB/s").measured(
    "20 us", warm_up="10 us", seeds=2
)


def identities(experiment: el.Experiment) -> list[str]:
    return [point.id for point in plan(experiment.file).points]


def test_calls_and_a_dictionary_have_the_same_points() -> None:
    job = {
        "pattern": "uniform",
        "nodes": 16,
        "message": ["1 KB", "4 KB"],
        "load": ["50 MB/s", "100 MB/s"],
        "sizes": "fixed",
        "arrivals": "exponential",
    }
    content = {
        "title": "jobs",
        "source": "none",
        "machine": "es40-qsnet",
        "run": {"window": "20 us", "warm_up": "10 us", "seeds": 2},
        "series": [{"name": "jobs", "jobs": {"load": job}}],
    }
    built = BUILT.on("es40-qsnet").vary(message=["1 KB", "4 KB"], load=["50 MB/s", "100 MB/s"])
    wanted = identities(el.Experiment.from_dict(content, "jobs"))
    assert identities(built.experiment()) == wanted
    assert len(wanted) == 8
    assert len(identities(BUILT.experiment())) == 2, "a description is the start of several"


def test_jobs_run_beside_each_other(tmp_path: Path) -> None:
    def first(node: int, nodes: Sequence[int], random: Random) -> list[int]:
        del node, random
        return [nodes[0]]

    both = BUILT.beside("io", first, nodes="16-19", message="4 KB", load="10 MB/s")
    result = both.on(el.Machine.load("es40-qsnet")).measured("20 us").run(jobs=1, out=tmp_path)
    assert set(result.table("nodes")["job"]) == {"load", "io"}
    pytest.importorskip("xarray")
    found = result.dataset()
    (mean,) = result.summary().filter(pl.col("metric") == "accepted", pl.col("job") == "io")["mean"]
    assert found["mean"].sel(job="io", metric="accepted").item() == mean


def test_a_wrong_value_has_a_line() -> None:
    with pytest.raises(el.ConfigError, match=r"jobs\.toml:\d+"):
        BUILT.vary(load=["50 MB"]).experiment()
    with pytest.raises(KeyError, match="io"):
        BUILT.vary("io", load=["50 MB/s"])
