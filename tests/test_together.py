"""Several traces in one replay: the same points as from an experiment file, times, shared links,
mistakes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Ended

    Run = Callable[..., Ended]


@pytest.fixture
def rings(tmp_path: Path, elanite: Run) -> Path:
    made = elanite("goal", "allreduce", "--algorithm", "ring", "--ranks", "4", "--size", "256 KB")
    for name in ("one.goal", "two.goal"):
        (tmp_path / name).write_text(made.out)
    return tmp_path


def replayed(elanite: Run, *words: str) -> dict[str, Any]:
    ended = elanite(
        "replay", "one.goal", "two.goal", "--machine", "infiniband-ndr", "--format", "json", *words
    )
    assert ended.code == 0, str(ended)
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_a_replay_is_the_point_of_an_experiment_file(rings: Path, elanite: Run) -> None:
    found = replayed(elanite, "--at", "nodes = '0-3'", "--at", "nodes = '2-5', start = '3 us'")
    (rings / "mine.toml").write_text(
        'title = "Own"\nmachine = "infiniband-ndr"\n[[series]]\nname = "own"\n'
        '[series.traces.one]\nfile = "one.goal"\nnodes = "0-3"\n'
        '[series.traces.two]\nfile = "two.goal"\nnodes = "2-5"\nstart = "3 us"\n'
    )
    (point,) = json.loads(elanite("run", "mine.toml", "--format", "json").out)
    assert point["id"] == found["point"]
    for name, times in found["traces"].items():
        assert times["slowdown"] > 1.0
        assert times["slowdown"] == pytest.approx(times["time_us"] / times["time_alone_us"])
        assert times["time_us"] == point["results"][f"{name}.time"]["mean"]
    ends = {each["link"] for each in found["shared_links"]}
    assert any("node 2" in end for end in ends)
    assert not any("node 0" in end or "node 5" in end for end in ends)


def test_traces_lie_behind_each_other(rings: Path, elanite: Run) -> None:
    """Each on its own nodes at one switch: no link is shared, and no trace is slower."""
    found = replayed(elanite)
    assert [each["slowdown"] for each in found["traces"].values()] == [1.0, 1.0]
    assert found["shared_links"] == []
    alone = json.loads(
        elanite("replay", "one.goal", "--machine", "infiniband-ndr", "--format", "json").out
    )
    assert found["traces"]["one"]["time_us"] == alone["simulated_us"]
    ended = elanite(
        "replay", "one.goal", "one.goal", "--machine", "infiniband-ndr", "--html", "page.html"
    )
    assert "the traces share no link" in ended.out
    assert "one-2" in ended.out
    assert "2 traces side by side" in (rings / "page.html").read_text(encoding="utf-8")
    again = elanite("open", "page.html", "--into", "again")
    assert again.code == 0, str(again)
    assert (rings / "again" / "one.goal").exists()


@pytest.mark.usefixtures("rings")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--at", "node = '0-3'"), "there is no key `node`; did you mean `nodes`?"),
        (("--at", "nodes = 0-3"), "--at: `nodes = 0-3`: "),
        (
            ("--at", "nodes = 4", "--at", "nodes = 4", "--at", "nodes = 4"),
            "--at is given 3 times for 2 traces",
        ),
        (("--network", "ideal"), "--network is not for several traces"),
        (("--placement", "random"), "--placement is for one trace; give several traces their"),
        (("--ranks-per-node", "3"), "one.goal: 4 ranks do not fill nodes of 3"),
        (("--at", "nodes = '0-4'"), "one.goal has 4 ranks, and 5 processes"),
    ],
)
def test_wrong_words(elanite: Run, words: tuple[str, ...], message: str) -> None:
    ended = elanite("replay", "one.goal", "two.goal", "--machine", "infiniband-ndr", *words)
    assert ended.code == 2, str(ended)
    assert message in " ".join(ended.err.split())
