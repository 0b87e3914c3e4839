"""A program's steps, which all ranks execute in the same order.

A rank takes part in a step if it is in the step's communicator. Ranks are numbered in this
communicator, except where a communicator is made: there they are MPI_COMM_WORLD ranks. All values
are immutable, so that replacing parts of a program makes a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORLD = 0
"""MPI_COMM_WORLD's name among communicators."""


@dataclass(frozen=True, order=True)
class Ref:
    """A communicator: a variable's name, and an index among the variable's communicators on
    different ranks.
    """

    name: int = WORLD
    which: int = 0


@dataclass(frozen=True)
class Layout:
    """The memory layout of a basic datatype's elements; the salt chooses lengths and gaps."""

    kind: str
    salt: int


PLAIN = Layout("plain", 0)


@dataclass(frozen=True)
class Message:
    """One message in a step, with its datatype on either side.

    ``side`` is the sender's group in an inter-communicator. ``room`` is the receive's element
    count, smaller than the sent count if it is to be truncated. Receives in one ``wild`` group may
    find each other's messages.
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
    """The sender waits for its request after this many further messages; 0: at the end of the
    step.
    """
    receive_until: int = 0
    wild: str = ""
    """any source, any tag, any: receives that may find all messages in the group."""
    partitions: tuple[int, int] = (1, 1)
    shift: int = 0
    """Where buffers begin, in elements off an aligned address."""


@dataclass(frozen=True)
class Make:
    """Makes communicators.

    ``colors`` and ``keys`` are by MPI_COMM_WORLD rank; a colour below 0 joins none.
    """

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
    """Messages in flight together.

    ``rounds`` above 1: all requests are persistent, and start so often.
    """

    comm: Ref
    messages: tuple[Message, ...]
    finish: tuple[str, ...] = ("Waitall",)
    """By MPI_COMM_WORLD rank, repeated from the first one on."""
    rounds: int = 1
    lag: int = 0


@dataclass(frozen=True)
class Cancels:
    """Cancelled receives: some without a message, some that race with their messages."""

    comm: Ref
    pairs: tuple[tuple[int, int], ...]
    bytes: int
    racing: bool
    lag: int = 0


@dataclass(frozen=True)
class Nobody:
    """Messages to and from MPI_PROC_NULL, and completions of null requests."""

    comm: Ref
    salt: int
    lag: int = 0


@dataclass(frozen=True)
class Collective:
    """A collective operation. ``form`` is "", "I" (nonblocking) or "init" (persistent, ``rounds``
    times).

    ``units`` is the unit count that a rank gives to, or gets from, each other one, reduced by the
    salt in the forms that let ranks differ. A unit is ``per_unit`` elements of the basic datatype,
    or one value with a reduction's ``kind``.
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
    """A one-sided operation. ``at`` is the place in the target's window, exclusive to it within the
    epoch.

    Accumulates that share a place all have the same ``op`` and datatype, so that their order does
    not count.
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
