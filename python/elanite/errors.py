"""Errors that a user can cause, and the exit codes of the command line.

Errors of the simulator come from ``elanite._core``: ``ConfigError`` (a machine or experiment file, or an override, is
wrong; the text names the place and the allowed values, and gives a hint) and ``RunError`` (a point did not finish; the
error carries the exit code). All other errors that a user can cause are ``ElaniteError``.
"""

from enum import IntEnum

from elanite._core import ConfigError, RunError

__all__ = ["ConfigError", "ElaniteError", "Exit", "RunError", "UsageError"]


class Exit(IntEnum):
    """What the exit code of ``elanite`` means."""

    OK = 0
    """Everything ran; every claim that could be judged holds or is a known miss."""
    FAILED = 1
    """The command ran, but a claim or a point failed (a point may have reached a stated bound)."""
    USAGE = 2
    """The command line, a machine file or an experiment file is wrong."""
    DEADLOCK = 3
    """A simulated network deadlocked; the message names the cycle of waiting packets."""
    BROKEN = 4
    """A broken invariant of the simulator: a bug of Elanite, with the command that reproduces it."""
    INTERRUPTED = 130
    """Interrupted; the finished points are kept and the same command resumes."""


class ElaniteError(Exception):
    """An error that a user can cause and correct."""

    exit_code = Exit.FAILED


class UsageError(ElaniteError):
    """A wrong name, option or combination of options; the message lists the allowed values."""

    exit_code = Exit.USAGE
