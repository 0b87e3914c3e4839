"""The commands printed in README and pages, and the checks on a command without running it.

A command is a line after ``$`` in a ``console`` block, or a line in an indented block that begins
with a program. A comment ``<!-- not run: reason -->`` before a block gives the reason why no test
runs it.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import typer
from typer.testing import CliRunner

from elanite.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "website" / "index.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*/README.md")),
]

COMPILERS = ("elancc", "mpicc", "oshcc")
PROGRAMS = ("cargo", "elanite", "git", "make", "pip", "pytest", "python", *COMPILERS)
"""Programs with which a command in an indented block begins."""

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]*?) -->\n+)?"
    r"(?:^```(?P<kind>\w*)\n(?P<fenced>.*?)^```|(?<=\n\n)(?P<indented>(?:^    [^\n]*\n)+))",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Printed:
    """A command on a page."""

    page: Path
    line: int
    text: str
    """The words as the shell reads them, without the comment."""
    reason: str
    """Why no test runs it; empty if the page gives no reason."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.text}"

    @property
    def words(self) -> list[str]:
        """The first simple command's words."""
        lexer = shlex.shlex(self.text, posix=True, punctuation_chars="|>&;")
        lexer.whitespace_split = True
        return list(takewhile(lambda word: not set(word) <= set("|>&;"), lexer))


def commands(page: Path) -> list[Printed]:
    """All commands on a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in _BLOCK.finditer(text):
        inside = block["indented"] or (block["fenced"] if block["kind"] == "console" else "")
        prompt = "" if block["indented"] else "$ "
        first = text[: block.start("indented" if block["indented"] else "fenced")].count("\n") + 1
        lines = re.sub(r"^    ", "", inside, flags=re.MULTILINE).replace("\\\n", "\\\0").split("\n")
        if block["indented"] and lines[0].split()[0] not in PROGRAMS:
            continue
        for number, line in enumerate(lines, first):
            words = re.sub(r"\s+#\s.*$", "", line.replace("\\\0", " ").removeprefix(prompt))
            if line.startswith(prompt) and words.strip():
                found.append(Printed(page, number, words, block["reason"] or ""))
    return found


def sources(page: Path) -> dict[str, str]:
    """The programs in C and Python that a page prints, each by the name by which the next command
    compiles or starts it.
    """
    text = page.read_text(encoding="utf-8")
    found = {}
    for block in re.finditer(
        r"^```(c|python)\n(.*?)^```(.*?)(?=^```(?:c|python)\n|\Z)", text, re.MULTILINE | re.DOTALL
    ):
        name = re.search(rf"\b(\w+\.{'c' if block[1] == 'c' else 'py'})\b", block[3])
        if name:
            found.setdefault(name[1], block[2])
    return found


def parse(words: list[str]) -> str:
    """The command line's objection to the words for ``elanite``; empty if it accepts them, without
    a run.
    """
    name, *rest = words[1:] or ["--help"]
    group = typer.main.get_command(app)
    if name.startswith("-"):
        return ""
    known = getattr(group, "commands", {})
    if name not in known:
        return f"there is no command {name}"
    command = known[name]
    if hasattr(command, "commands"):
        return (
            "" if rest and rest[0] in command.commands else f"there is no command {name} {rest[:1]}"
        )
    try:
        # The help option ends the parsing of correct words before it.
        command.make_context(name, list(rest))
    except Exception as error:  # noqa: BLE001 - of typer's own copy of click
        return str(getattr(error, "message", error))
    return ""


def planned(words: list[str]) -> str:
    """Plan the experiment for ``elanite run`` without simulating; returns its error, or an empty
    text.
    """
    ended = CliRunner().invoke(app, [*words[1:], "--point", "none"])
    said = f"{ended.output}{ended.exception or ''}"
    return "" if "has no point whose identity starts with none" in said else said


def targets(makefile: Path) -> set[str]:
    """The targets of ``make``."""
    text = makefile.read_text(encoding="utf-8")
    return {
        word for line in re.findall(r"^([\w .-]+):", text, re.MULTILINE) for word in line.split()
    }


def crates() -> set[str]:
    """The names of all workspace packages."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"][
        "members"
    ]
    return {
        tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))["package"]["name"]
        for member in members
    }
