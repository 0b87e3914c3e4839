"""A claim: a published figure or finding, its source, and how to measure it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Literal

from elanite import _core
from elanite.inputs import sources

if TYPE_CHECKING:
    from elanite.inputs.plan import Point
    from elanite.results.selection import Scalar
    from elanite.store import Table
    from elanite.validation.measures import Measure

Kind = Literal["value", "max", "min", "range", "order", "shape"]
Role = Literal["predicted", "fitted", "inconsistent", "inference"]
Rank = Literal["value", "order", "bound", "consequence", "verification", "repeat"]
Confidence = Literal["text", "abstract", "secondary"]


COUNTED: tuple[Rank, ...] = ("value", "order")
"""The ranks that the headline counts."""


TODAY = "today/"
"""The name prefix of experiments on current networks."""


@dataclass(frozen=True)
class Proof:
    """A contradiction's arithmetic; it has been evaluated and is true."""

    of: tuple[tuple[str, str], ...]
    """The comparison's names, each with the claim for whose published figure it stands."""
    shows: str
    """The comparison."""
    implied: float
    """The figure for the claim that would agree with the others: it makes the comparison false."""
    says: str
    """Its meaning, with the places in the paper."""
    sides: str
    """The comparison with its sides worked out: ``301 < 307.9``."""

    @property
    def text(self) -> str:
        """The sentence, the comparison, and the meanings of its names."""
        names = ", ".join(f"{name} is {claim}" for name, claim in self.of)
        return f"{self.says}: {self.shows}, which is {self.sides} ({names})"


@dataclass(frozen=True)
class Claim:
    """A published figure or finding, and how to measure it."""

    id: str
    source: str
    kind: Kind
    says: str
    rank: Rank = "value"
    """The claim's weight: the headline counts values and orders alone."""
    rests_on: tuple[str, ...] = ()
    """The claim that it repeats, or the fitted claims that it follows from."""
    because: str = ""
    """The reason for a rank that the headline does not count."""
    ours: str = ""
    """The test's bounds that the source does not state, in words."""
    one_miss: str = ""
    """A claim that is missed for the same cause: both count as one miss while both are missed."""
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    order: tuple[str, ...] = ()
    experiment: str = ""
    """The shipped experiment that produces the data; empty: not yet simulated."""
    series: tuple[str, ...] = ()
    """Series that produce the data; empty: all."""
    where: tuple[tuple[str, tuple[Scalar, ...]], ...] = ()
    """Parameters that select the points, each with the values that it may have."""
    measure: Measure | None = None
    """How the rows are measured (see ``measures``); `None` without an experiment."""
    metric: str = ""
    table: Table | Literal["congestion"] = "rows"
    """The measured table: a table in the store, or the congestion matrix's links."""
    tolerance: float | None = None
    """How far a value may be off and still hold, as a fraction."""
    one_run: str = ""
    """The reason why the published figure is from one run, by the source's words, and a simulated
    run's length.
    """
    admissible: str = ""
    """A parameter with an admissible range over which the claim is judged, too
    (``elanite.validation.admissible_ranges``).
    """
    test: str = ""
    known_miss: str = ""
    causes: tuple[str, ...] = ()
    """Mechanisms and parameters that ``known_miss`` names as causes; shipped ablations may not
    contradict them.
    """
    not_causes: tuple[str, ...] = ()
    """Mechanisms and parameters that ``known_miss`` excludes as causes."""
    proof: Proof | None = None
    """The arithmetic by which the claim contradicts other claims from its paper."""
    inference: str = ""
    """The paper's words that show that the authors conclude the claim and did not run it."""
    vague: str = ""
    """Why the paper's words cannot settle the claim while the simulated figure stays at a bound of
    the test.
    """
    confidence: Confidence = "text"
    """The text that was read: the source itself, only its abstract, or others on the hardware."""

    @property
    def role(self) -> Role:
        """Whether the claim is predicted, fitted, inconsistent in its source, or an authors'
        inference.
        """
        if self.proof:
            return "inconsistent"
        if self.inference:
            return "inference"
        return "fitted" if self.id in fitted() else "predicted"

    @property
    def standing(self) -> str:
        """The role; for a predicted claim its rank, with the role if the headline may count it."""
        if self.role != "predicted":
            return self.role
        return f"predicted {self.rank}" if self.rank in COUNTED else self.rank

    @property
    def today(self) -> bool:
        """Whether it is about a current network, and counted apart from the papers' claims."""
        return self.experiment.startswith(TODAY)

    @property
    def cited(self) -> str:
        """The source, and the part that was read if that is not the text."""
        return self.source if self.confidence == "text" else f"{self.source} ({self.confidence})"

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest figure with which a claim about a number holds."""
        if self.kind == "range":
            return self.low or 0.0, self.high or 0.0
        value = self.value or 0.0
        off = abs(value) * (self.tolerance or 0.0)
        return {"max": (-inf, value), "min": (value, inf)}.get(
            self.kind, (value - off, value + off)
        )

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


@cache
def fitted_parameters() -> dict[str, dict[str, tuple[str, ...]]]:
    """By shipped machine: its fitted parameters, and the claims to which each parameter was
    fitted.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name in sources.shipped("machine"):
        source = sources.read("machine", name)
        parameters = json.loads(_core.load_machine(source.text, source.file, []))["parameters"]
        found[name] = {p["key"]: tuple(p["fitted_to"]) for p in parameters if p.get("fitted_to")}
    return found


@cache
def fitted() -> frozenset[str]:
    """Claims to which some shipped machine's parameter was fitted."""
    return frozenset(
        claim
        for machine in fitted_parameters().values()
        for fitted_to in machine.values()
        for claim in fitted_to
    )
