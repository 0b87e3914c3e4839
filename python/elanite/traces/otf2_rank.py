"""The events of one rank in an OTF2 archive, translated into its block.

The archive's rules stand in ``elanite.traces.otf2``. A method ``on_mpi_send`` takes the events
``MpiSend``; events without a method (metrics, parameters, threads, files) are passed over.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

from elanite.traces.calls import expand

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from otf2 import definitions, events

    from elanite.traces.calls import CollectiveCall
    from elanite.traces.tape import Tape, TapePlace

Request = TypeVar("Request")

_UNDEFINED = 2**64 - 1
"""The message for a probe that takes no message from others."""


class Definitions(Protocol):
    """An archive's definitions and calls, as far as a rank's events need them."""

    otf2: ModuleType
    """The package."""
    resolution: int
    """Clock ticks in a second."""

    def members(self, comm: int, rank: int) -> list[int] | None:
        """A communicator's ranks."""

    def tag(self, comm: int, what: int | str) -> int:
        """The trace's tag for a communicator's tag."""

    def call(self, comm: int, number: int) -> CollectiveCall:
        """A communicator's collective operation."""

    def later(self, rank: int) -> tuple[int, int]:
        """The communicator and the number for a rank's next non-blocking call."""

    def refuse(self, rank: int, offset: int, event: events.Event, what: str) -> NoReturn:
        """Raise an error that names the event."""


class RankTranslation:
    """The translation of a rank's events."""

    def __init__(self, archive: Definitions, rank: int, tape: Tape) -> None:
        self._archive, self._rank, self._tape = archive, rank, tape
        self._depth = 0
        """How many MPI calls, one in the other, are under way."""
        self._left: int | None = None
        """The last MPI call's end, in ticks."""
        self._flushed = self._rest = self._time = self._offset = 0
        self._ended: list[int] = []
        """Operations that have ended in the present MPI call."""
        self._sends: dict[int, int] = {}
        self._receives: dict[int, TapePlace] = {}
        self._probed: dict[int, tuple[TapePlace, events.MpiProbe]] = {}
        self._matched: dict[int, tuple[TapePlace, events.MpiProbe]] = {}
        self._collectives: dict[int, list[int]] = {}
        self._numbers: dict[int, int] = defaultdict(int)
        self._event: events.Event = None
        self._known: dict[type, Callable[[events.Event], None] | None] = {}
        handlers = {name: getattr(self, name) for name in dir(self) if name.startswith("on_")}
        self._handlers = {
            name.removeprefix("on_").replace("_", "").lower(): one for name, one in handlers.items()
        }

    def take(self, offset: int, event: events.Event) -> None:
        """Take the rank's next event."""
        self._offset, self._event = offset, event
        if event.time < self._time:
            self._refuse("the clock goes back; record the trace with a monotonic clock")
        self._time = event.time
        kind = type(event)
        if kind not in self._known:
            name = kind.__name__.lower()
            self._known[kind] = (
                self.one_sided if name.startswith("rma") else self._handlers.get(name)
            )
        handler = self._known[kind]
        if handler is not None:
            if _in_call(kind.__name__) and not self._depth:
                self._refuse(
                    "it is in no MPI call: Enter and Leave of MPI calls must be recorded, too"
                )
            handler(event)

    def end(self) -> None:
        """Check the open operations after the last event."""
        if unfinished := len(self._receives) + len(self._probed) + len(self._matched):
            self._refuse(
                f"this is the last event, and {unfinished} receives have not ended; let the program"
                " wait"
            )

    def _refuse(self, what: str) -> NoReturn:
        self._archive.refuse(self._rank, self._offset, self._event, what)

    def _is_mpi(self, region: definitions.Region) -> bool:
        return bool(region.paradigm == self._archive.otf2.Paradigm.MPI)

    def on_enter(self, event: events.Enter) -> None:
        """A region begins; for an MPI call, the computation before it is written."""
        if not self._is_mpi(event.region):
            return
        self._depth += 1
        if self._depth > 1 or self._left is None:
            return
        ticks = max(event.time - self._left - self._flushed, 0)
        ns, self._rest = divmod(ticks * 10**9 + self._rest, self._archive.resolution)
        if ns:
            self._tape.saw([self._tape.put(f"calc {ns}")])

    def on_leave(self, event: events.Leave) -> None:
        """A region ends; for an MPI call, later ones wait for the operations that have ended in
        it.
        """
        if not self._is_mpi(event.region):
            return
        if not self._depth:
            self._refuse("an MPI call ends that has not begun")
        self._depth -= 1
        if not self._depth:
            self._tape.saw(self._ended)
            self._ended, self._left, self._flushed = [], event.time, 0

    def on_buffer_flush(self, event: events.BufferFlush) -> None:
        """The recording writes its buffer; the program does not compute."""
        self._flushed += max(event.stop_time - event.time, 0)

    def on_measurement_on_off(self, event: events.MeasurementOnOff) -> None:
        """The recording pauses, or goes on."""
        if event.measurement_mode == self._archive.otf2.MeasurementMode.OFF:
            self._refuse(
                "the recording pauses, so that messages may be missing; record all of the program"
            )

    def one_sided(self, event: events.Event) -> None:
        """One-sided communication."""
        self._refuse(f"GOAL has no word for one-sided communication ({type(event).__name__})")

    def _peer(self, comm: int, place: int) -> int:
        members = self._archive.members(comm, self._rank)
        if members is None:
            self._refuse(
                f"communicator {comm} is an intercommunicator or has members that are not ranks"
            )
        if place >= len(members):
            self._refuse(
                f"there is no rank {place} in communicator {comm}, which has {len(members)}"
            )
        return members[place]

    def _send(self, event: events.MpiSend | events.MpiIsend) -> int:
        comm = event.communicator._ref
        to, tag = self._peer(comm, event.receiver), self._archive.tag(comm, event.msg_tag)
        return self._tape.put(f"send {event.msg_length}b to {to} tag {tag}")

    def _receive(
        self, place: TapePlace, comm: definitions.Comm, sender: int, tag: int, size: int
    ) -> None:
        source, known = self._peer(comm._ref, sender), self._archive.tag(comm._ref, tag)
        self._ended.append(self._tape.define(place, f"recv {size}b from {source} tag {known}"))

    def on_mpi_send(self, event: events.MpiSend) -> None:
        """A send that blocks."""
        self._ended.append(self._send(event))

    def on_mpi_isend(self, event: events.MpiIsend) -> None:
        """A send that does not block."""
        self._sends[event.request_id] = self._send(event)

    def on_mpi_isend_complete(self, event: events.MpiIsendComplete) -> None:
        """A send's end."""
        self._ended.append(self._pop(self._sends, event.request_id))

    def on_mpi_recv(self, event: events.MpiRecv) -> None:
        """A receive that blocks."""
        self._receive(
            self._tape.reserve(), event.communicator, event.sender, event.msg_tag, event.msg_length
        )

    def on_mpi_irecv_request(self, event: events.MpiIrecvRequest) -> None:
        """A receive that does not block."""
        self._receives[event.request_id] = self._tape.reserve()

    def on_mpi_irecv(self, event: events.MpiIrecv) -> None:
        """A receive's end."""
        place = self._pop(self._receives, event.request_id)
        self._receive(place, event.communicator, event.sender, event.msg_tag, event.msg_length)

    def on_mpi_probe(self, event: events.MpiProbe) -> None:
        """A probe; a matched one takes its message from others."""
        if event.message_id != _UNDEFINED:
            self._probed[event.message_id] = (self._tape.reserve(), event)

    def on_mpi_mrecv(self, event: events.MpiMrecv) -> None:
        """A matched message's receive."""
        self._take(self._pop(self._probed, event.message_id), event.msg_length)

    def on_mpi_imrecv_request(self, event: events.MpiImrecvRequest) -> None:
        """A matched message's non-blocking receive."""
        self._matched[event.request_id] = self._pop(self._probed, event.message_id)

    def on_mpi_imrecv(self, event: events.MpiImrecv) -> None:
        """The end of a matched non-blocking receive."""
        self._take(self._pop(self._matched, event.request_id), event.msg_length)

    def _take(self, probed: tuple[TapePlace, events.MpiProbe], size: int) -> None:
        place, probe = probed
        self._receive(place, probe.communicator, probe.sender, probe.tag, size)

    def on_mpi_request_cancelled(self, event: events.MpiRequestCancelled) -> None:
        """A receive without a message: its place in the order stays."""
        if event.request_id in self._sends:
            self._refuse("a send is cancelled; whether its message was received is not recorded")
        self._tape.define(self._pop(self._receives, event.request_id), "calc 0")

    def _pop(self, requests: dict[int, Request], request: int) -> Request:
        if request not in requests:
            self._refuse(f"request {request} has not been made; record the program from its start")
        return requests.pop(request)

    def _collective(self, comm: int, number: int, tag: str) -> list[int]:
        members = self._archive.members(comm, self._rank) or []
        self._numbers[comm] = number + 1
        begin = [self._tape.put("calc 0")]
        if len(members) == 1:
            return begin
        self._tape.tag = self._archive.tag(comm, tag)
        return expand(
            self._tape, members, members.index(self._rank), self._archive.call(comm, number), begin
        )

    def on_mpi_collective_end(self, event: events.MpiCollectiveEnd) -> None:
        """A collective operation."""
        comm = event.communicator._ref
        self._ended += self._collective(comm, self._numbers[comm], "collective")

    def on_non_blocking_collective_request(
        self, event: events.NonBlockingCollectiveRequest
    ) -> None:
        """A collective operation that does not block."""
        comm, number = self._archive.later(self._rank)
        self._collectives[event.request_id] = self._collective(comm, number, f"collective {number}")

    def on_non_blocking_collective_complete(
        self, event: events.NonBlockingCollectiveComplete
    ) -> None:
        """A collective operation's end."""
        ended: list[int] = self._pop(self._collectives, event.request_id)
        self._ended += ended


def _in_call(name: str) -> bool:
    """Whether an event with this type belongs to an MPI call."""
    return name.startswith(("Mpi", "NonBlockingCollective"))
