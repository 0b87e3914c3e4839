"""The command ``energy``: the network energy of points, kept runs and kept replays."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import ExperimentOrRun, OutputFormat, console, data, table
from elanite.cli.request import Request
from elanite.cli.results import FinishedPoints

if TYPE_CHECKING:
    import polars as pl

    from elanite.results.energy import EnergyParameters as Parameters


@dataclass(frozen=True, kw_only=True)
class Energy(Request):
    """Print the energy of links, switches and adapters.

    \b
    Examples:
      elanite energy qsnet/uniform --power power.toml
      elanite energy out/replay/8c960da91937d549cd1b \\
        --power power.toml --format json

    The energy is the energy per bit times the carried bits, plus the idle power times the time. The
    file has a section [energy] with link_bit, switch_bit, adapter_bit (such as "5 pJ"), link_idle,
    switch_idle and adapter_idle (such as "0.5 W"); each is { value = "...", source = "..." }. Bits
    and time of a point are those of its measured window. The command does not simulate.
    """

    verb: ClassVar[str] = "energy"

    experiment: ExperimentOrRun
    power: Annotated[
        Path, typer.Option("--power", metavar="FILE", help="The file with the section [energy].")
    ]
    finished: FinishedPoints = field(default_factory=FinishedPoints)

    def execute(self) -> None:
        """Run the command."""
        import polars as pl

        from elanite.cli import output
        from elanite.results.energy import load, of_point
        from elanite.results.frames import identity

        format_ = self.finished.format_
        output.refuse_terminal(format_)
        parameters = load(self.power)
        found: list[tuple[str, dict[str, object], pl.DataFrame]] = []
        if Path(self.experiment).is_dir():
            found.append(_of_folder(Path(self.experiment), parameters))
        else:
            result = self.finished.read(self.experiment)
            for one in result.points:
                heading = f"{one.experiment} {one.series}, point {one.id}, seed {one.seed}"
                found.append((heading, identity(one), of_point(one, result.store, parameters)))
        if format_ is OutputFormat.TABLE:
            for heading, _, rows in found:
                _print(heading, rows)
        elif format_ is OutputFormat.JSON:
            data(
                json.dumps(
                    [about | {"energy": rows.to_dicts()} for _, about, rows in found], indent=1
                )
            )
        else:
            wide = [
                rows.select(*(pl.lit(value).alias(key) for key, value in about.items()), pl.all())
                for _, about, rows in found
            ]
            output.rows(pl.concat(wide, how="diagonal_relaxed"), format_)


def _of_folder(folder: Path, parameters: Parameters) -> tuple[str, dict[str, object], pl.DataFrame]:
    """The energy for a kept run or replay."""
    import polars as pl

    from elanite.errors import UsageError
    from elanite.mpirun.run_tables import RunManifest
    from elanite.results.energy import of_tables
    from elanite.store import read

    about = read(folder, 2, 1, RunManifest)
    if about is None or not about.keys() >= {"point", "time_us"}:
        raise UsageError(
            f"{folder} is not a folder of a run or replay, or is damaged; elanite replay prints its"
            " folder"
        )
    if about["options"].get("network") == "ideal":
        raise UsageError(
            f"{folder}: the ideal network has no links; replay the trace on the machine's network"
        )
    counted = pl.read_parquet(folder / "links.parquet")
    rows = of_tables(json.dumps(about["point"]), counted, about["time_us"], parameters)
    heading = f"{about['id']}: {about['options']['ranks']} ranks on {about['machine']}"
    return heading, {"id": about["id"], "machine": about["machine"]}, rows


def _print(heading: str, rows: pl.DataFrame) -> None:
    """The table for one point or run."""
    from elanite.base.text import number

    screen = console()
    screen.print(heading, style="bold", markup=False)
    heads = ("parts", "bits", "traffic, mJ", "idle, mJ", "all, mJ", "mean, W")
    found = table(("", *heads), right=heads)
    for row in rows.iter_rows(named=True):
        counts = ("" if row[key] is None else f"{row[key]:,}" for key in ("count", "bits"))
        amounts = (*(1000 * row[key] for key in ("traffic_J", "idle_J", "total_J")), row["mean_W"])
        found.add_row(
            row["part"], *counts, *("" if one is None else number(one) for one in amounts)
        )
    screen.print(found)
