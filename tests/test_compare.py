"""Comparisons between two folders or results: differs, equal or undecided, and the reason."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

import elanite as el
from conftest import SMALL, Ended, command, execute
from elanite.results.folders import Comparison, StoreLine, compare_stores
from elanite.results.samples import NEGLIGIBLE, ComparisonState, Sample, SamplePair
from elanite.store import Store, manifest

Run = Callable[..., Ended]

SEEDS = range(1, 5)


def sample(values: Sequence[float], drew: bool | None = True, first: int = 1) -> Sample:
    """One value for each seed from the first on."""
    return Sample(tuple((first + place, 0) for place in range(len(values))), tuple(values), drew)


@pytest.mark.parametrize(
    ("a", "b", "state"),
    [
        pytest.param(
            sample([3.0], False), sample([3.0], False), ComparisonState.EQUAL, id="exact and equal"
        ),
        pytest.param(
            sample([3.0], False),
            sample([3.0 + 1e-9], False),
            ComparisonState.DIFFERS,
            id="exact, however near",
        ),
        pytest.param(
            sample([0.1] * 10, False),
            sample([0.1] * 7, False),
            ComparisonState.EQUAL,
            id="rounding of sums",
        ),
        pytest.param(
            sample([1.0, 3.0], False),
            sample([3.0, 2.0], False),
            ComparisonState.DIFFERS,
            id="exact batches",
        ),
        pytest.param(sample([3.0]), sample([4.0]), ComparisonState.UNDECIDED, id="one seed"),
        pytest.param(
            sample([3.0, 3.1]), sample([9.0, 9.1]), ComparisonState.UNDECIDED, id="two seeds"
        ),
        pytest.param(
            sample([3.0], None), sample([4.0], None), ComparisonState.UNDECIDED, id="not recorded"
        ),
        pytest.param(
            sample([3.0]), sample([3.0]), ComparisonState.EQUAL, id="the same of the same seed"
        ),
        pytest.param(
            sample([3.0]),
            sample([3.0], first=2),
            ComparisonState.UNDECIDED,
            id="the same of other seeds",
        ),
        pytest.param(
            sample([9.0, 1.0, 5.0]), sample([9.5, 1.5, 5.5]), ComparisonState.DIFFERS, id="in pairs"
        ),
        pytest.param(
            sample([9.0, 1.0, 5.0]),
            sample([9.5, 1.5, 5.5], first=2),
            ComparisonState.UNDECIDED,
            id="not in pairs",
        ),
        pytest.param(
            sample([9.0, 1.0, 5.0]),
            sample([9.5, 1.5, 5.5, 5.5]),
            ComparisonState.UNDECIDED,
            id="more seeds",
        ),
        pytest.param(
            sample([100.0, 100.1, 99.9]),
            sample([100.1, 99.9, 100.0]),
            ComparisonState.EQUAL,
            id="within 1%",
        ),
        pytest.param(
            sample([100.0, 140.0, 60.0]),
            sample([60.0, 100.0, 141.0]),
            ComparisonState.UNDECIDED,
            id="wide",
        ),
        pytest.param(
            sample([2.0], False),
            sample([3.0, 3.1, 2.9]),
            ComparisonState.DIFFERS,
            id="exact against random",
        ),
        pytest.param(
            sample([3.01], False),
            sample([3.0, 3.1, 2.9]),
            ComparisonState.UNDECIDED,
            id="exact within an interval",
        ),
        pytest.param(
            sample([2.0], False),
            sample([3.0, 3.1]),
            ComparisonState.UNDECIDED,
            id="exact against two seeds",
        ),
        pytest.param(
            sample([0.0] * 3), sample([0.0] * 3, first=4), ComparisonState.EQUAL, id="zeros"
        ),
    ],
)
def test_states(a: Sample, b: Sample, state: ComparisonState) -> None:
    for pair in (SamplePair(a, b), SamplePair(b, a)):
        assert pair.state is state
        if pair.ratio and pair.difference and not pair.exact:
            assert (state is ComparisonState.DIFFERS) is not (
                pair.ratio.low <= 1 <= pair.ratio.high
            ), "one interval for both"


def test_intervals_of_pairs_are_narrower_and_right() -> None:
    """The interval contains the true difference in 95 of 100 cases, with common noise and without
    it.
    """
    draws = random.Random(1)
    for common in (0.0, 3.0):
        within, narrower = 0, 0
        for _ in range(1000):
            shared = [draws.gauss(0, common) for _ in range(6)]
            a = [100 + each + draws.gauss(0, 1) for each in shared]
            b = [102 + each + draws.gauss(0, 1) for each in shared]
            change = SamplePair(sample(a), sample(b)).difference
            apart = SamplePair(sample(a), sample(b, first=7)).difference
            assert change is not None
            assert apart is not None
            within += change.low <= 2 <= change.high
            narrower += change.half < apart.half
        assert 930 <= within <= 970
        assert narrower > (950 if common else 400)


def test_equal_figures_differ_by_chance_as_often_as_stated() -> None:
    draws = random.Random(2)

    def state() -> ComparisonState:
        a, b = ([draws.gauss(100, 1) for _ in range(5)] for _ in range(2))
        return SamplePair(sample(a), sample(b)).state

    states = [state() for _ in range(1000)]
    assert 30 <= states.count(ComparisonState.DIFFERS) <= 70
    assert ComparisonState.EQUAL not in states[:5] or NEGLIGIBLE < 0.1


def test_samples_of_rows() -> None:
    rows = pl.DataFrame(
        {"seed": [2, 1, 2, 1, 1], "batch": [0, 1, 1, 0, 0], "value": [5.0, 2.0, 6.0, 1.0, 3.0]},
        schema_overrides={"batch": pl.UInt32},
    )
    found = Sample.of(rows, [False, True])
    assert found.labels == ((1, 0), (1, 1), (2, 0), (2, 1))
    assert found.values == (2.0, 2.0, 5.0, 6.0), "values of one batch are averaged"
    assert found.random is True
    assert Sample.of(rows, [False, None]).random is None
    assert Sample.of(rows, [False, False]).exact
    one = Sample.of(pl.DataFrame({"seed": [1], "batch": [None], "value": [5.0]}), [None])
    assert (one.labels, one.exact) == (((1, -1),), False)


def test_the_largest_change_comes_first() -> None:
    def line(a: float, b: float) -> StoreLine:
        return StoreLine(
            "x", "s", {}, "", "m", "us", SamplePair(sample([a], False), sample([b], False))
        )

    small, large, none, same = (
        line(100.0, 101.0),
        line(200.0, 100.0),
        line(0.0, 1.0),
        line(1.0, 1.0),
    )
    assert (large.change, line(100.0, 200.0).change, none.change) == (1.0, 1.0, math.inf)
    found = Comparison((small, same, large, none), 0, 0, 0, 0)
    assert found.of(ComparisonState.DIFFERS) == [none, large, small]
    assert found.of(ComparisonState.EQUAL) == [same]
    assert found.of(ComparisonState.UNDECIDED) == []


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small campaign on links with longer delays."""
    out = tmp_path_factory.mktemp("compared") / "slow"
    words = (
        "run",
        SMALL,
        "--format",
        "csv",
        "--set",
        "link.hop_delay=110 ns",
        "--quiet",
        "--out",
        str(out),
    )
    assert execute(command(*words), cwd=out.parent).code == 0
    return out


def test_all_changes_of_pings_are_real(elanite: Run, campaign: Path, faster: Path) -> None:
    words = ("compare", str(campaign), str(faster))
    found = json.loads(elanite(*words, "--format", "json").out)
    pings = [line for line in found if line["series"] == "ping"]
    latencies = [line for line in pings if line["metric"] == "latency"]
    assert latencies
    assert all(line["state"] == "differs" and line["ratio"]["mean"] > 1 for line in latencies)
    for line in pings:
        assert line["random"] == [False, False]
        change = line["difference"]
        assert (
            change["low"]
            == change["mean"]
            == change["high"]
            == line["b"]["mean"] - line["a"]["mean"]
        )
    loads = [line for line in found if line["series"] == "load"]
    assert all(line["random"] == [True, True] and line["paired"] for line in loads)
    unbounded = [
        line for line in loads if line["difference"]["low"] is None and line["a"] != line["b"]
    ]
    assert {line["state"] for line in unbounded} == {"undecided"}
    shown = elanite(*words)
    counts = {state: sum(line["state"] == state for line in found) for state in ComparisonState}
    said = (
        f"{len(found)} figures of the configurations in both folders: {counts['differs']} differ,"
        f" {counts['equal']} equal,"
    )
    assert said in " ".join(shown.err.split())
    assert f"{counts['undecided']} undecided" in shown.err
    assert [line for line in shown.out.splitlines() if line.endswith("B / A    state")]
    rows = [line for line in shown.out.splitlines() if line.endswith("differs")]
    assert len(rows) == counts["differs"]
    every = elanite(*words, "--all").out.splitlines()
    assert len([line for line in every if line.endswith(tuple(ComparisonState))]) == len(found)


def test_every_figure_of_a_slower_bus_is_listed(tmp_path: Path, elanite: Run) -> None:
    """Six sizes, three metrics; only the bandwidth of empty messages is 0 on both."""
    ping = {
        "from": 0,
        "to": 5,
        "directions": "one",
        "source": "main",
        "destination": "main",
        "repeats": 1,
    }
    sizes = {"message": ["0 B", "64 B", "320 B", "1 KB", "4 KB", "16 KB", "64 KB"]}
    content = {
        "title": "Pings",
        "machine": "es40-qsnet",
        "series": [{"name": "size", "ping": ping | sizes}],
    }
    chosen = el.Experiment.from_dict(content, "pings")
    usual = el.Machine.load("es40-qsnet")
    for name, machine in (("a", usual), ("b", usual.with_({"bus.rate": "263 MB/s"}))):
        el.run(chosen, machine, out=tmp_path / name)
    shown = elanite("compare", "a", "b")
    assert (
        "21 figures of the configurations in both folders: 20 differ, 1 equal, 0 undecided"
        in shown.err
    )
    rows = [line.split() for line in shown.out.splitlines() if line.endswith("differs")]
    assert len(rows) == 20
    for *_, a, b, ratio, _ in rows:
        assert a != b, "enough digits"
        assert ratio != "1"


def test_the_inputs_that_differ_are_named(tmp_path: Path, elanite: Run) -> None:
    """Machine, run and workload keys, seeds; and no key that is the same on both sides."""
    ping = {
        "from": 0,
        "to": 5,
        "directions": "one",
        "source": "main",
        "destination": "main",
        "repeats": 1,
    }
    usual = el.Machine.load("es40-qsnet")
    other = usual.with_({"bus.rate": "200 MB/s", "switch.circuit": "wormhole"})
    for name, machine, slices, seed in (("a", usual, 0, 1), ("b", other, 3, 7)):
        series = {
            "name": "size",
            "ping": ping | {"message": ["0 B", "64 B"]},
            "run": {"slices": slices},
        }
        content = {"title": "Pings", "machine": "es40-qsnet", "series": [series]}
        el.run(el.Experiment.from_dict(content, "pings"), machine, seed=seed, out=tmp_path / name)
    found = compare_stores(Store(tmp_path / "a" / "store"), Store(tmp_path / "b" / "store"))
    differ = {one.key: (one.a, one.b) for one in found.settings}
    assert differ == {
        "switch.circuit": (("until-acknowledged",), ("wormhole",)),
        "bus.rate": (("264 MB/s",), ("200 MB/s",)),
        "run.slices": (("0",), ("3",)),
        "seed": (("1",), ("7",)),
    }
    assert all(line.settings for line in found.lines)
    shown = elanite("compare", "a", "b", "--html", "changes.html")
    head = shown.out.partition("pings size")[0]
    assert "inputs that differ" in head
    assert re.search(r"bus.rate +264 MB/s +200 MB/s", head)
    first, *_ = json.loads(elanite("compare", "a", "b", "--format", "json").out)
    assert first["inputs"]["bus.rate"] == {"a": ["264 MB/s"], "b": ["200 MB/s"]}
    page = (tmp_path / "changes.html").read_text(encoding="utf-8")
    assert page.index("Inputs that differ</h2>") < page.index("pings size</h2>")


def test_machines_side_by_side_are_those_alone(tmp_path: Path) -> None:
    """A point keeps the parameters of the run that simulated it first, alone or beside another
    machine.
    """
    ping = {
        "from": 0,
        "to": 5,
        "directions": "one",
        "source": "elan",
        "destination": "elan",
        "repeats": 1,
    }
    series = {"name": "size", "ping": ping | {"message": ["0 B", "64 B"]}}
    chosen = el.Experiment.from_dict(
        {"title": "Pings", "machine": "es40-qsnet", "series": [series]}, "pings"
    )
    usual = el.Machine.load("es40-qsnet")
    farther = usual.with_({"link.hop_delay": "90 ns"}, name="farther")
    runs = {
        "together": [[usual, farther]],
        "one by one": [[usual], [usual, farther]],
        "other": [[farther]],
    }
    for name, machines in runs.items():
        for some in machines:
            el.run(chosen, some, out=tmp_path / name)
    stores = {name: Store(tmp_path / name / "store") for name in runs}
    for a, b in (("together", "one by one"), ("one by one", "together")):
        found = compare_stores(stores[a], stores[b])
        assert (found.same, found.only_a, found.only_b, found.ambiguous) == (4, 0, 0, 0)
    alone = tmp_path / "alone"
    el.run(chosen, usual, out=alone)
    found = compare_stores(stores["together"], Store(alone / "store"))
    assert (found.same, found.only_a, found.only_b) == (2, 2, 0)
    # Two folders with a machine each are compared, with any machine names.
    found = compare_stores(Store(alone / "store"), stores["other"])
    assert (found.same, found.only_a, found.only_b) == (0, 0, 0)
    assert {line.state for line in found.lines if line.metric == "latency"} == {
        ComparisonState.DIFFERS
    }
    assert all("on" not in line.parameters for line in found.lines)


def test_the_state_is_in_csv(elanite: Run, campaign: Path, faster: Path) -> None:
    words = ("compare", str(campaign), str(faster), "--format")
    objects = json.loads(elanite(*words, "json").out)
    rows = list(csv.DictReader(io.StringIO(elanite(*words, "csv").out)))
    assert [(row["series"], row["metric"], row["state"]) for row in rows] == [
        (line["series"], line["metric"], line["state"]) for line in objects
    ]
    assert [float(row["b_mean"]) for row in rows] == [line["b"]["mean"] for line in objects]
    assert {row["message"] for row in rows if row["series"] == "ping"} == {"0 B", "64 B", "4 KB"}
    same = elanite("compare", str(campaign), str(campaign), "--format", "csv").out.splitlines()
    assert len(same) == 1
    assert same[0].startswith("experiment,series,job,metric,unit,state,")


def test_a_folder_equals_itself(elanite: Run, campaign: Path, tmp_path: Path) -> None:
    same = elanite("compare", str(campaign), str(campaign))
    assert same.code == 0
    assert same.out == ""
    assert "identical configurations; only in A: 0; only in B: 0" in same.err
    assert "figures of other configurations" not in same.err
    missing = elanite("compare", str(campaign), "nowhere")
    assert missing.code == 2
    assert "nowhere has no results" in missing.err
    (tmp_path / "runs" / "replay").mkdir(parents=True)
    other = elanite("compare", str(campaign), str(tmp_path / "runs"))
    assert (other.code, "runs has runs of `elanite replay` only" in other.err) == (2, True)


def test_seeds_are_paired_with_themselves(campaign: Path, faster: Path) -> None:
    """Identities, by which a store is in order, do not contain seeds."""
    stores = Store(campaign / "store"), Store(faster / "store")
    lines = [
        line
        for line in compare_stores(*stores).lines
        if line.series == "load" and line.metric == "accepted"
    ]
    assert lines
    for line in lines:
        assert line.pair.paired
        for store, side in zip(stores, (line.pair.a, line.pair.b), strict=True):
            assert [seed for seed, _ in side.labels] == [1] * 5 + [2] * 5
            own = {
                manifest["seed"]: (
                    store.table(each, "rows")
                    .filter(pl.col("metric") == "accepted")["value"]
                    .to_list()
                )
                for each in store.identities()
                if (manifest := store.get(each)) and manifest["parameters"] == line.parameters
            }
            assert side.values == (*own[1], *own[2])


def test_points_of_older_versions_count_as_random(
    elanite: Run, campaign: Path, faster: Path, tmp_path: Path
) -> None:
    old = Store(tmp_path / "old" / "store")
    store = Store(faster / "store")
    for identity in store.identities():
        found = store.get(identity)
        assert found is not None
        content = {key: value for key, value in found.data.items() if key != "random"}
        tables = {"rows": store.table(identity, "rows")}
        old.add(identity, manifest.seal(tables, content, bound=True))
    words = ("compare", str(campaign), "old")
    lines = json.loads(elanite(*words, "--format", "json").out)
    pings = [line for line in lines if line["series"] == "ping"]
    assert all(line["random"] == [False, None] for line in pings)
    assert {line["state"] for line in pings if line["b"]["n"] < 3} == {"undecided"}
    assert "of an older version do not record whether random numbers were drawn" in " ".join(
        elanite(*words).err.split()
    )


def test_seeds_of_a_configuration_count_once(tmp_path: Path) -> None:
    ping = {"from": 0, "to": 1, "directions": "one", "source": "main", "destination": "main"}
    call = ping | {"message": ["0 B", "64 B"], "repeats": 1}
    content = {
        "title": "Pings",
        "machine": "es40-qsnet",
        "run": {"seeds": 3},
        "series": [{"name": "size", "ping": call}],
    }
    assert len(el.run(el.Experiment.from_dict(content), out=tmp_path).points) == 6
    store = Store(tmp_path / "store")
    assert compare_stores(store, store).counts == [
        "2 identical configurations; only in A: 0; only in B: 0"
    ]
