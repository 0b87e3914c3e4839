"""The multirail paper's livelock on real packets: figure and claim, as shipped and with deliberate
mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite as el
from conftest import data, figures_of, judged

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = "multirail.livelock"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    out: Path = tmp_path_factory.mktemp("livelock")
    return el.run(el.Experiment.load("multirail/livelock"), out=out).frame()


def changed(rows: pl.DataFrame, avoidance: str, metric: str, value: float) -> pl.DataFrame:
    """One value on one node in one run differs."""
    wrong = (
        pl.col("machine").str.contains(f"rails.avoidance={avoidance}")
        & (pl.col("metric") == metric)
        & (pl.col("job") == "second")
        & (pl.col("seed") == 2)
    )
    return rows.with_columns(value=pl.when(wrong).then(value).otherwise("value"))


def test_the_claim_holds(rows: pl.DataFrame) -> None:
    assert judged(CLAIM, rows).state == "holds"


@pytest.mark.parametrize(
    ("avoidance", "metric", "value"),
    [
        ("false", "messages", 1),
        ("true", "messages", 0),
        ("true", "messages", 20),
        ("true", "accepted", 0),
    ],
    ids=["something ends without", "a node gets nothing", "a node gets half", "a node waits"],
)
def test_each_half_can_fail(rows: pl.DataFrame, avoidance: str, metric: str, value: float) -> None:
    assert judged(CLAIM, changed(rows, avoidance, metric, value)).state != "holds"


def test_both_halves_are_needed(rows: pl.DataFrame) -> None:
    half = rows.filter(pl.col("machine").str.contains("avoidance=true"))
    with pytest.raises(ValueError, match="with the procedure and without"):
        judged(CLAIM, half)


def test_the_figure_shows_both(rows: pl.DataFrame) -> None:
    (figure,) = figures_of("multirail/livelock", rows)
    bars = {(row["job"], row["curve"]): row["mean"] for row in data(figure, "mean")}
    assert {node for node, _ in bars} == {"node 0", "node 1", "node 2"}
    assert all(
        (value > 0) == procedure.startswith("with ") for (_, procedure), value in bars.items()
    )
