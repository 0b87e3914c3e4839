"""Draws collective operations: the operation, its form, and how much data each rank gets."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .draw_messages import FINISH, LIKED
from .layouts import BASIC, UNIT_KINDS
from .steps import PLAIN, Collective, Layout

if TYPE_CHECKING:
    from .communicators import Comm
    from .sizes import Sizes

MOVES = (
    *("Bcast", "Gather", "Gatherv", "Scatter", "Scatterv"),
    *("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"),
)
REDUCTIONS = ("Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan")
NEIGHBOURS = tuple(
    f"Neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
INTER = (*MOVES, "Reduce", "Allreduce", "Reduce_scatter_block")

ARITHMETIC = {
    "u8": ("MPI_SUM", "MPI_MAX", "MPI_BXOR", "MPI_LOR"),
    "u16": ("MPI_SUM", "MPI_PROD", "MPI_MIN", "MPI_BAND"),
    "u32": ("MPI_SUM", "MPI_PROD", "MPI_BOR", "MPI_LAND", "MPI_LXOR", "blend", "blend"),
    "u64": ("MPI_SUM", "MPI_MAX", "MPI_BXOR", "MPI_MIN"),
    "i32": ("MPI_MAX", "MPI_MIN", "MPI_BAND"),
    "located": ("MPI_MAXLOC", "MPI_MINLOC"),
    "affine": ("chain",),
}
"""Value kinds, and operations with the same result in any order of combination (``chain``:
grouped).
"""

WIDTH = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "located": 8, "affine": 8}
"""Bytes per value."""


def collective(rng: random.Random, comm: Comm, sizes: Sizes) -> Collective:
    """An operation by all ranks in a communicator."""
    members = len(comm.members)
    if comm.neighbours and rng.random() < 0.7:
        name = rng.choice(NEIGHBOURS)
    elif rng.random() < 0.08:
        name = "Barrier"
    elif comm.inter:
        name = rng.choice(INTER)
    else:
        name = rng.choice(MOVES + REDUCTIONS)
    square = name.startswith(("Allto", "Neighbor", "Allgather", "Reduce_scatter"))
    bytes_ = sizes.draw(members * members if square else members)
    form = rng.choice(("", "", "I", "I", "init"))
    kind = rng.choice(tuple(ARITHMETIC))
    if name in REDUCTIONS:
        basic, per_unit, units = "MPI_BYTE", 1, bytes_ // WIDTH[kind]
    else:
        basic = rng.choice(LIKED)
        per_unit = rng.choice((1, 1, 1, 2, 3, 8, 12))
        if per_unit * BASIC[basic] > max(bytes_, 1):
            basic, per_unit = "MPI_BYTE", 1
        units = -(-bytes_ // (per_unit * BASIC[basic]))
    return Collective(
        comm.ref,
        name,
        form,
        rng.randrange(members),
        basic,
        per_unit,
        units,
        rng.randrange(1 << 16),
        tuple(_layout(rng, units) for _ in range(rng.randint(1, 3))),
        rng.random() < 0.3,
        kind,
        rng.choice(ARITHMETIC[kind]),
        rng.randint(2, 3) if form == "init" else 1,
        tuple(rng.choice(FINISH) for _ in range(2)),
        rng.choice((0, 0, 0, 1, 2)) if form == "I" else 0,
    )


def _layout(rng: random.Random, units: int) -> Layout:
    if rng.random() < 0.4 or units > 20000:
        return PLAIN
    return Layout(rng.choice(UNIT_KINDS), rng.randrange(1 << 20))
