"""Sampled computation: the first run measures a table, from which later runs take computation
times.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from conftest import Ended, needs_mpi
from elanite import _core


def _figure(ended: Ended, name: str) -> str:
    assert ended.code == 0, ended
    found = re.search(rf"^  {name} +(.*)$", ended.err, re.MULTILINE)
    assert found is not None, ended
    return found[1]


def _computed(table: Path) -> dict[str, list[int]]:
    """Each region's executions by rank."""
    content = tomllib.loads(table.read_text())
    return {each["name"]: [row["count"] for row in each["times"]] for each in content["region"]}


@needs_mpi
def test_two_runs_with_one_table_are_equal(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path
) -> None:
    table, program = tmp_path / "regions.toml", str(mpi_programs / "regions")
    run = ["mpirun", "-n", "4", "--compute", "sampled:regions.toml"]
    first = elanite(*run, program)
    assert "were measured for regions.toml, which is new" in _figure(first, "repeatable")
    # The poll count depends on the available time; all other regions in the rounds have 40
    # executions.
    found = _computed(table)
    names = [name for name, counts in found.items() if counts == [40] * 4]
    assert sum("clock regions" in name for name in names) >= 2
    assert any(
        name.startswith("clock regions") and "> MPI_Ibarrier regions" in name for name in names
    ), found
    assert [name for name in found if name.startswith("part ")] == ["part 5"]
    # Rank 3 has four times rank 0's work.
    content = tomllib.loads(table.read_text())
    work = next(
        each
        for each in content["region"]
        if re.fullmatch(r"MPI_Test \S+ > MPI_Allreduce \S+", each["name"])
    )
    least, most = (min(work["times"][rank]["first"]) for rank in (0, 3))
    assert 2 < most / least < 8

    written = table.read_text()
    again, third = elanite(*run, program), elanite(*run, program)
    assert _figure(again, "repeatable") == _figure(third, "repeatable") == "yes"
    assert _figure(again, "digest") == _figure(third, "digest")
    assert again.out == third.out
    assert table.read_text() == written
    # A run with the table takes as long as the run that measured it, except for polls.
    times = [
        float(_figure(ended, "simulated time").split()[0].replace(",", ""))
        for ended in (first, again)
    ]
    assert abs(times[1] / times[0] - 1) < 0.3

    # Another network has other polls, which may be more than the table has.
    faster = elanite(*run, "--network", "ideal", program)
    assert re.match(r"yes|no: .* lacked", _figure(faster, "repeatable"))


@needs_mpi
def test_a_table_of_another_program_is_refused(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path
) -> None:
    table, program = tmp_path / "regions.toml", str(mpi_programs / "regions")
    run = ["mpirun", "-n", "2", "--compute", "sampled:regions.toml"]
    assert elanite(*run, program, "2").code == 0
    written = table.read_text()
    for words, key in (([program, "3"], "words"), ([str(mpi_programs / "empty"), "2"], "sha256")):
        ended = elanite(*run, *words)
        assert ended.code == 2, ended
        assert f"program.{key}" in ended.err, ended
        assert "regions.toml:5:" in ended.err, ended
    table.write_text(written.replace("count = ", "count = -"))
    assert elanite(*run, program, "2").code == 2
    ended = elanite("mpirun", "-n", "2", "--compute", "sampled:", program)
    assert ended.code == 2
    assert "sampled:FILE" in ended.err


def _simulated(ended: Ended) -> float:
    return float(_figure(ended, "simulated time").split()[0].replace(",", ""))


@needs_mpi
def test_a_machine_with_a_processor_scales_the_table(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path
) -> None:
    table, program = tmp_path / "regions.toml", str(mpi_programs / "regions")
    run = ["mpirun", "-n", "1", "--network", "ideal", "--compute", "sampled:regions.toml"]
    words = [program, "4", "400000"]
    elanite(*run, *words)
    step = _core.quantity(tomllib.loads(table.read_text())["host"]["step"])
    assert step is not None
    usual = elanite(*run, *words)
    slow = elanite(*run, "--set", f"processor.step={5e6 * step[0]:.0f} ps", *words)
    assert "times 1 (processor.step)" in _figure(usual, "computation")
    assert "times 5 (processor.step)" in _figure(slow, "computation")
    # One rank computes nearly all the time.
    assert 4.8 < _simulated(slow) / _simulated(usual) < 5.01

    # Manually marked regions take the memory rate, which the machine must have.
    table.write_text(table.read_text().replace('"processor"', '"memory"'))
    refused = elanite(*run, "--set", "processor.step=1 ns", *words)
    assert refused.code == 2
    assert "is bound by memory" in refused.err
    rate = tomllib.loads(table.read_text())["host"]["core_memory"]
    memory = ["--set", "processor.step=1 ns", "--set", f"processor.core_memory={rate}"]
    same = elanite(*run, *memory, *words)
    assert abs(_simulated(same) / _simulated(usual) - 1) < 1e-3


@needs_mpi
def test_this_computer_as_a_machine(
    elanite: Callable[..., Ended], mpi_programs: Path, tmp_path: Path
) -> None:
    measured = elanite("calibrate-host", "--out", "host.toml", "--format", "json")
    assert measured.code == 0, measured
    found = json.loads(measured.out)
    section = tomllib.loads((tmp_path / "host.toml").read_text())["processor"]
    assert {key: each["value"] for key, each in section.items()} == {
        k: v for k, v in found.items() if k != "cores"
    }
    machine = elanite("new", "machine", "here")
    assert machine.code == 0, machine
    file = tmp_path / "here.toml"
    file.write_text(file.read_text() + "\n" + (tmp_path / "host.toml").read_text())
    assert elanite("check", "here.toml").code == 0
    run = ["mpirun", "-n", "2", "--machine", "here.toml", "--compute", "sampled:regions.toml"]
    ended = elanite(*run, str(mpi_programs / "regions"), "4")
    assert "(processor.step)" in _figure(ended, "computation")
