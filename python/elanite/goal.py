"""Generated traces: collective operations and the traffic of training, as GOAL text for ``elanite replay``.

A pattern writes the block of one rank after the other, so that a trace of any length takes the memory of one block. In
each pattern the call of a collective operation begins, in each rank, with a computation; everything of the call waits
for this computation, and the next call waits for everything of this one.

| pattern | messages | bytes |
|---|---|---|
| all-reduce, ring | 2 p (p - 1) | 2 (p - 1) S |
| all-reduce, tree | 2 (p - 1) | 2 (p - 1) S |
| all-reduce, recursive doubling | q log2 q + 2 (p - q), q the largest power of 2 up to p | S of each |
| all-reduce, hierarchical, groups of g, m of them | 2 p (g - 1) + 2 p (m - 1) | 2 m (g - 1) S + 2 (m - 1) S |
| all-gather, reduce-scatter | p (p - 1) in each group | (p - 1) S in each group |
| all-to-all | p (p - 1) in each group | S of each |
| pipeline, of p stages and b micro-batches | 2 (p - 1) b | S of each |
| expert, of l layers | l times 4 all-to-alls | S of each |

The combination of vectors takes no time of its own; ``compute`` can stand for it. Limits: messages of a ring may be
empty, where there are more ranks than bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Algorithm = Literal["ring", "tree", "recursive-doubling", "hierarchical"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


class Block:
    """The block of a rank in the making. Operations are known by their numbers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0
        self._last: list[int] = []
        """The operations for which the next call waits."""

    def _add(self, operation: str, after: Sequence[int]) -> int:
        number = self._count
        self._count += 1
        self.lines.append(f"l{number}: {operation}")
        self.lines.extend(f"l{number} requires l{other}" for other in dict.fromkeys(after))
        return number

    def send(self, size: int, to: int, after: Sequence[int]) -> int:
        """Send bytes to a rank when these operations have ended."""
        return self._add(f"send {size}b to {to}", after)

    def recv(self, size: int, source: int, after: Sequence[int]) -> int:
        """Receive bytes from a rank when these operations have ended."""
        return self._add(f"recv {size}b from {source}", after)

    def calc(self, ns: int, after: Sequence[int]) -> int:
        """Compute for nanoseconds when these operations have ended."""
        return self._add(f"calc {ns}", after)

    def begin(self, ns: int) -> list[int]:
        """Begin a call: a computation that waits for the call before."""
        return [self.calc(ns, self._last)]

    def end(self, last: Sequence[int]) -> None:
        """End a call, whose last operations these are."""
        self._last = list(last)


def parts(size: int, count: int) -> list[int]:
    """The bytes of a vector in parts that are as equal as can be; the first ones are longer."""
    short, rest = divmod(size, count)
    return [short + (place < rest) for place in range(count)]


def _ring(block: Block, group: Sequence[int], me: int, sizes: Sequence[int], start: int, after: list[int]) -> list[int]:
    """A turn of a ring: in step k rank i sends part i + start - k to the right. Returns the last operations."""
    count = len(group)
    left, right = group[me - 1], group[(me + 1) % count]
    sent, received = after, after
    for step in range(count - 1):
        part = (me + start - step) % count
        # What is sent in a step has come in the step before.
        now = [block.send(sizes[part], right, [*sent, *received])]
        came = [block.recv(sizes[part - 1], left, received)]
        sent, received = now, came
    return [*sent, *received]


def _scatter(block: Block, group: Sequence[int], me: int, sizes: Sequence[int], after: list[int]) -> list[int]:
    """Reduce-scatter by a ring: at the end, rank i has part i + 1."""
    return _ring(block, group, me, sizes, 0, after)


def _gather(block: Block, group: Sequence[int], me: int, sizes: Sequence[int], after: list[int]) -> list[int]:
    """All-gather by a ring: at the start, rank i has part i + 1."""
    return _ring(block, group, me, sizes, 1, after)


def _all_reduce_ring(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    sizes = parts(size, len(group))
    return _gather(block, group, me, sizes, _scatter(block, group, me, sizes, after))


def _tree(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """Binomial trees: vectors go down to rank 0 of the group, and the sum comes back up."""
    count = len(group)
    children = []
    bit = 1
    while bit < count and not me & bit:
        if me + bit < count:
            children.append(group[me | bit])
        bit <<= 1
    last = [*after, *(block.recv(size, child, after) for child in children)]
    if me:
        parent = group[me & ~bit]
        last = [block.recv(size, parent, [block.send(size, parent, last)])]
    return [*last, *(block.send(size, child, last) for child in reversed(children))]


def _doubling(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """Recursive doubling; the ranks beyond a power of 2 give their vectors to others, and get the sum."""
    power = 1 << (len(group).bit_length() - 1)
    if me >= power:
        partner = group[me - power]
        return [block.recv(size, partner, [block.send(size, partner, after)])]
    last = after
    beyond = group[me + power] if me + power < len(group) else None
    if beyond is not None:
        last = [block.recv(size, beyond, last)]
    bit = 1
    while bit < power:
        partner = group[me ^ bit]
        last = [block.send(size, partner, last), block.recv(size, partner, last)]
        bit <<= 1
    return last if beyond is None else [*last, block.send(size, beyond, last)]


def _hierarchical(block: Block, groups: Sequence[Sequence[int]], rank: int, size: int, after: list[int]) -> list[int]:
    """Reduce-scatter in each group, all-reduce of each part across the groups, all-gather in each group."""
    share = len(groups[0])
    which, me = divmod(rank, share)
    group, sizes = groups[which], parts(size, share)
    after = _scatter(block, group, me, sizes, after)
    across = [each[me] for each in groups]
    after = _all_reduce_ring(block, across, which, sizes[(me + 1) % share], after)
    return _gather(block, group, me, sizes, after)


def _all_to_all(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """In step k, rank i sends to i + k and receives from i - k."""
    count = len(group)
    for step in range(1, count):
        to, source = group[(me + step) % count], group[me - step]
        after = [block.send(size, to, after), block.recv(size, source, after)]
    return after


def _groups(ranks: int, share: int | None) -> list[range]:
    """Groups of ranks next to each other."""
    share = ranks if share is None else share
    if ranks < 1 or share < 1 or ranks % share:
        raise UsageError(f"--group: {ranks} ranks do not make groups of {share}; take a divisor of the ranks")
    return [range(first, first + share) for first in range(0, ranks, share)]


def _text(ranks: int, write: Callable[[Block, int], None]) -> Iterator[str]:
    """The lines of a trace; ``write`` writes the block of a rank."""
    yield f"num_ranks {ranks}\n"
    for rank in range(ranks):
        block = Block()
        write(block, rank)
        yield f"rank {rank} {{\n"
        yield from (f"{line}\n" for line in block.lines)
        yield "}\n"


def _calls(ranks: int, calls: int, compute: int, call: Callable[[Block, int, list[int]], list[int]]) -> Iterator[str]:
    def write(block: Block, rank: int) -> None:
        for _ in range(calls):
            block.end(call(block, rank, block.begin(compute)))

    return _text(ranks, write)


def all_reduce(
    ranks: int, size: int, algorithm: Algorithm = "ring", *, group: int | None = None, compute: int = 0, calls: int = 1
) -> Iterator[str]:
    """All-reduces of vectors of ``size`` bytes, each after ``compute`` ns; ``group`` ranks for the hierarchical one."""
    if algorithm == "hierarchical" and group is None:
        raise UsageError("--algorithm hierarchical: name the ranks of a group with --group")
    if algorithm != "hierarchical" and group is not None:
        raise UsageError(f"--group: the algorithm {algorithm} has no groups; leave it out, or take hierarchical")
    groups, everybody = _groups(ranks, group), range(ranks)

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        if algorithm == "hierarchical":
            return _hierarchical(block, groups, rank, size, after)
        how = {"ring": _all_reduce_ring, "tree": _tree, "recursive-doubling": _doubling}[algorithm]
        return how(block, everybody, rank, size, after)

    return _calls(ranks, calls, compute, call)


def all_gather(
    ranks: int, size: int, *, group: int | None = None, compute: int = 0, calls: int = 1, scatter: bool = False
) -> Iterator[str]:
    """All-gathers of vectors of ``size`` bytes, by a ring in each group; reduce-scatters if ``scatter``."""
    groups = _groups(ranks, group)
    share = len(groups[0])
    sizes = parts(size, share)

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        which, me = divmod(rank, share)
        return (_scatter if scatter else _gather)(block, groups[which], me, sizes, after)

    return _calls(ranks, calls, compute, call)


def all_to_all(ranks: int, size: int, *, group: int | None = None, compute: int = 0, calls: int = 1) -> Iterator[str]:
    """All-to-alls in each group: ``size`` bytes from each rank to each other."""
    groups = _groups(ranks, group)
    share = len(groups[0])

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        which, me = divmod(rank, share)
        return _all_to_all(block, groups[which], me, size, after)

    return _calls(ranks, calls, compute, call)


def pipeline(stages: int, size: int, *, batches: int, compute: int) -> Iterator[str]:
    """A step of training by a pipeline, one forward and one backward in turns (1F1B).

    A stage takes ``compute`` ns for a micro-batch forward, and twice as long backward. Activations and gradients of
    a micro-batch have ``size`` bytes.
    """

    def write(block: Block, stage: int) -> None:
        ahead = min(batches, stages - 1 - stage)
        order = [True] * ahead
        for _ in range(batches - ahead):
            order += [True, False]
        order += [False] * ahead
        last: list[int] = []
        for forward in order:
            came, goes = (stage - 1, stage + 1) if forward else (stage + 1, stage - 1)
            # Receives are posted at the start; messages of a way come in the order of the micro-batches.
            data = [block.recv(size, came, [])] if 0 <= came < stages else []
            last = [block.calc(compute if forward else 2 * compute, [*last, *data])]
            if 0 <= goes < stages:
                block.send(size, goes, last)

    _groups(stages, None)
    return _text(stages, write)


def expert(ranks: int, size: int, *, group: int, layers: int, compute: int) -> Iterator[str]:
    """A step of training of a mixture of experts: two all-to-alls in each group, for each layer, forward and backward.

    A rank computes ``compute`` ns before each all-to-all forward (attention; then the expert), and twice as long
    backward. ``size`` bytes go from each rank to each other of its group.
    """
    groups = _groups(ranks, group)

    def write(block: Block, rank: int) -> None:
        which, me = divmod(rank, group)
        for time in [compute] * (2 * layers) + [2 * compute] * (2 * layers):
            block.end(_all_to_all(block, groups[which], me, size, block.begin(time)))

    return _text(ranks, write)
