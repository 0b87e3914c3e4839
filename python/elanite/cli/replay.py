"""The command ``replay``: a GOAL trace on a simulated machine."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import (
    OUT,
    DryRun,
    Open,
    Role,
    TableFormat,
    complain,
    console,
    data,
    opened,
    say,
    table,
    warn,
    warn_if_stale,
)
from elanite.cli.launch import (
    MOST_FAULTS,
    MOST_TRACE,
    Launch,
    NetworkModel,
    RunOut,
    RunPage,
    SummarisedAs,
    page_of,
    size,
)
from elanite.cli.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.inputs.sources import Source
    from elanite.library.api import Result
    from elanite.report.pages import Inputs
    from elanite.traces.replay import Replay as Replayed
    from elanite.traces.replay import ReplayKeywords


@dataclass(frozen=True, kw_only=True)
class Replay(Request):
    """Replay traces in GOAL on a simulated machine.

    \b
    Examples:
      elanite replay my_program.goal
      elanite replay my_program.goal --machine opteron-qsnet2 \\
        --ranks-per-node 2 --format json
      elanite replay my_program.goal --html replay.html --open
      elanite replay my_program.goal --network ideal
      elanite replay my_program.goal --set switch.circuit=wormhole --operations
      elanite replay training.goal --buffered "4 MB"
      elanite replay my_program.goal --compute-scale 0.5
      elanite replay training.goal other.goal --at "nodes = '0-15'" \\
        --at "nodes = '8-23', start = '200 us'" --machine infiniband-ndr
      elanite goal allreduce --ranks 16 --size "1 MB" | elanite replay -

    Each rank is a process of the machine. Its messages cross the simulated network, and its
    computation takes time of the processor. The trace may be larger than memory. DIR/replay keeps
    the tables of replays. The exit code is 2 if the trace is wrong, and 3 if receives never
    complete or messages remain without a receive.

    Several traces run at the same time, as in an experiment file with [series.traces.NAME] for
    each: each also runs alone, and the links that they share are listed. Results are kept as those
    of `elanite run`.
    """

    verb: ClassVar[str] = "replay"

    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE", help="Files in GOAL, as text or of txt2bin; - is standard input."
        ),
        Role.INPUT,
    ]
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="KEYS",
            help=(
                "Of the traces in their order, the keys of [series.traces]: nodes, start,"
                " processes, buffered, class.  [default: nodes behind those of the trace before]"
            ),
        ),
    ] = None
    launch: Launch = field(default_factory=Launch)
    buffered: Annotated[
        str | None,
        typer.Option(
            "--buffered",
            metavar="SIZE",
            help="Send buffer of each pair of ranks: '4 MB'.  [default: none]",
        ),
    ] = None
    compute_scale: Annotated[
        list[str] | None,
        typer.Option(
            "--compute-scale",
            metavar="FACTOR",
            help=(
                "Multiply the trace's computation times: 0.5, '0-3,8=2' for some ranks,"
                " '*MPI_Allreduce*=2' for regions by a pattern, or '0-3:*MPI_Allreduce*=2'."
                "  [default: the trace's times; may be repeated]"
            ),
        ),
    ] = None
    operations: Annotated[
        bool,
        typer.Option(
            "--operations",
            help="Keep when each operation was free and ended, and the load of links, too.",
        ),
    ] = False
    dry_run: DryRun = False
    html: RunPage = None
    open_: Open = False
    out: RunOut = OUT
    format_: SummarisedAs = TableFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import bounded

        if len(self.traces) > 1 or self.at:
            self._together()
            return
        with bounded.typed_file(self.traces[0], ".goal") as trace:
            self._replay(trace)

    def _together(self) -> None:
        """Replay several traces as the experiment that has them."""
        from elanite.cli.engine import Campaign
        from elanite.cli.results import Pictures, finish, stop_if_interrupted
        from elanite.errors import UsageError
        from elanite.inputs.plan import plan
        from elanite.library.api import Result
        from elanite.report.pages import files
        from elanite.store import Store
        from elanite.study import limits
        from elanite.traces import joint_replay

        if self.launch.placement != "block":
            raise UsageError(
                "--placement is for one trace; give several traces their nodes:"
                " --at \"nodes = '0-15'\" for each"
            )
        self.refuse(
            "several traces",
            *("traces", "at", "machine", "set_", "nodes", "ranks_per_node", "seed", "fault"),
            *("buffered", "html", "open_", "out", "format_", "dry_run"),
        )
        source, changes = self.launch.read()
        asked = joint_replay.experiment(
            self.traces,
            source.argument,
            self.at or (),
            processes=self.launch.ranks_per_node,
            buffered=self.buffered,
            faults=self.launch.fault or (),
        )
        planned = plan(asked.file, [source], changes, self.launch.seed)
        limited = limits.of_work([planned])
        warn(limited)
        pictures = Pictures(html=self.html, open_=self.open_)
        pictures.prepare(dry=self.dry_run)
        result = Result(planned, Store(self.out / "store"))
        outcome = Campaign(jobs=1, dry_run=self.dry_run).run([planned], result.store, self.out)
        stop_if_interrupted(outcome, self.again())
        if result.points:
            _side_by_side(result, self.format_)
            page = pictures.page(self.out, planned.experiment.name)
            options = [word for change in changes for word in ("--set", change)]
            inputs = files.of_plan(planned, [*options, "--seed", str(self.launch.seed)])
            pictures.draw(result, self.again(), inputs, page, limited)
        finish(outcome, self.again(), self.out)

    def _replay(self, trace: Path) -> None:
        """Replay a trace, which is the argument or a copy of standard input."""
        from elanite.cli import forecast
        from elanite.errors import ElaniteError
        from elanite.inputs.machine import Machine
        from elanite.library import noise
        from elanite.report import pages
        from elanite.report.pages import replay as of_replay
        from elanite.store import rescued
        from elanite.study import limits
        from elanite.traces.replay import FOLDER, UnfinishedReplay, keep, prepared, run

        page = page_of(self.html, self.out, trace.stem, open_=self.open_, dry=self.dry_run)
        noise.prepared(self.out, dry=self.dry_run)
        source, changes = self.launch.read()
        if self.launch.network is not NetworkModel.IDEAL:
            warn(limits.of_machine(Machine.of(source, changes)))
        command = self.again(html=page)
        warn_if_stale()
        options: ReplayKeywords = {
            "buffered": self.buffered,
            "compute_scale": self.compute_scale or (),
            "ranks_per_node": self.launch.ranks_per_node,
            "placement": self.launch.placement,
            "network": self.launch.network.value,
            "memory": self.launch.memory.value,
            "seed": self.launch.seed,
            "limit_time": self.launch.limit_time,
            "faults": tuple(self.launch.fault or ()),
        }
        if self.dry_run:
            ready = prepared(trace, source, changes, **options)
            files = forecast.outputs(self.out / FOLDER, page)
            forecast.replay(ready, files, self.format_)
            return
        kept = self.operations or page is not None
        try:
            found = run(trace, source, changes, keep=kept, **options)
        except UnfinishedReplay as error:
            _warnings(error.replay)
            if page is not None:
                pages.write(
                    page,
                    of_replay.unfinished(error, source, command, self.inputs(trace, source, page)),
                )
                say(f"page: {page}")
            raise
        _warnings(found)
        place, lost = rescued(lambda place: keep(found, place), self.out)
        folder = str(place)
        if self.format_ is TableFormat.JSON:
            data(json.dumps(found.as_json(folder) | {"trace": str(self.traces[0])}))
        else:
            _print(found)
            say(f"kept in {folder}")
        if page is not None:
            pages.write(
                page, of_replay.page(found, source, command, self.inputs(trace, source, page))
            )
            say(f"page: {page}")
            if self.open_:
                opened(page)
        if lost:
            raise ElaniteError(lost)

    def inputs(self, trace: Path, source: Source, page: Path | None) -> Inputs:
        """The page's inputs: trace, machine and placement.

        A large trace is named with its checksum.
        """
        from elanite.report.pages.files import CommandFiles

        files = CommandFiles()
        name = files.path(trace) if size(trace) <= MOST_TRACE else files.program(trace)
        words = self.words(
            Role.INPUT, Role.RESULT, traces=[name], **self.launch.copied(source, files)
        )
        return files.inputs(["elanite", self.verb, *words, *self.written(html=page)])


def _warnings(found: Replayed) -> None:
    for warning in found.warnings:
        complain(f"warning: {warning}")


def _side_by_side(result: Result, format_: TableFormat) -> None:
    """Print the traces' times side by side and alone, and the links that they share."""
    from elanite.base.text import number
    from elanite.report.pages.programs import shared_links
    from elanite.results import frames

    (point,) = result.points
    rows = frames.tidy([point], result.store)
    values: dict[str, dict[str, float]] = {}
    for row in rows.iter_rows(named=True):
        values.setdefault(row["job"], {})[row["metric"]] = row["value"]
    times = {
        name: (each["time"], each.get("time_alone", each["time"]), each.get("slowdown", 1.0))
        for name, each in values.items()
    }
    shared, _ = shared_links([point], result.store, [])
    if format_ is TableFormat.JSON:
        found = {
            "machine": point.machine,
            "traces": {
                name: {"time_us": time, "time_alone_us": alone, "slowdown": slowdown}
                for name, (time, alone, slowdown) in times.items()
            },
            "shared_links": [
                dict(zip(each.columns, row, strict=True)) for each in shared for row in each.rows
            ],
            "digest": result.manifest(point).data["digest"],
            "point": point.id,
        }
        data(json.dumps(found))
        return
    screen = console()
    screen.print(f"{result.plan.title} on {point.machine}", style="bold", markup=False)
    board = table(
        ("trace", "time, µs", "alone, µs", "slowdown"), right=("time, µs", "alone, µs", "slowdown")
    )
    for name, three in times.items():
        board.add_row(name, *(number(value) for value in three))
    screen.print(board)
    for each in shared:
        links = table(each.columns, right=each.right)
        for cells in each.rows:
            links.add_row(*cells)
        screen.print(each.caption, style="bold", markup=False)
        screen.print(links)
    if not shared:
        screen.print("the traces share no link", markup=False)


def _span(factors: Sequence[float]) -> str:
    """The factors in words: ``0.5``, or ``0.5 to 2``."""
    from elanite.base.text import number

    return " to ".join(dict.fromkeys(number(each) for each in (min(factors), max(factors))))


def _scaled(found: Replayed) -> str:
    """The factors on the trace's computation times; empty if the times hold."""
    from elanite.base.text import number

    asked, processor = found.factors, found.processor
    parts = [f"the trace's times x {_span(asked.span)}"] if asked.classes else []
    if processor is not None and processor != 1:
        parts.append(f"x {number(processor)} by the machine's processor")
    return ", ".join(parts)


def _print(found: Replayed) -> None:
    """The summary for people."""
    from elanite.base import build
    from elanite.base.rows import rows as rows_of
    from elanite.base.text import number, simulated
    from elanite.cli.tables import hottest, regions
    from elanite.mpirun.summary import host_names, rank_list, size
    from elanite.results.congestion import Fault, in_words

    figures, faults = found.as_json(), found.tables["faults"]
    screen, slowest = console(), figures["slowest"]
    ranks, ideal = found.tables["ranks"], figures["network"] == "ideal"
    tied = ranks.filter(ranks["end_us"] == slowest["end_us"])["rank"].to_list()
    which = "" if len(tied) == 1 else f"rank {slowest['rank']} with "
    where = "an ideal network" if ideal else f"{figures['nodes']:,} nodes of {figures['machine']}"
    screen.print(
        f"{found.trace}: {figures['ranks']:,} ranks on {where}",
        style="bold",
        markup=False,
        soft_wrap=True,
    )
    scaled = _scaled(found)
    lines = {
        "simulated time": simulated(figures["simulated_us"]),
        "processor time": f"{figures['cpu_seconds']:.2f} s",
        "operations": f"{figures['operations']:,}",
        "messages": f"{figures['messages']:,}",
        **({"buffers": f"{size(found.buffered)} for each pair of ranks"} if found.buffered else {}),
        **({"computation": scaled} if scaled else {}),
        "payload": (
            size(figures["bytes"])
            + ("" if ideal else f"; {figures['packets']:,} packets in the network")
        ),
        "slowest": (
            f"{rank_list(tied)}; {which}{number(slowest['computed_us'])} µs of computation"
        ),
    }
    for word, text in lines.items():
        screen.print(f"  {word:16}{text}", markup=False)
    if figures["regions"]:
        screen.print(regions(figures["regions"]))
    if figures["links"]:
        screen.print(hottest(figures["links"], host_names(found.cluster.point)))
    for one in rows_of(faults.head(MOST_FAULTS), Fault):
        screen.print(f"  {'failed':16}{in_words(one)}", markup=False)
    if len(faults):
        screen.print(f"  {'sent again':16}{figures['packets_resent']:,} packets", markup=False)
    screen.print(f"  {'digest':16}{figures['digest']}", markup=False)
    screen.print(f"  {'build':16}{build.own_build()}", markup=False, soft_wrap=True)
