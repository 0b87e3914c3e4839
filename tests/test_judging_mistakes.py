"""Mistakes that are planted in the code that judges: statistics, quantities, bounds, verdicts,
proofs and counts.

Each check is a test of the unchanged code. For each mistake, one part of a module's source is
replaced, all judging modules are imported again with it, and the named check has to fail.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Iterator
    from importlib.machinery import ModuleSpec

    from elanite.validation.claim import Kind

JUDGING = ("elanite.results", "elanite.validation", "elanite.inputs.tables")
"""The modules that are imported again, with all below them."""


class Mistake(SourceFileLoader):
    """Loads a module with one part of its source replaced."""

    def __init__(self, name: str, old: str, new: str) -> None:
        path = Path(str(elanite.__file__)).parent.parent / f"{name.replace('.', '/')}.py"
        super().__init__(name, str(path if path.exists() else path.with_suffix("") / "__init__.py"))
        self.old, self.new = old, new

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """As a finder, knows this module alone."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> types.CodeType:
        """The changed source's code, uncached."""
        source = Path(self.path).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise ValueError(f"`{self.old}` stands {source.count(self.old)} times in {fullname}")
        return compile(source.replace(self.old, self.new), self.path, "exec")


@contextmanager
def planted(mistake: Mistake) -> Iterator[None]:
    """The judging modules with a mistake; the real ones return afterwards."""

    def judging() -> dict[str, types.ModuleType]:
        return {
            name: module
            for name, module in sys.modules.items()
            if f"{name}.".startswith(tuple(f"{one}." for one in JUDGING))
        }

    real, packages = (
        judging(),
        {name: vars(elanite).get(name) for name in ("results", "validation")},
    )
    for name in real:
        del sys.modules[name]
    sys.meta_path.insert(0, mistake)
    try:
        yield
    finally:
        sys.meta_path.remove(mistake)
        for name in judging():
            del sys.modules[name]
        sys.modules.update(real)
        vars(elanite).update(packages)


def table(**columns: list[object]) -> pl.DataFrame:
    length = len(next(iter(columns.values())))
    return pl.DataFrame(
        {"seed": [1] * length, "batch": [0] * length, "metric": ["latency"] * length, **columns}
    )


def comparisons() -> None:
    """Ratios, differences and changed figures in closed form."""
    from elanite.results.numbers import Number, difference, number, ratio

    one, other = number([50.0, 60.0, 70.0]), number([100.0, 120.0, 140.0])
    paired = ratio(one, other)
    assert (paired.low, paired.mean, paired.high) == pytest.approx((0.5, 0.5, 0.5))
    apart = ratio(Number(50.0, 45.0, 55.0), Number(100.0, 80.0, 120.0))
    assert apart.half == pytest.approx(0.5 * (0.1**2 + 0.2**2) ** 0.5)
    assert difference(Number(5.0, 2.0, 8.0), Number(1.0, -3.0, 5.0)).half == pytest.approx(5.0)
    assert difference(one, other).mean == -60.0
    turned = Number(3.0, 2.0, 5.0).turned(-2.0, 1.0)
    assert (turned.low, turned.mean, turned.high) == (-9.0, -5.0, -3.0)


def intervals() -> None:
    """Bounds within an interval are not decisive, a run varies more than a mean, and looks widen
    intervals.
    """
    from elanite.results.numbers import (
        Number,
        all_hold,
        at_least,
        at_most,
        excuse,
        number,
        prediction,
    )

    figure = Number(5.0, 4.0, 6.0)
    assert [at_least(figure, bound) for bound in (4.0, 4.5, 6.0, 6.5)] == [True, None, None, False]
    assert [at_most(figure, bound) for bound in (6.0, 5.5, 4.0, 3.9)] == [True, None, None, False]
    assert [all_hold(some) for some in ([True, None], [None, False], [True, True])] == [
        None,
        False,
        True,
    ]
    assert excuse(["a", "a", "b"], [None, False, None], 1) == [None, True, True]
    low, high = prediction([9.0, 10.0, 11.0])
    assert high - low == pytest.approx(2 * 2 * number([9.0, 10.0, 11.0]).half)
    assert number([1.0, 2.0]).few
    assert not number([1.0, 2.0, 3.0]).few
    usual, wide = number([9.0, 10.0, 11.0]), number([9.0, 10.0, 11.0]).at(0)
    assert wide.low < usual.low
    assert wide.high > usual.high


def independence() -> None:
    """Seeds that differ are an interval's values; seeds that do not differ leave it to their
    batches.
    """
    from elanite.results.independent_values import independent

    assert independent([1.0, 1.1, 5.0, 5.1, 9.0, 9.1], [1, 1, 2, 2, 3, 3]) == pytest.approx(
        [1.05, 5.05, 9.05]
    )
    alike = [1.0, 9.0, 2.0, 8.0, 1.5, 8.5]
    assert independent(alike, [1, 1, 2, 2, 3, 3]) == alike
    assert independent([7.0] * 4, [1, 1, 2, 2]) == [7.0] * 4  # no variance at all


def selections() -> None:
    """Inclusive and exclusive bounds, a column's ends, and groups without their own rows."""
    from elanite.results.selection import chosen
    from elanite.validation.measures.quantities import Extreme, Limits, Mean

    rows = table(nodes=[1, 2, 3, 4], value=[10.0, 20.0, 30.0, 40.0])
    wanted = {"least": [2, 3, 4], "most": [1, 2], "above": [3, 4], "below": [1]}
    for bound, nodes in wanted.items():
        assert chosen(rows, {"nodes": {bound: 2}})["nodes"].to_list() == nodes, bound
    assert chosen(rows, {"nodes": {"not": [1, 2]}})["nodes"].to_list() == [3, 4]
    assert [Mean("latency", {"nodes": end}).figure(rows, {}).mean for end in Extreme] == [
        10.0,
        40.0,
    ]
    assert Mean("latency", {"nodes": (1, 2)}).figure(rows, {"nodes": 2}).mean == 20.0
    assert (
        Mean("latency", {"nodes": Limits({"above": Mean("latency", {"nodes": 1})})})
        .rows(rows, {})
        .is_empty()
    )
    shared = table(policy=["a", "a", ""], value=[1.0, 3.0, 7.0])
    assert Mean("latency").rows(shared, {"policy": "b"})["value"].to_list() == [7.0]


def quantities() -> None:
    """Each measure on one figure, on two, and over a column."""
    from elanite.validation.measures.quantities import ColumnFigure, Mean, PairFigure, UnaryFigure

    rows = table(bytes=[1, 2, 6], policy=["a", "a", "b"], value=[10.0, 30.0, 40.0])
    one, other = Mean("latency", {"policy": "a"}), Mean("latency", {"policy": "b"})
    pairs = {"ratio": 0.5, "difference": -20.0, "gain": -0.5, "loss": 0.5}
    assert {
        name: PairFigure(name, one, other).figure(rows, {}).mean for name in pairs
    } == pytest.approx(pairs)
    turned = {"twice": 40.0, "rest": -19.0, "size": 20.0}
    assert {name: UnaryFigure(name, one).figure(rows, {}).mean for name in turned} == pytest.approx(
        turned
    )
    assert UnaryFigure("size", PairFigure("difference", one, other)).figure(rows, {}).mean == 20.0
    along = {"least": 10.0, "most": 40.0, "first": 10.0, "rate": 0.4}
    assert {
        name: ColumnFigure(name, Mean("latency"), "bytes").figure(rows, {}).mean for name in along
    } == pytest.approx(along)


def statements() -> None:
    """Statement bounds with and without means, group picks, and step rises."""
    from elanite.results.numbers import Number
    from elanite.validation.measures import Bound, FigureMeasure, Ranking, Statement
    from elanite.validation.measures.quantities import Mean

    figure = Number(5.0, 4.0, 6.0)
    assert [Bound(above=bound).holds(figure) for bound in (3.9, 4.0, 5.5, 6.0)] == [
        True,
        None,
        None,
        False,
    ]
    assert [Bound(below=bound).holds(figure) for bound in (6.1, 6.0, 4.5, 4.0)] == [
        True,
        None,
        None,
        False,
    ]
    assert [Bound(touches=ends).holds(figure) for ends in ((6.0, 7.0), (1.0, 4.0), (6.1, 7.0))] == [
        True,
        True,
        False,
    ]
    assert Bound(least=4.5, means=True).holds(figure) is True
    assert Bound(least=4.5, means=True).holds(figure, 0) is None
    rows = table(nodes=[1, 2, 3], value=[10.0, 40.0, 30.0])
    best = FigureMeasure(Mean("latency"), ("nodes",), pick="most").measured(rows, None)
    assert best.mean == 40.0
    assert (
        FigureMeasure(Mean("latency"), ("nodes",), pick="farthest", middle=38.0)
        .measured(rows, None)
        .mean
        == 10.0
    )
    assert Ranking(Mean("latency"), ("nodes",)).measured(rows, None).names == [
        "2 nodes",
        "3 nodes",
        "one node",
    ]
    rises = Statement(Mean("latency"), says="grows", bound=Bound(above=0.0), steps="nodes").finding(
        rows, None
    )
    assert [case.holds for case in rises.parts[0].cases] == [True, False]


def verdicts() -> None:
    """Numbers, ranges, limits and orders at their bounds, and early looks."""
    from elanite.results.numbers import Number, Order
    from elanite.validation.claim import Claim
    from elanite.validation.verdict import judge

    def holds(kind: Kind, mean: float, half: float = 0.0) -> bool | None:
        claim = Claim(
            "x", "petrini2003", kind, "says", value=9.0, low=8.0, high=10.0, tolerance=0.1
        )
        return judge(claim, Number(mean, mean - half, mean + half)).holds

    assert [holds("value", mean) for mean in (8.1, 9.9, 8.0, 10.0)] == [True, True, False, False]
    assert [holds("max", mean, 0.5) for mean in (9.0, 9.4, 9.6)] == [True, None, False]
    assert [holds("min", mean, 0.5) for mean in (9.0, 8.6, 8.4)] == [True, None, False]
    assert [holds("range", mean, 0.5) for mean in (8.0, 10.4, 10.6)] == [True, None, False]
    claim = Claim("x", "petrini2003", "order", "says", order=("a", "b"))
    near, far = (Number(mean, mean - 0.4, mean + 0.4) for mean in (8.0, 7.0))
    assert judge(claim, Order(["a", "b"], "", (near, far))).holds is True
    assert judge(claim, Order(["b", "a"], "", (near, near))).holds is None
    assert judge(claim, Order(["b", "a"], "", (near, far))).holds is False
    known = Claim(
        "x", "petrini2003", "max", "says", value=1.0, experiment="e", known_miss="a reason"
    )
    assert judge(known, Number(2.0, 2.0, 2.0)).state == "known miss"
    assert not judge(known, Number(2.0, 2.0, 2.0)).failed
    assert judge(known, Number(0.5, 0.5, 0.5)).state == "holds again"


def proofs() -> None:
    """Arithmetic is exact, comparison chains hold as a whole, and every name is used."""
    from fractions import Fraction

    from elanite.validation.proofs import compared, exact

    assert exact(0.1) == Fraction(1, 10)
    assert compared("1 < a < 3", {"a": Fraction(2)})[0]
    assert not compared("a < 1 < 3", {"a": Fraction(2)})[0]
    assert not compared("a < 2", {"a": Fraction(2)})[0]
    assert compared("a - 1 <= 1", {"a": Fraction(2)})[2] == {"a"}


def counting() -> None:
    """Misses with one cause count once, and a removed mechanism turns only a resolved verdict."""
    from elanite.validation.ablation_verdicts import Ablation, turning
    from elanite.validation.claim import Claim
    from elanite.validation.tally import count
    from elanite.validation.verdict import Verdict

    one = Claim("one", "petrini2003", "value", "says", value=1.0, experiment="e")
    two = Claim("two", "petrini2003", "value", "says", value=1.0, experiment="e", one_miss="one")
    found = count([Verdict(claim, simulated=2.0, holds=False) for claim in (one, two)], "values")
    assert (found.missed, found.alike, found.total) == (1, 1, 1)
    rows = [
        Ablation("one", name, verdict, "")
        for name, verdict in (
            ("none", "holds"),
            ("circuits", "missed"),
            ("rails", "not resolved"),
            ("retry", "holds"),
        )
    ]
    assert turning(rows) == ("circuits",)


def entries() -> None:
    """An unknown key, and a repeat of a repeat, are refused; a fitted claim is not a prediction."""
    from elanite.errors import UsageError
    from elanite.validation.claims import claims, claims_of

    whole = (
        '[[claim]]\nid = "{}"\nsource = "a"\nkind = "value"\nvalue = 1\nsays = "b"\nrank = "{}"\n'
    )
    repeat = 'because = "so"\nrests_on = ["{}"]\n'
    good = whole.format("one", "value") + whole.format("two", "repeat") + repeat.format("one")
    assert len(claims_of(good, "own.toml")) == 2
    for wrong in (whole.format("three", "repeat") + repeat.format("two"), 'metrc = "latency"\n'):
        with pytest.raises(UsageError):
            claims_of(good + wrong, "own.toml")
    (ping,) = (claim for claim in claims() if claim.id == "ping.uni.elan.bandwidth")
    assert ping.role == "fitted"


CHECKS = (
    comparisons,
    intervals,
    independence,
    selections,
    quantities,
    statements,
    verdicts,
    proofs,
    counting,
    entries,
)

MISTAKES: dict[tuple[str, Callable[[], None]], list[tuple[str, str]]] = {
    ("results.numbers", comparisons): [
        ("abs(mean) * math.hypot(one.relative, other.relative)", "abs(mean) * one.relative"),
        (
            "one.mean - other.mean, math.hypot(one.half, other.half)",
            "one.mean - other.mean, one.half",
        ),
        ("a - times * b for a, b in pairs", "a + times * b for a, b in pairs"),
        (
            "low, high = sorted((shift + scale * self.low, shift + scale * self.high))",
            "low, high = shift + scale * self.low, shift + scale * self.high",
        ),
    ],
    ("results.numbers", intervals): [
        ("True if figure.low >= bound else", "True if figure.mean >= bound else"),
        ("True if figure.high <= bound else", "True if figure.mean <= bound else"),
        (
            "False if False in found else None if None in found else True",
            "None if None in found else False if False in found else True",
        ),
        ("math.sqrt(len(runs) + 1)", "math.sqrt(len(runs))"),
        ("self.drawn and self.n < FEWEST", "self.drawn and self.n < FEWEST - 1"),
        (
            "low=self.mean - times * (self.mean - self.low)",
            "low=self.mean - (self.mean - self.low)",
        ),
    ],
    ("results.independent_values", independence): [
        ("return means if between * inner >", "return means if between * inner <"),
        ("return means if between * inner >", "return means if between * inner >="),
    ],
    ("results.selection", selections): [
        ('"least": pl.Expr.ge', '"least": pl.Expr.gt'),
        ('"below": pl.Expr.lt', '"below": pl.Expr.le'),
    ],
    ("validation.measures.quantities", selections): [
        (
            "column.min() if end is Extreme.LOWEST else column.max()",
            "column.max() if end is Extreme.LOWEST else column.min()",
        ),
        ("same if len(same) else here.filter(empty(here, name))", "same"),
    ],
    ("validation.measures.quantities", quantities): [
        (
            '"gain": lambda one, other: ratio(one, other)',
            '"gain": lambda one, other: ratio(other, one)',
        ),
        (
            '"loss": lambda one, other: ratio(one, other).turned(-1.0, 1.0)',
            '"loss": lambda one, other: ratio(one, other).turned(1.0, -1.0)',
        ),
        ("sorted(found.items())[-2:]", "sorted(found.items())[:2]"),
        ('"first": lambda found: found[min(found)]', '"first": lambda found: found[max(found)]'),
    ],
    ("validation.measures", statements): [
        ("figure.low <= high and figure.high >= low", "figure.mean <= high and figure.mean >= low"),
        ("return None if inside is None else not inside", "return not inside"),
        ("if not self.means or more_looks_possible(look):", "if not self.means:"),
        ("difference(b, a), sides=(a, b)", "difference(a, b), sides=(a, b)"),
        (
            "ordered = sorted(found, key=lambda one: -one[1].mean)",
            "ordered = sorted(found, key=lambda one: one[1].mean)",
        ),
        ("abs(one[1].mean - self.middle)", "one[1].mean - self.middle"),
    ],
    ("validation.verdict", verdicts): [
        ("return False if figure.high < low or figure.low > high else None", "return False"),
        ("if low <= figure.mean <= high:", "if low < figure.mean < high:"),
        (
            "difference(found[better], found[worse]).at(look)",
            "difference(found[worse], found[better]).at(look)",
        ),
        ('return "holds again" if self.holds else "known miss"', 'return "known miss"'),
    ],
    ("validation.claim", verdicts): [
        (
            '{"max": (-inf, value), "min": (value, inf)}',
            '{"max": (value, inf), "min": (-inf, value)}',
        ),
    ],
    ("validation.proofs", proofs): [
        ("return Fraction(str(number))", "return Fraction(number)"),
        ("holds = holds and holds_between(one, other)", "holds = holds_between(one, other)"),
        ('ast.Lt: ("<", operator.lt)', 'ast.Lt: ("<", operator.le)'),
    ],
    ("validation.tally", counting): [
        ("len(missed) - alike", "len(missed)"),
    ],
    ("validation.ablation_verdicts", counting): [
        (
            'opposite = {"holds": "missed", "missed": "holds"}',
            'opposite = {"holds": "missed", "missed": "holds", "not resolved": "holds"}',
        ),
    ],
    ("validation.claims", entries): [
        ('found[claim.rests_on[0]].rank == "repeat"', 'found[claim.rests_on[0]].rank == "bound"'),
    ],
    ("inputs.tables", entries): [
        ("if key not in allowed:", "if key in allowed and key not in allowed:"),
    ],
    ("validation.claim", entries): [
        ('return "fitted" if self.id in fitted()', 'return "fitted" if self.id not in fitted()'),
    ],
}
"""By module and by the check that finds them: source parts, and the mistakes in their places."""


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_code_as_it_is(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("module", "old", "new", "check"),
    [
        pytest.param(f"elanite.{module}", old, new, check, id=f"{module}: {new}")
        for (module, check), mistakes in MISTAKES.items()
        for old, new in mistakes
    ],
)
def test_a_planted_mistake_is_found(
    module: str, old: str, new: str, check: Callable[[], None]
) -> None:
    with planted(Mistake(module, old, new)), pytest.raises((AssertionError, pytest.fail.Exception)):
        check()
