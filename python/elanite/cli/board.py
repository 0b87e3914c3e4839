"""How scoreboards are printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from elanite.cli.common import BoardFormat, console, data, table
from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from elanite.base.build import Build
    from elanite.validation.verdict import Verdict

STYLE = {
    "missed": "red",
    "known miss": "yellow",
    "not resolved": "yellow",
    "source too vague": "dim",
    "inconsistent": "dim",
    "not run": "dim",
}
"""The layout of scoreboard rows."""


def selection(verdicts: Sequence[Verdict], only: Sequence[str] | None) -> list[Verdict]:
    """The verdicts on claims with names that begin so, up to a dot or to the end; all without a
    choice.
    """
    if only is None:
        return list(verdicts)
    wanted = [name.strip() for text in only for name in text.split(",")]
    found = []
    for name in wanted:
        here = [
            one for one in verdicts if one.claim.id == name or one.claim.id.startswith(name + ".")
        ]
        if not here or not name:
            names = [one.claim.id for one in verdicts]
            starts = sorted({one.split(".", 1)[0] for one in names})
            raise UsageError(
                f"--only: there is no claim `{name}`{did_you_mean(name, names)}\n  they start with:"
                f" {', '.join(starts)}"
            )
        found += here
    return [one for one in verdicts if one in found]


def scoreboard(
    verdicts: Sequence[Verdict],
    format_: BoardFormat,
    builds: Sequence[tuple[Build, int]] = (),
    *,
    absent: bool = False,
    own: bool = False,
) -> None:
    """Print the scoreboard; a table counts claims without results by folders, unless ``absent``
    asks for them.

    Markdown names the ``builds`` that computed the points; a user's ``own`` claims become a table.
    """
    from elanite.validation import board
    from elanite.validation.claim import fitted_parameters

    if format_ is BoardFormat.JSON:
        data(json.dumps([verdict.as_json() for verdict in verdicts], indent=1, ensure_ascii=False))
        return
    if format_ is BoardFormat.MARKDOWN:
        data(
            "\n".join(board.table(verdicts))
            if own
            else board.markdown(verdicts, builds).rstrip("\n")
        )
        return
    screen = console()
    shown = [verdict for verdict in verdicts if verdict.judged or absent]
    if shown:
        _board(screen, shown)
    judged = [verdict for verdict in verdicts if verdict.judged]
    for verdict in judged:
        if verdict.claim.test:
            screen.print(f"{verdict.claim.id}: {verdict.claim.test}", style="dim", markup=False)
    names = {verdict.claim.id for verdict in judged}
    for machine, parameters in fitted_parameters().items():
        here = {
            key: found
            for key, claims in parameters.items()
            if (found := [one for one in claims if one in names])
        }
        if here:
            words = "; ".join(f"{key} ({', '.join(found)})" for key, found in here.items())
            screen.print(f"fitted on {machine}: {words}", style="dim", markup=False)
    if judged:
        screen.print(board.widest(judged), style="dim", markup=False)
        screen.print(board.own_claims(judged) if own else board.totals(judged))
    if len(judged) < len(verdicts) and not absent:
        screen.print(_without_results(verdicts), markup=False)


def _without_results(verdicts: Sequence[Verdict]) -> str:
    """A sentence on the claims without results: their count per experiment folder, and the command
    that runs these.
    """
    from elanite.base.text import counted

    folders: dict[str, int] = {}
    for verdict in verdicts:
        if not verdict.judged:
            folder = verdict.claim.experiment.rpartition("/")[0]
            folders[folder] = folders.get(folder, 0) + 1
    of = ", ".join(f"{count} of {folder}" for folder, count in folders.items() if folder)
    return (
        f"{counted(sum(folders.values()), 'claim')} without results{f': {of}' if of else ''};"
        " `elanite reproduce --only NAME` runs a folder, `elanite list claims` lists all claims"
    )


def _board(screen: Console, verdicts: Sequence[Verdict]) -> None:
    """The verdicts as a table, or one below the other on a narrow terminal."""
    from elanite.base import text
    from elanite.cli.tables import NARROW, listed
    from elanite.validation import cells

    styles = [STYLE.get(verdict.state, "") for verdict in verdicts]
    if screen.width < NARROW:
        entries = [
            (
                " ".join(
                    filter(
                        None,
                        (
                            cells.SIGN[v.state],
                            v.claim.id,
                            f"({v.claim.standing})",
                            text.percent(v.error),
                        ),
                    )
                ),
                [
                    f"published {cells.published(v.claim)}",
                    f"simulated {said}" if (said := _verdict_cell(v)) else "",
                ],
            )
            for v in verdicts
        ]
        listed(screen, entries, styles)
        return
    board = table(("", "claim", "role", "published", "simulated", "error"), right=("error",))
    for verdict, style in zip(verdicts, styles, strict=True):
        board.add_row(
            cells.SIGN[verdict.state],
            verdict.claim.id,
            verdict.claim.standing,
            cells.published(verdict.claim),
            _verdict_cell(verdict),
            text.percent(verdict.error),
            style=style,
        )
    screen.print(board)


def _verdict_cell(verdict: Verdict) -> str:
    from elanite.validation import board

    if not verdict.judged:
        return verdict.note
    words = [board.measured(verdict)]
    if verdict.state == "not resolved":
        words.append(f"(not resolved: {verdict.unresolved})")
    if verdict.state == "source too vague":
        words.append(f"(source too vague: {verdict.claim.vague})")
    if verdict.claim.proof:
        words.append(f"(inconsistent in the source: {verdict.claim.proof.text})")
    if verdict.state in ("known miss", "holds again"):
        words.append(f"({verdict.state}: {verdict.claim.known_miss})")
    return " ".join(filter(None, words))
