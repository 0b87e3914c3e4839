"""The MPI fuzz finds deliberate mistakes.

Slow: each rebuilds the ranks' library, or the simulator.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_fuzz.mistakes import MISTAKES, Mistake, attempt

ROOT = Path(__file__).parents[1]
SECONDS = 300
"""Time for the fuzz to find a mistake."""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_a_mistake_stands_in_the_sources(mistake: Mistake) -> None:
    assert (ROOT / mistake.source).read_text(encoding="utf-8").count(mistake.old) == 1, (
        mistake.source
    )


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name)
def test_the_fuzz_finds_a_mistake(
    mistake: Mistake, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp().parent / "mistakes"
    done = attempt(mistake, ROOT, folder, SECONDS)
    assert done.returncode == 1, done.stdout + done.stderr
