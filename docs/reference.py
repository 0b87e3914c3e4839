"""Renew the reference results that quick reports draw, from the finished points of a whole
reproduction.

``make docs`` runs this, with the folder of the reproduction.
"""

import sys
from importlib.resources import files
from pathlib import Path

from elanite.store import Store
from elanite.validation import reference

(out,) = sys.argv[1:]
target = Path(str(files("elanite").joinpath("data", reference.FILE)))
reference.write(Store(Path(out) / "store"), target)
