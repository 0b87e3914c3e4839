"""The scoreboard: every published claim beside the simulated result.

The claims are data (``data/claims.toml``): the published figure, its source, and how to measure it. Verdicts depend on
the finished points of the store alone. Claims to which a parameter was fitted (the machine files list them) are
``fitted``, all others are ``predicted``, with two exceptions, which the text of the paper decides and never the result.
A claim is ``inconsistent`` if arithmetic on the figures of its own paper refutes the claim (see ``proofs``), and an
``inference`` if the authors conclude the claim without a run. A missed claim is never hidden: a claim with a
``known_miss`` reason is shown as missed, with the reason, but does not make a run fail.

A number holds if its mean is within the published bounds. It is missed only if its whole 95% confidence interval is
outside; else it is not resolved. If the paper states no figure, so that the bound of an unresolved finding is ours, and
the simulated figure stays at this bound, the source is too vague to settle the claim (``vague``).
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from elanite import _core
from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import FIRST_SEED
from elanite.inputs.sources import did_you_mean
from elanite.results.looks import RUNS, early
from elanite.validation.proofs import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from elanite.inputs.plan import Plan, Point
    from elanite.results.numbers import Part
    from elanite.store import Store, Table
    from elanite.validation.admissible import End, Range
    from elanite.validation.measures import Measurement, Number, Order
    from elanite.validation.proofs import Proof

Kind = Literal["value", "max", "min", "range", "order", "shape"]
Role = Literal["predicted", "fitted", "inconsistent", "inference"]
Rank = Literal["value", "order", "bound", "consequence", "verification", "repeat"]
Confidence = Literal["text", "abstract", "secondary"]

COUNTED: tuple[Rank, ...] = ("value", "order")
"""The ranks that the headline counts."""

TODAY = "today/"
"""How the names of experiments on networks of today begin."""


@dataclass(frozen=True)
class Claim:
    """A published figure or finding, and how to measure it."""

    id: str
    source: str
    kind: Kind
    says: str
    rank: Rank = "value"
    """The weight of the claim: the headline counts values and orders alone."""
    rests_on: tuple[str, ...] = ()
    """The claim that it repeats, or the fitted claims of which it is a consequence."""
    because: str = ""
    """The reason for a rank that the headline does not count."""
    ours: str = ""
    """The bounds of the test that the source does not state, in words."""
    one_miss: str = ""
    """A claim that is missed for the same cause: both count as one miss while both are missed."""
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
    """How the rows are measured: a quantity (see ``measures``), ``order``, ``parts``, or a special measure."""
    metric: str = ""
    rows: str = ""
    """The kind of rows that count, if columns cannot select them (see ``elanite.validation.measures.rows``)."""
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
    one_run: str = ""
    """Why the published figure is that of one run, from the source's words, and the length of a simulated run."""
    admissible: str = ""
    """A parameter whose admissible range the claim is judged over as well (see ``elanite.validation.admissible``)."""
    test: str = ""
    known_miss: str = ""
    causes: tuple[str, ...] = ()
    """Mechanisms and parameters that ``known_miss`` names as causes (see ``elanite.study.causes``)."""
    not_causes: tuple[str, ...] = ()
    """Mechanisms and parameters that are no causes by the words of ``known_miss``."""
    proof: Proof | None = None
    """The arithmetic by which the claim contradicts other claims of its paper."""
    inference: str = ""
    """The words of the paper that say that the authors conclude the claim and did not run it."""
    vague: str = ""
    """Why the words of the paper cannot settle the claim while the simulated figure stays at a bound of the test."""
    confidence: Confidence = "text"
    """What was read: the text itself, only its abstract, or what others say of the hardware."""

    @property
    def role(self) -> Role:
        """Whether the claim is predicted, fitted, inconsistent in its source, or an inference of the authors."""
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
        """Whether it is about a network of today, and counted apart from the claims of the papers."""
        return self.experiment.startswith(TODAY)

    @property
    def cited(self) -> str:
        """The source, and what was read of it if that is not the text."""
        return self.source if self.confidence == "text" else f"{self.source} ({self.confidence})"

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest figure with which a claim about a number holds."""
        if self.kind == "range":
            return self.low or 0.0, self.high or 0.0
        value = self.value or 0.0
        off = abs(value) * (self.tolerance or 0.0)
        return {"max": (-inf, value), "min": (value, inf)}.get(self.kind, (value - off, value + off))

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
    simulated: float | list[str] | str | None = None
    """A number, an order of names, the figures of an inequality in words, or None if there are no results."""
    low: float | None = None
    """Lower end of the 95% confidence interval of the simulated number; None with fewer than three values, or if the
    number is exact."""
    high: float | None = None
    """Upper end of this interval."""
    error: float | None = None
    """simulated/published - 1; for a range the distance from its nearest end, 0 inside."""
    holds: bool | None = None
    """None if there is nothing to judge, or if the intervals are too wide to judge."""
    one_run: tuple[float, float] | None = None
    """The prediction interval of one run, by which a figure of one run is judged."""
    range: Range | None = None
    """The admissible range that the claim is judged over as well."""
    ends: tuple[End, ...] = ()
    """The verdicts at the ends of this range that are not the value of the machine; empty if they were not run."""
    note: str = ""
    """The figures behind an order or a mean, or the reason why there is nothing to judge."""
    widest: float | None = None
    """The widest 95% confidence interval of the compared figures: half its width as a fraction of the mean."""
    look: int | None = None
    """The look at short runs that it rests on (see ``looks``); None if it rests on the points of a whole run."""
    parts: tuple[Part, ...] = ()
    """The statements of a finding, each with its figures."""
    points: frozenset[str] = frozenset()
    """The identities of the points of the simulated number, and of groups that may be picked in its place."""
    few: bool = False
    """Whether a figure has fewer than three values, and a whole run may have more: its interval is not known then."""

    @property
    def role(self) -> Role:
        """The role of the claim."""
        return self.claim.role

    @property
    def quick(self) -> bool:
        """Whether it was measured on points that a short run shortened."""
        return self.look is not None

    @property
    def judged(self) -> bool:
        """Whether there are results to judge."""
        return self.simulated is not None

    @property
    def complete(self) -> bool:
        """Whether it is judged, at the ends of its range as well."""
        return self.judged and (self.range is None or len(self.ends) == len(self.range.ends))

    @property
    def state(self) -> str:
        """The verdict in words: a key of ``cells.SIGN``."""
        if not self.judged:
            return "not run" if self.claim.experiment else "not yet simulated"
        if self.role == "inconsistent":
            return "inconsistent"
        if self.holds is None:
            return "source too vague" if self.claim.vague and not self.few else "not resolved"
        if self.claim.known_miss:
            return "holds again" if self.holds else "known miss"
        return "holds" if self.holds else "missed"

    @property
    def open(self) -> bool:
        """Whether a later look at short runs may resolve it."""
        return early(self.look) and self.state == "not resolved"

    @property
    def hanging(self) -> frozenset[str]:
        """The points on which the verdict hangs: those of the figure, and of the cases that are not resolved.

        Empty if the verdict hangs on all points.
        """
        if self.claim.measure != "parts" and not self.points:
            return frozenset()
        open_ = (case.number.points for part in self.parts for case in part.cases if case.holds is None)
        return self.points.union(*open_)

    @property
    def unresolved(self) -> str:
        """The reason why a claim is not resolved; empty in other states."""
        if self.state != "not resolved":
            return ""
        return "fewer than three values" if self.few else "the interval has the bound inside"

    @property
    def failed(self) -> bool:
        """Whether this verdict makes a command fail."""
        return self.state == "missed"

    def as_json(self) -> dict[str, Any]:
        """The verdict as it stands in ``scoreboard.json``."""
        from elanite.validation import admissible

        claim = self.claim
        return {
            "id": claim.id,
            "kind": claim.kind,
            "rank": claim.rank,
            "rests_on": list(claim.rests_on) or None,
            "because": claim.because or None,
            "ours": claim.ours or None,
            "one_miss": claim.one_miss or None,
            "published": claim.published,
            "simulated": self.simulated,
            "low": self.low,
            "high": self.high,
            "error": self.error,
            "holds": self.holds,
            "role": self.role,
            "state": self.state,
            "unresolved": self.unresolved or None,
            "unit": claim.unit,
            "tolerance": claim.tolerance,
            "says": claim.says,
            "source": claim.source,
            "experiment": claim.experiment or None,
            "test": claim.test,
            "note": self.note,
            "widest": self.widest,
            "range": admissible.as_json(self),
            "one_run": list(self.one_run) if self.one_run else None,
            "known_miss": claim.known_miss or None,
            "proof": claim.proof and claim.proof.text,
            "inference": claim.inference or None,
            "vague": claim.vague or None,
            "confidence": claim.confidence,
            "quick": self.quick,
            "look": self.look,
        }


@cache
def claims() -> tuple[Claim, ...]:
    """All claims of all documents, in the order of the documents."""
    return claims_of(bounded.packaged("data", "claims.toml"), "claims.toml")


def claims_of(text: str, file: str) -> tuple[Claim, ...]:
    """The claims of a data file.

    Raises ``UsageError`` if a proof does not prove that its claim is inconsistent, if a confidence or a rank is not
    known, or if a rank does not have what it needs.
    """
    entries = tomllib.loads(text)["claim"]
    for entry in entries:
        _known(entry, "confidence", get_args(Confidence), file)
        _known(entry, "rank", get_args(Rank), file)
    proofs = {entry["id"]: entry.pop("proof") for entry in entries if "proof" in entry}
    found = {entry["id"]: claim_of(entry) for entry in entries}
    for claim in found.values():
        _check_rank(claim, found, file, proved=claim.id in proofs)
    for name, proof in proofs.items():
        found[name] = replace(found[name], proof=checked(found[name], proof, found, file))
    return tuple(found.values())


def _known(entry: Mapping[str, Any], key: str, known: Sequence[str], file: str) -> None:
    """Refuse a word that the head of the data file does not define, and a claim without a rank."""
    value = entry.get(key, "" if key == "rank" else known[0])
    if value not in known:
        wrong = f"`{key}` is one of {', '.join(known)}{did_you_mean(str(value), known)}"
        raise UsageError(f"{file}: claim `{entry['id']}`: {wrong}\n  help: the head of the file says what each means")


def _check_rank(claim: Claim, found: Mapping[str, Claim], file: str, *, proved: bool) -> None:
    """Refuse a rank that lacks its reason or its claims, and one that the kind of the claim contradicts.

    A claim that is ``proved`` to be inconsistent is not judged, whatever its kind is.
    """
    wrong = ""
    absent = [name for name in claim.rests_on if name not in found or name == claim.id]
    if absent:
        wrong = f"`rests_on` names `{absent[0]}`, which is no other claim{did_you_mean(absent[0], list(found))}"
    elif (claim.rank in ("consequence", "repeat")) is not bool(claim.rests_on):
        wrong = f"`rests_on` is for the ranks consequence and repeat, and needed there; the rank is {claim.rank}"
    elif claim.rank == "repeat" and (len(claim.rests_on) > 1 or found[claim.rests_on[0]].rank == "repeat"):
        wrong = "a repeat rests on one claim, which is no repeat itself"
    elif (claim.rank in COUNTED) is bool(claim.because):
        wrong = f"`because` is for ranks other than {' and '.join(COUNTED)}, and needed there; the rank is {claim.rank}"
    elif claim.one_run and (claim.kind, claim.measure, claim.each) != ("value", "value", ()):
        wrong = "`one_run` is for a claim of the kind value whose measure is value, without `each`"
    elif claim.one_miss and (claim.one_miss not in found or found[claim.one_miss].one_miss):
        wrong = f"`one_miss` names `{claim.one_miss}`, which has to be a claim without `one_miss`"
    elif claim.rank in COUNTED and not proved and claim.kind in ("max", "min"):
        wrong = f"a claim of the kind {claim.kind} is a bound; the rank is {claim.rank}"
    if wrong:
        raise UsageError(f"{file}: claim `{claim.id}`: {wrong}\n  help: the head of the file says what each rank means")


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


def judge(claim: Claim, measurement: Measurement, look: int | None = None) -> Verdict:
    """Compare a measurement with the published figure. A figure that its source contradicts is not judged.

    The figures of a ``look`` at short runs (see ``looks``) decide only if they have intervals: fewer than three values
    resolve no statement, not even one whose bound is far from them. A claim is missed by one statement whose figures
    have intervals, whatever its other figures are. Before the last look, the whole intervals decide.
    """
    from elanite.results.numbers import Finding, Order, together

    if isinstance(measurement, Finding):
        widest = _widest(measurement.numbers)
        found = Verdict(
            claim, simulated=measurement.text, holds=measurement.holds, widest=widest, parts=measurement.parts
        )
    elif isinstance(measurement, Order):
        found = Verdict(
            claim,
            simulated=measurement.names,
            holds=_in_order(claim, measurement, look),
            note=measurement.note,
            widest=_widest(measurement.numbers),
        )
    else:
        one_run = _one_run(claim, measurement, look)
        found = Verdict(
            claim,
            simulated=measurement.mean,
            low=None if measurement.few or measurement.exact else measurement.low,
            high=None if measurement.few or measurement.exact else measurement.high,
            error=_error(claim, measurement.mean),
            holds=together([_near(claim, measurement, one_run), measurement.besides]),
            one_run=one_run,
            note=measurement.note,
            widest=_widest([measurement]),
            parts=measurement.parts,
            points=measurement.points,
        )
    found = replace(found, few=_few(measurement), look=look)
    if claim.role == "inconsistent":
        return replace(found, holds=None)
    if look is not None and found.few:
        return replace(found, holds=False if _missed_by_one(measurement) and not claim.vague else None)
    return replace(found, holds=_surely(claim, measurement, found.holds, look)) if early(look) else found


def _surely(claim: Claim, measurement: Measurement, holds: bool | None, look: int | None) -> bool | None:
    """The verdict of a look before the last one: None unless the whole intervals of its figures say the same."""
    from elanite.results.numbers import Number, Order, at_least, difference, together

    if holds is False and claim.vague:
        return None  # the figure is near a bound that is ours, where a short run says even less
    if isinstance(measurement, Number):
        low, high = claim.bounds
        inside = True if low <= measurement.low and measurement.high <= high else None
        return together([inside, measurement.besides]) if holds else holds
    if isinstance(measurement, Order) and holds:
        return together(at_least(difference(a, b).at(look), 0.0) for a, b in pairwise(measurement.numbers))
    return holds


def _few(measurement: Measurement) -> bool:
    """Whether an interval is not known: a figure has fewer than three values, or no figure was kept.

    Figures of points that a short run has not shortened are those of a whole run, and need no more values than there.
    """
    from elanite.results.numbers import Finding, Number

    numbers = [measurement] if isinstance(measurement, Number) else list(measurement.numbers)
    if isinstance(measurement, Finding) and measurement.parts:
        numbers = [case.number for part in measurement.parts for case in part.cases]
    return not numbers or any(number.lacking for number in numbers)


def _missed_by_one(measurement: Measurement) -> bool:
    """Whether a statement of a finding is missed by figures that all have intervals."""
    from elanite.results.numbers import Finding

    parts = measurement.parts if isinstance(measurement, Finding) else ()
    return any(part.holds is False and not any(case.number.lacking for case in part.cases) for part in parts)


def _widest(figures: Sequence[Number]) -> float | None:
    return max((figure.relative for figure in figures), default=None)


def verdict(claim: Claim, planned: Plan | None, store: Store, look: int | None = None) -> Verdict:
    """Judge one claim from the points of its experiment that are finished; ``look`` is as in ``judge``."""
    if planned is None:
        return Verdict(claim, note="not yet simulated")
    found = _verdict(claim, [point for point in planned.points if claim.asks_for(point)], store, look)
    return found if look is not None or not claim.admissible or not found.judged else _over_range(found, planned, store)


def _verdict(claim: Claim, points: Sequence[Point], store: Store, look: int | None) -> Verdict:
    """Judge one claim from these points, if all are finished."""
    missing = sum(store.get(point.id) is None for point in points)
    if not points:
        return Verdict(claim, note=f"{claim.experiment} has no point with these parameters")
    if missing:
        from elanite.base.text import are

        return Verdict(claim, note=f"not run: {missing} of {len(points)} points {are(missing)} missing")
    return _judged(claim, points, store, look)


def _judged(claim: Claim, points: Sequence[Point], store: Store, look: int | None = None) -> Verdict:
    """Judge one claim from finished points."""
    from elanite.validation.measures.quantities import MissingError

    try:
        return judge(claim, measurement(claim, points, store, look), look)
    except MissingError as error:
        if claim.rows != "steady":
            raise
        return Verdict(claim, simulated=f"not judged, as other points are saturated: {error}", look=look)


def _over_range(found: Verdict, planned: Plan, store: Store) -> Verdict:
    """The verdict, with those at the ends of the admissible range as far as these were run."""
    from elanite.validation import admissible

    claim = found.claim
    range_ = admissible.of_claim(claim, planned)
    ends = []
    for value in range_.ends:
        points = [p for p in admissible.at(planned, claim.admissible, value).points if claim.asks_for(p)]
        if all(store.get(point.id) is not None for point in points):
            ends.append(admissible.End(value, _judged(claim, points, store)))
    return replace(found, range=range_, ends=tuple(ends))


def measurement(claim: Claim, points: Sequence[Point], store: Store, look: int | None = None) -> Measurement:
    """The simulated figures of a claim, from finished points; ``look`` is as in ``judge``."""
    from elanite.validation.measures import measured

    return measured(claim, _table(claim, points, store, look), look)


def scoreboard(out: str | Path = "out", seed: int = FIRST_SEED, *, quick: bool = False) -> list[Verdict]:
    """Judge all claims from the finished points below ``out``, on the machines that the experiments name.

    ``quick`` takes the points of a quick run (see ``elanite.validation.quick``).
    """
    from elanite.store import Store

    return verdicts(Store(Path(out) / "store"), seed, quick=quick)


def verdicts(
    store: Store, seed: int = FIRST_SEED, *, quick: bool = False, known: Mapping[str, Verdict] | None = None
) -> list[Verdict]:
    """The verdicts on all claims, from the finished points of a store; ``quick`` takes those of short runs.

    ``known`` has verdicts by the names of their claims that rest on all of their points, and need no second judgement.
    """
    plans = plans_of(claims(), seed)
    known = known or {}
    return [
        known.get(claim.id)
        or (looked(claim, store, seed).verdict if quick else verdict(claim, plans.get(claim.experiment), store))
        for claim in claims()
    ]


@dataclass(frozen=True)
class Looked:
    """The looks at a claim so far."""

    verdict: Verdict
    """Of the first look that resolves the claim, or of the last one whose points are finished."""
    missing: tuple[Point, ...] = ()
    """The points of the next look that are to be simulated; empty if there is none."""


def looked(claim: Claim, store: Store, seed: int = FIRST_SEED, *, mine: bool = False) -> Looked:
    """Look at a claim again and again, as far as points are finished; ``mine`` takes only points of this build.

    Each look adds runs of the configurations on which the verdict hangs. A claim whose points are those of a whole run
    is judged as in a whole run.
    """
    from elanite.validation.quick import planned, shortened

    name = claim.experiment
    if name not in plans_of([claim], seed):
        return Looked(verdict(claim, None, store))
    if not shortened(claim, seed):
        return Looked(verdict(claim, planned(name, seed), store))
    has = store.current if mine else store.get
    points = {point.id: point for point in planned(name, seed, 0).points if claim.asks_for(point)}
    found = _verdict(claim, list(points.values()), store, 0)
    for look in range(1, len(RUNS)):
        if not found.open:
            break
        hanging = found.hanging & points.keys() or points.keys()
        places = {points[identity].place for identity in hanging}
        points |= {point.id: point for point in planned(name, seed, look).points if point.place in places}
        if missing := tuple(point for point in points.values() if has(point.id) is None):
            return Looked(found, missing)
        found = _verdict(claim, list(points.values()), store, look)
    return Looked(found)


def plans_of(chosen: Iterable[Claim], seed: int = FIRST_SEED, look: int | None = None) -> dict[str, Plan]:
    """The plans of the experiments that the claims are measured on, by name; ``look`` is as in ``quick.planned``."""
    from elanite.validation.quick import planned

    names = dict.fromkeys(claim.experiment for claim in chosen if claim.experiment)
    available = set(sources.shipped("experiment"))
    return {name: planned(name, seed, look) for name in names if name in available}


def failed(verdicts: Sequence[Verdict]) -> bool:
    """Whether a command that shows these verdicts fails."""
    return any(verdict.failed for verdict in verdicts)


def _table(claim: Claim, points: Sequence[Point], store: Store, look: int | None) -> pl.DataFrame:
    from elanite.results import congestion, frames
    from elanite.validation import quick

    if claim.table == "congestion":
        return congestion.links(points, store)
    exact = [point.id for point in points if (known := store.get(point.id)) is not None and known.random is False]
    rows = frames.tidy(points, store, claim.table)
    rows = rows.with_columns((~rows["id"].is_in(exact)).alias(frames.DRAWN))
    if look is None:
        return rows
    usual = [point.id for point in quick.planned(claim.experiment, min(point.seed for point in points)).points]
    return rows.with_columns((~rows["id"].is_in(usual)).alias(frames.SHORT))


def _error(claim: Claim, simulated: float) -> float:
    """The distance from the published figure as a fraction of it; from the nearest end of a range, 0 inside."""
    if claim.kind != "range":
        return simulated / (claim.value or 0.0) - 1
    low, high = claim.bounds
    return simulated / low - 1 if simulated < low else simulated / high - 1 if simulated > high else 0.0


def _one_run(claim: Claim, figure: Number, look: int | None) -> tuple[float, float] | None:
    """Where a single run lies, for a figure that the source took in one run; None with too few simulated runs."""
    from elanite.base.text import FEWEST
    from elanite.results.numbers import prediction

    return prediction(figure.runs, look) if claim.one_run and len(figure.runs) >= FEWEST else None


def _near(claim: Claim, figure: Number, one_run: tuple[float, float] | None) -> bool | None:
    """Whether the mean is within the bounds; None if the mean is outside, and not all of its interval.

    A figure of one run is near, too, if the prediction interval of one run has it, and is not near otherwise.
    """
    low, high = claim.bounds
    if low <= figure.mean <= high:
        return True
    if one_run:
        return one_run[0] <= (claim.value or 0.0) <= one_run[1]
    return False if figure.high < low or figure.low > high else None


def _in_order(claim: Claim, order: Order, look: int | None) -> bool | None:
    """Whether the names have the published order; None if they have another, and no interval excludes the published."""
    from elanite.results.numbers import at_least, difference

    if tuple(order.names) == claim.order:
        return True
    found = dict(zip(order.names, order.numbers, strict=True))
    if found.keys() != set(claim.order):
        return False
    pairs = (difference(found[better], found[worse]).at(look) for better, worse in combinations(claim.order, 2))
    return False if any(at_least(figure, 0.0) is False for figure in pairs) else None


def claim_of(entry: dict[str, Any]) -> Claim:
    """A claim from its entry in a data file."""
    fields = dict(entry)
    fields["series"] = _several(fields.get("series", []))
    for name in ("order", "figures", "each", "shows", "part", "causes", "not_causes", "rests_on"):
        fields[name] = tuple(fields.get(name, ()))
    fields["where"] = tuple((name, _several(values)) for name, values in fields.get("where", {}).items())
    return Claim(**fields)


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, list) else (values,)
