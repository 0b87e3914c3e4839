"""The command ``congestion``: the congestion matrices of points and kept runs, as text or as
data.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from elanite.cli.common import ExperimentOrRun, OutputFormat, console, data, table
from elanite.cli.request import Request
from elanite.cli.results import FinishedPoints

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from elanite.inputs.plan import Point
    from elanite.results.congestion import Matrix

MOST_SWITCHES = 32
"""Most printed switches per level; if there are more, the most loaded switches are printed."""

MOST_FAULTS = 8
"""Most failures that are printed one by one."""

MOST_RUNS = 5
"""Most kept runs that are named where a run is not found."""

MOST_PORTS = 8
"""Most links in one direction that are printed one by one."""


@dataclass(frozen=True, kw_only=True)
class Congestion(Request):
    """Print the congestion matrix of finished points.

    \b
    Examples:
      elanite congestion qsnet/congestion
      elanite congestion qsnet/uniform --point 3f2a
      elanite congestion qsnet/congestion --format csv > links.csv
      elanite congestion out/mpirun/8c960da91937d549cd1b
      elanite congestion out/replay/d76ade614760b26f362f

    A link has two numbers. The delay is the waiting time since injection of the packets that arrive
    by the link, as in the matrices of the QsNET paper; the wait is the time that packets have
    waited for this link. Links from nodes have no wait: packets wait for them in the adapters,
    which is not network congestion. The numbers of a switch are the sums of the delays over the
    links that enter it, and of the waits over the links that leave it. The most loaded link and the
    most loaded switch have 100. table shows every level of switches, the top first; csv and parquet
    give one row per point and link; json gives the links, the switches and, for a run with slices,
    both numbers over time. The command does not simulate: first use `elanite run`, or for MPI
    programs and traces `elanite mpirun` and `elanite replay`.
    """

    verb: ClassVar[str] = "congestion"

    experiment: ExperimentOrRun
    finished: FinishedPoints = field(default_factory=FinishedPoints)

    def execute(self) -> None:
        """Run the command."""
        from elanite.base.text import plain
        from elanite.cli import output
        from elanite.errors import UsageError
        from elanite.mpirun import run_tables
        from elanite.results.congestion import links
        from elanite.traces.replay import FOLDER

        format_ = self.finished.format_
        output.refuse_terminal(format_)
        if Path(self.experiment).is_dir():
            _of_run(Path(self.experiment), format_)
            return
        if Path(self.experiment).parent.name in (run_tables.FOLDER, FOLDER):
            raise UsageError(missing_run(Path(self.experiment)))
        result = self.finished.read(self.experiment)
        if format_ is OutputFormat.TABLE:
            for each in result.points:
                heading = f"{each.experiment} {each.series}, point {each.id}, seed {each.seed}"
                about = ", ".join(f"{key} {plain(value)}" for key, value in each.parameters.items())
                _print(result.congestion(each), heading, about, each.json)
        elif format_ is OutputFormat.JSON:
            data(
                json.dumps(
                    [_json(each, result.congestion(each)) for each in result.points], indent=1
                )
            )
        else:
            output.rows(links(result.points, result.store), format_)


def missing_run(folder: Path) -> str:
    """The message for a missing run folder: it lists the existing runs, the latest first."""
    from elanite.base.text import counted
    from elanite.inputs.sources import did_you_mean

    kept = [one for one in folder.parent.glob("*") if (one / "manifest.json").is_file()]
    if not kept:
        command = f"elanite {folder.parent.name}"
        return (
            f"there is no run in {folder}, nor any other in {folder.parent}; {command} says where"
            " it keeps one"
        )
    kept.sort(key=lambda one: (one / "manifest.json").stat().st_mtime, reverse=True)
    names = [str(one) for one in kept]
    more = f", and {counted(len(names) - MOST_RUNS, 'older run')}" if len(names) > MOST_RUNS else ""
    return (
        f"there is no run in {folder}{did_you_mean(str(folder), names)}\n"
        f"  the latest runs: {', '.join(names[:MOST_RUNS])}{more}"
    )


def _of_run(folder: Path, format_: OutputFormat) -> None:
    """Print the matrix of an MPI program's run, or of a replay."""
    from elanite.cli import output
    from elanite.errors import UsageError
    from elanite.mpirun.run_tables import KeptRun

    kept = KeptRun.load(folder, replays=True)
    about = kept.manifest
    if about["options"].get("network") == "ideal":
        raise UsageError(
            f"{folder}: the ideal network has no links; run it on the machine's network"
        )
    matrix = kept.congestion()
    if format_ is OutputFormat.TABLE:
        heading = (
            f"{shlex.join(about['program'])}, run {about['id']}"
            if "program" in about
            else f"replay {about['id']}"
        )
        ranks = f"{about['options']['ranks']} ranks on {about['machine']}"
        _print(matrix, heading, ranks, json.dumps(about["point"]))
    elif format_ is OutputFormat.JSON:
        chosen = {
            key: about[key]
            for key in ("id", "program", "trace", "machine", "options")
            if key in about
        }
        data(
            json.dumps(
                [
                    chosen
                    | {
                        "links": matrix.links.to_dicts(),
                        "switches": matrix.switches.to_dicts(),
                    }
                ],
                indent=1,
            )
        )
    else:
        output.rows(matrix.links, format_)


def _json(point: Point, matrix: Matrix) -> dict[str, object]:
    return {
        "id": point.id,
        "experiment": point.experiment,
        "series": point.series,
        "parameters": point.parameters,
        "seed": point.seed,
        "links": matrix.links.to_dicts(),
        "switches": matrix.switches.to_dicts(),
        "slice_us": matrix.slice_us if matrix.slice_count else None,
        "slices": matrix.slices.to_dicts(),
    }


def _print(matrix: Matrix, heading: str, about: str, point: str) -> None:
    """One matrix: the longest path's steps, then the switches level by level; ``point`` is the
    machine's configuration.
    """
    import polars as pl

    from elanite.base.rows import rows as rows_of
    from elanite.base.text import counted, number
    from elanite.mpirun.summary import named
    from elanite.results.congestion import Fault, in_words

    screen = console()
    screen.print(heading, style="bold", markup=False)
    screen.print(about, markup=False)
    for what, column in (("delays", "delay_us"), ("waits", "waiting_us")):
        if not matrix.links[column].max():
            screen.print(f"{what}: none", markup=False)
            continue
        link, switch = (
            table.top_k(1, by=column).row(0, named=True)
            for table in (named(matrix.links, point), matrix.switches)
        )
        screen.print(
            f"100 of {what}: of links {number(link[column])} µs, {link['from']} to {link['to']};"
            f" of switches {number(switch[column])} µs, {switch['name']}",
            markup=False,
        )
    for fault in rows_of(matrix.faults.head(MOST_FAULTS), Fault):
        screen.print(f"failed: {in_words(fault)}", markup=False)
    if matrix.failed:
        more = max(len(matrix.faults) - MOST_FAULTS, 0)
        others = f"and {counted(more, 'other failure')}; " if more else ""
        screen.print(f"{others}links that were down have an x behind their number", markup=False)
    screen.print(_path(matrix))
    for level in matrix.switches["level"].unique().sort(descending=True).to_list():
        screen.print()
        screen.print(_level(matrix, level))
        hidden = matrix.switches.filter(pl.col("level") == level).height - MOST_SWITCHES
        if hidden > 0:
            screen.print(
                f"and {counted(hidden, 'switch', 'switches')} with smaller delays; --format csv"
                " gives all links",
                style="dim",
                markup=False,
            )


def _path(matrix: Matrix) -> Table:
    from elanite.results.congestion import path

    heads = ("delays: least", "mean", "most", "waits: least", "mean", "most")
    found = table(("on the way", *heads), right=heads)
    for step in path(matrix.links).iter_rows(named=True):
        figures = (step[each + of] for of in ("_delay", "") for each in ("least", "mean", "most"))
        found.add_row(step["way"], *(_heat(figure) for figure in figures))
    return found


def _level(matrix: Matrix, level: int) -> Table:
    """A level's switches: delays by the links that enter them, and waits by the links that leave
    them.
    """
    import polars as pl

    switches = matrix.switches.filter(pl.col("level") == level)
    if len(switches) > MOST_SWITCHES:
        switches = switches.top_k(MOST_SWITCHES, by="delay_us").sort("delay_us", descending=True)
    columns: dict[str, list[Text]] = {}
    for what, column, end, sides in (
        ("delays", "relative_delay", "enters", {"from above": False, "from below": True}),
        ("waits", "relative", "switch", {"up": True, "down": False}),
    ):
        columns[what] = [_heat(value) for value in switches[column]]
        for side, up in sides.items():
            here = matrix.links.filter(
                pl.col("up") == up, pl.col(end).is_in(switches["switch"].implode())
            )
            if not here.is_empty():
                down = pl.col("link").is_in(list(matrix.failed)).alias("down")
                each = pl.struct(column, down).sort_by("link")
                ports = dict(here.group_by(end).agg(each).iter_rows())
                columns[side] = [
                    _ports(ports.get(switch, []), column) for switch in switches["switch"]
                ]
    found = table((f"level {level}", *columns), right=("delays", "waits"))
    for name, *cells in zip(switches["name"], *columns.values(), strict=True):
        found.add_row(name, *cells)
    return found


def _ports(links: list[dict[str, float]], column: str) -> Text:
    """A switch's links in one direction, in port order; those that were down have a mark."""
    from rich.text import Text

    values = [link[column] for link in links]
    if len(values) > MOST_PORTS:
        down = sum(link["down"] for link in links)
        about = f"({len(values)} links{f', {down} x' if down else ''})"
        return Text(" ").join([_heat(min(values)), Text("to"), _heat(max(values)), Text(about)])
    marks = (Text("x" if link["down"] else "") for link in links)
    return Text(" ").join(
        Text.assemble(_heat(value), mark) for value, mark in zip(values, marks, strict=True)
    )


def _heat(value: float | None) -> Text:
    """A number with three places; on terminals with colours, a hotter number is darker.

    `None` is an empty cell.
    """
    from rich.text import Text

    from elanite.results.congestion import HEAT

    if value is None:
        return Text("")

    shade = HEAT[min(int(value / 100 * len(HEAT)), len(HEAT) - 1)]
    return Text(f"{value:3.0f}", style=f"{'#ffffff' if value > 55 else '#1b1f24'} on {shade}")
