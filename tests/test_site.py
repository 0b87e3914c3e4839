"""The documentation site: it is built without a warning, links lead to pages, the reference has
every name and key.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urldefrag

import pytest

import elanite as el
from conftest import Ended, command, execute, needs_mpi
from elanite import _core
from elanite.report import site as papers
from test_report_browser import CHROMIUM, browser
from test_report_site import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from elanite.report.index import Report

__all__ = ["browser", "report"]

ROOT = Path(__file__).parents[1]
PICTURE = re.compile(r"!\[[^\]]*\]\([^)/]+\.svg\)")

pytestmark = pytest.mark.skipif(not (ROOT / "website").is_dir(), reason="not a checkout")
pytest.importorskip("sphinx")
pytest.importorskip("PIL")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    build = str(ROOT / "website" / "build.py")
    ended: Ended = execute([sys.executable, build, str(out), "--run", "first-steps"])
    assert (ended.code, ended.err) == (0, ""), ended
    return out


def test_every_page_of_the_repository_is_there(site: Path) -> None:
    pages = [f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")]
    pages += [f"notebooks/{page.stem}" for page in (ROOT / "notebooks").glob("*.ipynb")]
    assert len(pages) > 20
    missing = [
        page
        for page in [*pages, "index", "changelog", "contributing"]
        if not (site / f"{page}.html").is_file()
    ]
    assert missing == []


def test_links_lead_to_pages_and_places_of_the_site(site: Path) -> None:
    places: dict[Path, set[str]] = {}
    broken, count = [], 0
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            target, anchor = urldefrag(link)
            if (
                re.match(r"[a-z][a-z+.-]*:", link) or "/rust/" in link
            ):  # `make site` adds the pages of cargo
                continue
            file = (page.parent / unquote(target.split("?")[0])).resolve() if target else page
            count += 1
            if file not in places:
                text = (
                    file.read_text(encoding="utf-8")
                    if file.suffix == ".html" and file.is_file()
                    else ""
                )
                places[file] = set(re.findall(r'(?:id|name)="([^"]+)"', text))
            if not file.is_file() or (
                anchor and file.suffix == ".html" and unquote(anchor) not in places[file]
            ):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert count > 1000
    assert broken == []


def whole(site: Path, name: str) -> str:
    """All parts of a page of the reference."""
    parts = [site / "reference" / f"{name}.html", *site.glob(f"reference/{name}-*.html")]
    return "".join(part.read_text(encoding="utf-8") for part in parts)


def test_the_reference_is_whole(site: Path) -> None:
    library = whole(site, "python")
    names = {**dict.fromkeys(el.__all__, "elanite."), "mpirun": "elanite.mpirun.", "noise": ""}
    names["measure"] = "elanite.library.noise."
    del names["noise"]
    assert [name for name, module in names.items() if f'id="{module}{name}"' not in library] == []

    commands = whole(site, "cli")
    listed = re.findall(
        r"^  ([a-z]+)  ", execute(command("--help")).out.split("Commands:")[1], re.MULTILINE
    )
    assert len(listed) >= 10
    assert [name for name in listed if f'id="elanite-{name}"' not in commands] == []

    for kind in ("machine", "experiment"):
        page = whole(site, kind)
        schema = json.loads(_core.schema(kind))
        keys = {
            key
            for part in (schema, *schema["$defs"].values())
            for key in part.get("properties", ())
        }
        assert len(keys) > 20
        assert [key for key in keys if f'<span class="pre">{key}</span>' not in page] == []


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium")
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_results_of_notebooks_are_drawn_without_a_network(
    site: Path, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: said.append(request.url) if request.url.startswith("http") else None,
    )
    page.goto((site / "notebooks" / "first-steps.html").as_uri())
    page.wait_for_selector(".chart svg")
    assert page.locator(".chart").count() == page.locator(".chart svg").count() == 1
    assert page.locator(".result table").count() >= 3
    assert (
        page.locator('.chart[role="figure"]').get_attribute("aria-label")
        == "Ping in one direction: bandwidth"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    context.close()


def test_pages_are_not_long(site: Path, browser: Browser) -> None:
    """On a wide screen at most 6,000 px. The largest files are looked at."""
    context = browser.new_context(
        viewport={"width": 1400, "height": 900}, java_script_enabled=False, offline=True
    )
    page = context.new_page()
    heights = {}
    sources = [*site.glob("docs/*.html"), *site.glob("reference/*.html")]
    for source in sorted(sources, key=lambda path: -path.stat().st_size)[:24]:
        page.goto(source.as_uri())
        box = page.locator("article").bounding_box()
        heights[source.stem] = box["y"] + box["height"] if box else 0
    context.close()
    assert max(heights.values()) < 5900, heights


def test_a_divided_page_has_all_sections_once(site: Path) -> None:
    """In their order, and listed on the first part with links to their places."""
    written = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    expected = re.findall(r"^## (.+)$", written, re.MULTILINE)
    assert len(expected) > 15
    first = (site / "docs" / "validation.html").read_text(encoding="utf-8")
    listed = re.search(r"<p>Sections: (.*?)</p>", first, re.DOTALL)
    assert listed
    found = re.findall(r'href="([^"#]*)#([^"]+)">(?:<[^>]*>)*([^<]+)', listed[1])
    assert [title for _, _, title in found] == expected
    parts = list(dict.fromkeys(part or "validation.html" for part, _, _ in found))
    assert len(parts) > 3
    headings = [
        re.sub(r"<[^>]*>|¶", "", heading)
        for part in parts
        for heading in re.findall(
            r"<h[12]>(.*?)</h[12]>", (site / "docs" / part).read_text(encoding="utf-8")
        )
    ]
    assert [heading for heading in headings if not heading.startswith("Validation")] == expected


def test_thumbnails_of_the_gallery_are_small_and_have_words(site: Path) -> None:
    page = (site / "gallery.html").read_text(encoding="utf-8")
    found = re.findall(r'<img alt="([^"]*)" class="[^"]*sd-card-img-top[^"]*" src="([^"]+)"', page)
    pictures = {
        match
        for text in (ROOT / "docs").glob("*.md")
        for match in PICTURE.findall(text.read_text("utf-8"))
    }
    assert len(found) == len(pictures) > 5
    for alt, file in found:
        assert len(alt) > 15
        assert (site / file).stat().st_size < 20_000, file


def test_figures_are_in_the_gallery(report: Report, tmp_path: Path) -> None:
    """A thumbnail for each figure of the papers' pages leads to its page, and has the finding
    below.
    """
    gallery = runpy.run_path(str(ROOT / "website" / "gallery.py"))
    text = gallery["page"](tmp_path, ROOT / "docs", report, "papers")
    figures = list(papers.shown(report))
    assert len(figures) > 4
    for one in figures:
        assert f":link: papers/{one.name}.html\n" in text
        assert f":img-alt: {' '.join(one.figure.title.split())}\n" in text
        assert gallery["plain"](one.title) in text
        assert (tmp_path / "figures" / f"{one.name}.png").stat().st_size < 20_000


@pytest.mark.slow
@needs_mpi
def test_all_notebooks_are_executed_by_default(tmp_path: Path) -> None:
    ended = execute([sys.executable, str(ROOT / "website" / "build.py"), str(tmp_path / "site")])
    assert (ended.code, ended.err) == (0, ""), ended
    for page in (tmp_path / "site" / "notebooks").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "with the results of its cells" in text
        assert 'class="result"' in text


def test_a_link_to_nowhere_fails_the_build(tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    for folder in ("website", "docs", "notebooks", "crates", "examples", "benches", "experiments"):
        shutil.copytree(
            ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.rs.bk", "target")
        )
    for file in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "Cargo.toml"):
        shutil.copy(ROOT / file, copy)
    page = copy / "docs" / "speed.md"
    page.write_text(
        page.read_text(encoding="utf-8") + "\n[nowhere](nowhere.md)\n", encoding="utf-8"
    )
    ended = execute(
        [sys.executable, str(copy / "website" / "build.py"), str(tmp_path / "site"), "--run"]
    )
    assert ended.code == 1
    assert "speed.md: there is no nowhere.md" in ended.err
