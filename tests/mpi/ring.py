"""Python objects around a ring of ranks, by mpi4py: pickled, with any size, in blocking and
non-blocking calls.

mpiexec -n 4 python ring.py
"""

from __future__ import annotations

import sys

from mpi4py import MPI


def check(found: object, right: object) -> None:
    """Ends all ranks unless the two are equal."""
    if found != right:
        print(
            f"error: rank {RANK}: {str(found)[:100]} instead of {str(right)[:100]}",
            file=sys.stderr,
            flush=True,
        )
        WORLD.Abort(1)


WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
LEFT, RIGHT = (RANK - 1) % RANKS, (RANK + 1) % RANKS


def parcel(rank: int) -> dict[str, object]:
    """A rank's data: nested, with non-ASCII text, and long enough for the long protocol."""
    return {
        "from": rank,
        "text": "Öresund" * rank,
        "numbers": [rank / 3, None, (rank,)],
        "long": bytes([rank % 251]) * 100_000,
    }


def main() -> None:
    check(RANKS >= 2, True)  # a long message to oneself waits for a receive that comes after it
    # A token that everybody adds to, round and round.
    token = [0] if RANK == 0 else None
    for _ in range(3):
        if RANK == 0:
            WORLD.send(token, RIGHT, tag=1)
            token = WORLD.recv(source=LEFT, tag=1)
        else:
            token = WORLD.recv(source=LEFT, tag=1)
            WORLD.send([*token, RANK], RIGHT, tag=1)
    if RANK == 0:
        check(token, [0] + 3 * list(range(1, RANKS)))
    # All at once.
    check(WORLD.sendrecv(parcel(RANK), RIGHT, source=LEFT), parcel(LEFT))
    request = WORLD.isend(parcel(RANK), RIGHT, tag=2)
    status = MPI.Status()
    message = WORLD.mprobe(MPI.ANY_SOURCE, 2, status)
    check(status.Get_source(), LEFT)
    check(message.recv(), parcel(LEFT))
    request.wait()
    # Collective operations on objects.
    check(WORLD.bcast(parcel(7) if RANK == RANKS - 1 else None, RANKS - 1), parcel(7))
    check(WORLD.allgather(parcel(RANK)), [parcel(rank) for rank in range(RANKS)])
    check(
        WORLD.alltoall([(RANK, other) for other in range(RANKS)]),
        [(other, RANK) for other in range(RANKS)],
    )
    check(WORLD.allreduce({RANK}, op=lambda one, other: one | other), set(range(RANKS)))
    check(WORLD.scan([RANK]), list(range(RANK + 1)))
    # Buffers, without pickling.
    numbers = bytearray(8)
    WORLD.Sendrecv(RANK.to_bytes(8, "big"), RIGHT, recvbuf=numbers, source=LEFT)
    check(int.from_bytes(numbers, "big"), LEFT)
    window = MPI.Win.Allocate(8, 8, comm=WORLD)
    window.Fence()
    window.Put(RANK.to_bytes(8, "big"), RIGHT)
    window.Fence()
    check(bytes(window.tomemory()), LEFT.to_bytes(8, "big"))
    window.Free()
    WORLD.Barrier()
    if RANK == 0:
        print(f"{RANKS} ranks, all is well", flush=True)


if __name__ == "__main__":
    main()
