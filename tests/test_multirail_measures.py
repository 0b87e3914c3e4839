"""The multirail measures can hold and can fail: synthetic results, judged as real ones."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import conftest
from conftest import Row
from elanite.results.policies import ordered, with_policies

if TYPE_CHECKING:
    from elanite.validation.verdict import Verdict

BASIC = "rails.policy=basic"
LOCAL = "rails.policy=local-dynamic, rails.striping="
DYNAMIC = "rails.policy=dynamic, rails.striping="
HYBRID = "rails.policy=hybrid, rails.striping="

KB = 1024
LINKS = 1600.0


def judged(identity: str, rows: list[Row]) -> Verdict:
    return conftest.judged(f"multirail.{identity}", rows)


def point(
    machine: str,
    load: float = 0.5,
    accepted: float = 0.2,
    *,
    latency: float = 1000.0,
    saturated: bool = False,
    **more: Any,
) -> list[Row]:
    """A point's rows: four batches with accepted and offered load, latency and state."""
    row = {
        "machine": machine,
        "load_MBps": load * LINKS,
        "seed": 1,
        "message_bytes": 32 * KB,
        "nodes": 128,
        **more,
    }
    parts = {"accepted_part": accepted, "offered_part": load}
    parts |= {"accepted": accepted * LINKS, "offered": load * LINKS}
    rows = [
        row | {"metric": metric, "batch": batch, "value": value * (1 + 0.001 * (-1) ** batch)}
        for (metric, value), batch in itertools.product(parts.items(), range(4))
    ]
    whole = {"latency_cycles": latency, "saturated": float(saturated)}
    return rows + [
        row | {"metric": metric, "batch": None, "value": value} for metric, value in whole.items()
    ]


def points(*several: list[Row]) -> list[Row]:
    return [row for rows in several for row in rows]


def test_labels_are_told_in_words() -> None:
    labels = [f"{HYBRID}0.0, rails.threshold=8 KB", f"rails.count=2, {DYNAMIC}0.5", BASIC, None]
    rows = with_policies(pl.DataFrame({"machine": labels}))
    assert rows["curve"].to_list() == [
        "hybrid, up to 8 KB, no striping",
        "dynamic, 0.5",
        "basic",
        "",
    ]
    assert rows["rails"].to_list() == [4, 2, 4, 4]
    assert rows["threshold"].to_list() == ["8 KB", "", "", ""]
    assert ordered(rows) == ["basic", "dynamic, 0.5", "hybrid, up to 8 KB, no striping"]


def test_policies_of_other_names_come_last() -> None:
    names = ("second", "static", "first", "basic")
    rows = with_policies(pl.DataFrame({"machine": [f"rails.policy={name}" for name in names]}))
    assert ordered(rows) == ["static", "basic", "second", "first"]


@pytest.mark.parametrize(("most", "holds"), [(0.38, True), (0.51, False)])
def test_no_more_than_half_of_the_links(most: float, holds: bool) -> None:
    verdict = judged(
        "limit",
        points(point(BASIC, accepted=0.3), point(f"rails.count=1, {DYNAMIC}1.0", accepted=most)),
    )
    assert verdict.simulated == pytest.approx(most)
    assert verdict.holds is holds
    assert "dynamic, full striping, one rail: " in verdict.note


@pytest.mark.parametrize(("dynamic", "holds"), [(0.272, True), (0.25, False), (0.29, False)])
def test_the_gain_of_dynamic(dynamic: float, holds: bool) -> None:
    """The best of several counts, at the highest load, like with like."""
    low = point(f"{DYNAMIC}1.0", 0.1, 0.9)
    short = points(
        point(BASIC, message_bytes=4 * KB),
        point(f"{DYNAMIC}1.0", accepted=0.1, message_bytes=4 * KB),
    )
    verdict = judged(
        "32.dynamic-vs-basic",
        points(low, short, point(BASIC), point(f"{DYNAMIC}1.0", accepted=dynamic)),
    )
    assert verdict.simulated == pytest.approx(dynamic / 0.2 - 1)
    assert verdict.holds is holds
    assert "4 KB: -0.5 (0.1 of 0.2)" in verdict.note


def test_the_gain_over_local_dynamic_is_that_of_the_same_striping() -> None:
    rows = points(
        point(f"{LOCAL}0.0", accepted=0.2),
        point(f"{LOCAL}1.0", accepted=0.25),
        point(f"{DYNAMIC}0.0", accepted=0.298),
        point(f"{DYNAMIC}1.0", accepted=0.3),
    )
    verdict = judged("dynamic-vs-local", rows)
    assert verdict.simulated == pytest.approx(0.49)
    assert verdict.holds is True


def test_a_gain_over_nobody_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no pair of [^{}\[\]]* and [^{}\[\]]*$"):
        judged("dynamic-vs-basic", point(f"{DYNAMIC}1.0"))


@pytest.mark.parametrize(
    ("basic", "dynamic", "holds"),
    [
        pytest.param(0.186, 0.264, True, id="basic 7%, dynamic 12%"),
        pytest.param(0.176, 0.279, False, id="the other way round"),
        pytest.param(0.18, 0.27, False, id="both in the middle of the range"),
        pytest.param(0.199, 0.264, False, id="basic loses nothing"),
    ],
)
def test_basic_and_dynamic_lose_by_the_nodes(basic: float, dynamic: float, holds: bool) -> None:
    few = points(
        point(BASIC, nodes=32),
        point(f"{DYNAMIC}1.0", nodes=32, accepted=0.3),
        point(f"{LOCAL}1.0", nodes=32),
    )
    many = points(
        point(BASIC, accepted=basic),
        point(f"{DYNAMIC}1.0", accepted=dynamic),
        point(f"{LOCAL}1.0", accepted=0.1),
    )
    verdict = judged("node-scaling", few + many)
    assert verdict.holds is holds
    assert f"basic loses 0.07, {'yes' if basic == 0.186 else 'no'}: " in str(verdict.simulated)
    assert str(verdict.simulated).endswith("; 0.5 (0.1 of 0.2)")


@pytest.mark.parametrize(("seven", "holds"), [(0.18, True), (0.21, False)])
def test_basic_loses_by_the_rails(seven: float, holds: bool) -> None:
    rows = [
        point(f"rails.count={rails}, {BASIC}", accepted=part)
        for rails, part in ((1, 0.3), (7, seven))
    ]
    verdict = judged("rails.basic", points(*rows))
    assert verdict.simulated == pytest.approx(1 - seven / 0.3)
    assert verdict.holds is holds


@pytest.mark.parametrize(
    ("seven", "long", "holds"), [(0.29, 0.36, True), (0.25, 0.36, False), (0.29, 0.34, False)]
)
def test_dynamic_is_constant_and_gains_on_long_messages(
    seven: float, long: float, holds: bool
) -> None:
    def of(rails: int, part: float, size: int = 32) -> list[Row]:
        return point(f"rails.count={rails}, {DYNAMIC}1.0", accepted=part, message_bytes=size * KB)

    rows = points(
        of(1, 0.3),
        of(4, 0.305),
        of(7, seven),
        of(1, 0.35, 64),
        of(4, long, 64),
        of(1, 0.2, 4),
        of(4, 0.1, 4),
    )
    assert judged("rails.dynamic", rows).holds is holds


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        pytest.param({}, True, id="as published"),
        pytest.param({BASIC: 1.0}, False, id="basic does not grow"),
        pytest.param({f"{LOCAL}1.0": 0.6}, False, id="dynamic falls more"),
        pytest.param({f"{DYNAMIC}1.0": 1.01}, False, id="dynamic does not fall"),
        pytest.param(
            {f"{LOCAL}0.0": 1.04}, True, id="unstriped grows by less than a tenth of basic"
        ),
        pytest.param({f"{LOCAL}0.0": 1.06}, False, id="unstriped grows by more"),
    ],
)
def test_latency_over_the_rails(change: dict[str, float], holds: bool) -> None:
    seven = {
        BASIC: 1.5,
        f"{LOCAL}0.0": 1.0,
        f"{LOCAL}1.0": 0.3,
        f"{DYNAMIC}0.0": 0.8,
        f"{DYNAMIC}1.0": 0.4,
    } | change
    rows = [
        point(
            f"rails.count={rails}, {label}",
            0.15,
            0.15,
            latency=1000 * (1.0 if rails == 1 else factor),
        )
        for label, factor in seven.items()
        for rails in (1, 7)
    ]
    assert judged("rails.latency", points(*rows)).holds is holds


def test_latency_that_is_too_noisy_decides_nothing() -> None:
    """Local-dynamic scales without striping, or does not: seeds differ by more."""
    factors = {
        BASIC: 1.5,
        f"{LOCAL}0.0": 1.0,
        f"{LOCAL}1.0": 0.3,
        f"{DYNAMIC}0.0": 0.8,
        f"{DYNAMIC}1.0": 0.4,
    }
    rows = [
        point(
            f"rails.count={rails}, {label}",
            0.15,
            0.15,
            latency=1000 * (1.0 if rails == 1 else factor) + 200 * seed,
            seed=seed,
        )
        for label, factor in factors.items()
        for rails, seeds in ((1, (0, 1, 2)), (7, (0, 1)))
        for seed in seeds
    ]
    verdict = judged("rails.latency", points(*rows))
    assert verdict.holds is None
    assert "unstriped local-dynamic scales: growth over that of basic, not resolved" in str(
        verdict.simulated
    )


SIZES = {"basic": (0.25, 0.22), "local-dynamic": (0.24, 0.24), "dynamic": (0.2, 0.35)}
POINTS = {"basic": (0.25, 0.24), "local-dynamic": (0.24, 0.25), "dynamic": (0.2, 0.3)}


@pytest.mark.parametrize(
    ("accepted", "saturation", "holds"),
    [
        pytest.param({}, {}, True, id="as published"),
        pytest.param({"basic": (0.22, 0.22)}, {}, False, id="basic does not fall"),
        pytest.param({"dynamic": (0.2, 0.19)}, {}, False, id="dynamic does not rise"),
        pytest.param(
            {"local-dynamic": (0.26, 0.24)}, {}, False, id="local-dynamic better on short messages"
        ),
        pytest.param(
            {"local-dynamic": (0.24, 0.21)}, {}, False, id="local-dynamic worse on long messages"
        ),
        pytest.param({"local-dynamic": (0.24, 0.33)}, {}, False, id="local-dynamic as dynamic"),
        pytest.param({}, {"dynamic": (0.3, 0.3)}, False, id="dynamic saturates where it did"),
        pytest.param({}, {"basic": (0.3, 0.25)}, False, id="basic saturates earlier"),
    ],
)
def test_message_sizes(accepted: dict[str, Any], saturation: dict[str, Any], holds: bool) -> None:
    rows: list[Row] = []
    for policy in SIZES:
        label = f"rails.policy={policy}"
        maxima, found = (SIZES | accepted)[policy], (POINTS | saturation)[policy]
        for size, part, load in zip((4, 64), maxima, found, strict=True):
            rows += point(label, accepted=part, message_bytes=size * KB)
            search = point(label, 0.05, 0.05, message_bytes=size * KB)
            rows += [*search, search[-1] | {"metric": "saturation_part", "value": load}]
    assert judged("message-size", rows).holds is holds


@pytest.mark.parametrize(
    ("part", "latency", "holds"), [(0.3, 500, True), (0.34, 500, False), (0.3, 1001, False)]
)
def test_striping_cuts_latency_and_nothing_else(part: float, latency: float, holds: bool) -> None:
    loads = [
        points(
            point(
                f"{DYNAMIC}0.0",
                load,
                0.3,
                latency=1000,
                saturated=load > 0.3,
                message_bytes=64 * KB,
            ),
            point(
                f"{DYNAMIC}1.0",
                load,
                part,
                latency=latency,
                saturated=load > 0.3,
                message_bytes=64 * KB,
            ),
        )
        for load in (0.1, 0.5)
    ]
    alone = points(
        *(
            point(f"{DYNAMIC}{striping}", 0.1, latency=9, message_bytes=KB)
            for striping in ("0.0", "1.0")
        )
    )
    verdict = judged("striping.bandwidth", points(*loads, alone))
    assert verdict.holds is holds
    assert f"{latency - 1000:g} ({latency:,} of 1,000)" in str(verdict.simulated)


@pytest.mark.parametrize(("cut", "holds"), [(0.65, True), (0.5, False)])
def test_the_cut_by_striping(cut: float, holds: bool) -> None:
    rows = [
        point(f"{DYNAMIC}{striping}", 0.05, latency=latency + seed, seed=seed)
        for striping, latency in (("0.0", 1000.0), ("1.0", 1000 * (1 - cut)))
        for seed in (1, 2, 3)
    ]
    verdict = judged("striping.dynamic", points(*rows))
    assert verdict.simulated == pytest.approx(cut, abs=0.002)
    assert verdict.holds is holds
    assert verdict.low is not None
    assert verdict.low < cut


@pytest.mark.parametrize(
    ("wrong", "holds"),
    [
        pytest.param((), True, id="as published"),
        pytest.param(("light",), False, id="dynamic lower at light loads"),
        pytest.param(("heavy",), False, id="local-dynamic lower at heavy loads"),
        pytest.param(("short",), False, id="dynamic lower on short messages"),
        pytest.param(("long",), False, id="local-dynamic lower on long messages"),
        pytest.param(("room",), False, id="dynamic not saturated on short messages"),
        pytest.param(("room", "maximum"), True, id="dynamic saturated by the maximum of its curve"),
    ],
)
def test_the_crossover(wrong: tuple[str, ...], holds: bool) -> None:
    def pair(load: float, size: int, dynamic_is_better: bool, saturated: bool = False) -> list[Row]:
        factor = 0.5 if dynamic_is_better else 2.0
        more = {"message_bytes": size * KB}
        local = point(f"{LOCAL}1.0", load, load, latency=1000, **more)
        return local + point(
            f"{DYNAMIC}1.0", load, load, latency=1000 * factor, saturated=saturated, **more
        )

    rows = points(
        pair(0.05, 64, "light" in wrong),
        pair(0.2, 64, "heavy" not in wrong),
        pair(0.15, 4, False, "room" not in wrong),
        pair(0.15, 8, "short" in wrong),
        pair(0.15, 64, True),
        pair(0.15, 128, "long" not in wrong),
    )
    if "maximum" in wrong:
        rows += point(f"{DYNAMIC}1.0", 0.45, 0.14, saturated=True, message_bytes=4 * KB)
        rows = [
            row | {"value": 0.93 * row["value"]}
            if _short(row) and row["metric"].startswith("accepted")
            else row
            for row in rows
        ]
    assert judged("striping.crossover", rows).holds is holds


def _short(row: Row) -> bool:
    return bool(row["message_bytes"] == 4 * KB and row["machine"].startswith(DYNAMIC))


def test_the_gain_of_the_best_threshold() -> None:
    rows = points(
        point(BASIC, accepted=0.2),
        point(f"{LOCAL}1.0", accepted=0.19),
        point(f"{DYNAMIC}1.0", accepted=0.25),
        *(
            point(f"{HYBRID}1.0, rails.threshold={size} KB", accepted=part)
            for size, part in ((1, 0.25), (8, 0.26875), (32, 0.22))
        ),
    )
    verdict = judged("hybrid.vs-dynamic", rows)
    assert verdict.simulated == pytest.approx(0.075)
    assert verdict.holds is True
    assert judged("hybrid.vs-basic", rows).simulated == pytest.approx(0.34375)
    assert judged("hybrid.vs-local", rows).simulated == pytest.approx(0.26875 / 0.19 - 1)


@pytest.mark.parametrize(
    ("factors", "longest", "holds"),
    [
        pytest.param((0.8, 0.8, 0.8, 0.8), 1.1, True, id="as published"),
        pytest.param((0.8, 0.8, 0.8, 1.2), 1.1, False, id="two thresholds are no better"),
        pytest.param((0.8, 0.8, 0.8, 0.8), 0.9, False, id="32 KB is better, too"),
    ],
)
def test_the_latency_of_hybrid(factors: tuple[float, ...], longest: float, holds: bool) -> None:
    rows = []
    for load, striping in itertools.product((0.05, 0.1), ("0.0", "1.0")):
        rows += [
            point(BASIC, load, latency=1500),
            point(f"{DYNAMIC}{striping}", load, latency=1000),
        ]
        for size, factor in zip((1, 4, 8, 16, 32), (*factors, longest), strict=True):
            label = f"{HYBRID}{striping}, rails.threshold={size} KB"
            rows.append(point(label, load, latency=1000 * factor))
    assert judged("hybrid.latency", points(*rows)).holds is holds
