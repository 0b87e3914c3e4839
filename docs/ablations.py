"""Writes docs/ablations.md from the shipped ablations. ``make docs`` runs this."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.study import ablation
from elanite.study.ablation_table import AblationTable, table
from elanite.validation.ablation_verdicts import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

INTRODUCTION = (
    (
        "A claim tests the model only if its verdict depends on it. This page has the verdict on"
        " every predicted value and order about the papers' machines with one model mechanism"
        " removed at a time. The headline of the [scoreboard](validation.md) counts a claim only if"
        " its verdict turns at least once: it holds with the mechanism and is missed without it, or"
        " vice versa."
    ),
    (
        "`elanite ablate MACHINE` removes the mechanisms; `python benches/ablations.py` renews this"
        " page's data. Runs are much shorter than the scoreboard's, with the same seed on both"
        " sides, so that the column *none* (the unchanged machine) may differ from the scoreboard."
        " Such claims count as not yet ablated."
    ),
)


def markdown(found: AblationTable) -> str:
    """The page ``docs/ablations.md``."""
    lines = ["# Ablations", "", "<!-- Written by `make docs`; do not edit. -->", "", *_page(found)]
    return "\n".join(line if line.startswith("|") else _wrapped(line) for line in lines)


def _wrapped(text: str) -> str:
    """A paragraph or a list item in lines of 100 columns; rows of tables cannot be wrapped."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _page(found: AblationTable) -> Iterator[str]:
    for paragraph in (*INTRODUCTION, found.stale):
        if paragraph:
            yield from (paragraph, "")
    count = sum(line.agrees and bool(line.turning) for line in found.ablated)
    made = (
        f" Measured with model revision {found.revision}, {found.date}." if found.revision else ""
    )
    done, every = sum(line.agrees for line in found.lines), len(found.lines)
    yield f"Ablated: {done} of {every} claims; the verdict of {count} turns.{made}"
    yield from ("", "## Mechanisms", "")
    yield from (
        f"- *{name}*: {ablation.all_mechanisms()[name]['says']}." for name in found.mechanisms
    )
    yield from ("", "## Verdicts", "")
    yield (
        "`+` holds, `-` missed, `?` not resolved; bold: turned; a point: the figure changes; blank:"
        " not measured."
    )
    names = [WHOLE, *found.mechanisms]
    yield from ("", f"| claim | {' | '.join(names)} |", f"|---|{'---|' * len(names)}")
    for line in found.ablated:
        yield f"| `{line.claim.id}` | {' | '.join(line.cell(name) for name in names)} |"
    yield from (
        "",
        "## Verdicts that turn",
        "",
        "| claim | unchanged | without | figure |",
        "|---|---|---|---|",
    )
    for line in found.ablated:
        for row in line.turning:
            unchanged = f"{line.whole.figure}: {line.whole.verdict}"
            yield (
                f"| `{line.claim.id}` | {_plain(unchanged)} | {row.mechanism} |"
                f" {_plain(row.figure)}: {row.verdict} |"
            )
    yield from ("", "## Verdicts that never turn", "")
    yield ", ".join(f"`{name}`" for name in found.never) or "None."
    yield from ("", "## Verdicts that differ from the scoreboard in short runs", "")
    yield ", ".join(f"`{name}`" for name in found.apart) or "None."
    yield from ("", "## Not yet ablated", "")
    yield ", ".join(f"`{name}`" for name in found.open) or "None."
    yield ""


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(markdown(table()), encoding="utf-8")
