"""Computation times of a trace on other processors: ``--compute-scale``, by closed forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite.errors import RunError, UsageError
from elanite.traces.processors import factors

if TYPE_CHECKING:
    from conftest import Ended

TRACE = """num_ranks 3
rank 0 {
a: calc 1000000
b: send 8b to 1
b requires a
}
rank 1 {
a: calc 400000
b: recv 8b from 0
c: calc 300000
b requires a
c requires b
}
rank 2 {
calc 5000
}
"""
MESSAGE = 5.0
"""A bound on the time of the message, in us."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "three.goal"
    path.write_text(TRACE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("scales", "expected", "computed"),
    [
        ((), 1300.0, [1000.0, 700.0, 5.0]),
        (("0.5",), 650.0, [500.0, 350.0, 2.5]),
        (("1=2",), 1600.0, [1000.0, 1400.0, 5.0]),
        (("0-1=0", "2=100"), 500.0, [0.0, 0.0, 500.0]),
        (("2", "0,2=0.5"), 1400.0, [500.0, 1400.0, 2.5]),
    ],
)
@pytest.mark.parametrize("network", ["ideal", "machine"])
def test_the_slowest_path_takes_the_scaled_times(
    trace: Path, scales: tuple[str, ...], expected: float, computed: list[float], network: str
) -> None:
    found = el.replay(trace, "infiniband-ndr", network=network, compute_scale=scales)  # type: ignore[arg-type]
    assert found.tables["ranks"]["computed_us"].to_list() == computed
    assert expected <= found.summary["time_us"] < expected + MESSAGE
    assert (found.summary["messages"], found.summary["bytes"]) == (1, 8)


def test_the_summary_and_the_page_have_the_factors(
    trace: Path, tmp_path: Path, elanite: Callable[..., Ended]
) -> None:
    words = (
        "replay",
        str(trace),
        "--network",
        "ideal",
        "--compute-scale",
        "0.5",
        "--compute-scale",
        "2=4",
    )
    page = tmp_path / "page.html"
    ended = elanite(*words, "--html", str(page))
    assert ended.code == 0, ended
    assert "computation     the trace's times x 0.5 to 4" in ended.out
    assert elanite("open", str(page), "--into", str(tmp_path / "there")).code == 0
    assert (
        "--compute-scale 0.5 --compute-scale 2=4" in (tmp_path / "there" / "command.sh").read_text()
    )
    assert json.loads(elanite(*words, "--format", "json").out)["compute_scale"] == [0.5, 0.5, 4.0]
    plain, scaled = (
        el.replay(trace, network="ideal", compute_scale=each).summary for each in ((), ("0.5",))
    )
    assert plain["digest"] != scaled["digest"]
    assert (
        el.replay(trace, network="ideal", compute_scale=("1",)).summary["digest"] == plain["digest"]
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "fast",
            (
                "`fast`: `fast` is not a factor from 0 to 1000000; write 0.5 for all ranks, or"
                " '0-3,8=2' for some"
            ),
        ),
        ("-1", "`-1` is not a factor"),
        ("nan", "`nan` is not a factor"),
        ("inf", "`inf` is not a factor"),
        ("1e7", "`1e7` is not a factor"),
        ("0=", "`` is not a factor"),
        ("=2", "`` is not a rank or a range"),
        ("0-x=2", "`0-x` is not a rank or a range; write '0-3,8=2'"),
        ("3=2", "the trace has the ranks 0 to 2"),
        ("2-1=2", "the trace has the ranks 0 to 2"),
    ],
)
def test_factors_that_are_wrong(text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match="--compute-scale: ") as error:
        factors([text], 3)
    assert wrong in str(error.value)


def test_an_error_quotes_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "long.goal"
    path.write_text("num_ranks 1\nrank 0 {\ncalc 1000000000000000\n}\n", encoding="utf-8")
    wrong = (
        r"long\.goal:3: .*`calc 1000000000000000`\): a computation takes at most 100 days; 100"
        r" times this one is longer"
    )
    with pytest.raises(RunError, match=wrong):
        el.replay(path, network="ideal", compute_scale=("100",))


REGIONS = """//@ processor 2 ns 9 GB/s
//@ region 1 processor part 7
//@ region 2 memory MPI_Wait a+0x1 > MPI_Allreduce a+0x2
num_ranks 3
rank 0 {
a: calc 1000000 cpu 1 //@ 1
b: calc 200000 //@ 2
c: calc 50000
b requires a
c requires b
}
rank 1 {
calc 300000 //@ 2
}
rank 2 {
calc 100000 //@ 2
}
"""


@pytest.fixture
def regions(tmp_path: Path) -> Path:
    path = tmp_path / "regions.goal"
    path.write_text(REGIONS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("scales", "ends"),
    [
        ((), [1250.0, 300.0, 100.0]),
        (("2",), [2450.0, 600.0, 200.0]),
        (("part 7=0.5",), [750.0, 300.0, 100.0]),
        (("2", "*MPI_Allreduce*=3"), [2650.0, 900.0, 300.0]),
        (("*MPI_Allreduce*=3", "1=4"), [1650.0, 1200.0, 300.0]),
        (("1-2:*MPI_Allreduce*=3",), [1250.0, 900.0, 300.0]),
        (("0=0", "*=1"), [1250.0, 300.0, 100.0]),
    ],
)
def test_each_region_has_its_factor(
    regions: Path, scales: tuple[str, ...], ends: list[float]
) -> None:
    """Computation without a region keeps its time."""
    found = el.replay(regions, network="ideal", compute_scale=scales)
    assert found.tables["ranks"]["end_us"].to_list() == ends
    rows = found.regions
    assert sum(row["computed_us"] for row in rows) == sum(ends)
    assert {row["name"]: row["executions"] for row in rows} == {
        "part 7": 1,
        "MPI_Wait a+0x1 > MPI_Allreduce a+0x2": 3,
        None: 1,
    }


def test_the_machine_has_a_processor(regions: Path) -> None:
    """Three times slower steps; a node's memory rate of a third for two ranks, and two thirds for
    one.
    """
    changes = ["processor.step=6 ns", "processor.memory=6 GB/s"]
    machine = el.Machine.load("es40-qsnet", changes)
    found = el.replay(regions, machine, network="ideal", ranks_per_node=2)
    assert found.tables["ranks"]["end_us"].to_list() == [3000.0 + 600 + 50, 900.0, 150.0]
    assert found.processor == 3
    scaled = el.replay(
        regions, machine, network="ideal", ranks_per_node=2, compute_scale=("part 7=0.5",)
    )
    assert scaled.tables["ranks"]["end_us"].to_list()[0] == 1500.0 + 600 + 50


def test_the_summary_and_the_page_list_regions(
    regions: Path, tmp_path: Path, elanite: Callable[..., Ended]
) -> None:
    words = ("replay", str(regions), "--network", "ideal", "--compute-scale", "part 7=0.5")
    ended = elanite(*words, "--html", str(tmp_path / "page.html"))
    assert ended.code == 0, ended
    assert "the trace's times x 0.5 to 1" in ended.out
    assert "MPI_Wait a+0x1 > MPI_Allreduce a+0x2" in ended.out
    assert "outside the regions" in ended.out
    assert "Computation by region" in (tmp_path / "page.html").read_text(encoding="utf-8")
    figures = json.loads(elanite(*words, "--format", "json").out)
    assert [row["computed_us"] for row in figures["regions"]] == [600.0, 500.0, 50.0]
    assert (figures["regions"][0]["longest_rank"], figures["regions"][0]["longest_us"]) == (
        1,
        300.0,
    )
    assert figures["compute_scale_regions"] == ["part 7"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "part 8=2",
            "`part 8` is neither ranks nor a region; the trace has 2 regions: `part 7`, `MPI_Wait",
        ),
        ("0:part 8=2", "`part 8` is neither ranks nor a region"),
        ("3:part 7=2", "the trace has the ranks 0 to 2"),
        ("part 7=x", "`x` is not a factor"),
    ],
)
def test_regions_that_are_wrong(text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match="--compute-scale: ") as error:
        factors([text], 3, ["part 7", "MPI_Wait a+0x1 > MPI_Allreduce a+0x2"])
    assert wrong in str(error.value)
