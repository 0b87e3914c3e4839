"""The page that compares two folders: the figures that differ, and those that are equal or
undecided.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elanite.base import bounded
from elanite.base.text import distinct, heading, plain
from elanite.figures import figure_changes
from elanite.figures.grouping import word
from elanite.report.pages.files import tame
from elanite.report.pages.frame import Page, PageTable, Section
from elanite.report.pages.inputs import Inputs
from elanite.results.folders import varying_parameters
from elanite.results.metrics import notes
from elanite.results.samples import ComparisonState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.results.folders import Comparison, StoreLine

MOST_BYTES, MOST_FILES = 4 * 2**20, 4000
"""The size and the count of result files that a page holds; beyond these it holds no files."""


def page(found: Comparison, names: tuple[str, str], command: Sequence[str], inputs: Inputs) -> Page:
    """The page; ``names`` are the folders' names, ``command`` the executed command-line words."""
    a, b = names
    return Page(
        title=f"{a} and {b} compared",
        command=command,
        inputs=inputs,
        about=f"A is {a}, B is {b} · {found.counts[0]}",
        findings=[*_largest_change(found), *(f"{text}." for text in found.counts[1:])],
        notes=[f"{note[:1].upper()}{note[1:]}." for note in [*found.notes, *_outside(inputs)]],
        sections=[*_settings(found), *_figures_of(found)],
    )


def _settings(found: Comparison) -> list[Section]:
    """The inputs that differ between points with the same work."""
    if not found.settings:
        return [
            Section(
                "Inputs",
                text=["Machines, experiments, seeds and simulator are the same on both sides."],
            )
        ]
    rows = [(one.key, *one.texts) for one in found.settings]
    return [
        Section(
            "Inputs that differ", tables=[PageTable(("key", "A", "B"), rows, "Keys as in --set")]
        )
    ]


def _figures_of(found: Comparison) -> list[Section]:
    drawn = figure_changes.draw(found.lines)
    return [
        Section(
            f"{experiment} {series}",
            figures=drawn.get((experiment, series), ()),
            tables=_tables(lines),
        )
        for (experiment, series), lines in found.series.items()
    ]


def inputs(found: Comparison, a: Path, b: Path, options: Sequence[str]) -> Inputs:
    """The compared points under their own names; absent if they are too large for a page.

    Points in one folder only stay outside.
    """
    names = [tame(folder.resolve().name) or "results" for folder in (a, b)]
    if names[0] == names[1]:
        names = [f"{name}-{sign}" for name, sign in zip(names, "ab", strict=True)]
    words = ("elanite", "compare", *names, *options)
    contents: dict[str, bytes] = {}
    room = MOST_BYTES
    for name, folder, points in zip(names, (a, b), found.compared, strict=True):
        for point in points:
            for path in sorted((folder / "store" / point).glob("*")):
                if path.suffix not in (".json", ".parquet"):
                    continue
                room -= path.stat().st_size
                if room < 0 or len(contents) >= MOST_FILES:
                    return Inputs(words, {}, {f"{each}/store": "" for each in names})
                contents[f"{name}/store/{point}/{path.name}"] = bounded.load(path, MOST_BYTES)
    return Inputs(words, contents)


def _largest_change(found: Comparison) -> list[str]:
    """The largest change among the figures that differ, as a factor, without those that are zero on
    one side.
    """
    differing = found.of(ComparisonState.DIFFERS)
    line = next((line for line in differing if math.isfinite(line.change) and not line.flag), None)
    if line is None:
        return []
    place = ", ".join(
        f"{name} {plain(value)}"
        for name, value in line.parameters.items()
        if _is_listed(found, line, name)
    )
    a, b, ratio = line.texts
    below = abs(line.pair.b.figure.mean) < abs(line.pair.a.figure.mean)
    factor = f", a factor of {distinct(1 + line.change, 1.0)[0]}" if below else ""
    where = ", ".join(filter(None, [f"{line.experiment} {line.series}", line.job, place]))
    among = (
        f"the {len(differing)} figures that differ"
        if len(differing) > 1
        else "the figure that differs"
    )
    paired = ", pair by pair" if line.pair.paired else ""
    return [
        f"Largest change of {among}: {heading(line.metric, line.unit)}, B / A"
        f" {ratio}{factor}{paired}; A has {a}, B has {b} ({where})."
    ]


def _is_listed(found: Comparison, line: StoreLine, name: str) -> bool:
    return name in varying_parameters(found.series[line.experiment, line.series])


def _outside(inputs: Inputs) -> list[str]:
    """The remark that the page does not hold the results."""
    if not inputs.absent:
        return []
    return [
        f"the compared points have more than {MOST_BYTES >> 20} MB: the page does not hold them"
    ]


def _tables(lines: Sequence[StoreLine]) -> list[PageTable]:
    """The figures that differ, and the others in a folded table."""
    differing = [line for line in lines if line.state is ComparisonState.DIFFERS]
    others = [line for line in lines if line.state is not ComparisonState.DIFFERS]
    varying = varying_parameters(lines)
    found = [_table(differing, varying, "Figures that differ", folded=False)] if differing else []
    if others:
        found.append(_table(others, varying, "Figures that are equal or undecided", folded=True))
    return found


def _table(
    lines: Sequence[StoreLine], varying: Sequence[str], caption: str, *, folded: bool
) -> PageTable:
    columns = (*map(word, varying), "figure", "A", "B", "B / A", "state")
    rows = [
        (
            *(plain(line.parameters.get(name)) for name in varying),
            " ".join(filter(None, (line.job, heading(line.metric, line.unit)))),
            *line.texts,
            str(line.state),
        )
        for line in lines
    ]
    note = " ".join(notes(line.metric for line in lines))
    return PageTable(columns, rows, caption, right=("A", "B", "B / A"), folded=folded, note=note)
