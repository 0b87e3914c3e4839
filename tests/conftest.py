"""Shared test fixtures: the command line as a user runs it, and a campaign of a few seconds."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import surroundings  # before what is imported below reads the environment

# isort: split
import polars as pl
import psutil
import pytest

import forks
from elanite import _core, figures
from elanite.inputs import sources
from elanite.mpirun.launcher import LIBRARY
from elanite.validation.claims import claims
from elanite.validation.scoreboard import measured
from elanite.validation.verdict import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Row = dict[str, Any]

FILES = Path(__file__).parent / "files"
SMALL = str(FILES / "small.toml")
OTHERS_FILES = r"^/(?!dev/shm/).*/(?!hydra)[^/]*$"
"""Files that other jobs on this host may make during a run: all temporary ones except MPICH's
launcher's.
"""
FAKE = FILES / "fake_mpirun.py"
"""The command line with a fake simulator for MPI programs."""
COMPILER = FILES / "compiler.py"
"""``oshcc`` or ``elancc``, whichever is the first argument."""

BIN = Path(sys.executable).parent
"""Where the environment has its programs: mpicc, mpiexec."""

needs_mpi = pytest.mark.skipif(
    not (BIN / "mpicc").exists()
    or not (FILES.parents[1] / "python" / "elanite" / LIBRARY).exists(),
    reason="no mpich, or the library of ranks is not built: make build",
)


def pytest_collection_finish() -> None:
    """The garbage collector need not repeatedly scan the imports shared by all tests."""
    gc.collect()
    gc.freeze()


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return (
            f"exit code {self.code}\n--- standard output\n{self.out}\n--- standard"
            f" error\n{self.err}"
        )


PATIENCE = 300.0
"""Seconds after which an operation counts as hung, even on a busy host.

It is not used for measurements.
"""


@pytest.fixture(autouse=True)
def same_surroundings() -> Iterator[None]:
    """Tests leave the environment and the current folder as they were: their order does not
    matter.
    """
    with surroundings.unchanged():
        yield


def environment() -> dict[str, str]:
    """A user's environment, with a plain 100-column terminal."""
    return os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}


def background() -> None:
    """The actions of a shell without job control before it becomes a background command
    (``preexec_fn``).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "elanite", *arguments]


@cache
def preloaded() -> forks.Commands:
    """The process that commands are forked from, started when it is first needed."""
    return forks.Commands(environment())


def execute(words: Sequence[str | Path], seconds: float | None = 2 * PATIENCE, **how: Any) -> Ended:
    """Run a command to its end, in a user's environment."""
    how = {"env": environment()} | how
    ours = words[0] == sys.executable and (
        words[1:3] == ["-m", "elanite"] or words[1] in (FAKE, COMPILER)
    )
    if ours and how.keys() <= {"env", "cwd"}:
        forked = preloaded()
        if forked.serves(how["env"]):
            return Ended(
                *forked.run([str(word) for word in words[1:]], how["env"], how.get("cwd"), seconds)
            )
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=seconds, check=False, **how
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Kills processes and their children: a Dask worker that is asked to end may wait for its
    scheduler for ever.
    """
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
        process.kill()
    for process in processes:
        process.wait(PATIENCE)


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether a condition becomes true before it must be taken for one that never does."""
    end = time.monotonic() + seconds
    while not (now := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return now


def frame(rows: Sequence[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def judged(identity: str, rows: Sequence[Row] | pl.DataFrame) -> Verdict:
    """The verdict on a claim, from synthetic results as from real ones."""
    (claim,) = (claim for claim in claims() if claim.id == identity)
    return judge(claim, measured(claim, rows if isinstance(rows, pl.DataFrame) else frame(rows)))


def data(figure: figures.Figure, column: str) -> list[Row]:
    """The rows from all data sets in a figure that have a column."""
    sets: dict[str, list[Row]] = figure.spec()["datasets"]
    return [row for rows in sets.values() for row in rows if column in row]


def figures_of(
    experiment: str, rows: pl.DataFrame, table: str = "rows", *, validate: bool = True
) -> list[figures.Figure]:
    """A shipped experiment's figures from one table's rows; every chart fits the Vega-Lite
    schema.
    """
    file = sources.read("experiment", experiment)
    asked = json.loads(_core.load_experiment(file.text, file.file, []))["figure"]
    own = {name: own[0] for name, own in figures.OWN.items()}
    found = [
        figure
        for one in asked
        if one["draw"] != "congestion" and own.get(one["draw"], "rows") == table
        for figure in figures.draw(one, rows)
    ]
    for figure in found if validate else ():
        figure.chart.to_dict(validate=True)
    return found


@pytest.fixture
def elanite(tmp_path: Path) -> Callable[..., Ended]:
    """Run ``elanite`` in an empty folder."""

    def run(*arguments: str, cwd: Path = tmp_path) -> Ended:
        return execute(command(*arguments), cwd=cwd)

    return run


@pytest.fixture
def elanite_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run ``elanite`` in an empty folder and in this process, where tests replace functions."""
    from elanite.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as leaving:
            main(list(arguments))
        said = capsys.readouterr()
        return Ended(int(leaving.value.code or 0), said.out, said.err)

    return run


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small campaign's folder after an uninterrupted run."""
    out = tmp_path_factory.mktemp("campaign")
    assert execute(command("run", SMALL, "--out", str(out), "--format", "csv")).code == 0
    return out


@contextlib.contextmanager
def without_blanks(folder: Path) -> Iterator[Path]:
    """A folder for paths that end at a blank: in ``LD_PRELOAD``, in a script's first line, in a
    makefile. It is ``folder`` itself if temporary folders have no blanks in their paths.
    """
    if " " not in str(folder):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="elanite-", dir="/tmp") as other:
        yield Path(other)


@pytest.fixture
def plain_path(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder without blanks in its path."""
    with without_blanks(tmp_path) as folder:
        yield folder


def _built(sources: Path, folder: Path, *options: str) -> Path:
    """Build C programs in a separate folder, with a path that make does not see: it may have
    blanks.
    """
    for source in [*sources.glob("*.[ch]"), sources / "Makefile"]:
        shutil.copy(source, folder)
    words = ["make", "--silent", "-j2", f"MPICC={BIN / 'mpicc'}", *options]
    subprocess.run(words, cwd=folder, check=True, timeout=2 * PATIENCE)
    return folder


@pytest.fixture(scope="session")
def mpi_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs in tests/mpi, built once by the environment's compiler."""
    return _built(FILES.parent / "mpi", tmp_path_factory.mktemp("mpi-programs"))


@pytest.fixture(scope="session")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs in ``benchmarks/mpi``, built without a warning."""
    return _built(
        FILES.parents[1] / "benchmarks" / "mpi",
        tmp_path_factory.mktemp("benchmarks"),
        "CFLAGS=-O2 -Werror",
    )
