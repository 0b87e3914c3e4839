"""Real MPI programs that overwrite the memory that they share with the simulator: each run ends,
never as a bug.

The run's end depends on the overwritten data and the moment: irrelevant data, a word that the
simulator refuses, or a rank's word; that rank then crashes, waits for ever or gives up.
``ELANITE_FUZZ_SEED`` and ``ELANITE_FUZZ_SECONDS`` choose the cases; ``make fuzz-inputs`` runs more.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended, needs_mpi
from elanite.errors import Exit

pytestmark = needs_mpi

FIRST = int(os.environ.get("ELANITE_FUZZ_SEED", "0"))
SECONDS = float(os.environ.get("ELANITE_FUZZ_SECONDS", "0"))

CHANGED = (
    "reached the simulator with another checksum",
    "has stored other bytes",
    "a message that nobody sent",
)
"""The message for bytes that have changed in transit."""


def left(folder: Path) -> list[str]:
    """Processes with their program in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "exe").readlink().is_relative_to(folder):
                found.append(entry.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("runs", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_whatever_a_program_overwrites_the_run_ends(
    elanite: Callable[..., Ended], mpi_programs: Path, runs: int
) -> None:
    end = time.monotonic() + SECONDS
    for seed in itertools.count(FIRST):
        if seed >= FIRST + runs and time.monotonic() > end:
            break
        ended = elanite(
            "mpirun", "-n", "3", "--limit-time", "10s", str(mpi_programs / "hostile"), str(seed)
        )
        told = f"seed {seed}: {ended}"
        assert "Traceback" not in ended.err, told
        assert "panicked" not in ended.err or "broken invariant" not in ended.err, told
        assert ended.code != Exit.BROKEN or any(words in ended.err for words in CHANGED), told
        assert ended.code != Exit.USAGE, told
        # A rank's overwritten time may be beyond all simulated times.
        said = re.search(
            r"^error: .*(rank|mpiexec|where simulated time ends)", ended.err, re.MULTILINE
        )
        assert ended.code == 0 or said, told
        assert not left(mpi_programs), told
