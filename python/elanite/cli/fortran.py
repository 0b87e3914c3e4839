"""The command ``install-mpifort``: Fortran for the ranks' MPICH."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elanite.cli.common import data, say
from elanite.cli.request import Request


@dataclass(frozen=True, kw_only=True)
class InstallMpifort(Request):
    """Install mpifort beside the mpicc of the MPICH that runs the ranks.

    \b
    Example:
      elanite install-mpifort && mpifort -O2 -o solver solver.f90

    The mpich package of PyPI has no Fortran. The command needs gfortran, and takes mpif.h, the
    modules mpi and mpi_f08 and libmpichfort.so.12 from Debian's or Ubuntu's package libmpich-dev.
    Where the package is not installed, apt-get downloads it, without root, and it is unpacked
    beside the C library. Printed is the path of mpifort, which has the names mpif90 and mpif77,
    too.
    """

    verb: ClassVar[str] = "install-mpifort"

    def execute(self) -> None:
        """Run the command."""
        from elanite.mpirun import fortran, launcher

        mpi = launcher.find()
        data(str(fortran.install(mpi)))
        say(f"its programs run with {mpi.path}, and with elanite mpirun")
