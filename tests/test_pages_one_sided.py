"""Pages of programs that communicate by windows or poll, and of their replays: lanes, messages and
tables equal the tables of run and replay, which count the same bytes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import Ended, needs_mpi
from test_run_pages import tables_agree
from timelines import agree, embedded

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = needs_mpi

KINDS = {
    "fences": {"put", "get"},
    "scoped": {"put"},
    "passive": {"put", "get", "untagged"},
    "flag": {"put"},
    "polls": {"tagged"},
    "tests": {"tagged"},
    "probe": {"tagged"},
}
"""Patterns, and kinds that their messages have at least."""

QUICK = ("passive", "polls")


def tables_in(folder: Path) -> dict[str, pl.DataFrame]:
    (found,) = folder.iterdir()
    return {file.stem: pl.read_parquet(file) for file in found.glob("*.parquet")}


def counts(
    messages: pl.DataFrame, end: str, bytes_: str = "bytes"
) -> tuple[Counter[int], Counter[int]]:
    """The messages and the bytes by the rank at one end."""
    number, size = Counter[int](), Counter[int]()
    for rank, length in messages.select(end, bytes_).iter_rows():
        number[rank] += 1
        size[rank] += length
    return number, size


@pytest.mark.parametrize(
    "pattern",
    [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow) for one in KINDS],
)
def test_pages_of_runs_and_replays(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path, pattern: str
) -> None:
    program = [str(mpi_programs / "patterns"), pattern]
    made = ("--html", "run.html", "--record", "run.goal")
    ended = elanite("mpirun", "-n", "4", "--machine", "opteron-qsnet2", *made, *program)
    assert ended.code == 0, ended
    tables = tables_in(tmp_path / "out" / "mpirun")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    agree(embedded(page), tables)
    tables_agree(page, tables)
    messages, ranks = tables["messages"], tables["ranks"].sort("rank")
    assert set(messages["kind"]) >= KINDS[pattern]
    arrived = messages.filter(pl.col("arrived_us").is_not_null())
    sums = {"sent": counts(messages, "source"), "received": counts(arrived, "destination")}
    for way, (number, size) in sums.items():
        for row in ranks.iter_rows(named=True):
            rank = row["rank"]
            shown = (row[f"messages_{way}"], row[f"bytes_{way}"])
            assert shown == (number[rank], size[rank]), (way, rank)

    ended = elanite("replay", "run.goal", "--machine", "opteron-qsnet2", "--html", "replay.html")
    assert ended.code == 0, ended
    again = tables_in(tmp_path / "out" / "replay")
    agree(embedded((tmp_path / "replay.html").read_text(encoding="utf-8")), again)
    flows = [f"{what}_{way}" for what in ("messages", "bytes") for way in ("sent", "received")]
    assert again["ranks"].sort("rank").select(flows).equals(ranks.select(flows))
