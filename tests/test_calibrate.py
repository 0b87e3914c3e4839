"""Calibrations: recovery of changed parameters, undetermined parameters, machine files, and spoilt
files.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import elanite as el
from conftest import FILES, Ended, data
from elanite.errors import ElaniteError, RunError, UsageError
from elanite.inputs.machines import rewritten
from elanite.inputs.plan import plan
from elanite.inputs.sources import read, shipped
from elanite.report.pages.calibration import page
from elanite.report.pages.inputs import Inputs
from elanite.study import calibration, identifiability, measurements, minimum, ranges
from elanite.study.ranges import amount

Run = Callable[..., Ended]

ES40 = "es40-qsnet"
LOAD = str(FILES / "load.toml")
CHANGED = {"bus.rate": "231.5 MB/s", "adapter.dma_start": "671 ns", "link.hop_delay": "75 ns"}
RANGES = {
    "bus.rate": "150 MB/s..400 MB/s",
    "adapter.dma_start": "200 ns..1500 ns",
    "link.hop_delay": "20 ns..150 ns",
}
SIZES = '["0 B", "64 B", "1 KB", "16 KB", "256 KB"]'
LONG = [
    f"series.size.ping.message={SIZES}",
    "series.size.ping.directions=one",
    "series.distance.ping.message=0 B",
    "series.mpi.ping.message=0 B",
]
SHORT = ['series.size.ping.message=["0 B", "16 KB"]', "series.size.ping.source=main", *LONG[1:]]
POINTS = 4
"""The pings in ``SHORT``."""


def measure(
    machine: Mapping[str, str], experiments: list[el.Experiment], series: list[str], out: Path
) -> pl.DataFrame:
    """The results of a machine with other parameters in some series, as a table of measured
    values.
    """
    changed = el.Machine.load(ES40, [f"{key}={value}" for key, value in machine.items()])
    frames = []
    for each in experiments:
        found = el.run(each, machine=changed, out=out, jobs=1).summary()
        columns = [
            "experiment",
            "series",
            "to",
            "source",
            "destination",
            "message",
            "load",
            "metric",
            "mean",
        ]
        rows = found.filter(
            pl.col("metric").is_in(["latency", "accepted"]), pl.col("series").is_in(series)
        )
        frames.append(
            rows.select(name for name in columns if name in rows.columns).rename({"mean": "value"})
        )
    return pl.concat(frames, how="diagonal")


def finished(out: Path) -> list[str]:
    """A store's points."""
    return sorted(each.name for each in (out / "store").iterdir() if not each.name.startswith("."))


@pytest.fixture(scope="module")
def pings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pings on a machine with a slower bus."""
    folder = tmp_path_factory.mktemp("pings")
    file = folder / "measured.csv"
    measure(
        {"bus.rate": CHANGED["bus.rate"]},
        [el.Experiment.load("qsnet/ping", SHORT)],
        ["size"],
        folder,
    ).write_csv(file)
    return file


def test_a_changed_parameter_is_found_again(pings: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, float]] = []
    ping = el.Experiment.load("qsnet/ping", SHORT)
    fit = {"bus.rate": RANGES["bus.rate"]}
    found = el.calibrate(
        [ping], fit, pings, out=tmp_path, jobs=1, progress=lambda *step: steps.append(step)
    )
    (value,) = found.values
    assert (value.key, value.before) == ("bus.rate", "264 MB/s")
    assert amount(value.after) == pytest.approx(amount(CHANGED["bus.rate"]), rel=0.002)
    assert value.determined
    assert 0.005 < value.error < 0.02, "the values count as known within 1%"
    assert not value.reason
    low, high = (amount(end) for end in (value.low, value.high))
    assert low < amount(CHANGED["bus.rate"]) < high, "the interval has the true value"
    assert high - low == pytest.approx(2 * 1.96 * value.error * amount(value.after), rel=0.2)
    assert found.ended
    assert found.before > 1 > 0.1 > found.after
    (group,) = found.groups
    assert (group.experiment, group.series, group.metric, group.count) == (
        "qsnet/ping",
        "size",
        "latency",
        POINTS,
    )
    assert group.before > 0.03 > 0.001 > group.after
    assert (
        found.machine["bus.rate"] == el.Machine.load(ES40, [f"bus.rate={value.after}"])["bus.rate"]
    )
    (source,) = (each.source for each in found.machine.parameters if each.key == "bus.rate")
    assert re.fullmatch(
        r"fitted to measured.csv, standard error 0.9%, 95% interval 22[\d.]+ to 23[\d.]+ MB/s; 264"
        r" MB/s before",
        source,
    )
    assert [count for count, _ in steps] == sorted({count for count, _ in steps})
    assert steps[-1][0] == found.sets >= found.trials
    # Only measured points are simulated, and once.
    points = finished(tmp_path)
    assert len(points) == POINTS * found.sets
    again = el.calibrate([ping], fit, pings, out=tmp_path, jobs=1)
    assert (again.values, again.groups, again.text) == (found.values, found.groups, found.text)
    assert points == finished(tmp_path)


@pytest.mark.slow
def test_three_changed_parameters_are_found_again(tmp_path: Path) -> None:
    experiments = [el.Experiment.load("qsnet/ping", LONG), el.Experiment.load(LOAD)]
    file = tmp_path / "measured.csv"
    measure(CHANGED, experiments, ["size", "distance", "load"], tmp_path / "other").write_csv(file)
    found = el.calibrate(experiments, RANGES, file, out=tmp_path)
    for value in found.values:
        assert amount(value.after) == pytest.approx(amount(CHANGED[value.key]), rel=0.02), found
        assert value.determined
        assert amount(value.low) < amount(CHANGED[value.key]) < amount(value.high)
    assert found.after < 1 < found.before
    assert {group.metric for group in found.groups} == {"latency", "accepted"}


def test_residuals_have_the_errors_of_both_values(tmp_path: Path) -> None:
    """A calibration's error is the root mean square of the residuals in its pictures."""
    file = tmp_path / "measured.csv"
    load = el.Experiment.load(LOAD, ["run.window=200 us", "run.warm_up=200 us"])
    measure({"adapter.turnaround": "300 ns"}, [load], ["load"], tmp_path / "other").write_csv(file)
    found = el.calibrate(
        [load], {"adapter.turnaround": "100 ns..600 ns"}, file, out=tmp_path, trials=4
    )
    assert any(each.error > 1.1 * each.sigma for each in found.places), (
        "the simulation draws random numbers"
    )
    squares = [each.residual**2 for each in found.places]
    assert math.sqrt(sum(squares) / len(squares)) == pytest.approx(found.after)
    drawn = [row["_residual"] for figure in found.figures() for row in data(figure, "_residual")]
    assert sorted({round(each, 9) for each in drawn}) == sorted(
        {round(each.residual, 9) for each in found.places}
    )


def test_what_data_do_not_tell_is_said(pings: Path, tmp_path: Path) -> None:
    ping = el.Experiment.load("qsnet/ping", SHORT)
    fit = {
        "adapter.dma_start": "400 ns..700 ns",
        "adapter.command": "100 ns..400 ns",
        "tport.handle": "100..200",
    }
    found = el.calibrate([ping], fit, pings, out=tmp_path, trials=30)
    start, command, handle = found.values
    assert found.undetermined == [start, command, handle]
    assert handle.reason == "no measured value depends on it", "no ping of Elan3lib uses it"
    assert start.reason.startswith("adapter.command can make up for it: values from ")
    assert command.reason.startswith("adapter.dma_start can make up for it: values from ")
    ((one, other, share),) = found.alike
    assert (one, other) == (start.key, command.key), "only the sum of both costs can be measured"
    assert share < -0.99
    assert found.correlation[0][2] == pytest.approx(0)
    usual = el.Machine.load(ES40)
    for value in found.values:
        assert (
            value.after == value.before == str(usual[value.key]) == str(found.machine[value.key])
        ), "as before"
        source = sources(found.machine)[value.key]
        assert (
            source == f"{sources(usual)[value.key]}; not determined by measured.csv: {value.reason}"
        )
    assert fitted_to(found.machine) == fitted_to(usual)
    assert found.before == found.after > found.best


def test_trials_bound_the_search(pings: Path, tmp_path: Path) -> None:
    ping = el.Experiment.load("qsnet/ping", SHORT)
    found = el.calibrate([ping], {"bus.rate": "200 MB/s..300 MB/s"}, pings, out=tmp_path, trials=3)
    assert not found.ended
    assert found.trials == 3 < found.sets <= 3 + 12, "the intervals are no trials"
    assert found.best <= found.before
    shown = page(found, ["elanite", "calibrate"], Inputs.gather(["elanite"], {}))
    assert f"{found.sets} sets of values, 3 of them in the search" in shown.about
    assert (
        "The search used its 3 sets of values before it ended: --trials allows more." in shown.notes
    )


@pytest.mark.parametrize(
    ("after", "error", "supported"),
    [
        ("553.908 ns", 0.121, "554 ns"),
        ("0.88544 GB/s", 0.055, "0.885 GB/s"),
        ("43.75 ns", 0.0116, "43.75 ns"),
        ("1454.347 ns", 0.2, "1450 ns"),
        ("1454.347 ns", 0.0015, "1454.3 ns"),
        ("17", 0.3, "17"),
        ("200 ns", 0.9, "200 ns"),
        ("cut-through", 0.5, "cut-through"),
    ],
)
def test_values_have_the_digits_of_their_errors(after: str, error: float, supported: str) -> None:
    one = calibration.FittedValue(
        "key", "1 ns", after, after, after, error, determined=True, reason=""
    )
    assert one.supported == supported
    assert replace(one, determined=False).supported == after


@pytest.mark.parametrize("name", shipped("machine"))
def test_a_written_machine_is_the_same_machine(name: str) -> None:
    machine = el.Machine.load(name, ["host.call=300 ns"])
    copy = rewritten(machine, {"bus.rate": ("200 MB/s", "measured")}, "mine")
    assert copy.name == "mine"
    changed = {each.key for each in copy.parameters if each.source != sources(machine)[each.key]}
    assert changed == {"bus.rate", "host.call"}
    assert {each.key: each.fitted_to for each in copy.parameters if each.key not in changed} == {
        each.key: each.fitted_to for each in machine.parameters if each.key not in changed
    }
    # Points do not depend on comments and sources: the copy and the machine have equal points.
    same = rewritten(el.Machine.load(name), {}, "mine")
    experiment = el.Experiment.load(
        str(FILES / "small.toml"), ["series.ping.to=1", "series.load.nodes=4"]
    )
    ours, theirs = (
        {point.id for point in plan(experiment.file, [each.file], experiment.overrides).points}
        for each in (same, el.Machine.load(name))
    )
    assert ours == theirs


def sources(machine: el.Machine) -> dict[str, str]:
    return {each.key: each.source for each in machine.parameters}


def fitted_to(machine: el.Machine) -> dict[str, tuple[str, ...]]:
    return {each.key: each.fitted_to for each in machine.parameters}


def test_a_written_machine_keeps_faults() -> None:
    base = el.Machine.load(ES40)
    text = base.file.text + '\n[[fault]]\nadapter = 3\nat = "1 ms"\n'
    machine = el.Machine.of(replace(base.file, text=text))
    copy = rewritten(machine, {}, "mine")
    assert '[[fault]]\nadapter = 3\nat = "1 ms"\n' in copy.file.text


HEAD = "experiment,series,directions,source,destination,message,metric,value"
LINE = "qsnet/ping,size,one,elan,elan,64 B,latency,2.5"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["series,metric"], "1: there is no column `value`"),
        (
            ["series,mesage,metric,value"],
            "1: the experiments have no column `mesage`; did you mean `message`?",
        ),
        (["value,metric,value"], "1: there are two columns `value`"),
        ([HEAD], " there is no measured value"),
        ([HEAD, LINE + ",7"], "2: the line has another number of cells"),
        ([HEAD, "qsnet/ping,size,one"], "2: the line has another number of cells"),
        (
            [HEAD, LINE, LINE.replace("64 B", "65 B")],
            "3: experiment = qsnet/ping, .*: no point has this message",
        ),
        (
            [HEAD, LINE.replace("one", "on")],
            "2: .* no point has this directions; did you mean `one`?",
        ),
        (
            [HEAD, LINE.replace(",elan,elan", ",,")],
            "2: .*4 configurations are meant\n  tell them apart by source or",
        ),
        ([HEAD, LINE.replace("size", "mpi")], "2: .*no point has all of these values"),
        ([HEAD, LINE.replace("2.5", "fast")], "2: value: `fast` is not a number"),
        ([HEAD, LINE.replace("2.5", "inf")], "2: value: `inf` is not a number"),
        ([HEAD, LINE.replace("2.5", "0")], "2: sigma: a value of 0 needs a sigma"),
        ([HEAD + ",sigma", LINE + ",-1"], "2: sigma: a sigma is more than 0"),
        ([HEAD, LINE.replace("latency", "")], "2: metric: the cell is empty"),
        (
            [HEAD, LINE.replace("latency", "latencie")],
            "2: there is no metric `latencie`; did you mean `latency`?",
        ),
    ],
)
def test_spoilt_files_are_refused(lines: list[str], says: str, tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text("\n".join(lines) + "\n")
    ping = el.Experiment.load("qsnet/ping")
    with pytest.raises(
        UsageError, match=f"m.csv:?{says}".replace("?", r"\?").replace(r":\?", ":?")
    ):
        el.calibrate([ping], {"bus.rate": RANGES["bus.rate"]}, file, out=tmp_path)


def test_files_say_as_little_as_tells_points_apart(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    text = "\ufeffexperiment,message_bytes,source,destination,series,directions,job,id,metric,"
    text += "value,sigma\n"
    file.write_text(text + ",65536.0,main,elan,size,one,,x,latency,3,0.5\n", encoding="utf-8")
    (found,) = measurements.read(file, [plan(el.Experiment.load("qsnet/ping").file)])
    assert json.loads(found.key[2])["message"] == "64 KB"
    assert (found.metric, found.value, found.sigma, found.stated) == ("latency", 3, 0.5, True)
    assert found.place == f"{file}:2"
    with pytest.raises(UsageError, match="No such file"):
        measurements.read(tmp_path / "none.csv", [])


@pytest.mark.parametrize(
    ("fit", "says"),
    [
        ({}, "no key is named"),
        ({"bus.rate": "200 MB/s,300 MB/s"}, "a fit needs a range"),
        ({"bus.rate": "200 MB/s..300 MB/s in 3"}, "a fit needs a range"),
        ({"run.window": "1 ms..2 ms"}, "this key belongs to the experiment"),
        (
            {"bus.rat": "200 MB/s..300 MB/s"},
            "has no parameter bus.rat; did you mean bus.rate?|did you mean",
        ),
        ({"switch.circuit": "1..3"}, "the value until-acknowledged is not a number"),
        ({"bus.rate": "200 ns..300 ns"}, "bus.rate"),
        ({"link.rate": "399 MB/s..401 MB/s"}, "a whole number of picoseconds"),
    ],
)
def test_wrong_fits_are_refused(
    fit: dict[str, str], says: str, pings: Path, tmp_path: Path
) -> None:
    with pytest.raises((ElaniteError, el.ConfigError), match=says.replace("?", r"\?")):
        el.calibrate([el.Experiment.load("qsnet/ping", SHORT)], fit, pings, out=tmp_path)
    assert not (tmp_path / "store").exists() or not finished(tmp_path)


def test_experiments_on_several_machines_need_one(pings: Path) -> None:
    with pytest.raises(UsageError, match="choose the one to calibrate: --machine"):
        el.calibrate(
            [el.Experiment.load("comparison/generations")], {"bus.rate": RANGES["bus.rate"]}, pings
        )


def test_values_that_cannot_be_simulated_are_far_away(
    pings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elanite import _core

    simulate = _core.simulate

    def failing(
        point: str, cancel: _core.Cancel, memory: int | None = None, threads: int = 1
    ) -> _core.Records:
        if amount(json.loads(point)["machine"]["bus"]["rate"]["value"]) > 300:
            raise RunError("out of memory", 1)
        return simulate(point, cancel, memory, threads)

    monkeypatch.setattr("elanite._core.simulate", failing)
    ping = el.Experiment.load("qsnet/ping", SHORT)
    found = el.calibrate([ping], {"bus.rate": "150 MB/s..400 MB/s"}, pings, out=tmp_path, jobs=1)
    assert amount(found.values[0].after) == pytest.approx(amount(CHANGED["bus.rate"]), rel=0.01)
    fast = el.Machine.load(ES40, ["bus.rate=350 MB/s"])
    with pytest.raises(
        ElaniteError, match=r"on the machine as it is: out of memory\n  reproduce: elanite run"
    ):
        el.calibrate([ping], {"bus.rate": "150 MB/s..400 MB/s"}, pings, fast, out=tmp_path)


def test_a_calibration_by_the_command_line(elanite: Run, pings: Path, tmp_path: Path) -> None:
    words = ["calibrate", "qsnet/ping", "--fit", "bus.rate=200 MB/s..264 MB/s", "--to", str(pings)]
    words += [part for each in SHORT for part in ("--set", each)]
    ended = elanite(*words, "--machine-out", "mine.toml")
    assert ended.code == 0, ended
    assert "bus.rate" in ended.out
    assert "qsnet/ping" in ended.out
    assert "sigma" in ended.err
    machine = el.Machine.load(str(tmp_path / "mine.toml"))
    assert machine.name == "mine"
    assert amount(machine["bus.rate"]) == pytest.approx(231.5, rel=0.01)
    again = json.loads(elanite(*words, "--format", "json").out)
    assert amount(again["values"][0]["after"]) == amount(machine["bus.rate"])
    wrong = elanite(*words, "--machine-out", str(pings))
    assert wrong.code == 2
    assert "this file is read, too" in wrong.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine.toml", "out"]


def test_a_calibration_that_leaves_parameters_open_ends_with_an_error(
    elanite: Run, pings: Path, tmp_path: Path
) -> None:
    words = ["calibrate", "qsnet/ping", "--to", str(pings), "--machine-out", "mine.toml"]
    words += ["--fit", "bus.rate=150 MB/s..400 MB/s", "--fit", "tport.handle=100..200"]
    words += [part for each in SHORT for part in ("--set", each)]
    ended = elanite(*words)
    assert ended.code == 2, ended
    assert "not determined" in ended.out
    said = " ".join(ended.err.split())
    assert "error: the measured values do not determine tport.handle" in said
    assert "tport.handle keeps 168: no measured value depends on it" in said
    assert "mine.toml has the other values; leave out --fit of such a parameter" in said
    machine, usual = el.Machine.load(str(tmp_path / "mine.toml")), el.Machine.load(ES40)
    assert machine["tport.handle"] == usual["tport.handle"]
    assert amount(machine["bus.rate"]) == pytest.approx(231.5, rel=0.01)
    assert "; not determined by measured.csv: no measured value" in sources(machine)["tport.handle"]
    found = json.loads(elanite(*words[:4], *words[6:], "--format", "json").out)
    assert [value["determined"] for value in found["values"]] == [True, False]
    assert len(found["places"]) == POINTS
    for place in found["places"]:
        assert abs(place["after"] - place["measured"]) < abs(place["before"] - place["measured"])


def test_values_that_no_machine_explains_are_called_so(tmp_path: Path) -> None:
    """A slower machine for long messages than for short ones, known within 1%: neither determined
    nor as good.
    """
    file = tmp_path / "wrong.csv"
    lines = [
        "size,0 B,main,latency,9.0",
        "size,16 KB,main,latency,60.0",
        "size,16 KB,elan,latency,90.0",
    ]
    file.write_text(
        "series,message,destination,metric,value\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    ping = el.Experiment.load("qsnet/ping", SHORT)
    found = el.calibrate(
        [ping], {"bus.rate": "200 MB/s..300 MB/s"}, file, out=tmp_path / "out", jobs=1
    )
    assert found.freedom == 2
    assert found.best > 10
    assert re.match(
        r"no values within the ranges fit: the best set is [\d.]+ standard errors off", found.misfit
    )
    assert re.search(r"the largest error is that of .*wrong\.csv:\d$", found.misfit)
    (rate,) = found.values
    assert rate.reason == (
        "both ends of its range, 200 to 300 MB/s, do not fit clearly worse than the best value"
    )
    assert (rate.low, rate.high, rate.interval) == ("", "", ""), "not the whole range"
    written = page(found, ["elanite"], Inputs(["elanite"]))
    assert written.notes[0] == found.misfit[:1].upper() + found.misfit[1:] + "."
    bandwidths = tmp_path / "one.csv"
    bandwidths.write_text(
        "series,message,destination,metric,value\nsize,16 KB,elan,bandwidth,150\n", encoding="utf-8"
    )
    one = el.calibrate(
        [ping], {"bus.rate": "200 MB/s..300 MB/s"}, bandwidths, out=tmp_path / "out", jobs=1
    )
    assert one.misfit == "", "one value, one parameter: no freedom is left"
    title = one.figures()[0].title
    assert "message 16 KB" in title
    assert "destination elan" in title
    for figure in found.figures():
        scales = [layer["encoding"]["y"].get("scale", {}) for layer in figure.spec()["layer"]]
        assert not [each for each in scales if each.get("type") == "log" and "zero" in each], (
            "a warning of the browser"
        )
    assert replace(found.groups[0], after=1e-4).row[5] == "less than 0.1%"


def test_constants_are_those_that_the_page_states() -> None:
    assert (minimum.STARTS, minimum.STEP, identifiability.ALIKE) == (4, 0.1, 0.95)


@pytest.mark.parametrize(
    ("text", "unit", "found"),
    [
        ("0.787774 us", "ns", "787.774 ns"),
        ("1500 ns", "us", "1.5 us"),
        ("231.4 MB/s", "MB/s", "231.4 MB/s"),
        ("168", "", "168"),
        ("3 flits", "", "3 flits"),
    ],
)
def test_a_fitted_value_has_the_unit_of_the_value_before(text: str, unit: str, found: str) -> None:
    assert ranges.rewritten(text, unit) == found
    assert ranges.amount(found) == pytest.approx(ranges.amount(text), rel=1e-12)


def test_intervals_have_the_unit_of_the_value_before() -> None:
    known = identifiability.ParameterInterval(
        0.01, 0.01, 0.5, 0.6, effect=True, below=True, above=True
    )
    key = ranges.Range("adapter.dma_start", 0.2, 1.2, "us")
    found = calibration._value(key, "540 ns", "0.787774 us", known, [], calibration.WELL)
    assert (found.before, found.after, found.interval) == ("540 ns", "787.774 ns", "700 to 800 ns")


def units(folder: Path, *lines: str) -> list[measurements.MeasuredValue]:
    """Measured values of pings with a column ``unit``."""
    file = folder / "units.csv"
    file.write_text(
        "series,message,destination,metric,value,sigma,unit\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    return measurements.read(file, [plan(read("experiment", "qsnet/ping"), overrides=SHORT)])


def test_measured_values_are_converted_to_the_unit_of_their_metric(tmp_path: Path) -> None:
    found = units(
        tmp_path,
        "size,0 B,main,latency,3.2,0.1,us",
        "size,16 KB,main,latency,0.085,0.001,ms",
        "size,16 KB,elan,latency,85000,1000,ns",
        "size,16 KB,elan,bandwidth,0.21,,GB/s",
        "size,0 B,elan,latency,2.5,0.1,",
        "size,0 B,elan,latency,2.5,0.1,µs",
    )
    expected = [(3.2, 0.1), (85.0, 1.0), (85.0, 1.0), (210.0, 2.1), (2.5, 0.1), (2.5, 0.1)]
    assert [(one.value, one.sigma) for one in found] == [pytest.approx(pair) for pair in expected]


@pytest.mark.parametrize(
    ("metric", "unit", "remedy"),
    [
        ("latency", "MB/s", "write a unit that converts to us"),
        ("bandwidth", "ms", "write a unit that converts to MB/s"),
        ("latency", "parrots", "write a unit that converts to us"),
        ("packets_resent", "us", "write an empty cell"),
    ],
)
def test_units_of_another_dimension_are_refused(
    tmp_path: Path, metric: str, unit: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as caught:
        units(tmp_path, f"size,0 B,main,{metric},3.2,0.1,{unit}")
    assert f"units.csv:2: unit: `{unit}` is not a unit of {metric}" in str(caught.value)
    assert remedy in str(caught.value)
