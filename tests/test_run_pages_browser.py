"""A timeline in a browser: it fits, zooms, moves, and shows the data below the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import elanite as el
from elanite.base.text import part
from elanite.inputs import sources
from elanite.report.pages import Inputs, render
from elanite.report.pages import replay as replays
from elanite.traces import goal
from test_report_browser import BEYOND, CHROMIUM, WIDTHS, browser, opened
from timelines import a_run, embedded, intervals, page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by name: a run, a run that ended with a deadlock, a replay."""
    folder = tmp_path_factory.mktemp("timelines")
    trace = folder / "ring.goal"
    trace.write_text("".join(goal.all_reduce(6, 3000, "ring", compute=500)), encoding="ascii")
    found = {name: folder / f"{name}.html" for name in ("run", "deadlock", "replay")}
    found["run"].write_text(page_of(a_run(4, ranks=6, calls=30)), encoding="utf-8")
    found["deadlock"].write_text(
        page_of(a_run(4, ranks=6, calls=30, end="deadlock")), encoding="utf-8"
    )
    words = ("elanite", "replay", "ring.goal")
    replayed = replays.page(
        el.replay(trace, operations=True),
        sources.read("machine", "es40-qsnet"),
        words,
        Inputs(words),
    )
    found["replay"].write_text(render(replayed), encoding="utf-8")
    return found


@pytest.fixture
def file(files: dict[str, Path]) -> Path:
    return files["run"]


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    shown, said = opened(browser, file)
    yield shown
    assert said == []
    shown.context.close()


@pytest.mark.parametrize("name", ["run", "deadlock", "replay"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_timeline_fits(browser: Browser, files: dict[str, Path], name: str, width: int) -> None:
    page, said = opened(browser, files[name], width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(BEYOND, width) == []
    assert page.locator(".timeline canvas").count() == 3
    for canvas in ("ruler", "lanes", "links"):
        assert page.evaluate(COLOURS, canvas) > 1, f"{canvas} is empty"
    assert said == []
    page.context.close()


COLOURS = """name => {
  const canvas = document.querySelector(`.timeline .${name}`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""
"""Counts a canvas's colours."""


def view(page: Page) -> dict[str, Any]:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: dict[str, Any] = page.evaluate(
        "(({from, to, tall}) => ({from, to, tall}))(document.querySelector('.timeline').view)"
    )
    return found


def test_zoom_and_move(page: Page) -> None:
    end = embedded(page.content())["end"]
    assert view(page)["to"] == end
    page.click("[data-do=in]")
    page.click("[data-do=left]")
    near = view(page)
    assert near["to"] - near["from"] == pytest.approx(end / 2)
    box = page.locator(".lanes").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 600, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 5)
    page.mouse.up()
    moved = view(page)
    assert moved["from"] > near["from"]
    assert moved["to"] - moved["from"] == pytest.approx(near["to"] - near["from"])
    page.mouse.wheel(0, -300)
    closer = view(page)
    assert closer["to"] - closer["from"] < near["to"] - near["from"], (
        "the wheel zooms after a click"
    )
    page.keyboard.press("0")
    assert view(page) | {"tall": 0} == {"from": 0, "to": end, "tall": 0}
    page.click("[data-do=taller]")
    assert view(page)["tall"] > near["tall"]


def test_a_pointer_shows_the_call_below_it(page: Page) -> None:
    """Each rank's long calls, at their middles: rank, call, begin and length as in the data."""
    data = embedded(page.content())
    page.uncheck(".timeline .lines")
    tall = view(page)["tall"]
    box = page.locator(".lanes").bounding_box()
    assert box is not None
    gutter = 92
    one, _ = intervals(data)
    seen = 0
    for rank in range(len(data["lanes"])):
        longest = max((row for row in one if row[0] == rank), key=lambda row: row[3] - row[2])
        _, call, begin, end = longest
        place = gutter + (begin + end) / 2 / data["end"] * (box["width"] - gutter)
        page.mouse.move(box["x"] + place, box["y"] + (rank + 0.5) * tall)
        text = page.locator(".pointed").inner_text()
        assert text.startswith(f"rank {rank} on node {rank}, ")
        found = re.search(rf"{call} from ([\d.,]+) µs, ([\d.,]+) (\S+?)(,|;|$)", text)
        assert found is not None, text
        assert float(found[1].replace(",", "")) == pytest.approx(begin / 1e6)
        unit = {"ps": 1, "ns": 1e3, "µs": 1e6, "ms": 1e9}[found[3]]
        assert float(found[2].replace(",", "")) * unit == pytest.approx(end - begin, rel=1e-3)
        seen += 1
    assert seen == 6


def test_a_pointer_shows_the_load_of_a_link(page: Page) -> None:
    data = embedded(page.content())
    box = page.locator(".links").bounding_box()
    assert box is not None
    loads = [
        (row, period, load)
        for row, each in enumerate(data["loads"])
        for period, load in enumerate(each)
        if load
    ]
    for row, period, load in (
        min(loads, key=lambda one: one[2]),
        max(loads, key=lambda one: one[2]),
    ):
        begin, end = data["periods"][period]
        place = 92 + (begin + end) / 2 / data["end"] * (box["width"] - 92)
        page.mouse.move(box["x"] + place, box["y"] + 15 * row + 7)
        text = page.locator(".pointed").inner_text()
        assert text.startswith(f"{data['links'][row][0]}: {part(load / 1000, 1)} from ")
        assert text.endswith(f"; {part(data['links'][row][2], 1)} of the run")
    assert min(loads, key=lambda one: one[2])[2] < 0.5, "a load that would read as none"


def test_messages_in_view_are_counted(browser: Browser, tmp_path: Path) -> None:
    """More messages than lines: the page counts both."""
    run = a_run(6, ranks=5, calls=900)
    (tmp_path / "many.html").write_text(page_of(run), encoding="utf-8")
    page, said = opened(browser, tmp_path / "many.html")
    total = len(run.tables["messages"])
    assert total == 2700
    assert (
        f"1,350 of {total:,} messages in view drawn" in page.locator(".timeline .span").inner_text()
    )
    for _ in range(3):
        page.click("[data-do=in]")
    view(page)
    assert re.search(r"· \d+ messages in view drawn", page.locator(".timeline .span").inner_text())
    assert said == []
    page.context.close()
    run = a_run(6, ranks=2, calls=1)
    alone = replace(run, tables=run.tables | {"messages": run.tables["messages"].head(1)})
    (tmp_path / "one.html").write_text(page_of(alone), encoding="utf-8")
    page, _ = opened(browser, tmp_path / "one.html")
    assert "· 1 message in view drawn" in page.locator(".timeline .span").inner_text()
    page.context.close()


def test_each_row_of_a_replay_has_its_operations(browser: Browser, files: dict[str, Path]) -> None:
    """A rank's computation, sends and receives lie above each other; each row names its operation
    and partner.
    """
    page, _ = opened(browser, files["replay"])
    data = embedded(page.content())
    page.uncheck(".timeline .lines")
    tall = view(page)["tall"]
    box = page.locator(".lanes").bounding_box()
    assert box is not None
    one, _ = intervals(data)
    for row, kind in enumerate(("calc", "send", "recv")):
        rank, _, begin, end = max(
            (each for each in one if each[1] == kind), key=lambda each: each[3] - each[2]
        )
        place = 92 + (begin + end) / 2 / data["end"] * (box["width"] - 92)
        page.mouse.move(box["x"] + place, box["y"] + (rank + (row + 0.5) / 3) * tall)
        text = page.locator(".pointed").inner_text()
        assert re.match(rf"rank {rank} on node {rank}, [\d.,]+ µs: .*\b{kind} from ", text), text
        assert f"{kind} from {begin / 1e6:,.6f}".rstrip("0").rstrip(".") in text
        neighbour = {"send": (rank + 1) % 6, "recv": (rank - 1) % 6}.get(kind)
        assert neighbour is None or f"with rank {neighbour}" in text
    page.context.close()
