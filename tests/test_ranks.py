"""Claim ranks: every claim has one, with its reason, and a rank that its data contradict is
refused.
"""

from __future__ import annotations

import re
from dataclasses import astuple

import pytest

from elanite.errors import UsageError
from elanite.validation.claim import COUNTED, fitted
from elanite.validation.claims import claims, claims_of
from elanite.validation.measures import FigureMeasure, Statements

WHOLE = """
[[claim]]
id = "a.whole"
source = "petrini2003 s5.1"
kind = "value"
rank = "value"
value = 100
says = "The whole."
"""
AGAIN = """
[[claim]]
id = "a.again"
source = "petrini2003 s5.1"
kind = "value"
RANK
value = 100
says = "The whole again."
"""
REPEAT = 'rank = "repeat"\nrests_on = ["a.whole"]\nbecause = "the same sentence"'


def read(rank: str) -> None:
    claims_of(WHOLE + AGAIN.replace("RANK", rank), "own.toml")


def test_a_rank_is_read() -> None:
    again = claims_of(WHOLE + AGAIN.replace("RANK", REPEAT), "own.toml")[1]
    assert (again.rank, again.rests_on, again.because) == (
        "repeat",
        ("a.whole",),
        "the same sentence",
    )


@pytest.mark.parametrize(
    ("rank", "said"),
    [
        ("", "`rank`: this key is needed"),
        ('rank = "valeu"', "did you mean `value`"),
        (
            REPEAT.replace("a.whole", "a.whol"),
            "`a.whol` is no other claim; did you mean `a.whole`?",
        ),
        (REPEAT.replace("a.whole", "a.again"), "`a.again` is no other claim"),
        (
            REPEAT.replace('["a.whole"]', "[]"),
            "`rests_on`: this key is for the ranks consequence and repeat, and needed",
        ),
        ('rank = "value"\nrests_on = ["a.whole"]', "the rank is value"),
        (
            REPEAT.replace("the same sentence", ""),
            "this key is for ranks other than value and order, and needed",
        ),
        ('rank = "order"\nbecause = "so"', "the rank is order"),
        (
            'rank = "bound"',
            "this key is for ranks other than value and order, and needed there; the rank is bound",
        ),
    ],
)
def test_a_rank_that_its_data_contradict_is_refused(rank: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read(rank)
    assert str(error.value).startswith("claim `a.again`, `")
    assert re.search(r"--> own.toml:1[0-9]:", str(error.value))
    assert said in str(error.value)
    assert "help: " in str(error.value)


def test_a_limit_is_no_value_and_a_repeat_repeats_no_repeat() -> None:
    with pytest.raises(UsageError, match="kind max is a bound; the rank is value"):
        claims_of(WHOLE.replace('kind = "value"', 'kind = "max"'), "own.toml")
    third = AGAIN.replace("a.again", "a.third").replace(
        "RANK", REPEAT.replace("a.whole", "a.again")
    )
    with pytest.raises(
        UsageError, match=r"`a\.third`, `rests_on`: a repeat rests on one claim, which is"
    ):
        claims_of(WHOLE + AGAIN.replace("RANK", REPEAT) + third, "own.toml")


def test_a_consequence_rests_on_fitted_claims() -> None:
    found = [claim for claim in claims() if claim.rank == "consequence"]
    assert len(found) >= 5
    for claim in found:
        assert set(claim.rests_on) <= fitted(), claim.id
        assert claim.id not in fitted()


def test_a_bound_that_the_source_does_not_state_is_named_as_ours() -> None:
    """Part bounds other than 0 and 1, and bounds in tests for which the source gives no figure."""
    for claim in claims():
        measure = (
            claim.measure.besides if isinstance(claim.measure, FigureMeasure) else claim.measure
        )
        parts = measure.parts if isinstance(measure, Statements) else ()
        bounds = {end for part in parts for end in astuple(part.bound)[:4] if end is not None}
        if bounds - {0.0, 1.0} and not claim.today:
            assert claim.ours, claim.id
        if "gives no figure" in claim.test:
            assert claim.ours, claim.id


def test_every_claim_of_a_finding_or_a_value_is_counted_unless_it_has_another_rank() -> None:
    ranks = {claim.rank for claim in claims()}
    assert ranks == {"value", "order", "bound", "consequence", "verification", "repeat"}
    assert all(claim.kind not in ("max", "min") for claim in claims() if claim.rank in COUNTED)
