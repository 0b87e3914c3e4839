"""Sweeps: one experiment with many values for a few keys, in each combination or a sample.

    keys = {"bus.rate": "150 MB/s..400 MB/s", "link.hop_delay": ["55 ns", "65 ns"]}
    swept = el.sweep(el.Experiment.load("qsnet/ping"), keys, sample=("lhs", 100))
    swept.summary()  # the varied keys are columns

``study.sweeps`` makes the combinations. Points are ordinary store points: an interrupted sweep
continues, and a point that another experiment has simulated is not simulated again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.base.seeds import FIRST_SEED
from elanite.errors import UsageError
from elanite.library.api import PointsFailed, Result
from elanite.store import Store
from elanite.study import ranges
from elanite.study.sweeps import Sample, merged, planned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    import polars as pl

    from elanite.campaign import Observer
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.machine import Machine
    from elanite.inputs.plan import Plan, Point
    from elanite.store import Table
    from elanite.study.ranges import Choice, Range


@dataclass(frozen=True)
class Sweep:
    """A sweep's finished points."""

    keys: tuple[str, ...]
    """The varied keys, which are columns of all tables; a series' field has the field's column,
    such as ``message`` for ``series.load.message``.
    """
    plans: tuple[Plan, ...]
    """One for each combination; their points' parameters begin with the varied keys' values."""
    store: Store = field(repr=False)

    @property
    def results(self) -> list[Result]:
        """Each combination's results."""
        return [Result(each, self.store) for each in self.plans]

    @property
    def whole(self) -> Result:
        """All combinations' points."""
        return Result(merged(self.plans), self.store)

    @property
    def points(self) -> list[Point]:
        """The finished points, by combination in plan order."""
        return self.whole.points

    def frame(self) -> pl.DataFrame:
        """Tidy rows: one per (point, metric, batch), with the varied keys and the point's
        parameters.
        """
        return self.whole.frame()

    def table(self, name: Table) -> pl.DataFrame:
        """Another table for the points, as ``Result.table`` gives it."""
        return self.whole.table(name)

    def summary(self) -> pl.DataFrame:
        """Every metric's mean and 95% confidence interval, over batches and seeds, for each
        combination.
        """
        return self.whole.summary()


def sweep(
    experiment: Experiment,
    vary: Mapping[str | tuple[str, ...], str | Sequence[object]],
    machine: Machine | None = None,
    *,
    sample: Sample | None = None,
    seed: int = FIRST_SEED,
    jobs: int | None = None,
    threads: int | None = None,
    out: str | Path = "out",
    observer: Observer | None = None,
    executor: Executor | None = None,
) -> Sweep:
    """Simulate an experiment with all combinations of the values in ``vary``, or with a sample.

    ``vary`` has for each key a list of values, or a text as on the command line: ``"10 ns..50 ns"``
    (see ``study.ranges``). A key tuple has a list of value tuples, which go together:
    ``{("topology.up", "topology.parallel"): [([20], [10]), ([10], [5])]}``. ``sample`` is
    ``("lhs", n)`` for a Latin hypercube with n combinations; ranges without a value count need it.
    ``seed`` is the points' first seed, and the sample's seed. Raises ``UsageError`` or
    ``ConfigError`` if a key or value is wrong, before anything is simulated; otherwise as ``run``.
    With an engine's ``executor``, point batches run on its workers.
    """
    groups = [_group(key, values) for key, values in vary.items()]
    keys = [key for group in groups for key in group]
    machines = [machine.file] if machine else []
    overrides = experiment.overrides + (machine.overrides if machine else ())
    plans = planned(experiment.file, machines, overrides, groups, sample, seed)
    found = Sweep(tuple(each.key for each in keys), plans, Store(Path(out) / "store"))
    outcome = campaign.run(
        plans, found.store, jobs, observer, str(out), threads=threads, executor=executor
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failures:
        raise PointsFailed(found.whole, outcome.failures)
    return found


def _group(key: str | tuple[str, ...], values: str | Sequence[object]) -> list[Choice | Range]:
    """A key with its values, or keys with values that go together."""
    if isinstance(key, str):
        return [ranges.of("vary", key, values)]
    rows = [row for row in values if isinstance(row, tuple) and len(row) == len(key)]
    if not rows or len(rows) < len(values):
        raise UsageError(
            f"vary: {key} needs a list of tuples with a value for each key, such as [(1, 2),"
            " (3, 4)]"
        )
    return [
        ranges.of("vary", name, [row[at] for row in rows], twice=True)
        for at, name in enumerate(key)
    ]
