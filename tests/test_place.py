"""`elanite place`: placements by rule, pattern programs, and slow-downs recomputed from separate
runs.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import elanite as el
from conftest import Ended, command, execute
from elanite.cli.placement_run import Terms, Work, read
from elanite.errors import UsageError
from elanite.report.pages.placement import sentence
from elanite.study import placements
from elanite.study.placements import Placement, PlacementScore, PlacementTrial
from elanite.traces import patterns
from test_pages import Parts

Run = Callable[..., Ended]

WORDS = (
    "place",
    "tiny.toml",
    "--job",
    "4:alltoall",
    "--job",
    "4:shift",
    "--steps",
    "3",
    "--message",
    "64 KB",
)
FEW = ("--random", "1", "--search", "1", "--out", "own")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, float | str]]:
    def run(*words: str) -> Ended:
        return execute(command(*words), cwd=folder)

    made = run(
        "new",
        "machine",
        "tiny",
        "--nodes",
        "12",
        "--oversubscription",
        "2:1",
        "--link",
        "NDR",
        "--ports",
        "9",
    )
    assert made.code == 0, made
    ended = run(*WORDS, *FEW, "--format", "json", "--html", "place.html")
    assert ended.code == 0, ended
    found: list[dict[str, float | str]] = json.loads(ended.out)
    return found


def times(folder: Path, nodes: dict[str, str], metric: str = "time") -> dict[str, float]:
    """Job times on these nodes, in a separate run: one job alone has no ``time_alone`` but its
    time.
    """
    traces = {job: {"file": f"{job}.goal", "nodes": where} for job, where in nodes.items()}
    content = {
        "title": "own",
        "source": "none",
        "machine": str(folder / "tiny.toml"),
        "series": [{"name": "own", "traces": traces}],
    }
    place = next((folder / "own" / "place").iterdir())
    for job in nodes:
        (folder / f"{job}.goal").write_bytes((place / f"{job}.goal").read_bytes())
    experiment = el.Experiment.from_dict(content, str(folder / "mine"))
    frame = el.run(experiment, out=folder / "again").frame()
    return {
        row["job"]: row["value"] for row in frame.iter_rows(named=True) if row["metric"] == metric
    }


def of(rows: list[dict[str, float | str]], placement: str) -> dict[str, dict[str, float | str]]:
    return {str(row["job"]): row for row in rows if row["placement"] == placement}


def test_slow_downs_are_those_of_two_runs(rows: list[dict[str, float | str]], folder: Path) -> None:
    """Together, and each job alone in a run without the other, at the place where it is fastest
    alone.
    """
    names = {str(row["placement"]) for row in rows}
    assert {"packed", "spread", "random-1"} <= names
    for placement in ("packed", "spread"):
        here = of(rows, placement)
        together = times(folder, {job: str(row["nodes"]) for job, row in here.items()})
        for job, row in here.items():
            assert together[job] == row["time_us"]
            (alone,) = times(folder, {job: str(row["nodes"])}).values()
            assert alone == row["alone_us"]
            fastest = min(float(each["alone_us"]) for each in rows if each["job"] == job)
            assert row["slowdown"] == pytest.approx(together[job] / fastest, rel=1e-12)
            assert row["sharing"] == pytest.approx(together[job] / alone, rel=1e-12)


def test_the_best_is_first_and_its_links_are_named(
    rows: list[dict[str, float | str]], folder: Path
) -> None:
    worst: dict[str, float] = {}
    for row in rows:
        worst[str(row["placement"])] = max(
            worst.get(str(row["placement"]), 0.0), float(row["slowdown"])
        )
    order = list(dict.fromkeys(str(row["placement"]) for row in rows))
    assert [worst[name] for name in order] == sorted(worst.values())
    spread = of(rows, "spread")["shift"]
    assert float(spread["shared_links"]) > 0
    assert " -> " in str(spread["most_shared_link"])
    page = (folder / "place.html").read_text(encoding="utf-8")
    assert "Placements, the best first" in page
    assert "Shared links" in page
    assert '"title":"placement"' in page, "the figures' axis"
    first, *others = Parts(page).findings
    assert first.startswith(f"Best of {len(order)} placements: {order[0]} (slow-down of ")
    assert not any(one.startswith(("Slowdown", "Time")) for one in others), (
        "sharing in three places is no slow-down"
    )
    assert f"{len(order)} placements, of which 3 are drawn" in page


def test_the_next_placement_is_named_where_it_looks_as_good() -> None:
    def ranked(name: str, slow: float) -> PlacementScore:
        return PlacementScore(PlacementTrial(Placement(name, ((0,),)), (slow,), (1.0,)), (slow,))

    best, worst = ranked("a", 1.0), ranked("z", 1.5)
    assert "next" not in sentence(["job"], [best, ranked("b", 1.1), worst])
    assert "; the next is b (slowest job 1.0002 against 1); the worst" in sentence(
        ["job"], [best, ranked("b", 1.0002), worst]
    )
    assert sentence(["job"], [best, best, best]) == (
        "All 3 placements are equal (slow-down of job 1 in every one)."
    )
    assert "; the next is b (slowest job as slow); the worst" in sentence(
        ["job"], [best, ranked("b", 1.0), worst]
    )


def test_a_slow_down_that_forgets_the_place_is_found() -> None:
    """A planted mistake: the time alone in the same place makes a bad place with little company the
    best.
    """
    near = PlacementTrial(Placement("near", ((0,), (1,))), (10.5, 10.5), (10.0, 10.0))
    far = PlacementTrial(Placement("far", ((0,), (9,))), (20.0, 20.0), (20.0, 20.0))
    assert [each.tried.placement.name for each in placements.ranked([far, near])] == ["near", "far"]
    assert max(far.sharing()) < max(near.sharing())


@pytest.mark.parametrize(
    ("nodes", "sizes", "leaf"),
    [(16, (4, 4), 4), (20, (6, 5, 3), 8), (9, (9,), None), (50, (7, 30), 10)],
)
def test_placements_are_whole_and_apart(
    nodes: int, sizes: tuple[int, ...], leaf: int | None
) -> None:
    chosen = placements.first(nodes, sizes, leaf, [1, 2])
    draws, known = random.Random(1), {each.nodes for each in chosen}
    for step in range(3):
        chosen += placements.neighbours(chosen[0], nodes, step, draws, known)
    assert len({each.nodes for each in chosen}) == len(chosen)
    assert (len(chosen) > 1) == (sum(sizes) < nodes or len(sizes) > 1)
    for each in chosen:
        assert tuple(map(len, each.nodes)) == sizes, each.name
        used = [node for job in each.nodes for node in job]
        assert len(set(used)) == len(used)
        assert all(0 <= node < nodes for node in used)
        assert all(list(job) == sorted(job) for job in each.nodes)
    again = placements.first(nodes, sizes, leaf, [1, 2])
    assert again == chosen[: len(again)]


def test_packed_aligned_and_spread() -> None:
    named = {each.name: each.nodes for each in placements.first(16, (3, 3), 4, [])}
    assert named["packed"] == ((0, 1, 2), (3, 4, 5))
    assert named["aligned"] == ((0, 1, 2), (4, 5, 6))
    assert named["spread"] == ((0, 5, 10), (2, 8, 13))
    assert named["blocks-2"] == ((0, 1, 4), (2, 3, 5))
    assert placements.text((0, 2, 4)) == "0-4:2"
    assert placements.text((0, 1, 2, 7)) == "0-2, 7"
    with pytest.raises(UsageError, match="17 nodes, and the machine has 16"):
        placements.first(16, (9, 8), None, [])


@pytest.mark.parametrize("pattern", [*patterns.NAMES, "shift 3"])
def test_programs_send_what_they_receive(pattern: str) -> None:
    """Each message that a rank sends is received by its destination, and the count equals the
    estimate's.
    """
    ranks, steps = 6, 5
    sent, received = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    rank = 0
    for line in patterns.program(pattern, ranks, steps, 64, 1):
        words = line.split()
        if words[0] == "rank":
            rank = int(words[1])
        elif "send" in words:
            sent[rank, int(words[words.index("to") + 1])] += 1
        elif "recv" in words:
            received[int(words[words.index("from") + 1]), rank] += 1
    assert sent == received
    assert all(source != target for source, target in sent)
    assert sum(sent.values()) == patterns.messages(pattern, ranks, steps)
    if pattern == "alltoall":
        assert set(sent.values()) == {1}
        assert len(sent) == ranks * (ranks - 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("64", "NODES:PATTERN"),
        ("1:shift", "two nodes"),
        ("8:alltoal", "did you mean"),
        ("x:shift", "NODES:PATTERN"),
    ],
)
def test_jobs_that_are_wrong_have_a_remedy(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read([text])


def test_a_trace_has_as_many_ranks_as_its_job_nodes(tmp_path: Path, elanite: Run) -> None:
    """A compressed trace counts as well, and is plain beside the experiment."""
    trace = "".join(patterns.program("shift", 4, 2, 64, 1)).encode()
    (tmp_path / "job.goal.gz").write_bytes(gzip.compress(trace))
    words = ("infiniband-ndr", "--random", "0", "--search", "0", "--format", "json")
    ended = elanite("place", *words, "--job", "4:job.goal.gz", "--job", "4:shift")
    assert ended.code == 0, ended
    assert {row["job"] for row in json.loads(ended.out)} == {"job", "shift"}
    assert [each.read_bytes() for each in tmp_path.glob("out/place/*/job.goal")] == [trace]
    ended = elanite("place", *words, "--job", "8:job.goal.gz")
    assert ended.code != 0
    assert "4 ranks of job.goal.gz need as many nodes\n  give 4:job.goal.gz" in ended.err
    ended = elanite("place", *words, "--job", "4:job.goal.gz")
    assert ended.code == 0, ended
    assert {row["sharing"] for row in json.loads(ended.out)} == {1}, "one job is alone"


def test_commands_that_differ_have_folders_of_their_own(tmp_path: Path) -> None:
    """They may run at a time; the same command resumes in its folder."""

    def folder(message: str, steps: int = 3, seed: int = 1, *changes: str) -> Path:
        nothing: Any = None
        machine: Any = SimpleNamespace(name="tree")
        terms = Terms(message, 0, changes, seed, tmp_path, nothing)
        return Work(nothing, terms, machine, read(["4:shift"]), steps).folder

    differing = [
        folder("64 KB"),
        folder("4 KB"),
        folder("64 KB", 2),
        folder("64 KB", 3, 2),
        folder("64 KB", 3, 1, "link.rate=1 GB/s"),
    ]
    assert len({*differing}) == len(differing)
    assert folder("65536 B") == folder("64 KB")


def test_jobs_of_one_pattern_have_names_of_their_own() -> None:
    assert [job.name for job in read(["4:shift 2", "4:shift 2", "8:uniform"])] == [
        "shift-2",
        "shift-2-2",
        "uniform",
    ]


def test_a_dry_run_simulates_nothing(elanite: Run, tmp_path: Path) -> None:
    ended = elanite(
        "place", "infiniband-ndr", "--job", "16:alltoall", "--job", "16:uniform", "--dry-run"
    )
    assert ended.code == 0, ended
    assert "packed: alltoall 0-15; uniform 16-31" in ended.out
    assert "of processor time" in ended.out
    assert not (tmp_path / "out").exists()
