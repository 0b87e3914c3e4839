"""The noise test: its measure can hold and can fail, its figures are there, and this machine can be
measured.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import conftest
import elanite as el
from conftest import Ended
from elanite import figures
from elanite.cli.noise import bars
from elanite.inputs import sources
from elanite.library import noise as measurement

if TYPE_CHECKING:
    from elanite.validation.verdict import Verdict

Bins = dict[float, int]

FIRST: Bins = {0.5: 300, 1.0: 250, 1.5: 200, 2.0: 150, 3.0: 99, 60.0: 1}
"""Detours on the first processor, in microseconds, and how many iterations had them."""


def shifted(bins: Bins, shift: float) -> Bins:
    return {detour + shift: count for detour, count in bins.items()}


def table(*cpus: Bins) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {
            "series": "noise",
            "node": 0,
            "cpu": cpu,
            "compute": "1 ms",
            "compute_us": 1000.0,
            "seed": 1,
        }
        | {"lower_ps": round(detour * 1e6), "count": count}
        for cpu, bins in enumerate(cpus)
        for detour, count in bins.items()
    ]
    return pl.DataFrame(rows)


def judged(*cpus: Bins) -> Verdict:
    return conftest.judged("qsnet2.noise", table(*cpus))


@pytest.mark.parametrize(
    ("second", "holds", "words"),
    [
        (shifted(FIRST, 1.0), True, "by 1.00 to 1.00 us"),
        (shifted(FIRST, 0.25), True, "by 0.25 to 0.25 us"),
        (FIRST, False, "displaced, not so"),
        (shifted(FIRST, -0.25), False, "displaced, not so"),
        (shifted(FIRST, 20.0), False, "displaced, not so"),
        ({2 * detour + 1: count for detour, count in FIRST.items()}, False, "same shape, not so"),
        ({1.5: 400, 2.0: 300, 2.5: 200, 3.0: 50, 4.0: 50}, False, "same shape, not so"),
        (shifted(FIRST, 1.0) | {12.0: 30}, False, "noiseless, not so"),
        (shifted(FIRST, 1.0) | {9e4: 1}, False, "noiseless, not so"),
    ],
)
def test_noiseless_and_displaced(second: Bins, holds: bool, words: str) -> None:
    """As published; not displaced, to the left, or far; with another shape; with long iterations,
    or one very long.
    """
    verdict = judged(FIRST, second)
    assert verdict.holds is holds
    assert words in str(verdict.simulated)


def test_the_first_processor_is_noiseless_too() -> None:
    assert judged(FIRST | {11.0: 30}, shifted(FIRST | {11.0: 30}, 1.0)).holds is False


def test_figure_3() -> None:
    drawn = list(figures.noise.draw(table(FIRST, shifted(FIRST, 1.0))))
    assert [(figure.name, figure.paper) for figure in drawn] == [
        ("3a", "figure 3 a"),
        ("3b", "figure 3 b"),
    ]
    first, second = (figure.spec() for figure in drawn)
    domains = [spec["layer"][0]["encoding"]["x"]["scale"]["domain"] for spec in (first, second)]
    assert domains[0] == domains[1], "the same axes"
    assert domains[0][0] == 1.0
    for spec in (first, second):
        (bars,) = spec["datasets"].values()
        assert sum(bar["count"] for bar in bars) == 999
    assert "1,000 iterations" in drawn[0].caption
    assert (
        "1 iterations took longer than the axis shows, the longest 0.06 ms more" in drawn[0].caption
    )


def test_a_processor_without_noise_can_be_drawn() -> None:
    (figure,) = figures.noise.draw(table({0.0: 5}))
    assert figure.spec()


def test_what_noise_adds_to_steps() -> None:
    """With noise less without, batch by batch; other metrics, and points that lack the other half,
    are left out.
    """
    common = {"series": "steps", "compute": "1 ms", "unit": "us", "seed": 1}
    machines = {"topology.nodes=4096": 1010.0, "host.noise=false, topology.nodes=4096": 1006.0}
    rows = [
        common | {"operation": operation, "nodes": nodes, "machine": machine, "metric": metric}
        | {"batch": batch, "value": value + batch + (0 if "false" in machine else nodes)}
        for operation in ("gsync", "hgsync")
        for nodes in (64, 1024)
        for machine, value in machines.items()
        for metric in ("step", "latency")
        for batch in (0, 1)
    ]  # fmt: skip
    alone = rows[0] | {"operation": "reduce"}
    (figure,) = figures.noise.scaling(pl.DataFrame([*rows, alone]))
    (data,) = figure.spec()["datasets"].values()
    found = {(row["curve"], row["nodes"]): row["mean"] for row in data}
    names = [figures.noise.STEPS[operation] for operation in ("hgsync", "gsync")]
    assert found == {(name, nodes): 4.0 + nodes for name in names for nodes in (64, 1024)}
    assert list(figures.noise.scaling(pl.DataFrame([alone]))) == []


Run = Callable[..., Ended]

PROCESSOR = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def test_the_noise_of_this_machine_is_a_section_of_a_machine(elanite: Run, tmp_path: Path) -> None:
    """Any noise.

    Where other programs take nearly all the processor, the machine file marks the excess.
    """
    folder = tmp_path / "n"
    ended = elanite(
        "noise", "--seconds", "0.3", "--compute", "100 us", "--out", str(folder), "--format", "json"
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert sum(one["count"] for one in found["distribution"]) == found["iterations"] > 1
    assert found["base_us"] <= found["p50_us"] <= found["p99_us"] <= found["max_us"]
    assert {path.name for path in folder.iterdir()} == {"noise.svg", "noise.html", "noise.toml"}
    assert "<svg" in (folder / "noise.svg").read_text()
    assert "vega" in (folder / "noise.html").read_text()
    checked = elanite("check", str(noisy(tmp_path, (folder / "noise.toml").read_text())))
    assert checked.code == 0 or "at most 90% by all causes together" in checked.err, checked


def noisy(folder: Path, profile: str) -> Path:
    """A machine with a noise profile."""
    file = folder / "noisy.toml"
    file.write_text(sources.read("machine", "es40-qsnet").text + profile)
    return file


def test_measured_noise_comes_into_a_simulation(tmp_path: Path) -> None:
    """A simulated machine has its profile's detours: 1 us in 200 us, and 20 us in every 5 ms."""
    profile = """
[noise.measured]
cpu = { value = "all", source = "a test" }
interval = { value = [["200 us", 24], ["220 us", 1]], source = "a test" }
duration = { value = [["1 us", 24], ["21 us", 1]], source = "a test" }
"""
    test = tmp_path / "test.toml"
    test.write_text(
        """title = "Noise"
machine = "es40-qsnet"
[[series]]
name = "noise"
[series.noise]
node = 0
cpu = 0
iterations = 200_000
compute = "100 us"
"""
    )
    machine = el.Machine.load(str(noisy(tmp_path, profile)))
    result = el.run(el.Experiment.load(str(test)), machine, out=tmp_path / "out")
    elapsed = result.frame().filter(pl.col("metric") == "elapsed")["value"].to_list()
    taken = (24 * 1 + 21) / (24 * 200 + 220)
    assert sum(elapsed) / len(elapsed) - 100 == pytest.approx(100 * taken / (1 - taken), rel=0.1)


def test_the_formats_of_a_measurement(elanite: Run, tmp_path: Path) -> None:
    short = ("noise", "--seconds", "0.05", "--compute", "100 us", "--out", str(tmp_path))
    table = elanite(*short)
    assert table.code == 0, table.err
    for words in ("iterations of 100 us on no certain processor", "99.99%", "longer by", "#"):
        assert words in table.out
    assert "noise.toml" in table.err
    csv = elanite(*short, "--format", "csv")
    assert pl.read_csv(io.StringIO(csv.out)).columns == ["lower_ps", "count"]


@pytest.mark.skipif(PROCESSOR is None, reason="this system binds no thread to a processor")
def test_a_processor_of_this_machine() -> None:
    """Only the thread that measures is bound to it."""
    before = os.sched_getaffinity(0)
    assert measurement.measure(0.02, "100 us", PROCESSOR).cpu == PROCESSOR
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cpu", "18446744073709551616"], "--cpu': Input should be less than or equal to"),
        (["--cpu", "100000"], "there is no processor 100000 for this process; allowed: "),
        (
            ["--seconds", "0"],
            "the length of the measurement: 0 ps is out of range; allowed: 10 ms to 3600 s",
        ),
        (["--seconds", "1e9"], "--seconds: 1e+09 is out of range; allowed: 0.01 to 3600"),
        (["--seconds", "nan"], "--seconds: nan is out of range"),
        (["--compute", "1 ns"], "the computation: 1 ns is out of range; allowed: 10 us to 1 s"),
        (["--compute", "1"], "the computation: expected a time with its unit"),
        (
            ["--seconds", "0.01", "--compute", "5 ms"],
            "the number of iterations, length over computation: 2",
        ),
        (["--out", "/proc/nowhere"], "--out: /proc/nowhere cannot be written"),
    ],
)
def test_what_cannot_be_measured(
    elanite: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    ended = elanite("noise", "--out", str(tmp_path), *arguments)
    assert ended.code == 2
    assert words in ended.err
    assert not ended.out


def test_a_histogram_as_text() -> None:
    bins = pl.DataFrame(
        {"lower_ps": [0, 1_500_000, 1_900_000, 9_000_000], "count": [1000, 6, 3, 1]}
    )
    lines = bars(bins)
    assert lines[0] == "  longer by"
    assert lines[1].endswith("1,000")
    assert len(lines) == 1 + 15, "from nothing to 8.19 us, by doublings"
    assert lines[12].split() == ["1.02", "us", "#" * 20, "9"]
    assert lines[15].split() == ["8.19", "us", "#" * 6, "1"]


def test_a_histogram_of_my_own_has_no_number_of_a_paper(tmp_path: Path) -> None:
    text = sources.read("experiment", "qsnet2/noise").text
    for own in (False, True):
        changed = text.replace('title = "Noise: time of an iteration"', 'title = ""')
        (tmp_path / "noise.toml").write_text(changed if own else text, encoding="utf-8")
        result = el.run(tmp_path / "noise.toml" if own else "qsnet2/noise", out=tmp_path / "out")
        papers = {figure.paper for figure in result.figures() if "processor" in figure.title}
        assert papers == ({""} if own else {"figure 3 a", "figure 3 b"})
