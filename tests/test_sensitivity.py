"""Sensitivity studies: unknown parameters, their steps, shorter runs, probes, and the heat map."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import data
from elanite import _core
from elanite.cli.common import OutputFormat
from elanite.cli.engine import Campaign
from elanite.cli.sweep import Sweep
from elanite.errors import RunError, UsageError
from elanite.inputs.machine import Machine, Parameter
from elanite.inputs.plan import Point, plan
from elanite.inputs.sources import read as source
from elanite.report import index as report
from elanite.report import layout
from elanite.results.numbers import Finding, Number
from elanite.store import Store
from elanite.study import changes, sensitivity
from elanite.study.basis import machine_claims, studies, study
from elanite.study.heat_map import draw
from elanite.study.variation import (
    UNKNOWN,
    UncertainParameter,
    scaled,
    uncertain_parameters,
    varied,
)
from elanite.validation.claim import Claim, fitted
from elanite.validation.claims import claims
from elanite.validation.measures.quantities import MissingError
from elanite.validation.scoreboard import measurement

if TYPE_CHECKING:
    from elanite.validation.measures import Measurement

ES40 = "es40-qsnet"
OPTERON = "opteron-qsnet2"

FEW = [
    UncertainParameter("host.call", "100 ns", "80 ns", "120 ns"),
    UncertainParameter("tport.slots", "64", "51", "77"),
    UncertainParameter("tport.handle", "50", None, "60", ("qsnet2.uni.latency",)),
]
"""A parameter that acts on an MPI latency, one that does not, and one that moves in one
direction.
"""


def quantity(text: str) -> float:
    found = _core.quantity(text)
    return found[0] if found else float(text.split()[0])


def parameter(machine: Machine, key: str) -> Parameter:
    return next(each for each in machine.parameters if each.key == key)


@pytest.mark.parametrize("name", studies())
def test_a_step_is_the_nearest_value_that_the_machine_takes(name: str) -> None:
    machine = Machine.load(name)
    found, others = varied(machine)
    assert [each.key for each in uncertain_parameters(machine)] == [
        each.key for each in machine.parameters if each.fitted_to or UNKNOWN.search(each.source)
    ]
    assert {each.key for each in found} | {each.key for each in others} == {
        each.key for each in uncertain_parameters(machine)
    }
    for each in found:
        value = quantity(each.value)
        for step, text in each.steps.items():
            factor = quantity(text) / value
            assert (0.49 <= factor < 0.9) if step == "less" else (1.1 < factor <= 2.01), (
                each,
                text,
            )
            assert Machine.load(name, [f"{each.key}={text}"])[each.key] != machine[each.key]
    for other in others:
        assert not isinstance(other.value, int | float) or isinstance(other.value, bool)


def test_steps_keep_the_rules_of_the_machine() -> None:
    machine = Machine.load(ES40)
    hop, packets = (
        parameter(machine, key) for key in ("link.hop_delay", "adapter.packets_in_flight")
    )
    assert scaled(machine, hop, 1.2) == "65 ns"  # whole cycles of 5 ns
    assert scaled(machine, packets, 1.2) == "2"
    steps = {each.key: each for each in varied(machine)[0]}
    assert steps["adapter.packets_in_flight"].steps == {"less": "1", "more": "3"}
    full = Machine.load(
        ES40, ["adapter.share_period=64 flits"]
    )  # of which a burst is half, and may not be more
    burst = parameter(full, "adapter.share_burst")
    assert scaled(full, burst, 0.75) == "24 flits"
    assert scaled(full, burst, 1.25) is None


@pytest.mark.parametrize("name", studies())
def test_the_studies_name_claims_about_their_machines(name: str) -> None:
    found = study(name)
    assert found.claims
    assert all(plan_.machines[0].name == name and plan_.points for plan_ in found.usual.values())
    own = {claim for each in Machine.load(name).parameters for claim in each.fitted_to}
    assert own & found.parts.keys(), "no claim to which the machine was fitted"
    assert own <= fitted()


@pytest.mark.parametrize("name", studies())
def test_the_studies_cover_all_predicted_claims_about_their_machines(name: str) -> None:
    predicted = {claim.id for claim in machine_claims(name) if claim.role == "predicted"}
    assert predicted <= study(name).parts.keys()


def test_wrong_names_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"there is no study of `es40-qsnet2`; did you mean `es40-qsnet`\?"
    ):
        study("es40-qsnet2")
    with pytest.raises(
        UsageError, match=r"no claim about es40-qsnet is named `permutation.shufle`; did you mean"
    ):
        study(ES40, ["permutation.shufle"])
    with pytest.raises(UsageError, match=r"no claim about es40-qsnet is named `perm`"):
        study(ES40, ["perm"])


def test_traffic_is_shorter_and_other_points_are_those_of_the_experiment() -> None:
    found = study(
        ES40, ["permutation.neighbor", "ping.uni.latency.0B", "barrier.hardware.loaded.p93"]
    )
    usual = {name: plan(source("experiment", name)) for name in found.usual}
    (traffic,) = {
        (p.run["warm_up"], p.run["window"]) for p in found.usual["qsnet/permutations"].points
    }
    (whole,) = {
        (p.run["warm_up"], p.run["window"])
        for p in usual["qsnet/permutations"].points
        if claims_by_id("permutation.neighbor").asks_for(p)
    }
    assert sum(map(quantity, traffic)) == pytest.approx(0.2 * sum(map(quantity, whole)), rel=1e-3)
    assert quantity(traffic[1]) == pytest.approx(2 * quantity(traffic[0]), rel=1e-3)
    ping = {point.id for point in found.usual["qsnet/ping"].points}
    assert len(ping) == 1
    assert ping <= {point.id for point in usual["qsnet/ping"].points}
    barriers = found.usual[
        "collectives/barrier"
    ].points  # three seeds of 24, as a quantile has no batches
    assert len(barriers) == 3
    assert all('"repeats":200' in barrier.json for barrier in barriers)
    probes = found.plans(share=0.2)["collectives/barrier"].points
    assert all('"repeats":40' in probe.json for probe in probes)


def claims_by_id(name: str) -> Claim:
    return next(claim for claim in claims() if claim.id == name)


def test_changes_are_fractions_of_what_is_published() -> None:
    loss = claims_by_id("hotspot.64.loss")
    assert loss.value
    before, after = (Number(x, x, x, values=(x,)) for x in (0.10, 0.12))
    found = sensitivity.change(loss, before, after)
    assert found
    assert found.mean == pytest.approx(0.02 / loss.value)
    shape = claims_by_id("uniform.distributions")

    def finding(*figures: tuple[float, float]) -> Finding:
        return Finding(
            True,
            str(figures),
            tuple(Number(mean, mean - half, mean + half) for mean, half in figures),
        )

    # The figure that changes most may be indistinguishable from noise; then another one counts.
    found = sensitivity.change(shape, finding((100, 1), (100, 40)), finding((90, 1), (130, 40)))
    assert found
    assert found.mean == pytest.approx(-0.1)
    assert found.low < found.mean < found.high < 0
    same = finding((100, 1))
    assert sensitivity.change(shape, same, same) == Number(0.0, 0.0, 0.0)
    assert sensitivity.change(shape, same, finding((100, 1), (1, 1))) is None
    assert sensitivity.change(shape, same, before) is None


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("elanite.study.sensitivity", "elanite.report.index"):
        monkeypatch.setattr(f"{place}.varied", lambda _machine: (FEW, []))


@pytest.mark.usefixtures("few")
def test_only_parameters_that_act_are_run(tmp_path: Path) -> None:
    chosen = study(OPTERON, ["qsnet2.uni.latency"])
    store = Store(tmp_path / "store")
    outcome, changed = sensitivity.run(chosen, store, jobs=1)
    # The point itself, and a probe for each of the five steps; probes of pings are as long as the
    # runs themselves.
    assert outcome.simulated == 6
    table = sensitivity.effects(chosen, changed, store)
    assert table.schema == pl.Schema(changes.SCHEMA)
    rows = {(row["parameter"], row["step"]): row for row in table.iter_rows(named=True)}
    assert rows.keys() == {(each.key, step) for each in FEW for step in each.steps}
    less, more = (rows["host.call", step]["change"] for step in ("less", "more"))
    assert less == pytest.approx(-more)
    assert more > 0.01
    assert rows["tport.slots", "more"]["change"] == 0.0
    assert rows["tport.handle", "more"]["holds"] is not rows["tport.handle", "more"]["held"]
    reading = changes.read(table)
    assert rows["tport.handle", "more"]["own"]
    assert reading.steady == ["qsnet2.uni.latency"], (
        "the parameter that was fitted to the claim does not count"
    )
    assert reading.turning == {}
    other = changes.read(table.with_columns(own=pl.lit(False)))
    assert other.turning == {"qsnet2.uni.latency": ["tport.handle +"]}
    assert other.steady == reading.open == []
    assert reading.idle == ["tport.slots"]


@pytest.mark.usefixtures("few")
def test_a_figure_that_a_short_run_lacks_is_blank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = study(OPTERON, ["qsnet2.uni.latency", "qsnet2.bi.latency"])
    store = Store(tmp_path / "store")
    _, changed = sensitivity.run(chosen, store, jobs=1)
    usual = {point.id for planned in chosen.usual.values() for point in planned.points}

    def no_steady_load(claim: Claim, points: Sequence[Point], store: Store) -> Measurement:
        if claim.id == "qsnet2.bi.latency" or not {point.id for point in points} <= usual:
            raise MissingError("no load is steady")
        return measurement(claim, points, store)

    monkeypatch.setattr("elanite.study.basis.measurement", no_steady_load)
    table = sensitivity.effects(chosen, changed, store)
    assert set(table["claim"]) == {"qsnet2.uni.latency"}, (
        "the claim without a figure on the machine as it is"
    )
    moved = {(row["parameter"], row["step"]): row["change"] for row in table.iter_rows(named=True)}
    assert moved["host.call", "more"] is None
    assert moved["tport.slots", "more"] == 0.0, "the points are those of the machine as it is"
    assert changes.read(table).turning == {}


@pytest.mark.usefixtures("few")
def test_a_study_is_resumed_kept_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["qsnet2.uni.latency,qsnet2.bi.latency"]
    asked: dict[str, Any] = {
        "experiment": OPTERON,
        "one_at_a_time": True,
        "claims": names,
        "out": tmp_path,
    }
    asked["engine"] = Campaign(jobs=1)
    Sweep(**asked, format_=OutputFormat.CSV).execute()
    first = capsys.readouterr()
    points = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "store").iterdir()}
    assert points
    Sweep(**asked, format_=OutputFormat.CSV).execute()
    again = capsys.readouterr()
    assert again.out == first.out
    assert points == {each.name: each.stat().st_mtime_ns for each in (tmp_path / "store").iterdir()}
    assert again.err.endswith(
        f"reproduce: elanite sweep {OPTERON} --one-at-a-time --claims"
        f" qsnet2.uni.latency,qsnet2.bi.latency --out {shlex.quote(str(tmp_path))}"
        " --format csv --jobs 1\n"
    )
    Sweep(**asked).execute()
    shown = capsys.readouterr().out
    assert "qsnet2.uni.latency" in shown
    assert "tport.handle" in shown
    assert "change no claim: tport.slots" in shown
    chosen = study(OPTERON, names[0].split(","))
    table = sensitivity.kept(chosen, tmp_path)
    assert table is not None
    assert table.write_csv() == first.out
    # Another parameter value, another study: the kept table no longer counts.
    assert (
        sensitivity.kept(replace(chosen, usual=chosen.plans(["host.call=90 ns"])), tmp_path) is None
    )


@pytest.mark.usefixtures("few")
def test_the_report_shows_the_default_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("elanite.study.basis", "elanite.report.index"):
        monkeypatch.setattr(f"{place}.studies", lambda: {OPTERON: {"qsnet2.uni.latency": 1.0}})
    assert report.studied(tmp_path) == []
    chosen, store = study(OPTERON), Store(tmp_path / "store")
    _, changed = sensitivity.run(chosen, store, jobs=1)
    sensitivity.write(chosen, sensitivity.effects(chosen, changed, store), tmp_path)
    (found,) = report.studied(tmp_path)
    assert found.machine == OPTERON
    page = layout.render([], [], sensitivities=[found])
    assert f'data-figure="sensitivity-{OPTERON}"' in page
    said = " ".join(page.split())
    assert "no step turns the verdict of 1 of the 1 claims studied: qsnet2.uni.latency" in said
    assert f"elanite sweep {OPTERON} --one-at-a-time<" in page


def test_the_heat_map_has_a_half_cell_for_each_step() -> None:
    about = {"value": "1 us", "fitted": False, "own": False, "changed": "2 us", "role": "predicted"}

    def row(
        parameter: str, step: str, claim: str, change: float, half: float, holds: bool = True
    ) -> dict[str, object]:
        ends = {"change": change, "low": change - half, "high": change + half}
        figures = {"usual": 100.0, "simulated": 100.0 * (1 + change)}
        return about | figures | ends | {
            "parameter": parameter, "step": step, "claim": claim, "held": True, "holds": holds,
        }  # fmt: skip

    table = pl.DataFrame(
        [
            row("a.weak", "less", "one", -0.02, 0.01),
            row("a.weak", "more", "one", 0.02, 0.03),  # not told from noise
            row("b.strong", "less", "two", 0.3, 0.01, holds=False),
            row("b.strong", "more", "two", -0.1, 0.01),
            row("c.none", "more", "two", 0.001, 0.0),
        ],
        changes.SCHEMA,
    )
    figure = draw("my-machine", table)
    assert figure
    cells = data(figure, "change")
    assert [cell["change"] for cell in cells] == [-0.02, 0.3, -0.1]
    assert [cell["turns"] for cell in cells] == ["", "x", ""]
    weak, strong, other = cells
    assert strong["y"] < weak["y"], "the strongest parameter is first"
    assert strong["x2"] == other["x"], "the halves of a cell touch"
    assert weak["x"] < strong["x"], "claims in the order of the documents"
    names = [label["text"] for label in data(figure, "text")]
    assert "○ b.strong 1 us" in names
    assert not any("c.none" in name for name in names)
    assert "100 to 130" in strong["says"]
    assert draw("my-machine", table.filter(pl.col("parameter") == "c.none")) is None


def test_figures_without_batches_keep_seeds() -> None:
    found = study(ES40, ["hotspot.64.near", "permutation.neighbor"])
    seeds = {
        name: {point.seed for point in planned.points} for name, planned in found.usual.items()
    }
    assert seeds == {"qsnet/hotspot": {1, 2, 3}, "qsnet/permutations": {1}}


def test_probes_find_the_points_on_which_a_parameter_acts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts = UncertainParameter("adapter.turnaround", "250 ns", None, "300 ns")
    idles = UncertainParameter("tport.handle", "168", None, "202")
    monkeypatch.setattr("elanite.study.sensitivity.varied", lambda _machine: ([acts, idles], []))
    monkeypatch.setattr(
        "elanite.study.basis.studies", lambda: {ES40: {"permutation.neighbor": 0.02}}
    )
    chosen, store = study(ES40), Store(tmp_path / "store")
    outcome, (acting, idling) = sensitivity.run(chosen, store, jobs=1)
    points = len(chosen.usual["qsnet/permutations"].points)
    assert (
        outcome.simulated == 5 * points
    )  # as it is, its probe, two probes, and one step for the whole time
    usual = {point.id for point in chosen.usual["qsnet/permutations"].points}
    assert {point.id for point in idling.plans["qsnet/permutations"].points} == usual
    assert {point.id for point in acting.plans["qsnet/permutations"].points}.isdisjoint(usual)


def test_what_fails_or_is_refused_leaves_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = UncertainParameter("topology.nodes", "8", "1", None)  # the ping goes to node 1
    monkeypatch.setattr(
        "elanite.study.sensitivity.varied", lambda _machine: ([*FEW[:2], refused], [])
    )
    simulate = _core.simulate

    def failing(
        point: str, cancel: _core.Cancel, memory: int | None = None, threads: int = 1
    ) -> _core.Records:
        if json.loads(point)["machine"]["tport"]["slots"]["value"] != 64:
            raise RunError("out of memory", 1)
        return simulate(point, cancel, memory, threads)

    monkeypatch.setattr("elanite._core.simulate", failing)
    chosen, store = study(OPTERON, ["qsnet2.uni.latency"]), Store(tmp_path / "store")
    outcome, changed = sensitivity.run(chosen, store, jobs=1)
    assert {failure.exit_code for failure in outcome.failures} == {1}
    table = sensitivity.effects(chosen, changed, store)
    known = {row["parameter"]: row["change"] is not None for row in table.iter_rows(named=True)}
    assert known == {"host.call": True, "tport.slots": False}
    assert changes.read(table).turning == {}


def test_one_value_of_a_random_process_is_not_told_from_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = UncertainParameter("adapter.thread_cycle", "10 ns", None, "12 ns")
    monkeypatch.setattr("elanite.study.sensitivity.varied", lambda _machine: ([one], []))
    name = "barrier.hardware.loaded.p93"
    monkeypatch.setattr(
        "elanite.study.basis.studies", lambda: {ES40: {name: 0.02, "barrier.hardware.64": 0.02}}
    )
    monkeypatch.setattr("elanite.study.basis.MOST_SEEDS", 1)
    chosen, store = study(ES40), Store(tmp_path / "store")
    _, changed = sensitivity.run(chosen, store, jobs=1)
    table = sensitivity.effects(chosen, changed, store)
    idle, loaded = table.sort("claim").iter_rows(named=True)
    assert loaded["claim"] == name
    assert loaded["change"]
    assert loaded["low"] is loaded["high"] is None
    assert idle["low"] == idle["high"] == idle["change"] > 0, "a run without traffic is exact"
    assert table.filter(changes.resolved())["claim"].to_list() == ["barrier.hardware.64"]
    held = table.with_columns(held=pl.lit(True), holds=pl.lit(False))
    assert changes.turned(held)["claim"].to_list() == ["barrier.hardware.64"]
