"""How results are printed."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elanite.base.streams import printable
from elanite.base.text import means_same, plain
from elanite.cli.common import OutputFormat, console, data, say, table
from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from elanite.inputs.plan import Plan, Point
    from elanite.library.api import Result
    from elanite.report.reproduction import ReproductionPart
    from elanite.results.machine_comparison import MachineLine
    from elanite.store import Store


def refuse_terminal(format_: OutputFormat) -> None:
    """Binary data has no place on a terminal."""
    if format_ is OutputFormat.PARQUET and sys.stdout.isatty():
        raise UsageError("parquet is binary; send it to a file: --format parquet > results.parquet")


@dataclass(frozen=True)
class ResultFilter:
    """Which results are printed: by metric, by series, and by parameters; an empty tuple chooses
    all.

    Several values for one parameter choose the points with any value; several parameters, the
    points that match all.
    """

    metrics: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, metrics: Iterable[str], series: Iterable[str], where: Iterable[str]
    ) -> ResultFilter:
        """The choice by command-line options.

        Raises ``UsageError`` for a ``where`` without its sign, and for a metric that no result has.
        """
        if wanted := tuple(metrics):
            from elanite.results.frames import REASON, STATE
            from elanite.results.metrics import MEANINGS

            known = [name for name in MEANINGS if name not in (STATE, REASON)]
            for one in wanted:
                if one not in known:
                    raise _unknown("--metric", "metric", one, known)
        pairs = []
        for one in where:
            name, sign, value = one.partition("=")
            if not sign or not name:
                raise UsageError(
                    f'--where: `{one}` is not KEY=VALUE; write for example --where message="4 KB"'
                )
            pairs.append((name.strip(), value.strip()))
        return cls(wanted, tuple(series), tuple(pairs))

    def plan(self, plan: Plan) -> Plan:
        """The plan with only the chosen points: other points need not run."""
        names = [name for name, _ in plan.titles]
        for one in self.series:
            if one not in names:
                raise _unknown("--series", "series", one, names)
        points = [point for point in plan.points if not self.series or point.series in self.series]
        wanted: dict[str, list[str]] = {}
        for name, value in self.where:
            wanted.setdefault(name, []).append(value)
        for name, values in wanted.items():
            there = list(dict.fromkeys(key for point in points for key in point.parameters))
            if name not in there:
                raise _unknown("--where", "parameter", name, there)
            kept: set[str] = set()
            for value in values:
                here = {
                    point.id for point in points if means_same(point.parameters.get(name), value)
                }
                if not here:
                    known = list(
                        dict.fromkeys(plain(point.parameters.get(name)) for point in points)
                    )
                    raise _unknown("--where", name, value, known)
                kept |= here
            points = [point for point in points if point.id in kept]
        return replace(plan, points=tuple(points))

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The chosen metrics' rows. Raises ``UsageError`` if there is no such metric."""
        there = (
            frame["metric"].unique(maintain_order=True).to_list()
            if len(frame)
            else list(self.metrics)
        )
        for one in self.metrics:
            if one not in there:
                raise _unknown("--metric", "metric", one, there)
        return _rows_with(frame, "metric", self.metrics) if self.metrics else frame

    def of_point(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One point's chosen rows, which may be empty."""
        return _rows_with(frame, "metric", self.metrics) if self.metrics else frame


def _rows_with(frame: pl.DataFrame, column: str, values: Sequence[str]) -> pl.DataFrame:
    """The rows in which a column has a listed value, as people write it."""
    import polars as pl

    return frame.filter(
        pl.Series([plain(value) in values for value in frame[column].to_list()], dtype=pl.Boolean)
    )


def _unknown(option: str, what: str, word: str, allowed: Sequence[str]) -> UsageError:
    names = [name for name in allowed if name]
    return UsageError(
        f"{option}: there is no {what} `{word}`{did_you_mean(word, names)}\n  there are:"
        f" {', '.join(names)}"
    )


def results(result: Result, format_: OutputFormat, chosen: ResultFilter | None = None) -> None:
    """Print an experiment's finished points, or their chosen rows."""
    chosen = chosen or ResultFilter()
    if format_ is OutputFormat.JSON:
        points = [point(result, each, chosen) for each in result.points]
        data(json.dumps([each for each in points if each["results"]], indent=1))
    elif format_ is OutputFormat.TABLE:
        if result.points:
            _tables(result, chosen)
    else:
        rows(chosen.rows(_judged(result.frame())), format_)


def known_table(name: str) -> None:
    """Refuse a table that no point has. Raises ``UsageError``."""
    from elanite.store import TABLES

    if name not in TABLES:
        raise _unknown("--table", "table", name, list(TABLES))


_EMPTY = {
    "flows": ": no point has a list of flows ([series.flows.NAME])",
    "shares": (
        ": packets are counted by program where traces or lists of flows run"
        " ([series.traces.NAME], [series.flows.NAME]), and where several jobs also run alone"
        " (alone = true in [[series]])"
    ),
}
"""Why a stored table may be empty."""


def of_table(frame: pl.DataFrame, format_: OutputFormat, name: str = "") -> None:
    """Print a point table other than the measured values; ``name`` is the stored table's."""
    from elanite.cli.tables import blocks

    if format_ is OutputFormat.JSON:
        data(json.dumps(frame.to_dicts(), indent=1))
    elif format_ is not OutputFormat.TABLE:
        rows(frame, format_)
    elif frame.is_empty():
        say(f"the table is empty{_EMPTY.get(name, '')}")
    else:
        shown = [
            {name: _cell(value) for name, value in row.items()}
            for row in frame.drop("id").iter_rows(named=True)
        ]
        blocks(
            console(),
            ["series"],
            [name for name in shown[0] if name not in ("experiment", "series")],
            shown,
        )


def _cell(value: object) -> str:
    """A value in a text table: a time of zero has no unit, as on pages."""
    text = plain(value)
    return "0" if text == "0 ps" else text


def _judged(frame: pl.DataFrame) -> pl.DataFrame:
    """Tidy rows with offered-load states; rows without any load stay as they are."""
    from elanite.results.states import with_states

    return with_states(frame) if (frame["metric"] == "accepted").any() else frame


def rows(frame: pl.DataFrame, format_: OutputFormat) -> None:
    """Print a data frame as csv or parquet."""
    if format_ is OutputFormat.CSV:
        import polars as pl

        from elanite.results.frames import parameters

        # Parameters have one spelling everywhere; polars writes 0.00001, but 1e-6.
        names = [name for name in parameters(frame) if frame.schema[name].is_float()]
        texts = [
            pl.Series(name, [None if one is None else plain(one) for one in frame[name]], pl.String)
            for name in names
        ]
        sys.stdout.write(printable(frame.with_columns(texts).write_csv()))
    else:
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        sys.stdout.buffer.write(buffer.getvalue())


def costs(parts: Sequence[ReproductionPart], jobs: int, later: float | None = None) -> None:
    """Print a reproduction's cost: each experiment's points and expected processor time, in their
    order.

    ``later`` are the processor seconds for all looks after the first (see ``looks``).
    """
    from elanite.base.text import counted, duration

    board = table(
        ("experiment", "points", "to do", "processor time", "claims"),
        right=("points", "to do", "claims"),
    )
    for part in parts:
        said = duration(part.seconds) if part.missing else "done"
        board.add_row(
            part.name, str(len(part.plan.points)), str(part.missing), said, str(part.claims or "")
        )
    screen = console()
    screen.print(board)
    seconds = sum(part.seconds for part in parts)
    points = counted(sum(part.missing for part in parts), "point")
    at_a_time = f"with {counted(jobs, 'point')} at a time"
    screen.print(
        f"{points} to simulate: about {duration(seconds)} of processor time,"
        f" {duration(seconds / jobs)} {at_a_time}"
    )
    if later is not None:
        screen.print(
            f"more runs of claims that are not resolved: at most {duration(later)}, if no claim"
            " were resolved"
        )


def to_do(plans: Sequence[Plan], store: Store, jobs: int, shard: str | None) -> None:
    """Print the points that plans have still to simulate, by experiment and series, and their
    expected cost.
    """
    from elanite.base.text import counted, duration
    from elanite.campaign import memory
    from elanite.campaign.cost import CostModel
    from elanite.campaign.shards import shard as part
    from elanite.mpirun.summary import size

    points = {point.id: point for plan in plans for point in plan.points}
    if shard is not None:
        points = {point.id: point for point in part(shard, points.values())}
    missing = [point for point in points.values() if store.current(point.id) is None]
    model = CostModel.learn(store)
    board = table(
        ("experiment", "series", "points", "to do", "processor time"), right=("points", "to do")
    )
    for experiment, series in dict.fromkeys(
        (point.experiment, point.series) for point in points.values()
    ):
        here = [
            each
            for each in points.values()
            if (each.experiment, each.series) == (experiment, series)
        ]
        left = [each for each in missing if (each.experiment, each.series) == (experiment, series)]
        said = duration(model.total(left)) if left else "done"
        board.add_row(experiment, series, str(len(here)), str(len(left)), said)
    screen = console()
    screen.print(board)
    seconds = model.total(missing)
    at_a_time = f"with {counted(jobs, 'point')} at a time"
    screen.print(
        f"{counted(len(missing), 'point')} to simulate: about {duration(seconds)} of processor"
        f" time, {duration(seconds / jobs)} {at_a_time}",
        soft_wrap=True,
    )
    if missing:
        machines = {json.dumps(json.loads(point.json)["machine"]): point for point in missing}
        largest = memory.PROCESS + max(map(memory.of_point, machines.values()))
        screen.print(f"memory with the largest point: about {size(largest)}")


def point(result: Result, here: Point, chosen: ResultFilter | None = None) -> dict[str, object]:
    """A finished point and its results, for json."""
    from elanite.base.text import FEWEST
    from elanite.results import frames

    manifest = result.manifest(here)
    rows = (chosen or ResultFilter()).of_point(frames.tidy([here], result.store))
    summary = frames.summarise(rows, ["job", "metric", "unit"])
    several = summary["job"].n_unique() > 1
    return {
        "id": here.id,
        "experiment": here.experiment,
        "series": here.series,
        "machine": here.machine,
        "parameters": here.parameters,
        "seed": here.seed,
        "results": {
            f"{row['job']}.{row['metric']}" if several else row["metric"]: {
                # Fewer values give no interval.
                key: None if key in ("low", "high") and row["n"] < FEWEST else row[key]
                for key in ("mean", "low", "high", "n", "unit")
            }
            for row in summary.iter_rows(named=True)
        },
        "packets": manifest.data["packets"],
        "events": manifest.data["events"],
        "simulated_ps": manifest.data["simulated_ps"],
        "cpu_seconds": manifest.cpu_seconds,
        "peak_memory_bytes": manifest.data["peak_memory_bytes"],
        "digest": manifest.data["digest"],
        "command": result.plan.command(here),
    }


def _tables(result: Result, chosen: ResultFilter) -> None:
    """The series as tables: the parameters that vary, and every metric as its mean and half its
    interval's width.

    With several machines, every metric has a line, with columns for each machine and for its ratio
    to the first one.
    """
    from elanite.cli.tables import blocks
    from elanite.inputs.plan import ON
    from elanite.results import frames
    from elanite.results.machine_comparison import machine_lines

    frame = chosen.rows(_judged(result.frame()))
    screen = console()
    for series in frame["series"].unique(maintain_order=True).to_list():
        rows = frame.filter(frame["series"] == series)
        columns = frames.varying(rows)
        if len(result.plan.machines) > 1:
            columns = [*(name for name in columns if name != ON), "quantity"]
            wide = [
                _side_by_side(line)
                for line in machine_lines(rows.drop(frames.STATE, frames.REASON, strict=False))
            ]
        else:
            states = [frames.STATE] if (rows["metric"] == "accepted").any() else []
            wide = _wide(
                frames.summarise(rows, [*frames.parameters(rows), *states, "metric", "unit"]),
                columns,
            )
        title = f"{result.plan.experiment.name} {series}: {result.plan.title_of(series)}".rstrip(
            ": "
        )
        screen.print(title, style="bold", markup=False)
        blocks(
            screen,
            columns,
            list(dict.fromkeys(n for line in wide for n in line if n not in columns)),
            wide,
        )


def _wide(summary: pl.DataFrame, columns: Sequence[str]) -> list[dict[str, str]]:
    import polars as pl

    from elanite.base.text import YES_OR_NO, estimate, heading
    from elanite.results.frames import STATE

    lines: dict[tuple[object, ...], dict[str, str]] = {}
    for row in summary.iter_rows(named=True):
        line = lines.setdefault(
            tuple(row[name] for name in columns), {name: _cell(row[name]) for name in columns}
        )
        if row["metric"] in YES_OR_NO:
            said = {0.0: "no", 1.0: "yes"}.get(
                row["mean"], f"{row['mean'] * row['n']:.0f} of {row['n']}"
            )
        else:
            said = estimate(row["mean"], row["low"], row["high"], row["n"], row["unit"])
        line[heading(row["metric"], row["unit"])] = said
    loaded = summary.filter(pl.col("job").is_not_null(), pl.col("metric") == "accepted")
    for row in loaded.iter_rows(named=True) if STATE in summary.columns else ():
        lines[tuple(row[name] for name in columns)][STATE] = row[STATE]
    return list(lines.values())


def _side_by_side(line: MachineLine) -> dict[str, str]:
    from elanite.base.text import estimate, heading

    row = {name: _cell(value) for name, value in line.parameters.items()}
    row["quantity"] = heading(line.metric, line.unit)
    for machine, found in line.figures.items():
        row[machine] = estimate(found.mean, found.low, found.high, found.n, line.unit)
    for machine, found in line.ratios.items():
        fewest = min(line.figures[one].n for one in (machine, line.first))
        row[f"{machine} / {line.first}"] = estimate(found.mean, found.low, found.high, fewest)
    return row
