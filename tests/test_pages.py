"""User pages: content, offline use, and the command that made them."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import SMALL, Ended
from elanite.report import pages
from elanite.report.pages import Drawing, Inputs, Page, PageTable, Section
from elanite.validation import papers

Run = Callable[..., Ended]


class Parts(HTMLParser):
    """A page's elements: resources that a browser would load, identifiers, internal links, headings
    and texts.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.inner: list[str] = []
        self.headings: list[str] = []
        self.command = ""
        self.findings: list[str] = []
        self._inside: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self._inside.append((tag, found.get("class", "")))
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")
        if tag == "li" and any(name == "found" for _, name in self._inside):
            self.findings.append("")
        self.ids += [found["id"]] if "id" in found else []
        for name in ("src", "href", "srcset", "action", "poster"):
            if name in found and found[name] != "data:,":
                (self.inner if found[name].startswith("#") else self.loads).append(found[name])

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self._inside]
        if self.headings and any(tag in ("h1", "h2", "h3") for tag in tags):
            self.headings[-1] += data
        if ("code", "command") in self._inside:
            self.command += data
        if self.findings and "li" in tags and any(name == "found" for _, name in self._inside):
            self.findings[-1] += data


def text_of(page: str) -> str:
    """A page's words for readers: without scripts and styles."""
    return re.sub(r"<[^>]+>", " ", re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL))


def tables_of(page: str) -> dict[str, list[list[str]]]:
    """A page's listed tables by their captions: the headings, then the rows."""
    found = {}
    for table in re.findall(r'<table class="listed">(.*?)</table>', page, re.DOTALL):
        caption, *rows = re.findall(r"<caption[^>]*>.*?</caption>|<tr>.*?</tr>", table, re.DOTALL)
        cells = [
            [html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in rows
        ]
        found[html.unescape(re.sub(r"<[^>]+>", "", caption))] = cells
    return found


@pytest.fixture(scope="module")
def small() -> str:
    table = PageTable(
        ("link", "busy"), [("a → b", "3"), ("<b>", "4")], "Hottest & links", right=("busy",)
    )
    drawing = Drawing(
        "Timeline", '<div id="line"></div>', "In µs.", "#line { height: 9px; }", "window.line = 1;"
    )
    page = Page(
        title="Mine <script>alert(1)</script>",
        command=("elanite", "run", "../my file.toml"),
        inputs=Inputs.gather(
            ("elanite", "run", "my file.toml"), {"my file.toml": b"x = '</script>'"}
        ),
        findings=("Highest accepted load: 7.",),
        notes=("Incomplete: 1 of 2 points is missing.",),
        sections=(Section("Load", ("A text.",), tables=(table,), drawings=(drawing, drawing)),),
    )
    return pages.render(page)


def test_a_page_has_its_work_and_escapes_all_texts(small: str) -> None:
    parts = Parts(small)
    assert parts.loads == []
    assert parts.headings == [
        "Mine <script>alert(1)</script>",
        "Load",
        "Timeline",
        "Timeline",
        "Command and inputs",
    ]
    assert parts.command == "elanite run '../my file.toml'"
    assert parts.findings == ["Highest accepted load: 7."]
    assert {link.removeprefix("#") for link in parts.inner} <= {*parts.ids, ""}
    assert "<script>alert" not in small
    assert small.count("window.line = 1;") == 1
    assert small.count("#line { height") == 1
    assert "Hottest &amp; links" in small
    block = re.search(r'<script type="application/json" id="elanite-inputs">(.*?)</script>', small)
    assert block is not None
    (file,) = json.loads(block[1])["files"]
    assert file["text"] == "x = '</script>'"


FOREIGN = re.compile(
    r"papers? published|claims? hold|elanite reproduce|bibliography|Quadrics", re.IGNORECASE
)


def test_pages_of_own_work_have_no_text_of_the_papers(
    elanite: Run, campaign: Path, tmp_path: Path
) -> None:
    words = ("run", SMALL, "--out", str(campaign), "--series", "ping", "--html", "page.html")
    assert elanite(*words).code == 0
    assert elanite("report", SMALL, "--out", str(campaign)).code == 0
    for file in (tmp_path / "page.html", campaign / "report" / "small.html"):
        page = file.read_text(encoding="utf-8")
        machines = text_of(page).index("parameters with their sources")
        assert FOREIGN.search(text_of(page)[:machines]) is None
        assert Parts(page).headings[0] == "Small"
        for paper in papers.papers().values():
            assert paper.title not in page.split('id="machines"')[0]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert Parts(page).command == shlex.join(["elanite", *words])


def test_the_page_of_a_sweep_has_the_command_that_ran(elanite: Run, tmp_path: Path) -> None:
    words = [
        "sweep",
        SMALL,
        "--vary",
        "bus.rate=100 MB/s,200 MB/s",
        "--series",
        "ping",
        "--where",
        "message=64 B",
    ]
    words += ["--set", "run.seeds=1", "--html", "my page.html", "--out", "my out"]
    assert elanite(*words).code == 0
    ran = shlex.split(Parts((tmp_path / "my page.html").read_text(encoding="utf-8")).command)
    assert ran[:2] == ["elanite", "sweep"]
    assert sorted(ran) == sorted(["elanite", *words])
