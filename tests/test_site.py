"""The documentation site: it is built without a warning, links lead to pages, the reference has every name and key."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import elanite as el
from conftest import Ended, command, execute
from elanite import _core

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / "website").is_dir(), reason="not a checkout")
pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    ended: Ended = execute([sys.executable, str(ROOT / "website" / "build.py"), str(out)])
    assert (ended.code, ended.err) == (0, ""), ended
    return out


def test_every_page_of_the_repository_is_there(site: Path) -> None:
    pages = [f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")]
    pages += [f"notebooks/{page.stem}" for page in (ROOT / "notebooks").glob("*.ipynb")]
    assert len(pages) > 20
    missing = [page for page in [*pages, "index", "changelog", "contributing"] if not (site / f"{page}.html").is_file()]
    assert missing == []


def test_links_lead_to_pages_and_places_of_the_site(site: Path) -> None:
    places: dict[Path, set[str]] = {}
    broken, count = [], 0
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            target, anchor = urldefrag(link)
            if re.match(r"[a-z][a-z+.-]*:", link) or "/rust/" in link:  # `make site` adds the pages of cargo
                continue
            file = (page.parent / unquote(target.split("?")[0])).resolve() if target else page
            count += 1
            if file not in places:
                text = file.read_text(encoding="utf-8") if file.suffix == ".html" and file.is_file() else ""
                places[file] = set(re.findall(r'(?:id|name)="([^"]+)"', text))
            if not file.is_file() or (anchor and file.suffix == ".html" and unquote(anchor) not in places[file]):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert count > 1000
    assert broken == []


def test_the_reference_is_whole(site: Path) -> None:
    library = (site / "reference" / "python.html").read_text(encoding="utf-8")
    names = {**dict.fromkeys(el.__all__, "elanite."), "mpirun": "elanite.mpirun.", "noise": ""}
    names["measure"] = "elanite.library.noise."
    del names["noise"]
    assert [name for name, module in names.items() if f'id="{module}{name}"' not in library] == []

    commands = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    listed = re.findall(r"^  ([a-z]+)  ", execute(command("--help")).out.split("Commands:")[1], re.MULTILINE)
    assert len(listed) >= 10
    assert [name for name in listed if f'id="elanite-{name}"' not in commands] == []

    for kind in ("machine", "experiment"):
        page = (site / "reference" / f"{kind}.html").read_text(encoding="utf-8")
        schema = json.loads(_core.schema(kind))
        keys = {key for part in (schema, *schema["$defs"].values()) for key in part.get("properties", ())}
        assert len(keys) > 20
        assert [key for key in keys if f'<span class="pre">{key}</span>' not in page] == []


def test_a_link_to_nowhere_fails_the_build(tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    for folder in ("website", "docs", "notebooks", "crates", "examples", "benches", "experiments"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.rs.bk", "target"))
    for file in ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "Cargo.toml"):
        shutil.copy(ROOT / file, copy)
    page = copy / "docs" / "speed.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n[nowhere](nowhere.md)\n", encoding="utf-8")
    ended = execute([sys.executable, str(copy / "website" / "build.py"), str(tmp_path / "site")])
    assert ended.code == 1
    assert "speed.md: there is no nowhere.md" in ended.err
