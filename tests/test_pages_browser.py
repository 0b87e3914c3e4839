"""User pages in a browser: every figure draws, no element scrolls sideways, and a ping prints on
four pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import command, execute
from test_pages import FOREIGN
from test_pages_findings import PING, fast, placements
from test_report_browser import (
    BEYOND,
    COLLIDING,
    browser,
    check_tables,
    draw_all,
    opened,
    pytestmark,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser", "pytestmark"]

EMPTY = """() => [...document.querySelectorAll("figure:not(.wide) [data-drawn]")].filter((chart) =>
  chart.querySelectorAll(
    ".mark-symbol path, .mark-rect path, .mark-line path, .mark-rule line"
  ).length === 0
).map((chart) => chart.dataset.figure)"""
"""The charts without marks."""

LEAST_TEXT = """() => Math.min(...[...document.querySelectorAll(".chart svg text")]
  .filter((text) => text.textContent.trim()).map((text) => text.getBoundingClientRect().height))"""
"""The height of the smallest text in all charts."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page for a ping on two machines, and one for two placements and time slices on two
    machines.
    """
    folder = tmp_path_factory.mktemp("own")
    fast(folder)
    (folder / "ping.toml").write_text(PING, encoding="utf-8")
    traffic = placements(["60 MB/s", "330 MB/s"]).replace("batches = 4", "batches = 4\nslices = 3")
    (folder / "load.toml").write_text(traffic, encoding="utf-8")
    machines = ("--machine", "es40-qsnet", "--machine", "slow-bus.toml")
    for name, more in (("ping", ()), ("load", machines)):
        ended = execute(command("run", f"{name}.toml", *more, "--html", f"{name}.html"), cwd=folder)
        assert ended.code == 0, ended
    return {name: folder / f"{name}.html" for name in ("ping", "load")}


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("load", 1400, "light"), ("load", 390, "dark"), ("ping", 390, "light")],
)
def test_a_page_draws_every_figure_and_fits(
    browser: Browser, made: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    page, said = opened(browser, made[name], width, scheme)
    charts = draw_all(page)
    assert charts > 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width, (
        "the page scrolls to the side"
    )
    assert page.evaluate(BEYOND, width) == []
    assert page.evaluate(COLLIDING) == []
    assert page.evaluate(EMPTY) == []
    assert page.evaluate(LEAST_TEXT) > 9, "charts are not shrunk to a phone"
    check_tables(page, charts)
    headings = page.locator("h1, h2").all_text_contents()
    parts = ["Results", "Hottest links", "Congestion"] if name == "load" else ["Results"]
    assert headings[1:] == [*parts, "Machines", "Command and inputs"]
    machines = page.locator("#machines").inner_text()
    assert FOREIGN.search(page.locator("main").inner_text().replace(machines, "")) is None
    assert said == []
    page.context.close()


def test_another_point_has_the_same_colours(browser: Browser, made: dict[str, Path]) -> None:
    """The point list changes the picture and not the scale; a point less itself is zero."""
    page, said = opened(browser, made["load"])
    draw_all(page)
    figure = page.locator("figure:has([data-figure$='-waits'])")
    legend, squares = figure.locator(".role-legend"), figure.locator(".mark-rect path")
    before = legend.all_text_contents()
    assert any("link, µs" in text for text in before)
    count = figure.locator("select option").count()
    assert count > 2
    pictures = []
    for place in (0, count - 1):
        figure.locator("select").select_option(index=place)
        page.wait_for_timeout(100)
        pictures.append(squares.first.evaluate("one => one.parentElement.outerHTML"))
        assert legend.all_text_contents() == before
    assert pictures[0] != pictures[1]
    other = page.locator("figure:has([data-figure$='waits-difference'])")
    for one in other.locator("select").all():
        one.select_option(index=1)
    page.wait_for_timeout(100)
    fills = other.locator(".mark-rect path").evaluate_all(
        "all => [...new Set(all.map((one) => one.getAttribute('fill')).filter((fill) =>"
        " !fill.startsWith('url')))]"
    )
    assert len(fills) == 1, "a point less itself is zero everywhere"
    assert said == []
    page.context.close()


def test_a_tooltip_has_the_fields_of_its_mark(browser: Browser, made: dict[str, Path]) -> None:
    """A mark without an interval has no ends of null."""
    page, said = opened(browser, made["load"])
    draw_all(page)
    page.locator("[data-figure*='-accepted'] .mark-symbol path").first.hover(force=True)
    cells = page.locator("#vg-tooltip-element td").all_text_contents()
    shown = dict(zip(cells[::2], cells[1::2], strict=True))
    numbers = ("accepted, MB/s", "interval from, MB/s", "interval to, MB/s")
    assert all(re.fullmatch(r"[\d,.]{1,6}", shown[title]) for title in numbers), shown
    table = page.evaluate(
        """tip({ curve: "<a>", gap: "0 ps", at: "10 us", mean: 1, low: null },
        (text) => `${text}`.replace("<", "&lt;"))"""
    )
    assert re.findall(r"<td class=.(\w+).>(.*?)</td>", table) == [
        ("key", "curve"),
        ("value", "&lt;a>"),
        ("key", "gap"),
        ("value", "0"),
        ("key", "at"),
        ("value", "10 µs"),
        ("key", "mean"),
        ("value", "1"),
    ]
    assert said == []
    page.context.close()


PAGES = re.compile(rb"/Type\s*/Page\b")


def test_a_ping_prints_on_four_pages(browser: Browser, made: dict[str, Path]) -> None:
    page, _ = opened(browser, made["ping"])
    draw_all(page)
    printed = page.pdf(prefer_css_page_size=True)
    assert 1 <= len(PAGES.findall(printed)) <= 4
    page.emulate_media(media="print")
    empty = "one => one.innerText.trim() === one.querySelector('h2').innerText"
    parts = "[...document.querySelectorAll('section.part')]"
    assert page.evaluate(f"{parts}.filter({empty}).map(one => one.id)") == [], "headings alone"
    page.context.close()
