"""The steps of a program, which all ranks go through in the same order.

A rank takes part in a step if it is in the step's communicator. Ranks are numbered in this communicator, except where a
communicator is made: there they are ranks of MPI_COMM_WORLD. Everything is an immutable value, so that a smaller
program is made by replacing parts of a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORLD = 0
"""The name of MPI_COMM_WORLD among communicators."""


@dataclass(frozen=True, order=True)
class Ref:
    """A communicator: the name of a variable, and which of those that this variable has on different ranks."""

    name: int = WORLD
    which: int = 0


@dataclass(frozen=True)
class Layout:
    """How elements of a basic datatype lie in memory; the salt chooses lengths and gaps."""

    kind: str
    salt: int


PLAIN = Layout("plain", 0)


@dataclass(frozen=True)
class Message:
    """One message of a step, with its datatype on either side.

    ``side`` is the group of the sender in an inter-communicator. ``room`` is how many elements the receive takes,
    fewer than are sent if it is to be truncated. Receives of one ``wild`` group may find each other's messages.
    """

    side: int
    source: int
    to: int
    tag: int
    basic: str
    elements: int
    room: int
    send: str
    receive: str
    out: Layout = PLAIN
    into: Layout = PLAIN
    early: bool = False
    """The receive is posted before anything is sent."""
    send_until: int = 0
    """After so many further messages the sender waits for its request; 0: at the end of the step."""
    receive_until: int = 0
    wild: str = ""
    """any source, any tag, any: receives that may find all messages of the group."""
    partitions: tuple[int, int] = (1, 1)
    shift: int = 0
    """Where buffers begin, in elements off an aligned address."""


@dataclass(frozen=True)
class Make:
    """Makes communicators. ``colors`` and ``keys`` are by rank of MPI_COMM_WORLD; a colour below 0 is in none."""

    name: int
    how: str
    parent: int = WORLD
    colors: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    salt: int = 0
    lag: int = 0


@dataclass(frozen=True)
class Messages:
    """Messages that are under way together. ``rounds`` above 1: all requests are persistent, and start so often."""

    comm: Ref
    messages: tuple[Message, ...]
    finish: tuple[str, ...] = ("Waitall",)
    """By rank of MPI_COMM_WORLD, and again from the first one on."""
    rounds: int = 1
    lag: int = 0


@dataclass(frozen=True)
class Cancels:
    """Receives that are cancelled: some that nothing is sent to, some that race with their messages."""

    comm: Ref
    pairs: tuple[tuple[int, int], ...]
    bytes: int
    racing: bool
    lag: int = 0


@dataclass(frozen=True)
class Nobody:
    """Messages to and from MPI_PROC_NULL, and completions of requests that are none."""

    comm: Ref
    salt: int
    lag: int = 0


@dataclass(frozen=True)
class Collective:
    """A collective operation. ``form`` is "", "I" (nonblocking) or "init" (persistent, ``rounds`` times).

    ``units`` are how many units a rank gives to, or has from, each other one, reduced by the salt in the forms that
    let ranks differ. A unit is ``per_unit`` elements of the basic datatype, or one value of a reduction's ``kind``.
    """

    comm: Ref
    name: str
    form: str
    root: int
    basic: str
    per_unit: int
    units: int
    salt: int
    layouts: tuple[Layout, ...] = (PLAIN,)
    in_place: bool = False
    kind: str = "u32"
    op: str = "MPI_SUM"
    rounds: int = 1
    finish: tuple[str, ...] = ("Waitall",)
    lag: int = 0


@dataclass(frozen=True)
class Access:
    """A one-sided operation. ``at`` is the place in the target's window, which no other of the epoch touches.

    Accumulates that share a place all have the same ``op`` and datatype, so that their order does not count.
    """

    call: str
    origin: int
    target: int
    at: int
    basic: str
    elements: int
    out: Layout = PLAIN
    into: Layout = PLAIN
    kind: str = "u32"
    op: str = "MPI_SUM"
    request: bool = False
    shift: int = 0


@dataclass(frozen=True)
class Epoch:
    """Accesses between two synchronisations."""

    how: str
    accesses: tuple[Access, ...]
    salt: int = 0


@dataclass(frozen=True)
class Window:
    """A window, its epochs, its end."""

    comm: Ref
    how: str
    unit: int
    """The displacement unit."""
    epochs: tuple[Epoch, ...]
    salt: int = 0
    lag: int = 0


Step = Make | Messages | Cancels | Nobody | Collective | Window


@dataclass(frozen=True)
class Program:
    """A program for so many ranks."""

    seed: int
    ranks: int
    steps: tuple[Step, ...] = field(default=())


def kind_of(step: Step) -> str:
    """How a step is counted in the summary."""
    match step:
        case Make():
            return f"make {step.how}"
        case Collective():
            prefix = {"": "", "I": "I", "init": "persistent "}[step.form]
            return f"{prefix}{step.name}"
        case Messages():
            return "messages" if step.rounds == 1 else "persistent messages"
        case Window():
            return f"window {step.how}"
        case _:
            return type(step).__name__.lower()
