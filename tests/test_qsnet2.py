"""QsNetII: its measures can hold and can fail, and its figures are there; from synthetic
results.
"""

from __future__ import annotations

import itertools

import pytest

from conftest import Row, data, figures_of, frame, judged
from test_figures import names

KB = 1024
SIZES = {"8 KB": 25.0, "32 KB": 80.0, "128 KB": 300.0, "256 KB": 600.0}
"""Message sizes with the time for a round without computation, in us."""

TIMES = (0.0, 20.0, 60.0, 100.0, 250.0, 500.0, 1000.0)


def ping(series: str, directions: str, message: str, metric: str, value: float) -> Row:
    return {
        "id": "x",
        "series": series,
        "seed": 1,
        "batch": None,
        "directions": directions,
        "message": message,
        "message_bytes": int(message.split()[0])
        * {"B": 1, "KB": KB, "MB": KB * KB}[message.split()[1]],
        "metric": metric,
        "unit": "us" if metric == "latency" else "MB/s",
        "value": value,
    }


def overlap(*sizes: str, cost: float = 4.0, lost: float = 0.0, serial: bool = False) -> list[Row]:
    """A machine with this call cost, that loses some bandwidth while it computes, or does not
    overlap.
    """
    rows: list[Row] = []
    for message, compute in itertools.product(sizes or SIZES, TIMES):
        alone = SIZES[message]
        size = int(message.split()[0]) * KB
        both = (
            compute + alone if serial else max(alone / (1 - lost * (compute > 0)), compute + cost)
        )
        common: Row = {
            "id": "x",
            "series": "overlap",
            "seed": 1,
            "batch": None,
            "message": message,
            "message_bytes": size,
            "compute": f"{compute:g} us",
            "compute_us": compute,
        }
        values = {
            "round": both,
            "availability": compute / both,
            "bandwidth": 2 * size / both,
            "over": float(not serial and compute > 1.1 * alone),
        }
        units = {"round": "us", "bandwidth": "MB/s"}
        rows += [
            common | {"metric": metric, "unit": units.get(metric, ""), "value": value}
            for metric, value in values.items()
        ]
        if compute == 0.0:
            rows.append(
                ping("round-trip", "one", message, "latency", 0.55 * alone) | {"compute_us": None}
            )
    return rows


@pytest.mark.parametrize(
    ("each", "holds"), [(428.5, True), (441.0, True), (857.0, False), (410.0, False)]
)
def test_bidirectional_bandwidth_is_of_both_directions(each: float, holds: bool) -> None:
    verdict = judged("qsnet2.bi.bandwidth", [ping("mpi", "both", "4 MB", "bandwidth", each)])
    assert verdict.simulated == pytest.approx(2 * each)
    assert verdict.holds is holds


@pytest.mark.parametrize(("cost", "holds"), [(4.3, True), (2.0, False), (20.0, False)])
def test_the_time_that_is_lost_just_beyond_the_round_trip(cost: float, holds: bool) -> None:
    """The 32 KB round trip takes 88 us, so that 100 us is the first longer computation."""
    verdict = judged("qsnet2.overlap.short", overlap("32 KB", cost=cost))
    assert verdict.simulated == pytest.approx(cost / (100 + cost))
    assert verdict.holds is holds


def test_availability_of_computations_that_are_all_too_short() -> None:
    rows = [row for row in overlap("32 KB") if (row["compute_us"] or 0.0) < 80]
    with pytest.raises(ValueError, match="no compute_us"):
        judged("qsnet2.overlap.short", rows)


@pytest.mark.parametrize(("lost", "holds"), [(0.0, True), (0.03, True), (0.2, False)])
def test_short_computations_leave_the_bandwidth(lost: float, holds: bool) -> None:
    assert judged("qsnet2.overlap.bandwidth", overlap(lost=lost)).holds is holds


def test_a_machine_that_does_not_overlap_has_neither_bandwidth_nor_progress() -> None:
    rows = overlap(serial=True)
    assert judged("qsnet2.overlap.bandwidth", rows).holds is False
    assert judged("qsnet2.progress", rows).holds is False
    assert judged("qsnet2.progress", overlap()).holds is True


def test_the_figures() -> None:
    parts = itertools.product(("mpi", "pci-x-66", "host"), ("one", "both"), ("0 B", "4 KB", "4 MB"))
    metrics = {"latency": 2.0, "bandwidth": 400.0}
    rows = [ping(*part, metric, value) for part in parts for metric, value in metrics.items()]
    drawn = figures_of("qsnet2/ping", frame(rows))
    assert names(drawn) == ["figure 1 a", "figure 1 b", ""]
    drawn = figures_of("qsnet2/overlap", frame(overlap()))
    assert [figure.paper for figure in drawn] == ["figure 2 a", "figure 2 b"]
    assert all(figure.spec() for figure in drawn)


def test_bidirectional_bandwidth_is_drawn_as_the_sum() -> None:
    parts = itertools.product(("one", "both"), ("4 KB", "4 MB"))
    rows = [ping("mpi", directions, size, "bandwidth", 400.0) for directions, size in parts]
    bandwidth = figures_of("qsnet2/ping", frame(rows))[0]
    found = {row["curve"].split(",")[0]: row["mean"] for row in data(bandwidth, "curve")}
    assert found == {"unidirectional": 400.0, "bidirectional": 800.0}
