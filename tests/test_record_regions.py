"""Recorded regions: a replay with factors takes the time of a run with such computation, on any
machine.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import command, execute, needs_mpi

pytestmark = needs_mpi

TOLERANCE = 0.01
"""The allowed difference between a run and the replay of another run with factors."""

NETWORKS = [(), ("--network", "ideal"), ("--machine", "opteron-qsnet2")]


def ran(folder: Path, *words: str) -> dict[str, Any]:
    ended = execute(
        command("mpirun", "-n", "4", "--collectives", "mpi", "--format", "json", *words), cwd=folder
    )
    assert ended.code == 0, ended
    found: dict[str, Any] = json.loads(ended.err.splitlines()[-1])
    return found


def replayed(folder: Path, *words: str) -> dict[str, Any]:
    ended = execute(command("replay", "run.goal", "--format", "json", *words), cwd=folder)
    assert ended.code == 0, ended
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_factors_replay_the_run_with_other_times(mpi_programs: Path, tmp_path: Path) -> None:
    program = [str(mpi_programs / "patterns"), "gradient"]
    ran(tmp_path, "--compute", "20us per call", "--record", "run.goal", *program)
    text = (tmp_path / "run.goal").read_text()
    assert re.search(r"^//@ region 1 processor \S+ .*patterns\+0x", text, re.MULTILINE)
    assert re.search(r"^l\d+: calc 20000 cpu 1 //@ \d+$", text, re.MULTILINE)
    for network in NETWORKS:
        direct = ran(tmp_path, "--compute", "60us per call", *network, *program)
        again = replayed(tmp_path, "--compute-scale", "3", *network)
        assert again["simulated_us"] == pytest.approx(direct["simulated_us"], rel=TOLERANCE), (
            network
        )
        named = [row for row in again["regions"] if row["name"] is not None]
        assert all(row["computed_us"] == pytest.approx(60 * row["executions"]) for row in named)


def _scaled(text: str, factor: int, region: str = "") -> str:
    """A table with times times a factor, of one region or of all."""
    head, *regions = text.split("[[region]]")

    def times(part: str) -> str:
        if region and f'name = "{region}"' not in part:
            return part
        rows = re.sub(
            r"(?:sum = |first = |later = )(?:\d+|\[[^]]*\])",
            lambda found: re.sub(r"\d+", lambda number: str(factor * int(number[0])), found[0]),
            part,
        )
        assert rows != part
        return rows

    return "[[region]]".join([head, *map(times, regions)])


def test_a_sampled_run_replays_on_other_processors(mpi_programs: Path, tmp_path: Path) -> None:
    table, program = tmp_path / "t.toml", [str(mpi_programs / "patterns"), "gradient"]
    sampled = ("--compute", "sampled:t.toml")
    ran(tmp_path, *sampled, *program)
    # The longest region of the rounds dominates the run.
    content = tomllib.loads(table.read_text())
    sums = {each["name"]: min(row["sum"] for row in each["times"]) for each in content["region"]}
    region = max(
        (name for name in sums if name.startswith("MPI_Allreduce")), key=lambda name: sums[name]
    )
    table.write_text(_scaled(table.read_text(), 200, region))
    measured = table.read_text()
    step, rate = content["host"]["step"], content["host"]["core_memory"]
    run = ran(tmp_path, *sampled, "--record", "run.goal", *program)
    trace = (tmp_path / "run.goal").read_text()
    assert f"//@ processor {step} {rate}\n" in trace
    again = replayed(tmp_path)
    assert again["simulated_us"] == pytest.approx(run["simulated_us"], rel=TOLERANCE)
    assert again["regions"][0]["name"] == region
    assert "processor_scale" not in again

    # One region takes three times as long.
    table.write_text(_scaled(measured, 3, region))
    for network in NETWORKS:
        direct = ran(tmp_path, *sampled, *network, *program)["simulated_us"]
        again = replayed(tmp_path, "--compute-scale", f"{region}=3", *network)
        assert again["simulated_us"] == pytest.approx(direct, rel=TOLERANCE), network
        assert again["compute_scale_regions"] == [region]
        assert direct > 1.3 * replayed(tmp_path, *network)["simulated_us"]

    # All regions on a machine with another processor, and one of them bound by memory.
    table.write_text(
        measured.replace(
            f'name = "{region}"\nbound = "processor"', f'name = "{region}"\nbound = "memory"'
        )
    )
    ran(tmp_path, *sampled, "--record", "run.goal", *program)
    assert f" memory {region}\n" in (tmp_path / "run.goal").read_text()
    slower = (
        "--set",
        "processor.step=5 ns",
        "--set",
        "processor.memory=3 GB/s",
        "--ranks-per-node",
        "2",
    )
    for network in NETWORKS:
        direct = ran(tmp_path, *sampled, *slower, *network, *program)["simulated_us"]
        again = replayed(tmp_path, *slower, *network)
        assert again["simulated_us"] == pytest.approx(direct, rel=TOLERANCE), network
        assert again["processor_scale"] > 1
