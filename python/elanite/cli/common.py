"""The parts that commands share: options, output formats, the version."""

from __future__ import annotations

import os
import sys
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.base.streams import shown
from elanite.cli import completion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from typer.models import OptionInfo

    from elanite.store import Store
    from elanite.study.limits import Limit

OUT = Path("out")


class Role(Enum):
    """The command lines in which an option appears (``elanite.cli.request``)."""

    RESULT = auto()
    """It decides the results: all command lines have it. The default role."""
    INPUT = auto()
    """It names an input file; a page's command names the copy within the page."""
    OUTPUT = auto()
    """It names an output file or a format; a page's command writes beside its inputs."""
    HOST = auto()
    """It decides where and how fast the command runs; pages leave it out."""
    ONCE = auto()
    """It concerns this call alone, as ``--open`` does."""


class OutputFormat(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


class TableFormat(StrEnum):
    """Print formats of results that are not table rows."""

    TABLE = "table"
    JSON = "json"


class BoardFormat(StrEnum):
    """How the scoreboard is printed."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


AfterQuick = Annotated[
    bool,
    typer.Option("--quick", help="Use the points of `elanite reproduce --quick` and `--decide`."),
]
Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        min=1,
        max=262144,
        metavar="N",
        help="Nodes of the machine, in the smallest tree of its switches.",
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser."), Role.ONCE]


Out = Annotated[
    Path,
    typer.Option(
        "--out", metavar="DIR", help="Folder of the store, the report and the scoreboard."
    ),
    Role.HOST,
]


def machine_option(text: str) -> OptionInfo:
    """The option ``--machine`` for one machine, with its help text."""
    found: OptionInfo = typer.Option(
        "--machine", "-m", metavar="MACHINE", autocompletion=completion.machines, help=text
    )
    return found


MachineFile = Annotated[
    str | None,
    machine_option("A shipped machine or a machine file.  [default: the experiment's]"),
    Role.INPUT,
]
MachineFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        autocompletion=completion.machines,
        help=(
            "A shipped machine or a machine file; repeat it to compare machines.  [default: the"
            " experiment's]"
        ),
    ),
    Role.INPUT,
]
ExperimentOrRun = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A shipped experiment, an experiment file, or the folder of a kept run or replay.",
        autocompletion=completion.experiments,
    ),
    Role.INPUT,
]
PointId = Annotated[
    list[str] | None,
    typer.Option(
        "--point", metavar="ID", help="Only points whose identity starts with ID; may be repeated."
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="Points to simulate in parallel.  [default: all cores]",
    ),
    Role.HOST,
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=256,
        metavar="N",
        help=(
            "Threads inside a point; results stay.  [default: several for large networks on idle"
            " cores]"
        ),
    ),
    Role.HOST,
]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="ENGINE",
        help="Execution engine: threads, processes, dask, slurm, flux, mpi, or module:factory.",
    ),
    Role.HOST,
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Scheduler of Dask (tls://host:8786).  [default: processes of this host]",
    ),
    Role.HOST,
]
Tls = Annotated[
    tuple[Path, Path, Path] | None,
    typer.Option(
        "--tls",
        metavar="CA CERT KEY",
        help="Files that identify the scheduler and this command (PEM).",
    ),
    Role.HOST,
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, metavar="N", help="Workers of the engine, running or to be started."
    ),
    Role.HOST,
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="K/N", help="Only the K-th of N parts of the points, from 1 on."
    ),
    Role.HOST,
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0,
        metavar="HOURS",
        help="Do not simulate if the estimated processor time is longer.",
    ),
    Role.HOST,
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Check the inputs, print the work and its expected cost; write nothing."
    ),
    Role.ONCE,
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        autocompletion=completion.metrics,
        help="Print only this metric; may be repeated. Pages and pictures keep theirs.",
    ),
]
SeriesNames = Annotated[
    list[str] | None,
    typer.Option(
        "--series",
        metavar="NAME",
        autocompletion=completion.series,
        help="Run and print only this series; may be repeated.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="KEY=VALUE",
        autocompletion=completion.conditions,
        help=(
            "Run and print only points with this parameter; may be repeated, also for several"
            " values of one key."
        ),
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page: findings, figures, inputs."),
    Role.OUTPUT,
]
Svg = Annotated[
    Path | None,
    typer.Option(
        "--svg", metavar="FILE", help="Write the figures with their captions as one picture."
    ),
    Role.OUTPUT,
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**63, metavar="N", help="The first seed.")]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="All papers in a few minutes: shorter windows, one seed, wider intervals."
    ),
]
Decide = Annotated[
    bool,
    typer.Option(
        "--decide", help="As --quick, then more runs where a claim is not resolved, up to a budget."
    ),
]


Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        autocompletion=completion.keys,
        help="Override a key of the machine or the experiment; may be repeated.",
    ),
]


def console(*, error: bool = False) -> Console:
    """A console for tables on standard output, or for people on standard error; NO_COLOR is
    honoured.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        """A console whose reader may leave early, as `head` does, and that shows foreign text."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            """A line's parts, with symbols in place of control characters."""
            for part in super().render(renderable, options):
                yield part if part.control else Segment(shown(part.text), part.style)

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 160
    return Screen(stderr=error, width=width, highlight=False, soft_wrap=False)


Padding = tuple[int, int] | tuple[int, int, int, int]
"""The blanks around a cell: above, at the right, below, at the left; or above and beside it."""


def table(headings: Iterable[str], right: Iterable[str] = (), padding: Padding = (0, 1)) -> Table:
    """A table without rows yet; the columns of the ``right`` headings are aligned to the right."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False, header_style="bold", padding=padding)
    for heading in headings:
        found.add_column(heading, justify="right" if heading in right else "left")
    return found


class Speech:
    """Whether the command prints notes on standard error."""

    quiet = False


def say(text: str) -> None:
    """Print a line for people on standard error, except with --quiet."""
    if not Speech.quiet:
        typer.echo(shown(text), err=True)


def warn(limits: Iterable[Limit]) -> None:
    """Print a plan's limits on standard error, a line for each, except with --quiet."""
    for limit in limits:
        say(str(limit))


def opened(page: Path) -> None:
    """Open a page in a browser, or print a note without one."""
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        complain(f"there is no browser here; open {page.resolve()} elsewhere")


def complain(text: str) -> None:
    """Print an error on standard error, also with --quiet."""
    typer.echo(shown(text), err=True)


def quiet() -> bool:
    """Whether --quiet was given."""
    return Speech.quiet


def data(text: str) -> None:
    """Data, on standard output."""
    typer.echo(shown(text))


def about_version(wanted: bool) -> None:
    """Print the version, the model revision and the build, and leave."""
    if wanted:
        from elanite.base import build

        data(str(build.own_build()))
        warn_if_stale()
        raise typer.Exit


def say_builds(store: Store) -> None:
    """Name the builds behind the points that were read from a store, unless this build has computed
    all of them.
    """
    from elanite.base import build

    if note := build.note(store.builds()):
        say(
            f"warning: {note}; elanite run and elanite reproduce simulate points of other builds"
            " again"
        )


def warn_if_stale() -> None:
    """Warn that the checkout's sources have changed since the simulator was compiled."""
    from elanite.base import build

    if build.stale():
        complain(f"warning: {build.STALE}")
