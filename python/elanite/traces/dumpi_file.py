"""DUMPI text, as SST's ``dumpi2ascii`` writes it: a rank's MPI calls, one after the other.

A call begins with ``MPI_Recv entering at walltime ...``, has an argument on each line
(``int source=3``) and ends with ``MPI_Recv returning at walltime ...``. Lines outside calls are
counts and comments, and are skipped. Times are in nanoseconds. Errors name the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from elanite.base import packed
from elanite.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BOUND = re.compile(
    r"(MPIO?_\w+) (entering|returning) at walltime (\d+)\.(\d{9}), .* in thread (\d+)\."
)
_STAMP = re.compile(r"MPIO?_\w+ (entering|returning) at walltime ")
_ARGUMENT = re.compile(r"[\w ]*?(\w+)(?:\[-?\d+\])?=(.*)")
_WHOLE = re.compile(r"-?\d{1,18}", re.A)
_STATUS = re.compile(r"bytes=(-?\d+), cancelled=(-?\d+), source=(-?\d+), tag=(-?\d+)")
SIZES = {
    **dict.fromkeys(("CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR", "BYTE", "PACKED"), 1),
    **dict.fromkeys(("SHORT", "UNSIGNED_SHORT"), 2),
    **dict.fromkeys(("INT", "UNSIGNED", "FLOAT", "WCHAR"), 4),
    **dict.fromkeys(
        ("LONG", "UNSIGNED_LONG", "DOUBLE", "LONG_LONG_INT", "UNSIGNED_LONG_LONG", "LONG_LONG"), 8
    ),
    **dict.fromkeys(("FLOAT_INT", "2INT"), 8),
    **dict.fromkeys(("DOUBLE_INT", "LONG_INT", "LONG_DOUBLE"), 16),
    "SHORT_INT": 6,
    "LONG_DOUBLE_INT": 20,
    **dict.fromkeys(("LB", "UB"), 0),
}
"""Elementary type sizes in bytes, on machines with 64 bits, by name behind ``MPI_``."""


@dataclass
class DumpiCall:
    """A rank's MPI call."""

    path: Path
    line: int
    name: str
    begin: int
    """When it began, in ns."""
    end: int = 0
    arguments: dict[str, str] = field(default_factory=dict)

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for this call."""
        raise RunError(f"{self.path}:{self.line}: {self.name}: {what}")

    def text(self, name: str) -> str:
        """An argument's value, as it stands there."""
        if name not in self.arguments:
            self.refuse(f"there is no argument `{name}`")
        return self.arguments[name]

    def numbers(self, name: str) -> list[int]:
        """An argument's numbers; empty for one that MPI ignores."""
        words = re.findall(r"[^\s,\[\]{}]+", re.sub(r"\([^)]*\)", "", self.text(name)))
        found = [one for one in words if re.match(r"-?\d", one)]
        if wrong := [one for one in found if not _WHOLE.fullmatch(one)]:
            self.refuse(f"`{name}` has {wrong[0][:40]}, which is no whole number of 64 bits")
        return [int(one) for one in found]

    def number(self, name: str) -> int:
        """An argument's number."""
        found = self.numbers(name)
        if len(found) != 1:
            self.refuse(f"`{name}` is {self.text(name)}, and must be a number")
        return found[0]

    def named(self, name: str) -> str:
        """The name in parentheses behind an argument's number: ``MPI_INT``."""
        found = re.search(r"\((\S+)\)", self.text(name))
        return found[1] if found else ""

    def statuses(self, name: str) -> list[tuple[int, int]]:
        """Each status's source and tag; empty if the program ignores them."""
        return [
            (int(source), int(tag))
            for _, _, source, tag in _STATUS.findall(self.arguments.get(name, ""))
        ]


def calls(path: Path) -> Iterator[DumpiCall]:
    """A rank's calls, in their order. Raises ``RunError``."""
    call: DumpiCall | None = None
    last = 0
    with packed.opened(path) as (file, _):
        for number, content in enumerate(file, 1):
            line = content.decode("utf-8", "replace").removeprefix("\ufeff").strip()
            bound = _BOUND.fullmatch(line)
            if bound is None:
                if _STAMP.match(line):
                    raise RunError(
                        f"{path}:{number}: `{line[:60]}` has no walltime with nine digits and a"
                        " thread; give the output of dumpi2ascii as it is"
                    )
                if call is not None and (found := _ARGUMENT.fullmatch(line)):
                    call.arguments[found[1]] = found[2]
                continue
            name, way, seconds, fraction, thread = bound.groups()
            at = int(seconds) * 10**9 + int(fraction)
            if thread != "0":
                raise RunError(
                    f"{path}:{number}: {name} is called in thread {thread}; calls of thread 0 alone"
                    " are read"
                )
            if (way == "entering") != (call is None) or (call is not None and call.name != name):
                raise RunError(
                    f"{path}:{number}: {name} is {way} within another call; copy the file again"
                )
            if at < last:
                raise RunError(
                    f"{path}:{number}: {name}: the clock goes back; record the trace again"
                )
            last = at
            if call is None:
                call = DumpiCall(path, number, name, at)
            else:
                call.end = at
                yield call
                call = None
    if call is not None:
        call.refuse("the file ends within this call; copy it again")
