"""The library: machines, experiments and their results as Python objects.

    import elanite as el

    result = el.run("qsnet/ping")
    result.summary()

    usual = el.Machine.load("es40-qsnet")
    el.compare(el.run("qsnet/uniform", [usual, usual.with_({"switch.circuit": "wormhole"})]))

Wherever a machine or an experiment is expected, a name or a path will do. Objects are shown in a
few lines, and as HTML in notebooks, where a bar shows the progress of ``run``. Results are kept in
a store below ``out`` (the folder ``out`` by default), the same one that the command line uses:
points that library or command line have simulated are not simulated again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import campaign
from elanite.base import html
from elanite.base.foreign import optional
from elanite.base.seeds import FIRST_SEED
from elanite.errors import ElaniteError, UsageError
from elanite.inputs import sources
from elanite.inputs.experiment import Experiment
from elanite.inputs.machine import Machine
from elanite.inputs.plan import Plan, Point, plan
from elanite.library import notebooks
from elanite.store import TABLES, Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    import altair as alt
    import polars as pl
    import xarray

    from elanite.base.build import Build
    from elanite.campaign import Observer, PointFailure
    from elanite.figures import Figure
    from elanite.results.congestion import Matrix
    from elanite.store import Manifest, Table


class PointsFailed(ElaniteError):
    """Some points did not finish. ``result`` holds the finished points, ``failures`` the others."""

    def __init__(self, result: Result, failures: Sequence[PointFailure]) -> None:
        self.result = result
        self.failures = list(failures)
        first = failures[0]
        super().__init__(
            f"{len(failures)} of {len(result.plan.points)} points failed; the first:"
            f" {first.message}\nreproduce it: {first.command}"
        )


@dataclass(frozen=True, repr=False)
class Result:
    """One experiment's finished points."""

    plan: Plan
    store: Store

    def __repr__(self) -> str:
        return f"Result({self._title})"

    def _repr_html_(self) -> str:
        rows = [
            (
                series,
                self.plan.title_of(series),
                html.count(sum(point.series == series for point in self.points), "point"),
            )
            for series, _ in self.plan.titles
        ]
        return html.block(
            self._title,
            html.line(self.plan.title),
            html.folded(f"{len(rows)} series", html.table(("series", "title", "finished"), rows)),
            html.line("summary(), frame(), table(name), chart(), congestion(point)"),
        )

    @property
    def _title(self) -> str:
        machines = ", ".join(machine.name for machine in self.plan.machines)
        finished = f"{len(self.points):,} of {html.count(len(self.plan.points), 'point')}"
        return f"{self.plan.experiment.name} on {machines}: {finished} finished"

    @property
    def points(self) -> list[Point]:
        """The finished points, in plan order."""
        return [point for point in self.plan.points if self.store.get(point.id) is not None]

    def manifest(self, point: Point) -> Manifest:
        """A finished point's manifest: digest, packets, events, processor seconds, peak memory,
        versions.
        """
        manifest = self.store.get(point.id)
        if manifest is None:
            raise KeyError(point.id)
        return manifest

    @property
    def builds(self) -> list[tuple[Build, int]]:
        """The simulator builds that have computed the points, each with its point count."""
        return self.store.builds(point.id for point in self.plan.points)

    def frame(self) -> pl.DataFrame:
        """Tidy rows: one per (point, metric, batch), with the point's parameters."""
        return self.table("rows")

    def table(self, name: Table) -> pl.DataFrame:
        """Another table for the points, each row with its point's parameters.

        ``elanite.store.TABLES`` has the names and columns, such as ``nodes``, every sending node's
        loads; ``links`` and ``switches``, their counters; ``slices``, the delays at every link over
        time.
        """
        from elanite.results import frames

        if name not in TABLES:
            raise KeyError(f"there is no table {name}{sources.did_you_mean(name, TABLES)}")
        return frames.tidy(self.points, self.store, name)

    def congestion(self, point: Point) -> Matrix:
        """A finished point's congestion matrix: delays by link and by switch, relative to the most
        loaded.
        """
        from elanite.results.congestion import matrix

        return matrix(point, self.store)

    def summary(self) -> pl.DataFrame:
        """Every metric's mean and 95% confidence interval, over batches and seeds."""
        from elanite.results import frames

        return frames.summarise(self.frame())

    def dataset(self) -> xarray.Dataset:
        """``summary`` as an xarray Dataset: its dimensions are the metric and the parameters that
        vary.

        Raises ``UsageError`` without xarray, which the extra ``xarray`` installs.
        """
        with optional("a dataset needs the package xarray: pip install xarray"):
            from xarray import Dataset
        import polars as pl

        rows = self.summary()
        names = dict.fromkeys(
            ["series", "job", *(name for point in self.points for name in point.parameters)]
        )
        varied = [name for name in names if name in rows.columns and rows[name].n_unique() > 1]
        texts = [
            pl.col(name).cast(pl.String).fill_null("")
            for name in varied
            if rows.schema[name] == pl.String
        ]
        index = [*varied, "metric"]
        return Dataset.from_dataframe(
            rows.with_columns(texts)
            .select(*index, "mean", "low", "high")
            .to_pandas()
            .set_index(index)
        )

    def figures(self) -> list[Figure]:
        """The experiment's figures, each with its title, caption and chart."""
        from elanite import figures

        return figures.drawn(self.plan, self.store)

    def chart(self) -> alt.VConcatChart:
        """All figures with their captions as one Altair chart, one below the other."""
        import altair as alt

        charts = alt.vconcat(*(figure.captioned() for figure in self.figures()))
        apart: alt.VConcatChart = charts.resolve_scale(
            color="independent", shape="independent", fill="independent"
        )
        return apart

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The tidy rows as an Arrow stream, for any data-frame library."""
        return self.frame().__arrow_c_stream__(requested_schema)


Named = str | Path
"""A shipped name, or a file's path."""

Machines = Machine | Named
"""A machine, its name, or its file's path."""


def run(
    experiment: Experiment | Named,
    machine: Machines | Sequence[Machines] | None = None,
    *,
    seed: int = FIRST_SEED,
    jobs: int | None = None,
    threads: int | None = None,
    out: str | Path = "out",
    observer: Observer | None = None,
    executor: Executor | None = None,
) -> Result:
    """Simulate an experiment's points that are not in the store below ``out`` yet.

    Every point runs on ``machine``, or on each of several; without it, on the experiment's own
    machines. ``jobs`` points run at the same time (by default one for each core), and ``threads``
    work on each (by default several where a large network would leave cores idle); no result
    depends on them. ``observer`` receives the progress; in a notebook, there is a bar. With an
    ``executor``, an engine's ``jobs`` workers simulate, for example with Dask's
    ``Client.get_executor(pure=False)``.

    Raises ``ConfigError`` if experiment and machine do not fit, ``PointsFailed`` if points failed
    (after all others have finished), and ``KeyboardInterrupt`` when interrupted; finished points
    are kept in every case.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(
            f"jobs={jobs}: at least 1 point must run at a time; leave jobs out for one on each core"
        )
    planned = _plan(experiment, machine, seed)
    result = Result(planned, Store(Path(out) / "store"))
    seen = observer or notebooks.observer()
    notebooks.draw_offline()
    outcome = campaign.run(
        [planned], result.store, jobs, seen, str(out), threads=threads, executor=executor
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failures:
        raise PointsFailed(result, outcome.failures)
    return result


def load_results(
    experiment: Experiment | Named,
    machine: Machines | Sequence[Machines] | None = None,
    *,
    seed: int = FIRST_SEED,
    out: str | Path = "out",
) -> Result:
    """An experiment's finished points below ``out``, without simulating anything."""
    notebooks.draw_offline()
    return Result(_plan(experiment, machine, seed), Store(Path(out) / "store"))


def _plan(
    experiment: Experiment | Named, machine: Machines | Sequence[Machines] | None, seed: int
) -> Plan:
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed={seed} is out of range; allowed: 0 to {2**64 - 1}")
    chosen = experiment if isinstance(experiment, Experiment) else Experiment.load(experiment)
    given = () if machine is None else (machine,) if isinstance(machine, Machines) else machine
    found = [each if isinstance(each, Machine) else Machine.load(each) for each in given]
    files = [replace(each.file, name=each.name, overrides=each.overrides) for each in found]
    return plan(chosen.file, files, chosen.overrides, seed)
