"""Two threads run Python for longer than the interpreter lets one of them: by MPI_Wtime, how long
that takes, in us. Where both call MPI ("both"), the host decides on their order.
"""

from __future__ import annotations

import sys
import threading

from mpi4py import MPI

ROUNDS = 1_000_000
BOTH = sys.argv[1:] == ["both"]


def compute() -> int:
    if BOTH:
        MPI.COMM_WORLD.Iprobe()
    return sum(number * number for number in range(ROUNDS))


MPI.COMM_WORLD.Barrier()
begun = MPI.Wtime()
beside = threading.Thread(target=compute)
beside.start()
compute()
beside.join()
print(round(1e6 * (MPI.Wtime() - begun), 1), flush=True)
