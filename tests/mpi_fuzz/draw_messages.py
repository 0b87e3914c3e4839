"""Draws a step's messages: sender, receiver, content, and the calls that send and receive it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from .layouts import BASIC, KINDS, factor
from .steps import PLAIN, Layout, Message, Messages

if TYPE_CHECKING:
    from .communicators import Comm
    from .sizes import Sizes

SENDS = (
    *("Send", "Send", "Ssend", "Bsend", "Rsend", "Isend", "Isend", "Issend", "Ibsend", "Irsend"),
    *("Send_init", "Ssend_init", "Bsend_init", "Rsend_init", "Psend_init"),
)
RECEIVES = (
    "Recv",
    "Recv",
    "Irecv",
    "Irecv",
    "Recv_init",
    "Probe",
    "Iprobe",
    "Mprobe",
    "Mprobe",
    "Improbe",
    "Improbe",
)
PERSISTENT = ("Send_init", "Send_init", "Ssend_init", "Bsend_init", "Rsend_init", "Psend_init")
PAIRED = ("Sendrecv", "Sendrecv", "Isendrecv", "Sendrecv_replace", "Isendrecv_replace")
FINISH = (
    *("Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome"),
    *("Wait", "Wait backwards", "Test", "Request_get_status"),
)
LIKED = (
    *("MPI_BYTE", "MPI_BYTE", "MPI_CHAR", "MPI_SHORT", "MPI_INT"),
    *("MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG", "MPI_INT64_T"),
)


def layout(rng: random.Random, size: int = 0) -> Layout:
    """A layout; long messages have holes less often."""
    if rng.random() < (0.45 if size < 300000 else 0.8):
        return PLAIN
    return Layout(rng.choice(KINDS), rng.randrange(1 << 20))


def messages(rng: random.Random, comm: Comm, sizes: Sizes) -> Messages:
    """Some messages within a communicator."""
    persistent = rng.random() < 0.12
    count = rng.randint(1, 4) if rng.random() < 0.6 else rng.randint(5, 14)
    rounds = rng.randint(2, 4) if persistent else 1
    found: list[Message] = []
    while len(found) < count:
        one = _message(rng, comm, sizes, persistent, rounds)
        found.append(one)
        if persistent:
            continue
        if rng.random() < 0.12:
            found.append(_back(rng, comm, found))
        elif rng.random() < 0.2:
            found += _more(rng, comm, one, sizes)
    _wild(rng, found)
    finish = tuple(rng.choice(FINISH) for _ in range(rng.randint(1, 4)))
    return Messages(comm.ref, tuple(found), finish, rounds, rng.choice((0, 0, 0, 1, 1, 2, 3)))


def _message(
    rng: random.Random, comm: Comm, sizes: Sizes, persistent: bool, rounds: int
) -> Message:
    side = rng.randrange(2) if comm.inter else 0
    basic = rng.choice(LIKED)
    elements = -(-sizes.draw(rounds) // BASIC[basic])
    size = elements * BASIC[basic]
    send = rng.choice(PERSISTENT if persistent else SENDS)
    receive = "Recv_init" if persistent else rng.choice(RECEIVES)
    if send == "Psend_init":
        receive = "Precv_init"
        if comm.inter:
            # MPICH 5.0.2 takes the wrong group's context, so that they meet only if the two groups'
            # are equal.
            send, receive = "Send_init", "Recv_init"
    if send in ("Rsend", "Irsend"):
        receive = rng.choice(("Irecv", "Recv_init"))
    room = elements
    if rng.random() < 0.25:
        room = elements + rng.choice((1, 2, 17, 1000))
    elif elements and rng.random() < 0.06:
        room = rng.choice((0, 1, elements // 2, elements - 1))
    return Message(
        side,
        rng.randrange(comm.size(side)),
        rng.randrange(comm.size(1 - side)),
        rng.choice((0, 1, 2, 3, 7, 1000, 32767, 1 << 20)),
        basic,
        elements,
        room,
        send,
        receive,
        layout(rng, size),
        layout(rng, size),
        early=rng.random() < (0.8 if send in ("Rsend", "Irsend", "Rsend_init") else 0.35),
        send_until=rng.choice((0, 0, 1, 2, 5)),
        receive_until=rng.choice((0, 0, 1, 2, 5)),
        partitions=(factor(elements, rng, 12), factor(elements, rng, 12)),
        shift=rng.choice((0, 0, 1, 3, 8)),
    )


def _more(rng: random.Random, comm: Comm, one: Message, sizes: Sizes) -> list[Message]:
    """More messages for the same rank: from the same sender with the same tag, or for wildcards."""
    found = []
    for _ in range(rng.randint(1, 4)):
        source = one.source if rng.random() < 0.4 else rng.randrange(comm.size(one.side))
        elements = -(-sizes.draw() // BASIC[one.basic])
        other = _message(rng, comm, sizes, False, 1)
        found.append(
            replace(
                other,
                side=one.side,
                source=source,
                to=one.to,
                tag=one.tag if rng.random() < 0.7 else other.tag,
                basic=one.basic,
                elements=elements,
                room=elements,
                partitions=(1, 1),
            )
        )
    return found


def _back(rng: random.Random, comm: Comm, found: list[Message]) -> Message:
    """A message to the last message's sender, or from another rank to it, by one call with its
    send.
    """
    last = found[-1]
    call = rng.choice(PAIRED)
    found[-1] = replace(last, send=call, room=last.elements)
    if comm.inter or rng.random() < 0.5:
        back = replace(
            last, side=1 - last.side if comm.inter else 0, source=last.to, to=last.source
        )
    else:
        back = replace(last, source=rng.randrange(comm.size(0)), to=last.source)
    if rng.random() < 0.5 and not call.endswith("_replace"):
        elements = rng.choice((0, 1, 300, last.elements // 2))
        back = replace(back, elements=elements)
    send = rng.choice(("Send", "Isend", "Ssend"))
    if back.source == last.to and rng.random() < 0.5:
        # The other end does both in one call as well.
        other = call if rng.random() < 0.7 else rng.choice(PAIRED)
        found[-1] = replace(found[-1], receive=other)
        send = other
    return replace(
        back,
        send=send,
        receive=call,
        room=back.elements,
        into=layout(rng),
        wild="",
        partitions=(1, 1),
    )


def _wild(rng: random.Random, found: list[Message]) -> None:
    """Turns some ranks' receives into wildcard receives; ``fit`` reverts ambiguous ones."""
    for side, to in sorted({(one.side, one.to) for one in found}):
        if rng.random() < 0.45:
            how = rng.choice(("any source", "any source", "any tag", "any"))
            source, tag = rng.choice(
                [(one.source, one.tag) for one in found if (one.side, one.to) == (side, to)]
            )
            for number, one in enumerate(found):
                hit = (
                    one.source == source
                    if how == "any tag"
                    else one.tag == tag
                    if how == "any source"
                    else True
                )
                if (one.side, one.to) == (side, to) and hit and one.send != "Psend_init":
                    receive = rng.choice(RECEIVES) if one.receive in PAIRED else one.receive
                    found[number] = replace(one, wild=how, receive=receive)
