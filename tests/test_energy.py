"""Energy: sums that are calculated here from counters and wiring, and files that are wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import elanite as el
from conftest import Ended, command, execute
from elanite.errors import UsageError
from elanite.results.energy import load, of_tables
from elanite.traces import goal
from pings import ping

if TYPE_CHECKING:
    from pathlib import Path

VALUES = {
    "link_bit": "5 pJ",
    "switch_bit": "0.01 nJ",
    "adapter_bit": "20 pJ",
    "link_idle": "500 mW",
    "switch_idle": "30 W",
    "adapter_idle": "8 W",
}


def power(tmp_path: Path, **changed: str) -> Path:
    """A parameter file. Changes are written verbatim; an empty text omits the key."""
    lines = {
        key: f'{{ value = "{value}", source = "made for the test" }}'
        for key, value in VALUES.items()
    } | changed
    path = tmp_path / "power.toml"
    path.write_text(
        "[energy]\n" + "".join(f"{key} = {text}\n" for key, text in lines.items() if text)
    )
    return path


def test_one_message_crosses_its_links(tmp_path: Path) -> None:
    """A message between a switch's nodes: two links, one switch, two adapters; the sums are made by
    hand.
    """
    trace = tmp_path / "one.goal"
    trace.write_text("num_ranks 2\nrank 0 {\nsend 320b to 1\n}\nrank 1 {\nrecv 320b from 0\n}\n")
    done = el.replay(trace)
    time = done.summary["time_us"]
    found = of_tables(done.cluster.point, done.tables["links"], time, load(power(tmp_path)))
    rows = {row["part"]: row for row in found.iter_rows(named=True)}
    # 64 nodes in three stages with 16 8-port switches; each of three levels has 64 links with two
    # directions.
    assert [rows[part]["count"] for part in ("links", "switches", "adapters")] == [384, 48, 64]
    bits = done.tables["links"]["flits"].sum() * 16
    assert bits >= 2 * 320 * 8
    assert [rows[part]["bits"] for part in ("links", "switches", "adapters")] == [
        bits,
        bits // 2,
        bits,
    ]
    assert rows["links"]["traffic_J"] == pytest.approx(bits * 5e-12)
    assert rows["switches"]["traffic_J"] == pytest.approx(bits / 2 * 10e-12)
    assert rows["adapters"]["traffic_J"] == pytest.approx(bits * 20e-12)
    idle = (384 * 0.5 + 48 * 30 + 64 * 8) * time * 1e-6
    assert rows["all"]["idle_J"] == pytest.approx(idle)
    assert rows["all"]["total_J"] == pytest.approx(idle + bits * 30e-12)
    assert rows["all"]["mean_W"] == pytest.approx((idle + bits * 30e-12) / (time * 1e-6))


EXPERIMENT = f"""title = "One ping"
source = "made for the test"
machine = "es40-qsnet"
[[series]]
name = "ping"
title = "One ping"
{ping('"64 B"')}"""


def test_the_commands_on_kept_replays_and_on_points(tmp_path: Path) -> None:
    trace, experiment = tmp_path / "sum.goal", tmp_path / "ping.toml"
    trace.write_text("".join(goal.all_reduce(4, 4096)))
    experiment.write_text(EXPERIMENT)
    asked = ("--power", str(power(tmp_path)), "--format", "json")

    def elanite(*words: str) -> Ended:
        return execute(command(*words), cwd=tmp_path)

    folder = json.loads(elanite("replay", str(trace), "--format", "json").out)["folder"]
    (one,) = json.loads(elanite("energy", folder, *asked).out)
    assert one["machine"] == "es40-qsnet"
    assert one["energy"][0]["bits"] > 0
    table = elanite("energy", folder, *asked[:2])
    assert (table.code, "switches" in table.out) == (0, True)
    (matrix,) = json.loads(elanite("congestion", folder, "--format", "json").out)
    waited = {f"{link['from']} → {link['to']}": link["waiting_us"] for link in matrix["links"]}
    assert {link.split(" ")[0] for link, waits in waited.items() if waits is None} == {"node"}
    assert elanite("congestion", folder).out.startswith(
        f"replay {folder[-20:]}\n4 ranks on es40-qsnet\n"
    )
    ideal = json.loads(elanite("replay", str(trace), "--network", "ideal", "-f", "json").out)[
        "folder"
    ]
    for refused in (elanite("energy", ideal, *asked), elanite("congestion", ideal)):
        assert (refused.code, "the ideal network has no links" in refused.err) == (2, True)
    unfinished = elanite("energy", str(experiment), *asked)
    assert (unfinished.code, "has no finished points" in unfinished.err) == (2, True)
    assert elanite("run", str(experiment), "--quiet").code == 0
    points = json.loads(elanite("energy", str(experiment), *asked).out)
    assert [each["series"] for each in points] == ["ping"]
    assert points[0]["energy"][0]["bits"] > 64 * 8


@pytest.mark.parametrize(
    ("key", "text", "wrong"),
    [
        (
            "link_bit",
            "",
            r"power\.toml: energy\.link_bit: it has exactly the keys value and source",
        ),
        ("link_bit", '"5 pJ"', "energy.link_bit: it has exactly the keys value and source"),
        (
            "link_bit",
            '{ value = "5 pJ" }',
            "energy.link_bit: it has exactly the keys value and source",
        ),
        ("link_bit", '{ value = "5 pJ", source = " " }', "energy.link_bit: name the source"),
        (
            "link_bit",
            '{ value = "5 W", source = "x" }',
            "energy.link_bit: `5 W` is not an amount in J",
        ),
        (
            "link_bit",
            '{ value = "-5 pJ", source = "x" }',
            "energy.link_bit: `-5 pJ` is not an amount in J",
        ),
        ("link_bit", "{ value = 5, source = 'x' }", "energy.link_bit: `5` is not an amount in J"),
        (
            "switch_idle",
            '{ value = "inf W", source = "x" }',
            "energy.switch_idle: `inf W` is not an amount in W",
        ),
        ("fan_idle", '{ value = "5 W", source = "x" }', "fan_idle: this key is unknown"),
    ],
)
def test_a_wrong_parameter_is_named(tmp_path: Path, key: str, text: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        load(power(tmp_path, **{key: text}))


def test_a_file_without_energy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text("[link]\n")
    with pytest.raises(UsageError, match=r"machine\.toml: there is no section \[energy\]"):
        load(path)
    path.write_text("[")
    with pytest.raises(UsageError, match="this is no TOML"):
        load(path)
    with pytest.raises(UsageError, match="it cannot be read"):
        load(tmp_path / "none.toml")
