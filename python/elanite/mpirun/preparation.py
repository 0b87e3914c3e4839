"""A run before its first process: all that is checked and decided about it.

A run and its dry run (``elanite mpirun --dry-run``) have the same preparation, so that a dry run
refuses all that a run refuses before it starts.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elanite import _core
from elanite.errors import UsageError
from elanite.mpirun import exchange, launcher, program, resources
from elanite.mpirun.cluster import Cluster
from elanite.mpirun.sampled import Sampling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from elanite._core import MpiRun
    from elanite.inputs.sources import Source
    from elanite.mpirun.launcher import Mpi
    from elanite.mpirun.options import Options


@dataclass(frozen=True)
class Preparation:
    """A run that can start."""

    words: tuple[str, ...]
    """The program and its arguments."""
    native: bool
    """Whether the program is one for the simulated libraries."""
    file: Path
    """The program's file; for a script, the interpreter."""
    mpi: Mpi
    libraries: Mapping[str, str]
    """The variables by which ranks load libraries in place of the program's own."""
    network: Path
    """The simulated network's file, which ranks load."""
    cluster: Cluster
    placement: list[int]
    """Each rank's node, for all ranks that there may be."""
    options: Options
    """The options, with the executor of collective operations."""
    core: MpiRun
    """The simulator's side of the run."""
    sampling: Sampling | None
    """The table of sampled computation."""

    @property
    def memory(self) -> int | None:
        """Bytes that the ranks' MPI takes, beside the program's own; `None` if they are unknown."""
        return resources.memory(self.options.room) if self.mpi.kind == "MPICH" else None


@contextmanager
def prepared(
    words: Sequence[str],
    machine: Source,
    options: Options,
    overrides: Sequence[str] = (),
    mpi: str | None = None,
    *,
    native: bool = False,
    dry: bool = False,
) -> Iterator[Preparation]:
    """A run's preparation, while the context lasts; a ``dry`` one makes no folder for a table.

    Raises ``UsageError`` or ``ConfigError`` if the program cannot be started.
    """
    program.check_single(words)
    file = program.check(words[0])
    chosen = exchange.choose(mpi, file, os.environ)
    with exchange.exchanged(file, words[0], chosen, os.environ) as libraries:
        sampling = (
            Sampling.of(options.table, file, words, options.ranks, dry=dry)
            if options.table is not None
            else None
        )
        network = launcher.library()
        cluster = Cluster.of(machine, overrides)
        placement = options.nodes(cluster.nodes)
        _check(options, chosen, words, native)
        request = json.loads(options.as_json(placement)) | (
            {"sampled": sampling.request} if sampling else {}
        )
        core = _core.MpiRun(
            machine.text, machine.file, list(overrides), list(options.faults), json.dumps(request)
        )
        yield Preparation(
            tuple(words),
            native,
            file,
            chosen,
            libraries,
            network,
            cluster,
            placement,
            replace(options, collectives=core.collectives()),
            core,
            sampling,
        )


def _check(options: Options, chosen: Mpi, words: Sequence[str], native: bool) -> None:
    """Raise ``UsageError`` if the host has no room for the ranks, if the MPI cannot start them with
    these options, or if they cannot start further ones.
    """
    manager = launcher.Manager(launcher.manager(), "", 0, options.room)
    chosen.command(
        options.ranks, {}, words, manager, cleanup=options.cleanup, kinds=options.memory_alloc_kinds
    )
    if chosen.kind == "MPICH":
        resources.check(options.room, resources.Host.here())
    if options.universe is not None and (native or chosen.kind != "MPICH"):
        which = (
            "programs for the simulated libraries" if native else f"programs under {chosen.kind}"
        )
        raise UsageError(f"--universe: {which} cannot start ranks here; leave out --universe")
