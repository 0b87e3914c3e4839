"""A program from its seed.

Programs with neighbouring seeds share their rank count and their configurations (see
``configurations``), so that they can be one executable. All else is drawn from the program's own
seed.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from . import communicators
from .draw_collectives import collective
from .draw_messages import messages
from .draw_windows import window
from .fit import fit
from .sizes import Sizes
from .steps import Cancels, Make, Nobody, Program, Ref

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Step

BATCH = 16
"""Programs in one executable: seeds with the same quotient by this number."""

USUAL, SMALL, LARGE = 3 << 20, 1 << 20, 150 << 20
"""Bytes that a program moves: most programs, those for the adapter's memory, a few."""

MAKES = (
    "dup",
    "idup",
    "split",
    "split",
    "create",
    "group",
    "inter",
    "inter",
    "merge",
    "cart",
    "graph",
)


def ranks_of(batch: int) -> int:
    """The rank count for a batch's programs: mostly few, as they poll while they wait."""
    rng = random.Random(f"ranks {batch}")
    return rng.choices(range(2, 17), (12, 14, 16, 9, 7, 3, 4, 1, 1, 1, 1, 1, 1, 1, 2))[0]


def small(batch: int) -> bool:
    """Whether the batch's messages have to fit into an adapter's memory."""
    return random.Random(f"small {batch}").random() < 0.3


def draw(seed: int) -> Program:
    """A seed's program."""
    batch = seed // BATCH
    ranks = ranks_of(batch)
    rng = random.Random(f"program {seed}")
    budget = SMALL if small(batch) else LARGE if rng.random() < 0.01 and ranks <= 4 else USUAL
    if budget == USUAL and rng.random() < 0.5:
        budget //= 4
    sizes = Sizes(rng, budget)
    steps: list[Step] = []
    for _ in range(rng.randint(2, 7) if rng.random() < 0.8 else rng.randint(8, 14)):
        known = communicators.known(ranks, steps)
        steps.append(
            _step(rng, ranks, sizes, known, 1 + sum(isinstance(step, Make) for step in steps))
        )
    return fit(Program(seed, ranks, tuple(steps)))


def _step(rng: random.Random, ranks: int, sizes: Sizes, known: dict[Ref, Comm], name: int) -> Step:
    way = rng.random()
    if way < 0.13:
        return make(rng, ranks, known, name)
    comm = rng.choice(list(known.values())) if rng.random() < 0.6 else known[Ref()]
    if way < 0.53:
        return messages(rng, comm, sizes)
    if way < 0.82:
        grids = [one for one in known.values() if one.neighbours]
        comm = rng.choice(grids) if grids and rng.random() < 0.4 else comm
        return collective(rng, comm, sizes)
    intra = [one for one in known.values() if not one.inter]
    comm = rng.choice(intra) if comm.inter else comm
    if way < 0.93:
        return window(rng, comm, sizes)
    if way < 0.97:
        size = comm.size(0)
        pairs = tuple((rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(1, 4)))
        return Cancels(comm.ref, pairs, sizes.draw(len(pairs), 70000), rng.random() < 0.5)
    return Nobody(comm.ref, rng.randrange(1 << 16))


def make(rng: random.Random, ranks: int, known: dict[Ref, Comm], name: int) -> Make:
    """One more communicator."""
    how = rng.choice(MAKES)
    inter = [ref.name for ref, comm in known.items() if comm.inter]
    if how == "merge" and not inter:
        how = "inter"
    parent = 0
    if how in ("dup", "idup"):
        parent = rng.choice(list(known)).name
    elif how == "split":
        parent = rng.choice([ref.name for ref, comm in known.items() if not comm.inter])
    elif how == "merge":
        parent = rng.choice(inter)
    colours = rng.randint(1, 3)
    colors = tuple(rng.randrange(colours) if rng.random() < 0.9 else -1 for _ in range(ranks))
    if how == "inter":
        first = rng.randrange(ranks - 1)
        colors = tuple(min(color, 1) for color in colors)
        colors = (*colors[:first], 0, 1, *colors[first + 2 :])
    keys = tuple(rng.randint(-2, 2) for _ in range(ranks))
    if how in ("create", "group"):
        keys = tuple(rng.sample(range(ranks), rng.randint(1, ranks)))
    edges = [(one, other) for one in range(ranks) for other in range(ranks)]
    chosen = rng.sample(edges, rng.randint(1, min(len(edges), 3 * ranks))) if how == "graph" else []
    return Make(name, how, parent, colors, keys, tuple(chosen), rng.randrange(1 << 10))
