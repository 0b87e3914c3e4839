"""Users' claims: a file like the papers', with values that may come from measurements.

An entry has the keys of ``elanite schema claim``. Its ``experiment`` is a file, by its path from
the claims' folder, or a shipped experiment. In place of ``value`` an entry may have ``measured``:
output from OSU, IMB, NCCL-tests or perftest, or a CSV file, as ``calibrate`` reads them
(``elanite.study.measurements``). Such an entry stands for a claim for each measured value with a
point in the experiment; the file decides metric, unit and point.

All mistakes are ``UsageError`` with file, line and key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results import frames
from elanite.study import measurements
from elanite.validation.claims import FIGURES, MEASURED, OUTPUT, claims_of, scalars, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.inputs.plan import Plan, Point
    from elanite.inputs.tables import DataTable
    from elanite.validation.claim import Claim

UNITS = {"latency": "us", "accepted": "MB/s"}
"""The units of benchmark metrics."""


@dataclass
class OwnClaims:
    """A file's claims."""

    file: Path
    seed: int = FIRST_SEED
    claims: tuple[Claim, ...] = ()
    plans: dict[str, Plan] = field(default_factory=dict)
    """The claims' experiments, by their names in the file."""
    notes: list[str] = field(default_factory=list)
    """Measured values that belong to no point."""

    def experiment(self, entry: DataTable) -> Plan:
        """An entry's experiment, with its points."""
        name = entry.string("experiment")
        if not name:
            raise entry.wrong(
                "experiment",
                "this key is needed",
                "name an experiment file, or a shipped experiment",
            )
        if name not in self.plans:
            where = self.file.parent / name if name.endswith(".toml") else name
            self.plans[name] = plan(sources.read("experiment", where), seed=self.seed)
        return self.plans[name]

    def listed(self, entry: DataTable) -> Sequence[DataTable]:
        """The entry, or an entry for each of its measured values."""
        whole = self.experiment(entry)
        if OUTPUT not in entry.content:
            return [entry]
        for key in ("value", "metric", *sorted(MEASURED)):
            if key in entry.content:
                raise entry.wrong(key, f"`{OUTPUT}` decides this", f"remove `{key}`, or `{OUTPUT}`")
        if (kind := entry.string("kind")) not in FIGURES["value"]:
            raise entry.wrong(
                "kind", f"measured values are not for the kind {kind}", "write value, max or min"
            )
        if kind == "value" and entry.number("tolerance") is None:
            raise entry.wrong(
                "tolerance", "this key is needed", "write for example tolerance = 0.1 for 10%"
            )
        series, where = series_of(entry), entry.table("where")
        wanted = {name: scalars(where, name) for name in where.content}
        points = {
            measurements.key(point): point
            for point in whole.points
            if (not series or point.series in series)
            and all(point.parameters.get(name) in values for name, values in wanted.items())
        }
        if not points:
            raise entry.wrong(
                "series" if series else "where", f"{whole.experiment.name} has no such point"
            )
        some = replace(whole, points=tuple(points.values()))
        values = measurements.read(
            self.file.parent / entry.string(OUTPUT), [some], self.notes.append
        )
        return [_claim(entry, each, points[each.key]) for each in values]


def _claim(entry: DataTable, value: measurements.MeasuredValue, point: Point) -> DataTable:
    """The entry for one measured value."""
    size = frames.identity(point).get("message_bytes")
    parts = [
        entry.string("id"),
        value.place.rpartition(":")[2] if size is None else str(size),
        value.job or "",
    ]
    content = {
        **{key: each for key, each in entry.content.items() if key != OUTPUT},
        "id": ".".join(filter(None, parts)),
        "value": value.value,
        "measure": "value",
        "metric": value.metric,
        "unit": entry.string("unit") or UNITS.get(value.metric, ""),
        "series": value.key[1],
        "where": json.loads(value.key[2]),
        **({"of": {"job": value.job}} if value.job else {}),
    }
    return replace(entry, content=content)


def read(file: Path, seed: int = FIRST_SEED) -> OwnClaims:
    """Read a claims file. Raises ``UsageError``."""
    text = bounded.text(file, bounded.TABLE, "give a file of claims in TOML", read=bounded.typed)
    found = OwnClaims(file, seed)
    found.claims = claims_of(text, str(file), found.listed)
    return found
