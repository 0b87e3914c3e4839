"""Shipped experiments' figures on two machines: each figure shows both, and the machines do not
affect each other.

The same holds for two values of any other parameter, such as a varied key in a sweep.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest

import drawings
import test_collective_figures as collective
import test_job_figures as jobs
from conftest import figures_of
from elanite.figures import grouping, tabular
from test_figures import ping, uniform
from test_multirail_figures import rows_of_rails

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.figures import Figure

EXPERIMENTS: dict[str, tuple[Callable[[], pl.DataFrame], str]] = {
    "qsnet/ping": (ping, "rows"),
    "qsnet/uniform": (uniform, "rows"),
    "qsnet/permutations": (jobs.permutations, "rows"),
    "qsnet/hotspot": (jobs.hotspot, "rows"),
    "qsnet/io": (jobs.io, "rows"),
    "qsnet/combined": (jobs.combined, "rows"),
    "qsnet/ablations": (jobs.ablations, "rows"),
    "collectives/barrier": (collective.barriers, "rows"),
    "collectives/broadcast": (collective.broadcasts, "rows"),
    "collectives/deadlock": (collective.completion, "rows"),
    "multirail/hybrid": (rows_of_rails, "rows"),
}

PARAMETERS = {
    "on": ("es40-qsnet", "infiniband-ndr"),
    "link.rate": ("400 MB/s", "800 MB/s"),
    "topology.up": ("[4,4]", "[8,8]"),
}

CASES = [(name, "on") for name in EXPERIMENTS]
CASES += [("qsnet/ping", "topology.up"), ("multirail/hybrid", "link.rate")]


@pytest.mark.parametrize(("experiment", "parameter"), CASES)
def test_neither_of_two_changes_the_figures_of_the_other(experiment: str, parameter: str) -> None:
    compare(experiment, parameter)


@pytest.mark.parametrize("experiment", ["qsnet/io", "qsnet/ablations", "collectives/deadlock"])
def test_a_table_that_forgets_machines_is_found(
    experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "parts", lambda rows, _: [("", rows)])
    with pytest.raises(AssertionError):
        compare(experiment, "on")


def compare(experiment: str, parameter: str) -> None:
    make, table = EXPERIMENTS[experiment]
    alone = [
        with_id(make()).with_columns(pl.lit(value).alias(parameter), value=pl.col("value") * factor)
        for value, factor in zip(PARAMETERS[parameter], (1.0, 3.0), strict=True)
    ]
    both = figures_of(experiment, pl.concat(alone, how="diagonal_relaxed"), table, validate=False)
    expected = sum(
        (shown(figures_of(experiment, rows, table, validate=False)) for rows in alone), Counter()
    )
    assert shown(both) == expected
    assert len({figure.name for figure in both}) == len(both)
    if experiment != "collectives/deadlock":  # its axis is made by Vega
        assert not [figure.title for figure in both if drawings.outside(figure)], (
            "marks beyond the axis"
        )


def with_id(rows: pl.DataFrame) -> pl.DataFrame:
    return rows if "id" in rows.columns else rows.with_columns(id=pl.lit("x"))


def shown(found: list[Figure]) -> Counter[tuple[str, ...]]:
    """The rows behind figures, without curve names."""
    rows: Counter[tuple[str, ...]] = Counter()
    for figure in found:
        head, table = tabular.table(figure)
        legends = {legend.title for legend in tabular.legends(figure.spec())}
        rows.update(
            tuple(text for name, text in zip(head, row, strict=True) if name not in legends)
            for row in table
        )
    assert rows
    return rows
