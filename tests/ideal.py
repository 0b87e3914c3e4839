"""A second ideal network for traces, from ``docs/traces-format.md`` alone: slow, and without the
first one's code.

It has no event queue, no lists by peer and tag, and reads no file. It searches all moments for the
next one, and all messages and receives, in their order, for the first match.

A call takes 250 ns on its rank's first processor, and a message arrives 1 us after its send has
started. Where one piece of work ends, its processor's next one starts after that. Other
simultaneous moments in a rank have no order in the text, and a trace with such moments has no
result here. Where the trace has a pace, a poll's next look is ready that long after its last one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CALL, LATENCY = 250, 1000
REMOTE = ("put", "get", "atomic", "swap")
FROM = ("recv", "probe", "poll", "get", "handle", "await")
ANY = -1
MOST = 5000
"""The maximum moments in a trace; a poll without a message has no end."""

Place = tuple[int, int]
"""A rank and an operation's number there."""


class Undecided(Exception):
    """Two moments are the same, or there is no end."""


@dataclass
class Operation:
    """An operation in a trace, by its name there. Times are in nanoseconds."""

    kind: str
    size: int
    peer: int = ANY
    tag: int = 0
    cpu: int = 0
    requires: set[int] = field(default_factory=set)
    irequires: set[int] = field(default_factory=set)

    def fits(self, source: int, send: Operation) -> bool:
        """Whether a message fits."""
        takes = {"handle": "active", "await": "put"}.get(self.kind, "send")
        return takes == send.kind and self.peer in (ANY, source) and self.tag in (ANY, send.tag)


@dataclass
class Result:
    """Per operation: its ready time and end time, and a receive's matching send."""

    free: dict[Place, int] = field(default_factory=dict)
    ends: dict[Place, int] = field(default_factory=dict)
    taken: dict[Place, Place] = field(default_factory=dict)


class Network:
    """A trace in progress. Tests derive wrong networks from it."""

    def __init__(self, ranks: list[list[Operation]], pace: int = 0) -> None:
        self.ranks, self.found, self.started = ranks, Result(), set[Place]()
        self.pace = pace
        self.moments: list[tuple[int, str, Place, int]] = []
        self.idle: dict[tuple[int, int], int] = {}
        self.posted: list[Place] = []
        self.arrived: list[tuple[Place, int]] = []
        self.probes: list[Place] = []

    def run(self) -> Result:
        """All operations' times; those that wait at the end have no times. Raises ``Undecided``."""
        for rank in range(len(self.ranks)):
            self.give(rank, 0)
        seen = set[tuple[int, int]]()
        for _ in range(MOST):
            if not self.moments:
                return self.found
            moment = min(self.moments, key=lambda one: one[0])
            self.moments.remove(moment)
            now, what, place, at = moment
            if what not in ("starts", "over_with_it"):
                if (now, at) in seen:
                    raise Undecided
                seen.add((now, at))
            getattr(self, what)(place, now)
        raise Undecided

    def of(self, place: Place) -> Operation:
        return self.ranks[place[0]][place[1]]

    def give(self, rank: int, now: int) -> None:
        """Give the operations that have become free to their processors: sends, receives, looks,
        computations, then operations on memory and active messages. A handler needs no processor.
        """
        order = ("send", "recv", "probe", "poll", "calc", *REMOTE, "active", "handle", "await")
        free = []
        for number, one in enumerate(self.ranks[rank]):
            ended = all((rank, other) in self.found.ends for other in one.requires)
            begun = all((rank, other) in self.started for other in one.irequires)
            if ended and begun and (rank, number) not in self.found.free:
                free.append((order.index(one.kind), number))
        for _, number in sorted(free):
            place, one = (rank, number), self.ranks[rank][number]
            self.found.free[place] = now
            if one.kind in ("handle", "await"):
                self.moments.append((now, "starts", place, rank))
                self.handled(place, now)
                continue
            begin = self.begins(place, now, one.size if one.kind == "calc" else CALL)
            self.moments.append((begin, "starts", place, rank))
            if one.kind in ("send", "active") or (one.kind == "put" and one.tag):
                self.moments.append((self.leaves(begin, now) + LATENCY, "arrives", place, one.peer))

    def begins(self, place: Place, now: int, takes: int) -> int:
        """Put a piece of work behind its processor's others; returns its start time."""
        one = self.of(place)
        processor = (place[0], one.cpu if one.kind == "calc" else 0)
        begin = max(now, self.idle.get(processor, 0))
        self.idle[processor] = begin + takes
        lasts = self.lasts(one, takes)
        self.moments.append((begin + lasts, "over", place, place[0]))
        return begin

    def lasts(self, one: Operation, takes: int) -> int:
        """The time from an operation's start to its end, if it waits for no message."""
        return LATENCY if one.kind in REMOTE else takes

    def handled(self, place: Place, now: int) -> None:
        """A handler looks for its message immediately."""
        self.moments.append((now, "over_with_it", place, place[0]))

    def over_with_it(self, place: Place, now: int) -> None:
        self.over(place, now)

    def leaves(self, begin: int, _free: int) -> int:
        return begin

    def pause(self) -> int:
        """The time between a poll's looks."""
        return self.pace

    def starts(self, place: Place, now: int) -> None:
        self.started.add(place)
        self.give(place[0], now)

    def end(self, place: Place, now: int) -> None:
        self.found.ends[place] = now
        self.give(place[0], now)

    def over(self, place: Place, now: int) -> None:
        """A processor's piece of work is over."""
        one, rank = self.of(place), place[0]
        fitting = [
            send for send, to in self.arrived if to == rank and one.fits(send[0], self.of(send))
        ]
        if one.kind in ("send", "calc", "active", *REMOTE):
            self.end(place, now)
        elif one.kind in ("recv", "handle", "await") and not fitting:
            self.posted.append(place)
        elif one.kind in ("recv", "handle", "await"):
            send = self.message(fitting)
            self.arrived.remove((send, rank))
            self.take(place, send)
            self.end(place, now)
        elif fitting:
            self.end(place, now)
        elif one.kind == "poll" or place not in self.probes:
            self.probes.append(place)
            self.begins(place, now + (self.pause() if one.kind == "poll" else 0), CALL)
        else:
            self.probes.append(place)  # twice in the list: it waits in its second call

    def take(self, place: Place, send: Place) -> None:
        if self.of(place).kind != "await":
            self.found.taken[place] = send

    def message(self, fitting: list[Place]) -> Place:
        """The message that a receive takes: the first that has come."""
        return fitting[0]

    def receive(self, fitting: list[Place]) -> Place:
        """The receive that a message takes: the first that was posted."""
        return fitting[0]

    def arrives(self, send: Place, now: int) -> None:
        rank, message = self.of(send).peer, self.of(send)
        self.arrived.append((send, rank))
        for place in [one for one in self.probes if one[0] == rank and self.probes.count(one) == 2]:
            if (
                place not in self.found.ends
                and self.of(place).kind == "probe"
                and self.of(place).fits(send[0], message)
            ):
                self.end(place, now)
        posted = [one for one in self.posted if one[0] == rank]
        fitting = [one for one in posted if self.of(one).fits(send[0], message)]
        if fitting:
            place = self.receive(fitting)
            self.posted.remove(place)
            self.arrived.remove((send, rank))
            self.take(place, send)
            self.end(place, now)
