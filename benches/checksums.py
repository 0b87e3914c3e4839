"""Checksum overhead: the processor time of MPI program runs with and without them.

python benches/checksums.py            prints a table

A pair's runs follow each other on one core, in changing order, to minimise the effect of other
load; the table has the median of their ratios, and the interval that holds the median over all such
pairs with 95% probability (by resampling the pairs).
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.prefix) / "bin"
CASES = [
    ("8 B", 61, "messages 10000"),
    ("64 KB", 15, "ping --size 64KB --repeats 500"),
    ("1 MB", 15, "ping --size 1MB --repeats 100"),
    ("32 MB", 15, "ping --size 32MB --repeats 5"),
]
"""The message size, the count of run pairs, and the program with two ranks."""


def seconds(program: list[str], *options: str) -> float:
    """A run's processor time, simulator and ranks together."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    on = ("--machine", "es40-qsnet", "--collectives", "mpi")
    command = [f"{BIN}/elanite", "mpirun", "--quiet", "-n", "2", *on, *options, *program]
    one = partial(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))})
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, preexec_fn=one)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def ratios(program: list[str], network: str, pairs: int) -> list[float]:
    """The time with checksums over the time without, for each pair."""
    found = []
    for pair in range(pairs):
        words = ["--checksums", "--no-checksums"]
        times = {
            word: seconds(program, "--network", network, word)
            for word in words[:: 1 - pair % 2 * 2]
        }
        found.append(times["--checksums"] / times["--no-checksums"])
    return found


def main() -> None:
    """Prints the table."""
    draw = random.Random(0)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        for source in (
            "tests/mpi/messages.c tests/mpi/check.c",
            "benchmarks/mpi/ping.c benchmarks/mpi/bench.c",
        ):
            sources = [str(ROOT / name) for name in source.split()]
            made = f"{folder}/{Path(sources[0]).stem}"
            subprocess.run([f"{BIN}/mpicc", "-O2", "-o", made, *sources, "-lm"], check=True)
        print("size   network  pairs  processor time, median and interval")
        for size, pairs, words in CASES:
            name, *options = words.split()
            for network in ("machine", "ideal"):
                found = ratios([f"{folder}/{name}", *options], network, pairs)
                medians = sorted(
                    statistics.median(draw.choices(found, k=pairs)) for _ in range(2000)
                )
                most, least, median = (
                    medians[1950] - 1,
                    medians[50] - 1,
                    statistics.median(found) - 1,
                )
                print(
                    f"{size:5}  {network:7}  {pairs:5}  {median:+.1%} ({least:+.1%} to"
                    f" {most:+.1%})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
