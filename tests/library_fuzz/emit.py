"""A program as C: the frame is the same for both libraries, and each of them has an emitter for its
calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from . import elanlib, shmem
from .steps import SIZE, Await, Collective, Delay, Operation, Operations, Program, Signal

if TYPE_CHECKING:
    from collections.abc import Iterable

PRELUDE = Path(__file__).parent


class Emitter(Protocol):
    """A library's parts: its prelude's name, and lines of C."""

    COMPILER: str

    def begin(self, program: Program) -> list[str]:
        """Lines that make the groups."""

    def operation(self, one: Operation) -> str:
        """The rank's call."""

    def end(self, rank: int, step: Operations, /) -> list[str]:
        """Lines with which a rank waits for all ends of a step."""

    def collective(self, program: Program, call: Collective, /) -> str:
        """A member's call."""


def emitter(library: str) -> Emitter:
    return shmem if library == "shmem" else elanlib


def emit(program: Program) -> str:
    """The program text. Each step is a function with a branch per rank."""
    how = emitter(program.library)
    numbers = [
        one.number
        for step in program.steps
        if isinstance(step, Operations)
        for _, one in step.all
        if isinstance(one, Signal)
    ]
    text = [
        (
            f"/* Program {program.seed} of the random programs for {program.library},"
            f" {program.ranks} ranks. */"
        ),
        (
            f"enum {{ SIZE = {SIZE}, SIGNALS = {max(numbers, default=0) + 1}, GROUPS ="
            f" {len(program.groups)} }};"
        ),
        f'#include "prelude_{program.library}.h"',
    ]
    for number, step in enumerate(program.steps):
        body: list[str] = []
        if isinstance(step, Operations):
            for rank in range(program.ranks):
                mine = [one for _, one in step.all if one.rank == rank]
                lines = [*(line(how, one) for one in mine), *how.end(rank, step)]
                body += branch(f"me == {rank}", lines)
        else:
            for call in step.all:
                members = " || ".join(
                    f"me == {rank}" for rank in program.groups[call.group].members
                )
                body += branch(members, [how.collective(program, call)])
        text += [f"static void step_{number}(void)", "{", *body, "}"]
    text += ["int main(void)", "{", "    begin();"]
    text += [f"    {one}" for one in how.begin(program)]
    for number in range(len(program.steps)):
        text.append(f"    step_{number}(); record();")
    text += ["    return finish();", "}"]
    return "\n".join(text) + "\n"


def branch(condition: str, lines: Iterable[str]) -> list[str]:
    return [f"    if ({condition}) {{", *(f"        {one}" for one in lines if one), "    }"]


def line(how: Emitter, one: Operation) -> str:
    if isinstance(one, Delay):
        return f"delay({one.time});"
    if isinstance(one, Await):
        wait = f"await_by_{one.how}({one.signal.number});"
        source, target = one.signal.theirs, one.copy
        return (
            f"{wait} memcpy({target.region} + {target.offset}, {source.region} + {source.offset},"
            f" {one.signal.bytes});"
        )
    return how.operation(one)
