"""Figures that cannot be drawn as specified are errors before the first run, with file, line and
remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import elanite as el
from conftest import Ended, data
from elanite.errors import ConfigError
from elanite.figures.empty_figures import missing
from elanite.inputs.figure_checks import factor
from test_figure_missing import PING

Run = Callable[..., Ended]

FIGURE = '\n[[figure]]\nname = "own"\ntitle = "own"\n'

JOBS = """
title = "traffic"
machine = "es40-qsnet"
[run]
warm_up = "10 us"
window = "40 us"
batches = 3
[[series]]
name = "load"
[series.jobs.a]
pattern = "uniform"
nodes = 8
message = "1 KB"
sizes = "fixed"
arrivals = "exponential"
load = ["60 MB/s", "200 MB/s"]
"""


def load(text: str, folder: Path) -> Path:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder / "mine.toml"


@pytest.mark.parametrize(
    ("base", "lines", "key", "words"),
    [
        (PING, 'draw = "nodes"', "draw", "as qsnet/hotspot has"),
        (PING, 'draw = "distribution"', "draw", "as collectives/barrier has"),
        (JOBS, 'draw = "nodes"', "draw", "with the name `nodes`"),
        (JOBS, 'draw = "kept"', "draw", "with the name `alone`"),
        (
            PING,
            'metric = "latency"\nx = "message_bytes"\ny_title = "latency, MB"',
            "y_title",
            "`latency` is in µs",
        ),
        (
            PING,
            'metric = "latency"\nx = "message_bytes"\ny_title = "latency, fortnights"',
            "y_title",
            "is in µs",
        ),
        (
            PING,
            'metric = "bandwidth"\nx = "message_bytes"\ny_title = "bandwidth, µs"',
            "y_title",
            "is in MB/s",
        ),
        (
            PING,
            'metric = "latency"\nx = "message_bytes"\nx_title = "message, KB"',
            "x_title",
            "is in B",
        ),
        (JOBS, 'draw = "loads"\ny_title = "accepted, ms"', "y_title", "`accepted` is in MB/s"),
        (JOBS, 'draw = "loads"\nsteady = true', "steady", "has no use for `steady`"),
        (
            JOBS,
            'draw = "bars"\nmetric = "accepted"\nx = "load"\nmark = 100',
            "mark",
            "has no use for `mark`",
        ),
    ],
)
def test_what_a_figure_cannot_draw_is_an_error(
    elanite: Run, tmp_path: Path, base: str, lines: str, key: str, words: str
) -> None:
    text = base + FIGURE + lines + "\n"
    load(text, tmp_path)
    line = next(
        number for number, one in enumerate(text.splitlines(), 1) if one.startswith(f"{key} =")
    )
    for command in (("check", "mine.toml"), ("run", "mine.toml", "--out", "out")):
        ended = elanite(*command)
        assert ended.code == 2, ended
        assert f"figure.own.{key}: " in ended.err
        assert words in ended.err
        assert f"mine.toml:{line}:1" in ended.err
        assert "= help: " in ended.err
    assert not (tmp_path / "out").exists(), "nothing was simulated"


def test_the_place_is_that_of_the_figure(tmp_path: Path) -> None:
    good = (
        FIGURE.replace("own", "good")
        + 'metric = "latency"\nx = "message_bytes"\ny_title = "latency, µs"\n'
    )
    file = load(PING + good + good.replace("good", "wrong").replace("µs", "MB/s"), tmp_path)
    with pytest.raises(ConfigError) as caught:
        el.load_results(file)
    (problem,) = caught.value.problems
    lines = file.read_text(encoding="utf-8").splitlines()
    assert problem["key"] == "figure.wrong.y_title"
    assert lines[problem["line"] - 1] == 'y_title = "latency, MB/s"'


@pytest.mark.parametrize(
    ("title", "unit", "expected"),
    [
        ("latency, µs", "us", 1.0),
        ("latency, us", "us", 1.0),
        ("latency, ms", "us", 1e-3),
        ("latency, ns", "us", 1e3),
        ("load, MB/s per node", "MB/s", 1.0),
        ("load, GB/s per node", "MB/s", 1e-3),
        ("MB/s", "MB/s", 1.0),
        ("GB/s", "MB/s", 1e-3),
        ("latency", "us", 1.0),
        ("latency, MB/s", "us", None),
        ("latency, hours", "us", None),
        ("availability, %", "fraction", 100.0),
        ("latency, cycles", "cycles", 1.0),
        ("latency, µs", "cycles", None),
        ("load, part of the links", "", 1.0),
        ("load, MB/s", "", None),
    ],
)
def test_units_of_titles(title: str, unit: str, expected: float | None) -> None:
    found = factor(title, unit)
    assert found == (None if expected is None else pytest.approx(expected))


def test_another_unit_converts_the_values(tmp_path: Path) -> None:
    over = 'metric = "latency"\nx = "message_bytes"\n'
    figures = [
        FIGURE.replace("own", name) + over + f'y_title = "latency, {name}"\n'
        for name in ("us", "ns")
    ]
    result = el.run(load(PING + "".join(figures), tmp_path), out=tmp_path / "out")
    micro, nano = ([row["mean"] for row in data(one, "mean")] for one in result.figures())
    assert nano == pytest.approx([1e3 * value for value in micro])
    assert len(micro) == 2


def test_loads_are_converted_and_marked(tmp_path: Path) -> None:
    mark = [
        f'draw = "loads"\ny_title = "load, {unit} per node"\nmark = {at}\n'
        for unit, at in (("MB/s", 150), ("GB/s", 0.15))
    ]
    figures = [FIGURE.replace("own", name) + lines for name, lines in zip("ab", mark, strict=True)]
    result = el.run(load(JOBS + "".join(figures), tmp_path), out=tmp_path / "out")
    mega, giga = result.figures()
    for name in ("mean", "offered"):
        values: list[list[Any]] = [[row[name] for row in data(one, "mean")] for one in (mega, giga)]
        assert values[1] == pytest.approx([value / 1e3 for value in values[0]])
    assert [row["state"] for row in data(mega, "mean")] == [
        row["state"] for row in data(giga, "mean")
    ]
    for figure, at in ((mega, 150), (giga, 0.15)):
        assert [
            row for rows in figure.spec()["datasets"].values() for row in rows if row == {"x": at}
        ]
        assert any(
            "strokeDash" in layer["mark"]
            for layer in figure.spec()["layer"]
            if isinstance(layer["mark"], dict)
        )


def test_a_special_figure_without_results_is_named(tmp_path: Path) -> None:
    file = load(
        JOBS
        + FIGURE
        + 'draw = "congestion"\n'
        + FIGURE.replace("own", "m")
        + 'draw = "machines"\n',
        tmp_path,
    )
    result = el.run(file, out=tmp_path / "out")
    slices, machines = missing(
        result.plan, result.store, [figure.name for figure in result.figures()]
    )
    assert slices == "the figure `own` is empty: no point has slices of time; set run.slices"
    assert machines.startswith("the figure `m` is empty: ")
