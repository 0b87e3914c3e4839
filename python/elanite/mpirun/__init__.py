"""Real MPI programs on the simulated cluster: unchanged processes, with simulated messages and
clocks.

A run has three parties. A *process manager* starts the ranks and has their exit states: Elanite's
own for an MPICH, or an Open MPI's mpiexec. The *ranks* are the program's processes. The loader adds
``libelanite-fi.so`` to them, which is a network for the MPI library and a clock for the program.
This library and the *simulator*, ``_core.MpiRun`` in this process, communicate through shared
memory.

| module | purpose |
|---|---|
| ``options`` | a run's options: computation, placement |
| ``program`` | checks that a program exists, is executable and dynamically linked |
| ``resources`` | checks that the host has room for the ranks |
| ``sampled`` | the sampled computation table |
| ``exchange`` | the run's MPI library in place of the program's own |
| ``launcher`` | finds the MPI, and makes its command line and the ranks' environment |
| ``processes`` | starts the process manager, and ensures that no process outlives the run |
| ``guard`` | ensures this even if this process is killed; removes MPICH's files in ``/dev/shm`` |
| ``streams`` | passes output on, and takes the process manager's reports |
| ``session`` | one run from start to end |
| ``verdict`` | how a run ended, in words, and the exit code |
| ``summary`` | the figures that a run measured |
| ``run_tables`` | a run's tables on the disk |
| ``timeline`` | a run as a trace for Perfetto |
| ``call`` | ``el.mpirun(...)`` |

A point is a pure function of its input; a run is impure, because a program takes part in it. A run
is *repeatable* if the program can see no time but simulated time; then the same command gives the
same records and the same digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.verbs import callable_module
from elanite.migration import former
from elanite.mpirun.call import mpirun
from elanite.mpirun.options import Options
from elanite.mpirun.session import Run, run
from elanite.mpirun.verdict import RunEnd

__all__ = ["Options", "Run", "RunEnd", "mpirun", "run"]

if not TYPE_CHECKING:
    __getattr__ = former(__name__)

callable_module(__name__, mpirun)
