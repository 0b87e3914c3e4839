"""Replays of GOAL traces: a recorded or generated program's time on a simulated machine.

A trace lists each rank's sends, receives and the computations between them;
``docs/traces-format.md`` has the format. A replay is a pure function of the trace, the machine and
the options. A replay that cannot begin (a wrong trace, no room) raises ``RunError``. One that stops
before its end (messages without a partner, a bound that is passed) raises ``UnfinishedReplay``,
with the records up to that moment.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, Unpack

from elanite import _core
from elanite.base import bounded, build, html
from elanite.base.rows import first, rows
from elanite.base.units import amount
from elanite.errors import Exit, RunError, UsageError
from elanite.migration import former
from elanite.mpirun.cluster import Cluster
from elanite.mpirun.evidence import TrafficTotals
from elanite.mpirun.interrupts import Interrupts
from elanite.mpirun.options import OptionKeywords, Options
from elanite.traces import goal_file
from elanite.traces.processors import Factors, factors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from elanite.inputs.machine import Machine
    from elanite.inputs.sources import Source
    from elanite.mpirun.summary import Link

TABLES = ("ranks", "regions", "operations", "links", "faults", "series")
FOLDER = "replay"
_LAYOUT = 2

Name = Literal["ranks", "regions", "operations", "waiting", "links", "faults", "series", "summary"]
_RECORDS: tuple[Name, ...] = (
    "ranks",
    "regions",
    "operations",
    "waiting",
    "links",
    "faults",
    "series",
    "summary",
)


class ReplayTotals(TrafficTotals):
    """A replay's totals."""

    operations: int


class RankEnd(TypedDict):
    """A rank's end, in us."""

    rank: int
    node: int
    end_us: float
    computed_us: float


class PendingOperation(TypedDict):
    """An operation in the trace that had not ended."""

    rank: int
    operation: int
    kind: str
    peer: int | None
    size: int
    tag: int | None
    free_us: float


class RegionTotals(TypedDict):
    """A region's computations; `name` and `bound` are None for computations without a region."""

    region: int
    name: str | None
    bound: str | None
    executions: int
    computed_us: float
    longest_rank: int
    longest_us: float


class Figures(TypedDict):
    """A replay's figures, as ``elanite replay --format json`` prints them."""

    trace: str
    machine: str
    network: str
    ranks: int
    nodes: int
    buffered_bytes: NotRequired[int]
    compute_scale: NotRequired[list[float]]
    compute_scale_regions: NotRequired[list[str]]
    processor_scale: NotRequired[float]
    simulated_us: float
    cpu_seconds: float
    operations: int
    messages: int
    bytes: int
    packets: int
    packets_resent: int
    slowest: RankEnd
    regions: list[RegionTotals]
    links: list[Link]
    digest: str
    versions: Mapping[str, object]
    folder: str | None


@dataclass(frozen=True, repr=False)
class Replay:
    """A replay with its tables."""

    trace: Path
    options: Options
    cluster: Cluster
    placement: tuple[int, ...]
    """Each rank's node."""
    cpu_seconds: float
    """This host's processor time for reading the trace and replaying it."""
    tables: dict[str, pl.DataFrame] = field(repr=False)
    """``ranks``, ``operations`` and ``series`` (empty unless they were asked for), ``waiting``
    (operations that had not ended when a replay stopped early), ``links``, ``faults``, ``summary``.
    """
    buffered: int = 0
    """Buffer bytes for the sends between each rank pair."""
    factors: Factors = field(default_factory=Factors)
    """The factors on computation times that were asked for."""
    processor: float | None = None
    """The further factor from the trace's processor to the machine's, in regions that memory does
    not limit; ``None`` if the trace or the machine has no processor.
    """
    warnings: tuple[str, ...] = ()
    """The trace's labels that stand at a second operation."""

    @property
    def summary(self) -> ReplayTotals:
        """``time_us``, ``operations``, ``messages``, ``bytes``, ``packets``, ``packets_resent``,
        ``digest``.
        """
        return first(self.tables["summary"], ReplayTotals)

    @property
    def slowest(self) -> RankEnd:
        """The row of the rank that ends last; if several do, the first."""
        return first(self.tables["ranks"].sort("end_us", "rank", descending=[True, False]), RankEnd)

    @property
    def regions(self) -> list[RegionTotals]:
        """The trace's regions with computations, the longest one first; empty if the trace has no
        regions.
        """
        return list(
            rows(
                self.tables["regions"].sort("computed_us", "region", descending=[True, False]),
                RegionTotals,
            )
        )

    def as_json(self, folder: str | None = None) -> Figures:
        """The replay's figures as plain data."""
        from elanite.mpirun.summary import hottest_of_each

        summary, slowest = self.summary, self.slowest
        found: Figures = {
            "trace": str(self.trace),
            "machine": self.cluster.name,
            "network": self.options.network,
            "ranks": self.options.ranks,
            "nodes": len(set(self.placement)),
            "simulated_us": summary["time_us"],
            "cpu_seconds": round(self.cpu_seconds, 6),
            "operations": summary["operations"],
            "messages": summary["messages"],
            "bytes": summary["bytes"],
            "packets": summary["packets"],
            "packets_resent": summary["packets_resent"],
            "slowest": {
                "rank": slowest["rank"],
                "node": slowest["node"],
                "end_us": slowest["end_us"],
                "computed_us": slowest["computed_us"],
            },
            "regions": self.regions,
            "links": hottest_of_each(self.tables["links"], summary["time_us"]),
            "digest": summary["digest"],
            "versions": build.own_build().versions(),
            "folder": folder,
        }
        if self.buffered:
            found["buffered_bytes"] = self.buffered
        if self.factors.classes:
            found["compute_scale"] = list(self.factors.by_rank)
        if self.factors.regions:
            found["compute_scale_regions"] = list(self.factors.regions)
        if self.processor is not None:
            found["processor_scale"] = self.processor
        return found

    def _repr_html_(self) -> str:
        figures = {
            key: value
            for key, value in self.summary.items()
            if key not in ("packets_resent", "digest")
        }
        title = f"{self.trace} on {html.count(self.options.ranks, 'rank')} of {self.cluster.name}"
        return html.block(title, html.table(tuple(figures), [tuple(figures.values())]))


class UnfinishedReplay(RunError):
    """A replay that stopped before its end: receives wait for ever, messages have no receive, or a
    bound is passed.
    """

    def __init__(self, message: str, exit_code: Exit, replay: Replay) -> None:
        super().__init__(message, exit_code)
        self.replay = replay
        """The records up to the end."""


def _room(buffered: str | None, network: str) -> int:
    """``--buffered`` in bytes. Raises ``UsageError``."""
    if buffered is None:
        return 0
    found = amount(buffered, "B")
    if found is None or not 0 < found < 2**40:
        raise UsageError(f"--buffered: `{buffered}` is not understood; write for example '4 MB'")
    if network == "ideal":
        raise UsageError(
            "--buffered: no send waits for its receive on the ideal network; leave it out"
        )
    return round(found)


class ReplayKeywords(OptionKeywords, total=False):
    """Options of a replay as keywords."""

    buffered: str | None
    compute_scale: Sequence[str]


@dataclass(frozen=True)
class PreparedReplay:
    """A trace that has been read, and its place on a machine. It can be replayed once."""

    trace: Path
    machine: Source
    options: Options
    cluster: Cluster
    placement: tuple[int, ...]
    """Each rank's node."""
    buffered: int
    """Buffer bytes for the sends between each rank pair."""
    factors: Factors
    """The factors on computation times."""
    read: _core.GoalTrace

    def played(self, *, keep: bool = False) -> _core.ReplayRecords:
        """The records of the replay; ``keep`` keeps ``operations`` and ``series``."""
        return self._played(self.options, self.buffered, keep=keep)

    def ideal(self) -> ReplayTotals:
        """The trace's totals, from a replay on the ideal network, after a look whether the machine
        has the nodes and the faulty parts.

        Raises ``ConfigError``, ``UsageError``, or ``RunError`` if the trace does not end.
        """
        from elanite.store import frame

        needed, nodes = max(self.placement, default=0) + 1, self.cluster.nodes
        if needed > nodes:
            raise UsageError(
                f"{self.options.ranks} ranks at {self.options.ranks_per_node} a node need {needed}"
                f" nodes, and the machine has {nodes}; ask for more ranks on each node"
                f" (--ranks-per-node), or for more nodes (--nodes {needed})"
            )
        plain = replace(self.options, network="ideal", memory="main", faults=(), limit_time=None)
        done = self._played(plain, 0)
        if done["early"] is not None:
            message, code = done["early"]
            raise RunError(message, Exit(code))
        return first(frame(done["summary"]), ReplayTotals)

    def _played(
        self, options: Options, buffered: int, *, keep: bool = False
    ) -> _core.ReplayRecords:
        text = options.as_json(list(self.placement))
        # The machine's faults are checked on the ideal network, too.
        faults, changes = list(self.options.faults), list(self.cluster.overrides)
        inputs = (self.machine.text, self.machine.file, changes, faults, text, buffered)
        rated = ([list(each) for each in self.factors.classes], list(self.factors.ranks))
        return _interruptible(lambda cancel: self.read.replay(*inputs, rated, keep, cancel))


def prepared(
    trace: Path,
    machine: Source,
    overrides: Sequence[str] = (),
    *,
    buffered: str | None = None,
    compute_scale: Sequence[str] = (),
    **options: Unpack[OptionKeywords],
) -> PreparedReplay:
    """A replay before its start; arguments and errors are those of ``run``."""
    bounded.check(trace, "name a trace in GOAL")
    cluster = Cluster.of(machine, overrides)
    read = goal_file.read(trace)
    chosen = Options(read.ranks, **options)
    placement = chosen.nodes(cluster.nodes)
    sends = _room(buffered, chosen.network)
    scales = factors(compute_scale, read.ranks, read.regions)
    return PreparedReplay(trace, machine, chosen, cluster, tuple(placement), sends, scales, read)


def run(
    trace: Path,
    machine: Source,
    overrides: Sequence[str] = (),
    *,
    keep: bool = False,
    buffered: str | None = None,
    compute_scale: Sequence[str] = (),
    **options: Unpack[OptionKeywords],
) -> Replay:
    """Replay a trace on a machine; ``keep`` keeps the tables ``operations`` and ``series``.

    ``buffered`` is the room for bytes in sends between each rank pair: ``4 MB``. A send ends with
    its call if its bytes have room there, and otherwise when they get room. Without it, long sends
    end when their bytes have been fetched.

    ``options`` are fields of ``elanite.mpirun.Options``: ``ranks_per_node``, ``placement``,
    ``network``, ``memory``, ``seed``, ``limit_time``, ``faults``. Call this function in the main
    thread.

    Raises ``UsageError``, ``ConfigError``, ``RunError`` or, with the records, ``UnfinishedReplay``.
    """
    from elanite.store import frame

    begun = time.process_time()
    ready = prepared(
        trace, machine, overrides, buffered=buffered, compute_scale=compute_scale, **options
    )
    done = ready.played(keep=keep)
    early = done["early"]
    tables: dict[str, pl.DataFrame] = {name: frame(done[name]) for name in _RECORDS}
    tables["ranks"].insert_column(1, frame({"node": ("UInt32", list(ready.placement))})["node"])
    found = Replay(
        trace,
        ready.options,
        ready.cluster,
        ready.placement,
        time.process_time() - begun,
        tables,
        ready.buffered,
        ready.factors,
        done["processor"],
        tuple(ready.read.warnings),
    )
    if early is not None:
        raise UnfinishedReplay(early[0], Exit(early[1]), found)
    return found


def _interruptible(replay: Callable[[_core.Cancel], _core.ReplayRecords]) -> _core.ReplayRecords:
    """A replay's records, from another thread, so that this thread can receive interrupts."""
    done: list[_core.ReplayRecords] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(replay(interrupts.cancel))
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it again
            failed.append(error)

    with Interrupts() as interrupts:
        thread = Thread(target=work, name="replay", daemon=True)
        thread.start()
        thread.join()
    if failed:
        raise failed[0]
    return done[0]


def keep(replay: Replay, out: Path) -> Path:
    """Keep a replay's tables in a folder below ``out``, by the trace's content; returns the
    folder.
    """
    from elanite import store

    folder = out / FOLDER
    store.Store(folder).clean()
    with bounded.refused(replay.trace), bounded.opened(replay.trace) as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    asked = {
        "trace": content,
        "machine": replay.cluster.name,
        "overrides": list(replay.cluster.overrides),
        "options": json.loads(replay.options.as_json(list(replay.placement))),
        "faults": list(replay.options.faults),
        **({"buffered": replay.buffered} if replay.buffered else {}),
        **({"compute_scale": replay.factors.by_rank} if replay.factors.classes else {}),
        **({"compute_scale_regions": replay.factors.regions} if replay.factors.regions else {}),
        "digest": replay.summary["digest"],
        "operations_kept": len(replay.tables["operations"]) > 0,
    }
    text = json.dumps([asked, replay.cluster.parameters, _core.MODEL_REVISION], sort_keys=True)
    identity = hashlib.sha256(text.encode()).hexdigest()[:20]
    if not store.is_own(folder, identity):
        data = {
            "layout": _LAYOUT,
            "id": identity,
            **asked,
            **{key: value for key, value in replay.summary.items() if key != "digest"},
            "files": {},
            "versions": store.versions(),
            "point": json.loads(replay.cluster.point),
            "times": {"cpu_seconds": round(replay.cpu_seconds, 6)},
        }
        store.keep(folder, identity, {name: replay.tables[name] for name in TABLES}, data)
    return folder / identity


def replay(
    trace: str | Path,
    machine: Machine | str | Path = "es40-qsnet",
    *,
    operations: bool = False,
    buffered: str | None = None,
    compute_scale: Sequence[str] = (),
    **options: Unpack[OptionKeywords],
) -> Replay:
    """Replay a GOAL trace on a machine: ``el.replay("allreduce.goal", network="ideal").summary``.

    ``operations`` keeps when each operation was free and ended, and link load over time.
    ``options`` are those of ``elanite replay``: ``ranks_per_node``, ``placement``, ``network``,
    ``memory``, ``seed``, ``limit_time``, ``faults``, ``buffered``, ``compute_scale``. It writes no
    files. Call the function in the main thread.

    Raises ``UsageError`` or ``ConfigError`` for wrong options, ``RunError`` for a trace that cannot
    be replayed, and ``UnfinishedReplay``, with the records in ``replay``, for a replay that stops
    before its end.
    """
    from elanite.inputs.machine import Machine

    on = machine if isinstance(machine, Machine) else Machine.load(machine)
    return run(
        Path(trace),
        on.file,
        on.overrides,
        keep=operations,
        buffered=buffered,
        compute_scale=compute_scale,
        **options,
    )


if not TYPE_CHECKING:
    __getattr__ = former(__name__)
