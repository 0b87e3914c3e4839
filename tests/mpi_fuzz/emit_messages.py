"""Message steps as C.

Each rank executes its operations in the order of the step's messages, and waits for a request no
later than specified in the program. A blocking operation waits for a message before it in this
order. So there is no deadlock if both ends of a message execute their earlier operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .code import Part, assign, cases
from .fit import BUFFERED, PERSISTENT_SENDS, READY, partners
from .layouts import BASIC, shape

if TYPE_CHECKING:
    from .communicators import Comm
    from .steps import Message, Messages

WILD_SOURCE = ("any source", "any")
WILD_TAG = ("any tag", "any")


class _Step:
    """The common parts of a step's lines."""

    def __init__(self, step: Messages, comm: Comm, number: int) -> None:
        self.step, self.comm, self.number = step, comm, number
        self.pairs = partners(step.messages, comm.inter)
        self.received = {other: one for one, other in self.pairs.items()}
        self.ready = any(one.send in READY for one in step.messages)

    def sender(self, one: Message) -> int:
        return self.comm.world(one.side, one.source)

    def receiver(self, one: Message) -> int:
        return self.comm.world(1 - one.side, one.to)

    def leader(self, index: int) -> int:
        """The first message in a group with receives that may find each other's messages."""
        one = self.step.messages[index]
        while one.wild and index and self.same(self.step.messages[index - 1], one):
            index -= 1
        return index

    @staticmethod
    def same(one: Message, other: Message) -> bool:
        key = (one.wild, one.side, one.to, one.basic, one.room, one.into, one.shift)
        if key != (
            other.wild,
            other.side,
            other.to,
            other.basic,
            other.room,
            other.into,
            other.shift,
        ):
            return False
        return (one.wild in WILD_SOURCE or one.source == other.source) and (
            one.wild in WILD_TAG or one.tag == other.tag
        )

    def message(self, index: int) -> str:
        return f"m{self.number}[{index}]"

    def request(self, index: int, receive: bool) -> str:
        return f"q{self.number}[{2 * index + receive}]"

    def status(self, index: int) -> str:
        return f"t{self.number}[{2 * index + 1}]"

    def code(self, index: int) -> str:
        return f"e{self.number}[{2 * index + 1}]"

    def sent(self, index: int, turn: str = "0") -> str:
        one = self.step.messages[index]
        length = one.elements * BASIC[one.basic]
        return (
            f"{{{index}, {one.source}, {one.tag}, DATA({self.number}, {index}, {turn}), {length}}}"
        )

    # Buffers.

    def prepare(self, index: int, world: int) -> list[str]:
        one, name, lines = self.step.messages[index], self.message(index), []
        size = BASIC[one.basic]
        if world == self.receiver(one):
            into = shape(one.into, one.basic, one.room)
            hole = f"HOLE({self.number}, {self.leader(index)}, 1)"
            lines.append(assign(f"{name}.in", into))
            lines.append(
                f"{name}.to = open_room(&{name}.in, {into.count}, {hole}, {one.shift * size});"
            )
        if world == self.sender(one) and not one.send.endswith("_replace"):
            out = shape(one.out, one.basic, one.elements)
            lines.append(assign(f"{name}.out", out))
            hole = f"HOLE({self.number}, {index}, 0)"
            lines.append(
                f"{name}.from = open_room(&{name}.out, {out.count}, {hole}, {one.shift * size});"
            )
            lines.append(self.fill(index))
        return lines

    def fill(self, index: int, turn: str = "0") -> str:
        one, name = self.step.messages[index], self.message(index)
        length = one.elements * BASIC[one.basic]
        return f"lay(&{name}.from, &{name}.out, 0, {length}, DATA({self.number}, {index}, {turn}));"

    # Calls.

    def outgoing(self, index: int) -> str:
        one, name = self.step.messages[index], self.message(index)
        return (
            f"{name}.from.at, {shape(one.out, one.basic, one.elements).count}, {name}.out.type,"
            f" {one.to}, {one.tag}"
        )

    def incoming(self, index: int, wild: bool = True) -> str:
        one, name = self.step.messages[index], self.message(index)
        source = "MPI_ANY_SOURCE" if wild and one.wild in WILD_SOURCE else str(one.source)
        tag = "MPI_ANY_TAG" if wild and one.wild in WILD_TAG else str(one.tag)
        return (
            f"{name}.to.at, {shape(one.into, one.basic, one.room).count}, {name}.in.type, {source},"
            f" {tag}"
        )

    def send(self, index: int) -> list[str]:
        one, comm = self.step.messages[index], self.comm.variable
        if index in self.pairs:
            return self.both(index, self.pairs[index])
        request = self.request(index, False)
        if one.send == "Psend_init":
            parts = one.partitions[0]
            where = (
                f"{self.message(index)}.from.at, {parts}, {one.elements // parts},"
                f" {self.message(index)}.out.type"
            )
            return [
                f"MPI_Psend_init({where}, {one.to}, {one.tag}, {comm}, MPI_INFO_NULL, &{request});",
                f"MPI_Start(&{request});",
                f"ready({one.tag + parts}, {parts}, &{request});",
            ]
        if one.send in ("Send", "Ssend", "Bsend", "Rsend"):
            return [f"MPI_{one.send}({self.outgoing(index)}, {comm});"]
        start = [f"MPI_Start(&{request});"] if one.send in PERSISTENT_SENDS else []
        return [f"MPI_{one.send}({self.outgoing(index)}, {comm}, &{request});", *start]

    def both(self, index: int, other: int) -> list[str]:
        """A send and a receive by one call."""
        one, back, comm = self.step.messages[index], self.step.messages[other], self.comm.variable
        end = (
            f"&{self.request(other, True)}"
            if one.send.startswith("I")
            else f"&{self.status(other)}"
        )
        done = [] if one.send.startswith("I") else [f"{self.code(other)} = MPI_SUCCESS;"]
        if one.send.endswith("_replace"):
            name = self.message(other)
            count = shape(back.into, back.basic, back.room).count
            where = (
                f"{name}.to.at, {count}, {name}.in.type, {one.to}, {one.tag}, {back.source},"
                f" {back.tag}"
            )
            length = one.elements * BASIC[one.basic]
            fill = f"lay(&{name}.to, &{name}.in, 0, {length}, DATA({self.number}, {index}, 0));"
            return [fill, f"MPI_{one.send}({where}, {comm}, {end});", *done]
        return [
            f"MPI_{one.send}({self.outgoing(index)}, {self.incoming(other)}, {comm}, {end});",
            *done,
        ]

    def receive(self, index: int) -> list[str]:
        one, name, comm = self.step.messages[index], self.message(index), self.comm.variable
        request, status, where = self.request(index, True), self.status(index), self.incoming(index)
        if index in self.received:
            return []  # with the send
        ends = where.split(", ", 3)[3]
        probed, found_at = f"&{name}.probed", f"{name}.probed.MPI_SOURCE, {name}.probed.MPI_TAG"
        found = [f"{name}.is_probed = 1;"]
        buffer = ", ".join(where.split(", ")[:3])
        match one.receive:
            case "Precv_init":
                parts = one.partitions[1]
                place = f"{name}.to.at, {parts}, {one.elements // parts}, {name}.in.type"
                return [
                    f"MPI_Precv_init({place}, {ends}, {comm}, MPI_INFO_NULL, &{request});",
                    f"MPI_Start(&{request});",
                ]
            case "Irecv":
                return [f"MPI_Irecv({where}, {comm}, &{request});"]
            case "Recv_init":
                return [f"MPI_Recv_init({where}, {comm}, &{request});", f"MPI_Start(&{request});"]
            case "Probe" | "Iprobe":
                look = [f"MPI_Probe({ends}, {comm}, {probed});"]
                if one.receive == "Iprobe":
                    look = [
                        "for (int flag = 0; !flag;)",
                        f"    MPI_Iprobe({ends}, {comm}, &flag, {probed});",
                    ]
                found += [
                    f"{self.code(index)} = MPI_Recv({buffer}, {found_at}, {comm}, &{status});"
                ]
                return look + found
            case "Mprobe":
                return [
                    "{",
                    (
                        f"    MPI_Message matched;\n    MPI_Mprobe({ends}, {comm}, &matched,"
                        f" {probed});"
                    ),
                    f"    {self.code(index)} = MPI_Mrecv({buffer}, &matched, &{status});\n}}",
                    *found,
                ]
            case "Improbe":
                return [
                    "{",
                    "    MPI_Message matched;\n    for (int flag = 0; !flag;)",
                    f"        MPI_Improbe({ends}, {comm}, &flag, &matched, {probed});",
                    f"    MPI_Imrecv({buffer}, &matched, &{request});\n}}",
                    *found,
                ]
        return [f"{self.code(index)} = MPI_Recv({where}, {comm}, &{status});"]

    # A rank.

    def begin(self, world: int) -> list[str]:
        all_, lines = self.step.messages, []
        for index in range(len(all_)):
            lines += self.prepare(index, world)
        mine = [one for one in all_ if self.sender(one) == world and one.send in BUFFERED]
        if mine:
            total = sum(one.elements * BASIC[one.basic] for one in mine) * self.step.rounds
            lines.append(f"attach({len(mine) * self.step.rounds}, {total});")
        if self.truncates(world):
            lines.append(f"MPI_Comm_set_errhandler({self.comm.variable}, MPI_ERRORS_RETURN);")
        for index, one in enumerate(all_):
            if one.early and self.receiver(one) == world:
                lines += self.receive(index)
        if self.ready:
            lines.append(f"MPI_Barrier({self.comm.variable});")
        waits: dict[int, list[str]] = {}
        for index, one in enumerate(all_):
            lines += waits.get(index, [])
            if self.receiver(one) == world and not one.early:
                lines += self.receive(index)
            if self.sender(one) == world:
                lines += self.send(index)
            for until, receive, end in (
                (one.send_until, False, self.sender(one)),
                (one.receive_until, True, self.receiver(one)),
            ):
                if until and end == world:
                    waits.setdefault(index + until, []).append(self.wait(index, receive))
        return lines

    def wait(self, index: int, receive: bool) -> str:
        place = 2 * index + receive
        return (
            f"e{self.number}[{place}] = MPI_Wait(&q{self.number}[{place}],"
            f" &t{self.number}[{place}]);"
        )

    def truncates(self, world: int) -> bool:
        return any(
            one.room < one.elements and self.receiver(one) == world for one in self.step.messages
        )

    def end(self, world: int) -> list[str]:
        all_, lines, count = self.step.messages, [], 2 * len(self.step.messages)
        for index, one in enumerate(all_):
            if self.receiver(one) != world:
                continue
            if one.room < one.elements and one.receive == "Irecv":
                lines.append(f"if ({self.code(index)} < 0)\n    {self.wait(index, True)}")
            if one.receive == "Precv_init":
                lines.append(
                    f"arrived({one.tag + index}, {one.partitions[1]},"
                    f" &{self.request(index, True)});"
                )
        how = self.step.finish[world % len(self.step.finish)]
        number = self.number
        if how == "Testall" and any("P" in one.send[:1] for one in all_):
            how = (  # MPI_Testall of MPICH 5.0.2 says that a partitioned request has failed
                "Testsome"
            )
        lines.append(f'finish("{how}", {count}, q{number}, t{number}, e{number});')
        lines += self.check(world)
        return lines + self.close(world)

    def check(self, world: int, turn: str = "0") -> list[str]:
        lines = []
        for index, one in enumerate(self.step.messages):
            name, sent = self.message(index), self.sent(index, turn)
            if self.receiver(one) != world or self.leader(index) != index:
                continue
            if one.receive in ("Precv_init", "Isendrecv", "Isendrecv_replace"):
                # MPICH 5.0.2 leaves MPI_Isendrecv's status unchanged.
                lines.append(f"got_parts({self.number}, &{name}, &(sent){sent});")
                continue
            group = [
                other
                for other in range(index, len(self.step.messages))
                if self.leader(other) == index
            ]
            if one.wild:
                all_sent = ",\n    ".join(self.sent(other, turn) for other in group)
                place = f"&{name}, &{self.status(index)}, &{self.code(index)}"
                lines.append(
                    f"got_any({self.number}, {len(group)}, {place}, (const sent[]){{\n   "
                    f" {all_sent}}});"
                )
            else:
                lines.append(
                    f"got({self.number}, &{name}, &{self.status(index)}, {self.code(index)},"
                    f" &(sent){sent});"
                )
        return lines

    def close(self, world: int) -> list[str]:
        lines = []
        if self.truncates(world):
            lines.append(f"MPI_Comm_set_errhandler({self.comm.variable}, MPI_ERRORS_ARE_FATAL);")
        for index, one in enumerate(self.step.messages):
            if self.sender(one) == world:
                if one.send in (*PERSISTENT_SENDS, "Psend_init"):
                    lines.append(f"MPI_Request_free(&{self.request(index, False)});")
                if not one.send.endswith("_replace"):
                    lines.append(f"shut(&{self.message(index)}.from);")
            if self.receiver(one) == world:
                if one.receive in ("Recv_init", "Precv_init"):
                    lines.append(f"MPI_Request_free(&{self.request(index, True)});")
                lines.append(f"shut(&{self.message(index)}.to);")
        if any(self.sender(one) == world and one.send in BUFFERED for one in self.step.messages):
            lines.append("detach();")
        return lines

    # Persistent requests that start several times.

    def rounds(self, world: int) -> list[str]:
        all_, number, lines = self.step.messages, self.number, self.begin(world)
        begun = [
            line
            for line in lines
            if not line.startswith(("MPI_Start(", "ready(", "MPI_Barrier(", "e"))
        ]
        turn: list[str] = []
        for index, one in enumerate(all_):
            if self.sender(one) == world:
                turn += [f"again(&{self.message(index)}.from);", self.fill(index, "turn")]
            if self.receiver(one) == world:
                turn.append(f"again(&{self.message(index)}.to);")
        turn.append(f"for (int one = 0; one < {2 * len(all_)}; one++)\n    e{number}[one] = -1;")
        turn += [
            f"MPI_Start(&{self.request(index, True)});"
            for index, one in enumerate(all_)
            if self.receiver(one) == world
        ]
        if self.ready:
            turn.append(f"MPI_Barrier({self.comm.variable});")
        for index, one in enumerate(all_):
            if self.sender(one) == world:
                request = self.request(index, False)
                turn.append(f"MPI_Start(&{request});")
                if one.send == "Psend_init":
                    turn.append(f"ready({one.tag + index}, {one.partitions[0]}, &{request});")
        closed = self.close(world)
        turn += [
            line for line in self.end(world) if line not in closed and not line.startswith("got")
        ]
        turn += self.check(world, "turn")
        loop = [f"for (int turn = 0; turn < {self.step.rounds}; turn++) {{"]
        loop += ["    " + part for line in turn for part in line.split("\n")]
        return [*begun, *loop, "}", *closed]


def messages(step: Messages, comm: Comm, number: int) -> Part:
    """All messages in a step."""
    count = 2 * len(step.messages)
    own = _Step(step, comm, number)
    variables = [
        f"static message m{number}[{len(step.messages)}];",
        f"MPI_Request q{number}[{count}];",
        f"MPI_Status t{number}[{count}];",
        f"int e{number}[{count}];",
    ]
    clean = [
        f"for (int one = 0; one < {count}; one++)",
        f"    q{number}[one] = MPI_REQUEST_NULL, e{number}[one] = -1;",
    ]
    title = f"{len(step.messages)} messages in {comm.variable} " + str(
        [list(group) for group in comm.groups]
    )
    members = sorted(comm.members)
    if step.rounds > 1:
        return Part(
            title, variables, clean + cases({rank: own.rounds(rank) for rank in members}), []
        )
    begin = cases({rank: own.begin(rank) for rank in members})
    end = cases({rank: own.end(rank) for rank in members})
    if any(one.wild in WILD_SOURCE for one in step.messages):
        # A sender that is ahead may not send messages that these receives could find.
        end += [f"if ({comm.variable} != MPI_COMM_NULL)", f"    MPI_Barrier({comm.variable});"]
    return Part(title, variables, clean + begin, end)
