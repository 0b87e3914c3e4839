"""How fast the simulator is: packets per processor-second, events and memory, from 64 to 65,536
nodes.

python benches/bench.py [FILE]      prints a table, and writes it to FILE as JSON

Each row is a separate process, one after the other, so that processor time and peak memory belong
to that row; crates/experiment/benches/speed.rs defines a row's words. The fastest of five runs
counts: disturbances only make a run slower.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = 5

# By switch levels: cycles that take about a second. The last is 20 us, with the warm-up of 2,000
# cycles.
CYCLES = {3: 4_000_000, 4: 1_000_000, 5: 200_000, 6: 20_000, 7: 4_000, 8: 2_000}
PLAIN = ["switch.tokens=false", "adapter.share_burst=0 flits"]

ROWS = [
    *(
        [f"levels={n}", f"load={load}", f"cycles={c}"]
        for load in ("0.3", "saturated")
        for n, c in CYCLES.items()
    ),
    ["load=0.1", "cycles=4000000"],
    ["load=0.5", "cycles=4000000"],
    ["pattern=hot-spot", "load=saturated", "cycles=40000000"],
    ["pattern=transpose", "load=saturated", "cycles=4000000"],
    ["cycles=4000000", *PLAIN],
    ["levels=5", *PLAIN],
    ["fabric.engine=flit"],
    ["level=machine", "cycles=4000000"],
    ["level=machine", "levels=5"],
    ["level=machine", "levels=8", "cycles=2000"],
    ["level=machine", "cycles=4000000", "series.load.message=256 KB"],
]

HEAD = (
    f"{'level':8}{'pattern':10}{'nodes':>6}{'load':>10}{'packets':>10}{'events':>11}{'CPU s':>7}"
    f"{'packets/CPU s':>15}{'events/packet':>14}{'set-up s':>9}{'peak MB':>8}  changes"
)


def main() -> None:
    """Measure and print one row after the other."""
    program = build()
    print(HEAD)
    rows = []
    for words in ROWS:
        row = min(
            (measure(program, words) for _ in range(RUNS)), key=lambda row: row["cpu_seconds"]
        )
        rows.append(row)
        print(line(row), flush=True)
    print("events: at the level of the machine those of the fabric's motion are not counted")
    if len(sys.argv) > 1:
        result = {"processor": processor(), "rows": rows}
        Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def build() -> str:
    """Compile the rows' program; returns its path.

    Together with the extension module, so that common dependencies are compiled once, with the same
    features.
    """
    packages = ["--package", "elanite-experiment", "--package", "elanite-py"]
    command = ["cargo", "bench", "--locked", "--quiet", *packages, "--bench", "speed"]
    ended = subprocess.run(
        [*command, "--no-run", "--message-format=json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    messages = [json.loads(text) for text in ended.stdout.splitlines()]
    (program,) = [message["executable"] for message in messages if message.get("executable")]
    return str(program)


def measure(program: str, words: list[str]) -> dict[str, Any]:
    """Run one row."""
    ended = subprocess.run([program, *words], stdout=subprocess.PIPE, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)  # it has said why
    row = json.loads(ended.stdout)
    row["packets_per_cpu_second"] = row["packets"] / row["cpu_seconds"]
    row["events_per_packet"] = row["events"] / row["packets"]
    return dict(row)


def line(row: dict[str, Any]) -> str:
    """One table line."""
    load = "saturated" if row["load"] is None else row["load"]
    peak = "" if row["peak_memory_bytes"] is None else f"{row['peak_memory_bytes'] / 1e6:.1f}"
    return (
        f"{row['level']:8}{row['pattern']:10}{row['nodes']:6}{load:>10}{row['packets']:10}"
        f"{row['events']:11}{row['cpu_seconds']:7.2f}{row['packets_per_cpu_second']:15,.0f}"
        f"{row['events_per_packet']:14.1f}{row['set_up_seconds']:9.3f}{peak:>8}"
        f"  {', '.join(row['set'])}"
    ).rstrip()


def processor() -> str:
    """The processor name that the host reports."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
