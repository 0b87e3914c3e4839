"""The commands ``oshcc`` and ``elancc``: the C compiler, with the flags for programs of the
simulated libraries.

All libraries are one shared object, which ranks load anyway. Headers lie in ``include``. In ``lib``
are scripts by which the linker finds the libraries under their own names.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from elanite.errors import Exit, UsageError
from elanite.mpirun.launcher import library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PACKAGE = Path(__file__).resolve().parents[1]

_NO_LINK = {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"}
"""Options without a link step."""

_SHOW = ("-show", "--showme", "-showme")
"""Options that print the command instead, as in MPI libraries' compilers."""


def flags_to_compile() -> list[str]:
    """Where the headers are."""
    return [f"-I{PACKAGE / 'include'}"]


def flags_to_link(names: Sequence[str]) -> list[str]:
    """Where the libraries are, for the linker and for the program.

    Raises ``UsageError`` if they are not built.
    """
    network = library()
    folders = [f"-L{PACKAGE / 'lib'}", f"-L{network.parent}", f"-Wl,-rpath,{network.parent}"]
    return [*folders, *(f"-l{name}" for name in names)]


def command(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """The compiler's command line, without the options that only print it."""
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    given = [word for word in words if word.partition(":")[0] not in _SHOW]
    # Without a file there is no link step: the compiler prints its usual message.
    links = any(not word.startswith("-") for word in given) and not _NO_LINK & set(given)
    return [*compiler, *flags_to_compile(), *given, *(flags_to_link(names) if links else [])]


def run(names: Sequence[str], words: Sequence[str]) -> NoReturn:
    """Compile, or print the command line."""
    try:
        for word in words:
            show, _, part = word.partition(":")
            if show not in _SHOW:
                continue
            shown: dict[str, Callable[[], list[str]]] = {
                "compile": flags_to_compile,
                "link": lambda: flags_to_link(names),
                "": lambda: command(names, [*words, "program.c"] if len(words) == 1 else words),
            }
            if part not in shown:
                raise UsageError(f"{word}: write {show}, {show}:compile or {show}:link")
            sys.stdout.write(shlex.join(shown[part]()) + "\n")
            sys.exit(Exit.OK)
        line = command(names, words)
        os.execvp(line[0], line)  # noqa: S606 - it is the user's compiler
    except UsageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(Exit.USAGE)
    except OSError as error:
        sys.stderr.write(
            f"error: the C compiler {line[0]} cannot be run: {error.strerror}; name another:"
            " CC=...\n"
        )
        sys.exit(Exit.USAGE)


def oshcc() -> NoReturn:
    """Compile a program for OpenSHMEM."""
    run(["sma"], sys.argv[1:])


def elancc() -> NoReturn:
    """Compile a program for Elanlib or Elan3lib."""
    run(["elan", "elan3"], sys.argv[1:])
