"""The options of ``mpirun``, ``prun`` and ``replay``, and their pages' inputs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED
from elanite.cli import completion
from elanite.cli.common import Nodes, Role, Set, TableFormat
from elanite.cli.request import OptionGroup, PrintedDefault

if TYPE_CHECKING:
    from elanite.inputs.sources import Source
    from elanite.report.pages.files import CommandFiles

MOST_TEXT = 2**20
"""Bytes up to which a page embeds a text file that the program's words name."""

MOST_TRACE = 2**21
"""Bytes up to which a page embeds a trace."""


class NetworkModel(StrEnum):
    """Which network messages cross."""

    MACHINE = "machine"
    IDEAL = "ideal"


class Memory(StrEnum):
    """The message buffers' location."""

    MAIN = "main"
    ELAN = "elan"


MOST_FAULTS = 8
"""Failures that a summary shows one by one."""

MACHINE = "es40-qsnet"
"""The default machine."""

MachineName = Annotated[
    str,
    typer.Option(
        "--machine",
        "-m",
        metavar="MACHINE",
        autocompletion=completion.machines,
        help="A shipped machine or a machine file.",
    ),
    Role.INPUT,
    PrintedDefault(),
]
RanksPerNode = Annotated[
    int,
    typer.Option(
        "--ranks-per-node", min=1, metavar="K", help="Ranks on each node: N ranks take N / K nodes."
    ),
]
Placement = Annotated[
    str,
    typer.Option(
        "--placement",
        metavar="RULE|FILE",
        help="block, cyclic, random, or a file with the node of a rank on each line.",
    ),
    Role.INPUT,
]
NetworkName = Annotated[
    NetworkModel,
    typer.Option("--network", help="The machine's network, or one without contention."),
]
MemoryName = Annotated[
    Memory,
    typer.Option(
        "--memory", help="The memory of a node that holds messages: main memory, or the adapter's."
    ),
]
RanksSeed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**63,
        metavar="N",
        help="Seed of random placement, and of the machine's noise.",
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        help=(
            "A part that fails: \"link = 'node 3', at = '1 ms'\", in the words of [[fault]]. May be"
            " repeated."
        ),
    ),
]
LimitTime = Annotated[
    str | None,
    typer.Option(
        "--limit-time", metavar="TIME", help="End the run at this simulated time: 500us, 1s."
    ),
]
RunOut = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Folder below which the tables of the run are kept."),
    Role.HOST,
]
SummarisedAs = Annotated[
    TableFormat, typer.Option("--format", "-f", help="How to print the summary."), Role.OUTPUT
]
RunPage = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a page with the timeline of ranks, messages and links.",
    ),
    Role.OUTPUT,
]


@dataclass(frozen=True, kw_only=True)
class Launch(OptionGroup):
    """The machine, the ranks' places on it, and the network between them."""

    machine: MachineName = MACHINE
    set_: Set = None
    nodes: Nodes = None
    ranks_per_node: RanksPerNode = 1
    placement: Placement = "block"
    network: NetworkName = NetworkModel.MACHINE
    memory: MemoryName = Memory.MAIN
    seed: RanksSeed = FIRST_SEED
    fault: Faults = None
    limit_time: LimitTime = None

    def read(self) -> tuple[Source, list[str]]:
        """The machine, and its keys' changes."""
        from elanite.inputs import sources
        from elanite.mpirun.cluster import tree_of

        source = sources.read("machine", self.machine)
        return source, [*(self.set_ or []), *(tree_of(source, self.nodes) if self.nodes else [])]

    def copied(self, source: Source, files: CommandFiles) -> dict[str, str]:
        """The names of the machine and placement files within a page."""
        from elanite.mpirun.options import RULES

        own = self.placement not in RULES
        placed = {"placement": files.path(Path(self.placement))} if own else {}
        return {"machine": files.source(source), **placed}


def page_of(
    html: Path | None, out: Path, name: str, *, open_: bool, dry: bool = False
) -> Path | None:
    """The page's file, if one is asked for, after a look whether it can be written; a ``dry`` look
    makes no folder.

    Raises ``ElaniteError``.
    """
    page = html or (out / "report" / f"{name}.html" if open_ else None)
    if page is not None:
        from elanite.figures import vega

        vega.prepare(page, dry=dry)
    return page


def size(path: Path) -> int:
    """A file's bytes; 0 if it cannot be read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_text(path: Path) -> bool:
    """Whether a file is text that a page may embed."""
    try:
        bounded.load(path, MOST_TEXT).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return True
