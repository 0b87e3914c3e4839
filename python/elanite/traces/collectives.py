"""Collective operations as messages between a group's ranks, in GOAL: the parts that make up
traces.

A function adds one rank's operations to this rank's block, after the operations ``after``, and
returns the call's last operations: to wait for those is to wait for the whole call. ``group`` has
the ranks' numbers, and ``me`` is the rank's place in the group. Sizes are in bytes. A call's
messages have one tag (``Block.tag``). Limits: combining vectors takes no time; the caller chooses
the algorithm.

| function | algorithm |
|---|---|
| ``ring``, ``scatter``, ``gather``, ``all_reduce_ring`` | rings: one part per step |
| ``up``, ``down``, ``tree`` | binomial trees |
| ``doubling`` | recursive doubling |
| ``hierarchical`` | rings in groups and across groups |
| ``exchange``, ``all_to_all`` | rank i sends to i + k in step k |
| ``collect``, ``spread`` | each rank and the root directly |
| ``scan`` | a chain |

Sources: Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005); for the
rings, Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Block:
    """A rank's block in the making. Operations are known by their numbers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tag = 0
        """The tag for added messages."""
        self._count = 0
        self._last: list[int] = []
        """The operations for which the next call waits."""

    @property
    def operations(self) -> int:
        """How many operations there are."""
        return self._count

    def _add(self, operation: str, after: Sequence[int], begun: Sequence[int] = ()) -> int:
        number = self._count
        self._count += 1
        self.lines.append(f"l{number}: {operation}")
        self.lines.extend(f"l{number} requires l{other}" for other in dict.fromkeys(after))
        self.lines.extend(
            f"l{number} irequires l{other}" for other in dict.fromkeys(begun) if other not in after
        )
        return number

    def _tagged(self) -> str:
        return f" tag {self.tag}" if self.tag else ""

    def send(self, size: int, to: int, after: Sequence[int], begun: Sequence[int] = ()) -> int:
        """Send bytes to a rank when these operations have ended, and others have begun."""
        return self._add(f"send {size}b to {to}{self._tagged()}", after, begun)

    def recv(self, size: int, source: int, after: Sequence[int], begun: Sequence[int] = ()) -> int:
        """Receive bytes from a rank when these operations have ended, and others have begun."""
        return self._add(f"recv {size}b from {source}{self._tagged()}", after, begun)

    def calc(self, ns: int, after: Sequence[int], stream: int = 0) -> int:
        """Compute for nanoseconds when these operations have ended."""
        return self._add(f"calc {ns} cpu {stream}" if stream else f"calc {ns}", after)

    def begin(self, ns: int) -> list[int]:
        """Begin a call: a computation that waits for the call before."""
        return [self.calc(ns, self._last)]

    def end(self, last: Sequence[int]) -> None:
        """End a call, whose last operations these are."""
        self._last = list(last)


def parts(size: int, count: int) -> list[int]:
    """A vector's bytes in parts that are as equal as can be; the first ones are longer."""
    short, rest = divmod(size, count)
    return [short + (place < rest) for place in range(count)]


def ring(
    block: Block, group: Sequence[int], me: int, sizes: Sequence[int], start: int, after: list[int]
) -> list[int]:
    """A ring turn: in step k rank i sends part i + start - k to the right.

    Returns the last operations.
    """
    count = len(group)
    left, right = group[me - 1], group[(me + 1) % count]
    sent, received = after, after
    for step in range(count - 1):
        part = (me + start - step) % count
        # Data sent in a step have arrived in the step before.
        now = [block.send(sizes[part], right, [*sent, *received])]
        came = [block.recv(sizes[part - 1], left, received)]
        sent, received = now, came
    return [*sent, *received]


def scatter(
    block: Block, group: Sequence[int], me: int, sizes: Sequence[int], after: list[int]
) -> list[int]:
    """Reduce-scatter by a ring: at the end, rank i has part i + 1."""
    return ring(block, group, me, sizes, 0, after)


def gather(
    block: Block, group: Sequence[int], me: int, sizes: Sequence[int], after: list[int]
) -> list[int]:
    """All-gather by a ring: at the start, rank i has part i + 1."""
    return ring(block, group, me, sizes, 1, after)


def all_reduce_ring(
    block: Block, group: Sequence[int], me: int, size: int, after: list[int]
) -> list[int]:
    """An all-reduce: reduce-scatter and all-gather by rings."""
    sizes = parts(size, len(group))
    return gather(block, group, me, sizes, scatter(block, group, me, sizes, after))


def _children(group: Sequence[int], me: int) -> tuple[list[int], int | None]:
    """A place's children in a binomial tree with place 0 at its root, small subtrees first, and the
    parent.
    """
    children = []
    bit = 1
    while bit < len(group) and not me & bit:
        if me + bit < len(group):
            children.append(group[me | bit])
        bit <<= 1
    return children, group[me & ~bit] if me else None


def up(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """Vectors go up a binomial tree to place 0, and are combined on the way."""
    children, parent = _children(group, me)
    last = [*after, *(block.recv(size, child, after) for child in children)]
    return last if parent is None else [block.send(size, parent, last)]


def down(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """A vector goes down a binomial tree from place 0."""
    children, parent = _children(group, me)
    last = after if parent is None else [block.recv(size, parent, after)]
    return [*last, *(block.send(size, child, last) for child in reversed(children))]


def tree(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """An all-reduce: vectors go up a binomial tree, and the sum comes back down."""
    return down(block, group, me, size, up(block, group, me, size, after))


def doubling(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """Recursive doubling; the ranks beyond a power of two give their vectors to others, and get the
    sum.
    """
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


def hierarchical(
    block: Block, groups: Sequence[Sequence[int]], rank: int, size: int, after: list[int]
) -> list[int]:
    """Reduce-scatter in each group, all-reduce per part across the groups, all-gather in each
    group.
    """
    share = len(groups[0])
    which, me = divmod(rank, share)
    group, sizes = groups[which], parts(size, share)
    after = scatter(block, group, me, sizes, after)
    across = [each[me] for each in groups]
    after = all_reduce_ring(block, across, which, sizes[(me + 1) % share], after)
    return gather(block, group, me, sizes, after)


def exchange(
    block: Block,
    group: Sequence[int],
    me: int,
    gives: Sequence[int],
    takes: Sequence[int],
    after: list[int],
) -> list[int]:
    """In step k, rank i sends to i + k and receives from i - k; the sizes are by the others'
    places.
    """
    count = len(group)
    for step in range(1, count):
        to, source = (me + step) % count, (me - step) % count
        after = [
            block.send(gives[to], group[to], after),
            block.recv(takes[source], group[source], after),
        ]
    return after


def all_to_all(
    block: Block, group: Sequence[int], me: int, size: int, after: list[int]
) -> list[int]:
    """An exchange of equal messages."""
    sizes = [size] * len(group)
    return exchange(block, group, me, sizes, sizes, after)


def collect(
    block: Block, group: Sequence[int], me: int, root: int, sizes: Sequence[int], after: list[int]
) -> list[int]:
    """Each rank sends its part to the root, whose receives are independent."""
    if me != root:
        return [block.send(sizes[me], group[root], after)]
    return [
        *after,
        *(block.recv(sizes[one], group[one], after) for one in range(len(group)) if one != root),
    ]


def spread(
    block: Block, group: Sequence[int], me: int, root: int, sizes: Sequence[int], after: list[int]
) -> list[int]:
    """The root sends each rank its part."""
    if me != root:
        return [block.recv(sizes[me], group[root], after)]
    return [
        *after,
        *(block.send(sizes[one], group[one], after) for one in range(len(group)) if one != root),
    ]


def scan(block: Block, group: Sequence[int], me: int, size: int, after: list[int]) -> list[int]:
    """A chain: a rank gets the sum from the ranks before, and hands on its own."""
    if me:
        after = [block.recv(size, group[me - 1], after)]
    return [*after, block.send(size, group[me + 1], after)] if me + 1 < len(group) else after
