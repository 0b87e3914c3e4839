"""Makes a program correct, after it was drawn and after parts were removed.

A part that an MPI rule forbids is replaced by the nearest allowed part, or dropped: ranks that no
longer exist, communicators that are not made, ready sends with a receive that may not be posted,
receives that could find other receives' messages. So the shrinker can remove any part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import communicators
from .layouts import BASIC, shape
from .steps import (
    PLAIN,
    Cancels,
    Collective,
    Epoch,
    Layout,
    Make,
    Message,
    Messages,
    Nobody,
    Program,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .communicators import Comm
    from .steps import Step

READY = ("Rsend", "Irsend", "Rsend_init")
PERSISTENT_SENDS = ("Send_init", "Ssend_init", "Bsend_init", "Rsend_init")
REQUEST_SENDS = ("Isend", "Issend", "Ibsend", "Irsend", *PERSISTENT_SENDS, "Psend_init")
BUFFERED = ("Bsend", "Ibsend", "Bsend_init")
REQUEST_RECEIVES = ("Irecv", "Recv_init", "Precv_init", "Improbe")
POSTED = ("Irecv", "Recv_init", "Precv_init")
PAIRED = ("Sendrecv", "Isendrecv", "Sendrecv_replace", "Isendrecv_replace")
CONTIGUOUS = ("plain", "contiguous", "duplicate")
UNMATCHED = {"Mprobe": "Probe", "Improbe": "Iprobe"}
"""Over libfabric MPICH 5.0.2 crashes on matched messages from any source received into memory with
holes.
"""
TRUNCATING = ("Recv", "Irecv", "Probe", "Iprobe", "Mprobe")
NEIGHBOURLY = ("cart", "graph")


def fit(program: Program) -> Program:
    """The same program without errors."""
    steps: list[Step] = []
    for step in program.steps:
        comms = communicators.known(program.ranks, steps)
        if isinstance(step, Make):
            if communicators.made(step, program.ranks, comms):
                steps.append(step)
            continue
        comm = comms.get(step.comm)
        fitted = None if comm is None else _fitted(step, comm)
        if fitted is not None:
            steps.append(fitted)
    return replace(program, steps=_ended(tuple(steps)))


def _fitted(step: Step, comm: Comm) -> Step | None:
    match step:
        case Messages():
            return _messages(step, comm)
        case Cancels():
            pairs = tuple(
                (one, other)
                for one, other in step.pairs
                if one < comm.size(0) and other < comm.size(1)
            )
            return None if comm.inter or not pairs else replace(step, pairs=pairs)
        case Collective():
            if step.name.startswith("Neighbor") and comm.how not in NEIGHBOURLY:
                return None
            return replace(
                step, root=step.root % (comm.size(0) + (comm.size(1) if comm.inter else 0))
            )
        case Window():
            epochs = tuple(_epoch(epoch, comm) for epoch in step.epochs)
            return None if comm.inter or not epochs else replace(step, epochs=epochs)
        case Nobody():
            return step
    raise AssertionError(step)


def _epoch(epoch: Epoch, comm: Comm) -> Epoch:
    size = comm.size(0)
    return replace(
        epoch,
        accesses=tuple(one for one in epoch.accesses if one.origin < size and one.target < size),
    )


def _ended(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Open operations end in the program, and do not meet others with their communicator and
    kind.
    """
    found: list[Step] = []
    for number, step in enumerate(steps):
        lag = min(step.lag, len(steps) - 1 - number)
        if isinstance(step, Messages):
            buffered = any(one.send in BUFFERED for one in step.messages)
            if step.rounds > 1 or buffered:
                lag = 0
            for other in range(number + 1, number + 1 + lag):
                following = steps[other]
                if (
                    isinstance(following, (Messages, Cancels, Nobody))
                    and following.comm == step.comm
                ):
                    lag = other - number - 1
                    break
        elif not isinstance(step, Collective) or not step.form or step.rounds > 1:
            lag = 0
        found.append(replace(step, lag=lag))
    return tuple(found)


def _messages(step: Messages, comm: Comm) -> Messages | None:
    """A step's messages: repair after repair, until there are no more changes."""
    there = [
        one if comm.inter else replace(one, side=0)
        for one in step.messages
        if one.source < comm.size(one.side) and one.to < comm.size(1 - one.side)
    ]
    rounds, before = step.rounds, None
    sends, receives = (*PERSISTENT_SENDS, "Psend_init"), ("Recv_init", "Precv_init")
    while there != before:
        before = there
        there = [_alone(one, comm) for one in there]
        if not all(one.send in sends and one.receive in receives for one in there):
            rounds = 1
        if rounds > 1:
            # A sender that is ahead would send messages that this round's receives could find.
            there = [
                replace(one, wild="") if one.wild in ("any source", "any") else one for one in there
            ]
        there = _channels(_grouped(list(there)))
        there = [_ready(one) for one in _tied(there, comm.inter)]
    return replace(step, messages=tuple(there), rounds=rounds) if there else None


def _alone(one: Message, comm: Comm) -> Message:
    """A message's restrictions, independent of the others."""
    if (one.send == "Psend_init") != (one.receive == "Precv_init"):
        one = replace(
            one,
            send="Isend" if one.send == "Psend_init" else one.send,
            receive="Irecv" if one.receive == "Precv_init" else one.receive,
        )
    if one.send == "Psend_init":
        one = replace(one, wild="", room=one.elements, out=_even(one.out), into=_even(one.into))
        mine, theirs = (part if one.elements % part == 0 else 1 for part in one.partitions)
        one = replace(one, partitions=(mine, theirs))
    if not comm.inter and one.source == one.to:
        # A rank posts its receive before it sends to itself.
        receive = one.receive if one.receive in POSTED else "Irecv"
        send = "Send" if one.send in PAIRED else one.send
        if one.wild and send not in REQUEST_SENDS:
            send = "Isend"  # the receive may have found another message
        one = replace(one, receive=receive, send=send, early=True, receive_until=0)
        one = replace(one, send_until=0 if one.wild else one.send_until)
    if one.wild or one.room < one.elements:
        one = replace(one, receive="Recv" if one.receive in PAIRED else one.receive)
    if one.room < one.elements and (one.wild or one.receive not in TRUNCATING):
        one = replace(one, room=one.elements)
    if one.room < one.elements and one.receive == "Mprobe" and comm.how != "world":
        one = replace(
            one, room=one.elements
        )  # MPI_Mrecv of MPICH 5.0.2 asks MPI_COMM_WORLD what to do with an error
    if one.room == 0 and one.elements:
        one = replace(
            one, room=1
        )  # over libfabric MPICH 5.0.2 dies of a message for a receive of nothing
    if one.send not in REQUEST_SENDS:
        one = replace(one, send_until=0)
    if one.receive not in REQUEST_RECEIVES or one.wild:
        one = replace(one, receive_until=0)
    return one if one.receive in POSTED else replace(one, early=False)


def _even(layout: Layout) -> Layout:
    """A layout in which every element is one element of the datatype."""
    return layout if layout.kind in ("plain", "duplicate", "spread") else PLAIN


def _grouped(messages: list[Message]) -> list[Message]:
    """Wildcard receives stand together, are alike, and find no other receive's message."""
    found: list[Message] = []
    done: set[int] = set()
    for number, one in enumerate(messages):
        if number in done:
            continue
        group = (
            [number]
            if not one.wild
            else [other for other, each in enumerate(messages) if _same_group(one, each)]
        )
        if one.wild and any(
            _finds(one, each) and other not in group for other, each in enumerate(messages)
        ):
            for other in group:
                messages[other] = replace(messages[other], wild="")
            found.append(messages[number])
            done.add(number)
            continue
        done |= set(group)
        for other in group:
            each = messages[other]
            if one.wild:
                room = max(messages[member].elements for member in group)
                each = replace(each, basic=one.basic, room=room, into=one.into, shift=one.shift)
                if one.wild != "any tag" and one.into.kind not in CONTIGUOUS:
                    each = replace(each, receive=UNMATCHED.get(each.receive, each.receive))
                early = one.early and all(messages[member].receive in POSTED for member in group)
                each = replace(each, early=early)
            found.append(each)
    return found


def _same_group(one: Message, other: Message) -> bool:
    return one.wild == other.wild and one.wild != "" and _finds(one, other)


def _finds(one: Message, other: Message) -> bool:
    """Whether one message's receive could find the other."""
    if one.side != other.side or one.to != other.to or other.receive == "Precv_init":
        return False
    return (one.wild in ("any source", "any") or one.source == other.source) and (
        one.wild in ("any tag", "any") or one.tag == other.tag
    )


def _channels(messages: list[Message]) -> list[Message]:
    """For messages with the same ends and tag, either all receives are posted early, or all
    late.
    """
    late = {(one.side, one.source, one.to, one.tag) for one in messages if not one.early}
    return [
        replace(one, early=False) if (one.side, one.source, one.to, one.tag) in late else one
        for one in messages
    ]


def partners(messages: Sequence[Message], inter: bool) -> dict[int, int]:
    """For a message sent in one call with a receive: the receive's message, the one before it or
    after it.
    """
    found: dict[int, int] = {}
    for number, one in enumerate(messages):
        for other in (number + 1, number - 1):
            if (
                one.send not in PAIRED
                or number in found
                or not 0 <= other < len(messages)
                or other in found.values()
            ):
                continue
            each = messages[other]
            same = (
                each.receive == one.send
                and each.to == one.source
                and (each.side != one.side or not inter)
            )
            alike = (each.basic, each.elements, each.shift) == (one.basic, one.elements, one.shift)
            if same and not each.wild and (alike or not one.send.endswith("_replace")):
                found[number] = other
    return found


def _tied(messages: list[Message], inter: bool) -> list[Message]:
    """Sends and receives without the other half of their call become single ones."""
    pairs = partners(messages, inter)
    received = set(pairs.values())
    found = []
    for number, one in enumerate(messages):
        if one.send in PAIRED and number not in pairs:
            one = replace(one, send="Send")
        if one.receive in PAIRED and number not in received:
            one = replace(one, receive="Recv")
        found.append(one)
    for number, other in pairs.items():
        if found[number].send.endswith("_replace"):
            # One buffer: sent and received data have the same layout. MPICH 5.0.2 may send other
            # data than the buffer's if MPI_Isendrecv_replace has to pack them.
            if found[number].send == "Isendrecv_replace":
                found[other] = replace(found[other], into=PLAIN)
            found[number] = replace(found[number], out=found[other].into)
            found[other] = replace(found[other], room=found[other].elements)
    return found


def _ready(one: Message) -> Message:
    """A ready send needs a receive that was posted before."""
    if one.send in READY and not one.early:
        plain = {"Rsend": "Send", "Irsend": "Isend", "Rsend_init": "Send_init"}
        return replace(one, send=plain[one.send])
    return one


def bytes_of(message: Message) -> int:
    """The size of a message's two buffers."""
    out = shape(message.out, message.basic, message.elements)
    into = shape(message.into, message.basic, message.room)
    return out.extent * max(out.count, 1) + into.extent * max(into.count, 1) + BASIC[message.basic]
