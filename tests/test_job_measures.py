"""The hot-spot, I/O and combined job measures can hold and can fail: synthetic results, judged as
real ones.
"""

from __future__ import annotations

from typing import Any

import pytest

from conftest import Row, frame, judged
from elanite.figures.io_interference import kept


def batches(value: float, noise: float = 0.1, /, **parameters: Any) -> list[Row]:
    """Four batches around a mean, with a metric that is not asked for beside them."""
    row = {"seed": 1, "unit": "MB/s", **parameters}
    rows = [row | {"batch": batch, "value": value + noise * (-1) ** batch} for batch in range(4)]
    return rows + [
        row | {"metric": "offered", "batch": batch, "value": 1000.0} for batch in range(4)
    ]


def writers(nodes: int, bandwidth: float) -> list[Row]:
    metric = "server_accepted"
    kinds = [{"sizes": kind, "arrivals": kind} for kind in ("uniform", "exponential")]
    return [row for kind in kinds for row in batches(bandwidth, metric=metric, nodes=nodes, **kind)]


@pytest.mark.parametrize(("many", "lost"), [(309.1, 0.08), (288.9, 0.14), (336.0, 0.0)])
def test_the_loss_of_a_hot_spot(many: float, lost: float) -> None:
    """It contradicts its own figure's groups: it is shown, and never held nor missed."""
    verdict = judged("hotspot.64.loss", writers(32, 336.0) + writers(64, many))
    assert verdict.simulated == pytest.approx(lost, abs=0.001)
    assert verdict.error == pytest.approx(lost / 0.08 - 1, abs=0.02)
    assert (verdict.holds, verdict.state) == (None, "inconsistent")
    assert verdict.note == f"{many:g} of 336"


@pytest.mark.parametrize(
    ("few", "many", "holds"),
    [
        pytest.param(336.0, 336.0, True, id="flat"),
        pytest.param(350.0, 336.0, True, id="nearly flat"),
        pytest.param(360.0, 336.0, False, id="more with few nodes"),
        pytest.param(300.0, 336.0, False, id="less with few nodes"),
        pytest.param(310.0, 310.0, False, id="flat, but off"),
    ],
)
def test_a_hot_spot_that_is_flat(few: float, many: float, holds: bool) -> None:
    verdict = judged(
        "hotspot.32.bandwidth", writers(2, 337.0) + writers(8, few) + writers(32, many)
    )
    assert verdict.simulated == pytest.approx(many)
    assert verdict.holds is (holds and abs(337 / many - 1) < 0.05)
    assert f"({few:g} of {many:g})" in verdict.note


@pytest.mark.parametrize(("identity", "holds"), [("near", True), ("middle", True), ("far", False)])
def test_the_bandwidth_of_some_nodes(identity: str, holds: bool) -> None:
    """Node 0 is silent, and no group takes another group's nodes."""
    rows: list[Row] = [
        {
            "node": node,
            "seed": seed,
            "offered": 1.0,
            "accepted": 8.1 if node < 4 else 4.7 if node < 16 else 5.0,
        }
        for node in range(1, 64)
        for seed in (1, 2)
    ]
    verdict = judged(f"hotspot.64.{identity}", rows)
    assert verdict.simulated == pytest.approx({"near": 8.1, "middle": 4.7, "far": 5.0}[identity])
    assert verdict.holds is holds


SERVERS = {"clustered": "56-63", "distributed": "0-63:8"}
MAPPINGS = [(series, pattern) for series in SERVERS for pattern in ("uniform", "blocks")]


@pytest.mark.parametrize(
    ("reads", "ratio"), [(300.0, 1.0), (310.0, 31 / 30), (320.0, 32 / 30), (280.0, 30 / 28)]
)
def test_reads_and_writes(reads: float, ratio: float) -> None:
    """Its own paper contradicts it: the figure is shown, and never held nor missed."""
    rows = [
        row
        for series, pattern in MAPPINGS
        for writes in (0.0, 0.5, 1.0)
        for row in batches(
            reads if writes == 0 and (series, pattern) == MAPPINGS[-1] else 300.0,
            series=series,
            servers=SERVERS[series],
            pattern=pattern,
            writes=writes,
            metric="server_accepted",
        )
    ]
    verdict = judged("io.read-write", rows)
    assert verdict.simulated == pytest.approx(ratio)
    assert (verdict.holds, verdict.state) == (None, "inconsistent")


@pytest.mark.parametrize(
    ("gain_clustered", "gain_distributed", "noise", "holds"),
    [
        (17.0, 0.0, 0.1, True),
        (17.0, -10.0, 0.1, True),
        (14.0, 0.0, 0.1, False),
        (14.0, 0.0, 1.0, True),  # its interval has 15 inside
        (21.0, 0.0, 0.1, False),
        (17.0, 0.0, 15.0, None),  # and here 0, too
        (-1.0, 0.0, 0.1, False),
        (17.0, 20.0, 0.1, False),
        (17.0, -20.0, 0.1, False),
        (17.0, 14.0, 3.0, None),
    ],
)
def test_shared_and_dedicated(
    gain_clustered: float, gain_distributed: float, noise: float, holds: bool | None
) -> None:
    gain = {"clustered": gain_clustered, "distributed": gain_distributed}
    rows = [
        row
        for series, pattern in MAPPINGS
        for nodes in ("0-63", "0-55")
        for row in batches(
            300.0 + gain[series] * (nodes == "0-63"),
            noise * (nodes == "0-63"),
            series=series,
            servers=SERVERS[series],
            pattern=pattern,
            nodes=nodes,
            metric="server_accepted",
        )
    ]
    assert judged("io.application-mapping", rows).holds is holds


def combined(series: str, nodes: str, beside: list[float], noise: float = 0.1) -> list[Row]:
    """A compute job that has 130 MB/s alone, and these rates beside I/O jobs with two or three
    loads.

    The noise beside them has another sign at each load, so that steps contain both loads' noise.
    """
    empty = dict.fromkeys(
        ("nodes", "load_MBps", "compute.nodes", "compute.load_MBps", "io.load_MBps")
    )
    rows: list[Row] = []
    for load in (50.0, 350.0):
        alone = empty | {"nodes": nodes, "load_MBps": load}
        rows += batches(min(load, 130.0), series="alone", job="compute", metric="accepted", **alone)
        for io_load, value, sign in zip((28.0, 84.0, 140.0), beside, (1, -1, 1), strict=False):
            both = empty | {
                "compute.nodes": nodes,
                "compute.load_MBps": load,
                "io.load_MBps": io_load,
            }
            rows += batches(
                min(load, value),
                sign * noise,
                series=series,
                job="compute",
                metric="accepted",
                **both,
            )
            rows += batches(200.0, series=series, job="io", metric="accepted", **both)
    return rows


@pytest.mark.parametrize(
    ("least", "noise", "holds"),
    [
        (130.0, 0.1, True),
        (124.5, 0.1, True),
        (124.5, 2.0, None),
        (122.0, 2.0, None),
        (122.0, 0.1, False),
    ],
)
def test_a_job_that_is_not_disturbed(least: float, noise: float, holds: bool | None) -> None:
    rows = combined("carried-shared-1c", "0-31", [130.0, 131.0, least], noise)
    verdict = judged("combined.shared.apart", rows)
    assert verdict.holds is holds
    said = {True: "yes", False: "no", None: "not resolved"}[holds]
    assert str(verdict.simulated).startswith(f"kept, {said}: ")
    both = rows + combined("carried-dedicated-1i", "28-55", [130.0, 130.0, 130.0])
    assert judged("combined.dedicated", both).holds is holds


@pytest.mark.parametrize(
    ("beside", "holds"),
    [
        ([100.0, 78.0, 95.0], True),
        ([100.0, 81.5, 95.0], True),
        ([100.0, 75.0, 95.0], True),
        ([100.0, 90.0, 95.0], False),
        ([100.0, 65.0, 95.0], False),
        ([129.0, 78.0, 95.0], False),  # not with any load
    ],
)
def test_the_largest_degradation(beside: list[float], holds: bool) -> None:
    verdict = judged("combined.shared.overlap", combined("carried-shared-1i", "32-63", beside, 0.5))
    assert verdict.simulated == pytest.approx(1 - min(beside) / 130)
    assert isinstance(verdict.simulated, float)
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low < verdict.simulated < verdict.high
    assert verdict.holds is holds


def test_the_least_of_several_may_be_another_one() -> None:
    """For two equal ones the interval has the lower ends, and it includes the uncertainty of the
    job alone.
    """
    alone = pytest.approx(130.0)
    rows = combined("carried-shared-1i", "32-63", [100.0, 80.0, 81.0], 2.0)
    found = kept(frame(rows))
    assert [one.alone.mean for one in found] == [alone, alone, alone]
    verdict = judged("combined.shared.overlap", rows)
    assert verdict.high == 1 - min(one.kept.low for one in found)
    assert verdict.low == 1 - min(one.kept.high for one in found)


@pytest.mark.parametrize(
    ("beside", "noise", "holds"),
    [
        ([120.0, 90.0, 80.0], 0.1, True),
        ([120.0, 95.0, 80.0], 2.0, True),
        ([120.0, 90.0, 84.0], 2.0, None),
        ([120.0, 90.0, 85.0], 0.1, False),
        ([120.0, 90.0, 95.0], 0.1, False),
        ([135.0, 90.0, 80.0], 0.1, False),
    ],
)
def test_a_bandwidth_that_falls(beside: list[float], noise: float, holds: bool | None) -> None:
    verdict = judged(
        "combined.shared.distributed", combined("carried-shared-distributed", "0-31", beside, noise)
    )
    assert verdict.holds is holds
    assert ("falls with its load, not resolved: " in str(verdict.simulated)) is (holds is None)
