"""Sentences on curves, and the states of their points: knees, ties, rounding, saturation,
intervals.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from random import Random

import polars as pl
import pytest

from elanite.base.text import distinct
from elanite.inputs.plan import Point
from elanite.report.pages import curves, experiment, findings, summaries
from elanite.results.frames import REASON, STATE
from elanite.results.states import Load, QueueState, ends, judged, states, with_states


def curve(label: str, *places: tuple[float, float, float]) -> curves.Curve:
    found = judged(
        [Load(load, None, accepted, 0.0, saturated) for load, accepted, saturated in places]
    )
    made = [
        curves.CurvePoint(
            load, f"{load:g} MB/s", {"accepted": accepted, "saturated": saturated}, {}, *state
        )
        for (load, accepted, saturated), state in zip(places, found, strict=True)
    ]
    return curves.Curve("jobs", label, "load", made)


UNITS = {"accepted": "MB/s"}


def test_the_knee_is_between_two_loads_that_were_run() -> None:
    early = curve("x", (10, 10, 0), (20, 18, 1), (30, 25, 0), (40, 19, 1))
    late = curve("y", (10, 10, 0), (20, 20, 0), (40, 30, 0.5), (80, 35, 1))
    never = curve("z", (10, 10, 0), (20, 20, 0))
    assert findings.sentences([early, late, never], UNITS)[:2] == [
        (
            "Highest accepted load: 35 MB/s per node at 80 MB/s (y); the lowest of the 2 maxima is"
            " 25 MB/s per node at 30 MB/s (x); z is not saturated, with loads up to 20 MB/s."
        ),
        (
            "Saturation: steady up to 10 MB/s, saturated from 20 MB/s (x); steady up to 20 MB/s,"
            " saturated from 40 MB/s (y); 1 of 3 configurations is steady at all loads up to 20"
            " MB/s."
        ),
    ]
    twin = replace(never, label="t")
    assert (
        findings.sentences([never, twin], UNITS)[0]
        == "Highest accepted load: 20 MB/s per node at 20 MB/s (both configurations)."
    )
    halved = [
        replace(one, places=[replace(place, halves={"accepted": half}) for place in one.places])
        for one, half in ((never, 4.4), (twin, 4.6))
    ]
    assert (
        findings.sentences(halved, UNITS)[0]
        == "Highest accepted load: 20 ± 4.4 to 4.6 MB/s per node at 20 MB/s (both configurations)."
    ), "a tie of means is no tie of intervals"
    latency = [
        curves.Curve(
            "ping", name, "", [curves.CurvePoint(None, "", {"latency": mean}, {"latency": half})]
        )
        for name, mean, half in (("a", 7.0, 1.0), ("b", 7.0, 2.0), ("c", 9.0, 0.5))
    ]
    assert (
        findings.sentences(latency, {"latency": "us"})[0]
        == "Latency: lowest 7 ± 1 to 2 µs in 2 of 3 configurations; highest 9 ± 0.5 µs (c)."
    )
    assert (
        findings.sentences(latency[:2], {"latency": "us"})[0]
        == "Latency: 7 ± 1 to 2 µs in all configurations."
    )
    bare = [replace(halved[0], label="u"), replace(twin, label="v"), halved[1]]
    assert (
        findings.sentences(bare, UNITS)[0]
        == "Highest accepted load: 20 ± 4.4 to 4.6 (1 without an interval) MB/s per node at 20 MB/s"
        " (all 3 configurations)."
    ), "a mean without an interval is not one of ± 0"
    assert findings.sentences([never], UNITS)[1] == "No saturation at any load up to 20 MB/s."
    assert findings.sentences([replace(early, label="")], UNITS) == [
        "Highest accepted load: 25 MB/s per node at 30 MB/s.",
        "Saturation: steady up to 10 MB/s, saturated from 20 MB/s.",
    ]


def test_a_curve_with_lower_loads_has_no_lowest_maximum() -> None:
    """Its highest accepted load is the load that it was offered, not the most that it accepts."""
    low = curve("low", (20, 20, 0), (40, 40, 0))
    high = [curve(name, (40, 40, 0), (120, most, 0)) for name, most in (("a", 119), ("b", 120))]
    assert findings.sentences([low, *high], UNITS)[:2] == [
        (
            "Highest accepted load: 120 MB/s per node at 120 MB/s (b); the lowest of the 2 maxima"
            " is 119 MB/s per node at 120 MB/s (a); low is not saturated, with loads up to 40 MB/s."
        ),
        "No saturation at any load up to 40 MB/s (low), up to 120 MB/s in 2 of 3 configurations.",
    ]
    assert findings.sentences([low, replace(low, label="twin"), high[0]], UNITS)[:2] == [
        (
            "Highest accepted load: 119 MB/s per node at 120 MB/s (a); 2 of 3 configurations are"
            " not saturated, with loads up to 40 MB/s."
        ),
        "No saturation at any load up to 40 MB/s in 2 of 3 configurations, up to 120 MB/s (a).",
    ]
    middle = curve("middle", (40, 40, 0), (80, 80, 0))
    assert (
        findings.sentences([low, middle, high[1]], UNITS)[1]
        == "No saturation at any load up to 40 MB/s (low), up to 120 MB/s (b), in the other 1"
        " between these loads."
    )
    saturated = curve("low", (20, 20, 0), (40, 30, 1))
    assert (
        "the lowest of the 3 maxima is 30 MB/s per node at 40 MB/s (low)."
        in findings.sentences([saturated, *high], UNITS)[0]
    ), "a saturated curve's maximum is known"


def test_message_counts_are_those_of_all_equal_latencies() -> None:
    def one(label: str, latency: float, messages: float, seeds: int = 1) -> curves.Curve:
        place = curves.CurvePoint(
            5.0, "5 MB/s", {"accepted": 5.0, "latency_mean": latency, "messages": messages}
        )
        return curves.Curve("jobs", label, "load", [replace(place, seeds=seeds)])

    tied = [one("a", 1.19, 24), one("b", 1.19, 21), one("c", 1.19, 5, seeds=2)]
    said = findings.sentences([*tied, one("d", 3, 40)], {"latency_mean": "us"})[-1]
    assert (
        said == "Mean latency at load 5 MB/s: lowest 1.19 µs (of 10 to 24 messages) in 3 of 4"
        " configurations; highest 3 µs (d)."
    )
    assert (
        findings.sentences([*tied[:2], one("d", 1.19, 2000)], {"latency_mean": "us"})[-1]
        == "Mean latency at load 5 MB/s: 1.19 µs (of 21 to 2,000 messages) in all configurations."
    )
    assert (
        "(of 24 messages) in 2 of 3"
        in findings.sentences(
            [tied[0], replace(tied[0], label="twin"), one("d", 3, 40)], {"latency_mean": "us"}
        )[-1]
    )


def test_rounding_is_no_difference() -> None:
    """Means over the same values in another order differ in their last bits."""
    accepted = 0.1 + 0.2
    assert accepted != 0.3
    assert distinct(accepted, 0.3) == ("0.3", "0.3")
    assert distinct(23.89333333333333, 23.893333333333334) == ("23.89", "23.89")
    assert distinct(1000, 1000.00001) == (
        "1,000",
        "1,000.00001",
    ), "figures of a model may be this near"
    load = Load(0.3, 0.3, accepted, 0.0, 0.0)
    assert judged([load])[0][1] == "queues grow in 0 of 1 seed; accepted 0.3 ≥ 95% of 0.3 offered"
    pings = [
        curves.Curve("ping", name, "", [curves.CurvePoint(None, "", {"latency": mean})])
        for name, mean in (("a", 0.3), ("b", accepted))
    ]
    assert findings.sentences(pings, {"latency": "us"}) == [
        "Latency: 0.3 µs in all configurations."
    ]


def test_ties_belong_to_all_of_their_configurations() -> None:
    first, last = (
        curve("a", (10, 9, 0), (20, 15, 1)),
        curve("c", (10, 10, 0), (20, 20, 0), (40, 30, 1)),
    )
    tied = replace(last, label="d")
    assert findings.sentences([first, last, tied], UNITS)[:2] == [
        (
            "Highest accepted load: 30 MB/s per node at 40 MB/s in 2 of 3 configurations; the"
            " lowest of the 3 maxima is 15 MB/s per node at 20 MB/s (a)."
        ),
        (
            "Saturation: steady up to 10 MB/s, saturated from 20 MB/s (a); steady up to 20 MB/s,"
            " saturated from 40 MB/s in 2 of 3 configurations."
        ),
    ]

    def ping(label: str, latency: float) -> curves.Curve:
        return curves.Curve(
            "ping", label, "message", [curves.CurvePoint(0.0, "0 B", {"latency": latency})]
        )

    found = [ping("a", 0.36), ping("b", 0.5), ping("c", 0.3600001), ping("d", 0.5), ping("e", 0.4)]
    assert findings.sentences(found, {"latency": "us"}) == [
        (
            "Latency at message 0 B: lowest 0.36 µs in 2 of 5 configurations; highest 0.5 µs in 2"
            " of 5 configurations."
        ),
    ]


def test_programs_are_not_compared_with_one_another() -> None:
    """A flow list's time is not a trace's."""

    def program(place: str, job: str, time: float) -> curves.Curve:
        at = [curves.CurvePoint(None, "", {"time": time, "slowdown": 1 + time / 100})]
        return curves.Curve("mix", f"{place}, job {job}", "", at, job=job, beside=place)

    found = [program(place, job, time) for job, times in (("a", (2, 3)), ("b", (50, 60)))
             for place, time in zip(("near", "far"), times, strict=True)]  # fmt: skip
    assert findings.sentences(found, {"time": "us", "slowdown": "ratio"}) == [
        "Slowdown of job a: lowest 1.02x (near); highest 1.03x (far).",
        "Time of job a: lowest 2 µs (near); highest 3 µs (far).",
        "Slowdown of job b: lowest 1.5x (near); highest 1.6x (far).",
        "Time of job b: lowest 50 µs (near); highest 60 µs (far).",
    ]
    sized = [curves.CurvePoint(None, "", {"flows": 3.0, "fct_slowdown_p50": 1.5})]
    of_size = [
        curves.Curve("mix", f"job a, to {size} KB", "", sized, job=f"a, to {size} KB")
        for size in range(9)
    ]
    units = {"time": "us", "slowdown": "ratio"}
    assert findings.sentences(found + of_size, units) == findings.sentences(found, units), (
        "the flows of one size are no job"
    )
    many = [program("near", f"p{count}", count) for count in range(8)]
    said = findings.sentences(many, {"time": "us"})
    assert said[-1] == "The tables have 2 more jobs."
    assert len(said) == 2 * findings.MOST_JOBS + 1


def test_jobs_are_not_compared_with_one_another() -> None:
    """An aggressor's load is not its victim's maximum."""
    loads = [curves.CurvePoint(10.0, "10 MB/s", {"accepted": 9.0, "latency_mean": 3.0})]
    high = [curves.CurvePoint(90.0, "90 MB/s", {"accepted": 80.0, "latency_mean": 7.0})]
    found = [
        curves.Curve("jobs", f"{where}, job {job}", f"{job}.load", places, "", job, where)
        for where in ("near", "far")
        for job, places in (("victim", loads), ("aggressor", high))
    ]
    said = findings.sentences(found, {"accepted": "MB/s", "latency_mean": "us"})
    assert said == [
        "Highest accepted load of job victim: 9 MB/s per node at 10 MB/s (both configurations).",
        "Mean latency of job victim at victim.load 10 MB/s: 3 µs in all configurations.",
        (
            "Highest accepted load of job aggressor: 80 MB/s per node at 90 MB/s (both"
            " configurations)."
        ),
        "Mean latency of job aggressor at aggressor.load 90 MB/s: 7 µs in all configurations.",
    ]


def test_points_that_lose_load_or_whose_seeds_differ_are_not_steady() -> None:
    means = {"accepted": 147.0, "offered": 311.0, "saturated": 0.0}
    lost = curves.CurvePoint(200.0, "200 MB/s", means, {"accepted": 13.0}, QueueState.UNDECIDED)
    first = curves.CurvePoint(
        50.0, "50 MB/s", {"accepted": 50.0, "offered": 52.0, "saturated": 0.0}, {"accepted": 1.0}
    )
    found = findings.sentences([curves.Curve("jobs", "", "load", [first, lost])], UNITS)
    assert found == [
        "Highest accepted load: 147 ± 13 MB/s per node at 200 MB/s.",
        (
            "Undecided at 1 of 2 loads, whose window is too short or whose seeds differ: accepted"
            " 147 of 311 MB/s per node offered at 200 MB/s."
        ),
    ]
    none = {"accepted": 0.0, "offered": 0.0}
    silent = curves.CurvePoint(1.0, "1 MB/s", none, {}, QueueState.UNDECIDED)
    assert findings.sentences([curves.Curve("jobs", "", "load", [silent, lost])], UNITS)[1] == (
        "Undecided at 2 of 2 loads, whose window is too short or whose seeds differ: accepted"
        " 147 of 311 MB/s per node offered at 200 MB/s."
    )
    assert findings.sentences([curves.Curve("jobs", "", "load", [silent])], UNITS)[-1].endswith(
        " whose seeds differ: no message arrived in the measured window at 1 MB/s."
    )
    seeds = curve("y", (10, 10, 0), (20, 20, 0.5))
    assert findings.sentences([seeds], UNITS)[1].startswith("Undecided at 1 of 2 loads")
    assert [one.folded for one in summaries.tables([seeds] * 51, UNITS)] == [True, True]
    throughput, every = summaries.tables([seeds], UNITS)
    assert not throughput.folded
    assert throughput.rows[0][throughput.columns.index("undecided at")] == "20 MB/s"
    assert [row[-2:] for row in every.rows] == [
        ("steady", ""),
        ("undecided", "queues grow in 0 of 1 seed"),
    ]


def test_ranks_come_with_intervals_and_say_when_these_decide_nothing() -> None:
    def one(label: str, mean: float, half: float, messages: float = 9.0) -> curves.Curve:
        means = {"accepted": mean, "latency_mean": mean, "messages": messages}
        place = curves.CurvePoint(
            10.0, "10 MB/s", means, {"accepted": half, "latency_mean": half}, seeds=2
        )
        return curves.Curve("jobs", label, "load", [place])

    units = UNITS | {"latency_mean": "us"}
    assert findings.sentences([one("a", 152.9, 5.8, 15.0), one("b", 136.2, 16.4)], units) == [
        (
            "Highest accepted load: 152.9 ± 5.8 MB/s per node at 10 MB/s (a); the lowest of the 2"
            " maxima is 136.2 ± 16.4 MB/s per node at 10 MB/s (b); the difference is within the"
            " intervals."
        ),
        (
            "Mean latency at load 10 MB/s: lowest 136.2 ± 16.4 µs (of 18 messages) (b); highest"
            " 152.9 ± 5.8 µs (a); the difference is within the intervals."
        ),
    ]
    apart = findings.sentences([one("a", 152.9, 5.8), one("b", 126.2, 16.4)], units)
    assert all("within" not in said for said in apart)
    alike = findings.sentences([one("a", 212.1, 0.0, 1.0), one("b", 212.1, 0.0, 1.0)], units)
    assert (
        alike[1] == "Mean latency at load 10 MB/s: 212.1 µs (of 2 messages) in all configurations."
    )


def test_states_of_points() -> None:
    """The window decides alone where a curve has one load."""
    alone = [(1.0, 9.0), (0.0, 9.0), (0.0, 9.6), (0.9, 10.0)]
    found = [
        str(state)
        for saturated, mean in alone
        for state in states([Load(10.0, 10.0, mean, 0.0, saturated)])
    ]
    assert found == ["saturated", "undecided", "steady", "undecided"]
    assert states([Load(None, None, None, 0.0, None)]) == ["steady"]


@pytest.mark.parametrize(
    ("load", "state", "because"),
    [
        pytest.param(
            Load(60.0, 102.4, 94.15, 8.95, 0.0, 5, 1.0),
            "undecided",
            "accepted 94.15 < 95% of 102.4 offered",
            id="a wide interval is no excuse",
        ),
        pytest.param(
            Load(60.0, 100.0, 97.0, 30.0, 0.0, 1, 8.0),
            "undecided",
            "accepted 97 - 8 < 90% of 100 offered",
            id="few messages are no evidence",
        ),
        pytest.param(
            Load(60.0, 100.0, 97.0, 30.0, 0.0, 2, 2.0),
            "steady",
            "queues grow in 0 of 2 seeds; accepted 97 ≥ 95%, 97 - 2 ≥ 90% of 100 offered",
            id="the noise of arrivals is in both loads",
        ),
        pytest.param(
            Load(240.0, 238.2, 153.1, 5.5, 0.8, 5, 3.0),
            "saturated",
            "nominal load 240 > 153.1 + 5.5, the highest accepted load, and queues grow in 4 of 5"
            " seeds",
            id="most seeds and the curve agree",
        ),
        pytest.param(
            Load(240.0, 238.2, 153.1, 5.5, 0.2, 5, 3.0),
            "undecided",
            "queues grow in 1 of 5 seeds",
            id="few seeds, and no higher load",
        ),
        pytest.param(
            Load(1.0, 0.0, 0.0, 0.0, 0.0),
            "undecided",
            "no message arrived in the measured window",
            id="no message is no evidence",
        ),
    ],
)
def test_a_state_says_by_which_numbers_it_was_decided(load: Load, state: str, because: str) -> None:
    assert judged([load]) == [(state, because)]


def test_the_maximum_of_several_loads_is_named_as_their_mean() -> None:
    below = Load(80.0, 93.7, 95.56, 18.0, 0.0, 1, 8.7)
    two = [Load(160.0, 159.5, 140.3, 7.93, 0.0), Load(320.0, 318.0, 142.9, 11.88, 1.0)]
    assert [because for _, because in judged([below, *two])][1:] == [
        "nominal load 160 > 141.6 + 7.14, the mean of the 2 accepted loads that may be the highest",
        "queues grow in 1 of 1 seed",
    ]


def test_a_load_below_a_steady_one_is_steady() -> None:
    """Few messages leave a low load uncertain; a higher load on the same curve is the evidence
    then.
    """
    low, lost = Load(20.0, 27.2, 28.8, 8.0, 0.0, 1, 5.5), Load(20.0, 27.2, 25.0, 8.0, 0.0, 1, 5.5)
    high, more = Load(40.0, 41.0, 40.9, 2.0, 0.0, 1, 0.5), Load(40.0, 41.0, 40.9, 9.0, 0.0, 1, 8.0)
    assert judged([low, high])[0] == (
        "steady",
        "accepted 28.8 ≥ 95% of 27.2 offered, and the load 40 is steady",
    )
    assert states([low, more]) == ["undecided", "undecided"]
    assert states([lost, high]) == ["undecided", "steady"]


def test_a_load_above_a_saturated_one_is_saturated() -> None:
    """A short window's queues are not conclusive, and the highest load may be the one with the
    maximum.
    """
    low, middle = Load(100.0, 100.0, 99.0, 1.0, 0.0), Load(600.0, 812.6, 312.2, 30.0, 0.0)
    high = Load(1200.0, 1764.0, 465.8, 30.6, 0.0)
    assert states([low, middle, high]) == ["steady", "saturated", "saturated"]
    assert (
        judged([low, middle, high])[2][1]
        == "the load 600 is saturated, and accepted 465.8 < 95% of 1,764 offered"
    )
    assert states([low, high]) == ["steady", "undecided"], "by itself"


@pytest.mark.parametrize(
    ("states_of", "said"),
    [
        (
            ("saturated", "saturated"),
            "; this load is saturated, and latency grows with the window.",
        ),
        (
            ("steady", "saturated"),
            (
                "; the load is saturated in 1 of 2 configurations, whose latency grows with the"
                " window."
            ),
        ),
        (("steady", "steady"), " (other)."),
    ],
)
def test_latencies_at_saturated_loads_are_called_so(states_of: tuple[str, str], said: str) -> None:
    found = [curve(name, (10, 10, 0)) for name in ("one", "other")]
    for number_, (each, state) in enumerate(zip(found, states_of, strict=True)):
        latency = {"latency_mean": 1.0 + number_}
        each.places = [
            replace(place, means={**place.means, **latency}, state=QueueState(state))
            for place in each.places
        ]
    (sentence,) = (
        one for one in findings.sentences(found, {"latency_mean": "us"}) if "latency" in one
    )
    assert sentence.endswith(said)


def test_a_point_of_two_series_counts_once_for_its_state() -> None:
    """Twice the same values would make the maximum's interval narrower, and a load within it
    saturated.
    """
    values = {
        100.0: (98.0, 100.0, 102.0),
        115.0: (100.0, 107.0, 114.0),
        140.0: (101.0, 107.0, 113.0),
    }
    rows = pl.DataFrame(
        [
            {
                "id": f"{load}",
                "series": "one",
                "seed": 1,
                "load_MBps": load,
                "job": None,
                "metric": metric,
            }
            | {"unit": "MB/s", "batch": batch, "value": value if metric == "accepted" else load}
            for load, accepted in values.items()
            for batch, value in enumerate(accepted)
            for metric in ("accepted", "offered")
        ],
        schema_overrides={"job": pl.String},
    )
    once = with_states(rows)
    assert {STATE: QueueState.UNDECIDED, "id": "115.0"} in once.select(STATE, "id").to_dicts(), (
        "within the interval"
    )
    twice = with_states(pl.concat([rows, rows.with_columns(series=pl.lit("two"))]))
    for series in ("one", "two"):
        own = twice.filter(pl.col("series") == series)
        assert own.select("id", STATE, REASON).equals(once.select("id", STATE, REASON))


def test_the_uncertainty_of_the_lost_load_is_that_of_the_ends_of_the_window() -> None:
    """The messages in flight at batch ends are random, and the interval holds for about 95% of the
    windows.
    """
    random, inside, halves = Random(1), 0, []
    for _ in range(400):
        runs = []
        for _ in range(2):
            under_way = [random.gauss(20, 4) for _ in range(9)]
            runs.append([after - before for before, after in pairwise(under_way)])
        half = ends(runs)
        halves.append(half)
        inside += abs(sum(map(sum, runs)) / 16) <= half
    assert 0.91 < inside / 400 < 0.99
    # Each window's two ends, over its batches and the root of the run count, times Student's t.
    assert sum(halves) / 400 == pytest.approx(2.145 * 4 * 2**0.5 / 8 / 2**0.5, rel=0.1)
    assert ends([[1.0, -1.0]]) == 0.0, "too few batches"
    assert ends([[5.0] * 6]) == pytest.approx(0.0), "growth is no noise"


@pytest.mark.parametrize(
    ("accepted", "halves", "found"),
    [
        pytest.param(
            (10, 14.5, 14.5), (0.2, 0.4, 0.4), "steady saturated saturated", id="above the interval"
        ),
        pytest.param(
            (10, 14.5, 14.5),
            (0.2, 0.8, 0.8),
            "steady undecided saturated",
            id="within the interval",
        ),
        pytest.param(
            (10, 14.5, 15.6),
            (0.2, 0.4, 0.4),
            "steady steady saturated",
            id="a higher load is accepted",
        ),
        pytest.param(
            (10, 14.5, 14.5, 14.5),
            (0.2, 0.8, 0.8, 0.8),
            "steady saturated saturated saturated",
            id="pooled",
        ),
    ],
)
def test_a_load_above_the_maximum_of_its_curve_is_saturated(
    accepted: tuple[float, ...], halves: tuple[float, ...], found: str
) -> None:
    """Accepted below offered (coll2003 s5.3), although a short window's queues do not grow by a
    twentieth.
    """
    loads = zip((10.0, 15.0, 30.0, 40.0), accepted, halves, (0.0, 0.0, 1.0, 1.0), strict=False)
    curve = [
        Load(nominal, nominal, mean, half, saturated) for nominal, mean, half, saturated in loads
    ]
    assert " ".join(states(curve)) == found


def test_equal_configurations_are_told_as_equal() -> None:
    def pings(label: str, *latencies: float) -> curves.Curve:
        sizes = zip((0.0, 64.0), ("0 B", "64 B"), latencies, strict=True)
        places = [
            curves.CurvePoint(x, at, {"latency": one, "bandwidth": x}) for x, at, one in sizes
        ]
        return curves.Curve("ping", label, "message", places)

    found = findings.sentences(
        [pings("a", 1.0, 2.0), pings("b", 1.0, 2.00001)], {"latency": "us", "bandwidth": "MB/s"}
    )
    assert found == [
        "Latency at message 0 B: 1 µs in all configurations.",
        "Latency at message 64 B: lowest 2 µs (a); highest 2.00001 µs (b).",
        "Bandwidth at message 64 B: 64 MB/s in all configurations.",
    ]


def test_findings_agree_with_their_counts() -> None:
    """One configuration is steady, several are."""
    early, late = curve("early", (10, 10, 0), (20, 15, 1)), curve("late", (10, 10, 0), (20, 20, 0))
    assert any(
        "; 1 of 2 configurations is steady at all" in one
        for one in findings.sentences([early, late], UNITS)
    )
    found = findings.sentences([early, late, curve("later", (10, 10, 0), (20, 20, 0))], UNITS)
    assert any("; 2 of 3 configurations are steady at all" in one for one in found)


def test_a_page_names_the_run_keys_in_which_series_differ() -> None:
    def point(series: str, **run: object) -> Point:
        usual = {"warm_up": "10 us", "window": "1 ms", "precision": 0.0, "batches": 10}
        content = json.dumps({"machine": {}, "run": usual | run})
        return Point("p", "own", series, {}, 1, content, "m", "jobs")

    same = [point("short"), point("long")]
    assert experiment.run_keys(same) == []
    other = [
        point("short", window="200 us"),
        point("short", window="200 us"),
        *same[1:],
        point("longer"),
    ]
    assert experiment.run_keys(other) == [
        "Series differ: run.window is 200 µs (short), 1 ms (long, longer)."
    ]
    other.append(point("many", batches=20))
    assert experiment.run_keys(other) == [
        "Series differ: run.window is 200 µs (short), 1 ms (long, longer, many);"
        " run.batches is 10 (short, long, longer), 20 (many)."
    ]


def test_a_load_without_arrivals_below_a_steady_one_is_steady() -> None:
    found = judged([Load(1.0, 0.0, 0.0, 0.0, 0.0), Load(10.0, 10.0, 10.0, 0.0, 0.0)])
    assert found[0] == (
        "steady",
        "no message arrived in the measured window, and the load 10 is steady",
    )
