"""Collective operations in recorded MPI programs, and their messages.

A collective operation's bytes are understood as Score-P counts them: the bytes that a rank sends to
all ranks, and receives from all, itself included unless the call was in place. If an in-place
call's bytes also divide by the rank count, the sizes come out smaller by one part in this number.
The bytes that a rank sends to each other rank in ``MPI_Alltoallv`` are not recorded: they are
estimated in proportion to the receiver's total.

The algorithms: binomial trees for broadcasts and reductions, messages with the root for gathers and
scatters, rings for all-gathers and reduce-scatters, recursive doubling for barriers and for
all-reduces up to 2 KB, rings for longer ones, a chain for scans. A tool that counts other bytes
gives other sizes; an archive does not record its counting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.traces import collectives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.traces.collectives import Block

_SHORT = 2048
"""All-reduces up to this many bytes use recursive doubling, longer ones rings, as in MPICH."""

ROOTED = {"BCAST", "GATHER", "GATHERV", "SCATTER", "SCATTERV", "REDUCE"}
BARRIERS = {"BARRIER", "CREATE_HANDLE", "ALLOCATE", "DEALLOCATE"}
BARRIERS |= {"CREATE_HANDLE_AND_ALLOCATE", "DESTROY_HANDLE_AND_DEALLOCATE"}
UNEQUAL = {"GATHERV", "SCATTERV", "ALLGATHERV", "REDUCE_SCATTER", "ALLTOALLV", "ALLTOALLW"}
"""Operations with sizes that differ from rank to rank."""
EQUAL = {
    "BCAST",
    "GATHER",
    "SCATTER",
    "REDUCE",
    "ALLGATHER",
    "ALLTOALL",
    "ALLREDUCE",
    "REDUCE_SCATTER_BLOCK",
}
EQUAL |= {"SCAN", "EXSCAN"}
KNOWN = BARRIERS | UNEQUAL | EQUAL | {"DESTROY_HANDLE"}


@dataclass
class CollectiveCall:
    """A collective operation: the reports from all its ranks."""

    what: str
    root: int
    members: int = 0
    """How many ranks have made the call."""
    sent: dict[int, int] = field(default_factory=dict)
    """Bytes by place in the communicator; for operations with equal sizes, the largest count
    outside the root, as place 0's.
    """
    received: dict[int, int] = field(default_factory=dict)

    def add(self, me: int, sent: int, received: int) -> None:
        """Note a place's report."""
        self.members += 1
        if self.what in UNEQUAL:
            self.sent[me], self.received[me] = sent, received
        elif self.what in EQUAL and not (self.what in ROOTED and me == self.root):
            self.sent[0] = max(self.sent.get(0, 0), sent)
            self.received[0] = max(self.received.get(0, 0), received)


def share(size: int, count: int) -> int:
    """One rank's share of the bytes for all, or for all others."""
    if size % count and count > 1 and size % (count - 1) == 0:
        return size // (count - 1)
    return -(-size // count)


def expand(
    block: Block, group: Sequence[int], me: int, call: CollectiveCall, after: list[int]
) -> list[int]:
    """Write this rank's messages of a collective operation; returns the last operations."""
    count, what = len(group), call.what
    turned, place = [*group[call.root :], *group[: call.root]], (me - call.root) % count
    sent, received = call.sent, call.received
    everybody = range(count)
    match what:
        case "BCAST":
            return collectives.down(block, turned, place, received[0], after)
        case "REDUCE":
            return collectives.up(block, turned, place, sent[0], after)
        case "GATHER" | "SCATTER":
            size = sent[0] if what == "GATHER" else received[0]
            how = collectives.collect if what == "GATHER" else collectives.spread
            return how(block, group, me, call.root, [size] * count, after)
        case "GATHERV":
            return collectives.collect(
                block, group, me, call.root, [sent[one] for one in everybody], after
            )
        case "SCATTERV":
            return collectives.spread(
                block, group, me, call.root, [received[one] for one in everybody], after
            )
        case "ALLREDUCE":
            size = share(sent[0], count)
            how_all = collectives.doubling if size <= _SHORT else collectives.all_reduce_ring
            return how_all(block, group, me, size, after)
        case "ALLTOALL":
            return collectives.all_to_all(block, group, me, share(sent[0], count), after)
        case "ALLTOALLV" | "ALLTOALLW":
            total = max(sum(received.values()), 1)
            gives = [sent[me] * received[one] // total for one in everybody]
            takes = [sent[one] * received[me] // total for one in everybody]
            return collectives.exchange(block, group, me, gives, takes, after)
        case "ALLGATHER" | "ALLGATHERV":
            whole = what == "ALLGATHER"
            sizes = [share(sent[0 if whole else one], count) for one in everybody]
            return collectives.ring(block, group, me, sizes, 0, after)
        case "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK":
            whole = what == "REDUCE_SCATTER_BLOCK"
            sizes = [share(received[0 if whole else one], count) for one in everybody]
            return collectives.ring(block, group, me, sizes, -1, after)
        case "SCAN" | "EXSCAN":
            # The first rank sends to all ranks; in an exclusive scan, to all others.
            size = share(sent[0], count) if what == "SCAN" else sent[0] // (count - 1)
            return collectives.scan(block, group, me, size, after)
        case "DESTROY_HANDLE":
            return after
    return collectives.doubling(block, group, me, 0, after)
