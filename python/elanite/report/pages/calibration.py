"""A calibration's page: the fitted values with their intervals, and measured against simulated
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elanite.base.text import counted, heading, micro, number, plain
from elanite.report.pages.frame import Page, PageTable, Section
from elanite.study.fit import ERRORS, VALUES
from elanite.study.residuals import ASSUMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elanite.report.pages.inputs import Inputs
    from elanite.study.fit import Calibration


def page(found: Calibration, command: Sequence[str], inputs: Inputs) -> Page:
    """The page; ``command`` are the executed command-line words."""
    notes = [_sentence(found.misfit)] if found.misfit else []
    notes += [
        micro(f"Not determined: {each.key} keeps {each.before}; {each.reason}.")
        for each in found.undetermined
    ]
    if not found.ended:
        notes.append(
            f"The search used its {found.trials} sets of values before it ended: --trials allows"
            " more."
        )
    experiments = dict.fromkeys(group.experiment for group in found.groups)
    return Page(
        title=f"Calibration of {found.base.name}",
        command=command,
        inputs=inputs,
        about=" · ".join(
            [
                " and ".join(experiments),
                counted(len(found.places), "measured value"),
                (
                    f"{counted(found.sets, 'set of values', 'sets of values')}, {found.trials:,} of"
                    " them in the search"
                ),
            ]
        ),
        findings=_findings(found),
        notes=notes,
        sections=[
            Section("Parameters", tables=[_values(found)], text=_correlated(found)),
            Section(
                "Measured and simulated",
                figures=found.figures(),
                tables=[_errors(found), _places(found)],
            ),
        ],
        machines=[found.machine],
    )


def _findings(found: Calibration) -> list[str]:
    """The error before and after, and each value that the data determine."""
    errors = f"{found.before:.2f} standard errors before, {found.after:.2f} after"
    values = [
        micro(f"{each.key}: {each.supported} (95% interval {each.interval}), {each.before} before.")
        for each in found.values
        if each.determined
    ]
    return [*values, f"Root mean square of all errors: {errors}."]


def _correlated(found: Calibration) -> list[str]:
    return [
        f"{one} and {other} can hardly be told apart: the correlation of their errors is"
        f" {share:.3f}."
        for one, other, share in found.alike
    ]


def _values(found: Calibration) -> PageTable:
    note = (
        "The interval has the values within the range that fit no worse than chance explains."
        " Values have two digits of their standard error here, and all digits in the machine file."
    )
    if found.misfit:
        note += (
            " No values fit: an interval has those that do not fit clearly worse than the best, and"
            " there is none where it has both ends of the range."
        )
    rows = [each.row for each in found.values]
    return PageTable(VALUES, rows, "Fitted parameters", right=VALUES[1:], note=note)


def _errors(found: Calibration) -> PageTable:
    return PageTable(
        ERRORS,
        [each.row for each in found.groups],
        "Errors by series and metric",
        right=ERRORS[3:],
        note="Errors are root mean squares.",
    )


def _places(found: Calibration) -> PageTable:
    """Every line in the file with measured values."""
    columns = (
        "experiment",
        "series",
        "configuration",
        "metric",
        "measured",
        "sigma",
        "before",
        "after",
        "residual",
    )
    left_out = ("id", "seed", "experiment", "series")
    rows = []
    for each in found.places:
        twins = {name for name in each.about if name.rpartition("_")[0] in each.about}
        about = {
            name: value
            for name, value in each.about.items()
            if name not in left_out and name not in twins
        }
        numbers = (each.measured, each.sigma, each.before, each.after, each.residual)
        words = ", ".join(f"{name} {plain(value)}" for name, value in about.items())
        names = (
            each.about["experiment"],
            each.about["series"],
            words,
            heading(each.metric, each.unit),
        )
        rows.append((*map(str, names), *map(number, numbers)))
    assumed = "" if all(each.stated for each in found.places) else f" {ASSUMED}"
    note = f"The residual is after less measured, in standard errors of both.{assumed}"
    return PageTable(columns, rows, "Measured values", right=columns[4:], folded=True, note=note)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
