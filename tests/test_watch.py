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

from elanite import campaign
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.report.watch import Scene, scene
from elanite.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

SHORT = ("--set", "run.warm_up=2 ms")
WATCHED = [
    "run.watch=20 us",
    "run.precision=0",
    "run.window=20 us",
    "run.batches=1",
    "run.slices=0",
    "fabric.engine=flit",
]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, pl.DataFrame]:
    """Uniform traffic beyond saturation on 64 nodes: 20 us, and the circuit rows."""
    out = tmp_path_factory.mktemp("watch")
    source = sources.read("experiment", "qsnet/uniform")
    own = 'run = { window = "80 ms", precision = 0, batches = 10, seeds = 5 }'  # would outrank what is watched
    assert own in source.text
    source = replace(source, text=source.text.replace(own, ""))
    planned = plan(source, overrides=[*WATCHED, "run.warm_up=100 us"])
    point = next(point for point in planned.points if point.series == "saturation" and point.parameters["nodes"] == 64)
    store = Store(out / "store")
    outcome = campaign.run([planned.only([point.id])], store)
    assert outcome.exit_code == 0
    return scene(point, store), store.table(point.id, "circuits")


def test_what_is_shown_is_what_was_recorded(watched: tuple[Scene, pl.DataFrame]) -> None:
    """At any moment: the channels that are taken, and the headers that wait, straight from the table."""
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
        assert states.count("opens") == len(taken.filter(pl.col("head_ps").is_null() | (pl.col("head_ps") > now)))
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
        ends = [(shown.links[link]["from"], shown.links[link]["to"]) for _, link in way]
        assert all(one[1] == other[0] for one, other in pairwise(ends))
        if way and way[0][0] == 0:
            assert ends[0][0] == packet["source"]
        if packet["delivered"] is not None and way:
            assert ends[-1][1] == packet["last"]


def test_a_page(elanite: Run, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    words = ("watch", "qsnet/uniform", *SHORT, "--for", "20 us", "--html", str(page), "--out", str(tmp_path / "out"))
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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("qsnet/uniform", "--point", "zzz"), "has no point whose identity starts with zzz"),
        (("qsnet/uniform", "--for", "5 apples"), "5 apples"),
        (("qsnet/ping",), "packets are shown of jobs"),
        (("multirail/beyond",), "fat trees of at most 64 nodes with one rail"),
    ],
)
def test_what_cannot_be_shown(elanite: Run, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    ended = elanite("watch", *words, "--out", str(tmp_path))
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
        f"Channels: {states['carries']} with flits, {states['opens']} open before the first flit, {states['held']} held"
        f" after the last one; headers that wait: {states['waits']}"
    )


def test_the_page_shows_what_the_scene_says(watched: tuple[Scene, pl.DataFrame], tmp_path: Path) -> None:
    """In a browser: the same states at random moments, no console message, and no element wider than the screen."""
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
        browser.close()
