"""MPI atomic operations: by the adapter where the machine has an engine for them, otherwise by
messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, needs_mpi

pytestmark = needs_mpi
Run = Callable[..., Ended]
COMPUTES = 1000.0
"""Microseconds that the target computes."""


def times(run: Ended) -> dict[str, float]:
    assert run.code == 0, run
    rows = [line.rsplit(" ", 1) for line in run.out.splitlines() if line[-1].isdigit()]
    return {name: float(time) for name, time in rows}


@pytest.mark.parametrize("machine", ["infiniband-ndr", "slingshot-dragonfly", "opteron-qsnet2"])
def test_atomics_do_not_wait_for_a_rank_that_computes(
    elanite: Run, mpi_programs: Path, machine: str
) -> None:
    """Operations that the adapter lacks take a fetch and a swap; two-byte words are left to
    messages.
    """
    taken = times(
        elanite("mpirun", "-n", "4", "--machine", machine, "-q", str(mpi_programs / "atomics"))
    )
    assert taken.pop("add short") > COMPUTES
    assert max(taken.values()) < 20
    direct = {taken[name] for name in ("add int", "xor long", "replace double")}
    assert min(taken[name] for name in ("multiply int", "add double", "larger float")) > 1.5 * max(
        direct
    )
    assert min(direct) > 0.3


@pytest.mark.parametrize(
    "words", [(), ("--machine", "infiniband-ndr", "--network", "ideal")], ids=["Elan3", "ideal"]
)
def test_messages_carry_atomics_out_elsewhere(
    elanite: Run, mpi_programs: Path, words: tuple[str, ...]
) -> None:
    taken = times(elanite("mpirun", "-n", "2", *words, "-q", str(mpi_programs / "atomics")))
    assert min(taken.values()) > COMPUTES


def test_atomics_are_repeatable_on_shared_nodes(elanite: Run, mpi_programs: Path) -> None:
    words = (
        "mpirun",
        "-n",
        "6",
        "--ranks-per-node",
        "3",
        "--machine",
        "infiniband-ndr",
        "-f",
        "json",
    )
    runs = [elanite(*words, str(mpi_programs / "atomics")) for _ in range(2)]
    assert all(times(run) for run in runs)
    assert len({json.loads(run.err.splitlines()[-1])["digest"] for run in runs}) == 1
