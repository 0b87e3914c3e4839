"""The build that users run makes the same bits as the one with all checks on.

The table ``crates/experiment/tests/revision.txt`` has a digest over all packets and records for
every benchmark kind, by both movers. A Rust test compares it with the debug build's results; here,
the released build does. It lacks debug assertions, and its inner loops are compiled otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from elanite import campaign
from elanite.inputs import sources
from elanite.inputs.plan import Plan, plan
from elanite.inputs.sources import Source
from elanite.store import Store

CRATES = Path(__file__).parents[1] / "crates"
EXPERIMENTS = CRATES / "experiment" / "tests"
ROW = re.compile(
    r"(?P<file>[\w-]+) (?P<series>[\w-]+) (?P<engine>worm|flit): (?P<digest>\w+) (?P<packets>\d+)"
    r" packets, "
)

ROWS = [
    found.groupdict()
    for found in map(ROW.match, (EXPERIMENTS / "revision.txt").read_text().splitlines())
    if found
]


def machine(rails: bool) -> Source:
    """The Rust tests' machine; with four rails, as the Rust test assembles it."""
    text = (CRATES / "machine" / "tests" / "good.toml").read_text()
    if rails:
        text += (CRATES / "machine" / "tests" / "rails.toml").read_text()
    return Source("machine", "machine", "machine.toml", "machine", text)


def last_of_each_series(whole: Plan) -> Plan:
    return replace(whole, points=tuple({point.series: point for point in whole.points}.values()))


def simulated(name: str, folder: Path) -> Iterator[dict[str, str]]:
    """An experiment's rows, by this build."""
    store = Store(folder / "store")
    experiment = sources.read("experiment", EXPERIMENTS / f"{name}.toml")
    for engine in ("worm", "flit"):
        whole = plan(experiment, [machine(name == "rails")], [f"fabric.engine={engine}"], seed=1)
        chosen = last_of_each_series(whole)
        assert not campaign.run([chosen], store).failures
        for point in chosen.points:
            manifest = store.get(point.id)
            assert manifest is not None
            yield {
                "file": name,
                "series": point.series,
                "engine": engine,
                "digest": manifest["digest"],
                "packets": str(manifest["packets"]),
            }


@pytest.mark.parametrize("name", dict.fromkeys(row["file"] for row in ROWS))
def test_the_same_bits_as_with_all_checks(name: str, tmp_path: Path) -> None:
    assert list(simulated(name, tmp_path)) == [row for row in ROWS if row["file"] == name]


def test_the_table_is_read_whole() -> None:
    lines = (EXPERIMENTS / "revision.txt").read_text().splitlines()
    assert len(ROWS) == sum("packets" in line for line in lines) >= 48
