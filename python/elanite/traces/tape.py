"""A rank's block, written in a recorded program's call order.

An operation starts when the call before it has started (``irequires``), and when all operations
have ended that the program had seen end before (``requires``). A non-blocking receive is known only
when it ends: ``reserve`` keeps its place in the order, and ``define`` writes it when it is known.
The lines leave memory as they come; one entry stays for each open receive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite.traces.collectives import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class TapePlace:
    """A place in a rank's call order, for one operation."""

    number: int
    starts: int | None
    """The operation that must have started."""
    ends: tuple[int, ...]
    """The operations that must have ended."""
    later: list[int] = field(default_factory=list)
    """Operations that wait for this one's start, until it is defined."""


class Tape(Block):
    """A rank's block in the making."""

    def __init__(self) -> None:
        super().__init__()
        self._before: int | None = None
        self._seen: list[int] = []
        self._open: dict[int, TapePlace] = {}

    def reserve(self) -> TapePlace:
        """The next place in call order."""
        place = TapePlace(self._count, self._before, tuple(dict.fromkeys(self._seen)))
        self._count += 1
        self._before, self._seen = place.number, []
        self._open[place.number] = place
        return place

    def define(self, place: TapePlace, operation: str) -> int:
        """Write a place's operation; returns its number."""
        number = place.number
        self.lines.append(f"l{number}: {operation}")
        self.lines.extend(f"l{number} requires l{other}" for other in place.ends)
        if place.starts is not None and place.starts not in place.ends:
            if place.starts in self._open:
                self._open[place.starts].later.append(number)
            else:
                self.lines.append(f"l{number} irequires l{place.starts}")
        self.lines.extend(f"l{other} irequires l{number}" for other in place.later)
        del self._open[number]
        return number

    def put(self, operation: str) -> int:
        """Write an operation in the next place."""
        return self.define(self.reserve(), operation)

    def saw(self, ended: Sequence[int]) -> None:
        """The program has seen these operations end: the next one waits for them."""
        self._seen += ended

    def taken(self) -> Iterator[str]:
        """The lines so far, which leave memory."""
        lines, self.lines = self.lines, []
        return (f"{line}\n" for line in lines)
