"""Ranks start more ranks (``MPI_Comm_spawn``) where the run has room for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import BIN, Ended, execute, needs_mpi
from elanite.errors import UsageError
from elanite.mpirun import Options

pytestmark = needs_mpi


def run(folder: Path, *words: str | Path) -> Ended:
    options = ["--out", str(folder), "--format", "json"]
    return execute([BIN / "elanite", "mpirun", *options, *map(str, words)], 300)


def figures(ended: Ended) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ended.err.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "options", [[], ["--collectives", "mpi", "--ranks-per-node", "2"], ["--network", "ideal"]]
)
def test_children_take_part(tmp_path: Path, mpi_programs: Path, options: list[str]) -> None:
    words = ["-n", "2", "--universe", "5", *options, mpi_programs / "spawn"]
    first, second = (run(tmp_path, *words) for _ in range(2))
    assert (first.code, first.out) == (0, "two children greeted\n"), first.err
    assert figures(first)["ranks"] == 4
    assert figures(first)["repeatable"]
    assert figures(first)["digest"] == figures(second)["digest"]


def test_children_need_room(tmp_path: Path, mpi_programs: Path) -> None:
    ended = run(tmp_path, "-n", "2", mpi_programs / "spawn")
    assert ended.code == 5
    assert "MPI_Comm_spawn: the run has room for the ranks of its start only" in ended.err
    ended = run(tmp_path, "-n", "2", "--universe", "3", mpi_programs / "spawn")
    assert ended.code == 5
    assert "among the 3 ranks for which the run has room (--universe 3), no 2 are left" in ended.err


def test_room_has_places_on_the_machine(tmp_path: Path, mpi_programs: Path) -> None:
    ended = run(tmp_path, "-n", "2", "--universe", "65", mpi_programs / "spawn")
    assert ended.code == 2
    assert "65 ranks at 1 a node need 65 nodes" in ended.err


def test_room_holds_the_ranks_of_the_start() -> None:
    with pytest.raises(
        UsageError, match="--universe 2: the run begins with 3 ranks; name at least as many"
    ):
        Options(3, universe=2)
    with pytest.raises(UsageError, match=r"--record: .*leave out --universe"):
        Options(3, universe=4, record=True)
    assert Options(3, universe=3, record=True).nodes(8) == [0, 1, 2]
    assert Options(2, universe=5, placement="cyclic", ranks_per_node=2).nodes(8) == [0, 1, 2, 0, 1]
