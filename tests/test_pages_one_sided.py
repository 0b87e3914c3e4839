"""Pages of programs that communicate by windows or poll, and of their replays: lanes, messages and
tables equal the tables of run and replay.
"""

from __future__ import annotations

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
    assert set(tables["messages"]["kind"]) >= KINDS[pattern]

    ended = elanite("replay", "run.goal", "--machine", "opteron-qsnet2", "--html", "replay.html")
    assert ended.code == 0, ended
    again = tables_in(tmp_path / "out" / "replay")
    agree(embedded((tmp_path / "replay.html").read_text(encoding="utf-8")), again)
