"""Reproducing the shipped ping experiment: the report, the scoreboard, and a second run without
work.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from conftest import Ended, command, execute
from elanite.validation.claim import Role
from test_report import Loads

PING = [
    "ping.uni.elan.bandwidth",
    "ping.uni.elan.wire",
    "ping.uni.main.bandwidth",
    "ping.bi.elan.bandwidth",
    "ping.bi.main.bandwidth",
    "ping.uni.latency.0B",
    "ping.uni.latency.64B",
]
KEYS = {"id", "kind", "published", "simulated", "low", "high", "error", "holds", "role"}


def reproduce(out: Path) -> Ended:
    return execute(command("reproduce", "--only", "qsnet/ping", "--out", str(out)))


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after one run."""
    folder = tmp_path_factory.mktemp("reproduce")
    ended = reproduce(folder)
    assert ended.code == 0, str(ended)
    return folder


@pytest.fixture(scope="module")
def board(out: Path) -> dict[str, dict[str, Any]]:
    entries = json.loads((out / "scoreboard.json").read_text(encoding="utf-8"))
    assert isinstance(entries, list)
    return {entry["id"]: entry for entry in entries}


def test_the_report_is_there_and_loads_nothing(out: Path) -> None:
    parser = Loads()
    parser.feed((out / "report" / "index.html").read_text(encoding="utf-8"))
    assert parser.loads == []
    assert {f"claim-{name}" for name in PING} <= parser.ids


def test_every_entry_of_the_scoreboard_has_every_key(board: dict[str, dict[str, Any]]) -> None:
    assert len(board) > len(PING)
    assert {name: KEYS - entry.keys() for name, entry in board.items() if KEYS - entry.keys()} == {}
    assert {entry["role"] for entry in board.values()} == set(get_args(Role))


@pytest.mark.parametrize("name", PING)
def test_the_claims_about_ping_hold(board: dict[str, dict[str, Any]], name: str) -> None:
    entry = board[name]
    assert entry["holds"] is True
    assert abs(entry["error"]) <= 0.03
    assert entry["error"] == pytest.approx(entry["simulated"] / entry["published"] - 1)
    assert (entry["low"], entry["high"]) == (None, None), "a single value has no interval"


def page(out: Path) -> str:
    """The report without the moment at which it was written."""
    return re.sub(
        r"\d\d \w+ \d{4}, \d\d:\d\d UTC",
        "",
        (out / "report" / "index.html").read_text(encoding="utf-8"),
    )


def test_a_second_run_simulates_nothing_and_says_the_same(out: Path) -> None:
    store, board, report = files(out / "store"), (out / "scoreboard.json").read_bytes(), page(out)
    points = sum(name.endswith("manifest.json") for name in store)
    again = reproduce(out)
    assert again.code == 0, str(again)
    assert f"{points} points, {points} already done" in again.err
    assert files(out / "store") == store
    assert (out / "scoreboard.json").read_bytes() == board
    assert page(out) == report
