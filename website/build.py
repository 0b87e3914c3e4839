"""The documentation site: ``python website/build.py OUT`` lays pages out in ``OUT-source`` and
makes HTML in ``OUT``.

The pages in ``docs`` stay unchanged, since people also read them on the repository's hosting site.
Notebooks become pages with the results of their cells (``tutorials``); the reference comes from the
program itself: help texts, docstrings, and the schemas for machine and experiment files. Long
generated pages are divided (``sections``). A link to
a file that is no page leads to the repository. From the store that ``--store`` names, the site has
the papers, a page for each and for each figure (``elanite.report.site``). The gallery has
thumbnails of these figures, and of the pictures in ``docs`` (``gallery``). Where `make web` has
built the explorer, the site has it, too. The front page links to both.

Every Sphinx warning is an error: a link to nowhere, a page that no table of contents has. Then the
build fails, and names the place.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gallery
import nbformat
import sections
import tutorials
import typer
from sphinx.cmd.build import main as sphinx
from typer.testing import CliRunner

import elanite as el
from elanite import _core
from elanite.cli import app
from elanite.report import explorer
from elanite.report import site as papers
from elanite.report.index import Writer
from elanite.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.report.index import Report

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/elanite/elanite/blob/main"

WIDTH = 100
"""Help text columns."""


def main() -> int:
    """Build the site, and return Sphinx's exit code."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("out", type=Path, help="the folder of the site")
    parser.add_argument(
        "--store", type=Path, help="a store, whose complete experiments are in the gallery"
    )
    parser.add_argument(
        "--run", nargs="*", metavar="NAME", help="the notebooks to execute; all without this option"
    )
    asked = parser.parse_args()
    out = asked.out.resolve()
    pages = out.with_name(f"{out.name}-source")
    shutil.rmtree(pages, ignore_errors=True)
    report = Writer(asked.store.parent, Store(asked.store)).read() if asked.store else None
    lay_out(pages, report)
    of_notebooks(pages, out.with_name(f"{out.name}-notebooks"), asked.run)
    code = sphinx(
        ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{pages}/.doctrees", str(pages), str(out)]
    )
    if with_explorer():
        explorer.copy(out / EXPLORER)
    if report is not None:
        there = f"../{EXPLORER}/index.html" if with_explorer() else "../docs/explore.html"
        papers.write(out / PAPERS, report, explore=there, model="../docs/my-cluster.html")
    return code


EXPLORER = "explore"
"""The explorer's folder within the site."""

PAPERS = "papers"
"""The papers' folder within the site."""


CLAIMS = ROOT / "docs" / "validation.md"
"""The list of all claims; on the site, its sections are on several pages."""


def with_explorer() -> bool:
    """Whether the explorer's page is built."""
    return (Path(el.__file__).parent / explorer.FOLDER / "index.html").is_file()


def lay_out(pages: Path, report: Report | None) -> None:
    """Write all page sources."""
    for folder in ("docs", "notebooks", "reference"):
        (pages / folder).mkdir(parents=True)
    for name in ("index.md", "conf.py"):
        shutil.copy(ROOT / "website" / name, pages)
    (pages / "_static").mkdir()
    shutil.copy(ROOT / "website" / "pages.css", pages / "_static")
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = with_links(page)
        divided = sections.divide(page.stem, text) if page == CLAIMS else {page.stem: text}
        write(pages / "docs", divided)
    if report is not None:
        front = pages / "index.md"
        title, rest = front.read_text(encoding="utf-8").split("\n", 1)
        link = (
            f'<p><a href="{PAPERS}/index.html"><b>The papers</b></a>: every published figure,'
            " simulated.</p>"
        )
        front.write_text(f"{title}\n\n{link}\n{rest}", encoding="utf-8")
    if with_explorer():
        for page, root in ((pages / "index.md", ""), (pages / "docs" / "explore.md", "../")):
            title, rest = page.read_text(encoding="utf-8").split("\n", 1)
            there = f"{root}{EXPLORER}/index.html"
            link = (
                f'<p><a href="{there}"><b>Open the explorer</b></a>: it simulates in this'
                " browser.</p>"
            )
            page.write_text(f"{title}\n\n{link}\n{rest}", encoding="utf-8")
    for picture in [*(ROOT / "docs").glob("*.svg"), *(ROOT / "docs").glob("*.webp")]:
        shutil.copy(picture, pages / "docs")
    for name in ("CHANGELOG", "CONTRIBUTING"):
        text = with_links(ROOT / f"{name}.md")
        (pages / f"{name.lower()}.md").write_text(text, encoding="utf-8")
    for name, text in {
        "cli": "".join(of_commands()),
        "python": of_library(),
        "machine": of_schema("machine"),
        "experiment": of_schema("experiment"),
        "rust": of_crates(),
    }.items():
        write(pages / "reference", sections.divide(name, text))
    (pages / "gallery.md").write_text(
        gallery.page(pages, ROOT / "docs", report, PAPERS), encoding="utf-8"
    )


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write pages by name."""
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def of_notebooks(pages: Path, folder: Path, names: list[str] | None) -> None:
    """Write the notebooks' pages, those of ``names`` or all with results; the cells run in a folder
    that stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        executes = names is None or notebook.stem in names
        found = (
            tutorials.executed(notebook, folder)
            if executes
            else nbformat.read(notebook, as_version=4)
        )
        text = tutorials.page(found, REPOSITORY, notebook.stem)
        (pages / "notebooks" / f"{notebook.stem}.md").write_text(text, encoding="utf-8")
    tutorials.write_files(pages / "_static")


def with_links(page: Path) -> str:
    """A repository page's text; links to files that are no site pages lead to the repository."""

    def link(match: re.Match[str]) -> str:
        target, hash_, anchor = match[1].partition("#")
        if not target or re.match(r"[a-z][a-z+.-]*:", target):
            return match[0]
        file = (page.parent / target).resolve()
        if not file.exists():
            raise SystemExit(f"{page}: there is no {target}")
        inside = file.relative_to(ROOT)
        if inside.name in ("CHANGELOG.md", "CONTRIBUTING.md") and inside.parent == Path():
            return f"](/{inside.stem.lower()}.md{hash_}{anchor})"
        if file == CLAIMS and anchor:
            part = sections.places(CLAIMS.stem, CLAIMS.read_text(encoding="utf-8")).get(anchor)
            if part is None:
                raise SystemExit(f"{page}: {target} has no section #{anchor}")
            return f"](/docs/{part}.md#{anchor})"
        if inside.parent == Path("docs") and inside.suffix in (".md", ".svg"):
            return f"](/{inside}{hash_}{anchor})"
        if inside.parent == Path("notebooks"):
            return f"](/{inside.with_suffix('.md')}{hash_}{anchor})"
        return f"]({REPOSITORY}/{inside}{hash_}{anchor})"

    text = page.read_text(encoding="utf-8")
    # Code keeps its brackets.
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.DOTALL)
    parts[::2] = [re.sub(r"\]\(([^)\s]+)\)", link, part) for part in parts[::2]]
    return "".join(parts)


def of_commands(group: typer.Typer = app, words: tuple[str, ...] = ()) -> Iterator[str]:
    """The command-line reference: a command group's help texts."""
    yield "# Command line\n" if not words else ""
    yield _help(words)
    for command in group.registered_commands:
        assert command.callback
        yield _help((*words, command.name or command.callback.__name__))
    for inner in group.registered_groups:
        assert inner.typer_instance
        yield from of_commands(inner.typer_instance, (*words, str(inner.name)))


def _help(words: tuple[str, ...]) -> str:
    shown = CliRunner(env={"COLUMNS": str(WIDTH)}).invoke(
        app, [*words, "--help"], prog_name="elanite"
    )
    return f"\n## {' '.join(['elanite', *words])}\n\n```text\n{shown.stdout.strip()}\n```\n"


def of_library() -> str:
    """The library reference: every public name, by its docstring."""
    functions = ["run", "load_results", "compare", "scoreboard"]
    verbs = {"mpirun": "elanite.mpirun.mpirun", "noise": "elanite.library.noise.measure"}
    classes = [name for name in el.__all__ if name[0].isupper()]
    lacking = set(el.__all__) - {*functions, *verbs, *classes}
    lines = [
        "# Python library",
        "",
        "```{eval-rst}",
        ".. automodule:: elanite",
        "```",
        "",
        "## Functions",
        "",
        "```{eval-rst}",
    ]
    lines += [f".. autofunction:: elanite.{name}" for name in [*functions, *sorted(lacking)]]
    lines += [f".. autofunction:: {name}" for name in verbs.values()]
    lines += ["```", ""]
    for name in [
        *(f"elanite.{name}" for name in classes),
        "elanite.results.congestion.Matrix",
        "elanite.mpirun.Options",
    ]:
        lines += [
            f"## {name.rsplit('.', 1)[-1]}",
            "",
            "```{eval-rst}",
            f".. autoclass:: {name}",
            "   :members:",
            "   :exclude-members: __init__, __new__",
            "```",
            "",
        ]
    return "\n".join(lines)


def of_schema(kind: str) -> str:
    """The reference for machine or experiment files: a table for each section and each part that
    sections share.
    """
    schema = json.loads(_core.schema(kind))
    parts: dict[str, Any] = schema["$defs"]
    tables = [f"# {kind.capitalize()} files: every key\n\n{schema['description']}\n"]
    tables.append("The same as JSON, for editors: `elanite schema " + kind + "`.\n")
    tables += _table(schema)
    for name, part in parts.items():
        if "properties" in part:
            tables += [
                f"\n({kind}-section-{name.lower()})=\n## {name}\n\n{part.get('description', '')}\n",
                *_table(part),
            ]
        else:
            tables.append(f"\n({kind}-section-{name.lower()})=\n## {name}\n\n{_sentence(part)}\n")
    return "\n".join(tables).replace("KIND-", f"{kind}-")


def _table(part: dict[str, Any]) -> list[str]:
    required = part.get("required", ())
    rows = ["| key | type | meaning |", "|---|---|---|"]
    for key, what in part["properties"].items():
        meaning = what.get("description", "").replace("\n", " ").replace("|", "\\|")
        if "default" in what:
            meaning += f" Default: `{json.dumps(what['default'])}`."
        elif key in required:
            meaning += " *Required.*"
        rows.append(f"| `{key}` | {_kind(what)} | {meaning} |")
    return rows


def _kind(what: dict[str, Any]) -> str:
    """A key's type, in a few words."""
    if "$ref" in what:
        name = what["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#KIND-section-{name.lower()})"
    if "const" in what:
        return f"`{json.dumps(what['const'])}`"
    if "enum" in what:
        return ", ".join(f"`{json.dumps(each)}`" for each in what["enum"])
    for key in ("anyOf", "oneOf"):
        if key in what:
            return " or ".join(
                dict.fromkeys(_kind(each) for each in what[key] if each.get("type") != "null")
            )
    if what.get("type") == "array":
        return f"list of {_kind(what['items'])}" if isinstance(what.get("items"), dict) else "list"
    value = what.get("properties", {}).get("value")
    if value is not None:  # a value with its source
        return _kind(value)
    if isinstance(what.get("additionalProperties"), dict):
        return f"table of {_kind(what['additionalProperties'])}"
    types = what.get("type", "anything")
    return (
        " or ".join(name for name in types if name != "null")
        if isinstance(types, list)
        else str(types)
    )


def _sentence(part: dict[str, Any]) -> str:
    """A part without keys: its meaning and its values."""
    lines = [part.get("description", "")]
    for each in part.get("oneOf", part.get("anyOf", ())):
        about = each.get("description", "").replace("\n", " ")
        lines.append(f"- {_kind(each)}{': ' if about else ''}{about}")
    if "enum" in part:
        lines.append(f"Values: {_kind(part)}.")
    if "pattern" in part:
        lines.append(f"Pattern: `{part['pattern']}`.")
    return "\n\n".join(line for line in lines if line)


def of_crates() -> str:
    """The crates, with links to their cargo pages."""
    lines = [
        "# Rust crates",
        "",
        (
            "The simulator is a workspace of crates, one for each layer. `make site` adds the pages"
            " that"
        ),
    ]
    lines += ["`cargo doc` makes of them.", "", "| crate | what it is |", "|---|---|"]
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
        "members"
    ]
    for member in members:
        package = tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))
        library = ROOT / member / "src" / "lib.rs"
        root = library if library.is_file() else ROOT / member / package["bin"][0]["path"]
        about = root.read_text(encoding="utf-8").splitlines()
        first = " ".join(
            line.removeprefix("//! ")
            for line in about[: about.index("//!") if "//!" in about else 1]
        )
        first = first.removeprefix("# ")
        words = re.sub(r"\[(`[^`]+`)\]", r"\1", first).replace("|", "\\|")
        name = package.get("lib", {}).get("name", package["package"]["name"].replace("-", "_"))
        lines.append(f'| <a href="../rust/{name}/index.html"><code>{name}</code></a> | {words} |')
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
