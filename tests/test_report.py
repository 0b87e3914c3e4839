"""The report works without a network, and the validation page has its structure."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from conftest import SMALL
from elanite import figures, frames, report, sources, text
from elanite.claims import Role, Verdict, claims, fitted_parameters, scoreboard
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
    drawn = list(figures.generic.draw(frames.tidy(planned.points, store)))
    assert drawn
    section = Section(planned, len(planned.points), drawn, 1, 1, 1.0)
    verdicts = [Verdict(claim, note="not yet simulated") for claim in claims()]
    verdicts[0] = Verdict(claims()[0], simulated=300.0, error=-0.1, holds=False, widest=0.013)
    shape = next(index for index, claim in enumerate(claims()) if claim.kind == "shape" and not claim.vague)
    verdicts[shape] = Verdict(claims()[shape], simulated="5 of 6 MB/s", widest=0.173)
    inconsistent, inference = (
        next(index for index, claim in enumerate(claims()) if claim.role == role)
        for role in ("inconsistent", "inference")
    )
    verdicts[inconsistent] = Verdict(claims()[inconsistent], simulated=0.14, error=0.75)
    verdicts[inference] = Verdict(claims()[inference], simulated="kept, no", holds=False)
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


def test_a_source_of_which_only_the_abstract_was_read_is_shown_so(page: str) -> None:
    assert "(petrini2003hoti (abstract))" in page
    assert "(petrini2003 s5.4)" in page


def test_a_miss_is_shown(page: str) -> None:
    assert "<h3>Missed</h3>" in page
    assert 'class="missed"' in page


def test_what_is_not_resolved_is_shown_as_neither_held_nor_missed(page: str) -> None:
    assert "<b>1</b> not resolved" in page
    assert "<h3>Not resolved</h3>" in page
    assert 'class="not-resolved"' in page
    assert "<b>0</b> of 1 predicted claims hold" in page
    assert "<b>0</b> of 1 fitted claims hold" in page
    assert "±17.3%" in page


def test_other_classes_are_shown_apart_from_predictions(page: str) -> None:
    """An inference that is missed is no miss, and an inconsistent claim is neither missed nor unresolved."""
    assert "<b>0</b> of 1 inferences of the authors hold" in page
    assert "<b>1</b> inconsistent in the source" in page
    assert "<b>1</b> missed" in page
    assert 'class="inconsistent"' in page
    (claim,) = (claim for claim in claims() if claim.proof)
    assert claim.proof
    assert html.escape(claim.proof.shows, quote=False) in page
    assert "could be halved" in page


def test_only_a_finding_without_a_published_figure_has_too_vague_a_source() -> None:
    """Such a claim is still judged once its interval is clear of the bound."""
    vague = [claim for claim in claims() if claim.vague]
    assert vague
    for claim in vague:
        assert claim.kind == "shape"
        assert "gives no figure" in claim.vague
        plain = replace(claim, known_miss="")
        assert [Verdict(plain, simulated="2", holds=holds).state for holds in (None, True, False)] == [
            "source too vague",
            "holds",
            "missed",
        ]
        page = report.render([], [Verdict(claim, simulated="2 ± 1")])
        assert "<h3>Source too vague</h3>" in page
        assert "<b>0</b> not resolved" in page


def test_all_counts_are_in_one_sentence() -> None:
    """README, validation page, report and command line have the same sentence."""
    known = {role: [claim for claim in claims() if claim.role == role] for role in get_args(Role)}
    predicted, fitted = [claim for claim in known["predicted"] if not claim.vague], known["fitted"]
    vague = next(claim for claim in claims() if claim.vague)
    verdicts = [
        Verdict(predicted[0], simulated=1.0, holds=True),
        Verdict(predicted[1], simulated=1.0, holds=False),
        Verdict(predicted[2], simulated=1.0),
        Verdict(predicted[3], note="not run"),
        Verdict(vague, simulated="2 ± 1"),
        Verdict(fitted[0], simulated=1.0, holds=True),
        Verdict(known["inference"][0], simulated="no", holds=False),
        Verdict(known["inconsistent"][0], simulated=1.0),
    ]
    assert text.headline(verdicts) == (
        "1 of 4 predicted claims hold, 1 missed, 1 not resolved, 1 with too vague a source; 1 of 1 fitted claims hold;"
        " 0 of 1 inferences of the authors hold, 1 missed; inconsistent in the source: 1"
    )
    for said in (text.totals(verdicts), text.markdown(verdicts), report.render([], verdicts)):
        assert text.headline(verdicts) in said
    entries = [verdict.as_json() for verdict in verdicts]
    assert [entry["role"] for entry in entries] == [*["predicted"] * 5, "fitted", "inference", "inconsistent"]
    assert [entry["state"] for entry in entries[-2:]] == [verdicts[-2].state, "inconsistent"]
    assert entries[-1]["holds"] is None
    assert "301 < 307.897" in entries[-1]["proof"]
    assert "could be halved" in entries[-2]["inference"]


def test_fitted_parameters_are_counted(page: str) -> None:
    sentences = {machine: text.fitted(machine, fitted) for machine, fitted in fitted_parameters().items()}
    assert {"es40-qsnet", "opteron-qsnet2"} <= set(sentences)
    assert all(sentence in page for sentence in sentences.values())
    assert re.match(r"es40-qsnet: \d+ fitted parameters: \w", sentences["es40-qsnet"])
    assert "; switch.age_cap (" in sentences["es40-qsnet"]


def test_titles_stand_above_the_figures(page: str) -> None:
    """Where they may take more than one line: a chart as narrow as a page would cut them."""
    titles = re.findall(r"<h4>(.*?)</h4>", page)
    assert len(titles) == len(re.findall("<figure", page)) > 0
    assert "title: null" in page


def test_the_widest_interval_is_stated() -> None:
    verdicts = [
        Verdict(claim, simulated=1.0, holds=True, widest=widest)
        for claim, widest in zip(claims(), (0.01, 0.03, 0.021, None), strict=False)
    ]
    said = text.widest(verdicts)
    assert f"±3.0% of the figure ({claims()[1].id}); 2 of 3 claims" in said
    assert said in text.markdown(verdicts)


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
