"""Collective operations as C.

Each rank has its input data and its expected output data, as blocks with a layout (``_Side``), and
the call's arguments. The checks come from these blocks alone, not from MPI.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .code import Part, assign, cases
from .draw_collectives import REDUCTIONS
from .emit_reductions import reduction
from .layouts import Shape, shape
from .plan import Plan, ints, root_of

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Collective

IN_PLACE = (
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
)


@dataclass
class _Side:
    """A rank's input or output: blocks of units, their places, and the key for each one's data."""

    shape: Shape
    blocks: list[tuple[int, int, str]] = field(default_factory=list)
    """Place in units, units, key."""
    gap: int = 0

    def add(self, units: int, key: str) -> None:
        """One more block behind the last one and the gap."""
        end = max((place + length for place, length, _ in self.blocks), default=0)
        self.blocks.append((end + (self.gap if self.blocks else 0), units, key))

    @property
    def counts(self) -> list[int]:
        return [units for _, units, _ in self.blocks]

    @property
    def places(self) -> list[int]:
        return [place for place, _, _ in self.blocks]

    @property
    def span(self) -> int:
        return max((place + units for place, units, _ in self.blocks), default=0)

    def lay(self, room: str, layout: str) -> list[str]:
        return [
            f"lay(&{room}, &{layout}, {place * self.shape.extent}, {units * self.shape.size},"
            f" {key});"
            for place, units, key in self.blocks
            if units
        ]


class _Step:
    def __init__(self, step: Collective, comm: Comm, number: int) -> None:
        self.step, self.comm, self.number = step, comm, number
        self.in_place = step.in_place and step.name in IN_PLACE and not comm.inter

    def unit(self, world: int, receive: bool) -> Shape:
        """A unit's layout on a rank; ranks differ."""
        layouts = self.step.layouts
        if self.in_place:
            receive = True
        layout = layouts[(2 * world + receive) % len(layouts)]
        return shape(layout, self.step.basic, self.step.per_unit).single()

    def units(self, source: int, to: int) -> int:
        """From one MPI_COMM_WORLD rank to another."""
        step = self.step
        if not step.name.endswith(("v", "w")):
            return step.units
        if self.in_place and step.name.startswith("Allto"):
            source, to = min(source, to), max(source, to)  # the same both ways
        if "gather" in step.name.lower():
            to = 0
        if step.name == "Scatterv":
            source = 0
        return random.Random(f"{step.salt}/{source}/{to}").choice(
            (step.units, step.units, step.units // 2, 1, 0)
        )

    def key(self, source: int, to: int) -> str:
        """For the data that one rank gives another; 0 if there is no specific peer."""
        return f"DATA({self.number}, {source + 1}, {to} + 100 * turn)"

    def plan(self, world: int) -> Plan:
        """A rank's code."""
        comm, step = self.comm, self.step
        own = next(side for side, group in enumerate(comm.groups) if world in group)
        mine, theirs = comm.groups[own], comm.groups[1 - own if comm.inter else 0]
        rank = mine.index(world)
        name = step.name
        give, have = _Side(self.unit(world, False)), _Side(self.unit(world, True))
        if name.endswith(("v", "w")):
            give.gap, have.gap = step.salt & 1, step.salt >> 1 & 3
        if name == "Barrier":
            return Plan("", "")
        if name.startswith("Neighbor"):
            return self.neighbours(world, rank, give, have)
        root = comm.members[step.root % len(comm.members)]
        giver = 0 if root in comm.groups[0] else 1
        all_to = name.startswith("Allto")
        if name in ("Bcast", "Scatter", "Scatterv"):
            if world == root:
                for other in theirs if name != "Bcast" else [0]:
                    give.add(
                        self.units(world, other), self.key(world, other if name != "Bcast" else 0)
                    )
            if (own != giver) if comm.inter else True:
                have.add(self.units(root, world), self.key(root, world if name != "Bcast" else 0))
        elif name in ("Gather", "Gatherv"):
            if (own != giver) if comm.inter else True:
                give.add(self.units(world, root), self.key(world, 0))
            if world == root:
                for other in theirs:
                    have.add(self.units(other, world), self.key(other, 0))
        else:
            for other in theirs if all_to else [0]:
                give.add(self.units(world, other), self.key(world, other if all_to else 0))
            for other in theirs:
                have.add(self.units(other, world), self.key(other, world if all_to else 0))
        return self.arguments(world, rank, own, give, have, theirs)

    def arguments(
        self, world: int, rank: int, own: int, give: _Side, have: _Side, theirs: tuple[int, ...]
    ) -> Plan:
        """The call, by the data on either side."""
        name, k, comm = self.step.name, f"k{self.number}", self.comm.variable
        members = self.comm.members
        root = members[self.step.root % len(members)]
        out, into = f"{k}.from.at", f"{k}.to.at"
        ot, it = f"{k}.out.type", f"{k}.in.type"
        end = f"{root_of(self.comm, world, own, root)}, {comm}" if name[0] in "BGS" else comm
        before: list[tuple[int, int, str]] = []
        if name == "Bcast":
            if world == root and not self.comm.inter:
                have.blocks, give.blocks, before = give.blocks, [], list(give.blocks)
            elif world == root:
                have, give = give, _Side(have.shape)
                before = list(have.blocks)
            return self.done(f"{into}, {self.step.units}, {it}, {end}", give, have, before)
        send = f"{out}, {give.counts[0] if give.counts else 0}, {ot}"
        receive = f"{into}, {have.counts[0] if have.counts else 0}, {it}"
        if name in ("Scatterv", "Alltoallv"):
            send = f"{out}, {ints(give.counts)}, {ints(give.places)}, {ot}"
        if name in ("Gatherv", "Allgatherv", "Alltoallv"):
            receive = f"{into}, {ints(have.counts)}, {ints(have.places)}, {it}"
        if name == "Alltoallw":
            send, receive = self.each(out, give, ot), self.each(into, have, it)
        if self.in_place and (name[0] == "A" or world == root):
            if name.startswith("Scatter"):
                have.blocks, receive = [], "MPI_IN_PLACE, 0, MPI_BYTE"
            elif name.startswith("Allto"):
                peers = [self.key(world, other) for other in theirs]
                before = [
                    (place, units, key)
                    for (place, units, _), key in zip(have.blocks, peers, strict=True)
                ]
                give.blocks, send = [], send.replace(out, "MPI_IN_PLACE", 1)
            else:
                before = [have.blocks[rank]]
                give.blocks, send = [], "MPI_IN_PLACE, 0, MPI_BYTE"
        return self.done(f"{send}, {receive}, {end}", give, have, before)

    def each(self, where: str, side: _Side, datatype: str, aint: bool = False) -> str:
        """Every peer's counts, byte places and datatypes."""
        places = [place * side.shape.extent for place in side.places]
        types = f"TYPES({', '.join([datatype] * max(len(places), 1))})"
        listed = ("A" if aint else "") + ints(places)
        return f"{where}, {ints(side.counts)}, {listed}, {types}"

    def neighbours(self, world: int, rank: int, give: _Side, have: _Side) -> Plan:
        name, k, comm = self.step.name, f"k{self.number}", self.comm.variable
        sources, targets = self.comm.neighbours[rank]
        to_all = "allto" in name
        for target in targets if to_all else [0]:
            units = self.units(world, target) if target >= 0 else self.step.units
            give.add(units, self.key(world, target if to_all else 0))
        for source in sources:
            units = self.units(source, world) if source >= 0 else self.step.units
            have.add(units, self.key(source, world if to_all else 0))
        out, into, ot, it = f"{k}.from.at", f"{k}.to.at", f"{k}.out.type", f"{k}.in.type"
        send = f"{out}, {give.counts[0] if give.counts else 0}, {ot}"
        receive = f"{into}, {have.counts[0] if have.counts else 0}, {it}"
        if name.endswith("v"):
            receive = f"{into}, {ints(have.counts)}, {ints(have.places)}, {it}"
            if to_all:
                send = f"{out}, {ints(give.counts)}, {ints(give.places)}, {ot}"
        if name.endswith("w"):
            send, receive = (
                self.each(out, give, ot, aint=True),
                self.each(into, have, it, aint=True),
            )
        if name == "Neighbor_allgather" or name == "Neighbor_alltoall":
            receive = f"{into}, {self.step.units}, {it}"
            send = f"{out}, {self.step.units}, {ot}"
        plan = self.done(f"{send}, {receive}, {comm}", give, have, [])
        # Data without a source neighbour stays unchanged.
        kept = _Side(
            have.shape,
            [block for block, source in zip(have.blocks, sources, strict=True) if source >= 0],
        )
        plan.expect = kept.lay("picture", f"{k}.in")
        return plan

    def done(
        self, words: str, give: _Side, have: _Side, before: list[tuple[int, int, str]]
    ) -> Plan:
        k = f"k{self.number}"
        opened = [
            assign(f"{k}.out", give.shape),
            f"{k}.from = open_room(&{k}.out, {give.span}, HOLE({self.number}, rank, 0), 0);",
            assign(f"{k}.in", have.shape),
            f"{k}.to = open_room(&{k}.in, {have.span}, HOLE({self.number}, rank, 1), 0);",
        ]
        fill = give.lay(f"{k}.from", f"{k}.out") + _Side(have.shape, before).lay(
            f"{k}.to", f"{k}.in"
        )
        plan = Plan(words, "\n".join(opened), fill, have.lay("picture", f"{k}.in"))
        plan.sent = give.lay("picture", f"{k}.out")
        return plan


def collective(step: Collective, comm: Comm, number: int) -> Part:
    """One collective operation: once, or as a persistent one several times."""
    if step.name in REDUCTIONS:
        plans = {world: reduction(step, comm, number, world) for world in sorted(comm.members)}
    else:
        own = _Step(step, comm, number)
        plans = {world: own.plan(world) for world in sorted(comm.members)}
    k = f"k{number}"
    begin, end = {}, {}
    for world, plan in plans.items():
        how = step.finish[world % len(step.finish)]
        first = plan.opened.split("\n") if plan.opened else []
        words = plan.words or comm.variable
        ends = _ends(plan, k, number)
        close = [f"shut(&{k}.from);", f"shut(&{k}.to);"] if plan.opened else []
        wait = f'finish_one("{how}", &{k}.request);'
        match step.form:
            case "":
                begin[world] = [
                    *first,
                    "int turn = 0;",
                    "(void)turn;",
                    *plan.fill,
                    f"MPI_{step.name}({words});",
                    *ends,
                    *close,
                ]
            case "I":
                call = f"MPI_I{step.name.lower()}({words}, &{k}.request);"
                begin[world] = [*first, "int turn = 0;", "(void)turn;", *plan.fill, call]
                end[world] = ["int turn = 0;", "(void)turn;", wait, *ends, *close]
            case _:
                again = [f"again(&{k}.from);", f"again(&{k}.to);"] if plan.opened else []
                turn = ["(void)turn;", *again, *plan.fill, f"MPI_Start(&{k}.request);", wait, *ends]
                begin[world] = [
                    *first,
                    f"MPI_{step.name}_init({words}, MPI_INFO_NULL, &{k}.request);",
                    f"for (int turn = 0; turn < {step.rounds}; turn++) {{",
                    *("    " + part for line in turn for part in line.split("\n")),
                    "}",
                    f"MPI_Request_free(&{k}.request);",
                    *close,
                ]
    form = {"": "", "I": "nonblocking ", "init": "persistent "}[step.form]
    title = f"{form}{step.name} in {comm.variable} " + str([list(group) for group in comm.groups])
    return Part(title, [f"static collective {k};\n(void){k};"], cases(begin), cases(end))


def _ends(plan: Plan, k: str, number: int) -> list[str]:
    if not plan.opened:
        return []
    lines = [
        "{",
        f"    room picture = picture_of(&{k}.from);",
        *("    " + line for line in plan.sent),
    ]
    lines += [f'    same({number}, rank, "given", &{k}.from, &picture);\n}}']
    lines += [
        "{",
        f"    room picture = picture_of(&{k}.to);",
        *("    " + line for line in plan.expect),
    ]
    return [*lines, f'    same({number}, rank, "result", &{k}.to, &picture);\n}}']
