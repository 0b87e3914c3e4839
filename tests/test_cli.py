"""The command line as a user meets it: output, errors and exit codes, pinned as snapshots."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from syrupy.assertion import SnapshotAssertion

from conftest import FILES, PATIENCE, SMALL, Ended, command, environment
from elanite.cli import app
from elanite.validation.claims import claims

Run = Callable[..., Ended]


@pytest.mark.parametrize(
    "name",
    [
        None,
        "reproduce",
        "run",
        "sweep",
        "calibrate",
        "congestion",
        "energy",
        "claims",
        "report",
        "check",
        "import",
        "show",
        "schema",
        "noise",
        "calibrate-host",
        "install-mpifort",
        "mpirun",
        "prun",
        "replay",
        "goal",
    ],
)
def test_help(elanite: Run, snapshot: SnapshotAssertion, name: str | None) -> None:
    ended = elanite(*([name] if name else []), "--help")
    assert ended.code == 0
    assert str(ended) == snapshot


def leaves(found: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its words."""
    if hasattr(found, "commands"):
        for word, one in found.commands.items():
            yield from leaves(one, f"{name} {word}")
    else:
        yield name, found


LEAVES = dict(leaves(typer.main.get_command(app), "elanite"))


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_examples_and_can_be_quiet(name: str) -> None:
    found = LEAVES[name]
    assert found.help
    _, examples = re.split(r"\bExamples?:\n", found.help, maxsplit=1)
    assert f"  {name} " in examples or f" {name}\n" in examples
    assert any("--quiet" in one.opts for one in found.params)


def test_help_answers_at_once() -> None:
    """It imports the command line only: a module count, since seconds depend on the host."""
    code = (
        "import sys, runpy; sys.argv = ['elanite', '--help']\ntry: runpy.run_module('elanite',"
        " run_name='__main__')\n"
    )
    code += "finally: print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run(
        [command()[0], "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert ended.stdout.startswith("Usage: elanite")
    loaded = ended.stderr.split()
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("elanite.")}
    assert rooms == {"elanite.base", "elanite.cli", "elanite.errors", "elanite.migration"}
    heavy = {
        "polars",
        "altair",
        "jinja2",
        "vl_convert",
        "rich",
        "pydantic",
        "pydantic_core",
        "xml",
        "expat",
    }
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_version_has_the_model_revision_and_the_build(elanite: Run) -> None:
    ended = elanite("--version")
    assert ended.code == 0
    named = (
        r"model revision [1-9][0-9]*, engine [0-9a-f]{12}, commit ([0-9a-f]{12}( with"
        r" changes)?|unknown)"
    )
    assert re.fullmatch(rf"elanite \d+\.\d+\.\d+ \({named}\)\n", ended.out)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["run", "qsnet/unifrom"], id="experiment misspelt"),
        pytest.param(["run", "uniform"], id="experiment without its document"),
        pytest.param(["run", "qsnet/ping", "--machine", "es40-qsnet2"], id="machine misspelt"),
        pytest.param(["run", "missing.toml"], id="no such file"),
        pytest.param(
            ["run", "qsnet/ping", "--set", "switch.circut=wormhole"], id="override misspelt"
        ),
        pytest.param(
            ["run", "qsnet/ping", "--set", "link.hop_delay=35"], id="override without unit"
        ),
        pytest.param(["run", "qsnet/ping", "--format", "yaml"], id="no such format"),
        pytest.param(["run", "qsnet/ping", "--jobs", "0"], id="no jobs"),
        pytest.param(["run", "qsnet/ping", "--threads", "0"], id="no threads"),
        pytest.param(["run", "qsnet/ping", "--threads", "300"], id="too many threads"),
        pytest.param(
            ["run", "qsnet/ping", "--executor", "processes", "--threads", "2"],
            id="threads of an engine",
        ),
        pytest.param(["run", "qsnet/ping", "--point", "zz"], id="no such point"),
        pytest.param(["reproduce", "--only", "qsnet/ping,qsnt"], id="no such folder"),
        pytest.param(["report"], id="nothing to report"),
        pytest.param(["congestion", "qsnet/ping"], id="no finished points"),
        pytest.param(["congestion", "qsnet/ping", "--point", "zz"], id="no such finished point"),
        pytest.param(["show", "es40"], id="nothing to show"),
        pytest.param(["schema", "machines"], id="no such schema"),
        pytest.param(["frobnicate"], id="no such command"),
        pytest.param(["check", str(FILES.name) + "/bad-machine.toml"], id="wrong machine file"),
        pytest.param(
            ["check", str(FILES.name) + "/bad-experiment.toml"], id="wrong experiment file"
        ),
        pytest.param(["check", "es40-qsnet", str(FILES.name) + "/broken.toml"], id="not TOML"),
    ],
)
def test_errors_are_for_people(
    elanite: Run, snapshot: SnapshotAssertion, arguments: list[str]
) -> None:
    ended = elanite(*arguments, cwd=FILES.parent)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert str(ended) == snapshot


def test_check_and_show_shipped_files(elanite: Run) -> None:
    checked = elanite(
        "check", "es40-qsnet", "qsnet/ping", "qsnet/uniform", "speed/uniform-64", SMALL
    )
    assert checked.code == 0, checked.err
    assert checked.out.count(": ok, ") == 5
    shown = elanite("show", "es40-qsnet")
    assert shown.code == 0
    assert "link.rate" in shown.out
    assert "400 MB/s" in shown.out
    changed = elanite("show", "es40-qsnet", "--set", "link.hop_delay=60 ns")
    assert "60 ns" in changed.out
    assert "load" in elanite("show", "qsnet/uniform").out


@pytest.mark.parametrize("kind", ["machine", "experiment", "claim"])
def test_schema_is_json(elanite: Run, kind: str) -> None:
    ended = elanite("schema", kind)
    assert ended.code == 0
    assert json.loads(ended.out)["$schema"]


def test_json_has_one_object_per_point(elanite: Run, campaign: Path) -> None:
    ended = elanite("run", SMALL, "--out", str(campaign), "--format", "json")
    assert ended.code == 0, ended.err
    points = json.loads(ended.out)
    assert len(points) > 20
    for point in points:
        assert point["parameters"]
        assert point["results"]
        for key in ("packets", "events", "cpu_seconds", "peak_memory_bytes", "digest", "command"):
            assert point[key], key
    assert "already done" in ended.err
    assert "reproduce: elanite run" in ended.err


def test_one_point_can_be_run_by_its_command(elanite: Run, campaign: Path) -> None:
    points = json.loads(elanite("run", SMALL, "--out", str(campaign), "--format", "json").out)
    chosen = points[3]
    again = elanite(*shlex.split(chosen["command"])[1:], "--format", "json")
    assert again.code == 0, again.err
    (only,) = json.loads(again.out)
    assert only["digest"] == chosen["digest"]
    assert only["results"] == chosen["results"]


def test_csv_parquet_and_table_have_the_same_rows(elanite: Run, campaign: Path) -> None:
    out = str(campaign)
    csv = elanite("run", SMALL, "--out", out, "--format", "csv")
    parquet = subprocess.run(
        command("run", SMALL, "--out", out, "--format", "parquet"),
        capture_output=True,
        env=environment(),
        check=True,
    )
    frame = pl.read_parquet(parquet.stdout)
    assert csv.out.count("\n") == len(frame) + 1
    assert csv.out.splitlines()[0].split(",") == frame.columns
    table = elanite("run", SMALL, "--out", out)
    assert table.code == 0
    assert "latency" in table.out
    assert "µs" in table.out
    assert "small ping: A few pings" in table.out


def test_a_point_that_reaches_its_bound_fails_the_run(elanite: Run, campaign: Path) -> None:
    ended = elanite(
        "run",
        SMALL,
        "--out",
        str(campaign / "bounded"),
        "--set",
        "run.max_events=10",
        "--format",
        "json",
    )
    assert ended.code == 1
    assert len(json.loads(ended.out)) < 56
    assert "points failed" in ended.err
    assert "max_events" in ended.err
    assert "--point" in ended.err


def test_claims_without_results(elanite: Run) -> None:
    ended = elanite("claims", "--format", "json")
    assert ended.code == 0
    board = json.loads(ended.out)
    assert [entry["id"] for entry in board] == [claim.id for claim in claims()]
    assert all(entry["holds"] is None and entry["simulated"] is None for entry in board)
    assert {"id", "kind", "published", "simulated", "low", "high", "error", "holds", "role"} <= set(
        board[0]
    )
    assert any(entry["role"] == "fitted" for entry in board)
    assert "has no results for these claims" in ended.err


TINY = (
    *("--set", "topology.down=[2, 2]", "--set", "topology.up=[2]", "--set", "topology.nodes=4"),
    *(
        "--set",
        "series.ping.to=1",
        "--set",
        "series.load.nodes=4",
        "--set",
        "series.load.run.slices=2",
    ),
)
"""The small campaign on a four-node tree."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tiny")
    arguments = command("run", SMALL, *TINY, "--out", str(out), "--format", "csv")
    subprocess.run(arguments, check=True, capture_output=True, env=environment(), timeout=PATIENCE)
    return out


def test_congestion_as_text(elanite: Run, snapshot: SnapshotAssertion, tiny: Path) -> None:
    points = json.loads(
        elanite("congestion", SMALL, *TINY, "--out", str(tiny), "--format", "json").out
    )
    last = points[-1]["id"]
    ended = elanite("congestion", SMALL, *TINY, "--out", str(tiny), "--point", last)
    assert ended.code == 0, ended.err
    assert ended.out.replace(last, "ID") == snapshot


def test_congestion_as_data(elanite: Run, tiny: Path) -> None:
    arguments = ("congestion", SMALL, *TINY, "--out", str(tiny), "--format")
    points = json.loads(elanite(*arguments, "json").out)
    loaded = points[-1]
    assert len(loaded["links"]) == 16
    assert max(link["relative"] or 0 for link in loaded["links"]) == 100
    assert max(link["relative_delay"] for link in loaded["links"]) == 100
    assert max(switch["relative"] for switch in loaded["switches"]) == 100
    assert max(switch["relative_delay"] for switch in loaded["switches"]) == 100
    for switch in loaded["switches"]:
        of_links = (
            link["waiting_us"] for link in loaded["links"] if link["from"] == switch["name"]
        )
        assert sum(of_links) == pytest.approx(switch["waiting_us"])
        of_links = (link["delay_us"] for link in loaded["links"] if link["to"] == switch["name"])
        assert sum(of_links) == pytest.approx(switch["delay_us"])
    assert {entry["slice"] for entry in loaded["slices"]} == {0, 1}
    assert points[0]["slices"] == []
    csv = elanite(*arguments, "csv").out.splitlines()
    assert len(csv) == 16 * len(points) + 1
    parquet = subprocess.run(
        command(*arguments, "parquet"), capture_output=True, env=environment(), check=True
    )
    assert pl.read_parquet(parquet.stdout).columns == csv[0].split(",")
