"""Errors that a user can cause, and the exit codes that the command line answers with.

Errors of the simulator come from ``elanite._core``: ``ConfigError`` (a machine or experiment file, or an override, is
wrong; rendered with its place, what is allowed and a hint) and ``RunError`` (a point did not finish; it carries the
exit code). Everything else that a user can cause is an ``ElaniteError``.
"""

from enum import IntEnum

from elanite._core import ConfigError, RunError

__all__ = ["ConfigError", "ElaniteError", "Exit", "RunError", "UsageError"]


class Exit(IntEnum):
    """What the exit code of ``elanite`` means."""

    OK = 0
    """Everything ran; every claim that could be judged holds or is a known miss."""
    FAILED = 1
    """It ran, but a claim or a point failed (a point may have reached a stated bound)."""
    USAGE = 2
    """The command line, a machine file or an experiment file is wrong."""
    DEADLOCK = 3
    """A simulated network deadlocked; the message names the cycle of who waits for whom."""
    BROKEN = 4
    """A broken invariant of the simulator: a bug of ours, with the command that reproduces it."""
    INTERRUPTED = 130
    """Interrupted; the finished points are kept and the same command resumes."""


class ElaniteError(Exception):
    """Something that a user can cause and mend."""

    exit_code = Exit.FAILED


class UsageError(ElaniteError):
    """A wrong name, option or combination of them; the message says what is allowed."""

    exit_code = Exit.USAGE
