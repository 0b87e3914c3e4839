"""The history of the simulator's speed: every step back is explained."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[1] / "benches"

pytestmark = pytest.mark.skipif(not BENCHES.is_dir(), reason="not a checkout")


def test_a_count_above_its_tolerance_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHES), *sys.path])
    from instructions import slower

    def entry(instructions: float, **others: float) -> dict[str, dict[str, float]]:
        counts = {f"{name}_per_packet": {"small": count} for name, count in others.items()}
        return {"instructions_per_packet": {"small": instructions, "large": 100.0}, **counts}

    assert slower(entry(1000), entry(1029)) == []
    assert slower(entry(1000), entry(1031)) == ["instructions per packet of small"]
    assert slower(entry(1031), entry(1000)) == []
    assert slower(entry(1000, d1_misses=300), entry(1000, d1_misses=314)) == []
    assert slower(entry(1000, d1_misses=300), entry(1000, d1_misses=316)) == [
        "d1 misses per packet of small"
    ]
    # A count near zero has room for two more, and an old entry has no misses to compare with.
    assert slower(entry(1000, ll_misses=0.1), entry(1000, ll_misses=2.0)) == []
    assert slower(entry(1000, ll_misses=0.1), entry(1000, ll_misses=2.2)) == [
        "ll misses per packet of small"
    ]
    assert slower(entry(1000), entry(1000, mispredictions=200)) == []


def test_every_growth_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHES), *sys.path])
    from instructions import HISTORY, slower

    history = json.loads(HISTORY.read_text(encoding="utf-8"))
    assert history
    grown = [
        after
        for before, after in itertools.pairwise(history)
        if before["rustc"] == after["rustc"] and slower(before, after)
    ]
    assert grown
    for entry in grown:
        assert len(entry.get("why", "").split()) > 5, entry["commit"]
