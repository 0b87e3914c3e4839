"""The commands that look at files without simulating: check, show, schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli import completion
from elanite.cli.common import Set, TableFormat, complain, console, data, table, warn
from elanite.cli.request import DECLARED, Request, schema

if TYPE_CHECKING:
    from elanite.inputs.machine import Machine
    from elanite.inputs.sources import Source
    from elanite.study.limits import Limit


@dataclass(frozen=True, kw_only=True)
class Check(Request):
    """Check machine and experiment files.

    \b
    Examples:
      elanite check my-machine.toml my-experiment.toml
      elanite check es40-qsnet qsnet/uniform
      elanite check my-machine.toml --format json | jq '.[].warnings[].message'

    Every error names the file, the line, the column and the allowed values, and gives a hint.
    Warnings change no exit code: credits of a link that do not cover its round trip, with the rate
    that remains; detours of the routing of a graph; values of an experiment that make the same
    points; assumed parameters, with the claims that they move. In json, each argument is an object
    with its name, the error or null, and the warnings: kind, subject, key, value and message.
    """

    verb: ClassVar[str] = "check"

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Machine or experiment files, names of shipped ones, or - for standard input.",
        ),
    ]
    format_: Annotated[TableFormat, typer.Option("--format", "-f", help="How to print.")] = (
        TableFormat.TABLE
    )

    def execute(self) -> None:
        """Run the command."""
        from elanite.errors import ConfigError, UsageError
        from elanite.inputs import sources
        from elanite.study import limits

        results = []
        for file in self.files:
            found: list[Limit] = []
            problem = None
            try:
                said, found = _checked(sources.read_any(file))
                if self.format_ is TableFormat.TABLE:
                    data(said)
                    warn(found)
            except (ConfigError, UsageError) as error:
                problem = str(error.args[0]).rstrip()
                complain(problem if isinstance(error, ConfigError) else f"error: {problem}")
            results.append({"file": file, "error": problem, "warnings": limits.as_data(found)})
        if self.format_ is TableFormat.JSON:
            data(json.dumps(results, indent=1, ensure_ascii=False))
        wrong = sum(result["error"] is not None for result in results)
        if wrong:
            if len(self.files) > 1:
                from elanite.base.text import are

                complain(f"{wrong} of {len(self.files)} arguments {are(wrong)} wrong")
            raise typer.Exit(2)


@dataclass(frozen=True, kw_only=True)
class Show(Request):
    """Show the resolved values of a machine or an experiment.

    \b
    Examples:
      elanite show es40-qsnet
      elanite show es40-qsnet --set link.hop_delay="35 ns"
      elanite show qsnet/uniform
      elanite show es40-qsnet --format json
      sed 's/55 ns/35 ns/' my-machine.toml | elanite show -
    """

    verb: ClassVar[str] = "show"

    name: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE|EXPERIMENT",
            help="A file, the name of a shipped one, or - for standard input.",
            autocompletion=completion.files,
        ),
    ]
    set_: Set = None
    format_: Annotated[TableFormat, typer.Option("--format", "-f", help="How to print.")] = (
        TableFormat.TABLE
    )

    def execute(self) -> None:
        """Run the command."""
        from elanite.inputs import sources

        source = sources.read_any(self.name)
        if self.format_ is TableFormat.JSON:
            data(json.dumps(_shown(source, self.set_ or []), indent=1, ensure_ascii=False))
        elif source.kind == "machine":
            _show_machine(source, self.set_ or [])
        else:
            _show_experiment(source, self.set_ or [])


def _described(incomplete: str) -> list[str]:
    """File kinds and commands that have a schema."""
    current = [verb for verb, request in DECLARED.items() if not request.former]
    return [
        one for one in ("machine", "experiment", "claim", *current) if one.startswith(incomplete)
    ]


@dataclass(frozen=True, kw_only=True)
class Schema(Request):
    """Print the JSON schema of files or of a command.

    \b
    Examples:
      elanite schema machine > machine.schema.json
      elanite schema claim > claims.schema.json
      elanite schema run > run.schema.json

    The schema of a command has its arguments and options, by their long names, with types, bounds
    and defaults.
    """

    verb: ClassVar[str] = "schema"

    kind: Annotated[
        str,
        typer.Argument(
            metavar="machine|experiment|claim|COMMAND",
            help="The file kind or the command to describe.",
            autocompletion=_described,
        ),
    ]

    def execute(self) -> None:
        """Print the schema."""
        from elanite import _core
        from elanite.base import bounded
        from elanite.errors import UsageError
        from elanite.inputs.sources import did_you_mean

        if self.kind in ("machine", "experiment"):
            data(json.dumps(json.loads(_core.schema(self.kind)), indent=2))
            return
        if self.kind == "claim":
            data(bounded.packaged("data", "claims.schema.json").rstrip())
            return
        if self.kind not in DECLARED:
            raise UsageError(
                f"there is no schema of `{self.kind}`{did_you_mean(self.kind, _described(''))}\n"
                f"  there are: {', '.join(_described(''))}"
            )
        data(json.dumps(schema(DECLARED[self.kind]), indent=2))


def _checked(source: Source) -> tuple[str, list[Limit]]:
    """A line about a file, and its limits."""
    from elanite.base.text import counted
    from elanite.inputs.machine import Machine
    from elanite.inputs.plan import plan
    from elanite.study import limits

    if source.kind == "machine":
        machine = Machine.of(source)
        _fitted(source, machine)
        said = (
            f"{source.argument}: ok, machine {machine.name},"
            f" {counted(len(machine.parameters), 'parameter')}"
        )
        if machine.layers is not None:
            said += (
                f"; shortest ways in {counted(machine.layers, 'layer')} of"
                f" {machine['link.channels']} channels"
            )
        return said, limits.of_machine(machine)
    planned = plan(source)
    series = len(planned.titles)
    machines = " and ".join(machine.name for machine in planned.machines)
    points = counted(len(planned.points), "point")
    said = f"{source.argument}: ok, experiment on {machines}, {series} series, {points}"
    return said, limits.of_work([planned])


def _fitted(source: Source, machine: Machine) -> None:
    """Whether the claims exist that parameters were fitted to."""
    from elanite.errors import UsageError
    from elanite.inputs.sources import did_you_mean
    from elanite.validation.claims import claims

    names = [claim.id for claim in claims()]
    for parameter in machine.parameters:
        for claim in parameter.fitted_to:
            if claim not in names:
                lines = source.text.splitlines()
                line = next(
                    (number for number, text in enumerate(lines, 1) if f'"{claim}"' in text), 0
                )
                raise UsageError(
                    f"{source.argument}:{line}: {parameter.key}: fitted_to names no claim:"
                    f" `{claim}`{did_you_mean(claim, names)}\n  `elanite list claims` lists the"
                    " claims"
                )


def _shown(source: Source, overrides: list[str]) -> dict[str, object]:
    """A machine with its parameters, or an experiment with its points, as data."""
    from elanite import _core
    from elanite.inputs.plan import plan

    if source.kind == "machine":
        found: dict[str, object] = json.loads(
            _core.load_machine(source.text, source.file, overrides)
        )
        return found
    planned = plan(source, overrides=overrides)
    return {
        "name": planned.experiment.name,
        "title": planned.title,
        "source": planned.document,
        "machines": [machine.name for machine in planned.machines],
        "points": [
            {
                "id": one.id,
                "series": one.series,
                "machine": one.machine,
                "seed": one.seed,
                "parameters": one.parameters,
            }
            for one in planned.points
        ],
    }


def _show_machine(source: Source, overrides: list[str]) -> None:
    from rich.text import Text

    from elanite.base.text import plain
    from elanite.cli.tables import NARROW, listed
    from elanite.inputs.machine import Machine

    machine = Machine.of(source, overrides)
    screen = console()
    screen.print(f"{machine.name}: {machine.title}", style="bold", markup=False)
    if screen.width < NARROW:
        entries = [
            (
                f"{one.key} = {plain(one.value)}",
                [one.provenance, f"fitted to {', '.join(one.fitted_to)}" * bool(one.fitted_to)],
            )
            for one in machine.parameters
        ]
        listed(screen, entries)
        return
    found = table(("parameter", "value", "provenance", "fitted to"))
    found.columns[0].no_wrap = True
    for one in machine.parameters:
        found.add_row(
            one.key, Text(plain(one.value)), Text(one.provenance), Text(", ".join(one.fitted_to))
        )
    screen.print(found)


def _show_experiment(source: Source, overrides: list[str]) -> None:
    from elanite.base.text import plain
    from elanite.inputs.experiment import Experiment
    from elanite.inputs.plan import plan

    experiment = Experiment.of(source, overrides)
    planned = plan(source, overrides=overrides)
    screen = console()
    screen.print(f"{experiment.name}: {experiment.title}", style="bold", markup=False)
    screen.print(
        f"source   {experiment.source}\nmachine  {plain(experiment.machine)}", markup=False
    )
    for name, _ in planned.titles:
        points = planned.series(name)
        screen.print(f"\n{name}: {planned.title_of(name)}".rstrip(": "), style="bold", markup=False)
        values: dict[str, dict[str, None]] = {}
        for point in points:
            for key, value in point.parameters.items():
                values.setdefault(key, {})[plain(value)] = None
        width = max((len(key) for key in values), default=0)
        for key, several in values.items():
            # Values with commas, such as a machine's changes, have a line each.
            between = f"\n  {'':{width}}  " if any(", " in value for value in several) else ", "
            screen.print(f"  {key:{width}}  {between.join(several)}", markup=False)
        seeds = sorted({point.seed for point in points})
        screen.print(
            f"  {'points':{width}}  {len(points)}, with seeds {', '.join(map(str, seeds))}",
            markup=False,
        )
