"""The history of the simulator's speed: every step back is explained."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[1] / "benches"

pytestmark = pytest.mark.skipif(not BENCHES.is_dir(), reason="not a checkout")


def test_a_case_that_needs_3_percent_more_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHES), *sys.path])
    from instructions import slower

    entries = [{"instructions_per_packet": {"small": count, "large": 100.0}} for count in (1000.0, 1029.0, 1031.0)]
    assert slower(entries[0], entries[1]) == []
    assert slower(entries[0], entries[2]) == ["small"]
    assert slower(entries[2], entries[0]) == []


def test_the_changelog_explains_every_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHES), *sys.path])
    from instructions import HISTORY, slower

    history = json.loads(HISTORY.read_text(encoding="utf-8"))
    changelog = (BENCHES.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert history
    for before, after in itertools.pairwise(history):
        if before["rustc"] == after["rustc"] and slower(before, after):
            assert f"instructions per packet ({after['commit']})" in " ".join(changelog.split())
