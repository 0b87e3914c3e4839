"""The library: machines, experiments and their results as Python objects.

    import elanite as el

    result = el.run("qsnet/ping")
    result.summary()

    usual = el.Machine.load("es40-qsnet")
    el.compare(el.run("qsnet/uniform", [usual, usual.with_({"switch.circuit": "wormhole"})]))

Wherever a machine or an experiment is expected, a name or a path will do. Objects are shown in a few lines, and as
HTML in notebooks, where a bar shows the progress of ``run``. Results are kept in a store below ``out`` (the folder
``out`` by default), the same one that the command line uses: points that either of them simulated are not simulated
again.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elanite import _core, campaign
from elanite.base import html, whole
from elanite.errors import ElaniteError, UsageError
from elanite.inputs import patterns, sources, toml
from elanite.inputs.plan import FIRST_SEED, Plan, Point, plan
from elanite.library import notebooks
from elanite.store import TABLES, Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    import altair as alt
    import polars as pl

    from elanite.base.build import Build
    from elanite.campaign import Failure, Observer
    from elanite.figures import Figure
    from elanite.inputs.sources import Source
    from elanite.results.congestion import Matrix
    from elanite.store import Manifest, Table


@dataclass(frozen=True)
class Parameter:
    """One parameter of a machine, with its provenance."""

    key: str
    """Section and name: ``link.rate``."""
    value: Any
    """Quantities are texts with their units."""
    source: str
    """The document and section that give the value, or how it was found."""
    fitted_to: tuple[str, ...] = ()
    """The claims to which it was fitted; the scoreboard marks them."""
    admissible: Mapping[str, Any] | None = None
    """The range that its source leaves open: ``low``, ``high`` and ``source``, the words that do so."""

    @property
    def provenance(self) -> str:
        """The source, with the range that it leaves open."""
        if self.admissible is None:
            return self.source
        low, high, words = (self.admissible[key] for key in ("low", "high", "source"))
        return f"{self.source}; {low} to {high} are admissible: {words}"


@dataclass(frozen=True)
class Machine:
    """A machine description. ``Machine.load`` reads one; ``parameters`` are its resolved values."""

    name: str
    title: str
    parameters: tuple[Parameter, ...] = field(repr=False)
    file: Source = field(repr=False)
    overrides: tuple[str, ...] = ()

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Machine:
        """Load a shipped machine by name, or a machine file by path, with ``key=value`` overrides.

        Raises ``UsageError`` if there is no such file, and ``ConfigError`` if the file is wrong.
        """
        return cls.of(sources.read("machine", name), overrides)

    @classmethod
    def of(cls, file: Source, overrides: Sequence[str] = ()) -> Machine:
        """Make a machine of a text that was read already."""
        data = json.loads(_core.load_machine(file.text, file.file, list(overrides)))
        parameters = tuple(
            Parameter(p["key"], p["value"], p["source"], tuple(p.get("fitted_to") or ()), p.get("admissible"))
            for p in data["parameters"]
            if not p["key"].startswith("machine.")  # its name and title
        )
        return cls(data["name"], data["title"], parameters, file, tuple(overrides))

    def with_(self, changes: Mapping[str, Any], name: str | None = None) -> Machine:
        """The same machine with other values: ``machine.with_({"link.rate": "800 MB/s", "topology.nodes": 128})``.

        Quantities are texts with their units. The name, which tells machines apart where several stand side by side,
        says what has changed unless another one is given. Raises ``ConfigError`` for a wrong key or value.
        """
        texts = [f"{key}={new if isinstance(new, str) else toml.value(new, key)}" for key, new in changes.items()]
        changed = Machine.of(self.file, [*self.overrides, *texts])
        return replace(changed, name=name or ", ".join([self.name, *texts]))

    def with_graph(
        self,
        graph: Any,
        name: str,
        *,
        routes: Mapping[Any, Mapping[Any, Any]] | None = None,
        hop_classes: int | None = None,
        terminals: int | None = None,
        roots: Sequence[Any] = (),
        source: str = "a graph made in Python",
    ) -> Machine:
        """The same machine with another network: any graph, by another name.

        ``graph`` is a graph of networkx, or a list of edges between switches; parallel edges are several cables.
        Vertices have the data ``kind``, "node" or "switch", or none has it and each switch has ``terminals`` nodes.

        ``routes`` are forwarding tables, ``routes[switch][destination]``: the next switch, or a list of switches of
        which any may be taken. A destination is a node, or a switch for its nodes without an entry of their own.
        Without tables, packets take up*/down* routing with the ``roots`` at the top. With ``hop_classes`` packets take
        another class of channels on each link between switches, which ends circles of packets that wait for each other.

        Commands that reproduce points name the file ``<name>.toml``, which ``save`` writes. Raises ``UsageError`` for a
        wrong graph or incomplete tables, and ``ConfigError`` if they may deadlock or do not fit the machine.
        """
        from elanite.inputs import graphs, machines

        content = tomllib.loads(self.file.text)
        topology = graphs.section(graph, routes, terminals, roots, hop_classes, source)
        content |= {"machine": content["machine"] | {"name": name}, "topology": topology}
        file = f"{name}.toml"
        kept = [each for each in self.overrides if not each.startswith("topology.")]
        return Machine.of(sources.Source("machine", name, file, file, machines.toml(content)), kept)

    def save(self, path: str | Path) -> Machine:
        """Write the file of the machine, without the overrides, and return the machine of this file."""
        _write(path, self.file.text)
        return Machine.load(path, self.overrides)

    def _repr_html_(self) -> str:
        rows = [(each.key, toml.value(each.value, each.key), each.source) for each in self.parameters]
        parameters = html.table(("parameter", "value", "source"), rows)
        return html.block(
            f"Machine {self.name}", html.line(self.title), html.folded(html.count(len(rows), "parameter"), parameters)
        )

    def __getitem__(self, key: str) -> Any:
        """The value of a parameter: ``machine["link.rate"]``."""
        for parameter in self.parameters:
            if parameter.key == key:
                return parameter.value
        keys = [parameter.key for parameter in self.parameters]
        raise KeyError(f"{self.name} has no parameter {key}{sources.did_you_mean(key, keys)}")


@dataclass(frozen=True)
class Experiment:
    """An experiment description. ``Experiment.load`` reads one; ``about`` is its content."""

    name: str
    title: str
    source: str
    """Document, sections and figures that the experiment follows."""
    machine: str | list[str]
    """The machine on which it runs unless another one is given, or the machines that it compares."""
    about: dict[str, Any] = field(repr=False)
    file: Source = field(repr=False)
    overrides: tuple[str, ...] = ()

    @classmethod
    def load(cls, name: str | Path, overrides: Sequence[str] = ()) -> Experiment:
        """Load a shipped experiment by name, or an experiment file by path, with ``key=value`` overrides.

        Raises ``UsageError`` if there is no such file, and ``ConfigError`` if the file is wrong.
        """
        return cls.of(sources.read("experiment", name), overrides)

    @classmethod
    def of(cls, file: Source, overrides: Sequence[str] = ()) -> Experiment:
        """Make an experiment of a text that was read already."""
        about = json.loads(_core.load_experiment(file.text, file.file, list(overrides)))
        return cls(file.name, about["title"], about["source"], about["machine"], about, file, tuple(overrides))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "experiment") -> Experiment:
        """Make an experiment of a dictionary with the keys of an experiment file.

        The pattern of a job may also be a function that yields the destinations of a node, or a ``Pattern`` with such a
        function; the experiment keeps the pairs of nodes, not the function (``elanite.inputs.patterns``).

        Commands that reproduce points of it name the file ``<name>.toml``, which ``save`` writes. Raises
        ``ConfigError`` with a line of this file if the content is wrong, and ``UsageError`` if a value is none of
        TOML.
        """
        file = f"{name}.toml"
        return cls.of(sources.Source("experiment", name, file, file, toml.text(patterns.evaluated(content))))

    def with_(self, changes: Mapping[str, Any]) -> Experiment:
        """The same experiment with other values: ``experiment.with_({"run.seeds": 1})``."""
        texts = [f"{key}={new if isinstance(new, str) else toml.value(new, key)}" for key, new in changes.items()]
        return Experiment.of(self.file, [*self.overrides, *texts])

    def save(self, path: str | Path) -> Experiment:
        """Write the file of the experiment, without the overrides, and return the experiment of this file."""
        _write(path, self.file.text)
        return Experiment.load(path, self.overrides)

    def _repr_html_(self) -> str:
        series = [(each["name"], each.get("title", "")) for each in self.about["series"]]
        machines = self.machine if isinstance(self.machine, str) else ", ".join(self.machine)
        return html.block(
            f"Experiment {self.name}",
            html.line(self.title),
            html.line(f"{self.source}; on {machines}"),
            html.folded(f"{len(series)} series", html.table(("series", "title"), series)),
        )


def _write(path: str | Path, text: str) -> None:
    """Write the text of a machine or an experiment."""
    whole.write(Path(path), text, UsageError)


class PointsFailed(ElaniteError):
    """Some points did not finish. ``result`` holds the finished points, ``failures`` the others."""

    def __init__(self, result: Result, failures: Sequence[Failure]) -> None:
        self.result = result
        self.failures = list(failures)
        first = failures[0]
        super().__init__(
            f"{len(failures)} of {len(result.plan.points)} points failed; the first: {first.message}\n"
            f"reproduce it: {first.command}"
        )


@dataclass(frozen=True, repr=False)
class Result:
    """The finished points of one experiment."""

    plan: Plan
    store: Store

    def __repr__(self) -> str:
        return f"Result({self._title})"

    def _repr_html_(self) -> str:
        rows = [
            (series, title, html.count(sum(point.series == series for point in self.points), "point"))
            for series, title in self.plan.titles
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
        """The finished points, in the order of the plan."""
        return [point for point in self.plan.points if self.store.get(point.id) is not None]

    def manifest(self, point: Point) -> Manifest:
        """The manifest of a finished point: digest, packets, events, processor seconds, peak memory, versions."""
        manifest = self.store.get(point.id)
        if manifest is None:
            raise KeyError(point.id)
        return manifest

    @property
    def builds(self) -> list[tuple[Build, int]]:
        """The builds of the simulator that have computed the points, each with the number of its points."""
        return self.store.builds(point.id for point in self.plan.points)

    def frame(self) -> pl.DataFrame:
        """Tidy rows: one per (point, metric, batch), with the parameters of the point."""
        return self.table("rows")

    def table(self, name: Table) -> pl.DataFrame:
        """Another table of the points, each row with the parameters of its point.

        ``elanite.store.TABLES`` has the names and columns, such as ``nodes``, the loads of every node that sends;
        ``links`` and ``switches``, their counters; ``slices``, the delays at every link over time.
        """
        from elanite.results import frames

        if name not in TABLES:
            raise KeyError(f"there is no table {name}{sources.did_you_mean(name, TABLES)}")
        return frames.tidy(self.points, self.store, name)

    def congestion(self, point: Point) -> Matrix:
        """The congestion matrix of a finished point: delays by link and by switch, relative to the most loaded."""
        from elanite.results.congestion import matrix

        return matrix(point, self.store)

    def summary(self) -> pl.DataFrame:
        """Mean and 95% confidence interval of every metric, over batches and seeds."""
        from elanite.results import frames

        return frames.summarise(self.frame())

    def figures(self) -> list[Figure]:
        """The figures of the experiment, each with its title, caption and chart."""
        from elanite import figures

        return figures.drawn(self.plan, self.store)

    def chart(self) -> alt.VConcatChart:
        """All figures with their captions as one Altair chart, one below the other."""
        import altair as alt

        charts = alt.vconcat(*(figure.captioned() for figure in self.figures()))
        apart: alt.VConcatChart = charts.resolve_scale(color="independent", shape="independent", fill="independent")
        return apart

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The tidy rows as an Arrow stream, for any data-frame library."""
        return self.frame().__arrow_c_stream__(requested_schema)


Named = str | Path
"""A name of something shipped, or the path of a file."""

Machines = Machine | Named
"""A machine, its name, or the path of its file."""


def run(
    experiment: Experiment | Named,
    machine: Machines | Sequence[Machines] | None = None,
    *,
    seed: int = FIRST_SEED,
    jobs: int | None = None,
    out: str | Path = "out",
    observer: Observer | None = None,
    executor: Executor | None = None,
) -> Result:
    """Simulate the points of an experiment that are not in the store below ``out`` yet.

    Every point runs on ``machine``, or on each of several; without it, on what the experiment names. ``jobs`` points
    run at the same time (by default one for each core). ``observer`` is told of the progress; in a notebook, there is
    a bar. With an ``executor``, the ``jobs`` workers of an engine simulate, for example those of
    ``Client.get_executor(pure=False)`` of Dask.

    Raises ``ConfigError`` if experiment and machine do not fit, ``PointsFailed`` if points failed (after all others
    have finished), and ``KeyboardInterrupt`` when interrupted; finished points are kept in every case.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs={jobs}: at least 1 point must run at a time; leave jobs out for one on each core")
    planned = _plan(experiment, machine, seed)
    result = Result(planned, Store(Path(out) / "store"))
    outcome = campaign.run([planned], result.store, jobs, observer or notebooks.observer(), str(out), executor=executor)
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
    """The finished points of an experiment below ``out``, without simulating anything."""
    return Result(_plan(experiment, machine, seed), Store(Path(out) / "store"))


def _plan(experiment: Experiment | Named, machine: Machines | Sequence[Machines] | None, seed: int) -> Plan:
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed={seed} is out of range; allowed: 0 to {2**64 - 1}")
    chosen = experiment if isinstance(experiment, Experiment) else Experiment.load(experiment)
    given = () if machine is None else (machine,) if isinstance(machine, Machines) else machine
    found = [each if isinstance(each, Machine) else Machine.load(each) for each in given]
    files = [replace(each.file, name=each.name, overrides=each.overrides) for each in found]
    return plan(chosen.file, files, chosen.overrides, seed)
