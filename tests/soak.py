"""All fuzzers in turn, for hours, and the record of the runs: ``make soak HOURS=24``.

A turn is one Makefile target with a first seed drawn from 63 bits, so that no two turns anywhere
begin with the same cases, and the following seeds cannot leave 64 bits. ``benches/soak.tsv`` gets a
line for each finished turn: time, commit and whether the checkout has changes, target, seed and
seconds, and outcome. The file is in the repository, so that each release has its own soak's seeds.
A turn with a finding ends the soak; its output shows how to reproduce the case.
"""

from __future__ import annotations

import argparse
import datetime
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / "benches" / "soak.tsv"
TARGETS = ("swarm", "fuzz", "fuzz-mpi", "fuzz-libraries", "fuzz-inputs")
HEAD = "ended\tcommit\ttarget\tseed\tseconds\tresult\n"
TURN = 600
"""Seconds per turn."""


def commit() -> str:
    """The checkout's commit, with a mark if files differ from it."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def turn(target: str, seconds: int, log: Path, make: Sequence[str] = ("make",)) -> bool:
    """Run a fuzzer, and add its line to the record; returns whether it had no finding."""
    seed = secrets.randbits(63)
    words = [*make, "--no-print-directory", target, f"SECONDS={seconds}", f"SEED={seed}"]
    code = subprocess.run(words, cwd=ROOT, check=False).returncode
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not log.exists():
        log.write_text(HEAD, encoding="utf-8")
    result = "nothing found" if code == 0 else f"exit code {code}"
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{now}\t{commit()}\t{target}\t{seed}\t{seconds}\t{result}\n")
    return code == 0


def main(words: list[str]) -> int:
    """Returns the exit code: 1 if a turn has found something."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description="All fuzzers in turn."
    )
    parser.add_argument("hours", type=float, help="when no further turn begins")
    end = time.monotonic() + 3600 * parser.parse_args(words).hours
    while True:
        for target in TARGETS:
            left = end - time.monotonic()
            if left <= 0:
                return 0
            if not turn(target, min(TURN, max(1, int(left))), LOG):
                return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
