"""Elanite: an executable model of the Quadrics networks, as a library.

In short::

    import elanite as el

    result = el.run("qsnet/uniform")      # or an experiment of your own, on a machine of your own
    result.frame()                        # a tidy polars frame: one row per (point, metric, batch)
    result.chart()                        # the figures of the experiment

    el.mpirun(["./ring", "10"], ranks=8)  # a real MPI program on a simulated machine

Importing the package is free: everything is loaded on first use. The simulator itself is the
extension module ``elanite._core``; this package plans, stores, draws and reports.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from elanite import migration

if TYPE_CHECKING:
    from elanite.errors import ConfigError, ElaniteError, RunError, UsageError
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.machine import Machine, Parameter
    from elanite.inputs.patterns import Pattern
    from elanite.inputs.plan import Point
    from elanite.library.api import PointsFailed, Result, load_results, run
    from elanite.library.builder import jobs
    from elanite.library.noise import measure as noise
    from elanite.library.sweeps import Sweep, sweep
    from elanite.mpirun import mpirun
    from elanite.results.differences import compare
    from elanite.study.calibration import calibrate
    from elanite.study.fit import Calibration
    from elanite.traces.replay import replay
    from elanite.validation.claim import Claim
    from elanite.validation.scoreboard import scoreboard
    from elanite.validation.verdict import Verdict


_HOME = {
    "Calibration": "elanite.study.fit",
    "Claim": "elanite.validation.claim",
    "ConfigError": "elanite.errors",
    "ElaniteError": "elanite.errors",
    "Experiment": "elanite.inputs.experiment",
    "Machine": "elanite.inputs.machine",
    "Parameter": "elanite.inputs.machine",
    "Pattern": "elanite.inputs.patterns",
    "Point": "elanite.inputs.plan",
    "PointsFailed": "elanite.library.api",
    "Result": "elanite.library.api",
    "RunError": "elanite.errors",
    "Sweep": "elanite.library.sweeps",
    "UsageError": "elanite.errors",
    "Verdict": "elanite.validation.verdict",
    "calibrate": "elanite.study.calibration",
    "compare": "elanite.results.differences",
    "jobs": "elanite.library.builder",
    "load_results": "elanite.library.api",
    "noise": "elanite.library.noise:measure",
    "replay": "elanite.traces.replay",
    "run": "elanite.library.api",
    "scoreboard": "elanite.validation.scoreboard",
    "sweep": "elanite.library.sweeps",
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
    "jobs",
    "load_results",
    "mpirun",
    "noise",
    "replay",
    "run",
    "scoreboard",
    "sweep",
]


migration.install()


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first used."""
    if name == "_core":
        globals()[name] = core = import_module("elanite.base.simulator").module()
        return core
    if name == "mpirun":  # a package that can be called
        return import_module("elanite.mpirun")
    if name in _HOME:
        module, _, member = _HOME[name].partition(":")
        return getattr(import_module(module), member or name)
    if name == "__version__":
        return import_module("elanite._core").VERSION
    raise AttributeError(f"module 'elanite' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
