"""The programs that test the simulated cluster pass on this machine, under the MPI with which they
are built.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BIN, FILES, PATIENCE, Ended, environment, execute

# MPICH's other network layer, UCX, spawns processes only now and then, and loses receives from any
# source.
NETWORK = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}


def run(ranks: int, *words: str | Path, seconds: float = PATIENCE, **more: str) -> Ended:
    return execute(
        [BIN / "mpiexec", "-n", str(ranks), *words], seconds, env=environment() | NETWORK | more
    )


@pytest.mark.parametrize("ranks", [2, 4])
def test_everything(mpi_programs: Path, ranks: int) -> None:
    """Its output is the same in shared memory and through the network."""
    ways: list[dict[str, str]] = [{}, {"MPIR_CVAR_NOLOCAL": "1"}]
    ended = [run(ranks, mpi_programs / "everything", "--no-order", **way) for way in ways]
    assert [one.code for one in ended] == [0, 0], ended[0].err + ended[1].err
    assert ended[0].out == ended[1].out
    lines = ended[0].out.splitlines()
    assert (lines[0], lines[-1], len(lines)) == (f"{ranks} ranks", "all is well", 24)


def test_everything_needs_two(mpi_programs: Path) -> None:
    ended = run(1, mpi_programs / "everything")
    assert ended.code == 1
    assert "there must be 2 processes or more, not 1" in ended.err


def test_order_is_shown(mpi_programs: Path) -> None:
    out = run(3, mpi_programs / "everything").out
    (collected,) = [line.split() for line in out.splitlines() if line.startswith(("  1.", "  2."))]
    assert sorted(collected) == ["1.0", "1.1", "1.2", "2.0", "2.1", "2.2"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["busy"], "all is well"),
        (["messages", "100", "--no-order"], "200 messages"),
        (["spawn"], "two children greeted"),
        (["threads"], "4 threads exchanged 200 messages each"),
        (["empty"], None),
    ],
)
def test_program(mpi_programs: Path, words: list[str], line: str | None) -> None:
    ended = run(2, mpi_programs / words[0], *words[1:])
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1:] == ([line] if line else [])


def test_without_mpi(mpi_programs: Path) -> None:
    """On a busy host mpiexec may lose the output of a process that ends immediately."""
    assert any(run(2, mpi_programs / "nompi").out == "no MPI here\n" * 2 for _ in range(5))


def test_deadlock_waits(mpi_programs: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(2, mpi_programs / "deadlock", seconds=2)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ring(ranks: int) -> None:
    ended = run(ranks, sys.executable, FILES.parent / "mpi" / "ring.py")
    assert (ended.code, ended.out) == (0, f"{ranks} ranks, all is well\n"), ended.err
