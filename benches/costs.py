"""Write ``python/elanite/data/costs.json``, the shipped point cost estimates, from stored points.

    elanite reproduce --out costs && python benches/costs.py costs/store

Part of the points is enough: the table holds means over series, with the count of points and series
of the shipped experiments behind them. Other points do not count, such as those shortened by
``--quick``. For a point in several stores the last one counts. Processor seconds are from the
machine that simulated the points.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import astuple
from pathlib import Path

from elanite import _core
from elanite.campaign.cost import means, sampled
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.store import Store

TABLE = Path(__file__).parents[1] / "python" / "elanite" / "data" / "costs.json"


def main() -> None:
    """Read the stores, and write the table."""
    parser = argparse.ArgumentParser(description="Write the shipped estimates of what points cost.")
    parser.add_argument("stores", type=Path, nargs="+", metavar="STORE")
    stores = [Store(folder) for folder in parser.parse_args().stores]
    planned: dict[str, set[tuple[str, str]]] = {}
    for name in sources.shipped("experiment"):
        for point in plan(sources.read("experiment", name)).points:
            planned.setdefault(point.id, set()).add((name, point.series))
    found = {}
    for store in stores:
        for identity in planned.keys() & store.identities():
            if (manifest := store.get(identity)) is not None:
                found[identity] = manifest
    # A point shared by several series counts for each series.
    samples = [
        sampled(manifest, *place)
        for identity, manifest in found.items()
        for place in planned[identity]
    ]
    made = {place for identity in found for place in planned[identity]}
    everything = set().union(*planned.values())
    table = {key: astuple(rate) for key, rate in means(samples).items()}
    about = {
        "about": (
            "processor seconds per thousand packets or simulated ms, and simulated ms per ms of"
            " window or repeat (Rate in elanite/campaign/cost.py), by experiment and series,"
            " experiment, kind"
        ),
        "made_by": (
            f"python benches/costs.py, from {len(found)} of the {len(planned)} points of `elanite"
            f" reproduce`, in {len(made)} of its {len(everything)} series"
        ),
        "model": _core.MODEL_REVISION,
        "means": table,
    }
    lines = json.dumps(about, indent=1)
    TABLE.write_text(
        re.sub(r"\[\s+([^,\]]+),\s+([^\]]+?)\s+\]", r"[\1, \2]", lines) + "\n", encoding="utf-8"
    )
    print(f"{TABLE}: {about['made_by']}; {len(table)} means")


if __name__ == "__main__":
    main()
