"""Ablations: mechanisms that machines can do without, verdicts that turn, the table, and the causes
of misses.
"""

from __future__ import annotations

import dataclasses
import re
import runpy
from pathlib import Path

import pytest

import causes
from elanite.cli.ablate import Ablate
from elanite.cli.common import OutputFormat
from elanite.errors import UsageError
from elanite.inputs.machine import Machine
from elanite.store import Store
from elanite.study import ablation, ablation_table
from elanite.study.basis import studies, study
from elanite.validation import ablation_verdicts
from elanite.validation.ablation_verdicts import WHOLE, Ablation
from elanite.validation.claims import claims

ROOT = Path(__file__).parents[1]
OPTERON = "opteron-qsnet2"
written = runpy.run_path(str(ROOT / "docs" / "ablations.py"))["markdown"]
MISSED = [
    claim
    for claim in claims()
    if claim.known_miss and claim.role == "predicted" and not claim.today
]


@pytest.mark.parametrize("name", studies())
def test_every_machine_can_do_without_each_of_its_mechanisms(name: str) -> None:
    machine = Machine.load(name)
    for each in ablation.mechanisms(name):
        other = Machine.load(name, each.changes)
        keys = [change.partition("=")[0] for change in each.changes]
        assert all(other[key] != machine[key] for key in keys), f"{name} lacks {each.name} already"


def test_an_unknown_mechanism_is_an_error() -> None:
    with pytest.raises(UsageError, match="has no mechanism `circuit`; did you mean `circuits`"):
        ablation.chosen(OPTERON, ["circuit"])


def test_a_mechanism_turns_a_verdict_and_others_do_not(tmp_path: Path) -> None:
    """The Opteron's bus decides the bandwidth in both directions; circuits do not act on two
    nodes.
    """
    chosen = study(OPTERON, ["qsnet2.bi.bandwidth"])
    wanted = ablation.chosen(OPTERON, ["circuits", "bus overheads"])
    outcome, rows = ablation.run(chosen, wanted, Store(tmp_path), 1)
    assert not outcome.failures
    assert [(row.mechanism, row.verdict) for row in rows] == [
        (WHOLE, "holds"),
        ("circuits", "holds"),
        ("bus overheads", "missed"),
    ]
    assert rows[0].figure == rows[1].figure != rows[2].figure
    assert ablation_verdicts.turning(rows) == ("bus overheads",)
    again, same = ablation.run(chosen, wanted, Store(tmp_path), 1)
    assert (again.simulated, same) == (0, rows)


def test_the_command_prints_what_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ablate = Ablate(
        machine=OPTERON,
        claims=["qsnet2.bi.bandwidth"],
        mechanisms=["bus overheads"],
        out=tmp_path,
        jobs=1,
        format_=OutputFormat.CSV,
    )
    ablate.execute()
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "claim,mechanism,verdict,figure"
    assert lines[1].startswith("qsnet2.bi.bandwidth,bus overheads,missed,")


def test_the_shipped_rows_are_of_claims_and_mechanisms() -> None:
    known = {claim.id for claim in claims()}
    names = {WHOLE, *ablation.all_mechanisms()}
    for claim, rows in ablation_verdicts.shipped().items():
        assert claim in known, "renew it: benches/ablations.py"
        assert {row.mechanism for row in rows} <= names


def test_the_page_is_that_of_the_shipped_rows() -> None:
    found = ablation_table.table()
    page = (ROOT / "docs" / "ablations.md").read_text(encoding="utf-8")
    assert page == written(found), "make docs"
    turned = [line.claim.id for line in found.lines if line.agrees and line.turning]
    assert sorted([*found.never, *found.apart, *found.open, *turned]) == sorted(
        line.claim.id for line in found.lines
    )
    assert {line.claim.id for line in found.lines if line.turning}.isdisjoint(found.never)


def test_the_table_marks_verdicts_that_turn() -> None:
    rows = [
        Ablation("uniform.scaling", name, verdict, figure)
        for name, verdict, figure in (
            (WHOLE, "holds", "7"),
            ("circuits", "missed", "9"),
            ("ages", "holds", "7"),
            ("sharing", "holds", "8"),
            ("thread", "not resolved", "9"),
        )
    ]
    (claim,) = (claim for claim in claims() if claim.id == "uniform.scaling")
    line = ablation_table.AblationLine(claim, tuple(rows))
    names = (WHOLE, "circuits", "ages", "sharing", "thread", "combining")
    assert [line.cell(name) for name in names] == ["+", "**-**", "+", "+·", "?·", ""]
    table = ablation_table.AblationTable(
        (line, dataclasses.replace(line, rows=())), 1, "2026-01-01"
    )
    text = written(table)
    assert "| `uniform.scaling` | 7: holds | circuits | 9: missed |" in text
    assert "model revision 1" in text
    assert "Ablated: 1 of 2 claims; the verdict of 1 turns." in text


def test_no_text_names_a_cause_that_its_ablation_contradicts() -> None:
    assert causes.contradicted(MISSED) == []


def test_texts_that_name_a_mechanism_declare_it() -> None:
    assert causes.undeclared(MISSED) == [], "add it to `causes` or `not_causes` of the claim"
    keys = {each.key for name in studies() for each in Machine.load(name).parameters}
    for claim in claims():
        assert not (claim.causes or claim.not_causes) or claim.known_miss
        assert {*claim.causes, *claim.not_causes} <= {*ablation.all_mechanisms(), *keys}


def test_a_contradicted_cause_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ("none", "missed", "1"),
        ("ages", "missed", "1"),
        ("circuits", "holds", "2"),
        ("sharing", "missed", "3"),
    ]
    shipped = {"uniform.scaling": tuple(Ablation("uniform.scaling", *row) for row in rows)}
    monkeypatch.setattr(ablation_verdicts, "shipped", lambda: shipped)
    (claim,) = (claim for claim in claims() if claim.id == "uniform.scaling")
    wrong = dataclasses.replace(
        claim, causes=("ages", "sharing", "thread"), not_causes=("circuits", "sharing")
    )
    assert causes.contradicted([wrong]) == [
        ("uniform.scaling", "ages", "changes nothing"),
        ("uniform.scaling", "circuits", "turns the verdict"),
    ]
    assert causes.open_([wrong]) == [("uniform.scaling", "thread")]
    said = dataclasses.replace(claim, known_miss="the second packet waits for adapter.turnaround")
    assert causes.undeclared([said]) == [
        ("uniform.scaling", "second packet"),
        ("uniform.scaling", "adapter.turnaround"),
    ]


def test_patterns_find_the_names_of_their_mechanisms() -> None:
    for name, entry in ablation.all_mechanisms().items():
        assert re.compile(entry["words"]), name
