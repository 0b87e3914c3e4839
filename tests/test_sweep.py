"""Sweeps: values and ranges, full factorials and Latin hypercubes, tables by the varied keys,
errors before any run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import elanite as el
from conftest import SMALL, Ended
from elanite import _core
from elanite.base.text import plain
from elanite.errors import ConfigError, UsageError
from elanite.figures import default_figures
from elanite.inputs import sources
from elanite.study import ranges, sweeps
from elanite.study.ranges import Choice, Range

Run = Callable[..., Ended]

FEW = (
    "series.ping.to=1",
    "series.ping.directions=one",
    "series.ping.message=64 B",
    "series.ping.repeats=1",
)
"""The small campaign's pings with two points, one for each source kind; its loads stay."""


def few() -> el.Experiment:
    return el.Experiment.load(
        SMALL, [*FEW, "series.load.jobs.uniform.load=50 MB/s", "run.seeds=1", "run.window=50 us"]
    )


def planned(
    *texts: str, sample: sweeps.Sample | None = None, seed: int = 1
) -> list[dict[str, str]]:
    """The combinations of a sweep over the small campaign."""
    keys = [ranges.read("--vary", text) for text in texts]
    plans = sweeps.planned(sources.read("experiment", SMALL), [], [*FEW], keys, sample, seed)
    return [{key.key: each.points[0].parameters[key.key] for key in keys} for each in plans]


def test_values_are_lists_and_ranges() -> None:
    read = lambda text: ranges.read("--vary", text)  # noqa: E731
    assert read("link.hop_delay=55 ns, 65 ns") == Choice("link.hop_delay", ("55 ns", "65 ns"))
    assert read("topology.down=[4, 4],[8]") == Choice("topology.down", ("[4, 4]", "[8]"))
    assert read("a.b='x,y',z") == Choice("a.b", ("'x,y'", "z"))
    assert read("bus.rate=150 MB/s..400 MB/s") == Range("bus.rate", 150, 400, "MB/s")
    assert read("adapter.dma_start=500 ns..2 us log") == Range(
        "adapter.dma_start", 500, 2000, "ns", log=True
    )
    assert read("adapter.share_period=100..300 flits in 5") == Range(
        "adapter.share_period", 100, 300, "flits", count=5
    )
    assert read("tport.handle=100..200") == Range("tport.handle", 100, 200, "")
    ratios = Range("tport.big", 1, 64, "KB", log=True, count=7)
    assert [round(ratios.number(share), 9) for share in ratios.shares()] == [1, 2, 4, 8, 16, 32, 64]
    assert ratios.share("8 KB") == pytest.approx(0.5)
    assert ranges.of("vary", "switch.tokens", [True, False]) == Choice(
        "switch.tokens", ("true", "false")
    )
    for text in ("bus.rate=150 MB/s..400 MB/s", "tport.big=1 KB..64 KB in 7 log"):
        assert str(read(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bus.rate", "this is not KEY=VALUES"),
        ("bus.rate=", "this is not KEY=VALUES"),
        ("bus.rate=1 MB/s,,2 MB/s", "a value is empty"),
        ("bus.rate=1 MB/s,1 MB/s", "`1 MB/s` is there twice"),
        ("bus.rate=400 MB/s..150 MB/s", "the range is empty"),
        ("bus.rate=150 MB/s..150 MB/s", "the range is empty"),
        ("bus.rate=150 MB/s..400 ns", "the ends have different units"),
        ("bus.rate=150 MB/s..400", "the ends have different units"),
        ("bus.rate=150 furlong..400 furlong", "`furlong` is not a unit"),
        ("bus.rate=low..high", "this is not a range"),
        ("bus.rate=1 MB/s..2 MB/s in 1", "a range has two values at least"),
        ("host.call=0 ns..10 ns log", "equal ratios need a low end above 0"),
    ],
)
def test_wrong_values_are_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        ranges.read("--vary", text)
    first, *remedy = str(caught.value).splitlines()
    assert first.startswith(f"--vary {text}:")
    assert remedy


def test_more_values_than_can_be_planned_are_refused() -> None:
    """Before a list of them is made."""
    for count in ("1000001", "1000000000000", "9" * 400):
        with pytest.raises(UsageError, match="a range has at most 1,000,000 values"):
            ranges.read("--vary", f"bus.rate=1 MB/s..2 MB/s in {count}")
    some = ranges.read("--vary", "bus.rate=1 MB/s..2 MB/s in 1001")
    small = sources.read("experiment", SMALL)
    other = ranges.read("--vary", "link.hop_delay=20 ns..90 ns in 1001")
    with pytest.raises(
        UsageError, match="the keys have 1,002,001 combinations, and a sweep has at most 1,000,000"
    ):
        sweeps.planned(small, [], [], [some, other])
    with pytest.raises(UsageError, match="a sample has at most 1,000,000 combinations"):
        sweeps.planned(small, [], [], [some], ("lhs", 10**12))


def test_a_full_factorial_has_all_combinations() -> None:
    found = planned(
        "link.hop_delay=55 ns,65 ns", "tport.big=1 KB..16 KB in 3 log", "switch.tokens=true,false"
    )
    assert len(found) == 12
    assert {each["tport.big"] for each in found} == {"1 KB", "4 KB", "16 KB"}
    assert len({tuple(each.values()) for each in found}) == 12
    assert found[0] == {"link.hop_delay": "55 ns", "tport.big": "1 KB", "switch.tokens": "true"}


def test_values_are_those_that_the_file_takes() -> None:
    (low, *_, high) = found = planned("link.hop_delay=31 ns..69 ns in 4")
    assert low["link.hop_delay"] == "30 ns", "whole cycles of 5 ns"
    assert high["link.hop_delay"] == "70 ns"
    assert len(found) == 4
    assert planned("link.hop_delay=54 ns..56 ns in 3") == [{"link.hop_delay": "55 ns"}], (
        "equal values run once"
    )
    delays = [each["link.hop_delay"] for each in planned("link.hop_delay=10 ns..5 us in 3")]
    assert delays == ["10 ns", "2505 ns", "5 us"], "in the shortest text"
    assert [each["run.window"] for each in planned("run.window=50 us..100 us in 2")] == [
        "50 us",
        "100 us",
    ]
    assert [each["run.seeds"] for each in planned("run.seeds=1..3 in 3")] == ["1", "2", "3"]


def test_a_latin_hypercube_has_one_value_of_each_part() -> None:
    texts = (
        "bus.rate=100 MB/s..300 MB/s",
        "adapter.dma_start=100 ns..10 us log",
        "switch.tokens=true,false",
    )
    found = planned(*texts, sample=("lhs", 20))
    assert len(found) == 20
    rates = sorted(int((ranges.amount(each["bus.rate"]) - 100) / 10) for each in found)
    assert rates == list(range(20))
    starts = sorted(
        int(10 * math.log10(ranges.amount(each["adapter.dma_start"]) / 0.1)) for each in found
    )
    assert starts == list(range(20))
    assert sum(each["switch.tokens"] == "true" for each in found) == 10
    assert planned(*texts, sample=("lhs", 20)) == found
    assert planned(*texts, sample=("lhs", 20), seed=2) != found


@pytest.mark.parametrize(("dimensions", "count", "seed"), [(1, 4, 1), (3, 12, 1), (2, 500, 7)])
def test_a_latin_hypercube_is_that_of_scipy(dimensions: int, count: int, seed: int) -> None:
    from scipy.stats import qmc

    drawn = qmc.LatinHypercube(dimensions, seed=np.random.default_rng(seed)).random(count)
    assert sweeps.hypercube(dimensions, count, seed) == drawn.tolist()


def test_mistakes_are_told_before_anything_runs(tmp_path: Path) -> None:
    def attempt(vary: dict[str, object], **more: object) -> str:
        with pytest.raises((UsageError, ConfigError)) as caught:
            el.sweep(few(), vary, out=tmp_path, **more)  # type: ignore[arg-type]
        assert not (tmp_path / "store").exists()
        return str(caught.value.args[0])

    assert "did you mean `hop_delay`?" in attempt({"link.hop_dely": ["55 ns"]})
    told = attempt({"switch.tokens": [True], "link.hop_delay": ["55 ns", "57 ns"]})
    assert told.startswith("in the sweep, with switch.tokens=true, link.hop_delay=57 ns:")
    assert "the nearest are 55 ns and 60 ns" in told
    assert "the unit is missing" in attempt({"bus.rate": ["200"]})
    assert "--sample lhs 100" in attempt({"bus.rate": "100 MB/s..200 MB/s"})
    assert "no key is named" in attempt({})
    assert "there is no such method; did you mean `lhs`?" in attempt(
        {"bus.rate": ["1 MB/s"]}, sample=("lsh", 4)
    )
    assert "one combination at least" in attempt({"bus.rate": ["1 MB/s"]}, sample=("lhs", 0))
    assert "link.rate" in attempt({"link.rate": "399 MB/s..401 MB/s in 2"}), "no whole cycle"


def test_a_key_without_its_section_is_told_with_the_keys_that_there_are(elanite: Run) -> None:
    for words in (
        ["sweep", SMALL, "--vary", "load=1 GB/s..20 GB/s in 3"],
        ["run", SMALL, "--set", "load=1 GB/s"],
    ):
        ended = elanite(*words)
        assert ended.code == 2
        assert "there is no `load`" in ended.err
        assert "did you mean series.load.load?" in ended.err
    # With two series with this field, both; misspelt, the field; a machine key; several words.
    for key, says in (
        ("message", "series.ping.message, series.load.message?"),
        ("mesage", "series.ping.message, series.load.message?"),
        ("hop_delay", "did you mean link.hop_delay?"),
        ("rum.window", "did you mean run.window"),
        ("qqqqqq", "`elanite show` lists keys"),
    ):
        with pytest.raises(UsageError, match=re.escape(says)):
            planned(f"{key}=1,2")
    # The proposal is accepted.
    keys = [
        ranges.read("--vary", "series.load.load=50 MB/s,60 MB/s"),
        ranges.read("--vary", "link.hop_delay=55 ns"),
    ]
    assert len(sweeps.planned(sources.read("experiment", SMALL), [], [*FEW], keys)) == 2


def test_a_field_of_a_series_has_one_column(tmp_path: Path) -> None:
    vary = {"series.ping.message": ["64 B", "1 KB", "16 KB"], "link.hop_delay": ["55 ns", "60 ns"]}
    found = el.sweep(few(), vary, out=tmp_path, jobs=1)
    frame = found.frame()
    assert "series.ping.message" not in frame.columns
    ping = frame.filter(series="ping")
    assert set(ping["message"]) == {"64 B", "1 KB", "16 KB"}
    # The other series does not know the field: its points are there once for each delay.
    identities = [(point.id, point.parameters["link.hop_delay"]) for point in found.points]
    assert len(set(identities)) == len(identities) == 2 * (3 * 2 + 2)
    figures = list(default_figures.draw(ping.filter(metric="latency")))
    (legend,) = {
        layer["encoding"]["color"]["title"]
        for figure in figures
        for layer in figure.spec()["layer"]
    }
    assert legend == "link.hop_delay, source"
    looks = [
        layer["encoding"]["color"]["legend"]
        for figure in figures
        for layer in figure.spec()["layer"]
    ]
    assert all(look["titleLimit"] == 0 for look in looks), "a long title is not cut"


@pytest.mark.parametrize(
    ("key", "column"),
    [("series.ping.ping.message", "message"), ("fault.0.bit_error_rate", "fault.bit_error_rate")],
)
def test_a_field_by_its_whole_path_has_one_column(key: str, column: str) -> None:
    """A series with one job or call, and a point with one fault, name their fields without it."""
    ping = {"from": 0, "to": 1, "directions": "one", "source": "main", "destination": "main"}
    call = ping | {"message": "0 B", "repeats": 1}
    content = {
        "title": "Own",
        "machine": "es40-qsnet",
        "fault": [{"links": "all", "bit_error_rate": 1e-8}],
        "series": [{"name": "ping", "ping": call}],
    }
    values = {"message": "64 B,1 KB", "fault.bit_error_rate": "1e-9,1e-7"}[column]
    source = el.Experiment.from_dict(content).file
    plans = sweeps.planned(source, [], [], [ranges.read("--vary", f"{key}={values}")])
    found = [point.parameters for each in plans for point in each.points]
    assert [plain(each[column]) for each in found] == values.split(",")
    assert all(key not in each for each in found)


def test_varied_keys_are_columns(tmp_path: Path) -> None:
    found = el.sweep(
        few(), {"bus.rate": ["100 MB/s", "200 MB/s"], "host.call": ["250 ns"]}, out=tmp_path, jobs=1
    )
    frame = found.frame()
    assert {"bus.rate", "bus.rate_MBps", "host.call", "host.call_us"} <= set(frame.columns)
    assert len(found.points) == 2 * len(found.plans[0].points) == frame["id"].n_unique()
    own = pl.col("metric") == "latency", pl.col("source") == "main"
    slow, fast = found.summary().filter(*own).sort("bus.rate_MBps")["mean"]
    assert slow > fast
    # The same points by the usual way, and by each point's command.
    plain = el.run(
        few(),
        machine=el.Machine.load("es40-qsnet", ["bus.rate=100 MB/s", "host.call=250 ns"]),
        out=tmp_path,
    )
    assert {point.id for point in plain.points} <= {point.id for point in found.points}
    assert "--set 'bus.rate=200 MB/s'" in found.plans[1].command(found.plans[1].points[0])
    assert found.table("links").columns[:2] == ["id", "experiment"]


def test_a_sweep_by_the_command_line(elanite: Run, tmp_path: Path) -> None:
    words = [
        "sweep",
        SMALL,
        "--vary",
        "bus.rate=100 MB/s..300 MB/s",
        "--vary",
        "switch.tokens=true,false",
    ]
    words += ["--sample", "lhs", "2", *(part for each in FEW for part in ("--set", each))]
    words += [
        "--set",
        "series.load.jobs.uniform.load=50 MB/s",
        "--set",
        "run.seeds=1",
        "--out",
        str(tmp_path),
    ]
    ended = elanite(*words, "--format", "json")
    assert ended.code == 0, ended
    points = json.loads(ended.out)
    assert len({point["parameters"]["bus.rate"] for point in points}) == 2
    assert all("--set 'bus.rate=" in point["command"] for point in points)
    assert "2 combinations" in ended.err
    again = elanite(*words)
    assert "already done" in again.err
    assert "bus.rate" in again.out
    assert again.err.splitlines()[-1].startswith("reproduce: elanite sweep ")
    wrong = elanite(
        "sweep", SMALL, "--vary", "link.hop_delay=50 ns..10 ns", "--out", str(tmp_path / "no")
    )
    assert wrong.code == 2
    assert "the range is empty" in wrong.err
    assert not (tmp_path / "no").exists()


def test_a_sweep_is_drawn_by_what_varies(elanite: Run, tmp_path: Path) -> None:
    words = [
        "sweep",
        SMALL,
        "--vary",
        "bus.rate=100 MB/s,200 MB/s,300 MB/s",
        "--series",
        "ping",
        "--where",
    ]
    words += [
        "source=main",
        "--metric",
        "latency",
        *(part for each in (*FEW, "run.seeds=1") for part in ("--set", each)),
    ]
    ended = elanite(
        *words, "--out", "out", "--svg", "rates.svg", "--html", "rates.html", "--format", "csv"
    )
    assert ended.code == 0, ended
    header, *rows = ended.out.splitlines()
    assert len(rows) == 3
    assert all(",latency," in row for row in rows)
    picture = (tmp_path / "rates.svg").read_text(encoding="utf-8")
    assert "Each mark is one value." in picture, "a picture explains its marks"
    assert "bus.rate, MB/s: 100; latency, µs: " in picture, "a curve over the varied key"
    assert "bus.rate" in header
    assert "bus.rate" in (tmp_path / "rates.html").read_text(encoding="utf-8")
    assert "--series ping --where source=main --metric latency --html rates.html" in ended.err


def test_sizes_are_in_binary_units_and_latencies_over_them_logarithmic() -> None:
    sizes = {"64 B": 64, "64 KB": 65536, "1 MB": 1048576}
    rows = [
        {
            "series": "ping",
            "metric": metric,
            "unit": unit,
            "value": value * count**share,
            "message": text,
        }
        | {"message_bytes": count}
        for metric, unit, value, share in (
            ("latency", "us", 1.0, 0.7),
            ("bandwidth", "MB/s", 20.0, 0.2),
        )
        for text, count in sizes.items()
    ]
    latency, bandwidth = default_figures.draw(pl.DataFrame(rows))
    for figure in (latency, bandwidth):
        for layer in figure.spec()["layer"]:
            x = layer["encoding"]["x"]
            assert (x["scale"]["type"], x["scale"]["base"]) == ("log", 2)
            assert "KB" in x["axis"]["labelExpr"]
            assert x["axis"]["values"] == [64, 65536, 1048576], "few sizes are all labelled"
    kinds = [
        [layer["encoding"]["y"]["scale"].get("type") for layer in figure.spec()["layer"]]
        for figure in (latency, bandwidth)
    ]
    assert set(kinds[0]) == {"log"}
    assert set(kinds[1]) == {None}


def test_an_axis_with_zero_and_great_values_has_steps() -> None:
    """A linear axis would show only the greatest value, and a logarithmic one has no place for
    zero.
    """
    for values, kind in ((["0 B", "64 B", "1 MB"], "ordinal"), (["64 B", "1 MB"], "quantitative")):
        numbers = [(_core.quantity(value) or (0.0, ""))[0] for value in values]
        data = {
            "series": "ping",
            "metric": "latency",
            "unit": "us",
            "value": 1.0,
            "message": values,
        }
        (figure,) = default_figures.draw(pl.DataFrame(data | {"message_bytes": numbers}))
        assert {layer["encoding"]["x"]["type"] for layer in figure.spec()["layer"]} == {kind}


def test_keys_that_go_together_are_no_product() -> None:
    """Two keys in one --vary make as many combinations as they have values; a further key
    multiplies them.
    """
    source = sources.read("experiment", SMALL)
    pair = ranges.linked_keys(
        "--vary", "link.hop_delay=55 ns,65 ns,75 ns; adapter.dma_start=500 ns,540 ns,500 ns"
    )
    single = ranges.read("--vary", "switch.tokens=true,false")
    plans = sweeps.planned(source, [], [], [pair, single])
    changes = [plan.overrides for plan in plans]
    assert changes == [
        (f"link.hop_delay={hop} ns", f"adapter.dma_start={start} ns", f"switch.tokens={tokens}")
        for hop, start in ((55, 500), (65, 540), (75, 500))
        for tokens in ("true", "false")
    ]
    # A list and a range with as many values: both from their first value to the last.
    mixed = ranges.linked_keys(
        "--vary", "switch.tokens=true,false; link.hop_delay=55 ns..65 ns in 2"
    )
    assert [plan.overrides for plan in sweeps.planned(source, [], [], [mixed])] == [
        ("switch.tokens=true", "link.hop_delay=55 ns"),
        ("switch.tokens=false", "link.hop_delay=65 ns"),
    ]


def test_keys_that_go_together_have_equally_many_values() -> None:
    with pytest.raises(UsageError, match=r"link.hop_delay 2, switch.tokens 1"):
        ranges.linked_keys("--vary", "link.hop_delay=55 ns,65 ns; switch.tokens=true")


def test_a_dry_run_of_a_sweep_simulates_nothing(elanite: Run, tmp_path: Path) -> None:
    vary = "link.hop_delay=55 ns,65 ns; switch.tokens=true,false"
    ended = elanite("sweep", "qsnet/ping", "--series", "size", "--vary", vary, "--dry-run")
    assert ended.code == 0, ended
    assert "points to simulate: about" in ended.out
    assert not (tmp_path / "out").exists()
