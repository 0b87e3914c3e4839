"""User claims, with measured values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from elanite.errors import UsageError
from elanite.study import own_claims
from pings import ping
from test_benchmarks import OSU

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Elanite

EXPERIMENT = f"""\
title = "pings"
machine = "es40-qsnet"
[[series]]
name = "ping"
{ping('["0 B", "1 KB"]')}"""
CLAIM = """\
[[claim]]
id = "osu.latency"
source = "our cluster"
says = "Latency one way."
kind = "value"
rank = "value"
experiment = "pings.toml"
series = "ping"
measured = "osu.txt"
tolerance = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files apart from the folder where commands run: paths are relative to the claims file."""
    place = tmp_path / "own"
    place.mkdir()
    (place / "pings.toml").write_text(EXPERIMENT)
    (place / "osu.txt").write_text(OSU)
    (place / "claims.toml").write_text(CLAIM)
    return place


def test_each_measured_size_is_a_claim(folder: Path) -> None:
    found = own_claims.read(folder / "claims.toml")
    assert [
        (each.id, each.value, each.unit, each.metric, each.tolerance) for each in found.claims
    ] == [
        ("osu.latency.0", 1.15, "us", "latency", 0.1),
        ("osu.latency.1024", 2.25, "us", "latency", 0.1),
    ]
    points = found.plans["pings.toml"].points
    assert [
        [each.parameters["message"] for each in points if claim.asks_for(each)]
        for claim in found.claims
    ] == [
        ["0 B"],
        ["1 KB"],
    ]
    assert found.notes == [f"{folder}/osu.txt: 1 of 3 sizes are of no point, and left out"]


def test_the_model_is_judged_by_the_measured_file(folder: Path, elanite: Elanite) -> None:
    """The model's value holds; a tenth more is within the tolerance, a fifth more is not."""
    ended = elanite("claims", "own/claims.toml")
    assert ended.code == 0, ended
    assert re.search(r"run first: elanite run .*own/pings\.toml", ended.err)
    assert "not run: 1 of 1 points is missing" in re.sub(r"\s+", " ", ended.out)
    assert elanite("run", "own/pings.toml").code == 0
    ended = elanite("claims", "own/claims.toml", "--format", "json")
    simulated = {each["id"]: each["simulated"] for each in json.loads(ended.out)}
    lines = [
        f"0 {simulated['osu.latency.0'] * 1.08}",
        f"1024 {simulated['osu.latency.1024'] * 1.2}",
    ]
    (folder / "osu.txt").write_text(
        "# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n" + "\n".join(lines)
    )
    ended = elanite("claims", "own/claims.toml", "--format", "json")
    assert {each["id"]: each["state"] for each in json.loads(ended.out)} == {
        "osu.latency.0": "holds",
        "osu.latency.1024": "missed",
    }
    assert ended.code == 1
    ended = elanite("claims", "own/claims.toml")
    assert "1 of 2 claims hold, 1 missed" in ended.out
    assert (
        elanite("claims", "own/claims.toml", "--only", "osu.latency.0", "--format", "markdown").code
        == 0
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tolerance = 0.1\n", "", r"claim `osu\.latency`, `tolerance`: this key is needed"),
        (
            '"value"\nrank',
            '"range"\nrank',
            r"`kind` = `range`: measured values are not for the kind range",
        ),
        ("tolerance", "value = 3\ntolerance", r"`value` = `3`: `measured` decides this"),
        ('series = "ping"', 'series = "pong"', r"`series` = `pong`: .*pings has no such point"),
        ('experiment = "pings.toml"\n', "", r"`experiment`: this key is needed"),
        ("osu.txt", "imb.txt", r"imb\.txt: .*No such file"),
        ("pings.toml", "pongs.toml", r"there is no file `.*own/pongs"),
    ],
)
def test_a_wrong_claim(folder: Path, old: str, new: str, message: str) -> None:
    assert old in CLAIM
    (folder / "claims.toml").write_text(CLAIM.replace(old, new))
    with pytest.raises(UsageError, match=message):
        own_claims.read(folder / "claims.toml")
