"""The plan: an experiment on a machine, or on each of several, as a point list.

A point is everything that decides one result: the resolved machine, the workload, the measured
window and the seed. A point's identity is a hash over this content and the model revision. So a
point is simulated once, whichever experiment contains it, and alone or beside another machine.
Points on several machines have one more parameter, ``on``: the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded
from elanite.base.seeds import FIRST_SEED, MOST_SEED
from elanite.base.text import grouped, value_list
from elanite.errors import ConfigError, UsageError
from elanite.inputs import contents, figure_checks, sources
from elanite.inputs.overrides import check as check_keys

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from elanite.inputs.contents import Description, FigureSection, RailFailure, RunSettings
    from elanite.inputs.sources import Source

ON = "on"
"""The parameter that names a point's machine among several."""


@dataclass(frozen=True)
class Point:
    """One simulation: a self-contained input, and the parameters that distinguish it from the other
    points.
    """

    id: str
    """The first 20 hexadecimal digits of the SHA-256 over its content and the model revision."""
    experiment: str
    series: str
    parameters: dict[str, object]
    """Workload parameters in experiment file order; quantities as text with their units."""
    seed: int
    json: str = field(repr=False)
    """The point as the simulator reads it."""
    machine: str
    """Its machine's name."""
    kind: str
    """The benchmark kind: its section's key in the experiment file."""

    @property
    def place(self) -> Hashable:
        """Its configuration: the series and the parameters, whatever the seed is."""
        return self.series, self.machine, json.dumps(self.parameters, sort_keys=True)

    @property
    def run(self) -> RunSettings:
        """The run and measurement settings: the ``[run]`` keys with their values for this point."""
        run: RunSettings = json.loads(self.json)["run"]
        return run

    @property
    def failure(self) -> RailFailure | None:
        """The rail that fails permanently beside its jobs, if any (``failure`` in the series)."""
        return contents.failure(json.loads(self.json))


@dataclass(frozen=True)
class Plan:
    """All points in one experiment, and the command-line words that lead to them."""

    experiment: Source
    machines: tuple[Source, ...]
    """The machine, or the machines to compare; every point runs on each machine."""
    overrides: tuple[str, ...]
    seed: int
    points: tuple[Point, ...]
    title: str
    document: str
    """Document and sections that the experiment follows."""
    machine_given: bool = False
    """Whether the machines were chosen by the user, not by the experiment."""
    titles: tuple[tuple[str, str], ...] = ()
    """Each series' name and title as in the file; see ``title_of``."""
    figures: tuple[FigureSection, ...] = ()
    """The figures that the experiment file requests, each with all its keys."""
    general: bool = False
    """Whether there are general figures, too, in which varied keys may be axes, as in sweeps."""
    same: tuple[tuple[str, dict[str, object], dict[str, object]], ...] = ()
    """Points that are left out because an earlier one has the same content: series, its parameters,
    their own.
    """

    def command(self, point: Point | None = None, out: str | None = None) -> str:
        """The exact command that runs this plan again, or one point of it.

        Where several machines have different changes, only a point has a command.
        """
        words = ["elanite", "run", self.experiment.argument]
        machines, overrides = self.machines, self.overrides
        if point is not None and any(machine.overrides for machine in machines):
            machines = tuple(machine for machine in machines if machine.name == point.machine)
        if self.machine_given:
            for machine in machines:
                words += ["--machine", machine.argument]
                overrides += machine.overrides
        for override in overrides:
            words += ["--set", override]
        if self.seed != FIRST_SEED:
            words += ["--seed", str(self.seed)]
        if point is not None:
            words += ["--point", point.id]
        if out is not None:
            words += ["--out", out]
        return shlex.join(words)

    def title_of(self, name: str) -> str:
        """A series' title, with the points' values for each named parameter: ``64 nodes`` for
        ``{nodes} nodes``.
        """
        points = self.series(name)

        def values(found: re.Match[str]) -> str:
            here = (point.parameters.get(found[1]) for point in points)
            return (
                value_list([*dict.fromkeys(grouped(one) for one in here if one is not None)])
                or found[0]
            )

        return re.sub(r"\{([^{}]+)\}", values, dict(self.titles).get(name, ""))

    def series(self, name: str) -> list[Point]:
        """One series' points."""
        return [point for point in self.points if point.series == name]

    def only(self, prefixes: Sequence[str]) -> Plan:
        """The same plan with only those points with an identity that starts with one of the
        prefixes.
        """
        points = tuple(
            p for p in self.points if any(p.id.startswith(prefix) for prefix in prefixes)
        )
        return Plan(**{**self.__dict__, "points": points})


def machine_of(experiment: Source, name: str) -> Source:
    """A machine that an experiment names: a file by its path from the experiment's folder, or a
    shipped machine.

    A file with this path in the current folder is another machine, so that a folder with an
    experiment and its machines means the same wherever the command runs.
    """
    beside = Path(experiment.file).parent / name
    if beside == bounded.STDIN:
        raise UsageError(
            f"{experiment.file}: machine: `{name}` is standard input on a command line only; name a"
            " file"
        )
    try:
        if beside.is_file():
            return sources.read("machine", beside)
        if (known := sources.read_shipped("machine", name.removesuffix(".toml"))) is not None:
            return known
        if Path(name).is_file():
            there = os.path.relpath(name, Path(experiment.file).parent)
            raise UsageError(
                f"there is no file `{beside}`; paths are relative to the experiment: write"
                f" `{there}`"
            )
        is_path = Path(name).name != name or beside.with_name(f"{beside.name}.toml").is_file()
        return sources.read("machine", beside if is_path else name)
    except UsageError as error:
        raise UsageError(f"{experiment.file}: machine: {error}") from None


def plan(
    experiment: Source,
    machines: Sequence[Source] = (),
    overrides: Iterable[str] = (),
    seed: int = FIRST_SEED,
) -> Plan:
    """Plan an experiment, on the machines that it names unless others are given.

    ``overrides`` are ``key=value`` texts for the machine or the experiment, for all machines alike;
    a machine may have further ones. Raises ``ConfigError`` if a file or an override is wrong,
    ``UsageError`` if two machines have the same name.
    """
    if not 0 <= seed <= MOST_SEED:
        raise UsageError(f"the seed {seed} is not a number from 0 to {MOST_SEED}")
    chosen = tuple(overrides)
    about: Description = json.loads(_core.load_experiment(experiment.text, experiment.file, []))
    bases = tuple(machines) or tuple(
        machine_of(experiment, name) for name in _several(about["machine"])
    )
    figure_checks.check(experiment, about)
    names = [base.name for base in bases]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"there are two machines `{name}`; machines that are compared need names of"
                " their own"
            )
    points: dict[tuple[str, str, str], Point] = {}
    same = []
    for base in bases:
        on = {ON: base.name} if len(bases) > 1 else {}
        text, file = experiment.text, experiment.file
        changes = [*chosen, *base.overrides]
        check_keys(
            (change.partition("=")[0].strip() for change in changes if "=" in change),
            experiment,
            base,
        )
        try:
            planned = _core.plan(base.text, base.file, experiment.name, text, file, changes, seed)
        except ConfigError as error:
            if len(bases) == 1:
                raise
            words, problems = error.args
            raise ConfigError(f"on {base.name}:\n{words}", problems) from None
        for text, key, parameters in planned:
            decoded = json.loads(text)
            identity = hashlib.sha256(f"{key}{_core.MODEL_REVISION}".encode()).hexdigest()[:20]
            series, here = decoded["series"], on | json.loads(parameters)
            ((kind, content),) = decoded["workload"].items()
            _check_order(experiment, f"series.{series}", content)
            point = Point(
                identity, experiment.name, series, here, decoded["seed"], text, base.name, kind
            )
            before = points.setdefault((identity, series, base.name), point)
            if before is not point:
                same.append((series, before.parameters, here))
    return Plan(
        experiment=experiment,
        machines=bases,
        overrides=chosen,
        seed=seed,
        points=tuple(points.values()),
        title=about.get("title", experiment.name),
        document=about.get("source", ""),
        machine_given=bool(machines),
        titles=tuple(
            (series["name"], series.get("title", "")) for series in about.get("series", [])
        ),
        figures=tuple(about.get("figure", ())),
        same=tuple(same),
    )


def _check_order(experiment: Source, path: str, content: dict[str, object]) -> None:
    """Refuse a trace's or a list of flows' nodes that are not in ascending order: the simulator
    reads them as a set. Raises ``UsageError``.
    """
    for key in ("traces", "flows"):
        sections = content.get(key, {})
        for name, section in sections.items() if isinstance(sections, dict) else ():
            nodes = str(section.get("nodes", "")).partition("except")[0]
            numbers = [int(each) for each in re.findall(r"(\d+)(?:-\d+)?(?::\d+)?", nodes)]
            if numbers != sorted(numbers):
                what = "rank" if key == "traces" else "node"
                raise UsageError(
                    f"{experiment.file}: {path}.{key}.{name}.nodes: `{nodes.strip()}` is a set, and"
                    f" {what} 0 would be on node {min(numbers)}\n  list the nodes in the order of"
                    f" their numbers, and number the {what}s of the file in the same order"
                )


def _several(names: str | list[str]) -> list[str]:
    return names if isinstance(names, list) else [names]
