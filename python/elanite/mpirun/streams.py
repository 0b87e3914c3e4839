"""Passes the ranks' output on, immediately and unchanged, and keeps the reports on their ends.

Three pipes come from mpiexec: all ranks' standard output and standard error, and the reports from
Elanite's process manager, a JSON line each. A rank that fails in MPI writes a line about the error
on standard error. The line is passed on like all others, and its words stand in the message about
the run's end.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ABORT = re.compile(
    rb"^Abort\((-?\d+)\) on node (\d+) \(rank \d+ in comm \d+\): (.*)$", re.MULTILINE
)

_CHUNK = 1 << 16
_LONGEST = 1 << 12
"""The most bytes in a line about an error."""


@dataclass
class Reports:
    """Reports about the ranks' ends."""

    statuses: dict[int, int] = field(default_factory=dict)
    """Wait statuses by rank, as from ``waitpid``: 256 times the exit code, or a signal.

    In the order of the ends.
    """
    fatal: int | None = None
    """The rank whose end made the process manager end all others."""
    abort: tuple[int, int, str] | None = None
    """The first rank that ended all ranks by MPI, its code, and its message."""
    stalled: str = ""
    """The ranks whose start makes no progress, and those that wait for them; empty without any."""
    orphans: list[int] = field(default_factory=list)
    """Ranks whose process ended before ``MPI_Init``, and left a child with the connection."""
    complaints: list[str] = field(default_factory=list)
    """Ranks that the process manager could not start, and requests outside its protocol."""

    def note(self, line: bytes) -> None:
        """Take a report from the process manager."""
        about = json.loads(line)
        match about["event"]:
            case "ended":
                self.statuses[about["rank"]] = about["status"]
            case "orphan":
                self.orphans.append(about["rank"])
            case "fatal":
                self.fatal = about["rank"]
            case "aborted":
                self.abort = self.abort or (about["rank"], about["code"], "")
            case "failed":
                self.complaints.append(f"rank {about['rank']}: {about['why']}")
            case "stalled":
                self.stalled = about["why"]

    def error(self, rank: int, code: int, words: str) -> None:
        """Take a rank's words about an MPI error; the first rank that ended all ranks counts."""
        if self.abort is None or (self.abort[0] == rank and not self.abort[2]):
            self.abort = (rank, code, words)


class Scanner:
    """Looks for lines about MPI errors in a stream."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._line = b""
        """The last line's start."""

    def feed(self, data: bytes) -> None:
        """Look at the next bytes."""
        *lines, last = (self._line + data).split(b"\n")
        self._line = last[:_LONGEST]
        for line in lines:
            if line.startswith(b"Abort(") and (found := _ABORT.match(line)):
                self._reports.error(int(found[2]), int(found[1]), found[3].decode(errors="replace"))


class Listener:
    """A thread that takes the process manager's reports from a pipe, until the pipe is closed."""

    def __init__(self, source: IO[bytes], reports: Reports) -> None:
        self._source = source
        self._reports = reports
        self._thread = threading.Thread(target=self._run, name="reports", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait until all reports have come, but no longer than this time."""
        self._thread.join(seconds)

    def _run(self) -> None:
        with self._source:
            for line in self._source:
                if line.endswith(b"\n"):  # a killed manager may leave a partial line
                    self._reports.note(line)


class Pump:
    """A thread that passes one stream on, from a pipe to a descriptor in this process."""

    def __init__(
        self,
        source: IO[bytes],
        target: int,
        reports: Reports,
        hide: Callable[[], None] = lambda: None,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._hide = hide
        self._end = end
        self.broken = False
        """Whether the target has lost its reader."""
        self.failed: OSError | None = None
        """Why the target takes no more: a full disk, or a closed descriptor."""
        self._source = source
        self._target = target
        self._scanner = Scanner(reports)
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait until all is passed on, but no longer than this time."""
        self._thread.join(seconds)

    def _run(self) -> None:
        with self._source:
            try:
                while data := os.read(self._source.fileno(), _CHUNK):
                    self._hide()
                    if not self.broken:
                        self._pass_on(data)
                    self._scanner.feed(data)
            except OSError as error:
                self.failed = error

    def _pass_on(self, data: bytes) -> None:
        """Write the data; without a reader the run ends. Ranks that write meanwhile do not see
        that, and so have no error of their own to report.
        """
        try:
            _write(self._target, data)
        except BrokenPipeError:
            self.broken = True
            self._end()


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
