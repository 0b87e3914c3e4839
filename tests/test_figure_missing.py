"""Empty figures in an experiment file are named, and sweeps draw the file's figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import elanite as el
from elanite.cli import app
from elanite.figures.empty_figures import missing
from pings import ping

if TYPE_CHECKING:
    from elanite.library.api import Result

PING = f"""
title = "pings"
machine = "es40-qsnet"
[[series]]
name = "ping"
{ping('["0 B", "1 KB"]', to=15, repeats=2)}"""

FIGURE = """
[[figure]]
name = "{name}"
title = "{name}"
draw = "curves"
metric = "{metric}"
x = "{x}"
{more}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    asked = [
        ("good", "latency", "message_bytes", ""),
        ("typo", "latency_mean", "message_bytes", ""),
        ("nowhere", "latency", "message_bytes", 'where = { message = "2 KB" }'),
    ]
    made = "".join(
        FIGURE.format(name=name, metric=metric, x=x, more=more) for name, metric, x, more in asked
    )
    (tmp_path / "pings.toml").write_text(PING + made)
    return tmp_path / "pings.toml"


def empty(result: Result) -> list[str]:
    return missing(result.plan, result.store, [figure.name for figure in result.figures()])


def test_an_empty_figure_is_named_with_its_metric_and_those_that_there_are(file: Path) -> None:
    typo, nowhere = empty(el.run(file, out=file.parent / "out"))
    assert typo.startswith(
        "the figure `typo` is empty: no row has the metric `latency_mean`; did you mean `latency`?"
    )
    assert typo.endswith("the metrics are latency, bandwidth, wire_bandwidth")
    assert nowhere == "the figure `nowhere` is empty: its `series` and `where` select no rows"


def test_figures_of_points_to_come_are_not_missing(file: Path) -> None:
    assert empty(el.load_results(file, out=file.parent / "none")) == []


def test_the_command_and_the_page_name_empty_figures(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    done = CliRunner().invoke(app, ["run", str(file), "--html", "page.html"])
    assert done.exit_code == 0
    assert "warning: the figure `typo` is empty" in done.stderr
    assert "The figure `typo` is empty" in Path("page.html").read_text()


def test_a_sweep_draws_the_figures_of_the_file_and_general_ones(file: Path) -> None:
    swept = el.sweep(
        el.Experiment.load(file), {"bus.rate": ["150 MB/s", "400 MB/s"]}, out=file.parent / "out"
    )
    figures = {figure.name: figure for figure in swept.whole.figures()}
    assert {"good", "ping-latency"} <= {*figures}
    rows = figures["good"].spec()["datasets"].values()
    assert {row["curve"] for data in rows for row in data if "curve" in row} == {
        "150 MB/s",
        "400 MB/s",
    }
