"""Former places and names: they work for one release, with a ``DeprecationWarning``.

A module in ``MOVED`` is made when it is imported. It has the listed names and takes them from their
new places. A module in ``MODULES`` has a new name, and all of its names are found under the former
one. A module in ``RENAMED`` has the former names of its classes by ``former``. The names of
``elanite.__all__`` did not move.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOVED = {
    "elanite.api": {
        "Experiment": "elanite.inputs.experiment",
        "Machine": "elanite.inputs.machine",
        "Parameter": "elanite.inputs.machine",
        "PointsFailed": "elanite.library.api",
        "Result": "elanite.library.api",
        "load_results": "elanite.library.api",
        "run": "elanite.library.api",
    },
    "elanite.batches": {"batches": "elanite.campaign.batches"},
    "elanite.calibration": {
        "Calibration": "elanite.study.fit",
        "calibrate": "elanite.study.calibration",
    },
    "elanite.claims": {
        "Claim": "elanite.validation.claim",
        "Verdict": "elanite.validation.verdict",
        "scoreboard": "elanite.validation.scoreboard",
    },
    "elanite.congestion": {"Matrix": "elanite.results.congestion"},
    "elanite.differences": {"compare": "elanite.results.differences"},
    "elanite.noise": {"measure": "elanite.library.noise"},
    "elanite.patterns": {"Pattern": "elanite.inputs.patterns"},
    "elanite.plan": {"Point": "elanite.inputs.plan", "plan": "elanite.inputs.plan"},
    "elanite.replay": {"replay": "elanite.traces.replay"},
    "elanite.sources": {"read": "elanite.inputs.sources"},
    "elanite.sweeps": {"Sweep": "elanite.library.sweeps", "sweep": "elanite.library.sweeps"},
}
"""Old modules, and the new module for each public name."""

MODULES = {
    "elanite.cli.former": "elanite.cli.former_commands",
    "elanite.cli.importing": "elanite.cli.network_import",
    "elanite.cli.opening": "elanite.cli.page_inputs",
    "elanite.cli.placing": "elanite.cli.placement_run",
    "elanite.figures.animated": "elanite.figures.animation",
    "elanite.figures.asked": "elanite.figures.figure_requests",
    "elanite.figures.asked_layers": "elanite.figures.request_layers",
    "elanite.figures.beside": "elanite.figures.matrix_comparison",
    "elanite.figures.combined": "elanite.figures.io_interference",
    "elanite.figures.compared": "elanite.figures.figure_changes",
    "elanite.figures.generic": "elanite.figures.default_figures",
    "elanite.figures.missing": "elanite.figures.empty_figures",
    "elanite.figures.published": "elanite.figures.published_values",
    "elanite.formats.recognise": "elanite.formats.recognition",
    "elanite.inputs.imported": "elanite.inputs.network_import",
    "elanite.inputs.imported_clock": "elanite.inputs.network_clock",
    "elanite.inputs.imported_traffic": "elanite.inputs.network_traffic",
    "elanite.moved": "elanite.migration",
    "elanite.mpirun.kept": "elanite.mpirun.run_tables",
    "elanite.mpirun.missing": "elanite.mpirun.absences",
    "elanite.mpirun.where": "elanite.mpirun.call_sites",
    "elanite.report.pages.hottest": "elanite.report.pages.hot_links",
    "elanite.report.pages.opening": "elanite.report.pages.page_extraction",
    "elanite.report.pages.worded": "elanite.report.pages.wording",
    "elanite.results.beside": "elanite.results.machine_comparison",
    "elanite.results.independent": "elanite.results.independent_values",
    "elanite.results.select": "elanite.results.selection",
    "elanite.study.identify": "elanite.study.identifiability",
    "elanite.study.measured": "elanite.study.measurements",
    "elanite.study.studied": "elanite.study.study_findings",
    "elanite.study.vary": "elanite.study.variation",
    "elanite.traces.together": "elanite.traces.joint_replay",
    "elanite.traces.writing": "elanite.traces.goal_lines",
    "elanite.validation.ablated": "elanite.validation.ablation_verdicts",
    "elanite.validation.admissible": "elanite.validation.admissible_ranges",
    "elanite.validation.quick": "elanite.validation.short_runs",
}
"""Former names of modules, with the present ones."""

CALLED = {"elanite.noise": "measure", "elanite.replay": "replay"}
"""Names that stand for a function in ``elanite``: the old module is called as this function."""

RENAMED = {
    "elanite.campaign": {
        "Failure": "PointFailure",
        "Outcome": "CampaignOutcome",
        "Spent": "ExperimentCost",
        "State": "CampaignState",
    },
    "elanite.mpirun": {"Ended": "RunEnd"},
    "elanite.store": {"Claim": "Lease"},
    "elanite.traces.replay": {"Unfinished": "UnfinishedReplay"},
}
"""Public modules, and the new name for each former one."""


def former(module: str) -> Callable[[str], object]:
    """The ``__getattr__`` of a module in ``RENAMED``."""

    def get(name: str) -> object:
        new = RENAMED[module].get(name)
        if new is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        warnings.warn(
            f"{module}.{name} is {module}.{new} now; the old name works until the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(sys.modules[module], new)

    return get


class _Old(ModuleType):
    """An old module."""

    def __getattr__(self, name: str) -> object:
        place = MOVED[self.__name__].get(name)
        if place is None:
            raise AttributeError(
                f"module '{self.__name__}' has no attribute '{name}'; its names moved: see"
                " elanite.migration"
            )
        warnings.warn(
            f"{self.__name__}.{name} is {place}.{name} now; the old name works until the next"
            " release",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(place), name)

    def __call__(self, *values: object, **named: object) -> object:
        verb = CALLED[self.__name__]
        return getattr(import_module(MOVED[self.__name__][verb]), verb)(*values, **named)


class _Renamed(ModuleType):
    """A module under its former name."""

    def __getattr__(self, name: str) -> object:
        place = MODULES[self.__name__]
        found = getattr(import_module(place), name)
        warnings.warn(
            f"{self.__name__} is {place} now; the old name works until the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return found


class _Finder(MetaPathFinder, Loader):
    """Finds the old modules; asked after all other finders."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(name, self) if name in MOVED or name in MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name in MODULES:
            return _Renamed(spec.name, f"The former name of {MODULES[spec.name]}.")
        return _Old(spec.name, f"The old place of {', '.join(MOVED[spec.name])}.")

    def exec_module(self, module: ModuleType) -> None:
        """No code runs: names are taken when they are used."""


def install() -> None:
    """Let imports find the old modules."""
    sys.meta_path.append(_Finder())
