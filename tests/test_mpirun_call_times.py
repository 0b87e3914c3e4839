"""The record of calls agrees with the program's own clock, also for calls that only begin an
operation: the processor's time for them is theirs.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import Ended, needs_mpi

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS = {
    "ES40s": (),
    "ideal network": ("--network", "ideal"),
    "by messages": ("--collectives", "mpi", "--ranks-per-node", "2"),
}


@needs_mpi
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_calls_begin_and_end_as_the_program_sees(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    program = str(mpi_programs / "clocked")
    ended = elanite("mpirun", "-n", "3", *options, "--html", "run.html", program)
    assert ended.code == 0, ended
    seen: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for line in ended.out.splitlines():
        rank, call, begin, end = line.split()
        seen[int(rank), call].append((float(begin), float(end)))
    assert len(seen) == 3 * 9
    (folder,) = (tmp_path / "out" / "mpirun").iterdir()
    calls = pl.read_parquet(folder / "calls.parquet")
    kept = calls.rows_by_key(["rank", "call"], unique=False)
    for (rank, call), times in seen.items():
        # The library's start and end have calls of the same names.
        own = [row for row in kept[rank, call] if times[0][0] - 0.001 <= row[0] <= times[-1][1]]
        assert len(own) == len(times)
        for row, time in zip(own, times, strict=True):
            assert row == pytest.approx(time, abs=0.001), (rank, call)
    # The program neither computes nor sleeps.
    ranks = pl.read_parquet(folder / "ranks.parquet")
    assert ranks["mpi_us"].to_list() == pytest.approx(ranks["end_us"].to_list(), abs=0.001)
    inside = calls.group_by("rank").agg(us=(pl.col("end_us") - pl.col("begin_us")).sum())
    sums = inside.sort("rank")["us"].to_list()
    assert sums == pytest.approx(ranks.sort("rank")["mpi_us"].to_list(), abs=0.001)
