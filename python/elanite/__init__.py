"""Elanite: an executable model of the Quadrics networks, as a library.

In short::

    import elanite as el

    result = el.run("qsnet/uniform")      # or an experiment of your own, on a machine of your own
    result.frame()                        # a tidy polars frame: one row per (point, metric, batch)
    result.chart()                        # the figures of the experiment

    el.mpirun(["./ring", "10"], ranks=8)  # a real MPI program on a simulated machine

Importing the package costs nothing: everything is loaded on first use. The simulator itself is the extension
module ``elanite._core``; this package plans, stores, draws and reports.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elanite.api import Experiment, Machine, Parameter, PointsFailed, Result, load_results, run
    from elanite.calibration import Calibration, calibrate
    from elanite.claims import Claim, Verdict, scoreboard
    from elanite.differences import compare
    from elanite.errors import ConfigError, ElaniteError, RunError, UsageError
    from elanite.mpirun import mpirun
    from elanite.noise import measure as noise
    from elanite.patterns import Pattern
    from elanite.plan import Point
    from elanite.replay import replay
    from elanite.sweeps import Sweep, sweep

_VERBS = ("mpirun", "noise", "replay")
"""Modules that are called (see ``elanite.verbs``)."""

_HOME = {
    "Calibration": "elanite.calibration",
    "Claim": "elanite.claims",
    "ConfigError": "elanite.errors",
    "ElaniteError": "elanite.errors",
    "Experiment": "elanite.api",
    "Machine": "elanite.api",
    "Parameter": "elanite.api",
    "Pattern": "elanite.patterns",
    "Point": "elanite.plan",
    "PointsFailed": "elanite.api",
    "Result": "elanite.api",
    "RunError": "elanite.errors",
    "Sweep": "elanite.sweeps",
    "UsageError": "elanite.errors",
    "Verdict": "elanite.claims",
    "calibrate": "elanite.calibration",
    "compare": "elanite.differences",
    "load_results": "elanite.api",
    "run": "elanite.api",
    "scoreboard": "elanite.claims",
    "sweep": "elanite.sweeps",
}

__all__ = [
    "Calibration",
    "Claim",
    "ConfigError",
    "ElaniteError",
    "Experiment",
    "Machine",
    "Parameter",
    "Pattern",
    "Point",
    "PointsFailed",
    "Result",
    "RunError",
    "Sweep",
    "UsageError",
    "Verdict",
    "calibrate",
    "compare",
    "load_results",
    "mpirun",
    "noise",
    "replay",
    "run",
    "scoreboard",
    "sweep",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first used."""
    if name == "_core":
        globals()[name] = core = import_module("elanite.simulator").module()
        return core
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _VERBS:
        return import_module(f"elanite.{name}")
    if name == "__version__":
        return import_module("elanite._core").VERSION
    raise AttributeError(f"module 'elanite' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
