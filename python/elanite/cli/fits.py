"""Fits on the screen: values before and after, errors, and the parameters that stay open."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from elanite.cli.common import console, table

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.errors import UsageError
    from elanite.study.fit import Calibration
    from elanite.study.refit import RefitResult


def as_data(found: Calibration) -> dict[str, object]:
    """A calibration as plain data."""
    return {
        "values": [asdict(each) for each in found.values],
        "correlation": found.correlation,
        "groups": [asdict(each) for each in found.groups],
        "before": found.before,
        "after": found.after,
        "best": found.best,
        "misfit": found.misfit or None,
        "places": [asdict(each) for each in found.places],
        "trials": found.trials,
        "sets": found.sets,
        "ended": found.ended,
    }


def show(found: Calibration) -> None:
    """Print a calibration's values, errors and warnings."""
    from elanite.study.fit import ERRORS, VALUES

    screen = console()
    for columns, right, rows in (
        (VALUES, VALUES[1:], found.values),
        (ERRORS, ERRORS[3:], found.groups),
    ):
        board = table(columns, right=right)
        for each in rows:
            board.add_row(*each.row)
        screen.print(board)
    screen.print(
        f"error, root mean square in sigmas: {found.before:.2f} before, {found.after:.2f} after"
        + (f", {found.best:.2f} with undetermined values" if found.best < found.after else "")
        + f"; {found.sets} sets of values, {found.trials} of them in the search"
    )
    for one, other, share in found.alike:
        text = (
            f"{one} and {other} can hardly be told apart (correlation {share:.3f}); keep one of"
            " them, or measure more"
        )
        screen.print(text, style="yellow", markup=False)
    if found.misfit:
        screen.print(found.misfit, style="yellow", markup=False)
    if not found.ended:
        screen.print(
            f"the search used its {found.trials} sets of values before it ended; allow more:"
            " --trials",
            style="yellow",
            markup=False,
        )


def show_refit(found: RefitResult) -> None:
    """Print a refit's values, and all claims before and after."""
    from elanite.validation import cells

    screen = console()
    values = table(("parameter", "before", "after"), right=("before", "after"))
    for each in found.values:
        values.add_row(each.key, each.before, each.after)
    screen.print(values)
    board = table(
        ("claim", "role", "published", "before", "", "after", ""), right=("before", "after")
    )
    for before, after in found.verdicts:
        fitted = "fitted here" if before.claim.id in found.taken else before.role
        number = before.error is not None  # findings have long texts
        figures = [
            words
            for each in (before, after)
            for words in (cells.simulated(each) if number else "", each.state)
        ]
        board.add_row(before.claim.id, fitted, cells.published(before.claim), *figures)
    screen.print(board)
    screen.print(
        f"error of the {len(found.taken)} claims, root mean square in tolerances:"
        f" {found.before:.2f} before, {found.after:.2f} after; {found.machines} sets of values"
    )
    if found.stay:
        screen.print(f"did not take part: {', '.join(found.stay)}", style="dim", markup=False)


def undetermined(found: Calibration, machine_out: Path | None) -> UsageError:
    """The error that names the parameters that keep their values, with a remedy."""
    from elanite.errors import UsageError

    names = " or ".join(each.key for each in found.undetermined)
    reasons = [f"  {found.misfit}"] if found.misfit else []
    reasons += [f"  {each.key} keeps {each.before}: {each.reason}" for each in found.undetermined]
    others = len(found.undetermined) < len(found.values)
    where = f"{machine_out} has the other values; " if machine_out and others else ""
    remedy = f"  {where}leave out --fit of such a parameter, widen its range, or measure more"
    return UsageError(
        "\n".join([f"the measured values do not determine {names}", *reasons, remedy])
    )
