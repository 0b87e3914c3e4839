"""Store cost: seconds for each operation, entries and bytes. Prints a table in Markdown.

    python benches/store.py [FOLDER] [POINTS]

The points come from `tests/files/cheap.toml`. Wall time depends on the disk, above all on its sync
time; the folder chooses the disk.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elanite import _core
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results.export import export
from elanite.store import Store
from elanite.store.upkeep import listing, merge, verify

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
NAMES = 100_000


class Costs:
    """Processor and wall seconds by operation."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}

    def of(self, name: str, work: Callable[[], Any], many: int = 1) -> Any:
        """Run an action and measure its time, for each item."""
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        spent = self.spent.setdefault(name, [0, 0, 0])
        spent[0] += many
        spent[1] += time.process_time() - cpu
        spent[2] += time.perf_counter() - wall
        return found

    def table(self) -> str:
        """As Markdown."""
        lines = ["| operation | CPU-ms | wall ms |", "|---|---:|---:|"]
        for name, (many, cpu, wall) in self.spent.items():
            lines.append(f"| {name} | {1000 * cpu / many:.3g} | {1000 * wall / many:.3g} |")
        return "\n".join(lines)


def main(where: str | None, many: int) -> None:
    """Measure."""
    folder = Path(tempfile.mkdtemp(dir=where))
    costs = Costs()
    try:
        points = plan(sources.read("experiment", str(ROOT / "tests/files/cheap.toml"))).points[
            :many
        ]
        store = Store(folder / "store")
        costs.of("prepare an empty store", store.prepare)
        for point in points:
            costs.of("look for a missing point", lambda point=point: store.get(point.id))
            claim = costs.of("claim a point", lambda point=point: store.claim(point.id))
            records = _core.simulate(point.json, _core.Cancel())
            costs.of(
                "write a point",
                lambda point=point, records=records: store.put(
                    point, records, {"cpu_seconds": 1.0}
                ),
            )
            costs.of("release a claim", claim.release)
        costs.of("verify a point", lambda: verify(store), many)
        costs.of("list a point", lambda: listing(store), many)
        costs.of("merge a point", lambda: merge([store], Store(folder / "merged")), many)
        costs.of("export a point", lambda: export(store, folder / "all.parquet"), many)
        files = list((folder / "store").rglob("*"))
        size = sum(path.stat().st_size for path in files if path.is_file())
        exported = (folder / "all.parquet").stat().st_size
        (folder / "large").mkdir()
        for number in range(NAMES):
            (folder / "large" / f"{number:020x}").mkdir()
        costs.of(f"prepare a store of {NAMES:,} points", Store(folder / "large").prepare)
        sys.stdout.write(
            f"{costs.table()}\n\n{len(files) / many:.0f} entries and {size / many / 1000:.1f} kB a"
            " point"
        )
        sys.stdout.write(f"; exported: {exported / many:.0f} bytes a point\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(
        sys.argv[1] if len(sys.argv) > 1 else None, int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    )
