"""The programs that the simulated cluster is tested with pass on this machine, under the MPI they are built with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "mpi"
BIN = Path(sys.executable).parent


# MPICH's other network layer, UCX, spawns processes only now and then, and loses receives from any source.
ENVIRONMENT = os.environ | {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}


def run(ranks: int, *words: str | Path, seconds: float = 60, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "mpiexec", "-n", str(ranks), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=ENVIRONMENT | environment,
    )


@pytest.mark.parametrize("ranks", [2, 4])
def test_everything(mpi_programs: Path, ranks: int) -> None:
    """Its output is the same in shared memory and through the network."""
    ways: list[dict[str, str]] = [{}, {"MPIR_CVAR_NOLOCAL": "1"}]
    ended = [run(ranks, mpi_programs / "everything", "--no-order", **way) for way in ways]
    assert [one.returncode for one in ended] == [0, 0], ended[0].stderr + ended[1].stderr
    assert ended[0].stdout == ended[1].stdout
    lines = ended[0].stdout.splitlines()
    assert (lines[0], lines[-1], len(lines)) == (f"{ranks} ranks", "all is well", 24)


def test_everything_needs_two(mpi_programs: Path) -> None:
    ended = run(1, mpi_programs / "everything")
    assert ended.returncode == 1
    assert "there must be 2 processes or more, not 1" in ended.stderr


def test_order_is_shown(mpi_programs: Path) -> None:
    out = run(3, mpi_programs / "everything").stdout
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
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1:] == ([line] if line else [])


def test_without_mpi(mpi_programs: Path) -> None:
    assert run(2, mpi_programs / "nompi").stdout == "no MPI here\n" * 2


def test_deadlock_waits(mpi_programs: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(2, mpi_programs / "deadlock", seconds=2)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ring(ranks: int) -> None:
    ended = run(ranks, sys.executable, SOURCES / "ring.py")
    assert (ended.returncode, ended.stdout) == (0, f"{ranks} ranks, all is well\n"), ended.stderr
