"""DUMPI text traces, translated into GOAL: an MPI program's calls, recorded by SST's ``libdumpi``.

| in the trace | in the rank's block |
|---|---|
| the time between two MPI calls | a computation |
| the time in MPI calls, and before the end of ``MPI_Init`` | omitted: the machine has its own |
| a send or a receive | the same; calls after a non-blocking one's completion wait for it |
| a receive with wild cards | the receive of its status's message, or from any source |
| a collective operation | its messages (``elanite.traces.calls``); ``MPI_Alltoallv``: exact sizes |
| a communicator and a tag | one tag |

A file is a rank, and its name ends with the rank's number: ``dumpi-0003.txt``. It is
``dumpi2ascii``'s output for the rank's binary file. The traces are read twice. Communicators are
the world, duplicates and parts of others (``MPI_Comm_split``); types are elementary ones, and
contiguous ones or vectors made from these.

Refused with the line: other communicators and types where they are used, persistent requests,
one-sided communication, receives that never end, a tag wild card without a status, and calls from
other threads than the first one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from elanite.base.text import counted
from elanite.errors import RunError, UsageError
from elanite.traces import collectives
from elanite.traces.calls import CollectiveCall, expand
from elanite.traces.dumpi_file import SIZES, DumpiCall, calls
from elanite.traces.goal_lines import Writing
from elanite.traces.tape import Tape, TapePlace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_COLLECTIVES = {
    "Barrier": "BARRIER",
    "Bcast": "BCAST",
    "Reduce": "REDUCE",
    "Allreduce": "ALLREDUCE",
    "Gather": "GATHER",
    "Scatter": "SCATTER",
    "Gatherv": "GATHERV",
    "Scatterv": "SCATTERV",
    "Allgather": "ALLGATHER",
    "Allgatherv": "ALLGATHERV",
    "Alltoall": "ALLTOALL",
    "Alltoallv": "ALLTOALLV",
    "Reduce_scatter": "REDUCE_SCATTER",
    "Scan": "SCAN",
    "Exscan": "EXSCAN",
}
_UNREAD = re.compile(
    r"\w+_init|Start(all)?|R?(Put|Get|Accumulate)|R?[Gg]et_accumulate|Win_(create|start|fence|post)"
    r"|Fetch_and_op|Compare_and_swap|Cancel|Sendrecv_replace|I?m(probe|recv)|M(probe|recv)"
    r"|I?[Nn]eighbor_\w+|Alltoallw|Reduce_scatter_block"
    r"|I(barrier|bcast|reduce\w*|all\w+|gatherv?|scatterv?|scan|exscan)"
)
"""Calls that move data, or order ranks, and have no translation."""


class Comm(NamedTuple):
    """A communicator: the world, a single rank's, or a part or duplicate of another
    communicator.
    """

    parent: Comm | None
    number: int
    """The number of its making from its parent; without a parent, ``WORLD``'s or ``SELF``'s."""
    color: int | None = None
    """A part's colour; `None` for a duplicate."""


WORLD = Comm(None, 0)
SELF = Comm(None, 1)


def _is_single(comm: Comm) -> bool:
    """Whether it is a single-rank communicator, or made from one."""
    while comm.parent is not None:
        comm = comm.parent
    return comm == SELF


class DumpiJob(Writing):
    """The traces of all ranks in a program."""

    def __init__(self, traces: Sequence[Path]) -> None:
        numbered: dict[int, Path] = {}
        for path in traces:
            numbers = re.findall(r"\d+", path.stem)
            if not numbers or int(numbers[-1]) in numbered:
                raise UsageError(
                    f"{path}: the name does not end with a rank of its own, as in dumpi-0003.txt"
                )
            numbered[int(numbers[-1])] = path
        for rank in range(len(traces)):
            if rank not in numbered:
                raise UsageError(
                    f"{traces[0]}: of {len(traces)} ranks, rank {rank} is missing; name the files"
                    " of all"
                )
        self._files = [numbered[rank] for rank in range(len(traces))]
        self.colors: dict[tuple[Comm, int], dict[int, tuple[int, int]]] = defaultdict(dict)
        """For each split, by rank: color and key."""
        self._made: dict[Comm, list[CollectiveCall]] = defaultdict(list)
        self._tags: dict[tuple[Comm, int | str], int] = {}

    @property
    def ranks(self) -> int:
        """How many files there are."""
        return len(self._files)

    def lines(self) -> Iterator[str]:
        """The trace's lines."""
        noted: list[tuple[DumpiCall, Comm, int, str, int, int, int]] = []
        files = 0
        for rank, path in enumerate(self._files):
            reader = _Rank(self, rank)
            for call in calls(path):
                noted += reader.survey(call)
            files += reader.files
        numbers: dict[tuple[Comm, int], int] = defaultdict(int)
        for call, comm, rank, what, root, sent, received in noted:
            number = numbers[comm, rank]
            numbers[comm, rank] += 1
            made = self._made[comm]
            if number == len(made):
                made.append(CollectiveCall(what, root))
            if (made[number].what, made[number].root) != (what, root):
                call.refuse(
                    f"another rank has {made[number].what} with root {made[number].root} in its"
                    " place"
                )
            made[number].add(self.members(comm, rank).index(rank), sent, received)
        for comm, made in self._made.items():
            for number, one in enumerate(made):
                count = len(self.members(comm, 0))
                if one.members != count:
                    what = (
                        f"collective operation {number} of a communicator ({one.what}) has"
                        f" {one.members} of {count}"
                    )
                    raise RunError(f"{self._files[0]}: {what} ranks; name the files of all")
        if files:
            self.notes = [f"{counted(files, 'call')} of MPI-IO left out: files take no time"]
        yield from (f"// {note}\n" for note in self.notes)
        yield f"num_ranks {self.ranks}\n"
        for rank, path in enumerate(self._files):
            reader = _Rank(self, rank)
            for call in calls(path):
                reader.take(call)
            reader.end(path)
            yield f"rank {rank} {{\n"
            yield from reader.tape.taken()
            yield "}\n"
            self.operations += reader.tape.operations

    def members(self, comm: Comm, rank: int) -> list[int]:
        """A communicator's ranks; for one that each rank has for itself, this rank."""
        if comm.parent is None:
            return list(range(self.ranks)) if comm == WORLD else [rank]
        before = self.members(comm.parent, rank)
        if comm.color is None:
            return before
        chosen = self.colors[comm.parent, comm.number]
        inside = [one for one in before if one in chosen and chosen[one][0] == comm.color]
        return sorted(inside, key=lambda one: (chosen[one][1], before.index(one)))

    def tag(self, comm: Comm, what: int | str) -> int:
        """The GOAL tag for a communicator's tag, or for collective operations."""
        return self._tags.setdefault((comm, what), len(self._tags))

    def call(self, comm: Comm, number: int) -> CollectiveCall:
        """A communicator's collective operation."""
        return self._made[comm][number]


class _Rank:
    """A rank's calls: noted in the first reading, written in the second one."""

    def __init__(self, job: DumpiJob, rank: int) -> None:
        self._job, self._rank, self.tape = job, rank, Tape()
        self.files = 0
        """Calls of MPI-IO."""
        self._left: int | None = None
        self._comms: dict[int, Comm] = {}
        self._makings: dict[Comm, int] = defaultdict(int)
        self._types: dict[int, int] = {}
        self._numbers: dict[Comm, int] = defaultdict(int)
        self._sends: dict[int, int] = {}
        self._receives: dict[int, tuple[TapePlace, DumpiCall, Comm]] = {}

    def survey(self, call: DumpiCall) -> list[tuple[DumpiCall, Comm, int, str, int, int, int]]:
        """Note a collective operation, and follow communicators and types."""
        name = call.name.removeprefix("MPI_")
        if name not in _COLLECTIVES:
            self._follow(call, name)
            return []
        comm, what = self._comm(call, "comm"), _COLLECTIVES[name]
        root = call.number("root") if "root" in call.arguments else 0
        sent, received = self._sizes(call, name, comm)
        return [] if _is_single(comm) else [(call, comm, self._rank, what, root, sent, received)]

    def _sizes(self, call: DumpiCall, name: str, comm: Comm) -> tuple[int, int]:
        """The bytes that a rank sends and receives, as ``elanite.traces.calls`` counts them, for a
        rank's part.
        """
        if name in ("Barrier", "Alltoallv"):
            return 0, 0
        if name in ("Bcast", "Reduce", "Allreduce", "Scan", "Exscan"):
            size = call.number("count") * self._type(call, "datatype")
            return size, size
        if name == "Reduce_scatter":
            if comm != WORLD:
                call.refuse("its sizes differ from rank to rank, and it is not of MPI_COMM_WORLD")
            counts = call.numbers("recvcounts")
            if len(counts) != self._job.ranks:
                self._short(call, self._job.ranks)
            return 0, counts[self._rank] * self._type(call, "datatype")
        sent, received = (
            call.number(f"{way}count") * self._type(call, f"{way}type")
            if f"{way}count" in call.arguments and not _in_place(call, f"{way}type")
            else 0
            for way in ("send", "recv")
        )
        if _in_place(call, "sendtype") and name in ("Allgather", "Alltoall"):
            return received, received
        return sent, received

    def take(self, call: DumpiCall) -> None:
        """Write a call."""
        name = call.name.removeprefix("MPI_")
        if self._left is not None and call.begin > self._left:
            self.tape.saw([self.tape.put(f"calc {call.begin - self._left}")])
        if self._left is not None or name in ("Init", "Init_thread"):
            self._left = call.end
        if name in _COLLECTIVES:
            self.tape.saw(self._collective(call))
        elif name == "Sendrecv":
            send = self._send(call, "dest", "sendtag", "sendcount", "sendtype")
            got = self._recv(
                call, "source", "recvtag", "recvcount", "recvtype", call.statuses("status")
            )
            self.tape.saw([*send, *got])
        elif name in ("Send", "Bsend", "Ssend", "Rsend"):
            self.tape.saw(self._send(call))
        elif name in ("Isend", "Ibsend", "Issend", "Irsend"):
            for number in self._send(call):
                self._sends[call.number("request")] = number
        elif name == "Recv":
            self.tape.saw(self._recv(call, statuses=call.statuses("status")))
        elif name == "Irecv":
            if not _to_none(call, "source"):
                self._receives[call.number("request")] = (
                    self.tape.reserve(),
                    call,
                    self._comm(call, "comm"),
                )
        elif name.startswith(("Wait", "Test")) and name != "Test_cancelled":
            self._complete(call, name)
        else:
            self._follow(call, name)

    def end(self, path: Path) -> None:
        """Check the open operations after the last call."""
        for _, call, _ in self._receives.values():
            call.refuse("it never ends: no later call of the trace completes its request")
        if self._left is None:
            raise RunError(
                f"{path}: there is no MPI_Init; name the text that dumpi2ascii writes for a rank"
            )

    def _follow(self, call: DumpiCall, name: str) -> None:
        """Follow communicators and types; refuse operations outside GOAL."""
        if _UNREAD.fullmatch(name):
            call.refuse("this call is not read; record a program without it")
        self.files += name.startswith(("File_", "MPIO_"))
        if name in ("Comm_dup", "Comm_split"):
            parent = self._comm(call, "oldcomm")
            number = self._makings[parent]
            self._makings[parent] += 1
            color = None
            if name == "Comm_split":
                color = call.number("color")
                self._job.colors[parent, number][self._rank] = (color, call.number("key"))
            self._comms[call.number("newcomm")] = Comm(parent, number, color)
        elif name == "Type_contiguous":
            self._types[call.number("newtype")] = call.number("count") * self._type(call, "oldtype")
        elif name in ("Type_vector", "Type_hvector"):
            blocks = call.number("count") * call.number("blocklength")
            self._types[call.number("newtype")] = blocks * self._type(call, "oldtype")

    def _comm(self, call: DumpiCall, name: str) -> Comm:
        known = {"MPI_COMM_WORLD": WORLD, "MPI_COMM_SELF": SELF}.get(call.named(name))
        number = call.number(name)
        if known is None and number not in self._comms:
            call.refuse(
                f"communicator {number} was made by a call that is not read; use duplicates and"
                " splits"
            )
        return known or self._comms[number]

    def _type(self, call: DumpiCall, name: str) -> int:
        """A type's bytes."""
        number, plain = call.number(name), call.named(name).removeprefix("MPI_")
        if plain not in SIZES and number not in self._types:
            call.refuse(
                f"type {number} ({call.named(name)}) has an unknown size; use contiguous types or"
                " vectors"
            )
        return self._types[number] if number in self._types else SIZES[plain]

    def _peer(self, call: DumpiCall, comm: Comm, place: int) -> int:
        members = self._job.members(comm, self._rank)
        if not 0 <= place < len(members):
            call.refuse(f"there is no rank {place} in its communicator, which has {len(members)}")
        return members[place]

    def _send(
        self,
        call: DumpiCall,
        to: str = "dest",
        tag: str = "tag",
        count: str = "count",
        kind: str = "datatype",
    ) -> list[int]:
        if _to_none(call, to):
            return []
        comm = self._comm(call, "comm")
        peer, known = self._peer(call, comm, call.number(to)), self._job.tag(comm, call.number(tag))
        return [
            self.tape.put(
                f"send {call.number(count) * self._type(call, kind)}b to {peer} tag {known}"
            )
        ]

    def _recv(
        self,
        call: DumpiCall,
        source: str = "source",
        tag: str = "tag",
        count: str = "count",
        kind: str = "datatype",
        statuses: Sequence[tuple[int, int]] = (),
        place: TapePlace | None = None,
        comm: Comm | None = None,
    ) -> list[int]:
        comm = comm or self._comm(call, "comm")
        if _to_none(call, source):
            return []
        there, label = call.number(source), call.number(tag)
        if call.named(source) == "MPI_ANY_SOURCE" and statuses:
            there = statuses[0][0]
        if call.named(tag) == "MPI_ANY_TAG":
            if not statuses:
                call.refuse(
                    "it accepts any tag, and the trace lacks the status with the received tag;"
                    " record the program with statuses"
                )
            label = statuses[0][1]
        peer = -1 if there < 0 else self._peer(call, comm, there)
        size, known = call.number(count) * self._type(call, kind), self._job.tag(comm, label)
        text = f"recv {size}b from {peer} tag {known}"
        return [self.tape.define(place, text) if place is not None else self.tape.put(text)]

    def _complete(self, call: DumpiCall, name: str) -> None:
        """Requests' ends."""
        if name.startswith("Test") and "flag" in call.arguments and not call.number("flag"):
            return
        several = "requests" in call.arguments
        requests = call.numbers("requests") if several else [call.number("request")]
        statuses = call.statuses("statuses") or call.statuses("status")
        if name.endswith("any"):
            chosen = [call.number("index")]
        elif name.endswith("some"):
            chosen = call.numbers("indices")
        else:
            chosen = list(range(len(requests)))
        ended = []
        for turn, index in enumerate(chosen):
            if not 0 <= index < len(requests):
                continue
            request = requests[index]
            if request in self._sends:
                ended.append(self._sends.pop(request))
            elif request in self._receives:
                place, posted, comm = self._receives.pop(request)
                ended += self._recv(
                    posted, statuses=statuses[turn : turn + 1], place=place, comm=comm
                )
        self.tape.saw(ended)

    def _collective(self, call: DumpiCall) -> list[int]:
        comm, name = self._comm(call, "comm"), call.name.removeprefix("MPI_")
        begin = [self.tape.put("calc 0")]
        members = self._job.members(comm, self._rank)
        if len(members) == 1:
            return begin
        me, number = members.index(self._rank), self._numbers[comm]
        self._numbers[comm] += 1
        self.tape.tag = self._job.tag(comm, "collective")
        if name == "Alltoallv":
            gives = [one * self._type(call, "sendtype") for one in call.numbers("sendcounts")]
            takes = [one * self._type(call, "recvtype") for one in call.numbers("recvcounts")]
            if not len(gives) == len(takes) == len(members):
                self._short(call, len(members))
            return collectives.exchange(self.tape, members, me, gives, takes, begin)
        made = self._job.call(comm, number)
        return expand(self.tape, members, me, _counted(made, len(members)), begin)

    def _short(self, call: DumpiCall, count: int) -> NoReturn:
        call.refuse(f"it has not the counts of {count} ranks")


def _to_none(call: DumpiCall, name: str) -> bool:
    """Whether a peer is MPI_PROC_NULL, a negative number, which differs from library to library."""
    return call.number(name) < 0 and call.named(name) != "MPI_ANY_SOURCE"


def _in_place(call: DumpiCall, kind: str) -> bool:
    """Whether a side has no type of its own, as its data are in the other side's place."""
    return kind in call.arguments and call.named(kind) == "MPI_DATATYPE_NULL"


def _counted(call: CollectiveCall, count: int) -> CollectiveCall:
    """A call with bytes as Score-P counts them: for all ranks, where a rank has named one
    rank's.
    """
    of_all_sent = call.what in ("ALLREDUCE", "ALLGATHER", "ALLGATHERV", "ALLTOALL", "SCAN")
    of_all_received = call.what == "REDUCE_SCATTER"
    sent = {one: size * (count if of_all_sent else 1) for one, size in call.sent.items()}
    if call.what == "EXSCAN":
        sent = {one: size * (count - 1) for one, size in call.sent.items()}
    received = {
        one: size * (count if of_all_received else 1) for one, size in call.received.items()
    }
    return CollectiveCall(call.what, call.root, call.members, sent, received)
