"""Write ``python/elanite/data/costs.json``, the shipped estimates of what points cost, from the points of a store.

    elanite reproduce --out costs && python benches/costs.py costs/store

Part of the points is enough: the table holds means over series. Processor seconds are those of the machine that
simulated the points.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from elanite import _core
from elanite.cost import means
from elanite.store import Store

TABLE = Path(__file__).parents[1] / "python" / "elanite" / "data" / "costs.json"


def main() -> None:
    """Read the store, and write the table."""
    parser = argparse.ArgumentParser(description="Write the shipped estimates of what points cost.")
    parser.add_argument("store", type=Path)
    store = Store(parser.parse_args().store)
    samples = []
    for identity in store.identities():
        manifest = store.get(identity)
        if manifest is not None:
            (kind,) = manifest["point"]["workload"]
            point = manifest["point"]
            samples.append((manifest["experiment"], manifest["series"], kind, point, manifest.cpu_seconds))
    about = {
        "about": "processor seconds per unit of work (see elanite/cost.py), by experiment and series, experiment, kind",
        "made_by": "elanite reproduce --out costs && python benches/costs.py costs/store",
        "model": _core.MODEL_REVISION,
        "points": len(samples),
        "means": means(samples),
    }
    TABLE.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{TABLE}: {len(samples)} points, {len(about['means'])} means")


if __name__ == "__main__":
    main()
