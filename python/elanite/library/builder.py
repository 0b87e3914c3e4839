"""Job experiments, written in Python in place of four dictionary levels.

    built = el.jobs("uniform", nodes=16, message="1 KB", load="50 MB/s")
    built = built.measured("1 ms", warm_up="100 us").on("es40-qsnet")
    result = built.vary(load=["50 MB/s", "100 MB/s"], message=["1 KB", "64 KB"]).run()

Every method returns another object, so that a description may be the start of several. The keys
have their names from experiment files, and type checkers know them. ``experiment`` is the same as
an ``Experiment``, with the errors for experiment files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeVar, Unpack

from elanite.inputs.experiment import Experiment
from elanite.inputs.machine import Machine
from elanite.library.api import Result, run

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.inputs.patterns import Destinations, Pattern
    from elanite.library.api import Machines

T = TypeVar("T")

Several: TypeAlias = T | Sequence[T]
"""A value, or values that are used in turn."""


class JobKeys(TypedDict, total=False):
    """A job's keys that have defaults in experiment files or here."""

    sizes: Several[str]
    """Message size distribution, by default ``fixed``."""
    arrivals: Several[str]
    """Distribution for times between messages, by default ``exponential``."""
    memory: Several[str]
    servers: Several[int | str]
    writes: Several[float]
    processes: Several[int]


class JobValues(TypedDict, total=False):
    """Values for a job's keys, which are used in turn."""

    nodes: Sequence[int | str]
    message: Sequence[str]
    load: Sequence[str]
    sizes: Sequence[str]
    arrivals: Sequence[str]
    memory: Sequence[str]
    processes: Sequence[int]


class MeasurementKeys(TypedDict, total=False):
    """How points are measured, beside window and warm-up."""

    precision: float
    batches: int
    slices: int
    seeds: int


@dataclass(frozen=True)
class Jobs:
    """Jobs that run at the same time, the machines, and how they are measured."""

    jobs: Mapping[str, Mapping[str, object]]
    machines: tuple[Machines, ...] = ()
    running: Mapping[str, object] = field(default_factory=dict)
    title: str = "jobs"

    def beside(
        self,
        name: str,
        pattern: Several[str | Pattern | Destinations],
        *,
        nodes: Several[int | str],
        message: Several[str],
        load: Several[str],
        **more: Unpack[JobKeys],
    ) -> Jobs:
        """A further job on other nodes, at the same time."""
        return replace(self, jobs={**self.jobs, name: _job(pattern, nodes, message, load, more)})

    def on(self, *machines: Machines) -> Jobs:
        """On these machines: shipped ones by name, files by path, or ``Machine`` objects."""
        return replace(self, machines=machines)

    def vary(self, job: str = "", **values: Unpack[JobValues]) -> Jobs:
        """All combinations of a job's values, by default the first job's.

        Raises ``KeyError`` without such a job.
        """
        name = job or next(iter(self.jobs))
        return replace(self, jobs={**self.jobs, name: {**self.jobs[name], **values}})

    def measured(
        self, window: str, *, warm_up: str = "0 ps", **more: Unpack[MeasurementKeys]
    ) -> Jobs:
        """Measured in a simulated-time window after a warm-up."""
        return replace(self, running={**self.running, "window": window, "warm_up": warm_up, **more})

    def named(self, title: str) -> Jobs:
        """With a title, which is also the name of its file in commands."""
        return replace(self, title=title)

    def experiment(self) -> Experiment:
        """The experiment. Raises ``ConfigError`` for a wrong value, with a line in its text."""
        named = [
            each.file.argument if isinstance(each, Machine) else str(each) for each in self.machines
        ]
        content = {
            "title": self.title,
            "source": "none",
            "machine": named[0] if len(named) == 1 else named or "es40-qsnet",
            "run": dict(self.running),
            "series": [
                {"name": "jobs", "jobs": {name: dict(job) for name, job in self.jobs.items()}}
            ],
        }
        return Experiment.from_dict(content, self.title)

    def run(self, *, seed: int = 1, jobs: int | None = None, out: str | Path = "out") -> Result:
        """Simulate the points, as ``el.run``."""
        return run(self.experiment(), list(self.machines) or None, seed=seed, jobs=jobs, out=out)


def jobs(
    pattern: Several[str | Pattern | Destinations],
    *,
    nodes: Several[int | str],
    message: Several[str],
    load: Several[str],
    name: str = "load",
    **more: Unpack[JobKeys],
) -> Jobs:
    """A traffic job: its pattern, nodes, messages and load, as experiment file keys.

    ``pattern`` is the name of a pattern or a pair file, or a function
    (``elanite.inputs.patterns``).
    """
    return Jobs({name: _job(pattern, nodes, message, load, more)})


def _job(
    pattern: object, nodes: object, message: object, load: object, more: JobKeys
) -> Mapping[str, object]:
    always = {"pattern": pattern, "nodes": nodes, "message": message, "load": load}
    return always | {"sizes": "fixed", "arrivals": "exponential"} | dict(more)
