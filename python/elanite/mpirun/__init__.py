"""Real MPI programs on the simulated cluster: unchanged processes, whose messages and clocks are the simulator's.

A run has three parties. *mpiexec* of a real MPI starts the ranks, passes their input and output, and knows how they
ended. The *ranks* are processes of the program; the loader gives them ``libelanite-fi.so``, which is a network for
their MPI library and a clock for the program, and talks to the *simulator*, ``_core.MpiRun`` in this process, through
shared memory.

| module | what it does |
|---|---|
| ``options`` | what a run is asked for: computation, placement |
| ``program`` | whether a program can run so at all: found, executable, dynamically linked |
| ``launcher`` | which MPI it is, its command line, the environment of ranks |
| ``processes`` | starts mpiexec, and sees that nothing of the run outlives it |
| ``guard`` | does the same if this process is killed, and removes what MPICH leaves in ``/dev/shm`` |
| ``streams`` | passes output on, but for what mpiexec says about the end |
| ``session`` | one run from start to end |
| ``verdict`` | how it ended, in words, and the exit code |
| ``summary`` | what it measured, as figures |
| ``kept`` | its tables on the disk |
| ``timeline`` | the same as a trace for Perfetto |

A run is no pure function of its input as a point is: there is a program in it. It is *repeatable* if simulated time is
all that the program can see of time; then the same command gives the same records, and the same digest.
"""

from __future__ import annotations

from elanite.mpirun.options import Options
from elanite.mpirun.session import Run, run
from elanite.mpirun.verdict import Ended

__all__ = ["Ended", "Options", "Run", "run"]
