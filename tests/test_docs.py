"""The pages of the repository: links lead to files, and the validation page says how claims are tested and missed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elanite import sources
from elanite.claims import claims
from elanite.plan import plan

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")


def links(page: Path) -> list[str]:
    """What a page links to or shows, but for what is on the network or in the page itself."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(r"\]\(\s*<?([^)>\s]+)|^\[[^\]]+\]:\s*(\S+)|(?:src|href)=\"([^\"]+)\"", text, re.MULTILINE)
    targets = ["".join(match) for match in found]
    return [target for target in targets if not re.match(r"#|[a-z][a-z+.-]*:", target)]


def test_relative_links_lead_to_files() -> None:
    found = [(page, target) for page in PAGES for target in links(page)]
    assert len(found) >= 5
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page, target in found
        if not (page.parent / target.split("#")[0]).exists()
    ]
    assert broken == []


def test_the_example_of_an_experiment_file_is_right(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(title.*?)```", page, re.DOTALL)
    assert example
    file = tmp_path / "example.toml"
    file.write_text(example[1], encoding="utf-8")
    assert len(plan(sources.read("experiment", str(file))).points) == 12


def test_validation_page_says_how_claims_are_tested_and_why_they_are_missed() -> None:
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    evaluated = [claim for claim in claims() if claim.experiment]
    assert evaluated
    absent = [
        f"{claim.id}: {text}" for claim in evaluated for text in (claim.test, claim.known_miss) if text not in page
    ]
    assert absent == [], "make docs"
