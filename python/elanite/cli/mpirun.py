"""The commands ``mpirun`` and ``prun``: a real program on a simulated machine."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
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
    opened,
    say,
    table,
    warn,
    warn_if_stale,
)
from elanite.cli.launch import (
    MOST_FAULTS,
    Launch,
    Memory,
    NetworkModel,
    RunOut,
    RunPage,
    SummarisedAs,
    is_text,
    page_of,
)
from elanite.cli.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.inputs.sources import Source
    from elanite.mpirun import Options, Run
    from elanite.mpirun.summary import Summary
    from elanite.report.pages import Inputs

WIDTH = 40
"""The longest bar's signs."""

SAME = 0.01
"""The relative difference between a recorded run and its replay from which on the note about polls
for messages appears.
"""


class Collectives(StrEnum):
    """The executor of barriers, broadcasts and reductions."""

    MPI = "mpi"
    ELAN = "elan"
    HARDWARE = "hardware"


@dataclass(frozen=True, kw_only=True)
class Mpirun(Request):
    """Run a real MPI program on a simulated machine.

    \b
    Examples:
      elanite mpirun -n 64 ./my_program --its --own --options
      elanite mpirun -n 8 --machine opteron-qsnet2 \\
        --timeline run.perfetto python my_script.py
      elanite mpirun -n 64 --ranks-per-node 4 --placement cyclic \\
        --compute "2us per call" ./my_program
      elanite mpirun -n 64 --set switch.circuit=wormhole ./my_program
      elanite mpirun -n 64 --html run.html --open ./my_program
      elanite mpirun -n 64 --record my.goal ./my_program
      elanite mpirun -n 64 --dry-run ./my_program
      elanite mpirun -n 64 \\
        --fault "links = 'all', bit_error_rate = 1e-7" \\
        --fault "node = 3, at = '2 ms'" ./my_program

    Elanite does not change the program. The messages of the program cross the simulated network,
    and its clock shows simulated time. Its input and output are the same as without Elanite. The
    summary goes to standard error, json as one line. DIR/mpirun keeps the tables of runs. The exit
    code is that of a rank that fails, 3 for a deadlock, 1 if a rank is killed or its host stops, 2
    if ranks do not join the run (no MPI, or another MPI than that of mpiexec), and 4 if calls
    bypass Elanite, or if the network changes the bytes of a message, which is a defect of Elanite.
    """

    verb: ClassVar[str] = "mpirun"
    rest: ClassVar[bool] = True
    native: ClassVar[bool] = False
    """Whether the program need not use MPI."""

    program: Annotated[
        list[str],
        typer.Argument(
            metavar="PROGRAM", help="A program or a script; the words after it go to the program."
        ),
        Role.INPUT,
    ]
    ranks: Annotated[
        int,
        typer.Option("-n", "-np", "--ranks", min=1, max=65536, metavar="N", help="The rank count."),
    ]
    universe: Annotated[
        int | None,
        typer.Option(
            "--universe",
            min=1,
            max=65536,
            metavar="N",
            help="Limit of ranks in all, with those started by MPI_Comm_spawn.",
        ),
    ] = None
    launch: Launch = field(default_factory=Launch)
    compute: Annotated[
        str,
        typer.Option(
            "--compute",
            metavar="TIME",
            help=(
                "Computation between two calls: none, '2us per call', measured[:FACTOR] (not"
                " repeatable), or sampled:FILE: measured in the first run, and taken from FILE in"
                " later ones."
            ),
        ),
    ] = "none"
    collectives: Annotated[
        Collectives | None,
        typer.Option(
            "--collectives",
            help=(
                "Implementation of barriers, broadcasts and reductions: the MPI library by"
                " messages, Elanlib by its software trees, or Elanlib by the hardware where that"
                " supports the ranks.  [default: hardware on a machine that has it, else mpi; mpi"
                " with --record]"
            ),
        ),
    ] = None
    timeline: Annotated[
        Path | None,
        typer.Option("--timeline", metavar="FILE", help="Write a trace for ui.perfetto.dev."),
        Role.OUTPUT,
    ] = None
    html: RunPage = None
    open_: Open = False
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="Write the ranks' sends and receives in GOAL, for replays.",
        ),
        Role.OUTPUT,
    ] = None
    out: RunOut = OUT
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi",
            metavar="MPIEXEC",
            help=(
                "The mpiexec to use.  [default: the program's Open MPI's, or one beside this Python"
                " or on the PATH]"
            ),
        ),
    ] = None
    checksums: Annotated[
        bool,
        typer.Option(
            "--checksums/--no-checksums", help="Compare the bytes of every message at both ends."
        ),
    ] = True
    disable_auto_cleanup: Annotated[
        bool,
        typer.Option(
            "--disable-auto-cleanup", help="Let the other ranks continue when one ends early."
        ),
    ] = False
    memory_alloc_kinds: Annotated[
        str | None,
        typer.Option(
            "--memory-alloc-kinds",
            metavar="KINDS",
            help="The memory kinds to request of MPI, such as mpi:alloc_mem,system.",
        ),
    ] = None
    dry_run: DryRun = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary."), Role.HOST] = (
        False
    )
    format_: SummarisedAs = TableFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import whole
        from elanite.cli.replay import Replay
        from elanite.errors import UsageError
        from elanite.inputs.machine import Machine
        from elanite.library import noise
        from elanite.mpirun import run
        from elanite.mpirun import timeline as trace
        from elanite.study import limits

        dry = self.dry_run
        page = page_of(self.html, self.out, Path(self.program[0]).name, open_=self.open_, dry=dry)
        if self.timeline is not None:
            trace.require()
        for file in (self.timeline, self.record):
            if file is not None:
                whole.prepare(file, UsageError, dry=dry)
        noise.prepared(self.out, dry=dry)
        warn_if_stale()
        started = datetime.now(UTC)
        source, changes = self.launch.read()
        if self.launch.network is NetworkModel.MACHINE and self.format_ is TableFormat.TABLE:
            warn(limits.of_machine(Machine.of(source, changes)))
        if dry:
            self._foresee(source, changes, page)
            return
        found = run(self.program, source, self.options(page), changes, self.mpi, native=self.native)
        times = {
            "started": started.isoformat(timespec="milliseconds"),
            "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }

        def write_page() -> None:
            if page is None:
                return
            # Behind the condition: the import takes longer than a short run.
            from elanite.report import pages
            from elanite.report.pages import run as of_run

            pages.write(
                page, of_run.page(found, source, self.again(html=page), self.inputs(source, page))
            )
            say(f"page: {page}")
            if self.open_:
                opened(page)

        recording = (
            self.record,
            source,
            Replay(traces=[self.record or Path()], launch=self.launch).again(),
        )
        _finish(
            found,
            (self.timeline, write_page),
            recording,
            self.out,
            times,
            None if self.quiet else self.format_,
        )

    def _foresee(self, source: Source, changes: list[str], page: Path | None) -> None:
        """Check the program and its inputs, and print the run."""
        from elanite.cli import forecast
        from elanite.mpirun import run_tables
        from elanite.mpirun.preparation import prepared

        options = self.options(page)
        files = forecast.outputs(
            self.out / run_tables.FOLDER, page, self.timeline, self.record, options.table
        )
        with prepared(
            self.program, source, options, changes, self.mpi, native=self.native, dry=True
        ) as ready:
            forecast.run(ready, files, self.format_)

    def options(self, page: Path | None) -> Options:
        """The run's options; a page needs the timeline."""
        from elanite.mpirun import Options

        return Options(
            ranks=self.ranks,
            universe=self.universe,
            ranks_per_node=self.launch.ranks_per_node,
            placement=self.launch.placement,
            compute=self.compute,
            network="ideal" if self.launch.network is NetworkModel.IDEAL else "machine",
            memory="elan" if self.launch.memory is Memory.ELAN else "main",
            collectives=None if self.collectives is None else self.collectives.value,
            seed=self.launch.seed,
            limit_time=self.launch.limit_time,
            faults=tuple(self.launch.fault or ()),
            timeline=self.timeline is not None or page is not None,
            record=self.record is not None,
            checksums=self.checksums,
            cleanup=not self.disable_auto_cleanup,
            memory_alloc_kinds=self.memory_alloc_kinds,
        )

    def inputs(self, source: Source, page: Path | None) -> Inputs:
        """The page's inputs: machine, placement, and text files that the program's words name.

        The program itself is named with its checksum; one that the PATH finds, such as an
        interpreter, is named only.
        """
        from elanite.report.pages.files import CommandFiles

        files = CommandFiles()
        copied = self.launch.copied(source, files)
        first, *others = self.program
        if "/" in first:
            path, known = Path(first), shutil.which(Path(first).name)
            first = path.name if known and path.samefile(known) else f"./{files.program(path)}"
        program = [first]
        for word in others:
            path = Path(word)
            if path.is_file():
                word = files.path(path) if is_text(path) else files.program(path)
            program.append(word)
        # The program's words are last: they end the options.
        words = self.words(Role.INPUT, Role.RESULT, program=None, **copied)
        return files.inputs(["elanite", self.verb, *words, *self.written(html=page), *program])


@dataclass(frozen=True, kw_only=True)
class Prun(Mpirun):
    """Run an OpenSHMEM or Elanlib program on a simulated machine.

    \b
    Examples:
      oshcc -O2 -o ring ring.c && elanite prun -n 64 ./ring
      elancc -O2 -o ping ping.c && \\
        elanite prun -n 2 --machine opteron-qsnet2 ./ping 100 0 1048576
      elanite prun -n 8 --timeline run.perfetto ./ring

    oshcc and elancc are the C compiler with the headers and libraries of Elanite. The program's
    puts, gets and sends cross the simulated network, and its clock shows simulated time. The rest
    is as with `elanite mpirun`, which also takes such programs: the program may also use MPI.
    """

    verb: ClassVar[str] = "prun"
    native: ClassVar[bool] = True


def _finish(
    found: Run,
    views: tuple[Path | None, Callable[[], None]],
    recording: tuple[Path | None, Source, list[str]],
    out: Path,
    times: dict[str, str],
    format_: TableFormat | None,
) -> None:
    """Keep the run's tables, print the summary, and leave with the run's exit code.

    ``views`` are the Perfetto timeline file and the page writer; a failed run has both, too.
    ``recording`` is the trace's file, if the run is recorded, its machine, and the command that
    replays the trace.
    """
    from elanite import store
    from elanite.base.text import brief
    from elanite.errors import Exit
    from elanite.mpirun import run_tables, summary
    from elanite.mpirun import timeline as trace

    timeline, write_page = views
    folder, lost = None, ""
    if found.ended.finished:
        folder, lost = store.rescued(lambda place: run_tables.write(found, place, dict(times)), out)
    hidden = trace.write(found, timeline) if timeline is not None and found.tables else 0
    if format_ is TableFormat.JSON and found.tables:
        say(json.dumps(found.as_json(str(folder) if folder else None)))
    elif format_ is TableFormat.TABLE:
        if folder is not None:
            _print(found, summary.summarise(found.tables))
            say(f"kept in {folder}")
        if timeline is not None and found.tables:
            others = f", without {hidden} links that were less busy" if hidden else ""
            say(f"timeline: {timeline}{others}; open it in https://ui.perfetto.dev")
    record, source, again = recording
    if record is not None and found.ended.finished and not found.ended.exit_code:
        found.record(record)
        if format_ is TableFormat.TABLE:
            say(f"recorded in {record}, collective operations as messages of the MPI library")
            say(f"to replay it: {shlex.join(again)}")
            say(_compared(found, record, source))
    write_page()
    if found.ended.message:
        complain(f"error: {brief(found.ended.message, 40)}")
    if lost:
        complain(f"error: {lost}")
    if code := found.ended.exit_code or (Exit.FAILED if lost else Exit.OK):
        raise typer.Exit(code)


def _compared(found: Run, trace: Path, machine: Source) -> str:
    """The replay time of a recorded run on the run's machine, and possible reasons for a
    difference.
    """
    from elanite.base.text import number
    from elanite.traces.replay import run

    options = found.options
    names = ("ranks_per_node", "placement", "network", "memory", "seed")
    chosen = {name: getattr(options, name) for name in names}
    again = run(trace, machine, found.cluster.overrides, **chosen).summary["time_us"]
    change = again / found.summary["time_us"] - 1
    said = f"on this machine the replay takes {number(again)} µs, {change:+.2%} of the run"
    if abs(change) > SAME:
        said += (
            f": more than {SAME:.0%}. Looks for messages may be the cause (MPI_Iprobe, MPI_Test,"
            " MPI_Probe): a trace does not hold when a program looks and finds nothing, and the"
            " replay waits for what the program found"
        )
    return said


def _print(found: Run, figures: Summary) -> None:
    """The summary for people."""
    from elanite.base import build
    from elanite.base.rows import rows as rows_of
    from elanite.base.text import simulated
    from elanite.cli.tables import hottest
    from elanite.mpirun.summary import (
        collective_calls,
        host_names,
        size,
        time_in_files,
        time_in_mpi,
    )
    from elanite.results.congestion import Fault, in_words

    screen = console(error=True)
    nodes = len(set(found.placement))
    ranks = len(found.placement)
    words = f"{ranks:,} rank{'s' * (ranks != 1)} on {nodes:,} node{'s' * (nodes != 1)}"
    screen.print(
        f"{words} of {found.cluster.name}: {shlex.join(found.words)}", style="bold", markup=False
    )
    totals = figures.totals
    others = [f"{count:,} {kind}" for kind, count in figures.kinds.items() if kind != "tagged"]
    also = f" (of them {', '.join(others)})" if others else ""
    times, *notes = time_in_mpi(figures, found.ended.unseen, found.options.compute)
    lines = [
        ("simulated time", simulated(totals["time_us"])),
        ("host time", f"{found.host_seconds:.2f} s"),
        ("messages", f"{totals['messages']:,}{also}"),
        ("payload", f"{size(totals['bytes'])}; {totals['packets']:,} packets in the network"),
        ("time in calls" if found.native else "time in MPI", times),
        *(("", note) for note in notes),
    ]
    in_files = time_in_files(figures.files, "files" in found.cluster.parameters)
    lines += list(zip(("files", ""), in_files, strict=False))
    if found.sampling is not None:
        lines.append(
            ("computation", f"by {found.sampling.file}, times {found.factor:.3g} (processor.step)")
        )
    lines += list(zip(("collectives", ""), collective_calls(totals), strict=False))
    for word, text in lines:
        screen.print(f"  {word:16}{text}", markup=False)
    if figures.sizes:
        counts = ("messages", "bytes")
        sizes = table(("  message size", *counts, ""), right=counts, padding=(0, 2, 0, 0))
        most = max(one.messages for one in figures.sizes)
        for one in figures.sizes:
            bar = "#" * max(round(WIDTH * one.messages / most), 1)
            sizes.add_row(f"  {one.label}", f"{one.messages:,}", size(one.bytes), bar)
        screen.print(sizes)
    if figures.links:
        screen.print(hottest(figures.links, host_names(found.cluster.point)))
    for fault in rows_of(found.tables["faults"].head(MOST_FAULTS), Fault):
        screen.print(f"  {'failed':16}{in_words(fault)}", markup=False)
    if len(found.tables["faults"]):
        screen.print(f"  {'sent again':16}{totals['packets_resent']:,} packets", markup=False)
    if (more := len(found.tables["faults"]) - MOST_FAULTS) > 0:
        screen.print(f"  {'':16}and {more:,} others", markup=False)
    if found.ended.lost:
        screen.print(f"  {'first lost':16}{found.ended.lost}", markup=False, soft_wrap=True)
    why = found.unrepeatable
    screen.print(f"  {'repeatable':16}{f'no: {why}' if why else 'yes'}", markup=False)
    screen.print(f"  {'digest':16}{totals['digest']}", markup=False)
    screen.print(f"  {'build':16}{build.own_build()}", markup=False, soft_wrap=True)
