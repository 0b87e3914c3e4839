"""The command line: ``python -m tests.mpi_fuzz --seconds 60``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .draw import draw
from .emit import emit
from .fuzz import Options, search


def main(words: list[str] | None = None) -> int:
    """Returns the exit code; the wrong words end with 2."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mpi_fuzz",
        description="Random MPI programs, natively and simulated.",
        epilog=(
            "Exit codes: 0 no difference, 1 a difference, no program compared or too many that fail"
            " natively, 2 wrong words. ELANITE_FUZZ_COMMAND=/path/to/elanite in the environment"
            " names another command to test than that of this Python."
        ),
    )
    parser.add_argument("--seconds", type=float, help="begin no more programs after this time")
    parser.add_argument(
        "--programs", type=int, help="how many programs; without it and --seconds: 16"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first program; the others follow (default: 0)"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="a folder for the executables and a program that differs",
    )
    parser.add_argument(
        "--native-only", action="store_true", help="do not simulate: is the fuzz itself right?"
    )
    parser.add_argument(
        "--shrink-seconds",
        type=float,
        default=120,
        help="how long a difference is made smaller (default: 120)",
    )
    parser.add_argument("--differences", type=int, default=1, help="end after so many (default: 1)")
    parser.add_argument("--jobs", type=int, default=2, help="batches at a time (default: 2)")
    parser.add_argument(
        "--slow", type=float, default=1, help="what limits of time are multiplied with (default: 1)"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the program of the seed in C, and run nothing"
    )
    given = parser.parse_args(words)
    if (
        not 0 <= given.seed < 2**64
        or given.jobs < 1
        or (given.programs is not None and given.programs < 1)
    ):
        parser.error("--seed has 64 bits, from 0 on, --jobs and --programs are 1 or more")
    if given.show:
        print(emit([draw(given.seed)], f"Program {given.seed}.", whole=True), end="")
        return 0
    programs = 16 if given.programs is None and given.seconds is None else given.programs
    options = Options(
        seed=given.seed,
        seconds=given.seconds,
        programs=programs,
        keep=given.keep,
        native_only=given.native_only,
        differences=given.differences,
        shrink_seconds=given.shrink_seconds,
        jobs=given.jobs,
        slow=given.slow,
    )
    summary = search(options, lambda text: print(text, file=sys.stderr, flush=True))
    for one in summary.differences:
        print(one.source)
        print(f"program {one.program.seed} on {one.configuration.name}: {one.what}")
        if given.keep is not None:
            (given.keep / f"difference-{one.program.seed}.c").write_text(
                one.source, encoding="utf-8"
            )
    print(summary)
    most = max(3, summary.programs // 200)
    if len(summary.unfit) > most:
        print(
            f"too many programs fail natively, so the fuzz may be wrong: {len(summary.unfit)},"
            f" allowed are {most}"
        )
    if summary.programs == 0:
        print("no program was compared")
    return 1 if summary.differences or len(summary.unfit) > most or summary.programs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
