"""Messages to and from the last rank, whose cable has died: mpi4py raises an exception, and the
others continue.
"""

from __future__ import annotations

import sys
import time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, LAST = WORLD.Get_rank(), WORLD.Get_size() - 1
PEER = 0 if RANK == LAST else LAST


def fails(call: str, number: int) -> None:
    """The call with this number must raise the exception, which names the rank and the cable."""
    parcel = bytes(20000)
    try:
        match number:
            case 0:
                WORLD.send(parcel, PEER)
            case 1:
                WORLD.recv(source=PEER)
            case 2:
                WORLD.isend(parcel, PEER).wait()
            case _:
                WORLD.Recv(bytearray(8), PEER)
    except MPI.Exception as error:
        if (
            error.Get_error_class() == MPI.ERR_OTHER
            and f"rank {PEER} of the run cannot be reached" in str(error)
        ):
            return
        print(f"error: {call}: {error}", file=sys.stderr, flush=True)
    WORLD.Abort(9)


time.sleep(0.01)
for number, call in enumerate(["send", "recv", "isend", "Recv"]):
    fails(call, number)
if RANK != LAST:
    left, right = (RANK - 1) % LAST, (RANK + 1) % LAST
    if WORLD.sendrecv({"from": RANK}, right, source=left) != {"from": left}:
        WORLD.Abort(9)
if RANK == 0:
    print("4 exceptions, and on", flush=True)
