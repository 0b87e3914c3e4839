"""The report in a browser: it opens, every figure draws without a message on the console, and it
fits narrow screens.

Chromium is needed (``apt-get install chromium``). Two pages are enough: one from a store with a
part of its points, and one with a figure of every kind from a complete store.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
import pytest

import surroundings
from conftest import SMALL
from elanite import campaign
from elanite.figures import vega
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.report import cover, layout
from elanite.report import index as report
from elanite.results import frames
from elanite.store import Store
from elanite.validation.claims import claims
from elanite.validation.scoreboard import verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from elanite.inputs.plan import Plan
    from elanite.validation.verdict import Verdict

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

if not CHROMIUM and surroundings.CONTINUOUS:
    pytest.fail(
        "continuous integration tests the report in a browser: apt-get install chromium",
        pytrace=False,
    )
pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium"
)

CHEAP = ("collectives/ping", "qsnet/uniform", "qsnet/congestion", "multirail/livelock")
"""Experiments that take a few seconds if they are short: curves, loads, matrices, special figures,
findings.
"""

SCHEMES = ("light", "dark")
WIDTHS = (1400, 390)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages by name, written once."""
    folder = tmp_path_factory.mktemp("pages")
    store = Store(folder / "store")
    plans = [short(name) for name in CHEAP]
    own = plan(sources.read("experiment", SMALL))
    assert not campaign.run([*plans, own], store).failures
    found = {name: folder / f"{name}.html" for name in ("complete", "partial", "empty")}
    whole = sections(store, [*plans, own])
    for figure in (figure for section in whole for figure in section.figures):
        figure.chart.to_dict(validate=True)  # the schema of Vega-Lite
    found["complete"].write_text(layout.render(whole, judged(plans, store)), "utf-8")
    some = Store(folder / "some")
    for planned in (*plans, own):
        for point in planned.points[: max(1, len(planned.points) // 5)]:
            shutil.copytree(
                Path(store.address) / point.id, Path(some.address) / point.id, dirs_exist_ok=True
            )
    partial = sections(some, [*plans, own])
    assert any(frames.finished(each.plan, some) != list(each.plan.points) for each in partial)
    found["partial"].write_text(layout.render(partial, judged(plans, some)), "utf-8")
    found["empty"].write_text(layout.render([], judged([], some)), "utf-8")
    return found


def short(name: str) -> Plan:
    """An experiment with traffic for a fraction of a millisecond."""
    source = sources.read("experiment", name)
    whole = plan(source)
    traffic = {point.series for point in whole.points if point.kind == "jobs"}
    run = {"warm_up": "20 us", "window": "60 us", "precision": "0", "seeds": "1"}
    if name != "qsnet/congestion":
        changes = [
            f"series.{one}.run.{key}={value}"
            for one in sorted(traffic)
            for key, value in run.items()
        ]
        return plan(source, overrides=changes)
    # One matrix with its slider is enough.
    run["slices"] = "6"
    planned = plan(
        source, overrides=[f"series.build-up.run.{key}={value}" for key, value in run.items()]
    )
    return replace(planned, points=tuple(planned.series("build-up")[:1]))


def sections(store: Store, plans: list[Plan]) -> list[report.ExperimentSection]:
    """The sections for experiments with at least one point in the store."""
    return [
        report.section(each, points, store)
        for each in plans
        if (points := frames.finished(each, store))
    ]


def judged(plans: list[Plan], store: Store) -> list[Verdict]:
    known = {planned.experiment.name: planned for planned in plans}
    return [verdict(claim, known.get(claim.experiment), store) for claim in claims()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        opened = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(
    browser: Browser, path: Path, width: int = 1400, scheme: str = "light"
) -> tuple[Page, list[str]]:
    """The page at screen size, and the browser's console messages."""
    look: Any = scheme
    page = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=look
    ).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    return page, said


def draw_all(page: Page) -> int:
    """Draw every figure, as before printing; returns how many there are."""
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    charts = page.locator("[data-figure]").count()
    page.wait_for_function(
        "count => document.querySelectorAll('[data-drawn]').length === count",
        arg=charts,
        timeout=120_000,
    )
    return charts


EVERY = [
    (name, scheme, width)
    for name in ("complete", "partial", "empty")
    for scheme in SCHEMES
    for width in WIDTHS
]
QUICK = [("partial", "light", 1400), ("complete", "dark", 390)]


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [pytest.param(*one, marks=[] if one in QUICK else pytest.mark.slow) for one in EVERY],
)
def test_a_page_draws_every_figure_and_fits(
    browser: Browser, pages: dict[str, Path], name: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, pages[name], width, scheme)
    assert page.evaluate("document.querySelector('.forest .bar') !== null") == (name == "complete")
    charts = page.locator("[data-figure]").count()
    drawn = page.locator("[data-drawn]").count()
    assert name != "complete" or drawn <= charts / 2, "figures far below wait for the reader"
    draw_all(page)
    assert charts > 10 or name != "complete"
    assert page.evaluate("document.documentElement.scrollWidth") <= width, (
        "the page scrolls to the side"
    )
    assert page.evaluate(BEYOND, width) == []
    assert page.evaluate(COLLIDING) == []
    check_tables(page, charts)
    assert said == []
    page.context.close()


def test_the_page_of_one_chart_draws_it(browser: Browser, tmp_path: Path) -> None:
    """With the last thing that ``vega.page`` has to mind: text that would end a script."""
    title = "noise </script> & <b>"
    chart = (
        alt.Chart(pl.DataFrame({"x": [1, 2], "text": [title, "µ"]}))
        .mark_point()
        .encode(alt.X("x:Q"))
    )
    (tmp_path / "one.html").write_text(vega.page(title, chart.to_dict()), "utf-8")
    page, said = opened(browser, tmp_path / "one.html")
    page.wait_for_selector("#chart canvas, #chart svg", timeout=20_000)
    assert page.title() == title
    assert said == []
    page.context.close()


BEYOND = """width => [...document.querySelectorAll("main *")].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 1 && box.right > width + 1
    && getComputedStyle(one).position !== "absolute" && !one.closest("svg");
}).map((one) => one.outerHTML.slice(0, 120))"""
"""The elements that exceed this screen width."""

COLLIDING = """() => {
  const hits = [];
  for (const chart of document.querySelectorAll("figure:not(.wide) .chart")) {
    const words = [...chart.querySelectorAll(".role-axis-label text, .role-axis-title text")]
      .filter((one) => one.textContent.trim() && one.getAttribute("opacity") !== "0")
      .map((one) => [one.textContent, one.getBoundingClientRect()]);
    words.forEach(([text, a], index) => words.slice(index + 1).forEach(([other, b]) => {
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (x > 2 && y > 3) hits.push(`${chart.dataset.figure}: ${text} and ${other}`);
    }));
  }
  return hits;
}"""
"""Axis labels that lie on each other."""

TABLES = """() => [...document.querySelectorAll("details.data")].map((one) => {
  one.open = true;
  fill(one);
  const table = one.querySelector("table");
  const count = (what) => table.querySelectorAll(what).length;
  const heads = [count("thead th[scope=col]"), count("tbody th[scope=row]")];
  return [one.dataset.table, count("tbody tr"), ...heads];
})"""
"""The tables behind the figures: rows, columns, and rows with a heading."""


def check_tables(page: Page, charts: int) -> None:
    tables = page.evaluate(TABLES)
    assert len(tables) == charts
    for name, rows, columns, heads in tables:
        assert rows >= 1, name
        assert columns >= 2, name
        assert heads == rows, name


def test_the_contents_stay_and_lead_to_every_section(
    browser: Browser, pages: dict[str, Path]
) -> None:
    page, _ = opened(browser, pages["complete"])
    page.evaluate("window.scrollTo({top: 4000, behavior: 'instant'})")
    box = page.locator(".contents").bounding_box()
    assert box is not None
    assert abs(box["y"]) < 2, "the contents stay at the top of the window"
    page.locator('nav a[href="#qsnet-uniform"]').click()
    page.wait_for_function(
        "document.querySelector('nav [aria-current]')?.hash === '#qsnet-uniform'"
    )
    page.context.close()
    page, _ = opened(browser, pages["complete"], 390)
    assert not page.locator("nav").is_visible(), "closed on a narrow screen"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.context.close()


def test_the_cover_shows_ratios_where_they_are() -> None:
    """At one: the middle; at the scale's ends: the picture's ends; farther: the end with an
    arrow.
    """
    assert [cover.place(ratio) for ratio in (0.5, 1.0, 2.0, 5.0)] == [0.0, 50.0, 100.0, 100.0]
    claim = next(claim for claim in claims() if claim.kind == "value" and claim.role == "predicted")
    value = claim.value or 0.0
    row = cover.bar(replace_verdict(claim, value * 3))
    assert row is not None
    assert row.beyond == "▸"
    assert row.at == 100.0
    exact = cover.bar(replace_verdict(claim, value))
    assert exact is not None
    assert exact.at == pytest.approx(50.0)
    assert exact.beyond == ""
    assert exact.band[0] < 50.0 < exact.band[1]


def replace_verdict(claim: Any, simulated: float) -> Verdict:
    from elanite.validation.verdict import Verdict

    return replace(
        Verdict(claim),
        simulated=simulated,
        low=simulated,
        high=simulated,
        error=simulated / claim.value - 1,
    )


def test_a_table_of_a_figure_is_what_its_tooltips_say() -> None:
    import altair as alt

    from elanite.figures import tabular
    from elanite.figures.style import Figure, colour, layered, shape

    data = pl.DataFrame(
        {"size": [1, 2], "mean": [0.5, 1234.56], "curve": ["b", "a"], "hidden": [7, 8]}
    )
    points = (
        alt.Chart(data)
        .mark_point()
        .encode(
            x="size:Q",
            y="mean:Q",
            color=colour("curve", ["b", "a"], "who"),
            shape=shape("curve", ["b", "a"], "who"),
            tooltip=["curve", alt.Tooltip("mean:Q", title="MB/s", format=",.1f")],
        )
    )
    figure = Figure("f", "t", "", "", layered("t", [points]))
    assert tabular.table(figure) == (["who", "MB/s"], [["b", "0.5"], ["a", "1,234.6"]])
    (legend,) = tabular.legends(figure.spec())
    assert legend.title == "who"
    assert [(key.name, key.shape) for key in legend.keys] == [("b", "circle"), ("a", "square")]
    assert len({key.colour for key in legend.keys}) == 2
