"""Standard input, output and error: closed ones, alphabets that lack signs, and control characters
in foreign text.

A program may be started with closed descriptors (``2>&-``). The next file that it opens then has
their number, and would receive the output for people. So the null device takes their place, first
of all. Standard output is opened for reading only, so that writing to it is an error, as it is for
other programs: data would be lost.

A locale whose alphabet lacks a sign does not end a command: the sign is replaced.

Names in users' files, and libraries' messages about them, may contain control characters, which
make a terminal change its title, its colours, or text that stands there already. ``shown`` replaces
them by the symbols that Unicode has for them, as the simulator does in its errors.
"""

from __future__ import annotations

import os
import sys

_OTHERS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029"
"""Characters that change the text direction, or end a line."""
_SYMBOLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_SYMBOLS |= {0x7F: 0x2421} | dict.fromkeys((*range(0x80, 0xA0), *map(ord, _OTHERS)), 0xFFFD)


def shown(text: str) -> str:
    """The text with symbols in place of control characters, except for line ends and tabulators."""
    return text.translate(_SYMBOLS)


def printable(text: str) -> str:
    """Data for standard output: exact, but as ``shown`` on a terminal."""
    return shown(text) if sys.stdout.isatty() else text


def settle() -> None:
    """Give closed standard streams a place, and let the others replace signs that they cannot
    encode.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - a descriptor is no path
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def discard_output(number: int = 1) -> None:
    """Discard the remaining standard output, or standard error (2)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
