"""A host at work on a shared store: simulates a file's points that no other process has claimed.

    python store_host.py STORE POINTS [--hang] [--wait] [--others N]

Prints the identity of every point that it has simulated. With ``--hang`` it claims the first point
and never finishes; with ``--wait`` it checks points claimed by others again, until all are there.
With ``--others`` it begins when this many such processes are ready, however long they take to
start.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from elanite import _core
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.store import Store

CHEAP = Path(__file__).parent / "files" / "cheap.toml"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("points", type=Path)
    parser.add_argument("--hang", action="store_true")
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--others", type=int, default=0)
    given = parser.parse_args()
    store = Store.open(given.store)
    store.prepare()
    points = {point.id: point for point in plan(sources.read("experiment", str(CHEAP))).points}
    waiting = given.points.read_text().split()
    tempfile.mkdtemp(prefix="ready-", dir=given.points.parent)
    while len(list(given.points.parent.glob("ready-*"))) <= given.others:
        time.sleep(0.01)
    while waiting:
        elsewhere = []
        for identity in waiting:
            if store.get(identity) is not None:
                continue
            claim = store.claim(identity)
            if claim is None:
                if store.get(identity) is None:
                    elsewhere.append(identity)
                continue
            if given.hang:
                claim.seconds = 0.3  # renewed so often
            with claim:
                if given.hang:
                    time.sleep(600)
                records = _core.simulate(points[identity].json, _core.Cancel())
                store.put(points[identity], records, {"cpu_seconds": 1.0})
                sys.stdout.write(f"{identity}\n")
        waiting = elsewhere if given.wait else []
        time.sleep(0.05 if waiting else 0)
    # Without --wait, others finish the points that they have claimed.


if __name__ == "__main__":
    main()
