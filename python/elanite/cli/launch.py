"""The options of ``mpirun``, ``prun`` and ``replay``, and the inputs of their pages."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.base import bounded
from elanite.cli.common import TableFormat
from elanite.inputs.plan import FIRST_SEED
from elanite.mpirun.options import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.sources import Source
    from elanite.report.pages import Inputs
    from elanite.report.pages.files import Files

MOST_TEXT = 2**20
"""Bytes up to which a page embeds a text file that the program's words name."""

MOST_TRACE = 2**21
"""Bytes up to which a page embeds a trace."""


class Network(StrEnum):
    """Which network messages cross."""

    MACHINE = "machine"
    IDEAL = "ideal"


class Memory(StrEnum):
    """Where the buffers of messages lie."""

    MAIN = "main"
    ELAN = "elan"


MACHINE = "es40-qsnet"
"""The machine of a run without ``--machine``."""

MachineName = Annotated[
    str,
    typer.Option("--machine", "-m", metavar="MACHINE", help="A shipped machine or a machine file."),
]
RanksPerNode = Annotated[
    int, typer.Option("--ranks-per-node", min=1, metavar="K", help="Ranks on each node: N ranks take N / K nodes.")
]
Placement = Annotated[
    str,
    typer.Option(
        "--placement",
        metavar="RULE|FILE",
        help="block, cyclic, random, or a file with the node of a rank on each line.",
    ),
]
NetworkName = Annotated[Network, typer.Option("--network", help="The machine's network, or one without contention.")]
MemoryName = Annotated[
    Memory,
    typer.Option("--memory", help="The memory of a node that holds messages: main memory, or the adapter's."),
]
RanksSeed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**63, metavar="N", help="Seed of random placement, and of the machine's noise."),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        help="A part that fails: \"link = 'node 3', at = '1 ms'\", in the words of [[fault]]. May be repeated.",
    ),
]
LimitTime = Annotated[
    str | None, typer.Option("--limit-time", metavar="TIME", help="End the run at this simulated time: 500us, 1s.")
]
RunOut = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder below which the tables of the run are kept.")
]
SummarisedAs = Annotated[TableFormat, typer.Option("--format", "-f", help="How to print the summary.")]
RunPage = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page with the timeline of ranks, messages and links."),
]


@dataclass(frozen=True)
class Launch:
    """The shared options as they were given."""

    machine: str
    set_: Sequence[str]
    nodes: int | None
    ranks_per_node: int
    placement: str
    ideal: bool
    adapter_memory: bool
    seed: int
    faults: Sequence[str]
    limit_time: str | None

    def words(self, machine: str | None = None, placement: str | None = None) -> list[str]:
        """The command line's words, with other names for the machine and the placement file if given."""
        found = ["--machine", machine or self.machine]
        found += [word for change in self.set_ for word in ("--set", change)]
        found += ["--nodes", str(self.nodes)] if self.nodes else []
        found += ["--ranks-per-node", str(self.ranks_per_node)] if self.ranks_per_node > 1 else []
        found += ["--placement", placement or self.placement] if self.placement != "block" else []
        found += ["--network", "ideal"] if self.ideal else []
        found += ["--memory", "elan"] if self.adapter_memory else []
        found += ["--seed", str(self.seed)] if self.seed != FIRST_SEED else []
        found += [word for fault in self.faults for word in ("--fault", fault)]
        found += ["--limit-time", self.limit_time] if self.limit_time else []
        return found

    def inputs_of_program(
        self, source: Source, command: Sequence[str], own: Sequence[str], program: Sequence[str], written: Sequence[str]
    ) -> Inputs:
        """The inputs for an ``mpirun`` page: machine, placement, and text files that the program's words name.

        ``command`` are the first words, ``own`` the options that are not shared, ``written`` those of
        output files (``pages.files.outputs``). The program itself is named with its
        checksum; one that the PATH finds, such as an interpreter, is named only.
        """
        from elanite.report.pages.files import Files

        files = Files()
        words = [*command, *self.words(files.source(source), self._placement(files)), *own]
        first, *others = program
        if "/" in first:
            path, known = Path(first), shutil.which(Path(first).name)
            first = path.name if known and path.samefile(known) else f"./{files.program(path)}"
        words += [*written, first]
        for word in others:
            path = Path(word)
            if path.is_file():
                word = files.path(path) if _is_text(path) else files.program(path)
            words.append(word)
        return files.inputs(words)

    def inputs_of_trace(self, source: Source, trace: Path, options: Sequence[str]) -> Inputs:
        """The inputs for a ``replay`` page: trace, machine and placement. A large trace is named with its checksum.

        ``options`` are those that are not shared, and those of output files (``pages.files.outputs``).
        """
        from elanite.report.pages.files import Files

        files = Files()
        name = files.path(trace) if _size(trace) <= MOST_TRACE else files.program(trace)
        words = ["elanite", "replay", name, *self.words(files.source(source), self._placement(files))]
        return files.inputs([*words, *options])

    def _placement(self, files: Files) -> str:
        return self.placement if self.placement in RULES else files.path(Path(self.placement))


def page_of(html: Path | None, out: Path, name: str, *, open_: bool) -> Path | None:
    """The file of the page, if one is asked for, after a look whether it can be written. Raises ``ElaniteError``."""
    from elanite.base import whole

    page = html or (out / "report" / f"{name}.html" if open_ else None)
    if page is not None:
        whole.prepare(page)
    return page


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_text(path: Path) -> bool:
    try:
        bounded.load(path, MOST_TEXT).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return True
