"""Instructions, cache misses and mispredictions per packet: speed by measures independent of other
load on a computer.

python benches/instructions.py         measures, and compares with the last entry of
                                       benches/bench-history.json, and with the same cases with
                                       listed faults that do not occur
python benches/instructions.py --add   adds an entry for the checked out commit; --why 'TEXT' where
                                       counts grow

valgrind's cachegrind counts events in two runs with different lengths; their difference leaves the
set-up out. Its caches have the sizes below on every host: a server core's first and second levels,
because run time follows both levels' misses, and the mispredictions, more than the instructions.
Another compiler makes other instructions, so that only entries with the same rustc are compared.
The exit code is 1 if a case's count exceeds the last entry by more than its tolerance, or if a case
needs 2% more instructions with listed cables that fail after the run.
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
    from collections.abc import Iterable, Sequence

HISTORY = ROOT / "benches" / "bench-history.json"
# An entry's fields, the lines in cachegrind's summary, and the tolerated growth from one entry to
# the next without a reason in the entry: a fraction, and a number per packet for counts near zero.
# Data addresses, which other code moves, change the misses by about 1%.
COUNTS = {
    "instructions_per_packet": ("I +refs", 0.03, 0.0),
    "d1_misses_per_packet": ("D1 +misses", 0.05, 2.0),
    "ll_misses_per_packet": ("LL +misses", 0.05, 2.0),
    "mispredictions_per_packet": ("Mispredicts", 0.05, 2.0),
}
INSTRUCTIONS = "instructions_per_packet"

# Size, ways and line in bytes. The last level is a core's second one: the third is shared with
# other runs.
CACHES = [
    "--cache-sim=yes",
    "--branch-sim=yes",
    "--I1=32768,8,64",
    "--D1=49152,12,64",
    "--LL=2097152,16,64",
]

# The tolerated instruction growth with listed faults that do not occur, and the faults by their
# words for benches/speed.rs. Bit errors, however rare, are drawn for each packet and link: they
# have no bound.
LISTED = {"later": 0.02, "rare": None}

# A random graph with minimal routing: 16 switches with 4 cables and 4 nodes each.
GRAPH = [
    "topology=other",
    *(
        f"topology.{key}"
        for key in ("kind=jellyfish", "switches=16", "degree=4", "seed=1", "terminals=4")
    ),
    "topology.routing=minimal",
    "link.channels=4",
]

# The words for benches/speed.rs, and the cycles of the two runs.
CASES: dict[str, tuple[list[str], tuple[int, int]]] = {
    "fabric, 64 nodes": (["level=fabric", "levels=3"], (10_000, 110_000)),
    "fabric, 1,024 nodes": (["level=fabric", "levels=5", "warm_up=1000"], (5_000, 15_000)),
    "machine, 64 nodes": (["level=machine", "levels=3"], (10_000, 60_000)),
    "graph, 64 nodes": (["level=fabric", "levels=3", *GRAPH], (10_000, 110_000)),
}


def main() -> None:
    """Measure, print, and add or compare."""
    parser = argparse.ArgumentParser(
        description="Count the instructions that the simulator needs for a packet."
    )
    parser.add_argument("--add", action="store_true", help="add an entry to the history")
    parser.add_argument(
        "--why", metavar="TEXT", default="", help="the reason of a growth, for the entry"
    )
    arguments = parser.parse_args()
    program = build()
    entry = measured(program)
    history = json.loads(HISTORY.read_text(encoding="utf-8"))
    last = next((old for old in reversed(history) if old["rustc"] == entry["rustc"]), None)
    for field in COUNTS:
        before = {} if last is None else last.get(field, {})
        for case, count in entry[field].items():
            change = f"{count / before[case] - 1:+8.1%}" if before.get(case) else ""
            print(f"{case:24}{count:10,.1f} {field.replace('_', ' ')}{change}")
    if arguments.add:
        if last is not None and (grown := slower(last, entry)) and not arguments.why:
            sys.exit(
                f"error: more per packet than in the last entry: {', '.join(grown)}. Give the"
                " reason: --why TEXT"
            )
        entry |= {"why": arguments.why} if arguments.why else {}
        lines = ",\n".join(" " + json.dumps(old) for old in [*history, entry])
        HISTORY.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        return
    compare_faults(program, entry[INSTRUCTIONS])
    if last is None:
        print(f"nothing to compare with: no entry is of {entry['rustc']}")
    elif grown := slower(last, entry):
        sys.exit(
            f"error: more per packet than in the last entry: {', '.join(grown)}. Make the simulator"
            " as fast as it was. Or add an entry with the reason: benches/instructions.py --add"
            " --why TEXT"
        )


def compare_faults(program: str, without: dict[str, float]) -> None:
    """Print the instructions for listed faults that do not occur."""
    runs = [(case, faults) for case in CASES for faults in LISTED]
    dear = []
    for (case, faults), count in zip(runs, per_packet(program, runs, [INSTRUCTIONS]), strict=True):
        growth, bound = count[INSTRUCTIONS] / without[case] - 1, LISTED[faults]
        print(f"{case:24}{without[case]:10,.0f}  faults={faults:8}{growth:+8.1%}", flush=True)
        if bound is not None and growth > bound:
            dear.append(f"{case}, {faults}")
    if dear:
        sys.exit(f"error: faults that do not occur cost more than they may: {'; '.join(dear)}")


def measured(program: str) -> dict[str, Any]:
    """The checked out commit's entry."""
    counts = per_packet(program, [(case, None) for case in CASES], list(COUNTS))
    return {
        "commit": text_of("git", "rev-parse", "--short=12", "HEAD"),
        "rustc": text_of("rustc", "--version"),
        "processor": processor(),
        **{
            field: {case: each[field] for case, each in zip(CASES, counts, strict=True)}
            for field in COUNTS
        },
    }


def per_packet(
    program: str, cases: Iterable[tuple[str, str | None]], fields: Sequence[str]
) -> list[dict[str, float]]:
    """Counts over packets for cases with or without listed faults, both as differences between two
    runs.
    """
    runs = []
    for case, faults in cases:
        words, lengths = CASES[case]
        listed = [] if faults is None else [f"faults={faults}"]
        runs += [[program, *words, *listed, f"cycles={cycles}"] for cycles in lengths]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda run: counted(run, fields), runs))
    return [
        {
            field: round((last[field] - first[field]) / (last["packets"] - first["packets"]), 1)
            for field in fields
        }
        for first, last in zip(counts[::2], counts[1::2], strict=True)
    ]


def counted(command: list[str], fields: Sequence[str]) -> dict[str, int]:
    """A run's counts, and its packets."""
    simulated = ["--cache-sim=no"] if list(fields) == [INSTRUCTIONS] else CACHES
    valgrind = ["valgrind", "--tool=cachegrind", *simulated, "--cachegrind-out-file=/dev/null"]
    ended = subprocess.run([*valgrind, *command], capture_output=True, text=True, check=False)
    lines = {field: re.search(rf"{COUNTS[field][0]}: +([\d,]+)", ended.stderr) for field in fields}
    if ended.returncode or None in lines.values():
        sys.exit(f"error: {' '.join(command)} under valgrind: {ended.stderr.strip()}")
    counts = {
        field: int(line[1].replace(",", "")) for field, line in lines.items() if line is not None
    }
    return {**counts, "packets": json.loads(ended.stdout)["packets"]}


def slower(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The counts that grew by more than their tolerance, and their cases; the oldest entries have
    instructions only.
    """
    return [
        f"{field.replace('_', ' ')} of {case}"
        for field, (_, fraction, number) in COUNTS.items()
        for case, before in old.get(field, {}).items()
        if new.get(field, {}).get(case, 0.0) > max(before * (1 + fraction), before + number)
    ]


def text_of(*command: str) -> str:
    """A command's output, without the final newline."""
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
