"""The parts of a program.

All numbers are decided here: the C program and the oracle only execute them.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZE = 8192
"""Bytes in each of a rank's regions."""

REGIONS = ("heap", "fixed", "own")
"""Symmetric heap memory, symmetric static data, and memory that only its rank can reach."""

MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Place:
    """Where a range begins, in any rank."""

    region: str
    offset: int


@dataclass(frozen=True)
class Transfer:
    """A put or get of ``count`` pieces of ``bytes``, at distances of ``strides`` (this rank's and
    the other's).
    """

    rank: int
    way: str
    other: int
    mine: Place
    theirs: Place
    bytes: int
    count: int
    strides: tuple[int, int]
    how: str
    """The call, as the library's emitter knows it."""
    late: bool
    """The rank waits for completion only at the end of the step."""


@dataclass(frozen=True)
class Twice:
    """Two puts to one place, with an order that the library must keep."""

    rank: int
    other: int
    first: Place
    second: Place
    theirs: Place
    bytes: int
    quiet: bool


@dataclass(frozen=True)
class Atomic:
    """An atomic operation on another rank's word. ``fetched`` is the place for its old value."""

    rank: int
    other: int
    theirs: Place
    bytes: int
    name: str
    operand: int
    compare: int
    fetched: Place | None
    late: bool


@dataclass(frozen=True)
class Ticket:
    """Takes ``operand`` tickets from one word, and adds the first ticket's number to another
    word.
    """

    rank: int
    other: int
    word: Place
    sum: Place
    operand: int


@dataclass(frozen=True)
class Locked:
    """Adds to another rank's word by a get and a put, under a lock."""

    rank: int
    other: int
    word: Place
    operand: int
    lock: int


@dataclass(frozen=True)
class Signal:
    """A put, and then a word that the other rank waits for."""

    rank: int
    other: int
    mine: Place
    theirs: Place
    bytes: int
    number: int
    how: str


@dataclass(frozen=True)
class Await:
    """Waits for a signal word, and copies the data that came with it."""

    rank: int
    signal: Signal
    copy: Place
    how: str


@dataclass(frozen=True)
class Message:
    """A Tport message."""

    rank: int
    other: int
    mine: Place
    into: Place
    bytes: int
    number: int
    tag: int
    match: str
    """The receive's selection: sender and tag, the tag alone, or the bits that a mask leaves."""
    sync: bool


@dataclass(frozen=True)
class Post:
    """A receive begins."""

    rank: int
    message: Message


@dataclass(frozen=True)
class Send:
    """A send begins."""

    rank: int
    message: Message


@dataclass(frozen=True)
class Finish:
    """A receive ends."""

    rank: int
    message: Message


@dataclass(frozen=True)
class Queued:
    """A message for another rank's queue; that rank stores the bytes at the place in the
    message.
    """

    rank: int
    other: int
    mine: Place
    into: Place
    bytes: int


@dataclass(frozen=True)
class Delay:
    """The rank sleeps, in microseconds."""

    rank: int
    time: int


Operation = (
    Transfer
    | Twice
    | Atomic
    | Ticket
    | Locked
    | Signal
    | Await
    | Post
    | Send
    | Finish
    | Queued
    | Delay
)


@dataclass(frozen=True)
class Operations:
    """Operations in one order, each with its bundle number; then all completions are awaited, and
    all ranks meet.
    """

    all: tuple[tuple[int, Operation], ...]


@dataclass(frozen=True)
class Group:
    """Ranks ``start``, ``start + stride``, ..."""

    start: int
    stride: int
    size: int

    @property
    def members(self) -> range:
        return range(self.start, self.start + self.stride * self.size, self.stride)


@dataclass(frozen=True)
class Collective:
    """A collective call by a group's members."""

    kind: str
    group: int
    how: str
    """The call's form."""
    source: Place
    target: Place
    type: str
    count: int
    root: int
    operation: str = ""
    strides: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Collectives:
    """Calls one after the other, which touch different memory."""

    all: tuple[Collective, ...]


Step = Operations | Collectives


@dataclass(frozen=True)
class Program:
    """A program for one library, and the run's options."""

    library: str
    seed: int
    ranks: int
    groups: tuple[Group, ...]
    """The first one has all ranks."""
    steps: tuple[Step, ...]
    options: tuple[str, ...]


def width(type_: str) -> int:
    """A type's bytes, such as int16."""
    return int(type_.removeprefix("u").removeprefix("int")) // 8
