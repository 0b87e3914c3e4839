"""The paper has no separate figures: each is read from a generated table, and the text is renewed
with the tables.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

PAPER = Path(__file__).parents[1] / "paper"
NAMES = ("BookSim2", "ns-3", "Elan3", "Elan4", "QsNetII")
"""Names with a digit."""


@pytest.fixture(scope="module")
def build() -> dict[str, Any]:
    """The module that writes the paper."""
    return runpy.run_path(str(PAPER / "build.py"))


def test_the_paper_is_renewed_with_the_tables(build: dict[str, Any]) -> None:
    assert (PAPER / "paper.md").read_text(encoding="utf-8") == build["paper"](), (
        "python paper/build.py"
    )
    assert (PAPER / "numbers.md").read_text(encoding="utf-8") == build["numbers"](), (
        "python paper/build.py"
    )


def test_the_template_has_no_figures_of_its_own(build: dict[str, Any]) -> None:
    _, _, text = (PAPER / "template.md").read_text(encoding="utf-8").split("---\n", 2)
    assert set(re.findall(r"\{([^}]*)\}", text)) == build["NUMBERS"].keys()
    text = re.sub(r"\{[^}]*\}|@\w+", "", text)
    for name in NAMES:
        text = text.replace(name, "")
    sizes = {"16", "64", "1,024", "65,536"}  # of packets and networks, the keys of the tables
    assert set(re.findall(r"\d[\d,.]*\d|\d", text)) == sizes


def test_every_citation_has_an_entry() -> None:
    cited = set(re.findall(r"@(\w+)", (PAPER / "template.md").read_text(encoding="utf-8")))
    entries = set(
        re.findall(
            r"^@\w+\{(\w+),", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    assert cited == entries


def test_a_table_of_another_form_is_an_error(build: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no table begins with"):
        list(build["cells"]("| a | b |\n|---|---|\n| 1 | 2 |\n", "c"))
    with pytest.raises(ValueError, match="found 2 times"):
        build["found"](r"(\d)", "1 2")
