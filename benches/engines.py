"""Engine overhead: the same campaign by threads and by each engine, in processor and wall time.

    PYTHONPATH=tests python benches/engines.py --workers 2 --batches 8 > engines.json

The campaign is uniform traffic on 64 nodes, in batches of about 30 s. Every engine's store starts
with other seeds for the same points, so that the estimates are right. Processor time covers the
command and all processes that it started, from the operating system; wall time counts only on an
idle machine. Every engine must leave the same results.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from elanite.store import Store

EXPERIMENT = """
title = "Batches"
source = "made for the measurement of engines"
machine = "es40-qsnet"
[run]
warm_up = "100 us"
window = "{window} ms"
seeds = {seeds}
max_events = 100_000_000_000
[[series]]
name = "load"
[series.jobs.uniform]
pattern = "uniform"
nodes = 64
message = "4 KB"
sizes = "exponential"
arrivals = "exponential"
load = ["200 MB/s", "210 MB/s", "220 MB/s", "230 MB/s"]
"""
POINTS = 4
"""Points for each seed."""

MPI = ["mpiexec", "-n"]


def campaign(file: Path, out: Path, before: list[str], *options: str) -> tuple[float, float]:
    """Run the campaign: its wall and its processor seconds."""
    words = [
        *before,
        sys.executable,
        "-m",
        "elanite",
        "run",
        str(file),
        "--out",
        str(out),
        "--format",
        "csv",
        *options,
    ]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    wall = time.monotonic() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description="Measure what engines cost.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batches", type=int, default=8, help="at least four for each worker")
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="processor seconds of a batch, 30 at most"
    )
    parser.add_argument(
        "--point", type=float, default=7.0, help="processor seconds of a point, about"
    )
    parser.add_argument("--engines", default="threads,processes,executorlib,mpi")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="engines-"))
    file = folder / "batches.toml"
    # Once with a short window, to learn how long the window must be; once with that window, for the
    # estimates.
    file.write_text(EXPERIMENT.format(window=1, seeds=1), encoding="utf-8")
    campaign(file, folder / "short", [], "--jobs", str(given.workers))
    short = Store(folder / "short" / "store")
    mean = (
        sum(manifest.cpu_seconds for i in short.identities() if (manifest := short.get(i))) / POINTS
    )
    window = max(1, round(given.point / mean))
    file.write_text(EXPERIMENT.format(window=window, seeds=1), encoding="utf-8")
    campaign(file, folder / "known", [], "--jobs", str(given.workers), "--seed", "1000")
    seeds = max(1, round(given.batches * given.seconds / given.point / POINTS))
    file.write_text(EXPERIMENT.format(window=window, seeds=seeds), encoding="utf-8")
    workers = str(given.workers)
    engines = {
        "threads": ([], ["--jobs", workers]),
        "processes": ([], ["--executor", "processes", "--workers", workers]),
        "executorlib": ([], ["--executor", "engines.factories:single_node", "--workers", workers]),
        "mpi": ([*MPI, str(given.workers + 1)], ["--executor", "mpi"]),
    }
    known = Store(folder / "known" / "store").identities()
    found = {}
    digests = set()
    for name in given.engines.split(","):
        before, options = engines[name]
        out = folder / name
        shutil.copytree(folder / "known", out)
        wall, cpu = campaign(file, out, before, *options)
        store = Store(out / "store")
        manifests = [manifest for i in store.identities() if (manifest := store.get(i))]
        digests.add(tuple(manifest["digest"] for manifest in manifests))
        simulated = sum(
            manifest.cpu_seconds for manifest in manifests if manifest["id"] not in known
        )
        found[name] = {
            "wall_s": round(wall, 1),
            "cpu_s": round(cpu, 1),
            "simulation_cpu_s": round(simulated, 1),
        }
        print(name, found[name], file=sys.stderr)
    if len(digests) != 1:
        raise SystemExit("the engines differ")
    print(
        json.dumps({"points": seeds * POINTS, "workers": given.workers, "engines": found}, indent=1)
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
