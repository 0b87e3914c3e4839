"""The scoreboard: every published claim beside the simulated result.

The claims are data (``data/claims.toml``): the published figure, its source, and how to measure it. Verdicts depend on
the finished points of the store alone. Claims to which a parameter was fitted (the machine files list them) are
``fitted``, all others are ``predicted``. A missed claim is never hidden: a claim with a ``known_miss`` reason is shown
as missed, with the reason, but does not make a run fail.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from elanite import _core, sources
from elanite.plan import FIRST_SEED, Plan, Point, plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from elanite.measures import Measurement, Number
    from elanite.store import Store, Table

Kind = Literal["value", "max", "min", "range", "order", "shape"]
Role = Literal["fitted", "predicted"]


@dataclass(frozen=True)
class Claim:
    """A published figure or finding, and how to measure it."""

    id: str
    source: str
    kind: Kind
    says: str
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    order: tuple[str, ...] = ()
    figures: tuple[float, ...] = ()
    """Published figures that a finding is compared with."""
    experiment: str = ""
    """The shipped experiment that produces the data; empty: not yet simulated."""
    series: tuple[str, ...] = ()
    """Series that produce the data; empty: all of them."""
    where: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Parameters that select the points, each with the values that it may have."""
    measure: str = ""
    """How the rows are measured: a quantity (see ``elanite.measures``), ``order``, ``parts``, or a special measure."""
    metric: str = ""
    rows: str = ""
    """The kind of rows that count, if columns cannot select them (see ``elanite.measures.rows``)."""
    of: dict[str, Any] = field(default_factory=dict)
    """The arguments of the measure: the quantity, and the quantity or column that it is set over."""
    over: dict[str, Any] | str = field(default_factory=dict)
    each: tuple[str, ...] = ()
    """Columns whose values form groups, which are measured separately; one group is picked."""
    pick: str = ""
    shows: tuple[str, ...] = ()
    """Columns by whose values the note lists the figures."""
    part: tuple[dict[str, Any], ...] = ()
    """The parts that have to hold: quantities with their bounds."""
    table: Table | Literal["congestion"] = "rows"
    """The table that is measured: a table of the store, or the links of the congestion matrix."""
    tolerance: float | None = None
    """How far a value may be off and still hold, as a fraction."""
    test: str = ""
    known_miss: str = ""

    @property
    def quantity(self) -> dict[str, Any]:
        """What is measured."""
        measure = "value" if self.measure == "order" else self.measure
        return {"measure": measure, "of": self.of, "over": self.over}

    @property
    def published(self) -> float | list[float] | list[str] | None:
        """The published figure as data; a shape has only its text."""
        if self.kind == "range":
            return [self.low or 0.0, self.high or 0.0]
        if self.kind == "order":
            return list(self.order)
        return self.value

    def asks_for(self, point: Point) -> bool:
        """Whether the claim is measured on this point (of its experiment)."""
        return (not self.series or point.series in self.series) and all(
            point.parameters.get(name) in value for name, value in self.where
        )


@dataclass(frozen=True)
class Verdict:
    """A claim beside its simulated counterpart."""

    claim: Claim
    role: Role
    simulated: float | list[str] | str | None = None
    """A number, an order of names, the figures of an inequality in words, or None if there are no results."""
    low: float | None = None
    """Lower end of the 95% confidence interval of the simulated number."""
    high: float | None = None
    """Upper end of this interval."""
    error: float | None = None
    """simulated/published - 1; for a range the distance from its nearest end, 0 inside."""
    holds: bool | None = None
    """None if there is nothing to judge, or if the intervals are too wide to judge."""
    note: str = ""
    """The figures behind an order or a mean, or the reason why there is nothing to judge."""
    widest: float | None = None
    """The widest 95% confidence interval of the compared figures: half its width as a fraction of the mean."""

    @property
    def judged(self) -> bool:
        """Whether there are results to judge."""
        return self.simulated is not None

    @property
    def state(self) -> str:
        """One of: holds, missed, known miss, holds again, not resolved, not run, not yet simulated."""
        if self.holds is None:
            if self.judged:
                return "not resolved"
            return "not run" if self.claim.experiment else "not yet simulated"
        if self.claim.known_miss:
            return "holds again" if self.holds else "known miss"
        return "holds" if self.holds else "missed"

    @property
    def failed(self) -> bool:
        """Whether this verdict makes a command fail."""
        return self.state == "missed"

    def as_json(self) -> dict[str, Any]:
        """The verdict as it stands in ``scoreboard.json``."""
        claim = self.claim
        return {
            "id": claim.id,
            "kind": claim.kind,
            "published": claim.published,
            "simulated": self.simulated,
            "low": self.low,
            "high": self.high,
            "error": self.error,
            "holds": self.holds,
            "role": self.role,
            "state": self.state,
            "unit": claim.unit,
            "tolerance": claim.tolerance,
            "says": claim.says,
            "source": claim.source,
            "experiment": claim.experiment or None,
            "test": claim.test,
            "note": self.note,
            "widest": self.widest,
            "known_miss": claim.known_miss or None,
        }


@cache
def claims() -> tuple[Claim, ...]:
    """All claims of all documents, in the order of the documents."""
    text = files("elanite").joinpath("data", "claims.toml").read_text(encoding="utf-8")
    return tuple(claim_of(entry) for entry in tomllib.loads(text)["claim"])


@cache
def fitted_parameters() -> dict[str, dict[str, tuple[str, ...]]]:
    """By shipped machine: its fitted parameters, and the claims to which each parameter was fitted."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in sources.shipped("machine"):
        source = sources.read("machine", name)
        parameters = json.loads(_core.load_machine(source.text, source.file, []))["parameters"]
        found[name] = {p["key"]: tuple(p["fitted_to"]) for p in parameters if p.get("fitted_to")}
    return found


@cache
def fitted() -> frozenset[str]:
    """Claims to which some parameter of a shipped machine was fitted."""
    return frozenset(
        claim for machine in fitted_parameters().values() for fitted_to in machine.values() for claim in fitted_to
    )


def judge(claim: Claim, measurement: Measurement) -> Verdict:
    """Compare a measurement with the published figure."""
    from elanite.measures.numbers import Finding, Order

    role: Role = "fitted" if claim.id in fitted() else "predicted"
    if isinstance(measurement, Finding):
        widest = _widest(measurement.numbers)
        return Verdict(claim, role, simulated=measurement.text, holds=measurement.holds, widest=widest)
    if isinstance(measurement, Order):
        holds = tuple(measurement.names) == claim.order
        widest = _widest(measurement.numbers)
        return Verdict(claim, role, simulated=measurement.names, holds=holds, note=measurement.note, widest=widest)
    error, near = _compare(claim, measurement.mean)
    return Verdict(
        claim,
        role,
        simulated=measurement.mean,
        low=measurement.low,
        high=measurement.high,
        error=error,
        holds=near and measurement.besides,
        note=measurement.note,
        widest=_widest([measurement]),
    )


def _widest(figures: Sequence[Number]) -> float | None:
    return max((figure.relative for figure in figures), default=None)


def verdict(claim: Claim, planned: Plan | None, store: Store) -> Verdict:
    """Judge one claim from the points of its experiment that are finished."""
    role: Role = "fitted" if claim.id in fitted() else "predicted"
    if planned is None:
        return Verdict(claim, role, note="not yet simulated")
    points = [point for point in planned.points if claim.asks_for(point)]
    missing = sum(store.get(point.id) is None for point in points)
    if not points:
        return Verdict(claim, role, note=f"{claim.experiment} has no point with these parameters")
    if missing:
        return Verdict(claim, role, note=f"not run: {missing} of {len(points)} points are missing")
    from elanite.measures import measured

    return judge(claim, measured(claim, _table(claim, points, store)))


def scoreboard(out: str | Path = "out", seed: int = FIRST_SEED) -> list[Verdict]:
    """Judge all claims from the finished points below ``out``, on the machines that the experiments name."""
    from elanite.store import Store

    store = Store(Path(out) / "store")
    plans = plans_of(claims(), seed)
    return [verdict(claim, plans.get(claim.experiment), store) for claim in claims()]


def plans_of(chosen: Iterable[Claim], seed: int = FIRST_SEED) -> dict[str, Plan]:
    """The plans of the experiments that the claims are measured on, by name."""
    names = dict.fromkeys(claim.experiment for claim in chosen if claim.experiment)
    available = set(sources.shipped("experiment"))
    return {name: plan(sources.read("experiment", name), seed=seed) for name in names if name in available}


def failed(verdicts: Sequence[Verdict]) -> bool:
    """Whether a command that shows these verdicts fails."""
    return any(verdict.failed for verdict in verdicts)


def _table(claim: Claim, points: Sequence[Point], store: Store) -> pl.DataFrame:
    from elanite import congestion, frames

    if claim.table == "congestion":
        return congestion.links(points, store)
    return frames.tidy(points, store, claim.table)


def _compare(claim: Claim, simulated: float) -> tuple[float, bool]:
    if claim.kind == "range":
        low, high = claim.low or 0.0, claim.high or 0.0
        if simulated < low:
            return simulated / low - 1, False
        return (simulated / high - 1, False) if simulated > high else (0.0, True)
    published = claim.value or 0.0
    error = simulated / published - 1
    if claim.kind == "max":
        return error, simulated <= published
    if claim.kind == "min":
        return error, simulated >= published
    return error, abs(error) <= (claim.tolerance or 0.0)


def claim_of(entry: dict[str, Any]) -> Claim:
    """A claim from its entry in a data file."""
    fields = dict(entry)
    fields["series"] = _several(fields.get("series", []))
    for name in ("order", "figures", "each", "shows", "part"):
        fields[name] = tuple(fields.get(name, ()))
    fields["where"] = tuple((name, _several(values)) for name, values in fields.get("where", {}).items())
    return Claim(**fields)


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, list) else (values,)
