"""`elanite explain` on studies: the claims that a parameter moves, and the parameters that move a
claim.
"""

from __future__ import annotations

import dataclasses
import runpy
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from conftest import Ended
from elanite import _core
from elanite.explain import meanings
from elanite.inputs.machine import Machine
from elanite.study import changes, study_findings
from elanite.study.basis import studies
from elanite.study.variation import varied
from elanite.validation.claims import claims

Run = Callable[..., Ended]

OPTERON = "opteron-qsnet2"
WRITER = runpy.run_path(str(Path(__file__).parents[1] / "benches" / "studies.py"))


def row(
    parameter: str, step: str, change: float, half: float, holds: bool = True
) -> dict[str, object]:
    about = {
        "value": "2 ns",
        "changed": "1 ns" if step == "less" else "3 ns",
        "role": "fitted",
        "held": True,
    }
    return about | {
        "parameter": parameter,
        "step": step,
        "claim": "ping.uni.latency.0B",
        "fitted": False,
        "own": False,
        "usual": 1.0,
        "simulated": 1.0 + change,
        "change": change,
        "low": change - half,
        "high": change + half,
        "holds": holds,
    }


def test_an_outcome_has_what_is_told_from_noise_and_what_turns() -> None:
    table = pl.DataFrame(
        [
            row("a.weak", "less", -0.02, 0.01),
            row("a.weak", "more", 0.02, 0.03),  # not told from noise
            row("b.strong", "more", 0.3, 0.01, holds=False),
            row("c.none", "less", 0.001, 0.0),
        ],
        changes.SCHEMA,
    )
    made = WRITER["outcome"](table, "elanite sensitivity one", "2026-11-25")
    assert made["revision"] == _core.MODEL_REVISION
    assert made["values"]["a.weak"] == {"value": "2 ns", "less": "1 ns", "more": "3 ns"}
    assert made["effects"] == [
        ("b.strong", "ping.uni.latency.0B", None, 0.3, True),
        ("a.weak", "ping.uni.latency.0B", -0.02, None, False),
    ]
    assert set(made["values"]) == {"a.weak", "b.strong", "c.none"}


def test_a_study_in_pieces_keeps_the_claims_of_older_pieces() -> None:
    old = {
        "revision": 1,
        "claims": ["a", "b"],
        "values": {"x.y": {"value": "1"}, "x.z": {"value": "2"}},
        "effects": [["x.y", "a", 0.1, None, False], ["x.y", "b", 0.2, None, True]],
    }
    new = {
        "revision": 2,
        "claims": ["b", "c"],
        "values": {"x.y": {"value": "3"}},
        "effects": [["x.y", "c", 0.15, None, False]],
    }
    made = WRITER["merged"](new, old)
    assert made["claims"] == ["a", "b", "c"]
    assert made["older"] == {"a": 1}
    assert made["values"] == {"x.y": {"value": "3"}, "x.z": {"value": "2"}}
    assert made["effects"] == [["x.y", "c", 0.15, None, False], ["x.y", "a", 0.1, None, False]]
    third = WRITER["merged"](new | {"revision": 3, "claims": ["c"], "effects": []}, made)
    assert third["older"] == {"a": 1, "b": 2}


@pytest.mark.parametrize("name", study_findings.shipped())
def test_the_shipped_studies_speak_of_the_shipped_machines(name: str) -> None:
    found = study_findings.shipped()[name]
    assert name in studies()
    assert found.machine == name
    assert found.command.startswith(f"elanite sweep {name} --one-at-a-time")
    known = {claim.id for claim in claims()}
    assert set(found.claims) <= known
    assert set(found.values) <= {each.key for each in varied(Machine.load(name))[0]}, (
        "renew it: benches/studies.py"
    )
    assert found.effects
    for each in found.effects:
        assert each.claim in found.claims
        assert each.parameter in found.values
        assert each.size >= changes.LEAST or each.turns
    sizes = [each.size for each in found.effects]
    assert sizes == sorted(sizes, reverse=True)


def test_a_fitted_parameter_moves_what_it_was_fitted_to() -> None:
    meaning = meanings.explain("host.request")
    (moves,) = (each for each in meaning.moves if each.effects)
    assert (moves.effects[0].parameter, moves.effects[0].claim) in moves.fitted
    assert moves.steps == ("696 ns", "1044 ns")
    assert moves.effects[0].less == pytest.approx(-moves.effects[0].more, rel=0.1)
    other = {each.claim for each in moves.effects}
    assert other <= set(study_findings.shipped()[OPTERON].claims)
    (moved,) = meanings.explain(moves.effects[0].claim).moves
    assert moves.effects[0] in moved.effects


def test_a_value_with_a_source_is_not_called_without_effect() -> None:
    (said,) = [moves.text for moves in meanings.explain("link.rate").moves if OPTERON in moves.name]
    assert said.startswith("not studied")


def test_an_outdated_study_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    now = dataclasses.replace(study_findings.shipped()[OPTERON], revision=_core.MODEL_REVISION)
    assert now.stale("host.request", "870 ns") == ""
    assert "when the value was 870 ns" in now.stale("host.request", "900 ns")
    old = dataclasses.replace(now, revision=now.revision - 1)
    monkeypatch.setattr(study_findings, "shipped", lambda: {OPTERON: old})
    (moves,) = (each for each in meanings.explain("host.request").moves if each.effects)
    assert f"model revision {old.revision}" in moves.text


def test_what_was_not_looked_at_is_not_called_without_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = study_findings.shipped()[OPTERON]
    less = dataclasses.replace(
        found, claims=tuple(name for name in found.claims if name != "qsnet2.overlap.long")
    )
    monkeypatch.setattr(study_findings, "shipped", lambda: {OPTERON: less})
    (moves,) = (each for each in meanings.explain("host.request").moves if each.effects)
    assert "not looked at: " in moves.text
    assert "qsnet2.overlap.long" in moves.text
    (moved,) = meanings.explain("qsnet2.overlap.long").moves
    assert moved.text == "not looked at: no study has this claim"


def test_explain_shows_the_claims(elanite: Run) -> None:
    shown = elanite("explain", "host.request")
    assert shown.code == 0, shown.err
    (line,) = (
        line for line in shown.out.splitlines() if line.strip().startswith("qsnet2.bi.latency")
    )
    assert "fitted, turns the verdict" in line
    assert "696 ns" in shown.out
