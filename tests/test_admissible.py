"""Claims over a range that a source leaves open: the ends, their points, and the verdict beside the
value's.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from elanite import campaign
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.machine import Machine
from elanite.report import layout
from elanite.report.reproduction import parts
from elanite.store import Store
from elanite.validation import admissible_ranges, board
from elanite.validation.claim import Claim
from elanite.validation.claims import claims
from elanite.validation.scoreboard import verdict
from elanite.validation.short_runs import planned
from elanite.validation.verdict import AdmissibleRange, RangeEnd, Verdict, holds_within

KEY = "rails.handle"


@pytest.fixture
def chosen() -> tuple[Claim, ...]:
    return tuple(claim for claim in claims() if claim.admissible)


def test_shipped_ranges_have_the_value_of_the_machine_within_them() -> None:
    found = {name: admissible_ranges.of_machine(name) for name in sources.shipped("machine")}
    assert KEY in found["smart-multirail"]
    for name, ranges in found.items():
        for key, each in ranges.items():
            assert each.source, (name, key)
            for end in (each.low, each.high):
                assert Machine.load(name, [f"{key}={end}"])
    handle = found["smart-multirail"][KEY]
    assert float(handle.low) <= float(handle.value) <= float(handle.high)


def test_claims_of_a_range_are_about_machines_that_state_it(chosen: tuple[Claim, ...]) -> None:
    assert {claim.admissible for claim in chosen} == {KEY}
    assert {"multirail.hybrid.vs-dynamic", "multirail.128.dynamic-vs-basic"} <= {
        claim.id for claim in chosen
    }
    for claim in chosen:
        assert admissible_ranges.of_claim(claim, planned(claim.experiment)).key == KEY
    with pytest.raises(
        UsageError,
        match=r"claim `x`: smart-multirail states no admissible range of `rails\.handel`",
    ):
        admissible_ranges.of_claim(
            replace(chosen[0], id="x", admissible="rails.handel"), planned(chosen[0].experiment)
        )


def test_only_points_that_the_parameter_can_change_are_simulated_at_an_end(
    chosen: tuple[Claim, ...],
) -> None:
    usual = planned("multirail/hybrid")
    end = admissible_ranges.plan_at(usual, KEY, "600")
    assert [(p.series, p.parameters, p.seed) for p in end.points] == [
        (p.series, p.parameters, p.seed) for p in usual.points
    ]
    same = {p.id for p in usual.points} & {p.id for p in end.points}
    assert same == {p.id for p in usual.points if p.parameters["machine"] == "rails.policy=basic"}
    assert end.command().endswith(f"elanite run multirail/hybrid --set {KEY}=600")
    (more,) = admissible_ranges.plans(usual, chosen)
    assert same.isdisjoint(p.id for p in more.points)
    assert 0 < len(more.points) < len(usual.points)
    assert admissible_ranges.plans(planned("multirail/livelock"), chosen) == []


def test_a_reproduction_runs_the_ends_and_a_quick_one_does_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    store = Store(tmp_path_factory.mktemp("out") / "store")
    names = [part.name for part in parts(["multirail/nodes"], store, 1)]
    assert sorted(names) == ["multirail/nodes", f"multirail/nodes, {KEY}=600"]
    assert [part.name for part in parts(["multirail/nodes"], store, 1, quick=True)] == [
        "multirail/nodes"
    ]


CLAIM = Claim("a", "coll2003 s7", "value", "a gain", value=7.5, tolerance=0.1, admissible=KEY)
RANGE = AdmissibleRange(KEY, "400", "400", "600", "a few hundreds")


def over(here: float, holds: bool | None, there: float, held: bool | None) -> Verdict:
    end = Verdict(CLAIM, simulated=there, holds=held)
    return Verdict(CLAIM, simulated=here, holds=holds, range=RANGE, ends=(RangeEnd("600", end),))


@pytest.mark.parametrize(
    ("verdict", "holds"),
    [
        (over(7.4, True, 9.0, False), True),
        (over(4.5, False, 7.9, True), True),
        (over(4.5, False, 9.9, False), True),  # the published figure lies between the ends
        (over(4.5, False, 5.9, False), False),
        (over(9.5, False, 9.9, False), False),
        (over(4.5, False, 6.6, None), None),
    ],
)
def test_a_claim_holds_within_a_range_at_an_end_or_between_the_ends(
    verdict: Verdict, holds: bool | None
) -> None:
    assert holds_within(verdict) is holds
    words = {True: "holds within", False: "missed in", None: "not resolved in"}[holds]
    said = admissible_ranges.verdict_words(verdict)
    assert said.startswith(f"{words} the admissible range 400 to 600 of {KEY}; at 600: ")
    assert f"- `a`: {verdict.state}; {said}." in board.markdown([verdict])
    assert said[1:] in layout.render([], [verdict])
    about = verdict.as_json()["range"]
    assert (about["low"], about["high"], about["holds"]) == ("400", "600", holds)


def test_the_value_of_the_machine_alone_counts() -> None:
    """A claim that holds at an end only is missed, in every count."""
    verdict = over(4.5, False, 7.9, True)
    assert verdict.state == "missed"
    assert "0 of 1" in board.headline([verdict])


def test_a_verdict_without_its_ends_is_not_complete() -> None:
    whole = over(4.5, False, 7.9, True)
    assert whole.complete
    before = replace(whole, ends=())
    assert before.judged
    assert not before.complete
    assert admissible_ranges.verdict_words(before) == ""
    assert "`a`: missed; not run at the ends of its range" in board.markdown([before])


def test_a_claim_is_judged_at_the_ends_that_were_run(tmp_path: Path) -> None:
    (livelock,) = (claim for claim in claims() if claim.id == "multirail.livelock")
    claim, usual, store = (
        replace(livelock, admissible=KEY),
        planned("multirail/livelock"),
        Store(tmp_path / "store"),
    )
    assert not campaign.run([usual], store, 1).failures
    before = verdict(claim, usual, store)
    assert before.judged
    assert before.ends == ()
    more = admissible_ranges.plans(usual, (claim,))
    assert [len(each.points) for each in more] == [len(usual.points)]
    assert not campaign.run(more, store, 1).failures
    whole = verdict(claim, usual, store)
    assert whole.complete
    assert [(end.value, end.verdict.holds) for end in whole.ends] == [("600", True)]
    assert (
        admissible_ranges.verdict_words(whole)
        == f"holds within the admissible range 400 to 600 of {KEY}; at 600: holds"
    )
    assert verdict(claim, usual, store, 0).ends == ()
