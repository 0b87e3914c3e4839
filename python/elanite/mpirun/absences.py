"""Verdicts on runs in which ranks took no part, or took part unseen.

| case | how it shows | exit code |
|---|---|---|
| no rank called ``MPI_Init`` | all processes have ended, none has attached | the program's, or 2 |
| a wrapper ended before its program | another process has the rank's connection | 2 |
| some ranks ended without ``MPI_Init`` | their processes have ended; the others wait | 2 |
| a process has another MPI | after ``MPI_Init`` not attached, or a world of another size | 2 |
| calls bypass Elanite's entry points | ranks have attached, and no call was recorded | 4 |

In the last case messages cross the simulated network, but the call record is empty, computation
takes no time, and collective operations do not reach the hardware. The summary is printed with a
warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.text import counted, ranks
from elanite.errors import Exit
from elanite.mpirun import linkage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.mpirun.evidence import Evidence, RunOutcome
    from elanite.mpirun.launcher import Mpi
    from elanite.mpirun.linkage import Library

_ORPHAN = (
    "its process has ended, and one that it had started went on; Elanite follows the first one,"
    " which must wait for the other (setsid: with --wait), or become it (exec)"
)
"""A wrapper's mistake, and the remedy."""


def no_mpi(evidence: Evidence) -> tuple[str, int]:
    """The message and the exit code for a run that no rank joined."""
    said = "".join(f"\n  {line}" for line in evidence.reports.complaints[:4])
    if evidence.code:
        called = "one of the simulated libraries" if evidence.native else "MPI_Init"
        return (
            f"the program ended with exit code {evidence.code}, and no rank called {called}{said}",
            evidence.code,
        )
    if evidence.native:
        return (
            (
                f"no rank of {evidence.program} called OpenSHMEM, Elanlib, Elan3lib or MPI: link it"
                f" with oshcc or elancc, or with {evidence.compiler}{said}"
            ),
            int(Exit.USAGE),
        )
    if evidence.reports.orphans:
        return f"no rank of {evidence.program} called MPI_Init: {_ORPHAN}", int(Exit.USAGE)
    why = (
        "an MPI library of its own, linked statically or otherwise hidden, has started; link it"
        " dynamically, with"
        if evidence.outcome.get("managed")
        else (
            "it is no MPI program, ends before the call, or lacks the environment that mpiexec gave"
            " it; link an MPI program with"
        )
    )
    return (
        (
            f"no rank of {evidence.program} called MPI_Init on the simulated network: {why}"
            f" {evidence.compiler}{said}"
        ),
        int(Exit.USAGE),
    )


def absence(evidence: Evidence) -> tuple[str, int]:
    """The message and the exit code for a run in which some ranks ended without MPI."""
    gone = evidence.outcome["absent"]
    others = [rank for rank in range(len(evidence.placement)) if rank not in gone]
    called = "a call of the simulated libraries" if evidence.native else "MPI_Init"
    message = f"{_ranks(gone)} of {evidence.program} ended without {called}"
    if others:
        message += f"; {_ranks(others)} cannot go on without"
    if evidence.reports.orphans:
        message += f"; {_ORPHAN}"
    return message, int(Exit.USAGE)


def stray_process(evidence: Evidence) -> tuple[str, int]:
    """The message and the exit code for a run in which a process has a foreign MPI."""
    found = evidence.outcome["stray"]
    assert found is not None  # noqa: S101 - the run's end names it
    world, size = found["world"], len(evidence.placement)
    message = (
        f"MPI_Init of rank {found['rank']} did not open the simulated network"
        if world is None
        else (
            f"MPI_COMM_WORLD of rank {found['rank']} has {counted(world, 'rank')}, and the run has"
            f" {size}"
        )
    )
    return f"{message}: {evidence.stray or 'its MPI library is unknown'}", int(Exit.USAGE)


def loaded(outcome: RunOutcome, mpi: Mpi) -> str:
    """The MPI library in the process outside the run, and a remedy; empty if the library is
    unknown.

    Call it while the process lives.
    """
    found = outcome.get("stray")
    pid = found["pid"] if found else None
    libraries: Sequence[Library] = linkage.mapped(pid) if pid else []
    for library in libraries:
        if linkage.mismatch(library, mpi):
            return f"the program has loaded {library.words}{linkage.remedy(library, None, mpi)}"
    words = " and ".join(library.words for library in libraries)
    return (
        f"the program has loaded {words}, and lacks the environment that mpiexec gave it"
        if words
        else ""
    )


def has_figures(outcome: RunOutcome) -> bool:
    """Whether ranks have run as one program, so that the run has figures."""
    return bool(outcome["attached"]) and outcome["end"] not in ("stray", "absent")


def unseen_calls(evidence: Evidence) -> tuple[str, int]:
    """The message and the exit code for a finished run in which some ranks' calls were not seen."""
    calls = "calls of the simulated libraries" if evidence.native else "calls of MPI"
    return (
        (
            f"{calls} by {_ranks(evidence.outcome['unseen'])} bypass Elanite (Open MPI's interface"
            " for Fortran, or a library that is linked statically):"
            " their messages crossed the simulated network, but the time in MPI is unknown,"
            " --compute had no effect, and collective operations did not use the hardware"
        ),
        int(Exit.BROKEN),
    )


def _ranks(numbers: Sequence[int]) -> str:
    return f"rank{'s' if len(numbers) > 1 else ''} {ranks(numbers)}"
