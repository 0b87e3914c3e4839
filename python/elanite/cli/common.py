"""What the commands share: options, output formats, the version."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.table import Table

OUT = Path("out")


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


class BoardFormat(StrEnum):
    """How the scoreboard is printed."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the store, the report and the scoreboard.")]
MachineFile = Annotated[
    str | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        help="A shipped machine or a machine file.  [default: the experiment's]",
    ),
]
MachineFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        help="A shipped machine or a machine file; repeat it to compare machines.  [default: the experiment's]",
    ),
]
PointId = Annotated[
    list[str] | None,
    typer.Option("--point", metavar="ID", help="Only points whose identity starts with ID; may be repeated."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Points to simulate at the same time.  [default: all cores]"),
]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="ENGINE",
        help="Who simulates: threads, dask, slurm, flux, mpi, or module:factory.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Scheduler of Dask (tcp://host:8786).  [default: a cluster on this host]"
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Workers that the engine has, or is to start."),
]
Shard = Annotated[
    str | None, typer.Option("--shard", metavar="K/N", help="Only the K-th of N parts of the points, from 1 on.")
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost", min=0, metavar="HOURS", help="Simulate nothing if the estimate is more CPU-hours than this."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The first seed.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a key of the machine or the experiment; may be repeated."
    ),
]


def console(*, error: bool = False) -> Console:
    """A console for tables on standard output, or for people on standard error; NO_COLOR is honoured."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 160
    return Console(stderr=error, width=width, highlight=False, soft_wrap=False)


def table(headings: Iterable[str], right: Iterable[str] = (), **look: Any) -> Table:
    """A table without rows yet; the columns of some headings are aligned to the right."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False, header_style="bold", **look)
    for heading in headings:
        found.add_column(heading, justify="right" if heading in right else "left")
    return found


def say(text: str) -> None:
    """A line for people, on standard error."""
    typer.echo(text, err=True)


def data(text: str) -> None:
    """Data, on standard output."""
    typer.echo(text)


def about_version(wanted: bool) -> None:
    """Print the versions of the package and of the model, and leave."""
    if wanted:
        from elanite import _core

        data(f"elanite {_core.VERSION} (model revision {_core.MODEL_REVISION})")
        raise typer.Exit
