"""Figure numbers and published values belong to the experiment's unchanged machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite as el
from conftest import FILES, figures_of
from elanite.figures import origin
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results.frames import FOREIGN
from test_figure_images import pings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from elanite.figures import Figure

OWN = FILES / "own-figures.toml"


def badges(drawn: Iterable[Figure]) -> list[tuple[str, bool]]:
    """The figures' numbers, and whether they have published values."""
    return [
        (one.paper, "published" in str(one.spec()["datasets"]) or "Published" in one.caption)
        for one in drawn
    ]


@pytest.mark.parametrize(
    ("machine", "changes", "own"),
    [
        (None, [], True),
        ("es40-qsnet", [], True),
        ("es40-qsnet", ["run.seeds=2", "series.size.repeats=2"], True),
        ("es40-qsnet", ["bus.rate=200 MB/s"], False),
        (None, ["bus.rate=200 MB/s"], False),
        ("smart-multirail", [], False),
    ],
)
def test_only_the_machine_of_the_experiment_has_its_numbers(
    machine: str | None, changes: list[str], own: bool
) -> None:
    chosen = [sources.read("machine", machine)] if machine else []
    planned = plan(sources.read("experiment", "qsnet/ping"), chosen, changes)
    assert origin.foreign_machines(planned) == (set() if own else {planned.machines[0].name})


def test_another_file_with_the_name_of_a_machine_is_another_machine(tmp_path: Path) -> None:
    shipped = sources.read("machine", "es40-qsnet")
    changed = shipped.text.replace('"400 MB/s"', '"800 MB/s"')
    assert changed != shipped.text
    for text, own in ((shipped.text, True), (changed, False)):
        (tmp_path / "es40-qsnet.toml").write_text(text)
        mine = sources.read("machine", tmp_path / "es40-qsnet.toml")
        found = origin.foreign_machines(plan(sources.read("experiment", "qsnet/ping"), [mine]))
        assert found == (set() if own else {"es40-qsnet"})


def test_results_of_an_override_have_no_published_values(tmp_path: Path) -> None:
    experiment = tmp_path / "own-figures.toml"
    experiment.write_text(OWN.read_text().replace("[[figure]]", '[[figure]]\npaper = "figure 9 a"'))
    usual = el.Machine.load("es40-qsnet")
    loaded = el.Experiment.load(experiment)
    assert badges(el.run(loaded, out=tmp_path).figures()) == [
        ("figure 9 a", True),
        ("figure 9 a", False),
    ]
    changed = el.run(loaded, [usual.with_({"bus.rate": "200 MB/s"})], out=tmp_path)
    assert badges(changed.figures()) == [("", False)] * 2


def test_panels_of_other_machines_have_neither_number_nor_published_values() -> None:
    rows = pings(on=("es40-qsnet", "fast")).with_columns((pl.col("on") == "fast").alias(FOREIGN))
    own, other = figures_of("qsnet/ping", rows)[:2]
    assert badges([own, other]) == [("figure 9 a", True), ("", False)]


def test_published_values_of_a_shared_figure_name_their_machine() -> None:
    rows = pings(on=("es40-qsnet", "fast")).filter(
        pl.col("source") == "elan", pl.col("destination") == "elan"
    )
    rows = rows.with_columns((pl.col("on") == "fast").alias(FOREIGN))
    (shared,) = [one for one in figures_of("qsnet/ping", rows) if one.name == "9a"]
    assert shared.paper == "figure 9 a"
    assert "on es40-qsnet: 335 MB/s" in shared.caption
    (alone,) = [
        one for one in figures_of("qsnet/ping", rows.filter(~pl.col(FOREIGN))) if one.name == "9a"
    ]
    assert "on es40-qsnet" not in alone.caption


def test_special_figures_of_other_machines_have_no_numbers() -> None:
    common = {"series": "nodes", "seed": 1, "sizes": "uniform", "arrivals": "uniform", "nodes": 64}
    rows = pl.DataFrame(
        [common | {"node": node, "accepted": 4.0 + node % 3} for node in range(1, 64)]
    )
    assert [one.paper for one in figures_of("qsnet/hotspot", rows, "nodes")] != [""]
    foreign = rows.with_columns(pl.lit(True).alias(FOREIGN))
    assert {one.paper for one in figures_of("qsnet/hotspot", foreign, "nodes")} == {""}
