"""Finding things: lists, explanations, result filters, and warnings."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SMALL, Ended
from elanite.explain import catalog, meanings
from elanite.inputs import sources
from elanite.validation.claims import claims

Run = Callable[..., Ended]


@pytest.mark.parametrize("what", catalog.WHAT)
def test_lists_have_a_line_each(elanite: Run, what: str) -> None:
    rows = json.loads(elanite("list", what, "--format", "json").out)
    assert len(rows) >= 3
    for row in rows:
        assert all(isinstance(value, str) for value in row.values())
        assert next(iter(row.values()))
    counts = {
        "machines": len(sources.shipped("machine")),
        "experiments": len(sources.shipped("experiment")),
        "claims": len(claims()),
    }
    assert len(rows) == counts.get(what, len(rows))


def test_figures_are_listed_without_the_signs_of_their_panels() -> None:
    rows = catalog.figures()
    assert not [row for row in rows if "{" in "".join(row.values())]
    assert "11*" in {row["figure"] for row in rows}


def test_the_list_says_what_experiments_cost(elanite: Run) -> None:
    shown = elanite("list")
    assert shown.code == 0
    (line,) = (line for line in shown.out.splitlines() if line.startswith("qsnet/ping "))
    assert "249" in line
    assert re.search(r" \d s ", line)


def test_explanations() -> None:
    parameter = meanings.explain("link.channels")
    assert "1 to 32" in parameter.allowed
    assert [name for name, _ in parameter.facts] == sources.shipped("machine")
    assert meanings.explain("hop_delay").key == "link.hop_delay"
    assert (
        dict(meanings.explain("ping.uni.latency.0B").facts)["fitted by"]
        == "adapter.dma_start (es40-qsnet)"
    )
    assert "measured" in meanings.explain("run.window").text
    assert (
        "circuit" in meanings.explain("switch.circuit").text
        or "channels" in meanings.explain("switch.circuit").text
    )


def test_every_parameter_is_explained() -> None:
    for row in catalog.parameters():
        assert row["meaning"], row["parameter"]
        assert meanings.explain(row["parameter"]).key == row["parameter"]


def test_unknown_keys_have_a_neighbour(elanite: Run) -> None:
    ended = elanite("explain", "link.hop_dely")
    assert ended.code == 2
    assert "did you mean `link.hop_delay`?" in ended.err


def test_results_are_chosen(elanite: Run, campaign: Path) -> None:
    words = (
        "run",
        SMALL,
        "--out",
        str(campaign),
        "--series",
        "ping",
        "--metric",
        "latency",
        "--format",
        "csv",
    )
    rows = elanite(*words, "--where", "message=64 B").out.splitlines()
    assert len(rows) > 2
    assert all(",64 B," in row and "latency" in row for row in rows[1:])
    points = json.loads(elanite(*words[:-1], "json", "--where", "message=64 B").out)
    assert {point["parameters"]["message"] for point in points} == {"64 B"}
    assert {tuple(point["results"]) for point in points} == {("latency",)}


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--series", "pings", "there is no series `pings`; did you mean `ping`?"),
        ("--metric", "latncy", "there is no metric `latncy`; did you mean `latency`?"),
        ("--where", "mesage=64 B", "there is no parameter `mesage`; did you mean `message`?"),
        ("--where", "message=65 B", "there is no message `65 B`; did you mean `64 B`?"),
        ("--where", "message", "is not KEY=VALUE"),
        ("--point", "", "--point is empty"),
        ("--machine", "qsnet/ping", "qsnet/ping is an experiment, and a machine is needed here"),
        ("--seed", "99999999999999999999999", "--seed"),
        ("--seed", "-3", "--seed"),
    ],
)
def test_wrong_choices_are_errors(
    elanite: Run, campaign: Path, option: str, value: str, said: str
) -> None:
    ended = elanite("run", SMALL, "--out", str(campaign), option, value)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_an_override_without_effect_is_told(elanite: Run, campaign: Path) -> None:
    words = ("run", SMALL, "--out", str(campaign), "--series", "ping")
    assert "changes no point" in elanite(*words, "--set", "link.channels=2").err
    assert "changes no point" not in elanite(*words).err


def test_quiet_commands_say_nothing(elanite: Run, campaign: Path) -> None:
    ended = elanite("run", SMALL, "--out", str(campaign), "--quiet")
    assert ended.code == 0
    assert ended.err == ""
    assert "latency" in ended.out


def test_pictures_and_pages(elanite: Run, campaign: Path, tmp_path: Path) -> None:
    words = (
        "run",
        SMALL,
        "--out",
        str(campaign),
        "--html",
        "page.html",
        "--svg",
        "picture.svg",
        "--format",
        "csv",
    )
    ended = elanite(*words)
    assert ended.code == 0, ended.err
    assert "<svg" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "small" in (tmp_path / "page.html").read_text(encoding="utf-8")
    report = elanite("report", SMALL, "--out", str(campaign))
    assert report.code == 0, report.err
    assert (campaign / "report" / "small.html").is_file()


def test_reports_without_results_are_errors(elanite: Run, campaign: Path) -> None:
    ended = elanite("report", "qsnet/uniform", "--out", str(campaign))
    assert ended.code == 2
    assert "elanite run qsnet/uniform" in ended.err


def test_a_machine_of_ones_own_is_explained_by_its_own_bounds(elanite: Run, tmp_path: Path) -> None:
    shipped = meanings.explain("link.hop_delay")
    assert shipped.allowed_on == "es40-qsnet"
    assert "in steps of the cycle, 5 ns" in shipped.allowed
    assert elanite("new", "machine", "mine", "--from", "infiniband-ndr").code == 0
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    title = tomllib.loads(text)["machine"]["title"]
    assert title == "a machine of my own, begun from infiniband-ndr"
    ended = elanite("explain", "link.hop_delay", "--machine", "mine.toml")
    assert ended.code == 0, ended.err
    assert "allowed on mine: " in ended.out
    assert "in steps of the cycle, 1.28 ns" in " ".join(ended.out.split())
    assert "moves on mine: not studied" in ended.out
    assert "es40-qsnet" not in ended.out
    # A shipped machine by its name or by its file has its study, and the others are left out.
    moves = [
        each.name
        for each in meanings.explain("link.hop_delay", sources.read("machine", "es40-qsnet")).moves
    ]
    assert moves == ["moves on es40-qsnet"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("link.latency", "link.hop_delay"),
        ("mtu", "packet.payload"),
        ("link.bandwidth", "link.rate"),
        ("vc", "link.channels"),
    ],
)
def test_what_others_call_a_parameter_leads_to_it(elanite: Run, key: str, meant: str) -> None:
    ended = elanite("explain", key)
    assert ended.code == 2
    assert (
        f"there is no parameter, claim, key or column `{key}`; here that is `{meant}`\n"
        in ended.err
    )


def test_synonyms_lead_to_parameters() -> None:
    known = {row["parameter"] for row in catalog.parameters()} | {"run.window"}
    assert {one for ones in meanings.SYNONYMS.values() for one in ones} <= known


def test_claims_are_chosen(elanite: Run) -> None:
    rows = json.loads(elanite("claims", "--only", "ping.uni,uniform.64", "--format", "json").out)
    assert {row["id"].rsplit(".", 1)[0] for row in rows} <= {
        "ping.uni",
        "ping.uni.elan",
        "ping.uni.main",
        "ping.uni.latency",
        "uniform.64",
    }
    assert json.loads(elanite("claims", "--missed", "--format", "json").out) == []
    wrong = elanite("claims", "--only", "pong")
    assert wrong.code == 2
    assert "there is no claim `pong`" in wrong.err
    nowhere = elanite("claims", "--out", "/nonexistent")
    assert nowhere.code == 2
    assert "there is no folder /nonexistent" in nowhere.err


def test_shown_as_json(elanite: Run) -> None:
    machine = json.loads(elanite("show", "es40-qsnet", "--format", "json").out)
    assert any(one["key"] == "link.rate" for one in machine["parameters"])
    experiment = json.loads(elanite("show", "qsnet/ping", "--format", "json").out)
    assert len(experiment["points"]) == 249


def test_a_claim_that_does_not_exist_is_no_fit(elanite: Run, tmp_path: Path) -> None:
    text = sources.read("machine", "es40-qsnet").text.replace(
        '"ping.bi.elan.bandwidth"', '"ping.bi.elan.bandwith"'
    )
    (tmp_path / "typo.toml").write_text(text, encoding="utf-8")
    ended = elanite("check", "typo.toml")
    assert ended.code == 2
    assert "adapter.share_period: fitted_to names no claim" in ended.err
    assert "did you mean `ping.bi.elan.bandwidth`?" in ended.err


def test_a_misspelt_metric_is_refused_before_the_run(elanite: Run, tmp_path: Path) -> None:
    for verb in (("run", SMALL), ("sweep", SMALL, "--vary", "bus.rate=200 MB/s,231.5 MB/s")):
        ended = elanite(*verb, "--out", "fresh", "--metric", "latncy")
        assert ended.code == 2, ended
        assert "--metric: there is no metric `latncy`; did you mean `latency`?" in ended.err
        assert not (tmp_path / "fresh").exists(), "no point was simulated"
