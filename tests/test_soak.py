"""The soak record: one line for each turn, with a seed that repeats the turn."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import soak

MAKEFILE = Path(soak.__file__).parents[1] / "Makefile"

pytestmark = pytest.mark.skipif(not MAKEFILE.exists(), reason="not a checkout")


def test_every_fuzzer_has_its_turn() -> None:
    targets = re.findall(
        r"^(fuzz[\w-]*|swarm):(?! export)", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE
    )
    # Guided by coverage, a fuzzer needs nightly Rust, and keeps its own findings.
    assert set(targets) - {"fuzz-coverage"} == set(soak.TARGETS)


def test_a_turn_is_recorded_whatever_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "commit", lambda: "0123456789ab")
    script = tmp_path / "make"
    script.write_text(
        f'#!/bin/sh\necho "$@" >>{shlex.quote(str(tmp_path))}/lines\n[ $2 != fuzz ]\n'
    )
    script.chmod(0o755)
    log = tmp_path / "soak.tsv"
    assert soak.turn("swarm", 600, log, [str(script)])
    assert not soak.turn("fuzz", 5, log, [str(script)])
    head, *lines = [line.split("\t") for line in log.read_text().splitlines()]
    assert head[1:] == ["commit", "target", "seed", "seconds", "result"]
    assert [(*line[1:3], *line[4:]) for line in lines] == [
        ("0123456789ab", "swarm", "600", "nothing found"),
        ("0123456789ab", "fuzz", "5", "exit code 1"),
    ]
    seeds = [int(line[3]) for line in lines]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seeds[0] != seeds[1]
    made = (tmp_path / "lines").read_text().splitlines()
    assert made[0] == f"--no-print-directory swarm SECONDS=600 SEED={seeds[0]}"
