"""A campaign's work: simulate a point batch, here or in a process on another machine.

``points`` does the work: it simulates the batch's points that the store lacks and no other process
is simulating. A campaign on threads calls it. ``simulate`` is the same as a string function, the
task that a campaign gives to an engine: the argument is the batch as JSON, the result the points'
outcome as JSON. So an engine need not know Elanite, and only two strings are pickled.

Every point is claimed in the store before it is simulated. A point that another process has claimed
comes back as *elsewhere*; the campaign checks it later.

Where a worker sees the campaign's *sign* (a file beside the store, see ``Sign``), the worker shares
the file system with the campaign: it keeps every point in the store immediately, so that its death
loses only the current point, and it stops when the sign requests it. A worker that sees no sign
returns the points' tables as Arrow files, and the campaign keeps them. A worker with another model
revision, or another engine, refuses, since its results may differ.
"""

from __future__ import annotations

import base64
import io
import json
import os
import platform
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from elanite import _core
from elanite.base import bounded, whole
from elanite.base.build import DIGITS
from elanite.base.units import stated
from elanite.errors import ElaniteError, Exit, RunError
from elanite.inputs.plan import Point
from elanite.store import TABLES, Store, StoreError, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from elanite._core import Records
    from elanite._core import _Columns as Columns
    from elanite.campaign.memory import Share
    from elanite.store.manifest import Times

LEASE = 120.0
"""Seconds for which a point is claimed; a claim that its process does not renew ends."""

_LOOK = 0.25
"""Seconds between two looks at the campaign's sign."""

_SIGN = ".campaign-"
_GO, _STOP = "go\n", "stop\n"
_OLD = 7 * 86400.0


class PackedPoint(TypedDict):
    """A point's results as JSON takes them, with their times; the tables are Arrow files in
    base64.
    """

    tables: dict[str, str]
    base: str
    digest: str
    packets: int
    events: int
    simulated_ps: int
    random: NotRequired[bool]
    """Workers from older versions do not report it."""
    peak_memory_bytes: int
    times: Times


@dataclass
class BatchReport:
    """The outcome of a batch's points.

    Points outside of all lists were pending when the work stopped.
    """

    worker: str = field(default_factory=lambda: f"process {os.getpid()} on {platform.node()}")
    done: dict[str, float] = field(default_factory=dict)
    """The simulated points' processor seconds."""
    reused: list[str] = field(default_factory=list)
    """Points that the store had got in the meantime."""
    elsewhere: list[str] = field(default_factory=list)
    """Points that another process has claimed."""
    again: dict[str, bool] = field(default_factory=dict)
    """Another build's points in the store that were simulated again, and whether their results have
    changed.
    """
    failed: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Message and exit code for each point that did not finish."""
    refused: str = ""
    """Why the worker refused the batch."""
    unkept: str = ""
    """Why the store did not take a point; the batch's rest was not begun."""
    records: dict[str, PackedPoint] = field(default_factory=dict)
    """The points' results, from a worker that does not see the store."""

    def text(self) -> str:
        """The report as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> BatchReport:
        """The report that ``text`` has made."""
        return cls(**json.loads(text))


class Sign:
    """The file beside a store that makes one campaign's workers go on or stop.

    A store outside of folders has no sign: every worker opens such a store by its address, and the
    campaign stops the workers only by its engine's means. A killed campaign's sign stays, so that
    batches which a batch system still holds keep their points; the next campaign removes signs that
    are a week old.
    """

    def __init__(self, store: Store) -> None:
        self.path: Path | None = None
        if "://" in store.address:
            return
        folder = Path(store.address).parent
        try:
            whole.parents(folder)
            for old in folder.glob(f"{_SIGN}*"):
                if time.time() - old.stat().st_mtime > _OLD:
                    old.unlink(missing_ok=True)
            self.path = folder / f"{_SIGN}{uuid.uuid4().hex[:12]}"
            whole.new(self.path, _GO)
        except OSError as error:
            raise StoreError(folder, error.strerror) from error

    def stop(self) -> None:
        """Stop all workers."""
        if self.path is not None:
            try:
                whole.fill(self.path, _STOP)
            except OSError:  # a sign that is gone stops them, too
                self.remove()

    def remove(self) -> None:
        """Remove the file; for when no worker is left."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def batch(points: Sequence[Point], store: Store, sign: Sign, attempt: int) -> str:
    """A batch's text for ``simulate``.

    The attempt number keeps engines from returning cached results.
    """
    return json.dumps(
        {
            "revision": _core.MODEL_REVISION,
            "engine": _core.ENGINE,
            "store": store.address,
            "sign": str(sign.path) if sign.path else None,
            "attempt": attempt,
            "points": [asdict(point) for point in points],
        }
    )


def simulate(batch: str) -> str:
    """Simulate a batch, and report.

    A campaign's task for an engine: it needs no state and may run anywhere.
    """
    task = json.loads(batch)
    report = BatchReport()
    if task["revision"] != _core.MODEL_REVISION:
        report.refused = (
            f"{report.worker} has revision {_core.MODEL_REVISION} of the model, and the campaign"
            f" has revision {task['revision']}: install the same version of Elanite for the workers"
        )
        return report.text()
    if task["engine"] != _core.ENGINE:
        report.refused = (
            f"{report.worker} has engine {_core.ENGINE[:DIGITS]}, and the campaign has engine"
            f" {task['engine'][:DIGITS]}: their simulators were compiled from different sources,"
            " although the model revision is the same; install the same build of Elanite for the"
            " workers"
        )
        return report.text()
    sign = Path(task["sign"]) if task["sign"] else None
    shared = sign is None or sign.exists()
    store = Store.open(task["store"]) if shared else None
    points(
        [Point(**one) for one in task["points"]],
        store,
        _core.Cancel(),
        sign if shared else None,
        report,
    )
    return report.text()


def points(
    batch: Iterable[Point],
    store: Store | None,
    cancel: _core.Cancel,
    sign: Path | None = None,
    report: BatchReport | None = None,
    share: Share | None = None,
    threads: Callable[[Point], int] | None = None,
) -> BatchReport:
    """Simulate a batch's points, except finished or claimed ones, until ``cancel`` or the sign
    stops the work.

    Without a store, the results are in the report. A point that needs more memory than its
    ``share`` fails. ``threads`` is called as a point begins, and returns the number of threads for
    it.
    """
    report = report or BatchReport()
    if sign is not None and _stopped(sign):
        return report
    with _watched(cancel, sign):
        for point in batch:
            if cancel.is_set():
                break
            try:
                _point(point, store, cancel, report, share, threads)
            except RunError as error:
                if error.exit_code != Exit.INTERRUPTED:
                    report.failed[point.id] = (str(error), error.exit_code)
            except ElaniteError as error:  # from the store
                report.unkept = str(error)
                break
    return report


def _point(
    point: Point,
    store: Store | None,
    cancel: _core.Cancel,
    report: BatchReport,
    share: Share | None,
    threads: Callable[[Point], int] | None,
) -> None:
    if store is None:
        records, times = _records(point, cancel, share)
        report.records[point.id] = _packed(records, times)
        report.done[point.id] = times["cpu_seconds"]
        return
    claim = None if store.current(point.id) else store.claim(point.id, LEASE)
    if claim is None:
        found = store.current(point.id) is not None
        (report.reused if found else report.elsewhere).append(point.id)
        return
    with claim:
        records, times = _records(point, cancel, share, threads(point) if threads else 1)
        keep(point, store, records, times, cancel, report.again)
    report.done[point.id] = times["cpu_seconds"]


def _records(
    point: Point, cancel: _core.Cancel, share: Share | None = None, threads: int = 1
) -> tuple[Records, Times]:
    started = datetime.now(UTC)
    before = time.thread_time()
    try:
        records = _core.simulate(point.json, cancel, share.bytes if share else None, threads)
    except RunError as error:
        # The bound is the experiment's, unless the host has less.
        needed, own, _ = str(error).partition("; for example with --set run.max_memory")
        if share is None or not own or share.bytes >= _bound(point):
            raise
        raise RunError(f"{needed}; {share.words}", error.exit_code) from None
    # A point's threads meet in every step, and take processor time while they wait: each takes as
    # much.
    seconds = round((time.thread_time() - before) * threads + records.get("cpu_seconds", 0), 6)
    return records, {
        "started": started.isoformat(timespec="milliseconds"),
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "cpu_seconds": seconds,
    }


def _bound(point: Point) -> float:
    """``run.max_memory`` in bytes."""
    return stated(point.run["max_memory"], "B")


def keep(
    point: Point,
    store: Store,
    records: Records,
    times: Times,
    cancel: _core.Cancel,
    again: dict[str, bool],
) -> None:
    """Keep a point's results. Raises ``StoreError`` if the store does not take them.

    If the store has had another build's point, ``again`` gets the point, and whether the results
    differ.
    """
    before = store.get(point.id)
    if before is not None and not before.mine:
        again[point.id] = before.data["digest"] != records["digest"]
    try:
        store.put(point, records, times)
    except KeyboardInterrupt:
        # If an interrupt comes while polars works, polars reports it only to the thread that called
        # polars. The point is finished and is kept; the flag reports the interrupt to the waiting
        # thread.
        cancel.set()
        store.put(point, records, times)


def _packed(records: Records, times: Times) -> PackedPoint:
    tables = {}
    for name, columns in records["tables"].items():
        file = io.BytesIO()
        frame(columns).write_ipc(file)
        tables[name] = base64.b64encode(file.getvalue()).decode("ascii")
    packed: PackedPoint = {
        "tables": tables,
        "base": records["base"],
        "digest": records["digest"],
        "packets": records["packets"],
        "events": records["events"],
        "simulated_ps": records["simulated_ps"],
        "peak_memory_bytes": records["peak_memory_bytes"],
        "times": times,
    }
    if "random" in records:
        packed["random"] = records["random"]
    return packed


def unpacked(packed: PackedPoint) -> tuple[Records, Times]:
    """A point's results and times from a worker without the store."""
    import polars as pl

    tables: dict[str, Columns] = {}
    for name, text in packed["tables"].items():
        table = pl.read_ipc(io.BytesIO(base64.b64decode(text)))
        tables[name] = {
            column: (TABLES[name][column], table[column].to_list()) for column in table.columns
        }
    records: Records = {
        "tables": tables,
        "base": packed["base"],
        "digest": packed["digest"],
        "packets": packed["packets"],
        "events": packed["events"],
        "simulated_ps": packed["simulated_ps"],
        "peak_memory_bytes": packed["peak_memory_bytes"],
    }
    if "random" in packed:
        records["random"] = packed["random"]
    return records, packed["times"]


@contextmanager
def _watched(cancel: _core.Cancel, sign: Path | None) -> Iterator[None]:
    """Set the flag as soon as the campaign's sign stops the work."""
    if sign is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK):
            if _stopped(sign):
                cancel.set()
                return

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _stopped(sign: Path) -> bool:
    """Whether a campaign has ended.

    A sign that is gone is an end: the campaign removes it after the last batch.
    """
    try:
        return bounded.load(sign, len(_STOP)) == _STOP.encode()
    except FileNotFoundError:
        return True
    except OSError:  # the file system is away for a moment
        return False
