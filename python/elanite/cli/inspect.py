"""The commands that look at files without simulating: check, show, schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import Set, console, data, say, table

if TYPE_CHECKING:
    from elanite.sources import Source


def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Machine or experiment files, or names of shipped ones."),
    ],
) -> None:
    """Check machine and experiment files.

    \b
    Examples:
      elanite check my-machine.toml my-experiment.toml
      elanite check es40-qsnet qsnet/uniform

    Every error names the file, the line, the column and the allowed values, and gives a hint.
    """
    from elanite.errors import ConfigError, UsageError

    wrong = 0
    for file in files:
        try:
            from elanite import sources

            data(_checked(sources.read_any(file)))
        except ConfigError as error:
            say(error.args[0].rstrip())
            wrong += 1
        except UsageError as error:
            say(f"error: {error}")
            wrong += 1
    if wrong:
        say(f"{wrong} of {len(files)} files are wrong" if len(files) > 1 else "the file is wrong")
        raise typer.Exit(2)


def show(
    name: Annotated[str, typer.Argument(metavar="MACHINE|EXPERIMENT", help="A file, or the name of a shipped one.")],
    set_: Set = None,
) -> None:
    """Show the resolved values of a machine or an experiment.

    \b
    Examples:
      elanite show es40-qsnet
      elanite show es40-qsnet --set link.hop_delay="35 ns"
      elanite show qsnet/uniform
    """
    from elanite import sources

    source = sources.read_any(name)
    if source.kind == "machine":
        _show_machine(source, set_ or [])
    else:
        _show_experiment(source, set_ or [])


def schema(
    kind: Annotated[str, typer.Argument(metavar="machine|experiment", help="Which files to describe.")],
) -> None:
    """Print the JSON schema of machine or experiment files.

    \b
    Example:
      elanite schema machine > machine.schema.json
    """
    from elanite import _core
    from elanite.errors import UsageError

    if kind not in ("machine", "experiment"):
        raise UsageError(f"there is no schema of `{kind}`; there are: machine, experiment")
    data(json.dumps(json.loads(_core.schema(kind)), indent=2))


def _checked(source: Source) -> str:
    from elanite.api import Machine
    from elanite.plan import plan

    if source.kind == "machine":
        machine = Machine.of(source)
        return f"{source.argument}: ok, machine {machine.name}, {len(machine.parameters)} parameters"
    planned = plan(source)
    series = len(planned.titles)
    machines = " and ".join(machine.name for machine in planned.machines)
    return f"{source.argument}: ok, experiment on {machines}, {series} series, {len(planned.points)} points"


def _show_machine(source: Source, overrides: list[str]) -> None:
    from rich.text import Text

    from elanite.api import Machine
    from elanite.text import plain

    machine = Machine.of(source, overrides)
    screen = console()
    screen.print(f"{machine.name}: {machine.title}", style="bold", markup=False)
    found = table(("parameter", "value", "provenance", "fitted to"))
    found.columns[0].no_wrap = True
    for one in machine.parameters:
        found.add_row(one.key, Text(plain(one.value)), Text(one.source), Text(", ".join(one.fitted_to)))
    screen.print(found)


def _show_experiment(source: Source, overrides: list[str]) -> None:
    from elanite.api import Experiment
    from elanite.plan import plan
    from elanite.text import plain

    experiment = Experiment.of(source, overrides)
    planned = plan(source, overrides=overrides)
    screen = console()
    screen.print(f"{experiment.name}: {experiment.title}", style="bold", markup=False)
    screen.print(f"source   {experiment.source}\nmachine  {plain(experiment.machine)}", markup=False)
    for name, title in planned.titles:
        points = planned.series(name)
        screen.print(f"\n{name}: {title}".rstrip(": "), style="bold", markup=False)
        values: dict[str, dict[str, None]] = {}
        for point in points:
            for key, value in point.parameters.items():
                values.setdefault(key, {})[plain(value)] = None
        width = max((len(key) for key in values), default=0)
        for key, several in values.items():
            screen.print(f"  {key:{width}}  {', '.join(several)}", markup=False)
        seeds = sorted({point.seed for point in points})
        screen.print(f"  {'points':{width}}  {len(points)}, with seeds {', '.join(map(str, seeds))}", markup=False)
