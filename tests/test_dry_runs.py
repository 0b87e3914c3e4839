"""Dry runs: every command that simulates has one; it refuses wrong inputs and leaves nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Ended
from elanite.cli.common import DryRun
from elanite.cli.request import DECLARED, entries

Run = Callable[..., Ended]

SIMULATING = {
    *("ablate", "calibrate", "mpirun", "place", "prun"),
    *("replay", "reproduce", "run", "sweep", "watch"),
}
RING = """num_ranks 3
rank 0 {
l1: send 1000b to 1 tag 7
}
rank 1 {
l1: recv 1000b from 0 tag 7
}
rank 2 { }
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    file = tmp_path / "ring.goal"
    file.write_text(RING, encoding="utf-8")
    return file


def left(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_every_command_that_simulates_has_the_same_option() -> None:
    (option,) = (each for each in DryRun.__metadata__ if hasattr(each, "help"))
    having = {
        verb: entry
        for verb, request in DECLARED.items()
        for entry in entries(request)
        if "--dry-run" in entry.options
    }
    assert set(having) == {*SIMULATING, "store gc"}
    assert all(entry.info is option for entry in having.values())


def test_an_ablation_prints_its_probes_and_its_most_points(elanite: Run, tmp_path: Path) -> None:
    words = ("es40-qsnet", "--claims", "permutation", "--mechanisms", "circuits", "--dry-run")
    ended = elanite("ablate", *words)
    assert ended.code == 0, ended
    assert re.search(r"the machine as it is +12 +12 ", ended.out)
    assert re.search(r"probes +24 +24 ", ended.out)
    assert re.search(r"without circuits +12 +12 +at most ", ended.out)
    assert "36 points to simulate: about" in ended.out
    assert left(tmp_path) == set()
    wrong = elanite("ablate", "es40-qsnet", "--mechanisms", "circits", "--dry-run")
    assert wrong.code == 2
    assert "did you mean `circuits`" in wrong.err


@pytest.mark.parametrize("way", ["sweep", "calibrate"])
def test_a_study_of_claims_prints_its_cost(elanite: Run, tmp_path: Path, way: str) -> None:
    chosen = ("--one-at-a-time",) if way == "sweep" else ("--to", "claims")
    ended = elanite(way, "es40-qsnet", *chosen, "--claims", "ping", "--dry-run")
    assert ended.code == 0, ended
    assert "of processor time" in ended.out
    assert left(tmp_path) == set()


def test_a_calibration_prints_its_points_and_fewest_sets(elanite: Run, tmp_path: Path) -> None:
    file = tmp_path / "measured.csv"
    file.write_text(
        "series,message,directions,source,destination,metric,value\n"
        "size,4 KB,one,main,main,bandwidth,300\nsize,64 KB,one,main,main,bandwidth,310\n",
        encoding="utf-8",
    )
    fit = ("--fit", "bus.rate=150 MB/s..400 MB/s", "--dry-run")
    words = ("qsnet/ping", "--to", str(file), "--machine-out", str(tmp_path / "fitted.toml"), *fit)
    ended = elanite("calibrate", *words)
    assert ended.code == 0, ended
    assert "2 measured values" in ended.out
    assert "tries at least 6 sets" in ended.out
    assert left(tmp_path) == {"measured.csv"}
    wrong = elanite("calibrate", *words[:-2], "bus.rat=150 MB/s..400 MB/s", "--dry-run")
    assert wrong.code == 2
    assert "bus.rat" in wrong.err


def test_a_replay_prints_operations_bytes_and_places(
    elanite: Run, tmp_path: Path, ring: Path
) -> None:
    page = tmp_path / "pages" / "ring.html"
    ended = elanite("replay", str(ring), "--dry-run", "--html", str(page))
    assert ended.code == 0, ended
    for text in ("operations      2", "payload         1000 B", "node 2: rank 2", str(page)):
        assert text in ended.out
    found = json.loads(elanite("replay", str(ring), "--dry-run", "--format", "json").out)
    assert (found["messages"], found["bytes"], found["placement"]) == (1, 1000, [0, 1, 2])
    assert left(tmp_path) == {"ring.goal"}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--nodes", "2"), 2, "3 ranks at 1 a node need 3 nodes, and the machine has 2"),
        (("--placement", "nowhere"), 2, "nowhere"),
        (("--fault", "link = 'node 99', at = '1 ms'"), 2, "node 99"),
        (("--set", "bus.rat=1 MB/s"), 2, "bus.rat"),
        (("--html", "ring.goal/ring.html"), 1, "cannot be written"),
    ],
)
def test_a_dry_replay_refuses_what_a_replay_refuses(
    elanite: Run, ring: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    for dry in (("--dry-run",), ()):
        ended = elanite("replay", str(ring), *words, *dry)
        assert (ended.code, says in ended.err) == (code, True), ended


def test_a_dry_replay_finds_a_receive_without_its_message(elanite: Run, ring: Path) -> None:
    ring.write_text(RING.replace("from 0 tag 7", "from 0 tag 8"), encoding="utf-8")
    ended = elanite("replay", str(ring), "--dry-run")
    assert ended.code == 3, ended
    assert "tag 8" in ended.err


def test_several_traces_print_their_point(elanite: Run, tmp_path: Path, ring: Path) -> None:
    ended = elanite("replay", str(ring), str(ring), "--dry-run")
    assert ended.code == 0, ended
    assert "1 point to simulate" in ended.out
    assert left(tmp_path) == {"ring.goal"}
