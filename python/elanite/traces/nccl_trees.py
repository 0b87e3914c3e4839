"""NCCL's trees: binary trees, the double binary tree, and parallel aggregated trees.

*Double binary tree* (Sanders, Speck and Träff, Parallel Comput. 35 (2009); NCCL
``src/graph/trees.cc``): two trees over the hosts, which each carry half the data. A host that is a
leaf in one has children in the other, but for hosts at the ends. The second tree is the mirror of
the first, or for an odd number the first shifted by one.

*Parallel aggregated trees*, PAT (Jeaugey, arXiv 2506.20252 (2025); NCCL
``src/include/collectives.h``): a binomial tree for each rank, all with one shape, shifted by the
rank. Place s in a tree gets its data from place s less its lowest bit. A message holds several
trees' data. NCCL runs the trees in an order that takes few buffers: the multiples of D first, far
places before near ones, and below each multiple the tree with D places, depth first. A
reduce-scatter goes the other way.

Everything here is a function of numbers; ``elanite.traces.nccl`` turns it into messages.
"""

from __future__ import annotations

from dataclasses import dataclass

Message = tuple[int, tuple[int, ...]]
"""A distance between two places, and the places with data that go over it, as one message."""


@dataclass(frozen=True)
class TreePlace:
    """A place in a host tree."""

    up: int | None
    """The parent; `None` at the root."""
    down: tuple[int | None, int | None]
    """The first and the second child; the root has a second one alone."""
    is_second: bool
    """Whether it is its parent's second child."""


def binary(count: int, place: int) -> TreePlace:
    """A place in a tree in which leaves and others alternate, with its root at 0."""
    bit = place & -place if place else 1 << (count - 1).bit_length()
    low = bit >> 1
    if place == 0:
        return TreePlace(None, (None, low or None), is_second=False)
    up = (place ^ bit) | (bit << 1)
    up = up if up < count else place ^ bit
    if not low:
        return TreePlace(up, (None, None), is_second=place > up)
    left, right = place - low, place + low
    while right >= count and low > 1:
        low >>= 1
        right = place + low
    return TreePlace(up, (left, right if right < count else None), is_second=place > up)


def double_binary(count: int, place: int) -> tuple[TreePlace, TreePlace]:
    """A place in both trees."""
    even = count % 2 == 0

    def turned(one: int | None) -> int | None:
        if one is None:
            return None
        return count - 1 - one if even else (one + 1) % count

    other = binary(count, count - 1 - place if even else (place - 1) % count)
    first, second = other.down
    return binary(count, place), TreePlace(
        turned(other.up), (turned(first), turned(second)), other.is_second
    )


@dataclass(frozen=True)
class Aggregation:
    """The count of trees beside each other, and of trees that share a message.

    Both are powers of 2.
    """

    trees: int
    shared: int

    @classmethod
    def of(cls, ranks: int, size: int, chunk: int, slots: int) -> Aggregation:
        """For ``size`` bytes per rank in a channel, the chunk bytes, and the buffer's slots."""
        shared = 1
        while chunk // (max(size, 1) * shared) >= 2 and shared < ranks // 2:
            shared *= 2
        trees = shared
        while slots > 1 and trees < ranks // 2:
            slots, trees = slots // 2, trees * 2
        return cls(trees, shared)


def _turned(number: int, count: int) -> int:
    """A number's bits in the other order, each the other way; ``count`` is a power of 2."""
    bits = count.bit_length() - 1
    return sum((number >> place & 1 ^ 1) << (bits - 1 - place) for place in range(bits))


def _depth_first(width: int) -> list[int]:
    """The places 1 to width - 1 in a binomial tree, each behind its parent, larger subtrees
    first.
    """
    found: list[int] = []

    def below(place: int, bit: int) -> None:
        while bit:
            found.append(place + bit)
            below(place + bit, bit >> 1)
            bit >>= 1

    below(0, width >> 1)
    return found


def gathering(ranks: int, how: Aggregation) -> list[Message]:
    """The messages that each rank sends for an all-gather's chunk, in their order: rank r, to r
    less the distance.

    A place s stands for the data at the receiver's number plus s.
    """
    power = 1 << (ranks - 1).bit_length()
    trees, width = how.trees, power // how.trees
    rows = []
    scale = trees // 2
    while scale:
        rows.append([(2 * each + 1) * scale * width for each in range(trees // (2 * scale))])
        scale //= 2
    rows += [[each * width + below for each in range(trees)] for below in _depth_first(width)]
    return _messages(ranks, rows, how.shared)


def scattering(ranks: int, how: Aggregation) -> list[Message]:
    """The messages that each rank sends for a reduce-scatter's chunk, in their order: rank r, to
    r + distance.

    A place s stands for the part at the sender's number plus s.
    """
    power = 1 << (ranks - 1).bit_length()
    trees, width = how.trees, power // how.trees
    order = [_turned(each, trees) for each in range(trees)]
    rows = [[each * width + below for each in order] for below in range(width - 1, 0, -1)]
    scale = 1
    while scale < trees:
        count = trees // (2 * scale)
        rows.append([(2 * _turned(each, count) + 1) * scale * width for each in range(count)])
        scale *= 2
    return _messages(ranks, rows, how.shared)


def _messages(ranks: int, rows: list[list[int]], shared: int) -> list[Message]:
    found = []
    for row in rows:
        for begin in range(0, len(row), shared):
            there = tuple(place for place in row[begin : begin + shared] if place < ranks)
            found += [(there[0] & -there[0], there)] if there else []
    return found
