"""GOAL trace operations per second of processor time.

python benches/replay.py          prints a table

A trace with a million operations is written, read, checked and replayed: on the ideal network, and
a tenth of it on the ES40s. Processor time covers the whole process from reading the file on, and
peak memory the process with Python and its libraries.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS, CALLS = 64, 62
"""A ring all-reduce has 253 operations in each of 64 ranks."""

CODE = """
import json, resource, sys
import elanite as el
found = el.replay(sys.argv[1], network=sys.argv[2])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([found.summary, found.cpu_seconds, peak]))
"""


def main() -> None:
    """Prints the table."""
    from elanite.traces import goal

    print("pattern     network  operations   CPU s  operations / CPU s  peak MB  simulated us")
    with tempfile.TemporaryDirectory() as folder:
        for pattern in ("ring", "tree", "alltoall"):
            for network in ("ideal", "machine"):
                calls = CALLS if network == "ideal" else CALLS // 10
                if pattern == "alltoall":
                    lines = goal.all_to_all(RANKS, 1024, calls=2 * calls, compute=1000)
                else:
                    share = 1 if pattern == "ring" else 42
                    lines = goal.all_reduce(
                        RANKS, 65536, pattern, calls=share * calls, compute=1000
                    )
                path = Path(folder, "trace.goal")
                with path.open("w") as file:
                    file.writelines(lines)
                done = subprocess.run(
                    [sys.executable, "-c", CODE, path, network],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                summary, seconds, peak = json.loads(done.stdout)
                rate = summary["operations"] / seconds
                print(
                    f"{pattern:10}  {network:7}  {summary['operations']:10,}  {seconds:6.2f} "
                    f" {rate:18,.0f}  {peak:7.0f}  {summary['time_us']:,.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
