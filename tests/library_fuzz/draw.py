"""A program from a seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

from .steps import (
    REGIONS,
    SIZE,
    Atomic,
    Await,
    Collective,
    Collectives,
    Delay,
    Finish,
    Group,
    Locked,
    Message,
    Operation,
    Operations,
    Place,
    Post,
    Program,
    Queued,
    Send,
    Signal,
    Step,
    Ticket,
    Transfer,
    Twice,
    width,
)

LIBRARIES = ("shmem", "elanlib")

SIZES = (1, 2, 3, 8, 8, 16, 63, 64, 65, 72, 100, 320, 321, 1000, 2100)
"""Around the limits of packets, transactions, and immediately copied puts."""

SYMMETRIC = REGIONS[:2]

OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("--ranks-per-node", "2"),
    ("--machine", "opteron-qsnet2"),
    ("--memory", "elan"),
    ("--network", "ideal"),
    ("--ranks-per-node", "3", "--placement", "cyclic"),
)

TYPES = ("int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
CLASSIC = ("int16", "int32", "int64")
"""Types for active set reductions: short, int, long."""
REDUCTIONS = ("sum", "prod", "min", "max", "and", "or", "xor")

QUEUED = 200
"""The maximum bytes in a queue message."""

Bundle = list[Operation]


class Room:
    """Which memory a step does not use yet."""

    def __init__(self, chance: random.Random, ranks: int) -> None:
        self.chance, self.ranks = chance, ranks
        self.taken: dict[tuple[int, str], list[tuple[int, int]]] = {}

    def take(
        self, ranks: Sequence[int], regions: Sequence[str], size: int, align: int = 1
    ) -> Place | None:
        """A range that is free in all these ranks, at the same place."""
        for _ in range(30):
            region = self.chance.choice(regions)
            offset = self.chance.randrange(0, SIZE - size + 1) // align * align
            used = [pair for rank in ranks for pair in self.taken.get((rank, region), [])]
            if all(offset + size <= begin or end <= offset for begin, end in used):
                for rank in ranks:
                    self.taken.setdefault((rank, region), []).append((offset, offset + size))
                return Place(region, offset)
        return None


class Full(Exception):
    """A step has no room for one more bundle."""


class Drawing:
    """State while a program is drawn."""

    def __init__(self, library: str, seed: int) -> None:
        self.chance = random.Random(f"{library} {seed}")
        self.library = library
        self.ranks = self.chance.choice((2, 3, 4, 5, 6, 8))
        self.groups = [Group(0, 1, self.ranks)]
        for _ in range(2):
            stride = self.chance.choice((1, 1, 2, 3))
            start = self.chance.randrange(self.ranks)
            most = (self.ranks - start + stride - 1) // stride
            self.groups.append(Group(start, stride, self.chance.randint(1, most)))
        self.numbers = 0
        self.room = Room(self.chance, self.ranks)

    def place(
        self, ranks: Sequence[int], regions: Sequence[str], size: int, align: int = 1
    ) -> Place:
        found = self.room.take(ranks, regions, size, align)
        if found is None:
            raise Full
        return found

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def pair(self) -> tuple[int, int]:
        return self.chance.randrange(self.ranks), self.chance.randrange(self.ranks)


def transfer(draw: Drawing) -> Bundle:
    chance, (rank, other) = draw.chance, draw.pair()
    if chance.random() < 0.35:
        size, count = chance.choice((1, 2, 4, 8)), chance.randint(2, 12)
        if draw.library == "elanlib":
            size = chance.choice((1, 8, 24, 65))
        strides = size * chance.randint(1, 5), size * chance.randint(1, 5)
        how = "strided" if draw.library == "shmem" else chance.choice(("vector", "strided"))
    else:
        size, count, strides = chance.choice(SIZES), 1, (0, 0)
        typed = size in (1, 2, 8)
        how = chance.choice(("memory", "typed", "one") if typed else ("memory",))
        if draw.library == "elanlib":
            how = chance.choice(("plain", "control"))
    align = size if size in (2, 4, 8) else 1
    mine = draw.place((rank,), REGIONS, (count - 1) * strides[0] + size, align)
    theirs = draw.place((other,), SYMMETRIC, (count - 1) * strides[1] + size, align)
    late = how != "one" and chance.random() < 0.5
    way = chance.choice(("put", "get"))
    return [Transfer(rank, way, other, mine, theirs, size, count, strides, how, late)]


def twice(draw: Drawing) -> Bundle:
    rank, other = draw.pair()
    size = draw.chance.choice(SIZES)
    first, second = (draw.place((rank,), REGIONS, size) for _ in range(2))
    theirs = draw.place((other,), SYMMETRIC, size)
    return [Twice(rank, other, first, second, theirs, size, draw.chance.random() < 0.5)]


def atomic(draw: Drawing) -> Bundle:
    """A word that belongs to one rank alone, which may be fetched."""
    chance, (rank, other) = draw.chance, draw.pair()
    size = chance.choice((4, 8))
    name = chance.choice(("fetch", "set", "swap", "compare_swap", "inc", "add", "and", "or", "xor"))
    fetching = name in ("fetch", "swap", "compare_swap") or (
        name != "set" and chance.random() < 0.6
    )
    word = draw.place((other,), SYMMETRIC, size, 8)
    fetched = draw.place((rank,), REGIONS, size, 8) if fetching else None
    # A second operation finds the first one's result; the second one's comparison may hold.
    operand, again = (chance.getrandbits(8 * size) for _ in range(2))
    made: Bundle = [
        Atomic(
            rank,
            other,
            word,
            size,
            name,
            operand,
            chance.getrandbits(8 * size),
            fetched,
            chance.random() < 0.4,
        )
    ]
    if name == "swap" and not made[0].late:  # type: ignore[union-attr]
        compare = chance.choice((operand, again))
        old = draw.place((rank,), REGIONS, size, 8)
        made.append(Atomic(rank, other, word, size, "compare_swap", again, compare, old, False))
    return made


def shared_atomic(draw: Drawing) -> Bundle:
    """A word that several ranks change by operations that commute."""
    chance = draw.chance
    name, size, other = (
        chance.choice(("add", "and", "or", "xor", "inc")),
        chance.choice((4, 8)),
        draw.pair()[0],
    )
    word = draw.place((other,), SYMMETRIC, size, 8)
    made: Bundle = []
    for rank in range(draw.ranks):
        for _ in range(chance.randrange(3)):
            made.append(
                Atomic(rank, other, word, size, name, chance.getrandbits(8 * size), 0, None, False)
            )
    return made


def tickets(draw: Drawing) -> Bundle:
    other = draw.pair()[0]
    word, total = (draw.place((other,), SYMMETRIC, 8, 8) for _ in range(2))
    step = draw.chance.randint(1, 5)
    return [Ticket(rank, other, word, total, step) for rank in range(draw.ranks)]


def locked(draw: Drawing) -> Bundle:
    chance, other = draw.chance, draw.pair()[0]
    word, lock = draw.place((other,), SYMMETRIC, 8, 8), chance.randrange(2)
    ranks = [rank for rank in range(draw.ranks) if chance.random() < 0.6]
    return [Locked(rank, other, word, chance.getrandbits(60), lock) for rank in ranks]


def signal(draw: Drawing) -> Bundle:
    """One rank after the other in a chain: each forwards the received data."""
    chance = draw.chance
    made: Bundle = []
    ranks = [chance.randrange(draw.ranks) for _ in range(chance.randint(2, 4))]
    size = chance.choice(SIZES)
    mine = draw.place((ranks[0],), REGIONS, size)
    for rank, other in itertools.pairwise(ranks):
        how = chance.choice(
            ("call", "call_nbi", "call_add", "put") if draw.library == "shmem" else ("put",)
        )
        theirs = draw.place((other,), SYMMETRIC, size)
        sent = Signal(rank, other, mine, theirs, size, draw.number(), how)
        mine = draw.place((other,), REGIONS, size)
        made += [sent, Await(other, sent, mine, chance.choice(("call", "call", "test", "loop")))]
    return made


def messages(draw: Drawing) -> Bundle:
    """Messages with one tag between two ranks, in order."""
    chance, (rank, other) = draw.chance, draw.pair()
    tag, early = draw.number(), chance.random() < 0.5
    match, sync = chance.choice(("both", "tag", "mask")), chance.random() < 0.3
    if rank == other:
        early = True
    posts: Bundle = []
    sends: Bundle = []
    ends: Bundle = []
    for _ in range(chance.randint(1, 3)):
        size = chance.choice((0, *SIZES))
        mine, into = draw.place((rank,), REGIONS, size), draw.place((other,), REGIONS, size)
        one = Message(rank, other, mine, into, size, draw.number(), tag, match, sync)
        posts.append(Post(other, one))
        sends.append(Send(rank, one))
        ends.append(Finish(other, one))
    return [*posts, *sends, *ends] if early else [*sends, *posts, *ends]


def queued(draw: Drawing) -> Bundle:
    chance, other = draw.chance, draw.pair()[1]
    made: Bundle = []
    for rank in range(draw.ranks):
        for _ in range(chance.randrange(3)):
            size = chance.choice([size for size in SIZES if size <= QUEUED])
            mine, into = draw.place((rank,), REGIONS, size), draw.place((other,), REGIONS, size)
            made.append(Queued(rank, other, mine, into, size))
    return made


def delay(draw: Drawing) -> Bundle:
    return [Delay(draw.pair()[0], draw.chance.choice((1, 5, 20, 100)))]


BUNDLES: dict[str, dict[Callable[[Drawing], Bundle], int]] = {
    "shmem": {
        transfer: 12,
        twice: 2,
        atomic: 5,
        shared_atomic: 2,
        tickets: 1,
        locked: 1,
        signal: 4,
        delay: 2,
    },
    "elanlib": {transfer: 12, twice: 2, locked: 1, signal: 3, messages: 8, queued: 2, delay: 2},
}


def operations(draw: Drawing) -> Operations:
    """Bundles, shuffled into each other."""
    draw.room = Room(draw.chance, draw.ranks)
    kinds = BUNDLES[draw.library]
    bundles: list[tuple[int, Bundle]] = []
    for kind in draw.chance.choices([*kinds], [*kinds.values()], k=draw.chance.randint(6, 14)):
        try:
            bundles.append((draw.number(), kind(draw)))
        except Full:
            continue
    left = [number for number, bundle in bundles for _ in bundle]
    draw.chance.shuffle(left)
    queues = {number: iter(bundle) for number, bundle in bundles}
    return Operations(tuple((number, next(queues[number])) for number in left))


def collective(draw: Drawing) -> Collective:
    chance = draw.chance
    number = chance.randrange(len(draw.groups))
    group = draw.groups[number]
    members = list(group.members)
    shmem = draw.library == "shmem"
    kinds = ("broadcast", "reduce", "fcollect", "collect", "alltoall", "barrier")
    kind = chance.choice(
        kinds if shmem else ("broadcast", "reduce", "gather", "alltoall", "barrier")
    )
    root = chance.randrange(group.size)
    active = shmem and group.stride in (1, 2) and chance.random() < 0.4
    how = ("active" if active else "team") if shmem else chance.choice(("hardware", "software"))
    type_ = chance.choice(CLASSIC if active else TYPES)
    operation, strides = "", (1, 1)
    many = chance.choice((1, 2, 7, 16, 33, 150))
    if kind in ("barrier",):
        return Collective(kind, number, how, Place("heap", 0), Place("heap", 0), type_, 0, root)
    if active and kind != "reduce":
        type_ = chance.choice(("int32", "int64"))
    if kind == "reduce":
        operation = chance.choice(REDUCTIONS)
        if not shmem:
            how = chance.choice(("root", "all"))
            operation, type_ = chance.choice((("sum", "int64"), ("matrix", "uint64")))
    if kind == "alltoall" and shmem and chance.random() < 0.5:
        strides = chance.randint(1, 3), chance.randint(1, 3)
        many = min(many, 16)
    if kind in ("fcollect", "collect", "gather", "alltoall"):
        many = min(many, 33)
    size = 16 if operation == "matrix" else width(type_)
    out = (
        {"alltoall": group.size * strides[1]}.get(kind, 1) * size * (many + 2 * (kind == "collect"))
    )
    into = (
        {"alltoall": group.size * strides[0], "fcollect": group.size, "gather": group.size}.get(
            kind, 1
        )
        * size
        * many
    )
    if kind == "collect":
        into = size * (many + 2) * group.size
    regions = SYMMETRIC if shmem else ("heap", "fixed", "own")
    source = draw.place(members, regions, out, 8)
    target = draw.place(members, regions, into, 8)
    if not shmem and kind == "broadcast":
        # One buffer, at the same address everywhere if hardware writes it.
        source = target = draw.place(members, SYMMETRIC, into, 8)
    elif kind == "reduce" and chance.random() < 0.2:
        target = source
    return Collective(kind, number, how, source, target, type_, many, root, operation, strides)


def collectives(draw: Drawing) -> Collectives:
    draw.room = Room(draw.chance, draw.ranks)
    made = []
    for _ in range(draw.chance.randint(2, 5)):
        try:
            made.append(collective(draw))
        except Full:
            continue
    return Collectives(tuple(made))


def draw(library: str, seed: int) -> Program:
    """A seed's program."""
    drawing = Drawing(library, seed)
    steps: list[Step] = [
        operations(drawing) if drawing.chance.random() < 0.65 else collectives(drawing)
        for _ in range(drawing.chance.randint(4, 8))
    ]
    options = drawing.chance.choice(OPTIONS)
    return Program(library, seed, drawing.ranks, tuple(drawing.groups), tuple(steps), options)
