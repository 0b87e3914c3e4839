"""What the tests share: the command line as a user runs it, and a campaign of a few seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elanite import _core, figures, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

FILES = Path(__file__).parent / "files"
SMALL = str(FILES / "small.toml")


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- standard output\n{self.out}\n--- standard error\n{self.err}"


def environment() -> dict[str, str]:
    """The environment of a user with a plain terminal of 100 columns."""
    chosen = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "PYTHONWARNINGS")}
    return chosen | {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "elanite", *arguments]


def figures_of(experiment: str, rows: pl.DataFrame, table: str = "rows") -> list[figures.Figure]:
    """What a shipped experiment draws of the rows of one table."""
    file = sources.read("experiment", experiment)
    asked = json.loads(_core.load_experiment(file.text, file.file, []))["figure"]
    own = {name: own[0] for name, own in figures.OWN.items()}
    return [
        figure
        for one in asked
        if one["draw"] != "congestion" and own.get(one["draw"], "rows") == table
        for figure in figures.draw(one, rows)
    ]


@pytest.fixture
def elanite(tmp_path: Path) -> Callable[..., Ended]:
    """Run ``elanite`` in an empty folder."""

    def run(*arguments: str, cwd: Path = tmp_path) -> Ended:
        ended = subprocess.run(
            command(*arguments), capture_output=True, text=True, cwd=cwd, env=environment(), timeout=300, check=False
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small campaign after an uninterrupted run."""
    out = tmp_path_factory.mktemp("campaign")
    subprocess.run(
        command("run", SMALL, "--out", str(out), "--format", "csv"),
        check=True,
        capture_output=True,
        env=environment(),
        timeout=300,
    )
    return out


@pytest.fixture(scope="session")
def mpi_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of tests/mpi, built once by the compiler of the environment."""
    sources = Path(__file__).parent / "mpi"
    folder = tmp_path_factory.mktemp("mpi-programs")
    words = [
        "make",
        "--silent",
        "-j2",
        "-C",
        str(sources),
        f"OUT={folder}",
        f"MPICC={Path(sys.executable).parent / 'mpicc'}",
    ]
    subprocess.run(words, check=True, timeout=120)
    return folder
