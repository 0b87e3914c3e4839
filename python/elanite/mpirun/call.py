"""``el.mpirun(...)``: a run as a Python call, the counterpart of the shell's ``elanite mpirun``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from elanite.errors import RunError
from elanite.mpirun.options import Options
from elanite.mpirun.session import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.inputs.machine import Machine
    from elanite.mpirun.options import OptionKeywords
    from elanite.mpirun.session import Run


def mpirun(
    program: str | Path | Sequence[str | Path],
    ranks: int,
    machine: Machine | str | Path = "es40-qsnet",
    *,
    mpi: str | None = None,
    check: bool = True,
    **options: Unpack[OptionKeywords],
) -> Run:
    """Run an MPI, OpenSHMEM or Elanlib program on a machine: ``el.mpirun(["./ring", "10"], 8)``.

    ``program`` is a program, or a list of it and its arguments. ``options`` are the fields of
    ``elanite.mpirun.Options``, with the meaning of the ``elanite mpirun`` options:
    ``ranks_per_node``, ``placement``, ``compute``, ``network``, ``memory``, ``collectives``,
    ``seed``, ``limit_time``, ``faults``, ``timeline``, ``record`` (then ``Run.record(file)`` writes
    the trace). It keeps no files. Call the function in the main thread.

    Raises ``UsageError`` or ``ConfigError`` if the program cannot be started. Raises ``RunError``
    with the run's report and exit code if the run fails; without ``check``, ``Run.ended`` has the
    failure.
    """
    from elanite.inputs.machine import Machine

    words = [program] if isinstance(program, (str, os.PathLike)) else program
    on = machine if isinstance(machine, Machine) else Machine.load(machine)
    found = run(
        [os.fspath(word) for word in words], on.file, Options(ranks, **options), on.overrides, mpi
    )
    if check and found.ended.exit_code:
        raise RunError(found.ended.message, found.ended.exit_code)
    return found
