"""The packet picture agrees with the records."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest

import axe
from elanite import campaign
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.mpirun.run_tables import KeptRun
from elanite.report.network import network
from elanite.report.watch import Scene, of_run, scene
from elanite.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run
    from elanite.report.network import NetworkDrawing

SHORT = ("--set", "run.warm_up=2 ms")
WATCHED = [
    "run.watch=20 us",
    "run.precision=0",
    "run.window=20 us",
    "run.batches=1",
    "run.slices=0",
    "fabric.engine=flit",
]


LOADED = """
title = "Uniform traffic"
machine = "es40-qsnet"
[run]
warm_up = "50 us"
window = "100 us"
batches = 2
[[series]]
name = "loaded"
machine = {{ {machine} }}
[series.jobs.all]
pattern = "uniform"
nodes = {nodes}
message = "4 KB"
sizes = "fixed"
arrivals = "exponential"
load = "100 MB/s"
"""
"""An experiment of one point, on a machine with these changes."""

NETWORKS = {
    "tree of two rails": (
        (
            "topology.nodes = 60, topology.down = [4, 4, 4], topology.up = [4, 4], rails.count = 2,"
            ' rails.policy = "basic", rails.striping = 0.5, rails.threshold = "8 KB", rails.handle'
            ' = 50, rails.poll = "100 ns"'
        ),
        60,
    ),
    "torus": (
        (
            'topology.kind = "torus", topology.nodes = 64, topology.dimensions = [4, 4, 4],'
            " link.channels = 4"
        ),
        64,
    ),
    "HyperX": (
        (
            'topology.kind = "hyperx", topology.nodes = 64, topology.dimensions = [4, 4],'
            ' topology.terminals = 4, topology.routing = "minimal"'
        ),
        64,
    ),
    "dragonfly": (
        (
            'topology.kind = "dragonfly", topology.nodes = 72, topology.terminals = 2,'
            " topology.group = 4, topology.global = 2, topology.groups = 9, topology.routing ="
            ' "minimal", link.channels = 4'
        ),
        72,
    ),
    "graph": (
        (
            'topology.kind = "jellyfish", topology.nodes = 64, topology.switches = 16,'
            ' topology.degree = 6, topology.terminals = 4, topology.routing = "up-down"'
        ),
        64,
    ),
}
"""Machine changes, and nodes."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, pl.DataFrame]:
    """Uniform traffic beyond saturation on 64 nodes: 20 us, and the circuit rows."""
    out = tmp_path_factory.mktemp("watch")
    source = sources.read("experiment", "qsnet/uniform")
    own = (  # would outrank what is watched
        'run = { window = "80 ms", precision = 0, batches = 10, seeds = 5 }'
    )
    assert own in source.text
    source = replace(source, text=source.text.replace(own, ""))
    planned = plan(source, overrides=[*WATCHED, "run.warm_up=100 us"])
    point = next(
        point
        for point in planned.points
        if point.series == "saturation" and point.parameters["nodes"] == 64
    )
    store = Store(out / "store")
    outcome = campaign.run([planned.only([point.id])], store)
    assert outcome.exit_code == 0
    return scene(point, store), store.table(point.id, "circuits")


def test_what_is_shown_is_what_was_recorded(watched: tuple[Scene, pl.DataFrame]) -> None:
    """At any moment: the channels that are taken, and the headers that wait, straight from the
    table.
    """
    shown, rows = watched
    assert len(shown.packets) > 100
    begin = 100_000_000
    for time in [0.0, shown.length / 3, shown.length / 2, shown.length]:
        now = begin + round(time * 1000)
        begun = rows.filter(pl.col("waits_ps") <= now)
        there = begun.filter(pl.col("closed_ps").is_null() | (pl.col("closed_ps") > now))
        taken = there.filter(pl.col("opened_ps") <= now)
        waiting = there.filter(pl.col("opened_ps").is_null() | (pl.col("opened_ps") > now))
        held = taken.filter(pl.col("tail_ps") <= now)
        states = [state for _, _, state in shown.at(time)]
        assert states.count("waits") == len(waiting)
        assert states.count("held") == len(held)
        assert states.count("opens") == len(
            taken.filter(pl.col("head_ps").is_null() | (pl.col("head_ps") > now))
        )
        assert states.count("carries") + states.count("opens") == len(taken) - len(held)
        # One holder per channel, and the machine's channels.
        assert taken.select("link", "channel").is_duplicated().sum() == 0
        assert taken["channel"].max() < 2
    # Circuits are held, and headers wait for them.
    assert {state for _, _, state in shown.at(shown.length / 2)} >= {"waits", "carries", "held"}


def test_ways_lead_from_source_to_destination(watched: tuple[Scene, pl.DataFrame]) -> None:
    shown, _ = watched
    for packet in shown.packets:
        way = sorted((hop, link) for hop, link, channel, *_ in packet["way"] if channel is not None)
        ends = [
            (shown.network.links[link]["start"], shown.network.links[link]["end"])
            for _, link in way
        ]
        assert all(one[1] == other[0] for one, other in pairwise(ends))
        if way and way[0][0] == 0:
            assert ends[0][0] == packet["source"]
        if packet["delivered"] is not None and way:
            assert ends[-1][1] == packet["last"]


def test_a_page(elanite: Run, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    words = (
        "watch",
        "qsnet/uniform",
        *SHORT,
        "--for",
        "20 us",
        "--html",
        str(page),
        "--out",
        str(tmp_path / "out"),
    )
    ended = elanite(*words)
    assert ended.code == 0, ended
    assert f"picture: {page}" in ended.err
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    found = json.loads(re.search(r"const SCENE = (.*);</script>", text)[1])  # type: ignore[index]
    assert found["length"] == 20_000
    assert found["packets"]
    again = elanite(*words)
    assert (again.code, page.read_text(encoding="utf-8")) == (0, text)


def test_a_dry_run_prints_the_cost_and_writes_no_page(elanite: Run, tmp_path: Path) -> None:
    ended = elanite("watch", "qsnet/uniform", *SHORT, "--dry-run", "--out", str(tmp_path / "out"))
    assert ended.code == 0, ended
    assert "processor time" in ended.out + ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("qsnet/uniform", "--point", "zzz"), "has no point whose identity starts with zzz"),
        (("qsnet/uniform", "--for", "5 apples"), "5 apples"),
        (("qsnet/ping",), "packets are shown of jobs"),
        (("large.toml",), "es40-qsnet has 4,096 nodes; the picture shows at most 1,024"),
        (("mpirun/missing",), "there is no run in mpirun/missing"),
    ],
)
def test_what_cannot_be_shown(
    elanite: Run, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    text = LOADED.format(
        machine=(
            "topology.nodes = 4096, topology.down = [4, 4, 4, 4, 4, 4], topology.up = [4, 4, 4,"
            " 4, 4]"
        ),
        nodes=4096,
    )
    (tmp_path / "large.toml").write_text(text, encoding="utf-8")
    ended = elanite("watch", *words, "--out", str(tmp_path), cwd=tmp_path)
    assert ended.code == 2, ended
    assert says in ended.err


def test_a_point_that_was_not_watched_is_refused(tmp_path: Path) -> None:
    point = plan(sources.read("experiment", "qsnet/uniform")).points[0]
    with pytest.raises(UsageError, match=r"was not watched; set run\.watch"):
        scene(point, Store(tmp_path))


def _counted(shown: Scene, time: float) -> str:
    """The count line at a moment."""
    states = Counter(state for *_, state in shown.at(time))
    return (
        f"Channels: {states['carries']} with flits, {states['opens']} open before the first flit,"
        f" {states['held']} held after the last one; headers that wait: {states['waits']}"
    )


def _scene(machine: str, nodes: int, out: Path) -> Scene:
    """Two microseconds on a machine with these changes."""
    file = out / "loaded.toml"
    file.write_text(LOADED.format(machine=machine, nodes=nodes), encoding="utf-8")
    short = [*WATCHED, "run.watch=2 us"]
    planned = plan(sources.read("experiment", str(file)), overrides=short)
    store = Store(out / "store")
    assert campaign.run([planned], store).exit_code == 0
    return scene(planned.points[0], store)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_has_a_place_for_each_part(name: str, tmp_path: Path) -> None:
    """Nodes and switches lie apart and within the drawing, and ways lead from source to
    destination.
    """
    machine, nodes = NETWORKS[name]
    shown = _scene(machine, nodes, tmp_path)
    drawn = shown.network
    assert drawn.nodes == nodes
    places = [(spot["x"], spot["y"]) for spot in drawn.spots]
    assert len(set(places)) == len(places)
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places)
    assert {link["rail"] for link in drawn.links} == set(range(drawn.rails))
    assert {packet["rail"] for packet in shown.packets} == set(range(drawn.rails))
    assert len(shown.packets) > 20
    for packet in shown.packets:
        way = sorted((hop, link) for hop, link, channel, *_ in packet["way"] if channel is not None)
        links = [drawn.links[link] for _, link in way]
        assert all(one["end"] == other["start"] for one, other in pairwise(links))
        assert {link["rail"] for link in links} <= {packet["rail"]}
        if way and way[0][0] == 0:
            assert links[0]["start"] == packet["source"]
        if packet["delivered"] is not None and way:
            assert links[-1]["end"] == packet["last"]


def test_links_around_a_torus_are_stubs_and_long_ones_of_a_hyperx_network_are_arcs(
    tmp_path: Path,
) -> None:
    forms = {
        name: Counter(link["form"] for link in _drawn(name, tmp_path).links) for name in NETWORKS
    }
    assert forms["torus"] == {"line": 64 * 2 + 2 * 3 * 64 * 3 // 4, "stub": 2 * 3 * 16}
    # Four switches in a row have six cables, of which three join neighbours.
    assert forms["HyperX"] == {"line": 64 * 2 + 2 * 8 * 3, "arc": 2 * 8 * 3}
    assert all(set(forms[name]) == {"line"} for name in ("tree of two rails", "dragonfly", "graph"))


def _drawn(name: str, out: Path) -> NetworkDrawing:
    machine, nodes = NETWORKS[name]
    (out / "loaded.toml").write_text(LOADED.format(machine=machine, nodes=nodes), encoding="utf-8")
    return network(plan(sources.read("experiment", str(out / "loaded.toml"))).points[0].json)


def _replayed(elanite: Run, out: Path, *words: str) -> Path:
    """The folder of a replay of an exchange among 8 ranks on 4 nodes."""
    ended = elanite("goal", "alltoall", "--ranks", "8", "--size", "8 KB", cwd=out)
    (out / "exchange.goal").write_text(ended.out, encoding="utf-8")
    ended = elanite(
        "replay",
        "exchange.goal",
        "--ranks-per-node",
        "2",
        *words,
        "--out",
        str(out / "out"),
        cwd=out,
    )
    assert ended.code == 0, ended
    (folder,) = (out / "out" / "replay").iterdir()
    return folder


def test_a_replay_shows_its_messages(elanite: Run, tmp_path: Path) -> None:
    folder = _replayed(elanite, tmp_path, "--operations")
    kept = KeptRun.load(folder, replays=True)
    shown = of_run(kept)
    assert shown.messages is not None
    # Every rank sends to all others; the one on its own node needs no network.
    assert len(shown.messages) == 8 * 6
    assert {size for *_, size, _, _ in shown.messages} == {8192}
    assert all(
        source // 2 == start != end == other // 2
        for source, other, start, end, *_ in shown.messages
    )
    links = kept.table("series").filter(pl.col("thing") == "link", pl.col("busy") > 0)
    assert sum(len(busy) for *_, busy in shown.loads) == len(links)
    ended = elanite(
        "watch", str(folder), "--html", str(tmp_path / "page.html"), "--out", str(tmp_path / "out")
    )
    assert ended.code == 0, ended
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.page()
    ended = elanite("watch", str(folder), "--seed", "3")
    assert (ended.code, "--seed is not for the folder of a run" in ended.err) == (2, True)


def test_a_run_without_messages_names_the_option_that_keeps_them(
    elanite: Run, tmp_path: Path
) -> None:
    ended = elanite("watch", str(_replayed(elanite, tmp_path)))
    assert ended.code == 2, ended
    assert "repeat the run with --operations, which keeps it" in ended.err


@pytest.mark.parametrize("name", ["run", "tree of two rails", "HyperX"])
def test_other_pages_show_what_their_scenes_say(name: str, elanite: Run, tmp_path: Path) -> None:
    """In a browser: messages, rails, zoom by buttons and keys, without a console message."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium was not found; on Debian: apt-get install chromium")
    if name == "run":
        shown = of_run(KeptRun.load(_replayed(elanite, tmp_path, "--operations"), replays=True))
    else:
        shown = _scene(*NETWORKS[name], tmp_path)
    (tmp_path / "page.html").write_text(shown.page(), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (1400, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            said: list[str] = []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.goto((tmp_path / "page.html").as_uri())
            for part in (0.1, 0.5, 0.9):
                time = part * shown.length
                page.evaluate("(time) => go(time)", time)
                if shown.messages is not None:
                    assert page.evaluate("(time) => sentAt(time)", time) == shown.sent(time)
                    assert page.inner_text("#counts").startswith(
                        f"Messages on their way: {len(shown.sent(time))},"
                    )
                    continue
                for rail in range(shown.network.rails):
                    if shown.network.rails > 1:
                        page.select_option("#rail", str(rail))
                    assert page.inner_text("#counts") == _counted(shown, time, rail)
            page.click("#closer")
            page.keyboard.press("+")
            page.keyboard.press("Shift+ArrowRight")
            assert page.inner_text("#zoomed") == "225%"
            page.keyboard.press("0")
            assert page.inner_text("#zoomed") == "100%"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert said == []
            if axe.INSTALLED:
                assert axe.violations(page) == []
        browser.close()


def _counted(shown: Scene, time: float, rail: int = 0) -> str:
    """The count line at a moment."""
    states = Counter(
        state for _, link, state in shown.at(time) if shown.network.links[link]["rail"] == rail
    )
    return (
        f"Channels: {states['carries']} with flits, {states['opens']} open before the first flit,"
        f" {states['held']} held after the last one; headers that wait: {states['waits']}"
    )


def test_the_page_shows_what_the_scene_says(
    watched: tuple[Scene, pl.DataFrame], tmp_path: Path
) -> None:
    """In a browser: the same states at random moments, no console message, and no element wider
    than the screen.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium was not found; on Debian: apt-get install chromium")
    shown, _ = watched
    page_file = tmp_path / "page.html"
    page_file.write_text(shown.page(), encoding="utf-8")
    drawn = random.Random(0)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in (1400, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            said: list[str] = []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.goto(page_file.as_uri())
            for time in [0.0, shown.length, *(drawn.uniform(0, shown.length) for _ in range(20))]:
                states = page.evaluate("(time) => statesAt(time)", time)
                assert [tuple(state) for state in states] == shown.at(time)
                page.evaluate("(time) => { view.time = time; draw(); }", time)
                assert page.inner_text("#counts") == _counted(shown, time)
            page.click("#step")
            page.click("#play")
            page.wait_for_timeout(200)
            page.click("#play")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert said == []
            if axe.INSTALLED:
                assert axe.violations(page) == []
        browser.close()
