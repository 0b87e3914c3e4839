"""Silent limits: credits, detours, keys without effect, assumed values, and sizes and times out of
range.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl
import pytest

import elanite as el
from elanite.inputs import sources, warmup
from elanite.inputs.plan import plan
from elanite.study import assumptions, limits, study_findings

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Ended

    Run = Callable[..., Ended]

ASSUMED_ONLY = {"assumed"}

PING = """title = "A ping"
source = "test"
machine = "es40-qsnet"
[[series]]
name = "ping"
{more}
[series.ping]
from = 0
to = [1, 2]
directions = "one"
source = "main"
destination = "main"
message = {message}
repeats = 1
"""


def slim_fly(folder: Path) -> Path:
    """A machine with 50 switches and 200 nodes: the SlimFly network for q = 5, with up*/down*
    routing.
    """

    def name(side: int, x: int, y: int) -> str:
        return f"s{side}{x}{y % 5}"

    cables = []
    for x in range(5):
        for y in range(5):
            cables += [(name(0, x, y), name(0, x, y + 1)), (name(1, x, y), name(1, x, y + 2))]
            cables += [(name(0, x, y), name(1, m, y - m * x)) for m in range(5)]
    (folder / "q5.txt").write_text("".join(f"{a} {b}\n" for a, b in cables), encoding="utf-8")
    text = sources.read("machine", "infiniband-ndr").text
    topology = """[topology]
kind = { value = "graph", source = "test" }
nodes = { value = 200, source = "test" }
file = { value = "q5.txt", source = "test" }
terminals = { value = 4, source = "test" }

"""
    found = re.sub(r"\[topology\].*?(?=\[link\])", topology, text, flags=re.DOTALL)
    (folder / "slimfly.toml").write_text(found, encoding="utf-8")
    return folder / "slimfly.toml"


UNIFORM = """title = "Uniform traffic beyond saturation"
source = "test"
machine = "infiniband-ndr"
[run]
warm_up = "40 us"
window = "40 us"
batches = 2
seeds = 1
[[series]]
name = "uniform"
machine = { link.channels = 8 }
[series.jobs.traffic]
pattern = "uniform"
nodes = 200
message = "4 KB"
sizes = "fixed"
arrivals = "exponential"
load = ["8 GB/s", "15 GB/s"]
processes = 16
"""


def busiest(links: pl.DataFrame) -> list[float]:
    """By load: the flits over the busiest link between switches, in units of the mean over the
    nodes' links.
    """
    flits = pl.col("flits")
    switches, nodes = (pl.col("from").str.starts_with(kind) for kind in ("switch", "node"))
    inner = flits.filter(switches & pl.col("to").str.starts_with("switch"))
    by_load = links.group_by("load_MBps").agg(inner.max() / flits.filter(nodes).mean())
    return by_load.sort("load_MBps")["flits"].to_list()


def of_machine(name: str | Path, *changes: str) -> list[limits.Limit]:
    return limits.of_machine(el.Machine.load(name, changes))


def test_the_detours_of_a_graph_are_told(elanite: Run, tmp_path: Path) -> None:
    file = slim_fly(tmp_path)
    ended = elanite("check", str(file))
    assert ended.code == 0
    assert "topology.kind = graph: up*/down* routing takes detours" in ended.err, ended
    share = re.search(r"accepts about ([\d.]+)% .*, ([\d.]+)% on shortest ways", ended.err)
    assert share, ended
    assert 20 < float(share[1]) < 30
    assert float(share[2]) > 95
    assert elanite("check", str(file), "--quiet").err == ""


def test_the_bound_of_a_graph_is_near_the_accepted_load(tmp_path: Path) -> None:
    machine = el.Machine.load(slim_fly(tmp_path))
    (limit,) = limits.of_machine(machine)
    (tmp_path / "uniform.toml").write_text(UNIFORM, encoding="utf-8")
    result = el.run(el.Experiment.load(tmp_path / "uniform.toml"), machine, out=tmp_path / "out")
    found = re.search(r"busiest link ([\d.]+) times .* about ([\d.]+)%", limit.message)
    assert found
    # A full packet has 4,096 bytes in 65 64-byte flits.
    rate = 50_000 * 4096 / 4160
    bound = float(found[2]) / 100 * rate
    rows = result.summary().sort("load_MBps")
    below, beyond = rows.filter(rows["metric"] == "accepted")["mean"]
    offered, _ = rows.filter(rows["metric"] == "offered")["mean"]
    assert 0.65 * bound < 0.95 * offered < below
    # The estimate has equal parts of the traffic on all ways, as the network has below saturation.
    # Beyond it, adaptive ascents keep away from the busiest link: the network accepts more, and
    # still as much as that link carries.
    busiest_below, busiest_beyond = busiest(result.table("links"))
    assert busiest_below == pytest.approx(float(found[1]), rel=0.05)
    assert busiest_beyond < busiest_below
    assert bound < beyond == pytest.approx(rate / busiest_beyond, rel=0.03)
    assert rows.filter(rows["metric"] == "saturated")["mean"].to_list() == [0, 1]


@pytest.mark.parametrize("name", sources.shipped("machine"))
def test_no_shipped_machine_has_a_limit(name: str) -> None:
    assert of_machine(name) == []


TRUE = {
    # Machines that the experiments make scarce on purpose.
    "qsnet/ablations": {"link.channels", "adapter.packets_in_flight"},
    # Low loads with long messages; their figures have the load that the windows offered.
    "multirail/saturation": {"run.warm_up"},
    "qsnet/combined": {"run.warm_up"},
    "qsnet/congestion": {"run.warm_up"},
    "qsnet/io": {"run.warm_up"},
}


def test_shipped_experiments_have_only_the_limits_that_they_study() -> None:
    for name in sources.shipped("experiment"):
        found = limits.of_plans([plan(sources.read("experiment", name))])
        assert {limit.key for limit in found} == TRUE.get(name, set()), (name, found)


@pytest.mark.parametrize(
    ("machine", "changes", "key", "share"),
    [
        # 400 Gb/s: a 1.28 ns cycle, 780 cycles, and credits that take 56; 5 x 65 / (65 + 780 + 56).
        ("infiniband-ndr", ["link.hop_delay=998.4 ns"], "link.channels", 5 * 65 / 901),
        (
            "infiniband-ndr",
            ["link.hop_delay=998.4 ns", "link.channels=13"],
            "link.channels",
            13 * 65 / 901,
        ),
        # 100 Gb/s: 234 and 14 cycles. Five channels cover the round trip, and not a packet that
        # waits.
        (
            "infiniband-ndr",
            ["link.hop_delay=1198.08 ns", "link.rate=100 Gb/s"],
            "link.channels",
            5 * 65 / (313 + 65),
        ),
        # Links between switches have 90 cycles.
        ("infiniband-ndr", ["link.channels=2"], "link.channels", 2 * 65 / (65 + 90 + 56)),
        # One-cycle credits.
        (
            "infiniband-ndr",
            ["link.credit_delay=1.28 ns", "link.channels=2"],
            "link.channels",
            2 * 65 / (65 + 90 + 1),
        ),
        # Shorter packets need more credits: 17 flits.
        ("infiniband-ndr", ["packet.payload=1 KB"], "link.channels", 5 * 17 / (17 + 90 + 56)),
        # Circuits: a 1 us delay is 200 cycles; a packet has 189 flits, an acknowledgement leaves
        # after 50 cycles.
        (
            "es40-qsnet",
            ["link.hop_delay=1 us", "link.buffer=300 flits"],
            "link.channels",
            2 * 189 / (189 + 800 + 50),
        ),
        (
            "es40-qsnet",
            ["adapter.packets_in_flight=1"],
            "adapter.packets_in_flight",
            189 / (189 + 44 + 50),
        ),
        # An 8-flit buffer and 12 cycles until a place returns: 23 turns and 5 flits.
        (
            "es40-qsnet",
            ["switch.circuit=wormhole", "link.buffer=8 flits"],
            "link.buffer",
            2 * 189 / (23 * 12 + 5 + 12 + 189),
        ),
        # The same with 16 flits and 11-cycle credits: 22 cycles until a place returns, 11 turns and
        # 13 flits.
        (
            "es40-qsnet",
            ["switch.circuit=wormhole", "link.buffer=16 flits", "link.credit_delay=55 ns"],
            "link.buffer",
            2 * 189 / (11 * 22 + 13 + 22 + 189),
        ),
    ],
)
def test_credits_that_do_not_cover_the_round_trip(
    machine: str, changes: list[str], key: str, share: float
) -> None:
    found = of_machine(machine, *changes)
    (limit,) = found
    assert (limit.kind, limit.key) == ("credits", key)
    assert f"{100 * share:.1f}% of its rate" in limit.message, limit


@pytest.mark.parametrize(
    "changes",
    [
        ["link.hop_delay=998.4 ns"],
        ["link.hop_delay=1198.08 ns", "link.rate=100 Gb/s"],
        ["packet.payload=1 KB"],
        ["switch.circuit=wormhole", "link.buffer=20 flits"],
        ["link.credit_delay=998.4 ns"],
        [
            "switch.circuit=wormhole",
            "link.channels=2",
            "link.buffer=60 flits",
            "link.credit_delay=71.68 ns",
        ],
    ],
)
def test_the_remedy_is_enough(changes: list[str]) -> None:
    (limit,) = of_machine("infiniband-ndr", *changes)
    remedy = re.search(r"raise (link\.\w+) to (\d+(?: flits)?)", limit.message)
    assert remedy, limit
    after = of_machine("infiniband-ndr", *changes, f"{remedy[1]}={remedy[2]}")
    assert all(each.key != limit.key for each in after), after


TRAFFIC = """title = "Uniform traffic from the start"
source = "test"
machine = "es40-qsnet"
[run]
warm_up = "{warm_up}"
window = "{window}"
batches = 4
seeds = 20
[[series]]
name = "load"
[series.jobs.own]
pattern = "uniform"
nodes = 8
processes = {processes}
message = "1 KB"
sizes = "fixed"
arrivals = "{arrivals}"
load = ["20 MB/s", "80 MB/s"]
"""


@cache
def simulated(text: str) -> pl.DataFrame:
    """An experiment's results, simulated once: warnings, and mistakes in them, change no result."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "own.toml"
        file.write_text(text, encoding="utf-8")
        return el.run(el.Experiment.load(file), out=Path(folder) / "out").summary()


@pytest.mark.parametrize(
    ("arrivals", "warm_up", "window", "share"),
    [
        # 16 KB at 20 MB/s are 819 us, at 80 MB/s 205 us. Exponential gaps: 1 + t until one gap,
        # then 1.
        ("exponential", 246, 410, 0.55),
        ("exponential", 819, 410, 0.0),
        ("uniform", 410, 328, 0.42),
        ("uniform", 819, 410, -0.26),
        ("uniform", 2458, 410, 0.0),
        ("fixed", 0, 410, 0.0),
    ],
)
def test_a_window_before_the_arrivals_are_stationary_is_told(
    elanite: Run, tmp_path: Path, arrivals: str, warm_up: int, window: int, share: float
) -> None:
    """The expected excess equals the simulated sources' excess, and there is a warning if it is
    more than 5%.
    """
    text = TRAFFIC.format(
        arrivals=arrivals, warm_up=f"{warm_up} us", window=f"{window} us", processes=16
    )
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    expected = warmup.excess(arrivals, warm_up / 819.2, (warm_up + window) / 819.2)
    assert expected == pytest.approx(share, abs=0.03)
    rows = simulated(text)
    (offered,) = rows.filter((rows["metric"] == "offered") & (rows["load_MBps"] == 20)).iter_rows(
        named=True
    )
    assert offered["mean"] / 20 - 1 == pytest.approx(expected, abs=0.06)
    said = re.findall(
        r"series load: run.warm_up = .*?: at 20 MB/s, .* on average the window offers (\d+)%"
        r" (more|less)",
        elanite("check", "own.toml").err,
    )
    signs = "more" if share > 0 else "less"
    assert said == (
        [(f"{abs(expected):.0%}".rstrip("%"), signs)] if abs(share) > warmup.MOST else []
    )


def test_the_remedy_for_a_short_warm_up_is_enough(elanite: Run, tmp_path: Path) -> None:
    for arrivals in warmup.ENOUGH:
        text = TRAFFIC.format(arrivals=arrivals, warm_up="1 us", window="100 us", processes=16)
        (tmp_path / "own.toml").write_text(text, encoding="utf-8")
        remedy = re.search(r"raise run.warm_up to (\d+ [mu]s)", elanite("check", "own.toml").err)
        assert (remedy is None) == (arrivals == "fixed")
        if remedy:
            (tmp_path / "own.toml").write_text(
                text.replace('"1 us"', f'"{remedy[1]}"'), encoding="utf-8"
            )
            assert "run.warm_up" not in elanite("check", "own.toml").err


def test_a_run_warns_once_of_its_machine(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "ping.toml").write_text(
        PING.format(more="", message='["0 B", "64 B"]'), encoding="utf-8"
    )
    ended = elanite("run", "ping.toml", "--set", "link.hop_delay=500 ns")
    assert ended.code == 0, ended
    assert ended.err.count("warning: es40-qsnet: link.channels = 2:") == 1, ended
    swept = elanite("sweep", "ping.toml", "--vary", "link.hop_delay=500 ns,600 ns")
    assert swept.err.count("link.channels = 2:") == 1, swept
    assert "1 other machine" in swept.err


def test_values_that_make_the_same_points_are_told(elanite: Run, tmp_path: Path) -> None:
    for more, message in [
        ("", '["1 KB", "1024 B"]'),
        ('machine = [{}, { fabric.engine = "flit" }]', '"1 KB"'),
    ]:
        (tmp_path / "ping.toml").write_text(
            PING.format(more=more, message=message), encoding="utf-8"
        )
        ended = elanite("check", "ping.toml")
        assert ended.code == 0
        assert "ping, series ping: 2 points: left out, as they repeat others" in ended.err, ended
    more = "machine = [{}, { link.channels = 2 }]"
    (tmp_path / "ping.toml").write_text(PING.format(more=more, message='"1 KB"'), encoding="utf-8")
    said = (
        "ping, series ping: machine = unchanged, link.channels=2: these values make the same points"
    )
    assert said in elanite("run", "ping.toml").err
    (tmp_path / "other.toml").write_text(
        PING.format(more="", message='["1 KB", "2 KB"]'), encoding="utf-8"
    )
    assert "same points" not in elanite("check", "other.toml").err


def test_a_sweep_of_a_key_without_effect_is_told(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "ping.toml").write_text(PING.format(more="", message='"64 B"'), encoding="utf-8")
    words = ("sweep", "ping.toml", "--vary", "link.hop_delay=55 ns,65 ns")
    assert "these values" not in elanite(*words).err
    # Known from the plan: the engine is not part of a point.
    planned = elanite(*words, "--vary", "fabric.engine=worm,flit")
    assert (
        "ping.toml: fabric.engine = worm, flit: these values make the same points" in planned.err
    ), planned
    # Known from the results: a ping in an empty network has no rivals.
    finished = elanite(*words, "--vary", "switch.age_bits=4,5")
    assert "same points" not in finished.err
    assert "ping.toml: switch.age_bits = 4, 5: these values had no effect" in finished.err, finished
    sample = elanite(
        "sweep",
        "ping.toml",
        "--vary",
        "bus.rate=200 MB/s..300 MB/s",
        "--vary",
        "fabric.engine=worm,flit",
        "--sample",
        "lhs",
        "3",
    )
    assert "fabric.engine: no value of the sweep changes a point" in sample.err, sample
    assert "bus.rate:" not in sample.err


def test_assumed_values_are_told_with_computed_effects_only(elanite: Run, tmp_path: Path) -> None:
    shipped = elanite("check", "qsnet/ping").err
    assert re.search(
        r"es40-qsnet: assumed parameters = \d+ of \d+: small steps of 1?\d of these move claims",
        shipped,
    ), shipped
    for key, claim in re.findall(r"([a-z]+\.\w+) \(([\w.-]+) by", shipped):
        effects = study_findings.shipped()["es40-qsnet"].of(key)
        assert any(each.claim == claim for each in effects)
        assert assumptions.is_assumed(
            next(each for each in el.Machine.load("es40-qsnet").parameters if each.key == key)
        )
    (tmp_path / "ping.toml").write_text(
        PING.format(more="", message='"64 B"').replace("es40-qsnet", "infiniband-ndr"),
        encoding="utf-8",
    )
    own = elanite("check", "ping.toml").err
    assert re.search(
        r"infiniband-ndr: assumed parameters = \d+ of \d+: no study has computed", own
    ), own
    inherited = [
        each
        for each in el.Machine.load("rail-optimised").parameters
        if assumptions.is_assumed(each)
    ]
    assert "link.channels" in {each.key for each in inherited}
    assert "link.rate" not in {each.key for each in inherited}


def warnings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("warning: ")]


def test_check_prints_warnings_and_errors_as_data(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "ping.toml").write_text(
        PING.format(more="", message='["1 KB", "1024 B"]'), encoding="utf-8"
    )
    (tmp_path / "wrong.toml").write_text("[link]\n", encoding="utf-8")
    words = ("check", "es40-qsnet", "ping.toml", "wrong.toml", "absent")
    ended, table = elanite(*words, "--format", "json"), elanite(*words)
    assert (ended.code, table.code) == (2, 2)
    machine, ping, wrong, absent = json.loads(ended.out)
    assert machine == {"file": "es40-qsnet", "error": None, "warnings": []}
    assert ping["error"] is None
    lines = [str(limits.Limit(**warning)) for warning in ping["warnings"]]
    assert "same" in {warning["kind"] for warning in ping["warnings"]}
    assert lines == warnings(table.err)
    assert warnings(ended.err) == []
    assert "wrong.toml:" in wrong["error"]
    assert "absent" in absent["error"]
    assert wrong["error"] in table.err


def test_a_reproduction_prints_the_warnings_of_its_experiments(elanite: Run) -> None:
    single = elanite("reproduce", "--quick", "--only", "qsnet/ping")
    checked = warnings(elanite("check", "qsnet/ping").err)
    assert checked
    assert warnings(single.err) == checked, single
    names = ("qsnet/ablations", "qsnet/hotspot", "qsnet/ping")
    line = limits.in_brief([plan(sources.read("experiment", name)) for name in names])
    assert (
        line == "warning: limits of these experiments (3 assumed, 2 credits), in full: "
        "elanite check qsnet/ablations qsnet/hotspot qsnet/ping"
    )
    assert len(warnings(elanite(*line.partition("in full: elanite ")[2].split()).err)) == 5
    several = elanite("reproduce", "--quick", "--only", "qsnet/ping,speed/uniform-64,qsnet2/ping")
    assert warnings(several.err) == [
        (
            "warning: --quick leaves out experiments that decide no claim: speed/uniform-64; run"
            " without --quick"
        ),
        (
            "warning: limits of these experiments (2 assumed), in full: elanite check qsnet/ping"
            " qsnet2/ping"
        ),
    ]
    assert elanite("reproduce", "--quick", "--only", "qsnet/ping", "--quiet").err == ""


def test_a_calibration_prints_the_warnings_of_a_run(elanite: Run, tmp_path: Path) -> None:
    (tmp_path / "ping.toml").write_text(
        PING.format(more="", message='["1 KB", "1024 B"]'), encoding="utf-8"
    )
    (tmp_path / "measured.csv").write_text(
        "series,message,metric,value,sigma\nping,1 KB,latency,10,0.1\n", encoding="utf-8"
    )
    slow = ("--set", "link.hop_delay=500 ns")
    ran = warnings(elanite("run", "ping.toml", *slow).err)
    assert {"link.channels", "assumed"} <= {
        word for line in ran for word in re.findall(r"[\w.]+", line)
    }
    words = ("calibrate", "ping.toml", "--to", "measured.csv", *slow, "--trials", "1")
    assert warnings(elanite(*words, "--fit", "bus.rate=150 MB/s..400 MB/s").err) == ran
    # A parameter that is fitted counts as known.
    known = plan(sources.read("experiment", str(tmp_path / "ping.toml")))
    keys = [
        each.key
        for each in el.Machine.load("es40-qsnet").parameters
        if assumptions.is_assumed(each)
    ]
    (all_,), (fewer,) = assumptions.of_plan(known), assumptions.of_plan(known, {keys[0]})
    assert int(all_.share.split()[0]) == len(keys) == int(fewer.share.split()[0]) + 1


SUMS = """num_ranks 2
rank 0 {
l1: send 18446744073709551615b to 1 tag 0
}
rank 1 {
l1: recv 18446744073709551615b from 0 tag 0
}
"""
DAYS = """num_ranks 1
rank 0 {
l1: calc 8640000000000000
l2: calc 8640000000000000
l3: calc 8640000000000000
l2 requires l1
l3 requires l2
}
"""


@pytest.mark.parametrize("network", ["machine", "ideal"])
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [(SUMS, 3, "at most 2147483647 bytes"), (DAYS, 5, "it would end after")],
)
def test_sizes_and_times_out_of_range(
    elanite: Run, tmp_path: Path, network: str, text: str, line: int, words: str
) -> None:
    (tmp_path / "trace.goal").write_text(text, encoding="utf-8")
    ended = elanite("replay", "trace.goal", "--network", network)
    assert ended.code == 2, ended
    assert f"trace.goal:{line}: " in ended.err
    assert words in ended.err
    assert "bug" not in ended.err


def test_a_limit_names_the_changes_with_which_the_machine_has_it(tmp_path: Path) -> None:
    """Those from a sweep and from a machine list, without the changes that do not matter."""
    (tmp_path / "ping.toml").write_text(
        PING.format(
            more=(
                "machine = [{}, { link.hop_delay = '500 ns' }, { link.hop_delay = '500 ns',"
                " bus.burst = '512 B' }]"
            ),
            message='"64 B"',
        ),
        encoding="utf-8",
    )
    read = sources.read("experiment", str(tmp_path / "ping.toml"))
    circuits, rates = ("wormhole", "until-acknowledged"), ("200 MB/s", "300 MB/s")
    plans = [
        plan(read, overrides=[f"switch.circuit={circuit}", f"bus.rate={rate}"])
        for circuit in circuits
        for rate in rates
    ]
    (limit,) = (one for one in limits.of_plans(plans) if one.key == "link.channels")
    assert limit.subject == "es40-qsnet (link.hop_delay=500 ns, switch.circuit=wormhole)"


def test_values_with_commas_are_told_apart() -> None:
    assert limits._list(["a=1, b=2", "a=1"]) == "a=1, b=2; a=1"
    assert limits._list(["4", "5"]) == "4, 5"
