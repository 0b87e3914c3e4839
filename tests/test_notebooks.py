"""The notebooks: they run from start to end, fit their cells, and lie in the repository without outputs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import BIN, PATIENCE, needs_mpi

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="not a checkout")


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def executed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The code cells after they have run, in an empty folder."""
    # This interpreter's kernel, without user settings.
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "IPYTHONDIR": str(folder / ".ipython"),
    }
    # With this variable, ipykernel does not show process output.
    environment.pop("PYTEST_CURRENT_TEST", None)
    page = read(name)
    client = nbclient.NotebookClient(page, timeout=int(PATIENCE), resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    return [cell for cell in page.cells if cell.cell_type == "code"]


def text(cell: Any, stream: str = "stdout") -> str:
    """A cell's text output, or its stream output."""
    results = [output["data"].get("text/plain", "") for output in cell.outputs if "data" in output]
    return "".join([output["text"] for output in cell.outputs if output.get("name") == stream] + results)


def test_there_are_notebooks_without_outputs() -> None:
    assert len(NAMES) >= 4
    for name in NAMES:
        for cell in read(name).cells:
            if cell.cell_type == "code":
                assert cell.outputs == [], f"{name}: clear the outputs of the notebook"
                assert cell.execution_count is None, f"{name}: clear the outputs of the notebook"


def check(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a notebook; returns its cells' outputs, one after the other."""
    cells = executed(name, folder, monkeypatch)
    for cell in cells:
        assert len(text(cell).splitlines()) <= 25, f"{name}: the output of this cell is long:\n{cell.source}"
        if "el.run(" in cell.source:
            assert "100%" in text(cell, "stderr")  # the bar of progress
    return "\n".join(map(text, cells))


def test_first_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = check("first-steps", tmp_path, monkeypatch)
    # The text's statement about the two machines.
    gained = re.search(r"without held circuits: \+(\d+)% at an offered load of 300 MB/s", shown)
    assert gained
    assert int(gained[1]) >= 5
    assert "┆ 336." in shown


@pytest.mark.slow
def test_where_does_it_congest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = check("where-does-it-congest", tmp_path, monkeypatch)
    changes = re.findall(r"│ (\S+) +┆ (four|no) .* ┆ ([\d.]+) +┆ true +│", shown)
    assert len(changes) == 4
    for pattern, _, ratio in changes:
        assert float(ratio) > 1.2 if pattern == "bit-reversal" else float(ratio) < 1


@pytest.mark.slow
def test_which_rails_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = check("which-rails-policy", tmp_path, monkeypatch)
    for message, load, best in (
        ("4 KB", "80 MB/s", "local dynamic, striped"),
        ("4 KB", "480 MB/s", "local dynamic, striped"),
        ("32 KB", "480 MB/s", "dynamic"),
    ):
        assert f"('{message}', '{load}'): ('{best}" in shown


@needs_mpi
@pytest.mark.slow
def test_my_mpi_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = check("my-mpi-program", tmp_path, monkeypatch)
    assert re.search(r"^16 ranks, 8192 bytes: [\d.]+ us for a step$", shown, re.MULTILINE)
    assert "Exit codes" not in shown
    times = {name: float(us) for name, us in re.findall(r"'([\w ]+)': ([\d.]+)", shown)}
    assert times["ideal network"] < times["QsNET"]
    assert times["block"] < times["cyclic"]
    assert times["block"] < times["random"]


def test_every_notebook_has_a_test() -> None:
    assert {f"test_{name.replace('-', '_')}" for name in NAMES} <= set(globals())
