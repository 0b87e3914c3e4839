"""OTF2 archives as Score-P writes them, translated into GOAL through the package ``otf2``.

| in the archive | in the rank's block |
|---|---|
| the time between two MPI calls | a computation, without the recording's flushes |
| the time in MPI calls, and before the end of the first one | omitted: the machine has its own |
| a send or a receive | the same, until its MPI call ends (``MPI_Sendrecv`` does both at once) |
| a non-blocking call | a send or a receive; calls after its completion wait for it |
| a receive with wild cards | the receive of the message that it took |
| a matched probe | the receive of its message, in the place of the probe |
| a collective operation | its messages, in ``elanite.traces.calls`` |
| the creation of a communicator or a window | a barrier of its members |
| a communicator and a tag | one tag; a communicator's collective operations have a separate one |

The archive is read twice, 64 ranks at a time: first the collective operations, since one rank alone
lacks their sizes; then everything, with a temporary file for each of these ranks. In memory are the
definitions, one entry for each collective operation (two numbers for each rank, if its sizes differ
from rank to rank) and one for each receive that is open.

Refused with the place: one-sided communication, intercommunicators, MPI calls without recorded
start and end, recording pauses, cancelled sends, receives that never end, and archives from which
events are missing. MPI calls from other threads than a rank's first one are not read; messages that
lack a partner then show in the replay.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import defaultdict, deque
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NoReturn

from elanite.base import bounded
from elanite.base.foreign import optional, reading
from elanite.errors import RunError
from elanite.traces.calls import KNOWN, ROOTED, CollectiveCall
from elanite.traces.goal_lines import Writing
from elanite.traces.otf2_rank import RankTranslation
from elanite.traces.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from otf2 import events as kinds

_BATCH = 4096
"""Events per read."""
_GROUP = 64
"""Ranks per read: each time, the package reads all definitions again."""
_LINES = 256
"""A rank's lines that are kept in memory."""
_PATIENCE = 20
"""Processor seconds for opening an anchor file with some hundred bytes."""
_OPEN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), resource.RLIM_INFINITY))
import _otf2
_otf2.Reader_Close(_otf2.Reader_Open(sys.argv[1]))
"""


@dataclass
class RecordedOperation:
    """A rank's collective operation, in call order."""

    end: kinds.MpiCollectiveEnd | kinds.NonBlockingCollectiveComplete | None
    """`None` until the end of a non-blocking call has been read."""
    offset: int
    later: bool
    """Whether the call does not block."""


class Archive(Writing):
    """An archive, by its anchor file."""

    def __init__(self, anchor: Path) -> None:
        with optional(f"{anchor}: OTF2 needs the package otf2; install it: pip install otf2"):
            import otf2
        self._anchor, self.otf2 = anchor, otf2
        self._at: tuple[int, int, kinds.Event] | None = None
        """The current event: rank, event number in the rank, event."""
        self._group: range | None = None
        """The ranks that are read."""
        self._calls: dict[int, list[CollectiveCall]] = defaultdict(list)
        self._later: dict[int, deque[tuple[int, int]]] = defaultdict(deque)
        """For each rank, its non-blocking calls' communicators and numbers, in their order."""
        self._tags: dict[tuple[int, int | str], int] = {}
        self._try_to_open()
        with self._reading():
            self._define()
        if self.resolution < 1:
            raise RunError(
                f"{anchor}: the clock has {self.resolution} ticks in a second; record the trace"
                " again"
            )

    @property
    def ranks(self) -> int:
        """The ranks in MPI_COMM_WORLD."""
        return len(self._world)

    def lines(self) -> Iterator[str]:
        """The trace's lines."""
        groups = [
            range(first, min(first + _GROUP, self.ranks)) for first in range(0, self.ranks, _GROUP)
        ]
        with self._reading():
            for group in groups:
                self._survey(group)
            self._whole()
            yield f"num_ranks {self.ranks}\n"
            for group in groups:
                yield from self._blocks(group)

    def _reading(self) -> AbstractContextManager[None]:
        """Any exception from the package, now or at a later access to an event's value, names the
        event.
        """
        problem = "the archive cannot be read"
        return reading(
            self._place, problem, "copy it or record it again", error=RunError, passing=(OSError,)
        )

    def _place(self) -> str:
        if self._at is not None:
            return self._place_of(*self._at)
        if self._group is not None:
            return f"{self._anchor}: ranks {self._group[0]} to {self._group[-1]}"
        return str(self._anchor)

    def _place_of(self, rank: int, offset: int, event: kinds.Event) -> str:
        seconds = event.time / self.resolution
        return (
            f"{self._anchor}: rank {rank}, location {self._world[rank]}, event {offset} "
            f"({type(event).__name__} at {seconds:.9f} s)"
        )

    def _blocks(self, group: range) -> Iterator[str]:
        """The blocks of a rank group, by way of an unnamed file for each rank."""
        with ExitStack() as stack:
            tapes = {rank: Tape() for rank in group}
            ranks = {rank: RankTranslation(self, rank, tapes[rank]) for rank in group}
            files = {
                rank: stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for rank in group
            }
            for rank, offset, event in self.events(group):
                ranks[rank].take(offset, event)
                if len(tapes[rank].lines) > _LINES:
                    files[rank].writelines(tapes[rank].taken())
            for rank in group:
                ranks[rank].end()
                yield f"rank {rank} {{\n"
                files[rank].seek(0)
                yield from files[rank]
                yield from tapes[rank].taken()
                yield "}\n"
                self.operations += tapes[rank].operations

    def _try_to_open(self) -> None:
        """Open the anchor file in a separate process: the package never ends reading some damaged
        files.
        """
        bounded.check(self._anchor, most=bounded.SETTINGS)
        folder = self._anchor.with_suffix("")
        for path in (
            self._anchor.with_suffix(".def"),
            *(sorted(folder.iterdir()) if folder.is_dir() else ()),
        ):
            if path.exists():
                bounded.check(path, "copy the archive again")
        opening = [sys.executable, "-c", _OPEN, str(self._anchor), str(_PATIENCE)]
        ended = subprocess.run(opening, capture_output=True, check=False)  # noqa: S603 - our own Python
        if ended.returncode >= 0:
            return
        if ended.returncode == -signal.SIGXCPU:
            damage = (
                f"the package otf2 has read it for {_PATIENCE} s of processor time, and finds"
                " no end"
            )
        else:
            damage = f"the package otf2 crashes with signal {-ended.returncode}"
        raise RunError(
            f"{self._anchor}: the anchor file is damaged: {damage}; copy the archive or record it"
            " again"
        )

    def _define(self) -> None:
        """Read the definitions: clock, ranks, communicators."""
        with self.otf2.reader.open(str(self._anchor)) as trace:
            found = trace.definitions
            self.resolution: int = trace.timer_resolution
            kinds, mpi = self.otf2.GroupType, self.otf2.Paradigm.MPI
            groups = [one for one in found.groups if one.paradigm == mpi]
            worlds = [one for one in groups if one.group_type == kinds.COMM_LOCATIONS]
            if not worlds or not worlds[0].members:
                raise RunError(
                    f"{self._anchor}: no ranks of MPI are defined; record an MPI program with"
                    " Score-P"
                )
            self._world: list[int] = [one._ref for one in worlds[0].members]
            rank_of = {location: rank for rank, location in enumerate(self._world)}
            self._members: dict[int, list[int] | None] = {}
            """Each communicator's ranks; `None` for one that each rank has for itself."""
            for comm in found.comms:
                group = getattr(comm, "group", None)
                if group is None:
                    continue
                alone = group.group_type == kinds.COMM_SELF
                members = None if alone else [rank_of.get(one._ref, -1) for one in group.members]
                if members is None or -1 not in members:
                    self._members[comm._ref] = members

    def events(self, group: range) -> Iterator[tuple[int, int, kinds.Event]]:
        """Ranks' events: rank, event number in the rank, event; each rank's events in their
        order.
        """
        counts = dict.fromkeys(group, 0)
        self._group = group
        with self.otf2.reader.open(str(self._anchor), batch_events=_BATCH) as trace:
            locations = [trace.definitions.locations[self._world[rank]] for rank in group]
            ranks = {location._ref: rank for location, rank in zip(locations, group, strict=True)}
            expected = {ranks[location._ref]: location.number_of_events for location in locations}
            for location, event in trace.events(locations):
                rank = ranks[location._ref]
                self._at = rank, counts[rank], event
                counts[rank] += 1
                yield self._at
                self._at = None
        for rank, count in counts.items():
            if count != expected[rank]:
                raise RunError(
                    f"{self._anchor}: rank {rank}, location {self._world[rank]}: {count} of"
                    f" {expected[rank]} events can be read; the archive is cut short, or uses"
                    " undefined identifiers"
                )

    def members(self, comm: int, rank: int) -> list[int] | None:
        """A communicator's ranks; `None` if it is not a communicator with one rank group."""
        if comm not in self._members:
            return None
        members = self._members[comm]
        return [rank] if members is None else members

    def tag(self, comm: int, what: int | str) -> int:
        """The GOAL tag for a communicator's tag, or for collective operations."""
        return self._tags.setdefault((comm, what), len(self._tags))

    def call(self, comm: int, number: int) -> CollectiveCall:
        """A communicator's collective operation."""
        return self._calls[comm][number]

    def later(self, rank: int) -> tuple[int, int]:
        """Communicator and number for the rank's next non-blocking collective operation."""
        return self._later[rank].popleft()

    def _survey(self, group: range) -> None:
        """Read ranks' collective operations."""
        orders: dict[int, deque[RecordedOperation]] = defaultdict(deque)
        waiting: dict[tuple[int, int], RecordedOperation] = {}
        numbers: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for rank, offset, event in self.events(group):
            order = orders[rank]
            match type(event).__name__:
                case "MpiCollectiveEnd":
                    order.append(RecordedOperation(event, offset, later=False))
                case "NonBlockingCollectiveRequest":
                    waiting[rank, event.request_id] = RecordedOperation(None, offset, later=True)
                    order.append(waiting[rank, event.request_id])
                case "NonBlockingCollectiveComplete":
                    if (rank, event.request_id) not in waiting:
                        self.refuse(
                            rank, offset, event, f"request {event.request_id} has not been made"
                        )
                    waiting.pop((rank, event.request_id)).end = event
                case _:
                    continue
            while order and (end := order[0].end) is not None:
                first = order.popleft()
                self._note(rank, numbers[rank], end, first.offset, first.later)
        for rank, order in orders.items():
            if order:
                what = (
                    "a collective operation that does not block is never completed; let the program"
                    " wait for it"
                )
                raise RunError(f"{self._anchor}: rank {rank}, event {order[0].offset}: {what}")

    def _note(
        self,
        rank: int,
        numbers: dict[int, int],
        event: kinds.MpiCollectiveEnd,
        offset: int,
        later: bool,
    ) -> None:
        comm, what = event.communicator._ref, str(event.collective_op).rpartition(".")[2]
        members = self.members(comm, rank)
        if members is None or rank not in members:
            self.refuse(
                rank, offset, event, f"rank {rank} is in no single group of communicator {comm}"
            )
        if what not in KNOWN:
            self.refuse(rank, offset, event, f"the collective operation {what} is not known")
        number = numbers[comm]
        numbers[comm] += 1
        if later:
            self._later[rank].append((comm, number))
        if len(members) == 1:
            return
        root = event.root if what in ROOTED else 0
        if root >= len(members):
            self.refuse(
                rank,
                offset,
                event,
                f"the root {root} is not in communicator {comm} of {len(members)} ranks",
            )
        calls = self._calls[comm]
        if number == len(calls):
            calls.append(CollectiveCall(what, root))
        call = calls[number]
        if (call.what, call.root) != (what, root):
            said = (
                f"{what} with root {root}, where another rank has {call.what} with root {call.root}"
            )
            self.refuse(rank, offset, event, f"call {number} of communicator {comm} is {said}")
        call.add(members.index(rank), event.size_sent, event.size_received)

    def _whole(self) -> None:
        """Refuse collective operations in which ranks are missing."""
        for comm, calls in self._calls.items():
            count = len(self._members[comm] or [0])
            for number, call in enumerate(calls):
                if call.members != count:
                    raise RunError(
                        f"{self._anchor}: call {number} of communicator {comm} ({call.what}) is"
                        f" recorded by {call.members} of {count} ranks; record the whole program"
                    )

    def refuse(self, rank: int, offset: int, event: kinds.Event, what: str) -> NoReturn:
        """Raise the error for an event."""
        raise RunError(f"{self._place_of(rank, offset, event)}: {what}")
