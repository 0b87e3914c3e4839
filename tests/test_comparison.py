"""Several machines side by side: the plan, the lines and their ratios, the figures, the command
line.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import FILES, SMALL, Row, data, figures_of, frame
from elanite.errors import ConfigError, UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results.machine_comparison import machine_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    from conftest import Ended

MACHINES = ("es40-qsnet", "opteron-qsnet2")
COMPARISON = "comparison/generations"
OFFERED = {"message": "16 KB", "load": "3 GB/s"}
TWO = FILES / "two-machines.toml"


def rows_of(series: str, metric: str, unit: str, **parameters: object) -> list[Row]:
    """Two batches on each machine: 100 and 102 on the first, three times as much on the second."""
    common = {"id": "x", "experiment": COMPARISON, "series": series, "seed": 1} | parameters
    found: list[Row] = []
    for factor, machine in zip((1, 3), MACHINES, strict=True):
        for batch, value in enumerate((100.0, 102.0)):
            row = {
                "on": machine,
                "job": None,
                "metric": metric,
                "unit": unit,
                "batch": batch,
                "value": factor * value,
            }
            found.append(common | row)
    return found


def synthetic() -> pl.DataFrame:
    rows: list[Row] = []
    for nodes in (64, 1024):
        rows += rows_of("uniform", "accepted", "MB/s", pattern="uniform", nodes=nodes, **OFFERED)
        for pattern in ("neighbor", "shuffle"):
            rows += rows_of(
                "permutations", "accepted", "MB/s", pattern=pattern, nodes=nodes, **OFFERED
            )
        for operation in ("hgsync", "gsync"):
            rows += rows_of("barrier", "latency", "us", operation=operation, nodes=nodes)
        rows += rows_of(
            "broadcast", "bandwidth", "MB/s", operation="hbcast", nodes=nodes, message="256 KB"
        )
    return frame(rows)


def test_points_of_several_machines_are_those_of_each_alone() -> None:
    both = plan(sources.read("experiment", str(TWO)))
    assert [machine.name for machine in both.machines] == list(MACHINES)
    assert {point.parameters["on"] for point in both.points} == set(MACHINES)
    assert all(point.parameters["on"] == point.machine for point in both.points)
    alone = [plan(sources.read("experiment", str(TWO)), [machine]) for machine in both.machines]
    assert [point.id for point in both.points] == [
        point.id for each in alone for point in each.points
    ]
    assert all("on" not in point.parameters for each in alone for point in each.points)
    assert len({point.id for point in both.points}) == len(both.points)


def test_points_equal_to_those_of_other_experiments_are_the_same_points() -> None:
    chosen = [sources.read("machine", name) for name in MACHINES]
    tree = [
        "topology.nodes=64",
        "topology.down=[4, 4, 4]",
        "topology.up=[4, 4]",
    ]  # that of the first as it is
    small, both = (plan(sources.read("experiment", SMALL), *more) for more in ([], [chosen, tree]))
    assert [point.id for point in small.points] == [
        point.id for point in both.points if point.machine == MACHINES[0]
    ]


def test_what_one_of_the_machines_does_not_admit_names_it() -> None:
    chosen = [sources.read("machine", name) for name in MACHINES]
    with pytest.raises(ConfigError) as both:
        plan(sources.read("experiment", SMALL), chosen)
    with pytest.raises(ConfigError) as alone:
        plan(sources.read("experiment", SMALL), chosen[1:])
    words, problems = alone.value.args
    assert "there is no node 63" in words
    assert both.value.args == (f"on opteron-qsnet2:\n{words}", problems)


def test_the_command_of_several_machines_names_them_all() -> None:
    given = plan(
        sources.read("experiment", COMPARISON),
        [sources.read("machine", name) for name in MACHINES[::-1]],
    )
    assert (
        given.command() == f"elanite run {COMPARISON} --machine opteron-qsnet2 --machine es40-qsnet"
    )
    assert plan(sources.read("experiment", COMPARISON)).command() == f"elanite run {COMPARISON}"


def test_two_machines_of_one_name_are_refused(tmp_path: Path) -> None:
    first = sources.read("machine", "es40-qsnet")
    (tmp_path / "es40-qsnet.toml").write_text(first.text, encoding="utf-8")
    second = sources.read("machine", str(tmp_path / "es40-qsnet.toml"))
    with pytest.raises(UsageError, match="two machines `es40-qsnet`"):
        plan(sources.read("experiment", SMALL), [first, second])


def test_the_shipped_comparison_offers_more_than_links_carry() -> None:
    planned = plan(sources.read("experiment", COMPARISON))
    assert {p.parameters["nodes"] for p in planned.points} >= {64, 1024}
    assert all(p.parameters["load"] == "3 GB/s" for p in planned.points if "load" in p.parameters)


def test_ratios_are_to_the_first_machine_batch_with_batch() -> None:
    rows = synthetic().filter(pl.col("series") == "barrier")
    lines = list(machine_lines(rows))
    assert [(line.parameters["operation"], line.parameters["nodes"]) for line in lines] == [
        ("hgsync", 64), ("gsync", 64), ("hgsync", 1024), ("gsync", 1024),
    ]  # fmt: skip
    for line in lines:
        assert (line.quantity, line.first, list(line.figures)) == (
            "latency, us",
            "es40-qsnet",
            list(MACHINES),
        )
        assert line.figures["es40-qsnet"].mean == 101.0
        assert line.figures["opteron-qsnet2"].mean == 303.0
        # Every batch of the second is three times that of the first: variations occur in both.
        (ratio,) = line.ratios.values()
        assert ratio.mean == pytest.approx(3.0)
        assert ratio.half == pytest.approx(0.0, abs=1e-9)


def test_a_line_has_no_ratio_where_there_is_nothing_to_compare_with() -> None:
    rows = synthetic().filter(pl.col("series") == "uniform")
    alone = rows.filter(pl.col("on") == "opteron-qsnet2")
    assert all(not line.ratios for line in machine_lines(alone))
    nothing = rows.with_columns(
        value=pl.when(pl.col("on") == "es40-qsnet").then(0.0).otherwise(pl.col("value"))
    )
    assert all(not line.ratios and len(line.figures) == 2 for line in machine_lines(nothing))


def test_figures_of_the_comparison() -> None:
    found = {figure.name: figure for figure in figures_of(COMPARISON, synthetic())}
    assert list(found) == ["table", "patterns", "barrier", "broadcast"]
    assert found["table"].title == "QsNET against QsNetII"
    assert all("prediction" in figure.caption for figure in found.values())
    assert "bus.burst_overhead" in found["table"].caption  # a fitted parameter of both
    assert "links of 1.28 GB/s" in found["table"].caption
    words = [word["text"] for word in data(found["table"], "text")]
    assert words.count("3") == 12  # a ratio for each configuration
    assert words.count("101") == 12  # two values have no interval
    assert {"QsNET", "QsNetII", "QsNetII / QsNET", "shuffle", "hardware (hbcast)", "1,024"} <= set(
        words
    )
    bars = data(found["patterns"], "pattern")
    assert len({(row["pattern"], row["curve"]) for row in bars}) == 12
    assert {row["curve"] for row in bars} >= {"QsNET, 64 nodes", "QsNetII, 1,024 nodes"}


def test_figures_of_one_machine_and_of_others() -> None:
    alone = synthetic().filter(pl.col("on") == "es40-qsnet")
    names = [figure.name for figure in figures_of(COMPARISON, alone)]
    assert names == ["table", "patterns", "barrier", "broadcast"]
    other = synthetic().with_columns(on=pl.col("on").replace({"opteron-qsnet2": "mine"}))
    assert figures_of(COMPARISON, other)[0].title == "QsNET against mine"


def test_a_machine_alone_has_no_table() -> None:
    """With ``--machine`` once there is no parameter ``on``, and no comparison."""
    alone = synthetic().filter(pl.col("on") == "es40-qsnet").drop("on")
    found = [figure.name for figure in figures_of(COMPARISON, alone)]
    assert found == ["patterns", "barrier", "broadcast"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["run", "two-machines.toml"], id="machines of the experiment"),
        pytest.param(
            ["run", "two-machines.toml", "--machine", "opteron-qsnet2", "--machine", "es40-qsnet"],
            id="machines of the command line",
        ),
        pytest.param(
            ["run", "small.toml", "--machine", "es40-qsnet", "--machine", "es41"],
            id="second unknown",
        ),
        pytest.param(
            ["run", "small.toml", "--machine", "es40-qsnet", "--machine", "es40-qsnet"],
            id="one twice",
        ),
        pytest.param(["show", "two-machines.toml"], id="show"),
        pytest.param(["check", "two-machines.toml"], id="check"),
    ],
)
def test_command_line(
    elanite: Callable[..., Ended], tmp_path: Path, snapshot: SnapshotAssertion, arguments: list[str]
) -> None:
    for name in ("small.toml", "two-machines.toml"):
        (tmp_path / name).write_text((FILES / name).read_text(encoding="utf-8"), encoding="utf-8")
    ended = elanite(*arguments)
    assert str(ended) == snapshot
