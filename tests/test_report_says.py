"""The report has the commands, the reasons and the counts for its contents."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl
import pytest

from elanite import campaign, figures
from elanite.figures import tabular
from elanite.inputs import sources
from elanite.inputs.plan import Plan, plan
from elanite.report import index as report
from elanite.report.content import ExperimentSection
from elanite.report.index import Writer, commands
from elanite.report.layout import render
from elanite.results.numbers import Number
from elanite.store import Manifest, Store
from elanite.validation import reference, short_runs
from elanite.validation.claim import COUNTED, Claim
from elanite.validation.claims import claims
from elanite.validation.scoreboard import measured
from elanite.validation.short_runs import planned
from elanite.validation.verdict import Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.inputs.plan import Point
    from elanite.store.manifest import Data


def section(name: str) -> ExperimentSection:
    return ExperimentSection(plan(sources.read("experiment", name)), 0, [], 0, 0, 0.0)


@pytest.mark.parametrize(
    ("names", "seed", "is_quick", "expected"),
    [
        (["qsnet/ping"], 1, False, ["elanite reproduce --only qsnet/ping"]),
        (
            ["sources/unicast", "qsnet/ping"],
            1,
            True,
            ["elanite reproduce --only qsnet/ping,sources/unicast --quick"],
        ),
        (["qsnet/ping"], 7, True, ["elanite reproduce --only qsnet/ping --quick --seed 7"]),
        (sources.shipped("experiment"), 1, False, ["elanite reproduce"]),
        (
            ["qsnet/ping", "faults/rails"],
            1,
            True,
            [
                "elanite reproduce --only qsnet/ping --quick",
                "elanite reproduce --only faults/rails",
            ],
        ),
    ],
)
def test_the_commands_simulate_what_the_report_shows(
    names: list[str], seed: int, is_quick: bool, expected: list[str]
) -> None:
    """``faults/rails`` decides no claim, and a quick run leaves it out."""
    assert commands([section(name) for name in names], seed, quick=is_quick) == expected


def test_a_report_shows_the_experiments_that_were_asked_for(tmp_path: Path) -> None:
    """``qsnet2/ping`` has its own points; an experiment that merely shares some is not shown."""
    store = Store(tmp_path / "store")
    mine = planned("qsnet/ping")
    sharing = [
        name
        for name in sources.shipped("experiment")
        if name != "qsnet/ping"
        and {p.id for p in planned(name).points} & {p.id for p in mine.points}
    ]
    assert sharing, "the test needs experiments that share points with pings"
    other = planned(sharing[0])
    shared = {point.id for point in other.points}
    few: Plan = replace(
        mine, points=tuple(point for point in mine.points if point.id in shared)[:1]
    )
    campaign.run([few], store)
    Writer(tmp_path, store, asked=["qsnet/ping"]).write()
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<section id="([^"]+)" class="experiment"', page) == ["qsnet-ping"]
    assert "elanite reproduce --only qsnet/ping</code>" in page


def test_claims_about_networks_of_today_are_counted_with_the_others() -> None:
    """The page counts as many claims without results as the scoreboard has."""
    page = render([], [Verdict(claim, note="not run") for claim in claims()])
    today = sum(claim.today for claim in claims())
    assert f"<b>{len(claims())}</b> not run yet, {today} of them about networks of today" in page
    held = [Verdict(claim, simulated=1.0, holds=True) for claim in claims() if claim.today]
    assert "Networks of today: " in render([], held).partition("<main")[2]


def test_one_value_resolves_no_claim_of_a_quick_run_and_has_no_interval() -> None:
    """However far the bound is: one seed's figure does not determine another's."""
    claim = Claim(
        "a", "paper", "min", "says", value=1.0, unit="packets", experiment="qsnet/congestion"
    )
    one = judge(claim, Number(7602.0, 7602.0, 7602.0, values=(7602.0,)), 0)
    assert (one.holds, one.state, one.unresolved) == (
        None,
        "not resolved",
        "fewer than three values",
    )
    assert (one.low, one.high, one.as_json()["unresolved"]) == (
        None,
        None,
        "fewer than three values",
    )
    wide = judge(claim, Number(5.0, -3.0, 13.0, values=(1.0, 5.0, 9.0)), 0)
    assert wide.unresolved == "the interval has the bound inside"
    known = next(
        each
        for each in claims()
        if each.kind == "value" and each.role == "predicted" and not each.vague
    )
    few, broad = (Verdict(known, simulated=1.0, few=one) for one in (True, False))
    assert "<b>1</b> not resolved: fewer than three values<" in render([], [few])
    assert "<b>2</b> not resolved: fewer than three values: 1; the interval has" in render(
        [], [few, broad]
    )
    assert judge(claim, Number(9.0, 9.0, 9.0, values=(9.0,))).holds is True, (
        "a whole run without noise is exact"
    )


def test_the_sentences_of_a_quick_run_agree_with_its_verdict() -> None:
    """No verdict from two seeds, and no interval from two values."""
    claim = next(claim for claim in claims() if claim.id == "congestion.complement.top-level")
    rows = pl.DataFrame(
        [
            {
                "seed": seed,
                "machine": machine,
                "metric": "accepted",
                "batch": None,
                "value": value + seed,
            }
            for machine, value in (
                ("unchanged", 280.0),
                ("topology.up=[4,2]", 140.0),
                ("topology.parallel=[1,2]", 144),
            )
            for seed in (1, 2)
        ],
        infer_schema_length=None,
    )
    found = judge(claim, measured(claim, rows, 0), 0)
    assert found.holds is None
    assert [part.holds for part in found.parts] == [None]
    assert str(found.simulated).startswith("kept, not resolved: 0.51")
    assert "±" not in str(found.simulated)
    assert "kept, no: " in str(judge(claim, measured(claim, rows)).simulated)


def test_the_table_of_a_figure_names_the_rows_of_the_shipped_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    short = short_runs.planned("today/rails", look=0)
    beside = reference.rows(short)
    first = next(
        point for point in short_runs.left_out("today/rails") if point.series == "exchange-rails"
    )
    campaign.run([replace(short, points=(first,))], store)
    extended = replace(short, points=(*short.points, first))
    figure = next(
        one for one in figures.drawn(extended, store, beside) if one.name == "exchange-rails"
    )
    head, rows = tabular.table(figure)
    assert head[-1] == "results of"
    assert [row[-1] for row in rows].count("this run") == 1
    assert {row[-1] for row in rows} == {"this run", "shipped run"}
    page = render([replace(report.section(extended, [first], store, beside))], [])
    assert "Everything but marks with dashed outlines was simulated here" in page


def test_the_cover_explains_its_counts() -> None:
    """Newcomers read the meaning of ablations and of the counts beside the chapters."""
    claim = next(
        claim
        for claim in claims()
        if claim.role == "predicted" and claim.rank in COUNTED and not claim.today
    )
    page = render([], [Verdict(claim, simulated=1.0, holds=True)])
    assert "An ablation removes one mechanism" in page
    assert "n/m: n claims hold of m with results" in page
    assert not re.search(r"of \d+ values and orders", page), "predicted values and orders"


def test_ranks_of_findings_alone_are_not_empty() -> None:
    """``None yet`` stands where a claim kind has no figure and no finding."""
    kind = ("bound", "consequence", "verification", "repeat")
    finding = next(
        claim
        for claim in claims()
        if claim.rank in kind and claim.value is None and not claim.today
    )
    page = render([], [Verdict(finding, simulated=1.0, holds=True)])
    others = page.partition("Other ranks")[2].partition("</figure>")[0]
    assert f"{finding.id}: holds" in others
    assert "None yet" not in others
    assert "None yet" in page.partition("Other ranks")[0]


class Held:
    """A store with points of one experiment."""

    def __init__(self, points: Iterable[Point]) -> None:
        data = cast("Data", {"experiment": "qsnet/permutations"})
        self.held = {point.id: Manifest(data) for point in points}

    def identities(self) -> list[str]:
        """The points' identities."""
        return list(self.held)

    def get(self, identity: str) -> Manifest | None:
        """A point's manifest."""
        return self.held.get(identity)


def test_a_report_on_whole_runs_counts_the_points_of_quick_runs() -> None:
    short, whole = (
        short_runs.planned("qsnet/permutations", look=look).points for look in (0, None)
    )
    assert not {point.id for point in short} & {point.id for point in whole}
    said = (
        "The figures and claims rest on whole runs; 3 finished points of quick runs are left out:"
        " elanite report --quick shows them."
    )
    assert report.left_out(cast("Store", Held([*short[:3], *whole[:5]])), 1) == said
    assert report.left_out(cast("Store", Held(whole[:5])), 1) == ""
