"""The repository's pages: links lead to files, and the validation page explains how claims are
tested and missed.
"""

from __future__ import annotations

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import elanite as el
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.validation import board
from elanite.validation.claims import claims

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")


def links(page: Path) -> list[str]:
    """A page's links and pictures, except those on the network or in the page itself."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.findall(
        r"\]\(\s*<?([^)>\s]+)|^\[[^\]]+\]:\s*(\S+)|(?:src|href)=\"([^\"]+)\"", text, re.MULTILINE
    )
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


def test_the_citation_has_the_papers_and_the_version() -> None:
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    table = (
        (ROOT / "docs" / "references.md")
        .read_text(encoding="utf-8")
        .split("## Other publications")[0]
    )
    papers = {entry["doi"]: entry for entry in citation["references"]}
    assert list(papers) == re.findall(r"doi\.org/([^)\s]+)", table)
    for doi, entry in papers.items():
        row = next(line for line in table.splitlines() if doi in line)
        assert f"*{entry['title']}.*" in row
        assert str(entry["year"]) in row
        assert all(author["family-names"] in row for author in entry["authors"])
    assert citation["version"] == el.__version__


def test_the_changelog_has_the_version() -> None:
    first = re.search(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert first
    assert first[1] == el.__version__


def test_the_example_of_an_experiment_file_is_right(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(title.*?)```", page, re.DOTALL)
    assert example
    file = tmp_path / "example.toml"
    file.write_text(example[1], encoding="utf-8")
    assert len(plan(sources.read("experiment", str(file))).points) == 12


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(blocks) >= 2
    for block in blocks:
        exec(block, names)  # noqa: S102 - a page of ours


def test_the_readme_has_the_sentence_of_the_scoreboard() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^\*\*(\d+ of .*?)\*\*", readme, re.MULTILINE | re.DOTALL)
    assert found
    assert f": {' '.join(found[1].split())}; " in (ROOT / "docs" / "validation.md").read_text(
        encoding="utf-8"
    ), "make docs"


def test_validation_page_says_how_claims_are_tested_and_why_they_are_missed() -> None:
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    evaluated = [claim for claim in claims() if claim.experiment]
    assert evaluated
    absent = [
        f"{claim.id}: {text}"
        for claim in evaluated
        for text in (
            claim.test,
            claim.known_miss,
            claim.inference,
            claim.vague,
            claim.proof.text if claim.proof else "",
        )
        if board.with_links(text) not in page
    ]
    assert absent == [], "make docs"


def test_the_speed_page_is_filled_from_a_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = {
        "level": "fabric",
        "pattern": "uniform",
        "load": None,
        "set": [],
        "events_per_packet": 11.94,
    }
    usual |= {
        "set_up_seconds": 0.25,
        "peak_memory_bytes": 452_100_000,
        "packets_per_cpu_second": 1.31e6,
    }
    cases = [
        {"nodes": 65_536},
        {"level": "machine", "nodes": 64, "load": 0.3, "set": ["series.load.message=256 KB"]},
    ]
    cases += [
        {"nodes": nodes, "load": load}
        for nodes, load in [(64, 0.1), (64, 0.3), (64, 0.5), (1024, 0.3)]
    ]
    bench = tmp_path / "bench.json"
    pages = [tmp_path / page.name for page in (ROOT / "docs").glob("speed*.md")]
    for page in pages:
        shutil.copy(ROOT / "docs" / page.name, page)
    monkeypatch.setattr(sys, "argv", ["speed.py", str(bench), str(tmp_path)])
    write = runpy.run_path(str(ROOT / "docs" / "speed.py"))["main"]

    def fill(rows: list[dict[str, object]]) -> None:
        bench.write_text(json.dumps({"processor": "A fast one", "rows": rows}), encoding="utf-8")
        write()

    for _ in range(2):  # what is filled can be filled again
        fill([usual | case for case in cases])
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert "Measured with one core of: A fast one." in text
    assert "| fabric | 65,536 | uniform | saturated |  | 1.3 million | 11.9 | 0.25 | 452 |" in text
    assert len(re.findall(r"^\| fabric |^\| machine ", text, re.MULTILINE)) == len(cases)
    assert (
        "| 64 nodes, 0.1 | 64 nodes, 0.3 | 64 nodes, 0.5 | 1,024 nodes, 0.3 | 64 nodes, messages of"
        " 256 KB |" in text
    )
    assert re.search(
        r"^\| BookSim2 .* \| 1,100 \| 1,000 \| 1,100 \| 10,000 \|  \|$", text, re.MULTILINE
    )
    assert re.search(r"^\| SimGrid .* \|  \|  \|  \|  \| 0\.43 \|$", text, re.MULTILINE)
    assert "To be measured" not in text

    with pytest.raises(SystemExit, match=r"BookSim2 \(2017\): 0 rows of the benchmark"):
        fill([usual | case for case in cases[1:] if case["nodes"] != 1024])
    assert "".join(page.read_text(encoding="utf-8") for page in pages) == text


def test_the_readme_has_the_counts_of_the_validation_page() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    sentence = r"<!-- scoreboard, renewed by `make docs` -->\n\*\*(.+?)\*\*"
    (said,) = re.findall(sentence, readme, re.DOTALL)
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    (counts,) = re.findall(r"^Model revision \d+: (.+)$", page, re.MULTILINE)
    assert " ".join(said.split()).rstrip(".") in counts, "make docs"
