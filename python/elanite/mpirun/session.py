"""One run from start to end: check, start, serve, and clear away.

When ``run`` returns or raises, even after an interrupt or a bug in Elanite, all its processes have
ended.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elanite.base import build, html, whole
from elanite.base.rows import first
from elanite.errors import ElaniteError, UsageError
from elanite.mpirun import absences, launcher
from elanite.mpirun.evidence import Evidence, RunTotals
from elanite.mpirun.interrupts import Interrupts
from elanite.mpirun.oversight import Oversight
from elanite.mpirun.preparation import prepared
from elanite.mpirun.processes import ProcessTree
from elanite.mpirun.streams import Listener, Pump, Reports
from elanite.mpirun.verdict import RunEnd, cancelled, judge, locate
from elanite.mpirun.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from elanite._core import Cancel, MpiRecords, MpiRun
    from elanite.inputs.sources import Source
    from elanite.mpirun.cluster import Cluster
    from elanite.mpirun.evidence import RunOutcome
    from elanite.mpirun.launcher import Mpi
    from elanite.mpirun.options import Options
    from elanite.mpirun.preparation import Preparation
    from elanite.mpirun.sampled import Sampling
    from elanite.results.congestion import Matrix

Name = Literal["messages", "calls", "ranks", "links", "faults", "series", "summary"]
_RECORDS: tuple[Name, ...] = ("messages", "calls", "ranks", "links", "faults", "series", "summary")

GRACE = 3.0
"""Seconds in which mpiexec may report how a failed run's ranks ended."""


@dataclass(frozen=True, repr=False)
class Run:
    """A run that has ended, with its tables."""

    words: tuple[str, ...]
    """The program and its arguments."""
    options: Options
    cluster: Cluster
    placement: tuple[int, ...]
    """Each rank's node, including ranks that the program has started."""
    mpi: Mpi
    ended: RunEnd
    host_seconds: float
    tables: dict[str, pl.DataFrame] = field(repr=False)
    """``messages``, ``calls``, ``ranks``, ``links``, ``faults``, ``series``, ``summary``; empty
    without a rank.
    """
    native: bool = False
    """Whether the program was started as one for the simulated libraries."""
    core: MpiRun | None = field(default=None, repr=False)
    """The simulator's side of the run, which has the recording."""
    sampling: Sampling | None = field(default=None, repr=False)
    """The sampled computation table."""
    executions: int = 0
    """The count of region executions that the run has measured for the table."""
    factor: float = 1.0
    """The factor from this host's times to the machine's, for regions that the processor bounds."""

    def __repr__(self) -> str:
        return f"Run({self._title}: {self.ended.end})"

    def _repr_html_(self) -> str:
        from elanite.mpirun.summary import in_cell, summarise

        ended = html.line(self.ended.message) if self.ended.message else ""
        return html.block(
            self._title,
            ended,
            *(in_cell(summarise(self.tables), self.host_seconds) if self.tables else ()),
        )

    def as_json(self, folder: str | None) -> dict[str, object]:
        """A run's figures as plain data."""
        from elanite.mpirun.summary import collectives, summarise

        found = summarise(self.tables)
        return {
            "program": list(self.words),
            "machine": self.cluster.name,
            "ranks": len(self.placement),
            "nodes": len(set(self.placement)),
            "simulated_us": found.totals["time_us"],
            "host_seconds": round(self.host_seconds, 6),
            "messages": found.totals["messages"],
            "bytes": found.totals["bytes"],
            "packets": found.totals["packets"],
            "events": found.totals["events"],
            "kinds": found.kinds,
            "collectives": collectives(found.totals),
            "sizes": [vars(one) for one in found.sizes],
            "mpi_us": {
                key: {"time": time, "rank": min(tied, default=None), "ranks": len(tied)}
                for key, (time, tied) in found.mpi.items()
            },
            "clocks_us": {"time": found.clocks[0], "rank": found.clocks[1]},
            "files": (
                vars(found.files)
                | {
                    "ranks": len(found.files.ranks),
                    "rank": min(found.files.ranks, default=None),
                }
            ),
            "compute": self.options.compute,
            "unseen": list(self.ended.unseen),
            "links": found.links,
            "repeatable": not self.unrepeatable,
            "why": self.unrepeatable,
            "digest": found.totals["digest"],
            "versions": build.own_build().versions(),
            "end": self.ended.end,
            "exit_code": self.ended.exit_code,
            "folder": folder,
        }

    def record(self, file: Path) -> None:
        """Write the finished run's recording as a GOAL trace; another file with this name is
        replaced at the end.

        Raises ``UsageError`` if the run was not recorded, and ``RunError`` if GOAL cannot express
        it.
        """
        if not self.options.record or self.core is None or not self.ended.finished:
            raise UsageError(f"{file}: the run was not recorded, or did not finish")
        # A program's words may hold a line's end.
        words = shlex.join(self.words).encode("unicode_escape").decode("ascii")
        head = f"recorded by elanite mpirun -n {self.options.ranks} on {self.cluster.name}: {words}"
        with whole.replacing(file, UsageError) as aside:
            self.core.write_recording(aside, head)

    @property
    def _title(self) -> str:
        return (
            f"{shlex.join(self.words)} on {html.count(len(self.placement), 'rank')} of"
            f" {self.cluster.name}"
        )

    def congestion(self) -> Matrix:
        """Where packets waited in the whole run."""
        from elanite.results import congestion
        from elanite.store import empty

        window = (0.0, self.summary["time_us"])
        slices = empty("slices")
        return congestion.of_tables(
            self.cluster.point, self.tables["links"], slices, window, 0, self.tables["faults"]
        )

    @property
    def summary(self) -> RunTotals:
        """The run's totals, as the simulator counts them."""
        return first(self.tables["summary"], RunTotals)

    @property
    def unrepeatable(self) -> str:
        """Why the same command may give other records; empty if it gives the same."""
        if self.options.measured:
            return "computation takes the time that it takes on this host"
        if self.sampling is not None and (why := self.sampling.why(self.executions)):
            return why
        return "" if self.summary["repeatable"] else "the host's timing entered the order of events"


def run(
    words: Sequence[str],
    machine: Source,
    options: Options,
    overrides: Sequence[str] = (),
    mpi: str | None = None,
    native: bool = False,
) -> Run:
    """Run a program and its arguments on a machine. Call this function in the main thread.

    A ``native`` program is one for the simulated libraries, and need not call MPI; this matters
    only to messages.

    Raises ``UsageError`` or ``ConfigError`` if the program cannot be started; ``Run.ended`` has the
    run's end.
    """
    with prepared(words, machine, options, overrides, mpi, native=native) as ready:
        return _run(ready)


def _run(ready: Preparation) -> Run:
    """Start a prepared program, serve it to its end, and clear away."""
    options, cluster, chosen, core = ready.options, ready.cluster, ready.mpi, ready.core
    name = uuid.uuid4().hex
    space = f"elanite_{name}"
    own = {
        **ready.libraries,
        **launcher.of_ranks({**os.environ, **ready.libraries}, ready.network),
    }
    environment = launcher.environment(
        os.environ, core.environment(), name, ready.network, cluster.rails
    )

    reports, processes = Reports(), ProcessTree(name, space)
    ours, theirs = os.pipe()
    listener = Listener(os.fdopen(ours, "rb"), reports)
    begun = time.monotonic()
    pumps: list[Pump] = []
    witness = Witness(core.pids)
    oversight: Oversight | None = None
    try:
        manager = launcher.Manager(launcher.manager(), space, theirs, options.room)
        command = chosen.command(
            options.ranks,
            own,
            ready.words,
            manager,
            cleanup=options.cleanup,
            kinds=options.memory_alloc_kinds,
        )
        sys.stdout.flush()
        sys.stderr.flush()
        with Interrupts() as interrupts:
            out, err = processes.start(command, environment, theirs)
            oversight = Oversight(core, processes.pid)
            end = interrupts.cancel.set
            pumps = [
                Pump(source, target, reports, oversight.hide, end)
                for source, target in ((out, 1), (err, 2))
            ]
            outcome = _serve(core, interrupts.cancel, processes.pid)
            locate(outcome)
            if outcome["end"] == "cancelled" and not any(pump.broken for pump in pumps):
                oversight.say("\n".join(cancelled(outcome)))
        leaving, stray = core.left(), absences.loaded(outcome, chosen)
        if outcome["end"] == "finished":
            code = processes.wait()
        else:
            dead = witness.stop()
            core.end()
            code = processes.wait(GRACE)
    finally:
        os.close(theirs)
        left = processes.end(core.pids())
        if oversight is not None:
            oversight.stop()
        dead = witness.stop()
        for pump in pumps:
            pump.join(GRACE)
        listener.join(GRACE)
    host_seconds = time.monotonic() - begun
    _complain(left, pumps)
    tables = _tables(core.records()) if absences.has_figures(outcome) else {}
    compiler = str(Path(chosen.path).with_name("mpicc"))
    placement = ready.placement[: len(core.pids())]  # those at which a rank has started
    evidence = Evidence(
        outcome,
        reports,
        leaving,
        dead,
        code,
        placement,
        core.pids(),
        ready.words[0],
        compiler,
        ready.native,
        stray,
        chosen.windows,
    )
    ended = judge(evidence)
    found = Run(
        ready.words,
        options,
        cluster,
        tuple(placement),
        chosen,
        ended,
        host_seconds,
        tables,
        ready.native,
        core,
    )
    if ready.sampling is not None and ended.finished:
        return _sampled(found, ready.sampling, core)
    return found


def _sampled(found: Run, sampling: Sampling, core: MpiRun) -> Run:
    """The finished run with its table, which is written with the run's measurements."""
    text, executions, factor = core.computed() or ("", 0, 1.0)
    if executions:
        sampling.write(text)
    return replace(found, sampling=sampling, executions=executions, factor=factor)


def _complain(left: Sequence[int], pumps: Sequence[Pump]) -> None:
    """Raise an error if the run's processes continue, or if the ranks' output was not written."""
    if left:
        raise UsageError(
            f"these processes of the run cannot be killed: {', '.join(map(str, left))}"
        )
    if any(pump.broken for pump in pumps):
        raise BrokenPipeError
    for name, pump in zip(("output", "error"), pumps, strict=True):
        if pump.failed is not None:
            raise ElaniteError(
                f"standard {name} cannot be written: {pump.failed.strerror}; the run has ended"
                " early"
            )


def _serve(core: MpiRun, cancel: Cancel, pid: int) -> RunOutcome:
    """Simulate until the run is over, in another thread, so that this thread can receive
    interrupts.
    """
    said: list[str] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            said.append(core.serve(cancel, pid))
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it again
            failed.append(error)

    thread = threading.Thread(target=work, name="simulator", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    outcome: RunOutcome = json.loads(said[0])
    return outcome


def _tables(records: MpiRecords) -> dict[str, pl.DataFrame]:
    from elanite.store import frame

    return {name: frame(records[name]) for name in _RECORDS}
