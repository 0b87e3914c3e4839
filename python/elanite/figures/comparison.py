"""QsNET against QsNetII: traffic (petrini2003), collectives (petrini2001) on both generations, side
by side.

No such figures are published for a QsNetII, nor any figures for a QsNetII with more than one
switch, nor for a QsNET with more than 64 nodes. The figures are predictions, and the table's
caption states their basis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.figures import grouping
from elanite.figures.grid import Cell, Column, Grid
from elanite.figures.style import Figure
from elanite.figures.table import table
from elanite.inputs.machine import Machine
from elanite.inputs.plan import ON
from elanite.results.machine_comparison import machine_lines
from elanite.validation.claim import fitted_parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.results.machine_comparison import MachineLine
    from elanite.validation.measures import Number

NAMES = {"es40-qsnet": "QsNET", "opteron-qsnet2": "QsNetII"}
"""Machine names; other machines have their own names."""

TRAFFIC = ("uniform", "permutations")

QUANTITIES = {
    "uniform": ("accepted", "accepted load, MB/s per node"),
    "permutations": ("accepted", "accepted load, MB/s per node"),
    "barrier": ("latency", "latency of barriers, µs"),
    "broadcast": ("bandwidth", "bandwidth of broadcasts, MB/s"),
}
"""Each series' metric, and its name."""

OPERATIONS = {
    "hgsync": "hardware (hgsync)",
    "gsync": "software (gsync)",
    "hbcast": "hardware (hbcast)",
    "bcast": "software (bcast)",
}

PREDICTION = (
    "A prediction: no such figures are published of QsNetII, nor of QsNET with more than 64 nodes."
)


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """The table of all figures, the loads by pattern, and the collective operations over the number
    of nodes.
    """
    if ON not in rows.columns:
        return  # one machine alone
    wanted = pl.any_horizontal(
        (pl.col("series") == series) & (pl.col("metric") == metric)
        for series, (metric, _) in QUANTITIES.items()
    )
    rows = rows.filter(wanted).with_columns(pl.col(ON).replace(NAMES).alias("_name"))
    if not rows.is_empty():
        yield from grouping.part_figures(
            rows, (ON, "operation", "pattern", "nodes"), lambda here: [_table(here)]
        )


def basis_sentence(machine: str) -> str:
    """A sentence on the basis of a machine's figures; empty for machines that are not shipped."""
    if machine not in fitted_parameters():
        return ""
    about, fitted = Machine.load(machine), fitted_parameters()[machine]
    assumed = sum("assumed" in parameter.source for parameter in about.parameters)
    names = f" ({', '.join(fitted)})" if fitted else ""
    return (
        f" {NAMES.get(machine, machine)} is {machine}: links of {about['link.rate']}, packets of"
        f" {about['packet.payload']}; of its {len(about.parameters)} parameters {len(fitted)} are"
        f" fitted{names} and {assumed} assumed."
    )


def _table(rows: pl.DataFrame) -> Figure:
    machines = rows[ON].unique(maintain_order=True).to_list()
    names = [NAMES.get(machine, machine) for machine in machines]
    columns = [Column("quantity", 2.2, "left"), Column("of", 1.4, "left"), Column("nodes", 0.7)]
    columns += [Column(name, 1.2) for name in names] + [
        Column(f"{name} / {names[0]}", 1.2) for name in names[1:]
    ]
    lines = []
    for series, (_, words) in QUANTITIES.items():
        here = rows.filter(pl.col("series") == series)
        if here.is_empty():
            continue
        for line in machine_lines(_plain(here)):
            figures = [line.figures.get(machine) for machine in machines]
            ratios = [line.ratios.get(machine) for machine in machines[1:]]
            lines.append([Cell(words), *_cells(line, here), *map(_cell, figures + ratios)])
    title = "QsNET against QsNetII" if machines == list(NAMES) else " against ".join(names)
    caption = (
        f"{PREDICTION} Means with half of their 95% confidence intervals, over batches; a figure"
        " without one varied by less than it"
        f" shows.{_offered(rows)}{''.join(map(basis_sentence, machines))} QsNET was fitted to"
        " figures of up to 64 nodes, among them the barrier by hardware, which therefore is no"
        " prediction there, and some patterns and broadcasts with other messages. QsNetII was"
        " fitted to pings and noise alone, and no figures of more than one switch are published."
        " Both are quaternary fat trees of 1,024 nodes here. Buffers lie in adapter memory, so"
        " that the I/O buses (PCI, PCI-X) carry none of the data, and operating systems make no"
        " noise."
    )
    grid = Grid(columns, lines)
    return Figure("table", title, "", caption, table(grid, title), wide=True, grid=grid)


def _offered(rows: pl.DataFrame) -> str:
    traffic = rows.filter(pl.col("series").is_in(TRAFFIC))
    if traffic.is_empty():
        return ""
    message, load = traffic["message"][0], traffic["load"][0]
    return (
        f" Loads are payload of the nodes that send; each offers {load}, far more than is accepted,"
        f" in messages of {message} on average."
    )


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    """A series' rows without the columns that only other series have."""
    return rows.drop("_name", "id")


def _cells(line: MachineLine, rows: pl.DataFrame) -> list[Cell]:
    """The quantity and the node count; a parameter that does not vary is the same for all rows."""
    of = (
        "operation"
        if "operation" in rows.columns and rows["operation"][0] is not None
        else "pattern"
    )
    what, nodes = (line.parameters.get(name, rows[name][0]) for name in (of, "nodes"))
    return [Cell(OPERATIONS.get(str(what), str(what))), Cell(f"{nodes:,}")]


def _cell(figure: Number | None) -> Cell:
    return Cell(figure.text if figure else "")
