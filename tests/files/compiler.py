"""The compiler of the first argument, ``oshcc`` or ``elancc``, with the arguments that follow."""

import sys

from elanite.mpirun import compilers

if __name__ == "__main__":
    del sys.argv[0]
    getattr(compilers, sys.argv[0])()
