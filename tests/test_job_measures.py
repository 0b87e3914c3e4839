"""The measures of hot-spots, I/O and combined jobs can hold and can fail: synthetic results, judged as real ones."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from elanite.claims import Verdict, claims, judge
from elanite.measures import REGISTRY

Row = dict[str, Any]


def judged(identity: str, rows: list[Row]) -> Verdict:
    chosen = next(claim for claim in claims() if claim.id == identity)
    return judge(chosen, REGISTRY[chosen.measure](pl.DataFrame(rows, infer_schema_length=None), chosen))


def batches(value: float, **parameters: Any) -> list[Row]:
    """Four batches around a mean, with a metric that is not asked for beside them."""
    row = {"seed": 1, "unit": "MB/s", **parameters}
    rows = [row | {"batch": batch, "value": value + 0.1 * (-1) ** batch} for batch in range(4)]
    return rows + [row | {"metric": "offered", "batch": batch, "value": 1000.0} for batch in range(4)]


def writers(nodes: int, bandwidth: float) -> list[Row]:
    metric = "server_accepted"
    kinds = [{"sizes": kind, "arrivals": kind} for kind in ("uniform", "exponential")]
    return [row for kind in kinds for row in batches(bandwidth, metric=metric, nodes=nodes, **kind)]


@pytest.mark.parametrize(("many", "loss", "holds"), [(309.1, 0.08, True), (288.9, 0.14, False), (336.0, 0.0, False)])
def test_the_loss_of_a_hot_spot(many: float, loss: float, holds: bool) -> None:
    verdict = judged("hotspot.64.loss", writers(32, 336.0) + writers(64, many))
    assert verdict.simulated == pytest.approx(loss, abs=0.001)
    assert verdict.holds is holds
    assert "336.0" in verdict.note


@pytest.mark.parametrize(("identity", "holds"), [("near", True), ("middle", True), ("far", False)])
def test_the_bandwidth_of_some_nodes(identity: str, holds: bool) -> None:
    """Node 0 is silent, and no group takes the nodes of another."""
    rows: list[Row] = [
        {"node": node, "seed": seed, "offered": 1.0, "accepted": 8.1 if node < 4 else 4.7 if node < 16 else 5.0}
        for node in range(1, 64)
        for seed in (1, 2)
    ]
    verdict = judged(f"hotspot.64.{identity}", rows)
    assert verdict.simulated == pytest.approx({"near": 8.1, "middle": 4.7, "far": 5.0}[identity])
    assert verdict.holds is holds


MAPPINGS = [(series, pattern) for series in ("clustered", "distributed") for pattern in ("uniform", "blocks")]


@pytest.mark.parametrize(("reads", "holds"), [(300.0, True), (310.0, True), (320.0, False), (280.0, False)])
def test_reads_and_writes(reads: float, holds: bool) -> None:
    rows = [
        row
        for series, pattern in MAPPINGS
        for writes in (0.0, 0.5, 1.0)
        for row in batches(
            reads if writes == 0 and (series, pattern) == MAPPINGS[-1] else 300.0,
            series=series, pattern=pattern, writes=writes, metric="server_accepted",
        )
    ]  # fmt: skip
    assert judged("io.read-write", rows).holds is holds


@pytest.mark.parametrize(
    ("gain_clustered", "gain_distributed", "holds"),
    [(15.0, 0.0, True), (15.0, -10.0, True), (-1.0, 0.0, False), (15.0, 20.0, False), (15.0, -20.0, False)],
)
def test_shared_and_dedicated(gain_clustered: float, gain_distributed: float, holds: bool) -> None:
    gain = {"clustered": gain_clustered, "distributed": gain_distributed}
    rows = [
        row
        for series, pattern in MAPPINGS
        for nodes in ("0-63", "0-55")
        for row in batches(
            300.0 + gain[series] * (nodes == "0-63"),
            series=series, pattern=pattern, nodes=nodes, metric="server_accepted",
        )
    ]  # fmt: skip
    assert judged("io.application-mapping", rows).holds is holds


def combined(series: str, nodes: str, beside: list[float]) -> list[Row]:
    """A compute job that has 130 MB/s alone, and so much beside I/O jobs of three loads."""
    empty = dict.fromkeys(("nodes", "load_MBps", "compute.nodes", "compute.load_MBps", "io.load_MBps"))
    rows: list[Row] = []
    for load in (50.0, 350.0):
        alone = empty | {"nodes": nodes, "load_MBps": load}
        rows += batches(min(load, 130.0), series="alone", job="compute", metric="accepted", **alone)
        for io_load, value in zip((34.0, 101.0, 168.0), beside, strict=True):
            both = empty | {"compute.nodes": nodes, "compute.load_MBps": load, "io.load_MBps": io_load}
            rows += batches(min(load, value), series=series, job="compute", metric="accepted", **both)
            rows += batches(200.0, series=series, job="io", metric="accepted", **both)
    return rows


@pytest.mark.parametrize(("least", "holds"), [(130.0, True), (124.5, True), (122.0, False)])
def test_a_job_that_is_not_disturbed(least: float, holds: bool) -> None:
    rows = combined("shared-1c", "0-31", [130.0, 131.0, least])
    assert judged("combined.shared.apart", rows).holds is holds
    both = rows + combined("dedicated-1i", "28-55", [130.0, 130.0, 130.0])
    assert judged("combined.dedicated", both).holds is holds


@pytest.mark.parametrize(("least", "holds"), [(78.0, True), (84.0, True), (72.0, True), (90.0, False), (65.0, False)])
def test_the_largest_degradation(least: float, holds: bool) -> None:
    verdict = judged("combined.shared.overlap", combined("shared-1i", "32-63", [100.0, least, 95.0]))
    assert verdict.simulated == pytest.approx(1 - least / 130)
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.low < verdict.simulated < verdict.high
    assert verdict.holds is holds


@pytest.mark.parametrize(
    ("beside", "holds"),
    [([120.0, 90.0, 80.0], True), ([120.0, 90.0, 95.0], False), ([135.0, 90.0, 80.0], False)],
)
def test_a_bandwidth_that_falls(beside: list[float], holds: bool) -> None:
    assert judged("combined.shared.distributed", combined("shared-distributed", "0-31", beside)).holds is holds
