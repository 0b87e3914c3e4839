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
from elanite import figures
from elanite.base import build
from elanite.figures import colours
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.report import layout
from elanite.report.content import ExperimentSection
from elanite.results import frames
from elanite.results.numbers import Case, Number, StatementPart
from elanite.store import Store
from elanite.validation import ablation_verdicts, board, findings, papers
from elanite.validation.claim import COUNTED, Role, fitted_parameters
from elanite.validation.claims import claims
from elanite.validation.scoreboard import scoreboard
from elanite.validation.verdict import Verdict


class Loads(HTMLParser):
    """Collects everything that a browser would load, the identifiers within the page, and the
    links.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.inner: list[str] = []
        self.outer: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "data", "poster"):
                where = value or ""
                inside, outside = where.startswith("#"), tag == "a" or where == "data:,"
                (self.inner if inside else self.outer if outside else self.loads).append(where)
            if name == "id":
                self.ids.add(value or "")


@pytest.fixture(scope="module")
def page(campaign: Path) -> str:
    planned = plan(sources.read("experiment", SMALL))
    store = Store(campaign / "store")
    drawn = list(figures.default_figures.draw(frames.tidy(planned.points, store)))
    assert drawn
    section = ExperimentSection(planned, len(planned.points), drawn, 1, 1, 1.0)
    verdicts = [Verdict(claim, note="not yet simulated") for claim in claims()]
    verdicts[0] = Verdict(claims()[0], simulated=300.0, error=-0.1, holds=False, widest=0.013)
    shape = next(
        index for index, claim in enumerate(claims()) if claim.kind == "shape" and not claim.vague
    )
    verdicts[shape] = Verdict(claims()[shape], simulated="5 of 6 MB/s", widest=0.173)
    inconsistent, inference = (
        next(index for index, claim in enumerate(claims()) if claim.role == role)
        for role in ("inconsistent", "inference")
    )
    verdicts[inconsistent] = Verdict(claims()[inconsistent], simulated=0.14, error=0.75)
    verdicts[inference] = Verdict(claims()[inference], simulated="kept, no", holds=False)
    return layout.render([section], verdicts)


def test_the_page_loads_nothing(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert parser.loads == []
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_bibliography_has_every_publication_that_a_claim_cites(page: str) -> None:
    references = (Path(__file__).parents[1] / "docs" / "references.md").read_text(encoding="utf-8")
    for claim in claims():
        assert papers.keys(claim.source), claim.source
        for key in papers.keys(claim.source):
            assert f'id="paper-{key}"' in page
            assert f"`{key}`" in references
    parser = Loads()
    parser.feed(page)
    assert {paper.url for paper in papers.papers().values()} <= set(parser.outer)


def test_experiments_stand_in_the_order_of_their_papers() -> None:
    """By the paper's figures; other figures are in separate chapters."""
    plans = {
        name: plan(sources.read("experiment", name))
        for name in ("qsnet/ping", "qsnet/io", "qsnet/hotspot")
    }
    assert sorted(plans, key=lambda name: papers.place(plans[name])) == [
        "qsnet/ping",
        "qsnet/hotspot",
        "qsnet/io",
    ]
    chapters = {
        "qsnet/uniform": "petrini2003",
        "collectives/barrier": "petrini2001",
        "qsnet2/noise": "garcia2005",
        "multirail/rails": "coll2003",
        "sources/asci-q": papers.OTHERS,
        "comparison/generations": papers.BEYOND,
        "faults/rails": papers.BEYOND,
        "qsnet/ablations": papers.BEYOND,
    }
    for name, key in chapters.items():
        assert papers.chapter(plan(sources.read("experiment", name))) == key, name


def test_every_claim_is_once_on_the_page(page: str) -> None:
    for claim in claims():
        assert page.count(f'id="claim-{claim.id}"') == 1, claim.id


def test_a_finding_is_told_with_the_figures_that_decide() -> None:
    """At most three figures, and those that fail if the finding fails."""
    cases = tuple(Case(f"{n} nodes", Number(n, n, n), holds=n < 5) for n in range(1, 10))
    part = StatementPart("at most four", holds=False, needs="at most 4", cases=cases)
    claim = next(claim for claim in claims() if claim.kind == "shape")
    (said,) = findings.sentences(
        Verdict(claim, simulated="all of them", holds=False, parts=(part,))
    )
    assert said.answer == "no"
    assert (
        said.figures
        == "5 nodes: 5; 7 nodes: 7; 9 nodes: 9; 5 of 9 cases alike. Has to be at most 4."
    )
    assert (
        findings.figure_words(Verdict(claim, simulated="all of them", parts=(part,)))
        == "all of them"
    )
    few = StatementPart("at most four", holds=True, needs="", cases=cases[:2])
    assert findings.figure_words(Verdict(claim, simulated="all of them", parts=(few,))) == ""


def test_the_same_thing_has_the_same_colour_in_all_figures() -> None:
    """A policy has a fixed colour; its variants are shades, and all curves in a figure differ."""
    alone = colours.tints(["basic", "dynamic, full striping"])
    beside = colours.tints(
        [
            "basic",
            "local-dynamic, no striping",
            "local-dynamic, full striping",
            "dynamic, full striping",
        ]
    )
    assert alone == [beside[0], beside[3]] == [colours.POLICY["basic"], colours.POLICY["dynamic"]]
    assert (
        colours.tints(["software (elan_gsync)"])
        == colours.tints(["hardware (elan_hgsync)", "software (elan_gsync)"])[1:]
    )
    many = [f"curve {index}" for index in range(12)]
    assert len(set(colours.tints(many))) == len(many)
    hybrid = ["basic", "dynamic", *(f"hybrid, up to {size} KB" for size in (1, 4, 8, 16, 32))]
    assert len(set(colours.tints(hybrid))) == len(hybrid)


def test_links_within_the_page_lead_somewhere(page: str) -> None:
    parser = Loads()
    parser.feed(page)
    assert {link for link in parser.inner if link[1:] not in parser.ids} == set()


def test_every_figure_has_its_data_inside(page: str) -> None:
    found = dict(
        re.findall(
            r'<script type="application/json" id="data-([^"]+)">(.*?)</script>', page, re.DOTALL
        )
    )
    places = re.findall(r'data-figure="([^"]+)"', page)
    assert places
    assert set(places) == set(found) == set(re.findall(r'data-table="([^"]+)"', page))
    for text_ in found.values():
        about = json.loads(text_)
        assert about["spec"]["datasets"]
        assert '"url"' not in json.dumps(about["spec"])
        assert about["spec"]["title"]
        assert len(about["head"]) >= 2
        assert about["rows"]
        assert {len(row) for row in about["rows"]} == {len(about["head"])}


def test_a_source_of_which_only_the_abstract_was_read_is_shown_so(page: str) -> None:
    assert "petrini2003hoti (abstract)" in page
    assert "petrini2003 s5.4" in page


def test_a_miss_is_shown(page: str) -> None:
    assert '<h3 id="missed">Missed</h3>' in page
    assert re.search(r'class="claim (missed|known-miss)"', page)


def test_what_is_not_resolved_is_shown_as_neither_held_nor_missed(page: str) -> None:
    assert "<b>1</b> not resolved" in page
    assert "<h3>Not resolved</h3>" in page
    assert 'class="claim not-resolved"' in page
    assert re.search(r"<b>0</b> of 1 (predicted )?values and orders( [a-z() ]+)? hold", page)
    assert "<b>0</b> of 1 fitted claims hold" in page


def test_other_classes_are_shown_apart_from_predictions(page: str) -> None:
    """A missed inference does not count as a miss, and an inconsistent claim is not missed or
    unresolved.
    """
    assert "0 of 1 inferences of the authors hold" in page
    assert "inconsistent in the source: 1" in page
    assert "<b>1</b> missed" in page
    assert 'class="claim inconsistent"' in page
    claim = next(claim for claim in claims() if claim.role == "inconsistent")
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
        assert [
            Verdict(plain, simulated="2", holds=holds).state for holds in (None, True, False)
        ] == [
            "source too vague",
            "holds",
            "missed",
        ]
        page = layout.render([], [Verdict(claim, simulated="2 ± 1")])
        assert "<h3>Source too vague</h3>" in page
        assert "not resolved: the intervals" not in page


def test_all_counts_are_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """README, validation page, report and command line have the same sentence."""
    monkeypatch.setattr(ablation_verdicts, "falsifiable", lambda _: True)
    known = {role: [claim for claim in claims() if claim.role == role] for role in get_args(Role)}
    predicted = [claim for claim in known["predicted"] if claim.rank in COUNTED and not claim.vague]
    fitted = known["fitted"]
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
    assert (
        board.headline(verdicts)
        == "1 of 4 predicted values and orders hold, 1 missed, 1 not resolved, 1 with too vague a"
        " source; 1 of 1 fitted claims hold; 0 of 1 inferences of the authors hold, 1 missed;"
        " inconsistent in the source: 1"
    )
    for said in (board.totals(verdicts), board.markdown(verdicts), layout.render([], verdicts)):
        assert board.headline(verdicts) in said
    entries = [verdict.as_json() for verdict in verdicts]
    assert [entry["role"] for entry in entries] == [
        *["predicted"] * 5,
        "fitted",
        "inference",
        "inconsistent",
    ]
    assert [entry["state"] for entry in entries[-2:]] == [verdicts[-2].state, "inconsistent"]
    assert entries[-1]["holds"] is None
    assert "301 < 307.897" in entries[-1]["proof"]
    assert "could be halved" in entries[-2]["inference"]


def test_fitted_parameters_are_counted(page: str) -> None:
    sentences = {
        machine: board.fitted(machine, fitted) for machine, fitted in fitted_parameters().items()
    }
    assert {"es40-qsnet", "opteron-qsnet2"} <= set(sentences)
    assert all(sentence in page for sentence in sentences.values())
    assert re.match(r"es40-qsnet: \d+ fitted parameters: \w", sentences["es40-qsnet"])
    assert "; switch.age_cap (" in sentences["es40-qsnet"]


def test_titles_stand_above_the_figures(page: str) -> None:
    """Where they may take more than one line: a chart as narrow as a page would cut them."""
    titles = re.findall(r'<h4 id="[^"]+-title">(.*?)</h4>', page)
    assert len(titles) == len(re.findall('<figure id="', page)) > 0
    assert "title: null" in page


def test_the_widest_interval_is_stated() -> None:
    verdicts = [
        Verdict(claim, simulated=1.0, holds=True, widest=widest)
        for claim, widest in zip(claims(), (0.01, 0.03, 0.021, None), strict=False)
    ]
    said = board.widest(verdicts)
    assert f"±3.0% of the figure ({claims()[1].id}); 2 of 3 claims" in said
    assert said in board.markdown(verdicts)


def test_validation_page_names_the_engines_of_its_points() -> None:
    engines = [("814266ea93e6ffff", 1200), ("", 3)]
    builds = [
        (build.Build("0.1.0", 4, engine, "", "", dirty=False), many) for engine, many in engines
    ]
    assert "number of points: 814266ea93e6 (1,200), unknown (3)." in board.markdown([], builds)
    assert "Fingerprints" not in board.markdown([])


def test_validation_page_has_every_claim_and_is_current_in_structure() -> None:
    def structure(page: str) -> list[str]:
        return [line for line in page.splitlines() if line.startswith("#")]

    now = board.markdown(scoreboard("no-such-folder"))
    for claim in claims():
        assert f"`{claim.id}`" in now
    path = Path(__file__).parents[1] / "docs" / "validation.md"
    if not path.is_file():
        pytest.skip("not a checkout")
    written = path.read_text(encoding="utf-8")
    # Nothing is simulated for the page of this test; the written one leaves no claim out.
    assert [*structure(written), "## Not yet simulated"] == structure(now)
    for claim in claims():
        assert f"`{claim.id}`" in written, f"{claim.id} is missing in docs/validation.md: make docs"
