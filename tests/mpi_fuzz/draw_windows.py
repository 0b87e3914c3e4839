"""One-sided communication: windows, epochs, and accesses that do not meet.

Each access has its own place in the target's window, except reads from a place without writes in
the epoch, and accumulates with one operation.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from .draw_collectives import WIDTH
from .draw_messages import layout
from .layouts import BASIC, shape
from .steps import PLAIN, Access, Epoch, Window

if TYPE_CHECKING:
    from .communicators import Comm
    from .sizes import Sizes

HOWS = ("create", "allocate", "dynamic")
ACTIVE = ("fence", "fence", "groups", "groups test")
PASSIVE = ("lock", "lock exclusive", "lock_all", "lock_all flush", "lock flush_local")
SPECIAL = ("tickets", "counter", "swap")
CALLS = (
    *("Put", "Put", "Put", "Get", "Get", "Accumulate", "Accumulate"),
    *("Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
)
REQUESTS = ("Put", "Get", "Accumulate", "Get_accumulate")
MOST = 1 << 20
"""Bytes per access."""

OPS = {
    "u8": ("MPI_SUM", "MPI_MAX", "MPI_BXOR", "MPI_REPLACE", "MPI_NO_OP"),
    "u16": ("MPI_SUM", "MPI_PROD", "MPI_MIN", "MPI_REPLACE"),
    "u32": ("MPI_SUM", "MPI_BOR", "MPI_BAND", "MPI_REPLACE"),
    "u64": ("MPI_SUM", "MPI_PROD", "MPI_MAX", "MPI_NO_OP"),
}
COMMUTE = ("MPI_SUM", "MPI_PROD", "MPI_MAX", "MPI_MIN", "MPI_BXOR", "MPI_BOR", "MPI_BAND")
TYPE = {"u8": "MPI_UINT8_T", "u16": "MPI_UINT16_T", "u32": "MPI_UINT32_T", "u64": "MPI_UINT64_T"}
"""The basic datatype for accumulated values."""


def window(rng: random.Random, comm: Comm, sizes: Sizes) -> Window:
    """A window with some epochs."""
    unit = rng.choice((1, 1, 8, 4, 2))
    epochs = []
    for _ in range(rng.randint(1, 4)):
        how = rng.choice(ACTIVE + PASSIVE + (rng.choice(SPECIAL),))
        accesses = _accesses(rng, comm, sizes, how, unit) if how not in SPECIAL else ()
        epochs.append(Epoch(how, accesses, rng.randrange(1 << 16)))
    return Window(comm.ref, rng.choice(HOWS), unit, tuple(epochs), rng.randrange(1 << 16))


def _accesses(
    rng: random.Random, comm: Comm, sizes: Sizes, how: str, unit: int
) -> tuple[Access, ...]:
    size = comm.size(0)
    ends = [rng.choice((8, 8, 16, 64)) for _ in range(size)]
    found: list[Access] = []
    for _ in range(rng.randint(1, 3 * size if size < 5 else 12)):
        origin, target = rng.randrange(size), rng.randrange(size)
        call = rng.choice(CALLS)
        request = how in PASSIVE and call in REQUESTS and rng.random() < 0.35
        old = [
            one
            for one in found
            if one.target == target and one.call == call and (call == "Get" or one.op in COMMUTE)
        ]
        if old and call in ("Get", "Accumulate") and rng.random() < 0.3:
            # A place again: more readers, or more accumulates.
            found.append(replace(rng.choice(old), origin=origin, request=request))
            continue
        kind = rng.choice(tuple(OPS))
        basic = TYPE[kind] if call not in ("Put", "Get") else rng.choice(tuple(BASIC))
        if call in ("Fetch_and_op", "Compare_and_swap"):
            elements, out, into = 1, PLAIN, PLAIN
        else:
            bytes_ = sizes.draw(2, MOST if call in ("Put", "Get") else MOST // 4)
            elements = -(-bytes_ // BASIC[basic])
            out, into = layout(rng, bytes_), layout(rng, bytes_)
        made = shape(into, basic, elements)
        low = min(0, *(at for at, _, _, _ in made.runs))
        grain = max(8, unit)
        at = -(-(ends[target] - low) // grain) * grain
        ends[target] = at + made.end + rng.choice((0, 0, 1, 40))
        op = rng.choice(OPS[kind])
        if op == "MPI_NO_OP" and call == "Accumulate":
            op = "MPI_SUM"
        found.append(
            Access(
                call,
                origin,
                target,
                at,
                basic,
                elements,
                out,
                into,
                kind,
                op,
                request,
                rng.choice((0, 0, 1)),
            )
        )
    return tuple(found)


def bytes_needed(step: Window, rank: int) -> int:
    """The required length of a rank's window."""
    end = 64 if any(epoch.how in SPECIAL for epoch in step.epochs) else 0
    for epoch in step.epochs:
        for one in epoch.accesses:
            if one.target == rank:
                end = max(end, one.at + shape(one.into, one.basic, one.elements).end)
    return -(-end // 8) * 8


assert set(OPS) <= set(WIDTH)
