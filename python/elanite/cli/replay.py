"""The command ``replay``: a GOAL trace on a simulated machine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import OUT, Open, Role, TableFormat, complain, console, data, opened, say, warn, warn_if_stale
from elanite.cli.launch import MOST_FAULTS, MOST_TRACE, Launch, Network, RunOut, RunPage, SummarisedAs, page_of, size
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.inputs.sources import Source
    from elanite.report.pages import Inputs
    from elanite.traces.replay import Replay as Replayed


@dataclass(frozen=True, kw_only=True)
class Replay(Request):
    """Replay a trace in GOAL on a simulated machine.

    \b
    Examples:
      elanite replay my_program.goal
      elanite replay my_program.goal --machine opteron-qsnet2 \\
        --ranks-per-node 2 --format json
      elanite replay my_program.goal --html replay.html --open
      elanite replay my_program.goal --network ideal
      elanite replay my_program.goal --set switch.circuit=wormhole --operations
      elanite replay training.goal --buffered "4 MB"
      elanite goal allreduce --ranks 16 --size "1 MB" | elanite replay -

    Each rank is a process of the machine. Its messages cross the simulated network, and its computation takes time of
    the processor. The trace may be larger than memory. DIR/replay keeps the tables of replays. The exit code is 2 if
    the trace is wrong, and 3 if receives wait for ever or messages have no receive at the end.
    """

    verb: ClassVar[str] = "replay"

    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="A file in GOAL, as text or of txt2bin; - is standard input."),
        Role.INPUT,
    ]
    launch: Launch = field(default_factory=Launch)
    buffered: Annotated[
        str | None,
        typer.Option(
            "--buffered",
            metavar="SIZE",
            help="Each pair of ranks buffers sends up to so many bytes: '4 MB'.  [default: none]",
        ),
    ] = None
    operations: Annotated[
        bool,
        typer.Option("--operations", help="Keep when each operation was free and ended, and the load of links, too."),
    ] = False
    html: RunPage = None
    open_: Open = False
    out: RunOut = OUT
    format_: SummarisedAs = TableFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import bounded

        with bounded.typed_file(self.trace, ".goal") as trace:
            self._replay(trace)

    def _replay(self, trace: Path) -> None:
        """Replay a trace, which is the argument or a copy of standard input."""
        from elanite.errors import ElaniteError
        from elanite.inputs.machine import Machine
        from elanite.library.noise import prepared
        from elanite.report import pages
        from elanite.report.pages import replay as of_replay
        from elanite.store import rescued
        from elanite.study import limits
        from elanite.traces.replay import Unfinished, keep, run

        page = page_of(self.html, self.out, trace.stem, open_=self.open_)
        prepared(self.out)
        source, changes = self.launch.read()
        if self.launch.network is not Network.IDEAL:
            warn(limits.of_machine(Machine.of(source, changes)))
        command = self.again(html=page)
        warn_if_stale()
        try:
            found = run(
                trace,
                source,
                changes,
                keep=self.operations or page is not None,
                buffered=self.buffered,
                ranks_per_node=self.launch.ranks_per_node,
                placement=self.launch.placement,
                network=self.launch.network.value,
                memory=self.launch.memory.value,
                seed=self.launch.seed,
                limit_time=self.launch.limit_time,
                faults=tuple(self.launch.fault or ()),
            )
        except Unfinished as error:
            _warnings(error.replay)
            if page is not None:
                pages.write(page, of_replay.unfinished(error, source, command, self.inputs(trace, source, page)))
                say(f"page: {page}")
            raise
        _warnings(found)
        kept, lost = rescued(lambda place: keep(found, place), self.out)
        folder = str(kept)
        if self.format_ is TableFormat.JSON:
            data(json.dumps(found.as_json(folder) | {"trace": str(self.trace)}))
        else:
            _print(found)
            say(f"kept in {folder}")
        if page is not None:
            pages.write(page, of_replay.page(found, source, command, self.inputs(trace, source, page)))
            say(f"page: {page}")
            if self.open_:
                opened(page)
        if lost:
            raise ElaniteError(lost)

    def inputs(self, trace: Path, source: Source, page: Path | None) -> Inputs:
        """The inputs of the page: trace, machine and placement. A large trace is named with its checksum."""
        from elanite.report.pages.files import Files

        files = Files()
        name = files.path(trace) if size(trace) <= MOST_TRACE else files.program(trace)
        words = self.words(Role.INPUT, Role.RESULT, trace=name, **self.launch.copied(source, files))
        return files.inputs(["elanite", self.verb, *words, *self.written(html=page)])


def _warnings(found: Replayed) -> None:
    for warning in found.warnings:
        complain(f"warning: {warning}")


def _print(found: Replayed) -> None:
    """The summary for people."""
    from elanite.base import build
    from elanite.base.rows import rows as rows_of
    from elanite.base.text import number
    from elanite.cli.tables import hottest
    from elanite.mpirun.summary import named, size
    from elanite.results.congestion import Fault, in_words

    figures, faults = found.as_json(), found.tables["faults"]
    screen, slowest = console(), figures["slowest"]
    ranks, ideal = found.tables["ranks"], figures["network"] == "ideal"
    tied = ranks.filter(ranks["end_us"] == slowest["end_us"])["rank"].to_list()
    computes = "it computes" if len(tied) == 1 else f"rank {slowest['rank']} computes"
    where = "an ideal network" if ideal else f"{figures['nodes']:,} nodes of {figures['machine']}"
    screen.print(f"{found.trace}: {figures['ranks']:,} ranks on {where}", style="bold", markup=False, soft_wrap=True)
    lines = {
        "simulated time": f"{number(figures['simulated_us'])} µs",
        "processor time": f"{figures['cpu_seconds']:.2f} s",
        "operations": f"{figures['operations']:,}",
        "messages": f"{figures['messages']:,}",
        **({"buffers": f"{size(found.buffered)} for each pair of ranks"} if found.buffered else {}),
        "payload": size(figures["bytes"]) + ("" if ideal else f"; {figures['packets']:,} packets in the network"),
        "slowest": f"{named(tied)}; {computes} {number(slowest['computed_us'])} µs",
    }
    for word, text in lines.items():
        screen.print(f"  {word:16}{text}", markup=False)
    if figures["links"]:
        screen.print(hottest(figures["links"]))
    for one in rows_of(faults.head(MOST_FAULTS), Fault):
        screen.print(f"  {'failed':16}{in_words(one)}", markup=False)
    if len(faults):
        screen.print(f"  {'sent again':16}{figures['packets_resent']:,} packets", markup=False)
    screen.print(f"  {'digest':16}{figures['digest']}", markup=False)
    screen.print(f"  {'build':16}{build.here()}", markup=False, soft_wrap=True)
