"""The notebooks: they run from start to end, fit their cells, and lie in the repository without
outputs.
"""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import needs_mpi
from elanite.base.html import embedded
from elanite.figures import vega

pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="not a checkout")


@cache
def tutorials() -> dict[str, Any]:
    """The module by which the site executes notebooks and writes their pages."""
    return runpy.run_path(str(FOLDER.parent / "website" / "tutorials.py"))


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def text(cell: Any, stream: str = "stdout") -> str:
    """A cell's text output, or its stream output."""
    results = [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
    return "".join(
        [output["text"] for output in cell.outputs if output.get("name") == stream] + results
    )


def test_there_are_notebooks_without_outputs() -> None:
    assert len(NAMES) >= 4
    for name in NAMES:
        for cell in read(name).cells:
            if cell.cell_type == "code":
                assert cell.outputs == [], f"{name}: clear the outputs of the notebook"
                assert cell.execution_count is None, f"{name}: clear the outputs of the notebook"


def check(name: str, folder: Path) -> str:
    """Run a notebook as the site does; returns its cells' outputs, one after the other."""
    notebook = tutorials()["executed"](FOLDER / f"{name}.ipynb", folder)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    check_page(name, notebook)
    for cell in cells:
        assert len(text(cell).splitlines()) <= 25, (
            f"{name}: the output of this cell is long:\n{cell.source}"
        )
        if "el.run(" in cell.source:
            assert "100%" in text(cell, "stderr")  # the bar of progress
    return "\n".join(map(text, cells))


def check_page(name: str, notebook: Any) -> None:
    """Results are on the page, and charts need no network: neither there nor in the notebook."""
    page = tutorials()["page"](notebook, "https://host/repository", name)
    charts = [
        output["data"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if vega.MEDIA_TYPE in output.get("data", ())
    ]
    drawn = [
        cell
        for cell in notebook.cells
        if re.search(r"\.chart$|^alt\.Chart", cell.source, re.MULTILINE)
    ]
    assert len(charts) == len(drawn)
    assert page.count('class="chart"') == len(charts)
    for data in charts:
        assert "vegaEmbed" in data["text/html"]
        assert not re.search(r'<(script|link)[^>]+(src|href)="', data["text/html"])
        assert embedded(data[vega.MEDIA_TYPE]) in page
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stdout":
                assert output["text"].strip() in page
            if "data" in output and vega.MEDIA_TYPE not in output["data"]:
                assert output["data"].get("text/html", output["data"]["text/plain"]) in page
    assert "with the results of its cells" in page
    assert "100%|" not in page


def test_first_steps(tmp_path: Path) -> None:
    shown = check("first-steps", tmp_path)
    # The text's statement about the two machines.
    gained = re.search(r"without held circuits: \+(\d+)% at an offered load of 300 MB/s", shown)
    assert gained
    assert int(gained[1]) >= 5
    assert "┆ 336." in shown, "the text says 337"


@pytest.mark.slow
def test_where_does_it_congest(tmp_path: Path) -> None:
    shown = check("where-does-it-congest", tmp_path)
    changes = re.findall(r"│ (\S+) +┆ (four|no) .* ┆ ([\d.]+) +┆ true +│", shown)
    assert len(changes) == 4
    for pattern, _, ratio in changes:
        assert float(ratio) > 1.2 if pattern == "bit-reversal" else float(ratio) < 1


@pytest.mark.slow
def test_which_rails_policy(tmp_path: Path) -> None:
    shown = check("which-rails-policy", tmp_path)
    for message, load, best in (
        ("4 KB", "80 MB/s", "local dynamic, striped"),
        ("4 KB", "480 MB/s", "local dynamic, striped"),
        ("32 KB", "480 MB/s", "dynamic"),
    ):
        assert f"('{message}', '{load}'): ('{best}" in shown


@needs_mpi
@pytest.mark.slow
def test_my_mpi_program(tmp_path: Path) -> None:
    shown = check("my-mpi-program", tmp_path)
    assert re.search(r"^16 ranks, 8192 bytes: [\d.]+ us for a step$", shown, re.MULTILINE)
    assert "Exit codes" not in shown
    times = {name: float(us) for name, us in re.findall(r"'([\w ]+)': ([\d.]+)", shown)}
    assert times["ideal network"] < times["QsNET"]
    assert times["block"] < times["cyclic"]
    assert times["block"] < times["random"]


def test_every_notebook_has_a_test() -> None:
    assert {f"test_{name.replace('-', '_')}" for name in NAMES} <= set(globals())
