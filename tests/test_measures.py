"""Every measure can hold and can fail: synthetic results, judged as the real ones are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import judged
from elanite.results import numbers
from elanite.validation.claim import Claim
from elanite.validation.claims import claims
from elanite.validation.measures import (
    FigureMeasure,
    FunctionMeasure,
    GroupMeasure,
    Number,
    Ranking,
    Statements,
)
from elanite.validation.scoreboard import failed
from elanite.validation.verdict import judge

if TYPE_CHECKING:
    from elanite.validation.measures.quantities import Mean

SIZES = {"320 B": 320, "16 KB": 16384, "64 KB": 65536, "1 MB": 1048576}


def uniform(
    maximum: dict[int, float], gain: dict[int, float], size: str = "256 KB"
) -> pl.DataFrame:
    """Accepted loads on networks that saturate at a maximum, with a gain for uniform
    distributions.
    """
    rows: list[dict[str, Any]] = [
        {
            "id": "x",
            "experiment": "qsnet/uniform",
            "series": "load",
            "seed": seed,
            "nodes": nodes,
            "message": size,
            "message_bytes": SIZES.get(size, 262144),
            "sizes": sizes,
            "arrivals": arrivals,
            "load": f"{load} MB/s",
            "load_MBps": float(load),
            "metric": "accepted",
            "unit": "MB/s",
            "batch": batch,
            "value": (
                min(load, top * (1 + gain[nodes] * (sizes == arrivals == "uniform")))
                + 0.1 * (batch % 2)
            ),
        }
        for nodes, top in maximum.items()
        for sizes in ("uniform", "exponential")
        for arrivals in ("uniform", "exponential")
        for load in (50, 100, 200, 300)
        for seed in (1, 2)
        for batch in range(6)
    ]
    return pl.DataFrame(rows)


def ping(value: float, metric: str = "bandwidth") -> pl.DataFrame:
    return pl.DataFrame(
        {"seed": [1, 1], "batch": [0, 0], "metric": [metric, "latency"], "value": [value, 1.0]}
    )


@pytest.mark.parametrize(
    ("value", "holds"), [(335.0, True), (326.0, True), (345.2, False), (324.0, False)]
)
def test_a_value_holds_within_its_tolerance(value: float, holds: bool) -> None:
    verdict = judged("ping.uni.elan.bandwidth", ping(value))
    assert verdict.simulated == value
    assert verdict.error == pytest.approx(value / 335 - 1)
    assert verdict.holds is holds
    assert failed([verdict]) is not holds


@pytest.mark.parametrize(("top", "holds"), [(116.0, True), (111.0, False), (121.0, False)])
def test_sustained_bandwidth_lies_in_its_range(top: float, holds: bool) -> None:
    verdict = judged("uniform.64.bandwidth", uniform({64: top}, {64: 0.0}))
    assert verdict.simulated == pytest.approx(top + 0.05)
    assert verdict.low is not None
    assert verdict.low < top + 0.05
    assert verdict.holds is holds
    assert (verdict.error == 0) is holds


def test_sustained_bandwidth_is_the_mean_of_the_four_distributions() -> None:
    verdict = judged("uniform.64.bandwidth", uniform({64: 100.0}, {64: 0.2}))
    assert verdict.simulated == pytest.approx(105.05)


@pytest.mark.parametrize(
    ("tops", "holds"), [((150, 140, 116), True), ((150, 155, 116), False), ((90, 95, 99), False)]
)
def test_scaling_is_an_order(tops: tuple[int, int, int], holds: bool) -> None:
    rows = uniform(
        dict(zip((16, 32, 64), map(float, tops), strict=True)), dict.fromkeys((16, 32, 64), 0.0)
    )
    assert judged("uniform.scaling", rows).holds is holds


@pytest.mark.parametrize(
    ("gain", "holds"),
    [
        ((0.1, 0.05, 0.01), True),
        ((0.1, 0.05, -0.01), True),
        ((-0.1, 0.05, 0.01), False),
        ((0.02, 0.02, 0.03), False),
        ((0.2, 0.1, 0.08), False),
    ],
)
def test_distributions_have_a_gap_that_closes(
    gain: tuple[float, float, float], holds: bool
) -> None:
    rows = uniform({16: 150.0, 32: 140.0, 64: 116.0}, dict(zip((16, 32, 64), gain, strict=True)))
    assert judged("uniform.distributions", rows).holds is holds


@pytest.mark.parametrize(
    ("tops", "holds"),
    [
        ((150, 155, 120, 115), True),
        ((100, 155, 120, 115), True),
        ((150, 155, 120, 148), False),  # 4.5% less is no penalty
        ((120, 120, 120, 120), False),
        ((90, 95, 99, 98), False),
    ],
)
def test_large_messages_are_penalised(tops: tuple[int, ...], holds: bool) -> None:
    frames = [
        uniform({64: float(top)}, {64: 0.0}, size) for size, top in zip(SIZES, tops, strict=True)
    ]
    assert judged("uniform.message-size", pl.concat(frames)).holds is holds


@pytest.mark.parametrize(("noise", "state"), [(0.1, "known miss"), (30.0, "source too vague")])
def test_a_gap_within_the_noise_is_not_resolved(noise: float, state: str) -> None:
    """Uniform and exponential distributions have independent noise."""
    rows = uniform({16: 150.0, 32: 140.0, 64: 116.0}, {16: -0.05, 32: -0.03, 64: -0.01})
    odd = (
        pl.when(pl.col("sizes") == "uniform")
        .then(pl.col("batch") // 2 % 2)
        .otherwise(pl.col("batch") % 2)
    )
    rows = rows.with_columns(value=pl.col("value") + noise * (odd - 0.5))
    verdict = judged("uniform.distributions", rows)
    assert verdict.state == state
    assert verdict.judged
    assert not failed([verdict])
    assert verdict.widest is not None
    assert (verdict.widest > 0.02) is (state == "source too vague")
    assert verdict.as_json()["holds"] is (None if state == "source too vague" else False)


def figure(*values: float) -> Number:
    return numbers.number(list(values))


def test_configurations_are_averaged_within_a_batch() -> None:
    """Differences between configurations do not widen their mean's interval."""
    rows = [
        {"seed": seed, "batch": batch, "value": value + part}
        for seed, parts in ((1, (0, 1, 2)), (2, (2, 1, 0)))
        for batch, part in enumerate(parts)
        for value in (100.0, 300.0)
    ]
    found = numbers.averaged(pl.DataFrame(rows))
    assert found.mean == 201.0
    assert found.values == (200.0, 201.0, 202.0, 202.0, 201.0, 200.0)
    assert found.half < 1.0


def test_ratios_and_differences_compare_batch_with_batch() -> None:
    one, other = figure(50.0, 60.0, 70.0), figure(100.0, 120.0, 140.0)
    half = numbers.ratio(one, other)
    assert (half.low, half.mean, half.high) == pytest.approx((0.5, 0.5, 0.5)), "the noise is common"
    shuffled = numbers.ratio(figure(60.0, 70.0, 50.0), other)
    assert shuffled.mean == 0.5
    assert shuffled.half > 0.2
    apart = numbers.difference(figure(1.0, 3.0), figure(10.0, 10.0, 10.0, 10.0))
    assert apart.mean == -8.0
    assert apart.half == pytest.approx(figure(1.0, 3.0).half), "one of them has no noise"
    assert numbers.difference(one, one).half == 0.0


def test_an_interval_across_a_bound_decides_nothing() -> None:
    assert numbers.at_least(Number(5.0, 4.0, 6.0), 4.0) is True
    assert numbers.at_least(Number(5.0, 4.0, 6.0), 6.5) is False
    assert numbers.at_least(Number(5.0, 4.0, 6.0), 5.5) is None
    assert numbers.at_most(Number(5.0, 4.0, 6.0), 6.0) is True
    assert numbers.at_most(Number(5.0, 4.0, 6.0), 5.9) is None
    assert numbers.at_most(Number(5.0, 4.0, 6.0), 3.9) is False
    assert numbers.all_hold([True, None]) is None
    assert numbers.all_hold([True, None, False]) is False
    assert numbers.all_hold([True, True]) is True


def test_a_case_may_fail_or_stay_unresolved_if_an_excuse_is_left() -> None:
    groups = ["a", "a", "a", "b", "b"]
    assert numbers.excuse(groups, [None, True, False, None, True], 1) == [
        None,
        True,
        True,
        True,
        True,
    ]
    assert numbers.excuse(groups, [False, False, True, None, None], 1) == [
        True,
        False,
        True,
        True,
        None,
    ]
    assert numbers.excuse(groups, [None, False, None, True, True], 2) == [
        True,
        True,
        None,
        True,
        True,
    ]


def test_bounds_and_known_misses() -> None:
    bound = Claim(
        id="x", source="", kind="max", says="", value=9.0, experiment="e", metric="bandwidth"
    )
    assert judge(bound, Number(8.0, 8.0, 8.0)).holds is True
    assert judge(bound, Number(10.0, 10.0, 10.0)).holds is False
    assert judge(replace(bound, kind="min"), Number(10.0, 10.0, 10.0)).holds is True
    known = replace(bound, known_miss="for a reason")
    missed, again = judge(known, Number(10.0, 10.0, 10.0)), judge(known, Number(8.0, 8.0, 8.0))
    assert (missed.state, again.state) == ("known miss", "holds again")
    assert not failed([missed, again])
    assert missed.as_json()["holds"] is False


@pytest.mark.parametrize(
    ("kind", "figure", "holds"),
    [
        ("value", Number(9.4, 9.0, 9.8), True),
        ("value", Number(9.6, 9.4, 9.8), None),  # outside the tolerance, but its interval is not
        ("value", Number(9.6, 9.5, 9.7), False),
        ("value", Number(8.4, 8.2, 8.6), None),
        ("value", Number(8.4, 8.3, 8.5), False),
        ("max", Number(9.4, 8.9, 9.9), None),
        ("max", Number(9.4, 9.1, 9.7), False),
        ("min", Number(8.6, 8.1, 9.1), None),
        ("min", Number(8.6, 8.3, 8.9), False),
        ("range", Number(10.2, 9.9, 10.5), None),
        ("range", Number(10.2, 10.1, 10.3), False),
        ("range", Number(7.8, 7.5, 8.1), None),
        (
            "value",
            Number(9.6, 9.4, 9.8, besides=False),
            False,
        ),  # another statement of the claim is missed
        ("value", Number(9.4, 9.0, 9.8, besides=None), None),
    ],
)
def test_a_miss_needs_an_interval_that_excludes_the_published_figure(
    kind: Any, figure: Number, holds: bool | None
) -> None:
    claim = Claim(
        id="x",
        source="",
        kind=kind,
        says="",
        value=9.0,
        low=8.0,
        high=10.0,
        tolerance=0.05,
        experiment="e",
    )
    verdict = judge(claim, figure)
    assert verdict.holds is holds
    assert verdict.state == {True: "holds", False: "missed", None: "not resolved"}[holds]


@pytest.mark.parametrize(
    ("figures", "holds"),
    [
        ((9.0, 8.0, 7.0), True),
        ((8.0, 9.0, 7.0), False),
        ((8.0, 8.5, 7.0), None),  # the wrong order, within the noise
        ((8.0, 8.5, 9.6), False),  # the first and the last are apart
    ],
)
def test_a_wrong_order_within_the_noise_is_not_resolved(
    figures: tuple[float, ...], holds: bool | None
) -> None:
    names = dict(
        zip("abc", (Number(value, value - 0.4, value + 0.4) for value in figures), strict=True)
    )
    ordered = dict(sorted(names.items(), key=lambda one: -one[1].mean))
    claim = Claim(id="x", source="", kind="order", says="", order=("a", "b", "c"), experiment="e")
    assert judge(claim, numbers.Order(list(ordered), "", tuple(ordered.values()))).holds is holds
    assert (
        judge(
            replace(claim, order=("a", "b")),
            numbers.Order(list(ordered), "", tuple(ordered.values())),
        ).holds
        is False
    )


def means(measure: FigureMeasure | Ranking | Statements) -> list[Mean]:
    """The first mean of each quantity in a measure."""
    parts: list[GroupMeasure] = (
        list(measure.parts) if isinstance(measure, Statements) else [measure]
    )
    return [
        part.quantity.first
        for part in (*parts, *(measure.besides.parts if isinstance(measure, FigureMeasure) else ()))
    ]


def test_claims_are_complete() -> None:
    for chosen in claims():
        assert chosen.source
        assert chosen.says
        if chosen.experiment:
            assert chosen.measure, chosen.id
            assert chosen.kind != "value" or chosen.tolerance, f"{chosen.id} needs a tolerance"
            assert chosen.kind not in ("order", "shape") or chosen.test, (
                f"{chosen.id} needs its test in words"
            )
            assert isinstance(chosen.measure, FunctionMeasure) or all(
                mean.metric for mean in means(chosen.measure)
            ), chosen.id
    assert len({chosen.id for chosen in claims()}) == len(claims())


STEPS = [(0, True), (1, True), (2, True), (2, False), (1, False), (0, False)]
"""The longest path's steps through three switch levels: the link level, and whether upwards."""


def matrix(
    delays: list[float], odd: dict[tuple[int, bool, int], float] | None = None
) -> pl.DataFrame:
    """Two switches per level, two links each way; every path step with its delay, except odd
    links.
    """
    rows = [
        {
            "id": "x",
            "seed": 1,
            "enters": None if entered == 0 else 2 * entered + link // 2,
            "enters_level": entered,
            "link_level": level,
            "up": up,
            "way": f"{'up' if up else 'down'}, {level}",
            "link": link,
            "packets": 1000,
            "relative": 0.0,
            "delay_us": (odd or {}).get((level, up, link), delay),
        }
        for (level, up), delay in zip(STEPS, delays, strict=True)
        for link in range(4)
        for entered in (level + up,)
    ]
    frame = pl.DataFrame(rows)
    return frame.with_columns(relative_delay=100 * pl.col("delay_us") / pl.col("delay_us").max())


@pytest.mark.parametrize(
    ("delays", "odd", "holds"),
    [
        pytest.param([17, 37, 50, 60, 70, 100], {}, True, id="as published"),
        pytest.param([17, 37, 36, 60, 70, 100], {}, False, id="less on the third step"),
        pytest.param([17, 37, 50, 60, 100, 90], {}, False, id="most above the first level"),
        pytest.param(
            [17, 37, 50, 60, 70, 100],
            {(2, True, 0): 80.0},
            False,
            id="one switch at the top is hotter",
        ),
        pytest.param(
            [17, 37, 50, 60, 70, 97],
            {(0, False, 0): 100.0, (0, False, 1): 92.0},
            True,
            id="links may differ",
        ),
        pytest.param([20, 37, 50, 60, 70, 100], {}, False, id="more than 17 into the first level"),
        pytest.param([17, 30, 50, 60, 70, 100], {}, False, id="less than 37 into the second level"),
        pytest.param(
            [17, 37, 50, 60, 70, 90],
            {(0, False, 0): 100.0},
            False,
            id="less than 100 down to the nodes",
        ),
    ],
)
def test_delays_are_even_and_grow(
    delays: list[float], odd: dict[tuple[int, bool, int], float], holds: bool
) -> None:
    verdict = judged("congestion.complement", matrix(delays, odd))
    assert verdict.holds is holds
    assert "up, 1" in str(verdict.simulated)


@pytest.mark.parametrize(
    ("odd", "uneven", "holds"),
    [
        pytest.param(
            {(1, False, 0): 100.0, (1, False, 3): 90.0},
            True,
            True,
            id="some links down to the first level",
        ),
        pytest.param(
            {(1, False, 0): 100.0, (1, False, 3): 90.0},
            False,
            False,
            id="destinations get the same",
        ),
        pytest.param(
            {(1, False, 0): 100.0, (2, False, 3): 90.0}, True, False, id="a link at the top, too"
        ),
        pytest.param(
            {(1, False, link): 100.0 for link in range(4)},
            True,
            False,
            id="all links down to the first level",
        ),
    ],
)
def test_some_links_are_hot(
    odd: dict[tuple[int, bool, int], float], uneven: bool, holds: bool
) -> None:
    rows = matrix([5, 5, 5, 5, 10, 90], odd)
    ejects = (pl.col("link_level") == 0) & ~pl.col("up") & (pl.col("link") == 0)
    rows = rows.with_columns(packets=pl.when(ejects & uneven).then(800).otherwise("packets"))
    verdict = judged("congestion.bit-reversal", rows)
    assert verdict.holds is holds, verdict.simulated


def test_seeds_say_how_sure_hot_links_are() -> None:
    """Half the links into the first level have 2.2 and 1.9 times the other half's delays."""
    seeds = [
        matrix([5, 5, 5, 5, 10, 90], {(1, False, 0): hot, (1, False, 3): hot}).with_columns(
            id=pl.lit(f"{hot}"), packets=pl.when(pl.col("link") == 0).then(800).otherwise("packets")
        )
        for hot in (22.0, 19.0)
    ]
    assert judged("congestion.bit-reversal", pl.concat(seeds)).holds is None
    assert judged("congestion.bit-reversal", seeds[0]).holds is True
    assert judged("congestion.bit-reversal", seeds[1]).holds is False


@pytest.mark.parametrize(
    ("after", "holds"),
    [(280.0, True), (268.0, True), (266.5, None), (264.0, False), (144.0, False)],
)
def test_half_the_top_level_does_no_harm(after: float, holds: bool | None) -> None:
    """Independent noise on the two machines: near the bound there is no verdict."""
    rows = [
        {
            "seed": 1,
            "machine": machine,
            "metric": "accepted",
            "batch": batch,
            "value": value + noise,
        }
        for machine, value in (
            ("unchanged", 280.0),
            ("topology.up=[4,2]", 140.0),
            ("topology.parallel=[1,2]", after),
        )
        for batch, noise in enumerate(
            (0.5, -0.5, 0.5, -0.5) if machine == "unchanged" else (0.5, 0.5, -0.5, -0.5)
        )
    ]
    assert judged("congestion.complement.top-level", pl.DataFrame(rows)).holds is holds
