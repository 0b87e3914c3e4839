"""Elanite as a library."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import elanite as el
from conftest import SMALL, environment, execute
from elanite import _core
from elanite import campaign as campaigns
from elanite.errors import Exit
from elanite.inputs import sources
from elanite.inputs.plan import Point, plan
from elanite.store import Store


@pytest.fixture(scope="module")
def result(campaign: Path) -> el.Result:
    return el.run(el.Experiment.load(SMALL), machine=el.Machine.load("es40-qsnet"), out=campaign)


def test_machine_has_provenance() -> None:
    machine = el.Machine.load("es40-qsnet")
    assert machine.name == "es40-qsnet"
    assert machine["link.rate"] == "400 MB/s"
    assert all(
        parameter.source
        for parameter in machine.parameters
        if not parameter.key.startswith("fabric.")
    )
    with pytest.raises(KeyError, match="did you mean"):
        machine["link.rat"]
    assert el.Machine.load("es40-qsnet", ["link.hop_delay=60 ns"])["link.hop_delay"] == "60 ns"


def test_wrong_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(el.UsageError, match="did you mean `es40-qsnet`"):
        el.Machine.load("es40-qsnt")
    bad = tmp_path / "bad.toml"
    bad.write_text("title = 3\n")
    with pytest.raises(el.ConfigError, match="error"):
        el.Experiment.load(str(bad))


def test_frames(result: el.Result) -> None:
    frame = result.frame()
    assert {
        "series",
        "seed",
        "message",
        "message_bytes",
        "metric",
        "unit",
        "batch",
        "value",
    } <= set(frame.columns)
    assert frame["id"].n_unique() == len(result.points) == len(result.plan.points)
    accepted = frame.filter(pl.col("metric") == "accepted")
    assert accepted["batch"].n_unique() == 5
    summary = result.summary()
    assert (summary["low"] <= summary["mean"] + 1e-9).all()
    assert (summary["mean"] <= summary["high"] + 1e-9).all()
    assert len(result.table("links")) > 0
    assert len(result.table("switches")) > 0


def test_collectives(tmp_path: Path) -> None:
    experiment = el.Experiment.load(str(Path(__file__).parent / "files" / "collectives.toml"))
    result = el.run(experiment, out=tmp_path)
    calls = result.table("distribution").group_by("series", "operation").agg(pl.col("count").sum())
    assert sorted(calls.rows()) == [
        ("barrier", "gsync", 160),
        ("barrier", "hgsync", 160),
        ("groups", "hbcast", 960),
    ]
    deadlock = {
        row["machine"]: row["value"]
        for row in result.frame().filter(pl.col("metric") == "deadlock").iter_rows(named=True)
    }
    assert deadlock == {"unchanged": 0, "switch.broadcast=by-source": 1}
    cycle = result.table("deadlock").drop_nulls("step").sort("step")
    packets = cycle.select("source", "sequence").rows()
    holders = cycle.select("holder_source", "holder_sequence").rows()
    assert len(packets) > 1
    assert holders == packets[1:] + packets[:1]
    held = result.table("deadlock").filter(pl.col("step").is_null())
    assert set(held.select("source", "sequence").rows()) == set(packets)


def test_chart_and_arrow(result: el.Result) -> None:
    assert result.chart().to_dict()["vconcat"]
    assert pl.DataFrame(result).shape == result.frame().shape


def test_points_that_fail_raise_with_what_finished(tmp_path: Path) -> None:
    experiment = el.Experiment.load(SMALL, ["run.max_events=10"])
    with pytest.raises(el.PointsFailed) as caught:
        el.run(experiment, out=tmp_path)
    assert caught.value.failures
    assert "elanite run" in str(caught.value)
    result = caught.value.result
    assert len(result.points) + len(caught.value.failures) == len(result.plan.points)


def test_version_is_a_plain_attribute() -> None:
    assert el.__version__.count(".") == 2
    assert "run" in dir(el)


def test_stubs_match_the_extension_module(tmp_path: Path) -> None:
    """In a package with the extension module's dependencies, so that mypy reads only these, without
    polars.
    """
    small = tmp_path / "elanite"
    small.mkdir()
    (small / "__init__.py").touch()
    for file in (
        Path(_core.__file__),
        *(Path(el.__file__).with_name(name) for name in ("_core.pyi", "errors.py")),
    ):
        (small / file.name).symlink_to(file)
    here = environment() | {"PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)}
    ended = execute(
        [sys.executable, "-m", "mypy.stubtest", "elanite._core", "--concise"],
        cwd=tmp_path,
        env=here,
    )
    assert ended.code == 0, ended


def broken_point() -> Point:
    """A point that no plan contains: its ping goes to a node that the machine does not have."""
    point = plan(sources.read("experiment", SMALL)).points[0]
    content = json.loads(point.json)
    content["workload"]["ping"]["to"] = 9999
    return replace(point, id="0" * 20, json=json.dumps(content))


def test_a_broken_invariant_is_an_error_with_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(el.RunError, match=r"broken invariant .* \(crates/.*\.rs:\d+\)") as caught:
        _core.simulate(broken_point().json, _core.Cancel())
    assert caught.value.exit_code == Exit.BROKEN
    assert capfd.readouterr().err == ""


def test_a_broken_invariant_fails_the_campaign_with_its_command(tmp_path: Path) -> None:
    planned = replace(plan(sources.read("experiment", SMALL)), points=(broken_point(),))
    outcome = campaigns.run([planned], Store(tmp_path / "store"))
    assert outcome.exit_code == Exit.BROKEN
    assert outcome.failures[0].command == f"elanite run {SMALL} --point {'0' * 20}"


def test_a_cancelled_point_says_so() -> None:
    cancel = _core.Cancel()
    cancel.set()
    with pytest.raises(el.RunError) as caught:
        _core.simulate(plan(sources.read("experiment", SMALL)).points[-1].json, cancel)
    assert caught.value.exit_code == Exit.INTERRUPTED
