"""All ranks' memory after each step, from the steps' meaning alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from . import steps


def first(rank: int, region: int, at: int) -> int:
    """A byte's value when the program begins."""
    return (rank * 37 + region * 101 + at * 13 + (at >> 8) * 7 + 1) & 255


class Memory:
    """All ranks' memory."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.bytes = {
            (rank, name): bytearray(first(rank, number, at) for at in range(steps.SIZE))
            for rank in range(ranks)
            for number, name in enumerate(steps.REGIONS)
        }

    def read(self, rank: int, place: steps.Place, size: int) -> bytes:
        assert 0 <= place.offset <= steps.SIZE - size
        return bytes(self.bytes[rank, place.region][place.offset : place.offset + size])

    def write(self, rank: int, place: steps.Place, data: bytes) -> None:
        assert 0 <= place.offset <= steps.SIZE - len(data)
        self.bytes[rank, place.region][place.offset : place.offset + len(data)] = data

    def word(self, rank: int, place: steps.Place, size: int) -> int:
        return int.from_bytes(self.read(rank, place, size), "little")

    def store(self, rank: int, place: steps.Place, size: int, value: int) -> None:
        self.write(rank, place, (value % (1 << 8 * size)).to_bytes(size, "little"))

    def shown(self) -> list[bytes]:
        """Each rank's memory, as the program writes it."""
        return [
            b"".join(bytes(self.bytes[rank, name]) for name in steps.REGIONS)
            for rank in range(self.ranks)
        ]


def expected(program: steps.Program) -> Iterator[list[bytes]]:
    """After each step, each rank's memory."""
    memory = Memory(program.ranks)
    for step in program.steps:
        if isinstance(step, steps.Operations):
            for _, one in step.all:
                operate(memory, one)
        else:
            for call in step.all:
                together(memory, call, list(program.groups[call.group].members))
        yield memory.shown()


def changed(name: str, old: int, operand: int, compare: int) -> int:
    """The word after an atomic operation."""
    match name:
        case "fetch":
            return old
        case "set" | "swap":
            return operand
        case "compare_swap":
            return operand if old == compare else old
        case "inc":
            return old + 1
        case "add":
            return old + operand
        case "and":
            return old & operand
        case "or":
            return old | operand
        case "xor":
            return old ^ operand
    raise ValueError(name)


def operate(memory: Memory, one: steps.Operation) -> None:
    """One operation. steps.Operations without a race may execute in any order, so list order is
    used.
    """
    match one:
        case steps.Transfer():
            for piece in range(one.count):
                mine = steps.Place(one.mine.region, one.mine.offset + piece * one.strides[0])
                theirs = steps.Place(one.theirs.region, one.theirs.offset + piece * one.strides[1])
                if one.way == "put":
                    memory.write(one.other, theirs, memory.read(one.rank, mine, one.bytes))
                else:
                    memory.write(one.rank, mine, memory.read(one.other, theirs, one.bytes))
        case steps.Twice():
            memory.write(one.other, one.theirs, memory.read(one.rank, one.second, one.bytes))
        case steps.Atomic():
            old = memory.word(one.other, one.theirs, one.bytes)
            memory.store(
                one.other, one.theirs, one.bytes, changed(one.name, old, one.operand, one.compare)
            )
            if one.fetched:
                memory.store(one.rank, one.fetched, one.bytes, old)
        case steps.Ticket():
            old = memory.word(one.other, one.word, 8)
            memory.store(one.other, one.word, 8, old + one.operand)
            memory.store(one.other, one.sum, 8, memory.word(one.other, one.sum, 8) + old)
        case steps.Locked():
            memory.store(one.other, one.word, 8, memory.word(one.other, one.word, 8) + one.operand)
        case steps.Signal():
            memory.write(one.other, one.theirs, memory.read(one.rank, one.mine, one.bytes))
        case steps.Await():
            memory.write(
                one.rank, one.copy, memory.read(one.rank, one.signal.theirs, one.signal.bytes)
            )
        case steps.Finish():
            message = one.message
            memory.write(
                message.other, message.into, memory.read(message.rank, message.mine, message.bytes)
            )
        case steps.Queued():
            memory.write(one.other, one.into, memory.read(one.rank, one.mine, one.bytes))
        case steps.Post() | steps.Send() | steps.Delay():
            pass


def number(data: bytes, type_: str) -> int:
    return int.from_bytes(data, "little", signed=not type_.startswith("u"))


def combined(operation: str, type_: str, one: bytes, other: bytes) -> bytes:
    """Two elements, the one in the lower place first."""
    if operation == "matrix":  # of 2 x 2 numbers of 32 bits: associative, and not commutative
        a, b = (
            [int.from_bytes(x[i : i + 4], "little") for i in range(0, 16, 4)] for x in (one, other)
        )
        product = (a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2])
        whole = (*product, a[2] * b[1] + a[3] * b[3])
        return b"".join((x & 0xFFFFFFFF).to_bytes(4, "little") for x in whole)
    x, y = number(one, type_), number(other, type_)
    value = {
        "sum": x + y,
        "prod": x * y,
        "min": min(x, y),
        "max": max(x, y),
        "and": x & y,
        "or": x | y,
        "xor": x ^ y,
    }[operation]
    return (value % (1 << 8 * len(one))).to_bytes(len(one), "little")


def together(memory: Memory, call: steps.Collective, members: list[int]) -> None:
    """One collective call."""
    size = 16 if call.operation == "matrix" else steps.width(call.type)
    block = size * call.count
    match call.kind:
        case "barrier":
            pass
        case "broadcast":
            data = memory.read(members[call.root], call.source, block)
            for place, rank in enumerate(members):
                if not (call.how == "active" and place == call.root):
                    memory.write(rank, call.target, data)
        case "reduce":
            vectors = [memory.read(rank, call.source, block) for rank in members]
            result = b"".join(
                reduce(
                    lambda one, other: combined(call.operation, call.type, one, other),
                    [vector[at : at + size] for vector in vectors],
                )
                for at in range(0, block, size)
            )
            for place, rank in enumerate(members):
                if call.how != "root" or place == call.root:
                    memory.write(rank, call.target, result)
        case "fcollect" | "collect":
            parts = [
                memory.read(
                    rank, call.source, size * (call.count + (place % 3) * (call.kind == "collect"))
                )
                for place, rank in enumerate(members)
            ]
            for rank in members:
                memory.write(rank, call.target, b"".join(parts))
        case "gather":
            parts = [memory.read(rank, call.source, block) for rank in members]
            memory.write(members[call.root], call.target, b"".join(parts))
        case "alltoall":
            exchange(memory, call, members, size)
        case _:
            raise ValueError(call.kind)


def exchange(memory: Memory, call: steps.Collective, members: list[int], size: int) -> None:
    """Element ``i`` in each member's block, with strides between a block's elements and between
    blocks.
    """
    into, out = call.strides
    found = {
        (sender, receiver, i): memory.read(
            rank,
            steps.Place(
                call.source.region, call.source.offset + size * (receiver * call.count + i) * out
            ),
            size,
        )
        for sender, rank in enumerate(members)
        for receiver in range(len(members))
        for i in range(call.count)
    }
    for (sender, receiver, i), data in found.items():
        place = steps.Place(
            call.target.region, call.target.offset + size * (sender * call.count + i) * into
        )
        memory.write(members[receiver], place, data)
