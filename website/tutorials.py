"""The notebooks as pages of the site, with the results of their cells.

The build executes them, so that a page never has another version's results. A folder beside the
site keeps the finished points, and a second build simulates none of them again. A chart is its
Vega-Lite specification; the page draws it with the libraries that the site has, without a network.
Progress bars and other text on standard error are left out.
"""

from __future__ import annotations

import os
import re
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbclient
import nbformat

from elanite.base.html import embedded
from elanite.figures import vega

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 1800
"""The time after which a cell counts as hung."""

SCRIPT = """\
document.querySelectorAll(".chart").forEach((chart) => {
  const spec = JSON.parse(chart.querySelector("script").textContent);
  // Vega names the element that it draws in; the chart keeps its own name.
  const inside = chart.appendChild(document.createElement("div"));
  window.vegaEmbed(inside, spec, { mode: "vega-lite", actions: false, renderer: "svg" });
});
"""
"""Draws a page's charts."""

STYLE = """\
.result { overflow-x: auto; margin: 0 0 1rem; font-size: 0.9em; }
.result table { border-collapse: collapse; }
.result th, .result td { padding: 0.2em 0.7em; text-align: left; }
.result .chart { background: white; color: black; padding: 8px; width: max-content; }
"""
"""The results' style: a wide one scrolls within its frame; charts are drawn for light pages."""


def executed(notebook: Path, folder: Path) -> Any:
    """The notebook after its cells have run in a folder, with this interpreter.

    Raises nbclient's ``CellExecutionError`` if a cell fails.
    """
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        # The kernel of this interpreter, without the user's settings.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(folder / ".ipython"),
    }
    # With this variable, ipykernel does not show the output of processes.
    environment.pop("PYTEST_CURRENT_TEST", None)
    page = nbformat.read(notebook, as_version=4)
    client = nbclient.NotebookClient(
        page,
        timeout=SECONDS,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=40"],
    )
    client.execute(env=environment)
    return page


def write_files(folder: Path) -> None:
    """Write the files that all pages with results share."""
    folder.mkdir(exist_ok=True)
    (folder / "vega.js").write_text(vega.libraries().replace("<\\/script", "</script"), "utf-8")
    (folder / "charts.js").write_text(SCRIPT, "utf-8")
    (folder / "results.css").write_text(STYLE, "utf-8")


def page(notebook: Any, repository: str, name: str) -> str:
    """The page's text: the cells with the results that they have; ``name`` is the file's name."""
    parts: list[str] = []
    drawn = False
    for cell in notebook.cells:
        text = cell.source
        if cell.cell_type == "code":
            parts.append(f"```python\n{text}\n```")
            parts += results(cell)
            drawn |= any(vega.MEDIA_TYPE in each.get("data", ()) for each in cell.outputs)
        else:
            parts.append(re.sub(r"\]\(\.\./(README\.md)\)", rf"]({repository}/\1)", text))
    there = f"[{name}.ipynb]({repository}/notebooks/{name}.ipynb)"
    told = any(cell.get("outputs") for cell in notebook.cells)
    about = "with the results of its cells" if told else "without the results of its cells"
    parts.insert(1, f"This page is the notebook {there}, {about}.")
    if drawn:
        files = ("vega.js", "charts.js")
        parts.append(_raw("".join(f'<script src="../_static/{file}"></script>' for file in files)))
    return "\n\n".join(parts) + "\n"


def results(cell: Any) -> Iterator[str]:
    """A cell's results as parts of a page."""
    printed = "".join(each["text"] for each in cell.outputs if each.get("name") == "stdout")
    if printed:
        yield f"```text\n{printed.rstrip()}\n```"
    for data in (each["data"] for each in cell.outputs if "data" in each):
        if vega.MEDIA_TYPE in data:
            yield _raw(f'<div class="result" tabindex="0">{chart(data[vega.MEDIA_TYPE])}</div>')
        elif "text/html" in data:
            yield _raw(f'<div class="result">{data["text/html"]}</div>')
        else:
            yield f"```text\n{data['text/plain']}\n```"


def chart(spec: Any) -> str:
    """A chart that the page's script draws; its name for screen readers is its title."""
    title = spec.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    said = words if isinstance(words, str) else " ".join(words)
    label = escape(said or "chart of the cell above")
    data = f'<script type="application/json">{embedded(spec)}</script>'
    return f'<div class="chart" role="figure" aria-label="{label}">{data}</div>'


def _raw(html: str) -> str:
    return f"``````{{raw}} html\n{html}\n``````"
