"""Instructions per packet: the speed of the simulator by a measure that does not vary with what else a computer does.

python benches/instructions.py         measures, and compares with the last entry of benches/bench-history.json, and
                                       with the same cases where faults are listed that do not occur
python benches/instructions.py --add   adds an entry for the commit that is checked out

valgrind counts the instructions of two runs of different lengths; their difference leaves the set-up out. Another
compiler makes other instructions, so that only entries of the same rustc are compared. The exit code is 1 if a case
needs more than 3% above the last entry, or more than 2% above itself where cables are listed that fail after the run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from bench import ROOT, build, processor

if TYPE_CHECKING:
    from collections.abc import Iterable

HISTORY = ROOT / "benches" / "bench-history.json"
# By how much a case may grow from one entry to the next without a line in CHANGELOG.md.
TOLERANCE = 0.03

# By how much a case may grow where faults are listed that do not occur, and the faults by their words for
# benches/speed.rs. Bit errors, however rare, are drawn for each packet and link: they have no bound.
LISTED = {"later": 0.02, "rare": None}

# The words for benches/speed.rs, and the cycles of the two runs.
CASES: dict[str, tuple[list[str], tuple[int, int]]] = {
    "fabric, 64 nodes": (["level=fabric", "levels=3"], (10_000, 110_000)),
    "fabric, 1,024 nodes": (["level=fabric", "levels=5", "warm_up=1000"], (5_000, 15_000)),
    "machine, 64 nodes": (["level=machine", "levels=3"], (10_000, 60_000)),
}


def main() -> None:
    """Measure, print, and add or compare."""
    parser = argparse.ArgumentParser(description="Count the instructions that the simulator needs for a packet.")
    parser.add_argument("--add", action="store_true", help="add an entry to the history")
    arguments = parser.parse_args()
    program = build()
    entry = measured(program)
    history = json.loads(HISTORY.read_text(encoding="utf-8"))
    last = next((old for old in reversed(history) if old["rustc"] == entry["rustc"]), None)
    for case, count in entry["instructions_per_packet"].items():
        change = "" if last is None else f"{count / last['instructions_per_packet'][case] - 1:+8.1%}"
        print(f"{case:24}{count:10,.0f}{change}")
    if arguments.add:
        lines = ",\n".join(" " + json.dumps(old) for old in [*history, entry])
        HISTORY.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        return
    compare_faults(program, entry["instructions_per_packet"])
    if last is None:
        print(f"nothing to compare with: no entry is of {entry['rustc']}")
    elif grown := slower(last, entry):
        sys.exit(
            f"error: more instructions per packet than in the last entry: {', '.join(grown)}. Make the simulator as"
            " fast as it was. Or add an entry (make bench), and say why in CHANGELOG.md:"
            " `instructions per packet (COMMIT)`."
        )


def compare_faults(program: str, without: dict[str, float]) -> None:
    """Print what listed faults cost that do not occur."""
    pairs = [(case, faults) for case in CASES for faults in LISTED]
    dear = []
    for (case, faults), count in zip(pairs, per_packet(program, pairs), strict=True):
        growth, bound = count / without[case] - 1, LISTED[faults]
        print(f"{case:24}{without[case]:10,.0f}  faults={faults:8}{growth:+8.1%}", flush=True)
        if bound is not None and growth > bound:
            dear.append(f"{case}, {faults}")
    if dear:
        sys.exit(f"error: faults that do not occur cost more than they may: {'; '.join(dear)}")


def measured(program: str) -> dict[str, Any]:
    """The entry of the commit that is checked out."""
    counts = per_packet(program, [(case, None) for case in CASES])
    return {
        "commit": text_of("git", "rev-parse", "--short=12", "HEAD"),
        "rustc": text_of("rustc", "--version"),
        "processor": processor(),
        "instructions_per_packet": dict(zip(CASES, counts, strict=True)),
    }


def per_packet(program: str, pairs: Iterable[tuple[str, str | None]]) -> list[float]:
    """Instructions over packets of cases with listed faults or none, both as differences of two runs."""
    runs = []
    for case, faults in pairs:
        words, lengths = CASES[case]
        listed = [] if faults is None else [f"faults={faults}"]
        runs += [[program, *words, *listed, f"cycles={cycles}"] for cycles in lengths]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(counted, runs))
    return [
        round((last - first) / (many - few), 1)
        for (first, few), (last, many) in zip(counts[::2], counts[1::2], strict=True)
    ]


def counted(command: list[str]) -> tuple[int, int]:
    """The instructions of a run, and its packets."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    ended = subprocess.run([*valgrind, *command], capture_output=True, text=True, check=False)
    count = re.search(r"I +refs: +([\d,]+)", ended.stderr)
    if ended.returncode or count is None:
        sys.exit(f"error: {' '.join(command)} under valgrind: {ended.stderr.strip()}")
    return int(count[1].replace(",", "")), json.loads(ended.stdout)["packets"]


def slower(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The cases that need too many instructions more than in an earlier entry."""
    before, now = old["instructions_per_packet"], new["instructions_per_packet"]
    return [case for case in now if now[case] > before[case] * (1 + TOLERANCE)]


def text_of(*command: str) -> str:
    """What a command prints, without the end of its line."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
