"""Speed of real MPI programs: messages per second of wall time, and the ranks' start and end times.

python benches/mpirun.py            prints a table

Ranks are processes, so this measures the whole computer: it must be quiet, and its cores are
counted. The fastest of three runs counts. `messages` exchanges 8-byte messages between rank pairs
(tests/mpi/messages.c). The reference is 64 processes that only wake each other, one after the other
(benches/turns.c): on one core no process simulator is faster than its host at that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.prefix) / "bin"
RUNS = 3
EXCHANGES = "10000"
"""Per rank and partner: enough to make the ranks' start negligible."""


def best(program: list[str], cores: set[int], *options: str) -> tuple[float, int]:
    """Wall time in seconds for the fastest run on these cores, and the message count."""
    found = []
    with tempfile.TemporaryDirectory() as out:
        shown = ("--format", "json", "--collectives", "mpi")
        command = [BIN / "elanite", "mpirun", *shown, "--out", out, *options, *program]
        for _ in range(RUNS):
            stay = partial(os.sched_setaffinity, 0, cores)
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, preexec_fn=stay
            )
            summary = json.loads(done.stderr.splitlines()[-1])
            found.append((summary["host_seconds"], summary["messages"]))
    return min(found)


def turns(program: str, cores: set[int]) -> float:
    """Wake-ups per second between processes on this host, one after the other."""
    stay = partial(os.sched_setaffinity, 0, cores)
    command = [program, "64", "2000"]
    hops = [
        subprocess.run(command, capture_output=True, check=True, preexec_fn=stay).stdout
        for _ in range(RUNS)
    ]
    return 1e6 / min(float(microseconds) for microseconds in hops)


def main() -> None:
    """Prints the table."""
    every = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        make = ["make", "-s", "-C", ROOT / "tests/mpi", f"OUT={folder}", f"MPICC={BIN / 'mpicc'}"]
        subprocess.run(make, check=True)
        compiler = shutil.which("cc") or "gcc"
        subprocess.run(
            [compiler, "-O2", "-o", f"{folder}/turns", ROOT / "benches/turns.c"], check=True
        )
        messages, empty = f"{folder}/messages", f"{folder}/empty"
        print("network  cores  ranks  messages  wall time, s  messages a second")
        for network in ("machine", "ideal"):
            for cores in (every, {min(every)}):
                seconds, sent = best([messages, EXCHANGES], cores, "-n", "64", "--network", network)
                rate = sent / seconds
                print(
                    f"{network:7}  {len(cores):5}  {64:5}  {sent:8,}  {seconds:12.2f} "
                    f" {rate:17,.0f}",
                    flush=True,
                )
        for cores in (every, {min(every)}):
            hops = turns(f"{folder}/turns", cores)
            print(f"64 processes wake each other {hops:,.0f} times a second; cores: {len(cores)}")
        seconds, _ = best([empty], every, "-n", "256", "--ranks-per-node", "4")
        print(f"256 ranks start and end an empty program in {seconds:.2f} s")


if __name__ == "__main__":
    main()
