"""Errors that a user can cause, and the command line's exit codes.

All are ``ElaniteError``, and their texts are for people. The simulator raises two: ``ConfigError``
(a machine or experiment file, or an override, is wrong) and ``RunError`` (a point did not finish).
Errors can be pickled, because points may run in other processes.
"""

from __future__ import annotations

import json
from enum import IntEnum

__all__ = ["ConfigError", "ElaniteError", "Exit", "RunError", "UsageError"]


class Exit(IntEnum):
    """The meanings of ``elanite``'s exit codes."""

    OK = 0
    """Everything ran; every claim that could be judged holds or is a known miss."""
    FAILED = 1
    """The command ran, but a claim or a point failed (a point may have reached a stated bound)."""
    USAGE = 2
    """The command line, a machine file or an experiment file is wrong."""
    DEADLOCK = 3
    """A simulated network deadlocked; the message names the cycle of waiting packets."""
    BROKEN = 4
    """A broken invariant in the simulator: an Elanite bug, with the command that reproduces it."""
    INTERRUPTED = 130
    """Interrupted; the finished points are kept and the same command resumes."""


class ElaniteError(Exception):
    """An error that a user can cause and correct."""

    exit_code: int = Exit.FAILED


class UsageError(ElaniteError):
    """A wrong name, option or option combination; the message lists the allowed values."""

    exit_code = Exit.USAGE


class ConfigError(ElaniteError):
    """A machine file, an experiment file or an override is wrong.

    The text names file, line and column, the allowed values, and a hint.
    """

    exit_code = Exit.USAGE

    def __init__(self, text: str, problems: str = "[]") -> None:
        super().__init__(text, problems)

    def __str__(self) -> str:
        return str(self.args[0]).rstrip()

    @property
    def problems(self) -> list[dict[str, object]]:
        """The problems one by one, for programs: message, file, place, hint."""
        found: list[dict[str, object]] = json.loads(self.args[1])
        return found


class RunError(ElaniteError):
    """A point or a run did not finish; the exit code says why: a bound 1, a deadlock 3, our bug 4,
    a cancel 130.
    """

    def __init__(self, message: str, exit_code: int = Exit.FAILED) -> None:
        super().__init__(message, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return str(self.args[0])
