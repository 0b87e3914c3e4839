"""Generated traces: collective operations and training traffic, as GOAL text for
``elanite replay``.

A pattern writes one rank's block after the other, so that a trace of any length takes one block's
memory. In each pattern a collective operation's call begins, in each rank, with a computation; the
whole call waits for this computation, and the next call waits for the whole of this one.

| pattern | messages | bytes |
|---|---|---|
| all-reduce, ring | 2 p (p - 1) | 2 (p - 1) S |
| all-reduce, tree | 2 (p - 1) | 2 (p - 1) S |
| all-reduce, recursive doubling | q log2 q + 2 (p - q), q = 2^floor(log2 p) | S of each |
| all-reduce, m groups of g | 2 p (g - 1) + 2 p (m - 1) | 2 m (g - 1) S + 2 (m - 1) S |
| all-gather, reduce-scatter | p (p - 1) in each group | (p - 1) S in each group |
| all-to-all | p (p - 1) in each group | S of each |
| pipeline, of p stages and b micro-batches | 2 (p - 1) b | S of each |
| expert, of l layers | l times 4 all-to-alls | S of each |

``elanite.traces.nccl`` has NCCL's.

Combining vectors takes no separate time; ``compute`` can stand for it. Limits: ring messages may be
empty, where there are more ranks than bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from elanite.base.text import counted
from elanite.errors import UsageError
from elanite.traces import collectives
from elanite.traces import nccl as of_nccl
from elanite.traces.collectives import Block, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from elanite.traces.nccl_call import NcclCall

Algorithm = Literal["ring", "tree", "recursive-doubling", "hierarchical"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


def _groups(ranks: int, share: int | None) -> list[range]:
    """Groups of consecutive ranks."""
    share = ranks if share is None else share
    if ranks < 1 or share < 1 or ranks % share:
        raise UsageError(
            f"--group: {ranks} ranks do not make groups of {share}; take a divisor of the ranks"
        )
    return [range(first, first + share) for first in range(0, ranks, share)]


def _text(ranks: int, write: Callable[[Block, int], None]) -> Iterator[str]:
    """A trace's lines; ``write`` writes a rank's block."""
    yield f"num_ranks {ranks}\n"
    for rank in range(ranks):
        block = Block()
        write(block, rank)
        yield f"rank {rank} {{\n"
        yield from (f"{line}\n" for line in block.lines)
        yield "}\n"


def _calls(
    ranks: int, calls: int, compute: int, call: Callable[[Block, int, list[int]], list[int]]
) -> Iterator[str]:
    def write(block: Block, rank: int) -> None:
        for _ in range(calls):
            block.end(call(block, rank, block.begin(compute)))

    return _text(ranks, write)


def all_reduce(
    ranks: int,
    size: int,
    algorithm: Algorithm = "ring",
    *,
    group: int | None = None,
    compute: int = 0,
    calls: int = 1,
) -> Iterator[str]:
    """All-reduces on vectors of ``size`` bytes, each after ``compute`` ns; ``group`` ranks for the
    hierarchical one.
    """
    if algorithm == "hierarchical" and group is None:
        raise UsageError("--algorithm hierarchical: name the ranks of a group with --group")
    if algorithm != "hierarchical" and group is not None:
        raise UsageError(
            f"--group: the algorithm {algorithm} has no groups; leave it out, or take hierarchical"
        )
    groups, everybody = _groups(ranks, group), range(ranks)

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        if algorithm == "hierarchical":
            return collectives.hierarchical(block, groups, rank, size, after)
        how = {
            "ring": collectives.all_reduce_ring,
            "tree": collectives.tree,
            "recursive-doubling": collectives.doubling,
        }[algorithm]
        return how(block, everybody, rank, size, after)

    return _calls(ranks, calls, compute, call)


def all_gather(
    ranks: int,
    size: int,
    *,
    group: int | None = None,
    compute: int = 0,
    calls: int = 1,
    scatter: bool = False,
) -> Iterator[str]:
    """All-gathers on vectors with ``size`` bytes, by a ring in each group; reduce-scatters if
    ``scatter``.
    """
    groups = _groups(ranks, group)
    share = len(groups[0])
    sizes = parts(size, share)

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        which, me = divmod(rank, share)
        return (collectives.scatter if scatter else collectives.gather)(
            block, groups[which], me, sizes, after
        )

    return _calls(ranks, calls, compute, call)


def all_to_all(
    ranks: int, size: int, *, group: int | None = None, compute: int = 0, calls: int = 1
) -> Iterator[str]:
    """All-to-alls in each group: ``size`` bytes from each rank to each other."""
    groups = _groups(ranks, group)
    share = len(groups[0])

    def call(block: Block, rank: int, after: list[int]) -> list[int]:
        which, me = divmod(rank, share)
        return collectives.all_to_all(block, groups[which], me, size, after)

    return _calls(ranks, calls, compute, call)


def nccl(call: NcclCall, *, compute: int = 0, calls: int = 1) -> Iterator[str]:
    """NCCL calls, each after ``compute`` ns."""
    communicator, what = call.communicator, call.what
    yield (
        f"// NCCL: {what} of {call.size} bytes by {call.algorithm},"
        f" {counted(communicator.channels, 'channel')}\n"
    )

    def one(block: Block, rank: int, after: list[int]) -> list[int]:
        return of_nccl.write(block, rank, communicator, what, call.part, call.algorithm, after)

    yield from _calls(communicator.ranks, calls, compute, one)


def pipeline(stages: int, size: int, *, batches: int, compute: int) -> Iterator[str]:
    """A pipeline training step, one forward and one backward in turns (1F1B).

    A stage takes ``compute`` ns for a micro-batch forward, and twice as long backward. A
    micro-batch's activations and gradients have ``size`` bytes.
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
            # Receives are posted at the start; a direction's messages come in micro-batch order.
            data = [block.recv(size, came, [])] if 0 <= came < stages else []
            last = [block.calc(compute if forward else 2 * compute, [*last, *data])]
            if 0 <= goes < stages:
                block.send(size, goes, last)

    _groups(stages, None)
    return _text(stages, write)


def expert(ranks: int, size: int, *, group: int, layers: int, compute: int) -> Iterator[str]:
    """A mixture-of-experts training step: two all-to-alls in each group, for each layer, forward
    and backward.

    A rank computes ``compute`` ns before each all-to-all forward (attention; then the expert), and
    twice as long backward. ``size`` bytes go from each rank to each other one in its group.
    """
    groups = _groups(ranks, group)

    def write(block: Block, rank: int) -> None:
        which, me = divmod(rank, group)
        for time in [compute] * (2 * layers) + [2 * compute] * (2 * layers):
            block.end(collectives.all_to_all(block, groups[which], me, size, block.begin(time)))

    return _text(ranks, write)
