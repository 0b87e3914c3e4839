"""The claims: all published figures and findings, as data (``data/claims.toml``), read and checked.

Claims to which a parameter was fitted (the machine files list them) are ``fitted``, all others are
``predicted``, with two exceptions, which the paper's text decides and never the result. A claim is
``inconsistent`` if arithmetic on its own paper's figures refutes the claim (see ``proofs``), and an
``inference`` if the authors conclude the claim without a run.

An entry becomes a ``Claim`` once, when the file is loaded. The file's head describes the keys, and
``data/claims.schema.json`` is their JSON schema. An entry that is wrong is a ``UsageError`` with
the file, the line, the key, its value and a remedy.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, get_args

from elanite.base import bounded
from elanite.inputs.sources import did_you_mean
from elanite.inputs.tables import DataTable, loaded
from elanite.store import TABLES
from elanite.validation.claim import COUNTED, Claim, Confidence, Kind, Rank
from elanite.validation.measures import (
    OWN,
    PICKS,
    Bound,
    FigureMeasure,
    FunctionMeasure,
    Measure,
    Ranking,
    Statement,
    Statements,
)
from elanite.validation.measures.quantities import (
    MEASURES,
    PAIRS,
    TURNED,
    ColumnFigure,
    Extreme,
    Limits,
    Mean,
    PairFigure,
    UnaryFigure,
)
from elanite.validation.measures.rows import KINDS
from elanite.validation.proofs import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from elanite.results.selection import Scalar
    from elanite.validation.measures.quantities import ColumnSelection, Quantity

WORDS = {
    "kind": get_args(Kind),
    "rank": get_args(Rank),
    "confidence": get_args(Confidence),
    "table": (*TABLES, "congestion"),
}
"""The words that a claim may have for some keys."""

FIGURES = {
    "value": ("value", "max", "min"),
    "low": ("range",),
    "high": ("range",),
    "order": ("order",),
}
"""The claim kinds that have these published figures."""

MADE = {"measure", "of", "over"}
"""The keys in a quantity that is made of others."""

MEASURED = MADE | {"rows", "each", "pick", "shows", "part", "figures"}
"""The keys for a claim's measurement, beside its metric and its table."""

OUTPUT = "measured"
"""The key in place of ``value`` that names a file with measured values, in a user's claims file."""

BOUNDS = {"least", "most", "above", "below"}

JUDGED = BOUNDS | {"touches", "means", "but"}
"""The keys in a judged part."""

PART = MADE | JUDGED | {"says", "metric", "rows", "each", "steps"}


@cache
def claims() -> tuple[Claim, ...]:
    """All claims from all documents, in document order."""
    return claims_of(bounded.packaged("data", "claims.toml"), "claims.toml")


def claims_of(
    text: str, file: str, listed: Callable[[DataTable], Sequence[DataTable]] = lambda entry: [entry]
) -> tuple[Claim, ...]:
    """A data file's claims; ``listed`` gives the entries behind one entry, such as those for
    measured values.

    Raises ``UsageError`` if an entry is wrong, if a rank lacks its requirements, or if a proof does
    not prove that its claim is inconsistent.
    """
    found_in = loaded(text, file).tables("claim")
    entries = {entry.string("id"): entry for each in found_in for entry in listed(each)}
    found = {name: _claim(entry) for name, entry in entries.items()}
    for name, claim in found.items():
        _check_rank(claim, found, entries[name])
    for name, entry in entries.items():
        if "proof" in entry.content:
            found[name] = replace(
                found[name], proof=checked(found[name], entry.table("proof"), found)
            )
    return tuple(found.values())


def _claim(entry: DataTable) -> Claim:
    entry.only({one.name for one in fields(Claim)} | MEASURED)
    if "rank" not in entry.content:
        raise entry.wrong("rank", "this key is needed", f"allowed: {', '.join(WORDS['rank'])}")
    kind = entry.word("kind", WORDS["kind"])
    for key, kinds in FIGURES.items():
        if (key in entry.content) is not (kind in kinds):
            problem = (
                f"this key is for the kinds {', '.join(kinds)}, and needed there; the kind is"
                f" {kind}"
            )
            raise entry.wrong(key, problem, "the head of the file describes each kind")
    where = entry.table("where")
    given = {key: value for key, value in entry.content.items() if key not in MEASURED}
    return replace(entry, content=given).filled(
        Claim,
        WORDS,
        series=series_of(entry),
        where=tuple((name, scalars(where, name)) for name in where.content),
        measure=(
            _measure(entry, kind) if "experiment" in given or "measure" in entry.content else None
        ),
        proof=None,
    )


def series_of(entry: DataTable) -> tuple[str, ...]:
    """The series that a claim is measured on; empty for all."""
    return (
        (entry.string("series"),)
        if isinstance(entry.content.get("series"), str)
        else entry.strings("series")
    )


def _measure(entry: DataTable, kind: str) -> Measure:
    """How a claim is measured.

    Shapes have statements or a special measure, orders an order, all others a figure.
    """
    name = entry.word("measure", (*MEASURES, *OWN, "order", "parts"))
    needed = {"order": "order", "parts": "shape"} | dict.fromkeys(OWN, "shape")
    if needed.get(name, kind) != kind or (kind in ("order", "shape") and name not in needed):
        problem = f"this measure does not fit a claim of the kind {kind}"
        raise entry.wrong(
            "measure", problem, "shapes have parts or a special measure, orders have order"
        )
    metric = entry.string("metric")
    parts = Statements(tuple(_statement(part, entry) for part in entry.tables("part")))
    each, rows = entry.strings("each"), entry.word("rows", KINDS)
    if name == "parts":
        return _only(entry, name, {"part", "rows", "figures"}, parts)
    if name in OWN:
        return _only(entry, name, {"figures"}, FunctionMeasure(name, entry.numbers("figures")))
    if name == "order":
        return _only(
            entry,
            name,
            {"of", "each", "rows"},
            Ranking(_mean(entry.table("of"), metric), each, rows),
        )
    pick, middle = (
        entry.word("pick", PICKS),
        ((entry.number("low") or 0.0) + (entry.number("high") or 0.0)) / 2,
    )
    figure = FigureMeasure(
        _quantity(entry, metric), each, rows, pick, middle, entry.strings("shows"), parts
    )
    return _only(entry, name, MEASURED - {"figures"}, figure)


def _only(entry: DataTable, name: str, allowed: Collection[str], found: Measure) -> Measure:
    """The measure, unless the entry has keys that it does not read."""
    for key in entry.content:
        if key in MEASURED - {"measure"} and key not in allowed:
            raise entry.wrong(key, f"the measure {name} does not read this key", "remove it")
    return found


def _statement(part: DataTable, entry: DataTable) -> Statement:
    part.only(PART)
    says = part.string("says")
    if not says and (idle := sorted(part.content.keys() & JUDGED)):
        raise part.wrong(
            idle[0], "a part without `says` is only shown, and has no bounds", 'add says = "..."'
        )
    touches = part.numbers("touches")
    if touches and len(touches) != 2:
        raise part.wrong("touches", "a range has two ends", "write touches = [low, high]")
    least, most, above, below = (
        part.number(bound) for bound in ("least", "most", "above", "below")
    )
    ends = (touches[0], touches[1]) if touches else None
    return Statement(
        _quantity(part, part.string("metric") or entry.string("metric")),
        part.strings("each"),
        part.word("rows", KINDS) or entry.word("rows", KINDS),
        says,
        Bound(least, most, above, below, ends, part.truth("means")),
        int(part.number("but") or 0),
        part.string("steps"),
    )


def _quantity(table: DataTable, metric: str) -> Quantity:
    """A quantity with `measure`, `of` and `over`; a table without `measure` is the mean over its
    `of` rows.
    """
    name = table.word("measure", MEASURES) if "measure" in table.content else "value"
    if name == "value":
        if "over" in table.content:
            raise table.wrong(
                "over", "a mean is set over nothing", "remove it, or name a measure such as ratio"
            )
        return _mean(table.table("of"), metric)
    of = _inner(table, "of", metric)
    if name in TURNED:
        return UnaryFigure(name, of)
    if "over" not in table.content:
        raise table.wrong(
            "over", f"the measure {name} needs this key", "name a quantity or a column"
        )
    if name in PAIRS:
        return PairFigure(name, of, _inner(table, "over", metric))
    return ColumnFigure(name, of, table.string("over"))


def _inner(table: DataTable, key: str, metric: str) -> Quantity:
    """A quantity's side: a row selection, or a quantity with `measure`."""
    inner = table.table(key)
    if "measure" not in inner.content:
        return _mean(inner, metric)
    inner.only(MADE)
    return _quantity(inner, metric)


def _mean(table: DataTable, metric: str) -> Mean:
    return Mean(
        table.string("metric") or metric,
        {name: _wanted(table, name, metric) for name in table.content},
    )


def _wanted(table: DataTable, name: str, metric: str) -> ColumnSelection:
    value = table.content[name]
    if isinstance(value, str) and value in tuple(Extreme):
        return Extreme(value)
    if not isinstance(value, dict):
        return scalars(table, name) if isinstance(value, list) else scalars(table, name)[0]
    limits = table.table(name)
    limits.only(BOUNDS | {"not"})
    if "not" in value and len(value) > 1:
        raise limits.wrong(
            "not", "values to leave out have no other bounds beside them", "remove the other bounds"
        )
    return Limits({bound: _limit(limits, bound, metric) for bound in value})


def _limit(limits: DataTable, bound: str, metric: str) -> Scalar | tuple[Scalar, ...] | Quantity:
    value = limits.content[bound]
    if isinstance(value, dict):
        return _inner(limits, bound, metric)
    found = scalars(limits, bound)
    if bound == "not":
        return found if isinstance(value, list) else found[0]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise limits.wrong(bound, "a bound is a number or a quantity")
    return value


def scalars(table: DataTable, name: str) -> tuple[Scalar, ...]:
    """One value or several."""
    value = table.content[name]
    listed = value if isinstance(value, list) else [value]
    found = tuple(one for one in listed if isinstance(one, str | int | float))
    if len(found) < len(listed):
        raise table.wrong(name, "a text, a number, a truth or a list of these is needed")
    return found


def _check_rank(claim: Claim, found: Mapping[str, Claim], entry: DataTable) -> None:
    """Refuses a rank without its reason or its claims, and a rank that the claim's kind
    contradicts.

    A claim with a proof that it is inconsistent is not judged, whatever its kind is.
    """

    def wrong(key: str, problem: str) -> None:
        raise entry.wrong(key, problem, "the head of the file says what each rank means")

    absent = [name for name in claim.rests_on if name not in found or name == claim.id]
    if absent:
        wrong("rests_on", f"`{absent[0]}` is no other claim{did_you_mean(absent[0], list(found))}")
    if (claim.rank in ("consequence", "repeat")) is not bool(claim.rests_on):
        wrong(
            "rests_on",
            "this key is for the ranks consequence and repeat, and needed there; the rank is"
            f" {claim.rank}",
        )
    if claim.rank == "repeat" and (
        len(claim.rests_on) > 1 or found[claim.rests_on[0]].rank == "repeat"
    ):
        wrong("rests_on", "a repeat rests on one claim, which is no repeat itself")
    if (claim.rank in COUNTED) is bool(claim.because):
        counted = " and ".join(COUNTED)
        wrong(
            "because",
            f"this key is for ranks other than {counted}, and needed there; the rank is"
            f" {claim.rank}",
        )
    plain = (
        isinstance(claim.measure, FigureMeasure)
        and isinstance(claim.measure.quantity, Mean)
        and not claim.measure.each
    )
    if claim.one_run and not (claim.kind == "value" and plain):
        wrong(
            "one_run",
            "this key is for a claim of the kind value whose measure is value, without `each`",
        )
    if claim.one_miss and (claim.one_miss not in found or found[claim.one_miss].one_miss):
        wrong("one_miss", "has to be a claim without `one_miss`")
    if claim.rank in COUNTED and "proof" not in entry.content and claim.kind in ("max", "min"):
        wrong("rank", f"a claim of the kind {claim.kind} is a bound; the rank is {claim.rank}")
