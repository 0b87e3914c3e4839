"""How fast real MPI programs run: messages per second of wall time, and how long ranks take to start and to end.

python benches/mpirun.py            prints a table

Ranks are processes, so this is about the computer as a whole: it must be quiet, and its cores are counted. Of three
runs the fastest counts. `messages` exchanges messages of 8 bytes between pairs of ranks (tests/mpi/messages.c). Beside
it stands what 64 processes reach that do nothing but wake each other, one after the other (benches/turns.c): on one
core no simulator of processes is faster than its host at that.
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
"""Of each rank with its partner: enough for the start of the ranks not to count."""


def best(program: list[str], cores: set[int], *options: str) -> tuple[float, int]:
    """Seconds of wall time of the fastest run on these cores, and how many messages there were."""
    found = []
    with tempfile.TemporaryDirectory() as out:
        shown = ("--format", "json", "--collectives", "mpi")
        command = [BIN / "elanite", "mpirun", *shown, "--out", out, *options, *program]
        for _ in range(RUNS):
            stay = partial(os.sched_setaffinity, 0, cores)
            done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=stay)
            summary = json.loads(done.stderr.splitlines()[-1])
            found.append((summary["host_seconds"], summary["messages"]))
    return min(found)


def turns(program: str, cores: set[int]) -> float:
    """How many times a second processes of this host wake each other, one after the other."""
    stay = partial(os.sched_setaffinity, 0, cores)
    command = [program, "64", "2000"]
    hops = [subprocess.run(command, capture_output=True, check=True, preexec_fn=stay).stdout for _ in range(RUNS)]
    return 1e6 / min(float(microseconds) for microseconds in hops)


def main() -> None:
    """Prints the table."""
    every = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        make = ["make", "-s", "-C", ROOT / "tests/mpi", f"OUT={folder}", f"MPICC={BIN / 'mpicc'}"]
        subprocess.run(make, check=True)
        compiler = shutil.which("cc") or "gcc"
        subprocess.run([compiler, "-O2", "-o", f"{folder}/turns", ROOT / "benches/turns.c"], check=True)
        messages, empty = f"{folder}/messages", f"{folder}/empty"
        print("network  cores  ranks  messages  wall time, s  messages a second")
        for network in ("machine", "ideal"):
            for cores in (every, {min(every)}):
                seconds, sent = best([messages, EXCHANGES], cores, "-n", "64", "--network", network)
                rate = sent / seconds
                print(f"{network:7}  {len(cores):5}  {64:5}  {sent:8,}  {seconds:12.2f}  {rate:17,.0f}", flush=True)
        for cores in (every, {min(every)}):
            hops = turns(f"{folder}/turns", cores)
            print(f"64 processes wake each other {hops:,.0f} times a second; cores: {len(cores)}")
        seconds, _ = best([empty], every, "-n", "256", "--ranks-per-node", "4")
        print(f"256 ranks start and end an empty program in {seconds:.2f} s")


if __name__ == "__main__":
    main()
