"""The report works without a network, and the validation page has its structure."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import SMALL
from elanite import figures, frames, report, sources, text
from elanite.claims import Verdict, claims, scoreboard
from elanite.plan import plan
from elanite.report import Section
from elanite.store import Store


class Loads(HTMLParser):
    """Collects everything that a browser would load, and the identifiers within the page."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.inner: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "data", "poster"):
                (self.inner if (value or "").startswith("#") else self.loads).append(value or "")
            if name == "id":
                self.ids.add(value or "")


@pytest.fixture(scope="module")
def page(campaign: Path) -> str:
    planned = plan(sources.read("experiment", SMALL))
    store = Store(campaign / "store")
    drawn = figures.draw("small", frames.tidy(planned.points, store))
    assert drawn
    section = Section(planned, len(planned.points), drawn, 1, 1, 1.0)
    verdicts = [Verdict(claim, "predicted", note="not yet simulated") for claim in claims()]
    verdicts[0] = Verdict(claims()[0], "predicted", simulated=300.0, error=-0.1, holds=False)
    return report.render([section], verdicts)


def test_the_page_loads_nothing(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert parser.loads == []
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_links_within_the_page_lead_somewhere(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert {link for link in parser.inner if link[1:] not in parser.ids} == set()


def test_every_figure_has_its_data_inside(page: str) -> None:
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.DOTALL)
    assert found
    specs = json.loads(found[1])
    places = re.findall(r'data-chart="([^"]+)"', page)
    assert places
    assert set(places) == set(specs)
    for spec in specs.values():
        assert spec["datasets"]
        assert '"url"' not in json.dumps(spec)
        assert spec["title"]


def test_a_miss_is_shown(page: str) -> None:
    assert "<h3>Missed</h3>" in page
    assert 'class="missed"' in page


def test_validation_page_has_every_claim_and_is_current_in_structure() -> None:
    def structure(page: str) -> list[str]:
        return [line for line in page.splitlines() if line.startswith("#")]

    now = text.markdown(scoreboard("no-such-folder"))
    for claim in claims():
        assert f"`{claim.id}`" in now
    path = Path(__file__).parents[1] / "docs" / "validation.md"
    if not path.is_file():
        pytest.skip("not a checkout")
    written = path.read_text(encoding="utf-8")
    assert structure(written) == structure(now)
    for claim in claims():
        assert f"`{claim.id}`" in written, f"{claim.id} is missing in docs/validation.md: make docs"
