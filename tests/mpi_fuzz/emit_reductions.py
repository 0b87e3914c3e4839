"""Reductions as C: every rank's values, and the result of an operation on them in rank order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .draw_collectives import WIDTH
from .plan import Plan, ints, root_of

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Collective


def counts_of(step: Collective, group: tuple[int, ...]) -> list[int]:
    """The count of result values on each rank in a group."""
    if step.name == "Reduce_scatter_block":
        return [step.units] * len(group)
    if step.name == "Reduce_scatter":
        rng = random.Random(f"{step.salt}")
        return [rng.choice((step.units, step.units // 2, 1, 0)) for _ in group]
    return [step.units]


def reduction(step: Collective, comm: Comm, number: int, world: int) -> Plan:
    """A rank's code."""
    own = next(side for side, group in enumerate(comm.groups) if world in group)
    mine, theirs = comm.groups[own], comm.groups[1 - own if comm.inter else 0]
    rank, name, k = mine.index(world), step.name, f"k{number}"
    width, kind, op = WIDTH[step.kind], step.kind, step.op
    members = comm.members
    root = members[step.root % len(members)]
    rooted = name == "Reduce"
    counts = counts_of(step, mine)
    scatters = name.startswith("Reduce_scatter")
    # In an inter-communicator both groups give as much, though they may differ in size.
    given = sum(counts)
    if comm.inter and scatters:
        given = step.units * len(comm.groups[0]) * len(comm.groups[1])
        counts = [given // len(mine)] * len(mine)
    gives = not (comm.inter and rooted and root in mine)
    if not gives:
        given = 0
    place = sum(counts[:rank]) if scatters else 0
    result = counts[rank] if scatters else step.units
    if rooted and world != root:
        result = 0
    sources = list(theirs)
    if name == "Scan":
        sources = list(mine[: rank + 1])
    if name == "Exscan":
        sources = list(mine[:rank])
    in_place = step.in_place and not comm.inter and (not rooted or world == root)
    out, into = f"{k}.from.at", f"{k}.to.at"
    space = max(result, given) if in_place else result
    opened = [
        f"SHAPE({k}.out, MPI_BYTE, {given * width}, 1, {{0, 1, 1, 0}});",
        (
            f"{k}.from = open_room(&{k}.out, {0 if in_place else given * width}, HOLE({number},"
            " rank, 0), 0);"
        ),
        f"SHAPE({k}.in, MPI_BYTE, {space * width}, 1, {{0, 1, 1, 0}});",
        f"{k}.to = open_room(&{k}.in, {space * width}, HOLE({number}, rank, 1), 0);",
    ]

    def all_of(room: str, call: str, source: int, first: int, count: int) -> str:
        return (
            f'{call}(&{room}, "{kind}", {first}, {count}, DATA({number}, {source + 1}, turn),'
            f' "{op}");'
        )

    fill = (
        [all_of(f"{k}.{'to' if in_place else 'from'}", "values", world, 0, given)] if given else []
    )
    sent = [all_of("picture", "values", world, 0, given)] if given and not in_place else []
    expect = []
    for index, source in enumerate(sources if result else []):
        expect.append(all_of("picture", "fold" if index else "values", source, place, result))
    if in_place and space > result:
        # MPI does not define the contents behind the result in a buffer that held all values.
        expect.append(f"forget(&{k}.to, {result * width}, {(space - result) * width});")
    if in_place and not sources and given:
        expect = [all_of("picture", "values", world, 0, given)]
    words = f"{'MPI_IN_PLACE' if in_place else out}, {into}, "
    many = (
        f"{ints(counts)}" if name == "Reduce_scatter" else str(result if scatters else step.units)
    )
    end = f", {root_of(comm, world, own, root)}" if rooted else ""
    words += f'{many}, type_of("{kind}"), op_of("{op}"){end}, {comm.variable}'
    return Plan(words, "\n".join(opened), fill, expect, sent)
