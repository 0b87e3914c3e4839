"""The command line: ``python -m tests.library_fuzz --programs 20``."""

from __future__ import annotations

import argparse
import sys
import time

from .draw import LIBRARIES, draw
from .emit import emit
from .runs import again, look, shrink


def main(words: list[str] | None = None) -> int:
    """Returns the exit code: 1 if a program is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.library_fuzz",
        description=(
            "Random programs for OpenSHMEM and Elanlib against an oracle. Exit codes: 0 right, 1"
            " wrong."
        ),
    )
    parser.add_argument("--library", choices=LIBRARIES, action="append", help="only this library")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument(
        "--programs", type=int, default=8, help="how many seeds of each library (default: 8)"
    )
    parser.add_argument("--seconds", type=float, help="begin no more programs after this time")
    parser.add_argument(
        "--shrink-seconds", type=float, default=120, help="how long a wrong program is made smaller"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the programs in C, and run nothing"
    )
    given = parser.parse_args(words)
    if not 0 <= given.seed < 2**64:
        parser.error("--seed has 64 bits, from 0 on")
    begin = time.monotonic()
    count = 0
    for seed in range(given.seed, given.seed + given.programs):
        for library in given.library or LIBRARIES:
            if given.seconds is not None and time.monotonic() - begin > given.seconds:
                break
            program = draw(library, seed)
            if given.show:
                print(emit(program), end="")
                continue
            wrong = look(program)
            count += 1
            if wrong:
                print(
                    f"program {seed} of {library} on {' '.join(program.options) or 'es40-qsnet'}:"
                    f" {wrong}"
                )
                print(f"again: {again(program)}", flush=True)
                least, what = shrink(program, given.shrink_seconds)
                print(
                    f"{emit(least)}/* {what or 'not made smaller'}\n   elanite prun -n"
                    f" {least.ranks}",
                    *least.options,
                    "*/",
                )
                return 1
    if not given.show:
        print(f"{count} programs, each run twice, are as the oracle says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
