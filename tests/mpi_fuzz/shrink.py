"""Makes a program that shows a difference as small as it can be, within bounded time.

Steps are removed, then ranks, then messages and accesses within steps; then the rest is simplified.
``fit`` makes the smaller program correct. The smaller program replaces the larger one if it still
shows any difference.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from .fit import fit
from .steps import PLAIN, Cancels, Collective, Message, Messages, Program, Ref, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .steps import Step

T = TypeVar("T")

SIMPLER = (0, 1, 256, 1024, 8192, 65536)
"""Sizes that a size is replaced by, where they are smaller."""


def shrink(program: Program, fails: Callable[[Program], bool], seconds: float) -> Program:
    """The smallest program found that still fails."""
    end = time.monotonic() + seconds
    tried: set[Program] = {program}
    again = True
    while again:
        again = False
        for smaller in candidates(program):
            if time.monotonic() > end:
                return program
            fitted = fit(smaller)
            if fitted in tried or not fitted.steps:
                continue
            tried.add(fitted)
            if fails(fitted):
                program, again = fitted, True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, those that lack most first."""
    steps = program.steps
    yield from (replace(program, steps=fewer) for fewer in _fewer(steps))
    yield _renamed(program)
    for ranks in sorted({2, program.ranks // 2, program.ranks - 1}):
        if 2 <= ranks < program.ranks:
            yield replace(program, ranks=ranks)
    for number, step in enumerate(steps):
        for simpler in _steps(step):
            if simpler != step:
                yield replace(program, steps=(*steps[:number], simpler, *steps[number + 1 :]))


def _renamed(program: Program) -> Program:
    """MPI_COMM_WORLD messages between the lowest ranks."""
    all_ = [one for step in program.steps if isinstance(step, Messages) for one in step.messages]
    used = sorted({one.source for one in all_} | {one.to for one in all_})
    if not all(isinstance(step, Messages) and step.comm == Ref() for step in program.steps):
        return program
    steps = [
        replace(
            step,
            messages=tuple(
                replace(one, source=used.index(one.source), to=used.index(one.to))
                for one in step.messages
            ),
        )
        for step in program.steps
        if isinstance(step, Messages)
    ]
    return replace(program, steps=tuple(steps))


def _steps(step: Step) -> Iterator[Step]:
    if step.lag:
        yield replace(step, lag=0)
    match step:
        case Messages():
            yield from (replace(step, messages=fewer) for fewer in _fewer(step.messages))
            yield replace(step, comm=Ref())
            yield replace(step, rounds=1)
            yield replace(step, finish=("Waitall",))
            for number, one in enumerate(step.messages):
                for simpler in _messages(one):
                    yield replace(
                        step,
                        messages=(*step.messages[:number], simpler, *step.messages[number + 1 :]),
                    )
        case Cancels():
            yield from (
                replace(step, pairs=step.pairs[:one] + step.pairs[one + 1 :])
                for one in range(len(step.pairs))
            )
            yield from (replace(step, bytes=size) for size in SIMPLER if size < step.bytes)
        case Collective():
            yield replace(step, comm=Ref())
            yield replace(step, form="", rounds=1)
            yield replace(step, rounds=1)
            yield replace(step, in_place=False)
            yield replace(step, layouts=(PLAIN,))
            yield replace(step, basic="MPI_BYTE", per_unit=1)
            yield from (replace(step, units=size) for size in SIMPLER if size < step.units)
            yield replace(step, units=step.units // 2)
        case Window():
            yield from _windows(step)


def _fewer(all_: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Without one part: halves first, single ones last."""
    size = len(all_) // 2
    while size:
        for first in range(0, len(all_), size):
            yield all_[:first] + all_[first + size :]
        size //= 2


def _messages(one: Message) -> Iterator[Message]:
    yield replace(one, out=PLAIN, into=PLAIN)
    yield replace(one, out=PLAIN)
    yield replace(one, into=PLAIN)
    yield replace(one, send="Send", receive="Recv", early=False)
    yield replace(one, send="Isend")
    yield replace(one, send="Send")
    yield replace(one, receive="Irecv")
    yield replace(one, receive="Recv", early=False)
    yield replace(one, send_until=0, receive_until=0)
    yield replace(one, shift=0)
    yield replace(one, wild="")
    yield replace(one, basic="MPI_BYTE")
    yield replace(one, partitions=(1, 1))
    if one.room > one.elements:
        yield replace(one, room=one.elements)
    for size in (*SIMPLER, one.elements // 2):
        if size < one.elements:
            yield replace(one, elements=size, room=max(0, one.room - one.elements + size))


def _windows(step: Window) -> Iterator[Window]:
    epochs = step.epochs
    yield from (
        replace(step, epochs=epochs[:one] + epochs[one + 1 :]) for one in range(len(epochs))
    )
    yield replace(step, comm=Ref())
    yield replace(step, how="create", unit=1)
    for number, epoch in enumerate(epochs):
        simpler = []
        for one, access in enumerate(epoch.accesses):
            rest = epoch.accesses[:one], epoch.accesses[one + 1 :]
            simpler.append(rest[0] + rest[1])
            changed = [
                replace(access, out=PLAIN, into=PLAIN),
                replace(access, request=False),
                replace(access, shift=0),
            ]
            changed += [
                replace(access, elements=size) for size in SIMPLER if 0 < size < access.elements
            ]
            simpler += [(*rest[0], other, *rest[1]) for other in changed if other != access]
        for accesses in simpler:
            yield replace(
                step,
                epochs=(*epochs[:number], replace(epoch, accesses=accesses), *epochs[number + 1 :]),
            )
