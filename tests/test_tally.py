"""The claim count: the headline counts only values and orders that can fail, each once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elanite.errors import UsageError
from elanite.validation import ablation_verdicts, board, tally
from elanite.validation.ablation_verdicts import Ablation, read, turning, written
from elanite.validation.claim import Claim
from elanite.validation.claims import claims
from elanite.validation.verdict import Verdict

VALUE = Claim("value", "petrini2003", "value", "a value", "value", value=1.0)
ORDER = replace(VALUE, id="order", kind="order", rank="order")
STEADY = replace(VALUE, id="steady")
OPEN = replace(VALUE, id="open")
BOUND = replace(VALUE, id="bound", kind="max", rank="bound", because="a limit")
CONSEQUENCE = replace(
    VALUE, id="consequence", rank="consequence", rests_on=("value",), because="the same bus"
)
VERIFICATION = replace(VALUE, id="verification", rank="verification", because="built so")
REPEAT = replace(
    VALUE, id="repeat", rank="repeat", rests_on=("value",), because="the same sentence"
)
ALL = (VALUE, ORDER, STEADY, OPEN, BOUND, CONSEQUENCE, VERIFICATION, REPEAT)


def rows(claim: str, *outcomes: ablation_verdicts.Outcome) -> tuple[Ablation, ...]:
    names = (ablation_verdicts.WHOLE, "circuits", "channels")
    return tuple(
        Ablation(claim, name, one, "1 µs") for name, one in zip(names, outcomes, strict=False)
    )


@pytest.fixture(autouse=True)
def _ablations(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        **{
            name: rows(name, "holds", "missed", "holds")
            for name in ("value", "order", "bound", "repeat")
        },
        "steady": rows("steady", "holds", "holds", "not resolved"),
    }
    monkeypatch.setattr(ablation_verdicts, "shipped", lambda: table)


def holding(*these: Claim) -> list[Verdict]:
    return [Verdict(claim, simulated=1.0, holds=True) for claim in these]


def test_each_rank_has_its_line() -> None:
    assert tally.lines(holding(*ALL)) == [
        "2 of 2 predicted values and orders hold",
        "with the 1 whose verdict no removed mechanism turns and 1 not yet ablated, 4 of 4 hold",
        "1 of 1 bounds hold",
        "1 of 1 consequences of fitted figures hold",
        "1 of 1 verifications of an implementation hold",
        "1 of 1 repeats hold",
    ]
    assert (
        tally.unranked_count(holding(*ALL)) == "8 of 8 predicted claims of all ranks hold, 0 missed"
    )


@pytest.mark.parametrize("claim", [BOUND, CONSEQUENCE, VERIFICATION, REPEAT, STEADY, OPEN])
def test_what_cannot_fail_or_stands_elsewhere_does_not_change_the_headline(claim: Claim) -> None:
    """A bound that would be counted, and a repeat that would be counted twice, although their
    verdicts turn.
    """
    alone = tally.counts(holding(VALUE, ORDER))["headline"]
    for holds in (True, False):
        beside = [*holding(VALUE, ORDER), Verdict(claim, simulated=1.0, holds=holds)]
        assert tally.counts(beside)["headline"] == alone
    planted = replace(claim, id="value", rank="value")
    assert (
        tally.counts([*holding(ORDER), Verdict(planted, simulated=1.0, holds=True)])[
            "headline"
        ].total
        == 2
    )


def test_misses_with_one_cause_count_once() -> None:
    other = replace(ORDER, one_miss="value")
    both = [Verdict(one, simulated=1.0, holds=False) for one in (VALUE, other)]
    assert tally.lines(both) == [
        "0 of 1 predicted values and orders hold, 1 missed, 1 more missed with one of these"
    ]
    only = [Verdict(VALUE, simulated=1.0, holds=True), Verdict(other, simulated=1.0, holds=False)]
    assert tally.lines(only) == ["1 of 2 predicted values and orders hold, 1 missed"]


def test_a_verdict_that_is_not_resolved_turns_nothing() -> None:
    assert turning(rows("a", "holds", "missed", "not resolved")) == ("circuits",)
    assert turning(rows("a", "missed", "holds", "holds")) == ("circuits", "channels")
    assert turning(rows("a", "not resolved", "missed", "holds")) == ()


def test_a_claim_counts_as_ablated_if_short_runs_give_the_verdict_of_the_scoreboard() -> None:
    missed, vague = replace(VALUE, known_miss="a cause"), replace(VALUE, vague="no figure")
    both = replace(missed, vague="no figure")
    agreeing: dict[ablation_verdicts.Outcome, tuple[Claim, ...]] = {
        "holds": (VALUE, vague),
        "missed": (missed, both),
        "not resolved": (vague, both),
    }
    for verdict, some in agreeing.items():
        found = [
            claim
            for claim in (VALUE, missed, vague, both)
            if ablation_verdicts.agrees(claim, rows("value", verdict))
        ]
        assert found == list(some)
    assert not ablation_verdicts.agrees(VALUE, ())


def test_the_table_of_ablations_is_read_as_written() -> None:
    table = [*rows("a", "holds", "missed"), *rows("b", "holds")]
    assert read(written(table), "ablations.toml") == {"a": tuple(table[:2]), "b": tuple(table[2:])}
    with pytest.raises(
        UsageError, match=r"ablations\.toml: claim `a` has no row with mechanism = 'none'"
    ):
        read(written(table[1:2]), "ablations.toml")


def test_shipped_ablations_are_of_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert set(ablation_verdicts.shipped()) <= {claim.id for claim in claims()}


def test_the_page_has_a_section_and_the_reason_of_each_rank() -> None:
    page = board.markdown(holding(*ALL))
    assert "## Bounds\n\n| claim" in page
    assert "- `repeat` (of `value`): the same sentence." in page
    headline, _, rest = page.partition("## Predicted, and turned by no removed mechanism")
    assert "| `value` |" in headline
    for claim in ALL[2:]:
        assert f"| `{claim.id}` |" in rest
        assert f"| `{claim.id}` |" not in headline
    assert "that count would now be 8 of 8 predicted claims of all ranks hold" in page
