"""Passes the output of the ranks on, at once and unchanged, and takes out what mpiexec itself says about their end.

MPICH's hydra writes on the same pipes as the ranks: a banner about bad termination, the status of each rank, complaints
about helpers that it killed. These lines are taken out, and ``Reports`` keeps their contents; instead of these lines,
the reader gets one message of Elanite. A line is held back only while it can still become one of these lines.
"""

from __future__ import annotations

import os
import re
import select
import threading
from dataclasses import dataclass, field
from typing import IO

_RULE = b"=" * 83
_HEAD = b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
_TAIL = (
    b"YOUR APPLICATION TERMINATED WITH THE EXIT STRING:",
    b"This typically refers to a problem with your application.",
    b"Please see the FAQ page for debugging suggestions",
)
_CODES = re.compile(rb"\[mpiexec@[^\]]*\] Exit codes: (.*)")
_PID = re.compile(rb"=\s+PID (\d+) RUNNING AT")
_ABORT = re.compile(rb"Abort\((-?\d+)\) on node (\d+) \(rank \d+ in comm \d+\): (.*)")
_COMPLAINT = re.compile(rb"\[(?:proxy:[^\]]*|mpiexec@[^\]]*)\] ")

_OWN = (_RULE, _HEAD, *_TAIL, b"[mpiexec@", b"[proxy:", b"Abort(")
"""The beginnings of lines that mpiexec writes, or that a rank writes at its end."""


_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_CHUNK = 1 << 16
_SOON = 0.05


@dataclass
class Reports:
    """What was said about the end of ranks."""

    statuses: dict[int, int] = field(default_factory=dict)
    """How ranks ended, as ``waitpid`` tells it: 256 times the exit code, or a signal."""
    pid: int | None = None
    """The process that the banner names."""
    abort: tuple[int, int, str] | None = None
    """The first rank that ended all ranks by MPI, its code, and its message."""
    complaints: list[str] = field(default_factory=list)
    """What mpiexec and its helper reported about themselves."""


class Filter:
    """Takes the lines of mpiexec out of one stream."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._held = b""
        """The start of a line that is not passed on yet."""
        self._rule = b""
        """A rule that begins a banner, or belongs to the program."""
        self._in_line = False
        """Whether the start of the line has been passed on."""
        self._in_banner = False

    def feed(self, data: bytes) -> bytes:
        """The bytes to pass on after these new bytes."""
        out = []
        lines = _LINE.findall(self._held + data)
        self._held = b""
        for index, line in enumerate(lines):
            whole = line.endswith(b"\n")
            last = index + 1 == len(lines)
            if self._in_line:
                out.append(line)
                self._in_line = not whole
            elif line == b"\n" and last:
                self._held = line
            elif whole:
                # There is a blank line before a banner.
                if line == b"\n" and _RULE.startswith(lines[index + 1].rstrip(b"\n")) and lines[index + 1] != b"\n":
                    lines[index + 1] = line + lines[index + 1]
                else:
                    out.append(self._line(line))
            elif self._may_be_own(line):
                self._held = line
            else:
                out.append(self._rule + line)
                self._rule, self._in_line = b"", True
        return b"".join(out)

    @property
    def holds_blank_line(self) -> bool:
        """Whether a blank line is held back, which is not for long."""
        return self._held == b"\n"

    def finish(self) -> bytes:
        """The bytes to pass on at the end of the stream."""
        held, self._held = self._held, b""
        out = self._line(held) if held else b""
        rule, self._rule = self._rule, b""
        return out + rule

    def _may_be_own(self, start: bytes) -> bool:
        start = start.removeprefix(b"\n")
        return self._in_banner or any(own.startswith(start) or start.startswith(own) for own in _OWN)

    def _line(self, line: bytes) -> bytes:
        """The bytes to pass on of a whole line."""
        text = line.strip(b"\r\n")
        if self._in_banner:
            found = _PID.match(text)
            if found and self._reports.pid is None:
                self._reports.pid = int(found[1])
            self._in_banner = text != _RULE
            return b""
        rule, self._rule = self._rule, b""
        if rule and text == _HEAD:
            self._in_banner = True
            return b""
        if text == _RULE:
            self._rule = line
            return rule
        return rule + (b"" if self._is_report(text) else line)

    def _is_report(self, text: bytes) -> bool:
        """Records what a line of mpiexec says; returns whether the line is taken out."""
        reports = self._reports
        if codes := _CODES.fullmatch(text):
            statuses = re.findall(rb"\d+", re.sub(rb"\[[^\]]*\]", b"", codes[1]))
            reports.statuses = {rank: int(status) for rank, status in enumerate(statuses)}
            return True
        if abort := _ABORT.fullmatch(text):
            if reports.abort is None:
                reports.abort = (int(abort[2]), int(abort[1]), abort[3].decode(errors="replace"))
            return False
        if _COMPLAINT.match(text):
            reports.complaints.append(text.decode(errors="replace"))
            return True
        return text.startswith(_TAIL)


class Pump:
    """A thread that passes one stream on, from a pipe to a descriptor of this process."""

    def __init__(self, source: IO[bytes], target: int, reports: Reports) -> None:
        self.broken = False
        """Whether nobody reads the target any more."""
        self._source = source
        self._target = target
        self._filter = Filter(reports)
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait until all is passed on, but no longer than this time."""
        self._thread.join(seconds)

    def _run(self) -> None:
        # Without a reader the pipe is closed, and a rank that writes ends as without the simulator: by SIGPIPE.
        with self._source:
            try:
                handle = self._source.fileno()
                while True:
                    # mpiexec writes soon after a blank line; otherwise the blank line is the program's.
                    if self._filter.holds_blank_line and not select.select([handle], [], [], _SOON)[0]:
                        _write(self._target, self._filter.finish())
                    data = os.read(handle, _CHUNK)
                    if not data:
                        break
                    _write(self._target, self._filter.feed(data))
                _write(self._target, self._filter.finish())
            except BrokenPipeError:
                self.broken = True


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
