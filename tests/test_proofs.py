"""Proofs that claims are inconsistent in their source are evaluated, and a proof that proves
nothing is refused.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from elanite.errors import UsageError
from elanite.validation.claim import fitted
from elanite.validation.claims import claims, claims_of
from elanite.validation.proofs import compared

OTHERS = """
[[claim]]
id = "paper.whole"
source = "petrini2003 s5.5"
kind = "value"
rank = "value"
value = 100
says = "The whole."
[[claim]]
id = "paper.range"
source = "petrini2003 s5.5"
kind = "range"
rank = "value"
low = 1
high = 2
says = "A range."
[[claim]]
id = "other.part"
source = "coll2003 s6.3"
kind = "value"
rank = "value"
value = 40
says = "A figure of another paper."
"""

CLAIM = """
[[claim]]
id = "paper.part"
source = "coll2001 s1; petrini2003 s5.6"
kind = "value"
rank = "value"
value = 0.3
says = "A part."
[claim.proof]
of = OF
shows = "SHOWS"
implied = IMPLIED
says = "the parts exceed the whole"
"""

OF = '{ whole = "paper.whole", part = "paper.part" }'
SHOWS = "4 * part * whole > whole + 10"


def filled(of: str = OF, shows: str = SHOWS, implied: float = 0.25) -> str:
    return CLAIM.replace("OF", of).replace("SHOWS", shows).replace("IMPLIED", str(implied))


def read(of: str = OF, shows: str = SHOWS, implied: float = 0.25) -> Any:
    (found,) = (
        claim
        for claim in claims_of(OTHERS + filled(of, shows, implied), "own.toml")
        if claim.id == "paper.part"
    )
    return found


def test_every_proof_is_evaluated() -> None:
    """In exact arithmetic, and once more with the language's numbers."""
    proved = [claim for claim in claims() if claim.proof]
    assert [claim.id for claim in proved] == ["hotspot.64.loss", "io.read-write"]
    values = {claim.id: claim.value for claim in claims()}
    for claim in proved:
        assert claim.proof
        figures = {name: values[identity] for name, identity in claim.proof.of}
        assert all(isinstance(figure, int | float) for figure in figures.values())
        assert compared(
            claim.proof.shows, {name: Fraction(str(figure)) for name, figure in figures.items()}
        )[0]
        for name, figure in figures.items():
            assert re.search(rf"\b{name}\b", claim.proof.shows), figure


def test_the_groups_of_the_hot_spot_exclude_its_loss() -> None:
    """The same arithmetic by hand, from the figures in s5.5: at most 292.5 for the groups, 301 with
    the hot node.
    """
    at_most = 3 * 8.5 + 12 * 4.85 + 48 * 4.35
    assert at_most == pytest.approx(292.5)
    assert at_most + 8.5 < (1 - 0.085) * 336.5
    (claim,) = (claim for claim in claims() if claim.id == "hotspot.64.loss")
    assert claim.proof
    assert claim.proof.sides == "301 < 307.897"


def busy_at_once(clients: int, both: Fraction, alone: Fraction) -> tuple[Fraction, Fraction]:
    """A closed network with two stations, a server's directions, solved exactly.

    The first figure is the fraction of time in which both are busy, the second their combined rate.
    A client sends its next message in either direction with equal chance. ``both`` is a direction's
    rate while both are busy, ``alone`` the rate while it alone is busy.
    """
    rates = [both if 0 < here < clients else alone for here in range(clients + 1)]
    # Half the messages that one direction ends begin in the other: the flows between neighbouring
    # splits balance.
    weights = [Fraction(1)]
    for here in range(clients):
        weights.append(weights[-1] * rates[here] / rates[here + 1])
    busy = sum(weights[1:-1]) / sum(weights)
    return busy, 2 * both * busy + alone * (1 - busy)


def test_both_directions_of_a_server_are_busy_three_quarters_of_the_time() -> None:
    """The premise of the proof on reads and writes, with the published figures: 280 each way, 338
    in one direction.
    """
    busy, rate = busy_at_once(7, Fraction(300), Fraction(300))
    assert busy == Fraction(3, 4)
    assert rate == Fraction(300) * Fraction(7, 4), (
        "1.75 times one direction, the sensitivity without a contradiction"
    )
    busy, rate = busy_at_once(7, Fraction(280), Fraction(338))
    assert busy > Fraction(3, 4), "3/4 is the least: a direction that is alone is faster"
    assert rate > 504
    (claim,) = (claim for claim in claims() if claim.id == "io.read-write")
    assert claim.proof
    assert claim.proof.implied == 1.75
    assert claim.proof.sides == "338 < 500.476"


def test_classes_are_by_the_text() -> None:
    """No parameter is fitted to a claim that is refuted or inferred, and both are shown with a
    simulated figure.
    """
    for claim in claims():
        assert not (claim.proof and claim.inference)
        if claim.proof or claim.inference:
            assert claim.id not in fitted()
            assert claim.experiment
    inferred = {claim.id for claim in claims() if claim.role == "inference"}
    assert inferred == {
        "congestion.complement.all-links",
        "congestion.complement.top-level",
        "multirail.limit",
        "uniform.channels",
        "uniform.circuits",
    }


def test_a_proof_may_take_the_least_and_the_most() -> None:
    claim = read(shows="max(2, whole) > min(25, 100 * part, 40) + part * 200", implied=0.9)
    assert claim.proof.sides == "100 > 85"


def test_a_proof_makes_a_claim_inconsistent() -> None:
    claim = read()
    assert claim.role == "inconsistent"
    assert (
        claim.proof.text
        == "the parts exceed the whole: 4 * part * whole > whole + 10, which is 120 > 110"
        " (whole is paper.whole, part is paper.part)"
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(
            {"shows": "4 * part * whole > whole + 20"},
            [
                "`proof.shows` = `4 * part * whole > whole + 20`",
                "is false: 120 > 120",
                "correct the arithmetic",
            ],
            id="false",
        ),
        pytest.param(
            {"of": '{ whole = "paper.hole", part = "paper.part" }'},
            [
                "`proof.of.whole` = `paper.hole`",
                "no such claim; did you mean `paper.whole`?",
                "use the `id`",
            ],
            id="unknown claim",
        ),
        pytest.param(
            {"of": '{ whole = "other.part", part = "paper.part" }'},
            [
                "`proof.of.whole` = `other.part`",
                "of coll2003 s6.3",
                "use figures of the same paper",
            ],
            id="another paper",
        ),
        pytest.param(
            {"of": '{ whole = "paper.range", part = "paper.part" }'},
            [
                "`proof.of.whole` = `paper.range`",
                "no single published figure",
                "use claims with a `value`",
            ],
            id="no figure",
        ),
        pytest.param(
            {"of": '{ whole = "paper.whole" }', "shows": "whole > 10"},
            ["`proof.of`: ", "own figure is absent", "add `paper.part`"],
            id="not about the claim",
        ),
        pytest.param(
            {"shows": "part > 0.1"},
            ["`proof.shows` = `part > 0.1`", "does not use whole"],
            id="a name without use",
        ),
        pytest.param(
            {"shows": "whole + part > 0"},
            ["`proof.implied` = `0.25`", "`shows` is true of this figure, too: 100.25 > 0"],
            id="true whatever the figures are",
        ),
        pytest.param(
            {"shows": "whole * parts > 1"},
            ["`of` has no name `parts`; did you mean `part`?", "allowed: "],
            id="a name",
        ),
        pytest.param(
            {"shows": "whole * part"}, ["is not a comparison", "allowed: "], id="no comparison"
        ),
        pytest.param(
            {"shows": "whole > min(part)"},
            ["`min(part)` is not allowed", "allowed: "],
            id="the least of one",
        ),
        pytest.param(
            {"shows": "whole == part"},
            ["a comparison that is not allowed", "allowed: "],
            id="equality",
        ),
        pytest.param(
            {"shows": "whole ** part > 1"},
            ["`whole ** part` is not allowed", "allowed: "],
            id="a power",
        ),
        pytest.param(
            {"shows": "abs(whole) > part"},
            ["`abs(whole)` is not allowed", "allowed: "],
            id="a call",
        ),
        pytest.param(
            {"shows": "whole.real > part"},
            ["`whole.real` is not allowed", "allowed: "],
            id="an attribute",
        ),
        pytest.param(
            {"shows": "whole > 'a' + part"}, ["`'a'` is not allowed", "allowed: "], id="a text"
        ),
        pytest.param(
            {"shows": "whole > True + part"}, ["`True` is not allowed", "allowed: "], id="a truth"
        ),
        pytest.param(
            {"shows": "whole / (part - part) > 1"},
            ["`proof.shows`", "allowed: "],
            id="a division by 0",
        ),
        pytest.param(
            {"shows": "whole > part +"}, ["`proof.shows`", "allowed: "], id="no expression"
        ),
    ],
)
def test_a_proof_that_proves_nothing_is_refused(wrong: dict[str, Any], said: list[str]) -> None:
    """With the file, the key, its value, and a remedy."""
    with pytest.raises(UsageError) as refused:
        read(**wrong)
    text = str(refused.value)
    assert text.startswith("claim `paper.part`, `proof.")
    assert re.search(r"--> own.toml:3\d:1\n", text)
    assert "= help: " in text
    for words in said:
        assert words in text


def test_a_proof_needs_all_of_its_keys() -> None:
    text = OTHERS + filled().replace("implied", "would")
    with pytest.raises(
        UsageError,
        match=(
            r"claim `paper.part`, `proof`: a proof has the keys implied, .* and here are of, says,"
            r" shows, would"
        ),
    ):
        claims_of(text, "own.toml")
