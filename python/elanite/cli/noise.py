"""The command ``noise``: the processor time that this computer's operating system takes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import OUT, OutputFormat, console, data, say
from elanite.cli.request import Request

if TYPE_CHECKING:
    import polars as pl

    from elanite.library.noise import NoiseMeasurement

LINES = 24
"""Most lines in the text histogram."""

WIDTH = 60
"""Its longest bar's signs."""


FOLDER = OUT / "noise"
"""The default folder for the figure and the profile."""


@dataclass(frozen=True, kw_only=True)
class Noise(Request):
    """Measure the computational noise of this computer.

    \b
    Examples:
      elanite noise --seconds 5
      elanite noise --cpu 1 --compute "100 us" --format json

    The command repeats the same computation (garcia2005, figure 3). An iteration's excess over the
    shortest one is time of the operating system. table shows the histogram, csv and parquet its
    bins. DIR then has the figure (noise.svg, noise.html) and a noise profile, noise.toml. If you
    append the profile to a machine file, the simulated machine has this noise.
    """

    verb: ClassVar[str] = "noise"

    seconds: Annotated[
        float, typer.Option("--seconds", metavar="N", help="Duration in seconds, 0.01 to 3600.")
    ] = 5.0
    cpu: Annotated[
        int | None,
        typer.Option(
            "--cpu",
            min=0,
            max=(1 << 31) - 1,
            metavar="N",
            help="The processor to measure.  [default: the operating system chooses]",
        ),
    ] = None
    compute: Annotated[
        str,
        typer.Option(
            "--compute", metavar="TIME", help="Computation of an iteration, 10 us to 1 s."
        ),
    ] = "1 ms"
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the figure and the profile.")
    ] = FOLDER
    format_: Annotated[
        OutputFormat, typer.Option("--format", "-f", help="How to print the measurement.")
    ] = OutputFormat.TABLE

    def execute(self) -> None:
        """Run the command."""
        from elanite.base import host
        from elanite.cli import output
        from elanite.library.noise import measure, prepared

        output.refuse_terminal(self.format_)
        prepared(self.out)
        host.require_drawing("--out")
        found = measure(self.seconds, self.compute, self.cpu)
        if self.format_ is OutputFormat.TABLE:
            _print(found)
        elif self.format_ is OutputFormat.JSON:
            data(json.dumps(found.summary | {"distribution": found.frame().to_dicts()}, indent=1))
        else:
            output.rows(found.frame(), self.format_)
        for path in found.write(self.out):
            say(f"wrote {path}")


def _print(found: NoiseMeasurement) -> None:
    screen = console()
    summary = found.summary
    where = f"processor {found.cpu}" if found.cpu is not None else "no certain processor"
    screen.print(
        f"{summary['iterations']:,} iterations of {found.compute} on {where}",
        style="bold",
        markup=False,
    )
    times = {
        "shortest": "base_us",
        "mean": "mean_us",
        "50%": "p50_us",
        "99%": "p99_us",
        "99.99%": "p99_99_us",
    }
    for word, key in (times | {"longest": "max_us"}).items():
        screen.print(f"  {word:9}{summary[key]:14,.3f} µs", markup=False)
    screen.print(
        f"  {float(str(summary['above_1_percent'])):.2%} take 1% longer than the shortest, or more",
        markup=False,
    )
    for line in bars(found.frame()):
        screen.print(line, markup=False)


def bars(bins: pl.DataFrame) -> list[str]:
    """An iteration delay histogram as text, by doublings, on a logarithmic scale of counts."""
    counts: dict[int, int] = {}
    for lower, count in bins.iter_rows():
        # Doublings from a nanosecond on; shorter delays count as zero.
        step = max((lower // 1000).bit_length(), 0)
        counts[step] = counts.get(step, 0) + count
    first, last = min(counts), max(counts)
    steps = range(max(first, last - LINES + 1), last + 1)
    most = math.log10(max(counts.values()) + 1)
    lines = ["  longer by"]
    for step in steps:
        count = counts.get(step, 0)
        bar = "#" * max(round(WIDTH * math.log10(count + 1) / most), int(count > 0))
        least = 0 if step == 0 else 2 ** (step - 1)
        lines.append(
            f"  {_time(least):>10} {bar} {count:,}".rstrip() if count else f"  {_time(least):>10}"
        )
    return lines


def _time(ns: int) -> str:
    """A round time for people."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"
