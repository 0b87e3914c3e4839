"""mpi4py's own test suite on the simulated cluster, compared with the suite on this machine."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import mpi4py_suite
from conftest import BIN, PATIENCE, command, environment, needs_mpi
from mpi4py_suite import AGAIN, FAILURES, FAILURES_OF_TWO, QUICK_SIMULATED, SIMULATED, TIMED

# Each rank only its network, as the simulated cluster does it; without the first, MPICH takes UCX
# and no provider.
NETWORK = {"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp"}


@pytest.fixture(scope="session")
def tests() -> Path:
    return mpi4py_suite.fetch()


def run(
    tests: Path, ranks: int, words: list[str], limit: float, **more: str
) -> mpi4py_suite.Outcome:
    launcher = [str(BIN / "mpiexec"), "-n", str(ranks)]
    return mpi4py_suite.run(launcher, tests, words, limit, os.environ | more)


def simulate(
    tests: Path, ranks: int, words: list[str], limit: float, out: Path, collectives: str = "mpi"
) -> mpi4py_suite.Outcome:
    options = [
        "--machine",
        "es40-qsnet",
        "--quiet",
        "--out",
        str(out),
        "--collectives",
        collectives,
    ]
    launcher = command("mpirun", "-n", str(ranks), *options)
    return mpi4py_suite.run(launcher, tests, words, limit, environment())


def check(outcome: mpi4py_suite.Outcome, known: set[str] = FAILURES) -> None:
    """It has ended, with only known failures."""
    assert outcome.tests, outcome.out
    assert set(outcome.bad()) <= known | TIMED, f"{outcome.bad()}\n{outcome.out}"
    assert outcome.code == (1 if outcome.bad() else 0), outcome.out


def test_outcome_is_read(tests: Path) -> None:
    """For two modules on two ranks: the passed tests, and the failures in the library."""
    outcome = run(tests, 2, mpi4py_suite.include(["test_msgzero", "test_mpiabi"]), 60)
    assert outcome.counts() == {"ok": 10, "failure": 1}, outcome.out
    assert set(outcome.bad()) == FAILURES
    assert {len(ranks) for ranks in outcome.tests.values()} == {2}
    assert outcome.code == 1


def test_run_that_does_not_end(tests: Path, tmp_path: Path) -> None:
    """It is ended, and its test is named."""
    shutil.copy(tests / "main.py", tmp_path)
    lines = [
        "import time, unittest",
        "class Test(unittest.TestCase):",
        "    def test_sleep(self): time.sleep(60)",
    ]
    (tmp_path / "test_long.py").write_text("\n".join(lines))
    outcome = run(tmp_path, 2, mpi4py_suite.include(["test_long"]), 4)
    assert outcome.code is None
    assert outcome.bad() == {"test_long.Test.test_sleep": ("unfinished", "")}


@needs_mpi
@pytest.mark.parametrize("collectives", ["mpi", pytest.param("hardware", marks=pytest.mark.slow)])
def test_simulated_quickly(tests: Path, tmp_path: Path, collectives: str) -> None:
    """The tests that exercise the network most."""
    names = [
        name
        for name in mpi4py_suite.chosen(tests, "|".join(QUICK_SIMULATED))
        if not re.fullmatch(mpi4py_suite.EXPENSIVE, name)
    ]
    outcome = simulate(
        tests, 2, mpi4py_suite.include(names, [AGAIN]), 4 * PATIENCE, tmp_path, collectives
    )
    check(outcome, set())
    assert {name.split(".")[0] for name in outcome.tests} >= set(names)
    assert outcome.counts()["ok"] > 350


@needs_mpi
def test_simulated_message_to_itself(tests: Path, tmp_path: Path) -> None:
    """Two ranks with MPICH's known failure: reported as such, with the places where the ranks
    wait.
    """
    outcome = simulate(tests, 2, mpi4py_suite.include(["test_comm_topo"]), 120, tmp_path)
    failure = min(FAILURES_OF_TWO)  # the first one ends the run
    assert outcome.tests[failure][0][0] == "failure", outcome.out
    assert "(4, 3, False) != (3, 3, False)" in outcome.tests[failure][0][1]
    assert outcome.code == 3
    assert "deadlock" in outcome.out


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize(("ranks", "collectives"), [(2, "mpi"), (4, "mpi"), (4, "hardware")])
def test_simulated(tests: Path, ranks: int, collectives: str, tmp_path: Path) -> None:
    """The whole suite except tests that start processes; test_io with four ranks takes a million
    messages.
    """
    but = FAILURES_OF_TWO if ranks == 2 else set()
    for name in mpi4py_suite.chosen(tests, SIMULATED):
        check(
            simulate(tests, ranks, mpi4py_suite.include([name], but), 1800, tmp_path, collectives)
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "network"), [(2, {}), (4, {}), (2, NETWORK)], ids=["2", "4", "2, network"]
)
def test_suite(tests: Path, ranks: int, network: dict[str, str]) -> None:
    """The whole suite, as in docs/mpi4py.md; through a real network, four ranks on two processors
    take too long.
    """
    but = FAILURES_OF_TWO if network else set()
    for name in mpi4py_suite.modules(tests):
        check(run(tests, ranks, mpi4py_suite.include([name], but), 4 * PATIENCE, **network))
