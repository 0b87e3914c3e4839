"""Networks of today: traces as series, and machines with claims counted apart from the papers'
claims.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import elanite as el
from elanite import _core
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.traces import goal
from elanite.validation import ablation_verdicts
from elanite.validation.board import headline, markdown
from elanite.validation.claim import COUNTED
from elanite.validation.claims import claims
from elanite.validation.papers import TODAY, chapter_of_claim
from elanite.validation.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MACHINES = ("infiniband-ndr", "rail-optimised", "slingshot-dragonfly")

EXPERIMENT = """
title = "A trace"
machine = "es40-qsnet"
[[series]]
name = "trace"
[series.trace]
pattern = "{pattern}"
nodes = 4
processes = 2
group = {group}
message = "10 KB"
repeats = 1
"""


@pytest.mark.parametrize(
    ("pattern", "group", "lines"),
    [
        ("all-reduce-ring", 8, goal.all_reduce(8, 10240)),
        ("all-reduce-hierarchical", 2, goal.all_reduce(8, 10240, "hierarchical", group=2)),
        ("all-to-all", 4, goal.all_to_all(8, 10240, group=4)),
    ],
)
def test_a_series_takes_the_time_of_the_same_trace(
    pattern: str, group: int, lines: Iterator[str], tmp_path: Path
) -> None:
    experiment, trace = tmp_path / "own.toml", tmp_path / "own.goal"
    experiment.write_text(EXPERIMENT.format(pattern=pattern, group=group), encoding="utf-8")
    trace.write_text("".join(lines), encoding="utf-8")
    frame = el.run(str(experiment), out=tmp_path / "out").frame()
    (latency,) = frame.filter(metric="latency")["value"]
    replayed = el.replay(trace, ranks_per_node=2).summary
    assert latency == pytest.approx(replayed["time_us"], rel=1e-12)


def test_each_machine_has_claims_of_its_own() -> None:
    today = [claim for claim in claims() if claim.today]
    found = {name: [] for name in MACHINES}  # type: dict[str, list[str]]
    for claim in today:
        (machine,) = plan(sources.read("experiment", claim.experiment)).machines
        found[machine.name].append(claim.id)
        assert chapter_of_claim(claim) == TODAY
    assert all(len(ids) >= 4 for ids in found.values()), found


def test_the_shipped_machines_of_today_are_right_and_name_their_sources() -> None:
    for name in MACHINES:
        source = sources.read("machine", name)
        parameters = json.loads(_core.load_machine(source.text, source.file, []))["parameters"]
        assert all(
            each["source"]
            for each in parameters
            if not each["key"].startswith(("machine.", "fabric."))
        )


def test_claims_of_today_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As values and orders without ablations: only the Quadrics networks' mechanisms are
    removed.
    """
    monkeypatch.setattr(ablation_verdicts, "falsifiable", lambda _: True)
    today = [claim for claim in claims() if claim.today and not claim.known_miss]
    papers = [
        claim for claim in claims() if not claim.today and claim.standing == "predicted value"
    ]
    of_papers = [
        Verdict(papers[0], simulated=1.0, holds=True),
        Verdict(papers[1], simulated=1.0, holds=False),
    ]
    of_today = [Verdict(claim, simulated=1.0, holds=True) for claim in today]
    alone, both = headline(of_papers), headline([*of_papers, *of_today])
    assert alone == "1 of 2 predicted values and orders hold, 1 missed"
    assert both.startswith(f"{alone}. Networks of today: ")
    counted = sum(claim.role == "predicted" and claim.rank in COUNTED for claim in today)
    assert 0 < counted < len(today)
    assert f"{counted} of {counted} predicted values and orders hold" in both
    page = markdown([*of_papers, *of_today])
    before, _, after = page.partition("## Networks of today")
    assert all(f"`{claim.id}`" in after and f"| `{claim.id}`" not in before for claim in today)
