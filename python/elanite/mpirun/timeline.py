"""A run as a trace for Perfetto (ui.perfetto.dev): the activity of ranks, adapters and links, and
every message.

| group | tracks |
|---|---|
| ranks | one for each rank, with a slice for each MPI call; messages as arrows between ranks |
| adapters | load of each node's I/O bus and adapter processor, in per cent |
| links | load of the busiest links |
| faults | when machine parts were down, if any; a moment marks when the sources learned it |

A message's ends are separate slices, inside the calls, at the moments when the message was posted
and when its receive ended. Calls may begin long before, a receive even before the message was sent,
so that an arrow between calls would lead back in time. Perfetto counts nanoseconds; simulated time
counts picoseconds and is rounded down. The exact time stands beside each end.

The format is Perfetto's TrackEvents in protocol buffers, one packet after the other in time order.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from elanite.base import whole
from elanite.base.foreign import optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import polars as pl
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

    from elanite.mpirun.session import Run

MOST_LINKS = 64
"""Links that have a track: the busiest."""

_GROUPS = {"ranks": 1, "adapters": 2, "links": 3}
"""Track groups, which Perfetto shows as processes."""

_FAULTS = 1 << 30
"""The fault group's number, which only runs with faults have."""

_SEQUENCE = 1
_CLEARED, _NEEDED = 1, 2
"""Packet flags: names may be given short numbers from here on; short numbers are used."""


@dataclass(frozen=True)
class Event:
    """An event on a track."""

    time_us: float
    kind: Literal["begin", "end", "instant", "counter"]
    track: int
    name: str = ""
    value: float = 0.0
    message: int = 0
    """The number of the message that ends here, from 1 on."""
    arrives: bool = False
    notes: tuple[tuple[str, int | str | float], ...] = ()

    @property
    def time_ns(self) -> int:
        """Rounded down, except for floating-point errors."""
        return int(self.time_us * 1000 + 1e-6)


@dataclass
class Tracks:
    """A trace's tracks, numbered in definition order."""

    rows: list[tuple[int, str, str, bool]] = field(default_factory=list)
    """Number, group, name, and whether it is a counter."""

    def add(self, group: str, name: str, *, counter: bool = False) -> int:
        """A new track at a group's end."""
        number = len(_GROUPS) + len(self.rows) + 1
        self.rows.append((number, group, name, counter))
        return number


def require() -> None:
    """Raise ``UsageError`` if the library that writes traces is not there."""
    with optional("--timeline needs the package perfetto; install it: pip install perfetto"):
        import perfetto  # noqa: F401


def write(run: Run, path: Path) -> int:
    """Write a run's trace; returns the count of busy links without a track."""
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

    tracks = Tracks()
    sources: list[Iterable[Event]] = []
    lanes = _lanes(run, tracks)
    sources += _ranks(run, lanes)
    sources += _adapters(run, tracks)
    links, hidden = _links(run, tracks)
    sources += links
    sources += _faults(run, tracks)
    with whole.writing(path) as file:
        writer = _Writer(StreamingTraceProtoBuilder(file))
        writer.describe(tracks, run.cluster.name)
        for event in heapq.merge(*sources, key=lambda event: event.time_ns):
            writer.event(event)
    return hidden


class _Writer:
    """Writes packets."""

    def __init__(self, builder: StreamingTraceProtoBuilder) -> None:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent

        self._builder = builder
        self._types = {
            "begin": TrackEvent.TYPE_SLICE_BEGIN,
            "end": TrackEvent.TYPE_SLICE_END,
            "instant": TrackEvent.TYPE_INSTANT,
            "counter": TrackEvent.TYPE_COUNTER,
        }
        self._names: dict[str, int] = {}
        self._notes: dict[str, int] = {}

    def describe(self, tracks: Tracks, machine: str) -> None:
        """Write which tracks there are."""
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor

        groups = dict(_GROUPS)
        if any(group == "faults" for _, group, _, _ in tracks.rows):
            groups["faults"] = _FAULTS
        for group, number in groups.items():
            packet = self._packet()
            if number == 1:
                packet.sequence_flags = _CLEARED
            descriptor = packet.track_descriptor
            descriptor.uuid = number
            descriptor.process.pid = number
            descriptor.process.process_name = f"{group} of {machine}"
            descriptor.child_ordering = TrackDescriptor.EXPLICIT
            self._builder.write_packet(packet)
        for number, group, name, counter in tracks.rows:
            packet = self._packet()
            descriptor = packet.track_descriptor
            descriptor.uuid = number
            descriptor.parent_uuid = groups[group]
            descriptor.name = name
            descriptor.sibling_order_rank = number
            if counter:
                descriptor.counter.unit_name = "%"
            self._builder.write_packet(packet)

    def event(self, event: Event) -> None:
        """Write an event."""
        packet = self._packet()
        packet.timestamp = event.time_ns
        packet.sequence_flags = _NEEDED
        written = packet.track_event
        written.type = self._types[event.kind]
        written.track_uuid = event.track
        if event.name:
            written.name_iid = self._short(
                packet.interned_data.event_names, self._names, event.name
            )
        if event.kind == "counter":
            written.double_counter_value = event.value
        if event.message:
            (written.terminating_flow_ids if event.arrives else written.flow_ids).append(
                event.message
            )
        for key, value in event.notes:
            note = written.debug_annotations.add()
            note.name_iid = self._short(
                packet.interned_data.debug_annotation_names, self._notes, key
            )
            if isinstance(value, str):
                note.string_value = value
            elif isinstance(value, float):
                note.double_value = value
            else:
                note.uint_value = value
        self._builder.write_packet(packet)

    def _packet(self) -> TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    @staticmethod
    def _short(table: RepeatedCompositeFieldContainer, known: dict[str, int], name: str) -> int:
        """The short number of a name, which the packet that first uses it gives."""
        if name not in known:
            known[name] = len(known) + 1
            entry = table.add()
            entry.iid = known[name]
            entry.name = name
        return known[name]


def _lanes(run: Run, tracks: Tracks) -> list[list[int]]:
    """Each rank's tracks: one, or more if several threads of the rank are in calls at the same
    time.
    """
    widths = [1] * len(run.placement)
    for rank, calls in _by_rank(run.tables["calls"]):
        widths[rank] = max(1, 1 + max((lane for lane, _ in _in_lanes(calls)), default=0))
    return [
        [
            tracks.add(
                "ranks", f"rank {rank} on node {run.placement[rank]}{f', {lane}' if lane else ''}"
            )
            for lane in lanes
        ]
        for rank, lanes in enumerate(map(range, widths))
    ]


def _by_rank(calls: pl.DataFrame) -> Iterator[tuple[int, list[tuple[str, float, float]]]]:
    """Each rank's calls, by begin."""
    ordered = calls.sort("rank", "begin_us", "end_us", maintain_order=True)
    for (rank,), rows in ordered.group_by("rank", maintain_order=True):
        yield int(str(rank)), list(rows.select("call", "begin_us", "end_us").iter_rows())


def _in_lanes(
    calls: list[tuple[str, float, float]],
) -> Iterator[tuple[int, tuple[str, float, float]]]:
    """Each call with the first lane that is free."""
    free: list[float] = []
    for call in calls:
        lane = next((lane for lane, end in enumerate(free) if end <= call[1]), len(free))
        free[lane : lane + 1] = [call[2]]
        yield lane, call


def _ranks(run: Run, lanes: list[list[int]]) -> list[list[Event]]:
    """The events in each rank's lanes, in their order: calls, and message ends in the first
    lane.
    """
    slices: dict[int, list[tuple[str, float, float]]] = {}
    for rank, calls in _by_rank(run.tables["calls"]):
        for lane, call in _in_lanes(calls):
            slices.setdefault(lanes[rank][lane], []).append(call)
    ends = _ends_of_messages(run.tables["messages"], [tracks[0] for tracks in lanes])
    return [
        _in_order(track, slices.get(track, []), ends.get(track, []))
        for tracks in lanes
        for track in tracks
    ]


def _in_order(
    track: int, calls: list[tuple[str, float, float]], instants: list[Event]
) -> list[Event]:
    """Calls one after the other, each with the instants that lie in it between its beginning and
    its end.

    Between two calls that touch, a message that arrives belongs to the first, a message that is
    sent to the second.
    """
    events: list[Event] = []
    waiting = iter(instants)
    one = next(waiting, None)
    for (name, begin, end), following in zip_longest(calls, [begin for _, begin, _ in calls[1:]]):
        while one is not None and one.time_us < begin:
            events.append(one)
            one = next(waiting, None)
        events.append(Event(begin, "begin", track, name))
        while one is not None and (
            one.time_us < end or (one.time_us == end and (one.arrives or following != end))
        ):
            events.append(one)
            one = next(waiting, None)
        events.append(Event(end, "end", track))
    if one is not None:
        events += [one, *waiting]
    return events


def _ends_of_messages(messages: pl.DataFrame, track: list[int]) -> dict[int, list[Event]]:
    """Both ends of each message that arrived, and the first end of all others, by track and in time
    order.
    """
    ends: dict[int, list[Event]] = {}
    columns = ("source", "destination", "bytes", "tag", "kind", "posted_us", "arrived_us")
    for number, row in enumerate(messages.select(columns).iter_rows(), 1):
        source, destination, size, tag, kind, posted, arrived = row
        notes: tuple[tuple[str, int | str | float], ...] = (
            ("bytes", size),
            ("tag", tag),
            ("kind", kind),
        )
        flow = number if arrived is not None else 0
        start = Event(
            posted,
            "instant",
            track[source],
            f"to rank {destination}",
            0.0,
            flow,
            False,
            (*notes, ("µs", posted)),
        )
        ends.setdefault(track[source], []).append(start)
        if arrived is not None:
            own = (*notes, ("µs", arrived), ("under way, µs", arrived - posted))
            stop = Event(
                arrived, "instant", track[destination], f"from rank {source}", 0.0, flow, True, own
            )
            ends.setdefault(track[destination], []).append(stop)
    for events in ends.values():
        events.sort(key=lambda event: (event.time_us, not event.arrives))
    return ends


def _adapters(run: Run, tracks: Tracks) -> list[list[Event]]:
    """How busy buses and adapters' processors were."""
    found = []
    names = {"bus": "I/O bus", "thread": "adapter's processor"}
    nodes = run.cluster.nodes
    rails = run.cluster.rails
    series = (
        run.tables["series"]
        .filter(run.tables["series"]["thing"] != "link")
        .sort("id", "thing", "time_us")
    )
    for (thing, number), rows in series.group_by(["thing", "id"], maintain_order=True):
        rail, node = divmod(int(str(number)), nodes)
        where = f"node {node}, rail {rail}" if rails > 1 else f"node {node}"
        found.append(
            _counter(rows, tracks.add("adapters", f"{where}: {names[str(thing)]}", counter=True))
        )
    return found


def _links(run: Run, tracks: Tracks) -> tuple[list[list[Event]], int]:
    """How busy the busiest links were, and how many others there are."""
    from elanite.mpirun.summary import busiest

    busy = busiest(run.tables["links"], run.summary["time_us"])
    series = run.tables["series"].filter(run.tables["series"]["thing"] == "link")
    found = []
    for row in busy.head(MOST_LINKS).iter_rows(named=True):
        rows = series.filter(series["id"] == row["link"]).sort("time_us")
        found.append(
            _counter(rows, tracks.add("links", f"{row['from']} to {row['to']}", counter=True))
        )
    return found, max(len(busy) - MOST_LINKS, 0)


def _faults(run: Run, tracks: Tracks) -> list[list[Event]]:
    """When each part that failed was down; a part that was not repaired is down to the run's
    end.
    """
    end = run.summary["time_us"]
    down = run.tables["faults"].drop_nulls("down_ps").sort("name", "down_ps")
    found = []
    for (name,), rows in down.group_by("name", maintain_order=True):
        track = tracks.add("faults", str(name))
        events: list[Event] = []
        for begin, up, known in rows.select("down_ps", "up_ps", "known_ps").iter_rows():
            until = end if up is None else up / 1e6
            events.append(Event(begin / 1e6, "begin", track, "down"))
            if known is not None and known / 1e6 <= until:
                events.append(Event(known / 1e6, "instant", track, "known to the sources"))
            events.append(Event(max(until, begin / 1e6), "end", track))
        found.append(events)
    return found


def _counter(rows: pl.DataFrame, track: int) -> list[Event]:
    """A counter in per cent, which holds until the next event.

    Time slices without a row were idle.
    """
    events: list[Event] = []
    idle = 0.0
    for begin, end, busy in rows.select("time_us", "end_us", "busy").iter_rows():
        if idle < begin:
            events.append(Event(idle, "counter", track))
        events.append(Event(begin, "counter", track, value=round(100 * busy, 3)))
        idle = end
    return [*events, Event(idle, "counter", track)]
