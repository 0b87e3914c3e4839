"""The report as a site: the figures, numbers and claims of the one-page report, on short pages with
links.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

import pytest

from conftest import command, execute
from elanite import campaign
from elanite.report import layout, site
from elanite.report.content import ReportContent
from elanite.store import Store
from elanite.validation.claims import claims
from elanite.validation.scoreboard import verdicts
from test_report_browser import (
    BEYOND,
    browser,
    draw_all,
    judged,
    opened,
    pytestmark,
    sections,
    short,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser", "pytestmark"]

MADE_OF = ("collectives/ping", "qsnet/congestion", "multirail/livelock")
TALLEST = 6000
"""The most pixels of a page at 1400 pixels."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportContent:
    store = Store(tmp_path_factory.mktemp("store") / "store")
    plans = [short(name) for name in MADE_OF]
    assert not campaign.run(plans, store).failures
    return ReportContent(
        sections(store, plans), judged(plans, store), note="These runs were short."
    )


@pytest.fixture(scope="module")
def folder(report: ReportContent, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.write(folder, report)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.html"))


def embedded(page: str) -> dict[str, object]:
    found = re.findall(
        r'<script type="application/json" id="data-([^"]+)">(.*?)</script>', page, re.DOTALL
    )
    return {name: json.loads(text) for name, text in found}


def captions(page: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL)


def test_figures_are_those_of_the_report(report: ReportContent, folder: Path) -> None:
    """Chart, data and caption; a caption of a page of its own refers to no other figure."""
    whole = layout.page_of(report)
    figures = list(site.shown(report))
    pages = {one.name: (folder / f"{one.name}.html").read_text("utf-8") for one in figures}
    assert len(figures) == whole.count('class="chart" data-figure=') > 4
    one_page = list(embedded(whole).values())
    assert [list(embedded(page).values()) for page in pages.values()] == [[one] for one in one_page]
    for one in figures:
        (caption,) = captions(pages[one.name])
        assert "Symbols as in" not in caption
        assert (
            f'<span class="number">{one.figure.paper.capitalize()}</span>' in pages[one.name]
            or not one.figure.paper
        )


def test_a_claim_is_once_in_the_site(report: ReportContent, folder: Path) -> None:
    text = "".join((folder / f"{name}.html").read_text("utf-8") for name in names(folder))
    counts = Counter(re.findall(r' id="claim-([^"]+)"', text))
    assert counts == {verdict.claim.id: 1 for verdict in report.verdicts}
    assert len(counts) == len(claims())


class Links(HTMLParser):
    """A page's links and identifiers."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name in ("href", "src") and value and not re.match(r"[a-z]+:", value):
                self.links.append(value)
            if name == "id" and value:
                self.ids.append(value)


def test_links_lead_to_files_and_places(folder: Path) -> None:
    pages = {name: Links((folder / f"{name}.html").read_text("utf-8")) for name in names(folder)}
    entries = (folder / "search.js").read_text("utf-8")
    links = [(name, link) for name, page in pages.items() for link in page.links]
    links += [("search.js", at) for at in re.findall(r'"at":"([^"]+)"', entries)]
    broken = []
    for name, link in links:
        target, anchor = urldefrag(link)
        place = pages.get(target.removesuffix(".html") if target else name)
        if not (folder / target).exists() or (
            anchor and (place is None or anchor not in place.ids)
        ):
            broken.append((name, link))
    assert len(links) > 200
    assert broken == []
    for name, page in pages.items():
        assert len(set(page.ids)) == len(page.ids), name


def test_a_page_has_no_sentence_twice(folder: Path) -> None:
    """Captions, findings, claims: each sentence of at least six words stands once on its page."""
    for name in names(folder):
        page = (folder / f"{name}.html").read_text("utf-8")
        texts = [
            re.sub(r"<[^>]+>", "", text)
            for text in captions(page) + re.findall(r"<h1[^>]*>(.*?)</h1>", page)
        ]
        texts += re.findall(r'<span class="says">(.*?)</span></a>', page) + re.findall(
            r'class="says">(.*?)</p>', page
        )
        said = [
            one.strip()
            for text in texts
            for one in re.split(r"(?<=\.) ", text)
            if len(one.split()) > 5
        ]
        assert [one for one, count in Counter(said).items() if count > 1] == [], name


def test_pages_are_short_and_draw_their_figure(browser: Browser, folder: Path) -> None:
    for name in names(folder):
        page, said = opened(browser, folder / f"{name}.html")
        draw_all(page)
        assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST, name
        assert page.evaluate("document.documentElement.scrollWidth") <= 1400, name
        assert page.locator("h1").count() == 1, name
        assert said == [], name
        page.context.close()


@pytest.mark.parametrize("name", ["index", "petrini2003", "fidelity", "collectives-ping-bandwidth"])
def test_a_page_fits_a_phone(browser: Browser, folder: Path, name: str) -> None:
    page, said = opened(browser, folder / f"{name}.html", 390, "dark")
    draw_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(BEYOND, 390) == []
    assert said == []
    page.context.close()


def test_the_first_screen_has_three_ways_on(browser: Browser, folder: Path) -> None:
    page, _ = opened(browser, folder / "index.html")
    entries = page.locator(".entries li")
    assert entries.locator("b").all_text_contents() == ["Explore", "Model my network", "The papers"]
    for one in entries.all():
        box = one.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 900
    page.context.close()


def test_the_search_finds_figures_and_opens_claims(
    browser: Browser, folder: Path, report: ReportContent
) -> None:
    page, said = opened(browser, folder / "index.html")
    page.locator("#search").fill("ping bandwidth")
    assert page.locator("#found a").first.get_attribute("href") == "collectives-ping-bandwidth.html"
    page.locator("#search").fill("zzz")
    assert "no figure or claim" in page.locator("#found").inner_text()
    claim = next(v.claim for v in report.verdicts if v.judged and v.claim.experiment in MADE_OF)
    page.locator("#search").fill(claim.id)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**#claim-{claim.id}")
    assert page.locator(f"[id='claim-{claim.id}']").is_visible()
    assert said == []
    page.context.close()


def test_a_page_prints(browser: Browser, folder: Path) -> None:
    page, _ = opened(browser, folder / "collectives-ping-bandwidth.html")
    draw_all(page)
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.emulate_media(media="print")
    assert not page.locator("aside").is_visible()
    assert not page.locator(".downloads").is_visible()
    page.context.close()


def test_pictures_have_the_width_of_a_column(folder: Path) -> None:
    """88.9 mm or 252 points; a wide picture 181 mm or 513 points. PNGs have 600 dots in an inch."""
    widths = {"collectives-ping-bandwidth": (88.9, 252), "qsnet-congestion-build-up": (181.0, 513)}
    for start, (mm, points) in widths.items():
        svg = next((folder / "figures").glob(f"{start}*.svg"))
        assert f' width="{mm:g}mm"' in svg.read_text("utf-8")[:400]
        (box,) = re.findall(rb"MediaBox ?\[0 0 ([\d.]+)", svg.with_suffix(".pdf").read_bytes())
        assert float(box) == pytest.approx(points, abs=1)
        png = svg.with_suffix(".png").read_bytes()
        assert int.from_bytes(png[16:20], "big") == pytest.approx(points / 72 * 600, abs=10)


def test_the_command_writes_a_site(tmp_path: Path) -> None:
    ran = execute(
        command("reproduce", "--only", "multirail/livelock", "--out", "out"), cwd=tmp_path
    )
    assert ran.code in (0, 1), ran
    ended = execute(command("report", "--site", "papers", "--out", "out"), cwd=tmp_path)
    assert ended.code == 0, ended
    assert f"site: {Path('papers') / 'index.html'}" in ended.err
    found = verdicts(Store(tmp_path / "out" / "store"), 1)
    page = (tmp_path / "papers" / "coll2003.html").read_text("utf-8")
    judged_here = [v for v in found if v.claim.experiment == "multirail/livelock"]
    assert f"{len(judged_here)} claim" in page
    assert (tmp_path / "papers" / "figures" / "multirail-livelock-6.pdf").is_file()
    refused = execute(
        command("report", "qsnet/ping", "--site", "papers", "--out", "out"), cwd=tmp_path
    )
    assert refused.code == 2
    assert "--site is for the report of all papers" in refused.err
