"""Mistakes planted in figure grouping, each found by the random experiments or by their
neighbours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from elanite.figures import (
    axes,
    curves,
    default_figures,
    figure_requests,
    grouping,
    published_values,
    request_layers,
)
from elanite.results import frames
from test_figure_grouping import SEEDS, case, check, check_published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elanite.figures.grouping import Grouping, Panel

Patch = pytest.MonkeyPatch


def without(name: str) -> Callable[[Patch], None]:
    """The grouping forgets a column."""
    real = grouping.distinct

    def plant(patch: Patch) -> None:
        patch.setattr(grouping, "distinct", lambda rows: [one for one in real(rows) if one != name])

    return plant


def dropped_machine(patch: Patch) -> None:
    """Machines are not a parameter."""
    without("on")(patch)


def dropped_list(patch: Patch) -> None:
    without("topology.up")(patch)


def dropped_job(patch: Patch) -> None:
    without("job")(patch)


def seeds_are_configurations(patch: Patch) -> None:
    """Each seed has its own curve."""
    real = grouping.distinct

    def plant(rows: pl.DataFrame) -> list[str]:
        return [*real(rows), *(["seed"] if rows["seed"].n_unique() > 1 else [])]

    patch.setattr(grouping, "distinct", plant)


def averaged_over_the_last(patch: Patch) -> None:
    """Means and bands span the curves' last parameter."""
    real = grouping.grouped

    def plant(*arguments: Any, **more: Any) -> Grouping:
        found = real(*arguments, **more)
        kept = tuple(one for one in found.configuration if one in found.axis)
        return replace(found, curves=found.curves[:-1], configuration=kept)

    patch.setattr(grouping, "grouped", plant)


def one_name_suffices(patch: Patch) -> None:
    """Configurations with the name that the file gives lie on top of each other."""
    real = grouping.grouped

    def plant(
        rows: pl.DataFrame, axis: Sequence[str] = (), named: Sequence[str] = (), *rest: Any
    ) -> Grouping:
        found = real(rows, axis, named, *rest)
        return replace(found, curves=tuple(named), panels=()) if named else found

    patch.setattr(grouping, "grouped", plant)


def vanished_sample(patch: Patch) -> None:
    """A key that another one decides is in no name, caption or table."""
    real = grouping.grouped

    def plant(*arguments: Any, **more: Any) -> Grouping:
        found = real(*arguments, **more)
        roles = ("curves", "panels", "configuration", "beside", "sampled")
        return replace(
            found,
            **{r: tuple(n for n in getattr(found, r) if n != "link.hop_delay") for r in roles},
        )

    patch.setattr(grouping, "grouped", plant)


def intervals_of_two(patch: Patch) -> None:
    """Two values have an interval."""
    for module in (figure_requests, default_figures):
        patch.setattr(module, "resolved", lambda means: means)
    patch.setattr(curves, "FEWEST", 2)


def bands_without_words(patch: Patch) -> None:
    """Captions do not explain bars."""
    patch.setattr(request_layers, "BARS", "")
    patch.setattr(default_figures, "INTERVALS", "")


def lost_facet(patch: Patch) -> None:
    """The last panel is missing."""
    real = grouping.panels

    def plant(*arguments: Any) -> Iterator[Panel]:
        found = list(real(*arguments))
        yield from found[:-1] if len(found) > 1 else found

    patch.setattr(grouping, "panels", plant)


def crowded_panel(patch: Patch) -> None:
    """All curves in one panel."""
    patch.setattr(grouping, "CURVES", 1000)


def one_label(patch: Patch) -> None:
    """Different curves have one label."""
    patch.setattr(grouping, "value_label", lambda value: str(value)[:3])
    patch.setattr(
        grouping,
        "names",
        lambda table, _=(): [", ".join(str(one)[:3] for one in row) for row in table.rows()],
    )


def lists_as_texts(patch: Patch) -> None:
    """Lists have brackets."""
    patch.setattr(grouping, "value_label", str)
    patch.setattr(axes, "value_label", str)


def axis_of_intervals(patch: Patch) -> None:
    """An axis reaches as far as the intervals."""
    patch.setattr(axes, "BEYOND", 1e9)


def cut_without_words(patch: Patch) -> None:
    """Intervals end at the frame, and no caption names them."""
    patch.setattr(axes, "cut", lambda *_, **__: "")


def axis_of_means(patch: Patch) -> None:
    """An axis without room for published values."""
    real = axes.ends
    patch.setattr(
        axes, "ends", lambda data, stated=(), *, log=False: real(data, stated[:0], log=log)
    )


def first_batch(patch: Patch) -> None:
    """A mean is the first value."""
    real = frames.summarise

    def plant(rows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
        return real(rows.unique(subset=list(by), keep="first", maintain_order=True), by)

    for module in (figure_requests, default_figures):
        patch.setattr(module, "summarise", plant)


def rules_across(patch: Patch) -> None:
    """A value at one place is a rule across."""
    patch.setattr(published_values, "places", lambda *_: ())


def names_on_names(patch: Patch) -> None:
    """Rule names stand at their values."""
    patch.setattr(published_values, "separated_places", lambda places, *_: list(places))


MISTAKES = [
    without("pattern"),
    dropped_machine,
    dropped_list,
    dropped_job,
    seeds_are_configurations,
    averaged_over_the_last,
    one_name_suffices,
    vanished_sample,
    intervals_of_two,
    bands_without_words,
    lost_facet,
    crowded_panel,
    one_label,
    lists_as_texts,
    axis_of_intervals,
    cut_without_words,
    axis_of_means,
    first_batch,
    rules_across,
    names_on_names,
]


@pytest.mark.parametrize("plant", MISTAKES)
def test_a_planted_mistake_is_found(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    plant(monkeypatch)
    assert any(fails(seed) for seed in SEEDS)


def fails(seed: int) -> bool:
    try:
        check(case(seed))
        check_published(seed)
    except AssertionError:
        return True
    return False
