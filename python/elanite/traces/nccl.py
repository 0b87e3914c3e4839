"""Collective operations as NCCL makes them: rings, double binary trees and parallel aggregated
trees, in GOAL.

A call's data are divided among *channels*, each carried by its own GPU block, and in a channel into
*chunks*. A rank works through a channel in the order of NCCL's kernels: it receives a chunk,
combines or copies it, sends it on, and goes to the next one. Data lie in buffer slots between two
ranks, so that a rank is ahead of its receiver by at most these slots.

| algorithm | operations | chunk | message | slots |
|---|---|---|---|---|
| ring | all-reduce, all-gather, reduce-scatter | 2 MB of a rank | half of a chunk | 4 |
| ring | broadcast, reduce | 512 KB | a chunk | 8 |
| tree | all-reduce, in an even number of channels | 512 KB | a chunk | 8 |
| PAT | all-gather, reduce-scatter, one rank a host | 64 to 512 KB | several ranks' chunks | - |

A chunk in the last turn of an all-reduce's ring is shorter. A slot is a step of the 4 MB buffer in
8 steps, or two steps in rings. Channels begin in different ranks on each host, so that all of a
host's adapters have traffic.

Sources: NCCL 2.30 (``src/device/all_reduce.h``, ``all_gather.h``, ``reduce_scatter.h``,
``broadcast.h``, ``reduce.h`` for the step order; ``src/enqueue.cc``, ``calcCollChunking``, for
chunks; ``src/include/collectives.h`` for steps, slices; ``src/graph/connect.cc`` for trees over
hosts); Hu et al., Demystifying NCCL, arXiv 2507.04786 (2025).

Limits. The protocol is Simple; LL and LL128 are not modelled. NCCL searches a host's topology for
the order of its ranks, and gives a channel at least some kilobytes; here the order is by number,
and all channels have equal shares. Combination takes no time. PAT receives wait for no slot: the
order of its sends bounds them. NVLS, which combines in a host's switches, is missing, as no machine
has such switches.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from elanite.traces.collectives import parts
from elanite.traces.nccl_trees import Aggregation, double_binary, gathering, scattering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.traces.collectives import Block

Algorithm = Literal["ring", "tree", "pat"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
OPERATIONS: dict[str, tuple[Algorithm, ...]] = {
    "all_reduce": ("ring", "tree"),
    "all_gather": ("ring", "pat"),
    "reduce_scatter": ("ring", "pat"),
    "broadcast": ("ring",),
    "reduce": ("ring",),
}
"""Each operation's algorithms (``src/graph/tuning.cc``), without those within switches."""
_STEPS = 8
"""Steps in the buffer between two ranks: NCCL_STEPS."""
_STEP = (4 << 20) // _STEPS
"""Bytes in a step: NCCL_BUFFSIZE has 4 MB unless the environment sets another size."""
_LEAST = 64 << 10
"""Bytes below which PAT does not halve a chunk."""
_PIECES = {"all_gather": 32, "reduce_scatter": 16}
"""Into how many chunks PAT divides a channel's data, if these have the least size or more."""


@dataclass(frozen=True)
class Communicator:
    """A communicator's ranks, host by host, and its way to carry data."""

    hosts: tuple[tuple[int, ...], ...]
    channels: int = 1
    chunk: int | None = None
    """Bytes in a chunk; `None`: NCCL's choice."""

    @classmethod
    def of(
        cls, group: Sequence[int], share: int, channels: int, chunk: int | None = None
    ) -> Communicator:
        """The communicator for a rank group; ``share`` consecutive ranks are in a host."""
        hosts: dict[int, list[int]] = defaultdict(list)
        for rank in group:
            hosts[rank // share].append(rank)
        return cls(tuple(tuple(one) for one in hosts.values()), channels, chunk)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return sum(map(len, self.hosts))

    def order(self, channel: int) -> list[tuple[int, ...]]:
        """Each host's ranks, in the order in which a channel visits them."""
        return [host[channel % len(host) :] + host[: channel % len(host)] for host in self.hosts]

    def refusal(self, what: str, algorithm: Algorithm) -> str | None:
        """Why NCCL has no such algorithm for an operation here."""
        if algorithm not in OPERATIONS[what]:
            return f"NCCL has no {what} by {algorithm}; take {' or '.join(OPERATIONS[what])}"
        if algorithm == "pat" and len(self.hosts) != self.ranks:
            return "NCCL runs pat with one rank in each host; take ring"
        if algorithm == "tree" and self.channels % 2:
            return (
                f"a double binary tree has an even number of channels, not {self.channels:,};"
                " add one"
            )
        return None


@dataclass(frozen=True)
class _Cut:
    """How a channel's data are cut: bytes per chunk, messages per chunk, slots between two
    ranks.
    """

    chunk: int
    slices: int = 1
    slots: int = _STEPS

    def sliced(self, size: int) -> list[int]:
        """A chunk's messages, by its bytes. A slice has whole rows with 16 elements of 4 bytes."""
        if self.slices == 1:
            return [size] if size else []
        row = 64 * self.slices
        one = max(-(-size // row) * 64, self.chunk // self.slices // 32)
        return [min(one, size - begin) for begin in range(0, size, one)]


def _cut(communicator: Communicator, what: str, algorithm: Algorithm, size: int) -> _Cut:
    """How a channel's ``size`` bytes are cut."""
    given = communicator.chunk
    if algorithm == "ring" and what in ("all_reduce", "all_gather", "reduce_scatter"):
        return _Cut(given or _STEPS // 2 * _STEP, 2, _STEPS // 2)
    chunk = given or _STEP
    while (
        algorithm == "pat"
        and given is None
        and chunk * _PIECES[what] > size * communicator.ranks
        and chunk > _LEAST
    ):
        chunk //= 2
    return _Cut(chunk)


class _Line:
    """A rank's operations in a channel, or in one direction of a tree's channel.

    Sends start in their order. A receive has a slot when the message that had it before has come
    and has been sent on; a send has one when the send that had it before has ended.
    """

    def __init__(self, block: Block, begin: Sequence[int], slots: int | None) -> None:
        self._block, self._begin, self._slots = block, begin, slots
        self._sent: dict[int, list[int]] = defaultdict(list)
        self._came: dict[int, list[int]] = defaultdict(list)
        self._uses: dict[int, list[int]] = defaultdict(list)
        """The sends that pass a received message on."""
        self._latest: list[int] = []

    def _slot(self, earlier: Sequence[int]) -> Sequence[int]:
        """The previous operation in the next one's slot."""
        return [earlier[-self._slots]] if self._slots and len(earlier) >= self._slots else ()

    def receive(self, size: int, source: int) -> int:
        """Receive a rank's next message."""
        earlier = self._came[source]
        before = self._slot(earlier)
        passed = [send for one in before for send in self._uses[one]]
        number = self._block.recv(size, source, before or self._begin, [*earlier[-1:], *passed])
        earlier.append(number)
        return number

    def send(self, size: int, to: int, data: Sequence[int]) -> int:
        """Send the next message to a rank, made from received ones."""
        earlier = self._sent[to]
        after = [*(data or self._begin), *self._slot(earlier)]
        number = self._block.send(size, to, after, [*self._latest, *earlier[-1:]])
        earlier.append(number)
        for one in data:
            self._uses[one].append(number)
        self._latest = [number]
        return number

    def primitive(
        self, sizes: Sequence[int], sources: Sequence[int], targets: Sequence[int]
    ) -> None:
        """Receive messages from all sources, combine them, and send the result to all targets."""
        for size in sizes:
            came = [self.receive(size, one) for one in sources]
            for one in targets:
                self.send(size, one, came)

    def last(self) -> list[int]:
        """Operations that end last: after them, all operations have ended."""
        return [
            one
            for row in (*self._sent.values(), *self._came.values())
            for one in row[-(self._slots or len(row)) :]
        ]


def write(
    block: Block,
    rank: int,
    communicator: Communicator,
    what: str,
    size: int,
    algorithm: Algorithm,
    after: list[int],
    root: int = 0,
) -> list[int]:
    """Write a rank's part of a call after the operations ``after``; returns the call's last
    operation.

    ``size`` is the vector's bytes, for an all-gather or a reduce-scatter the bytes in a rank's
    part. ``root`` is a rank, for a broadcast or a reduce. Channels have tags from ``block.tag`` on,
    every second one.
    """
    tag, last = block.tag, list(after)
    if communicator.ranks == 1:
        return last
    for channel, part in enumerate(parts(size, communicator.channels)):
        block.tag = tag + 2 * channel
        cut = _cut(communicator, what, algorithm, part)
        if algorithm == "tree":
            lines = _tree(block, rank, communicator, channel, part, cut, after)
        elif algorithm == "pat":
            lines = [_pat(block, rank, communicator, what, part, cut, after)]
        else:
            order = [one for host in communicator.order(channel) for one in host]
            line = _Line(block, after, cut.slots)
            _ring(
                line,
                order,
                order.index(rank),
                what,
                part,
                cut,
                order.index(root) if root in order else 0,
            )
            lines = [line]
        last += [one for line in lines for one in line.last()]
    block.tag = tag
    return [block.calc(0, last)]


def _turns(what: str, count: int, size: int, chunk: int) -> Iterator[list[int]]:
    """The chunk bytes for each place, for each ring turn."""
    if what != "all_reduce":
        yield from ([min(chunk, size - begin)] * count for begin in range(0, size, chunk))
        return
    for begin in range(0, size, count * chunk):
        rest = size - begin
        one = chunk if rest >= count * chunk else -(-rest // (16 * count)) * 16
        yield [max(0, min(one, rest - place * one)) for place in range(count)]


def _ring(
    line: _Line, order: Sequence[int], me: int, what: str, size: int, cut: _Cut, root: int
) -> None:
    """A ring: in step s the place i sends chunk i - 1 - s, which it has received in the step
    before.
    """
    count = len(order)
    left, right = order[me - 1], order[(me + 1) % count]
    if what in ("broadcast", "reduce"):
        # A chain from the root, or to it.
        first, last = (root, root - 1) if what == "broadcast" else (root + 1, root)
        for begin in range(0, size, cut.chunk):
            sizes = cut.sliced(min(cut.chunk, size - begin))
            sources, targets = [left] * (me != first % count), [right] * (me != last % count)
            line.primitive(sizes, sources, targets)
        return
    steps = (2 if what == "all_reduce" else 1) * (count - 1)
    for sizes in _turns(what, count, size, cut.chunk):
        for step in range(steps + 1):
            line.primitive(
                cut.sliced(sizes[(me - 1 - step) % count]),
                [left] * (step > 0),
                [right] * (step < steps),
            )


def _tree(
    block: Block,
    rank: int,
    communicator: Communicator,
    channel: int,
    size: int,
    cut: _Cut,
    after: list[int],
) -> list[_Line]:
    """A host tree with a chain in each host: chunks go up, and the sums come down beside them.

    The first rank in a host's chain has its parent and second child, the second rank its first
    child: a balanced tree.
    """
    half = communicator.channels // 2
    hosts = communicator.order(channel % half)
    here = next(number for number, host in enumerate(hosts) if rank in host)
    host, place = hosts[here], double_binary(len(hosts), here)[channel // half]
    at = host.index(rank)
    down = [host[at + 1]] if at + 1 < len(host) else []
    for child, holder in zip(place.down, (min(1, len(host) - 1), 0), strict=True):
        if child is not None and at == holder:
            down.append(hosts[child][0])
    up = [host[at - 1]] if at else []
    if not at and place.up is not None:
        parent = hosts[place.up]
        up = [parent[0 if place.is_second else min(1, len(parent) - 1)]]
    sizes = [min(cut.chunk, size - begin) for begin in range(0, size, cut.chunk)]
    lines = [_Line(block, after, cut.slots) for _ in range(1 + len(up))]
    if up:
        lines[0].primitive(sizes, down, up)
        lines[1].primitive(sizes, up, down)
    else:
        lines[0].primitive(sizes, down, down)
    return lines


def _pat(
    block: Block,
    rank: int,
    communicator: Communicator,
    what: str,
    size: int,
    cut: _Cut,
    after: list[int],
) -> _Line:
    """Parallel aggregated trees over all ranks: a message has its places' data."""
    order = [one for host in communicator.hosts for one in host]
    count, me, line = len(order), order.index(rank), _Line(block, after, None)
    how = Aggregation.of(count, size, cut.chunk, _STEPS)
    gathers = what == "all_gather"
    messages = (gathering if gathers else scattering)(count, how)
    for begin in range(0, size, cut.chunk):
        one = min(cut.chunk, size - begin)
        came: dict[int, int] = {}
        for distance, places in messages:
            if gathers:
                needed = [came[place - distance] for place in places if place != distance]
            else:
                needed = [got for place, got in came.items() if place - (place & -place) in places]
            there, here = (
                (me - distance, me + distance) if gathers else (me + distance, me - distance)
            )
            line.send(one * len(places), order[there % count], list(dict.fromkeys(needed)))
            got = line.receive(one * len(places), order[here % count])
            came |= dict.fromkeys(places, got)
    return line
