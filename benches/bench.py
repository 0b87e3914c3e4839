"""How fast the simulator is: packets per processor-second and peak memory, under saturated uniform traffic.

python benches/bench.py [FILE]      prints a table, and writes it to FILE as JSON
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import elanite as el

EXPERIMENT = """
title = "Saturated uniform traffic"
source = "made for the benchmark"
machine = "es40-qsnet"

[run]
warm_up = "100 us"
window = "1 ms"
batches = 5
seeds = 1

[[series]]
name = "load"
title = "More is offered than any network accepts"
[series.jobs.uniform]
pattern = "uniform"
nodes = [16, 32, 64]
message = "64 KB"
sizes = "uniform"
arrivals = "uniform"
load = "350 MB/s"
"""


def main() -> None:
    """Simulate every size once, one after the other, so that no run disturbs another."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.toml"
        file.write_text(EXPERIMENT, encoding="utf-8")
        result = el.run(el.Experiment.load(str(file)), jobs=1, out=folder)
        rows = [row(result, point) for point in result.points]
    print(f"{'nodes':>6} {'packets':>9} {'CPU s':>8} {'packets/CPU s':>14} {'peak MiB':>9}")
    for entry in rows:
        print(
            f"{entry['nodes']:6} {entry['packets']:9} {entry['cpu_seconds']:8.2f}"
            f" {entry['packets_per_cpu_second']:14.0f} {entry['peak_memory_bytes'] / 2**20:9.1f}"
        )
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def row(result: el.Result, point: el.Point) -> dict[str, float]:
    """One line of the table."""
    manifest = result.manifest(point)
    return {
        "nodes": point.parameters["nodes"],
        "packets": manifest["packets"],
        "cpu_seconds": manifest.cpu_seconds,
        "packets_per_cpu_second": manifest["packets"] / manifest.cpu_seconds,
        "peak_memory_bytes": manifest["peak_memory_bytes"],
    }


if __name__ == "__main__":
    main()
