"""The page of a comparison of two folders: the figures that differ, and those that are equal or undecided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elanite.differences import varying_parameters
from elanite.figures import compared
from elanite.pages.files import tame
from elanite.pages.frame import Page, Section, Table
from elanite.pages.inputs import MOST_BYTES, Inputs
from elanite.samples import State
from elanite.text import heading, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.differences import Comparison, Line

MOST_FILES = 4000
"""Files of results that a page holds."""


def page(found: Comparison, names: tuple[str, str], command: Sequence[str], inputs: Inputs) -> Page:
    """The page; ``names`` are those of the folders, ``command`` the words of the command line that ran."""
    a, b = names
    return Page(
        title=f"{a} and {b} compared",
        command=command,
        inputs=inputs,
        about=f"A is {a}, B is {b} · {found.counts[0]}",
        findings=[*_largest(found), *(f"{text}." for text in found.counts[1:])],
        notes=[f"{note[:1].upper()}{note[1:]}." for note in found.notes],
        sections=[
            Section(f"{experiment} {series}", figures=list(compared.draw(lines)), tables=[_table(lines)])
            for (experiment, series), lines in found.series.items()
        ],
    )


def inputs(a: Path, b: Path, options: Sequence[str]) -> Inputs:
    """The results that the comparison read, under names of their own; absent if they are too large for a page."""
    names = [tame(folder.resolve().name) or "results" for folder in (a, b)]
    if names[0] == names[1]:
        names = [f"{name}-{sign}" for name, sign in zip(names, "ab", strict=True)]
    words = ("elanite", "compare", *names, *options)
    contents: dict[str, bytes] = {}
    room = MOST_BYTES
    for name, folder in zip(names, (a, b), strict=True):
        for path in sorted((folder / "store").glob("[!.]*/*")):
            if path.suffix not in (".json", ".parquet"):
                continue
            room -= path.stat().st_size
            if room < 0 or len(contents) >= MOST_FILES:
                return Inputs(words, {}, {f"{each}/store": "" for each in names})
            contents[f"{name}/store/{path.parent.name}/{path.name}"] = path.read_bytes()
    return Inputs(words, contents)


def _largest(found: Comparison) -> list[str]:
    """The largest change of a figure that is not zero on either side."""
    line = next((line for line in found.of(State.DIFFERS) if math.isfinite(line.change)), None)
    if line is None:
        return []
    place = ", ".join(f"{name} {plain(value)}" for name, value in line.parameters.items() if _told(found, line, name))
    a, b, _ = line.pair.texts(line.unit)
    where = ", ".join(filter(None, [f"{line.experiment} {line.series}", line.job, place]))
    return [f"Largest change: {heading(line.metric, line.unit)} from {a} to {b} ({where})."]


def _told(found: Comparison, line: Line, name: str) -> bool:
    return name in varying_parameters(found.series[line.experiment, line.series])


def _table(lines: Sequence[Line]) -> Table:
    varying = varying_parameters(lines)
    columns = (*varying, "figure", "A", "B", "B / A", "state")
    rows = [
        (
            *(plain(line.parameters.get(name)) for name in varying),
            " ".join(filter(None, (line.job, heading(line.metric, line.unit)))),
            *line.pair.texts(line.unit),
            str(line.state),
        )
        for line in lines
    ]
    return Table(columns, rows, "All figures", right=("A", "B", "B / A"))
