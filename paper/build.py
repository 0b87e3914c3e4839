"""Write the paper from its template: every figure in it is read from a generated table in this
repository.

python paper/build.py            renews paper/paper.md and paper/numbers.md
python paper/build.py PAPER.pdf  also typesets the paper; needs pypandoc-binary and typst
                                (make paper)

``template.md`` names figures as ``{key}``. ``NUMBERS`` has each figure's place, and the command
that renews the file.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
AUTHOR = "The Elanite developers"
VALIDATION = ("docs/validation.md", "make docs")
MEASURED = ("docs/speed.md", "make speed")
BOOKSIM = ("docs/speed-simulators.md", "python benches/booksim.py")
CONFORMANCE = ("docs/conformance.md", "python tests/mpi_suite.py compare")


def page(name: str) -> str:
    """A page's text."""
    return (ROOT / name).read_text(encoding="utf-8")


def found(pattern: str, text: str) -> str:
    """The only match's first group. Raises ``ValueError`` if the page has changed its form."""
    matches = set(re.findall(pattern, text, re.MULTILINE))
    if len(matches) != 1:
        raise ValueError(f"{pattern!r} is found {len(matches)} times")
    return str(matches.pop())


def cells(text: str, heading: str) -> Iterator[list[str]]:
    """The rows from the table with the heading ``heading``."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            next(lines)
            for row in lines:
                if not row.startswith("|"):
                    return
                yield [cell.strip() for cell in row.strip("|").split("|")]
    raise ValueError(f"no table begins with {heading!r}")


def fabric(nodes: str, column: int) -> str:
    """A cell from the measured table: the fabric with uniform traffic at a load of 0.3, and all
    mechanisms.
    """
    rows = list(cells(page("docs/speed.md"), "level | nodes | traffic | load"))
    (row,) = [row for row in rows if row[:5] == ["fabric", nodes, "uniform", "0.3", ""]]
    return row[column]


def alone(network: str) -> str:
    """Packets alone with equal latency in BookSim2, as ``n of n``."""
    rows = list(cells(page(BOOKSIM[0]), "network | BookSim2's router"))
    (row,) = [row for row in rows if row[0].startswith(network) and row[1] == "`routing_delay = 1`"]
    return row[4]


def saturation() -> list[str]:
    """The difference from BookSim2 at saturation, as a percentage for each network and pattern."""
    return [row[4].lstrip("+-") for row in cells(page(BOOKSIM[0]), "network | traffic | BookSim2")]


def in_turns() -> list[int]:
    """Packets in a processor-second, Elanite over BookSim2."""
    return [int(row[4]) for row in cells(page(BOOKSIM[0]), "network | nodes | BookSim2")]


def headline(pattern: str) -> str:
    """A part of the scoreboard's headline, without the networks of today."""
    line = found(r"^Model revision \d+: (.*)$", page("docs/validation.md")).split(
        "Networks of today"
    )[0]
    return found(pattern, line)


def mpich() -> str:
    """Tests in MPICH's suite that pass simulated, of those that pass natively."""
    (row,) = [
        row
        for row in cells(page("docs/conformance.md"), "suite | tests")
        if row[0].startswith("MPICH")
    ]
    return f"{row[3]} of {row[2]}"


@dataclass(frozen=True)
class Number:
    """A figure in the paper: how it is read, and the file and command that have it."""

    read: Callable[[], str]
    origin: tuple[str, str]


NUMBERS = {
    "predicted": Number(lambda: headline(r"^(\d+ of \d+) predicted"), VALIDATION),
    "unturned": Number(
        lambda: headline(r"with the (\d+) whose verdict no removed mechanism turns"), VALIDATION
    ),
    "unablated": Number(lambda: headline(r"and (\d+) not yet ablated"), VALIDATION),
    "all": Number(lambda: headline(r"not yet ablated, (\d+ of \d+) hold"), VALIDATION),
    "fitted": Number(lambda: headline(r"(\d+ of \d+) fitted claims hold"), VALIDATION),
    "points": Number(
        lambda: found(
            r"^Fingerprints of the engines .*\(([\d,]+)\)\.$", page("docs/validation.md")
        ),
        VALIDATION,
    ),
    "alone.torus": Number(lambda: alone("torus"), BOOKSIM),
    "alone.tree": Number(lambda: alone("fat tree"), BOOKSIM),
    "saturation": Number(
        lambda: max(
            (each.lstrip("+-") for each in saturation()), key=lambda each: float(each[:-1])
        ),
        BOOKSIM,
    ),
    "saturation.cases": Number(lambda: str(len(saturation())), BOOKSIM),
    "booksim.least": Number(lambda: str(min(in_turns())), BOOKSIM),
    "booksim.most": Number(lambda: str(max(in_turns())), BOOKSIM),
    "mpich": Number(mpich, CONFORMANCE),
    "processor": Number(
        lambda: found(r"^Measured with one core of: (.*)\.$", page("docs/speed.md")), MEASURED
    ),
    "load": Number(lambda: fabric("64", 3), MEASURED),
    "speed.64": Number(lambda: fabric("64", 5), MEASURED),
    "speed.1024": Number(lambda: fabric("1,024", 5), MEASURED),
    "speed.65536": Number(lambda: fabric("65,536", 5), MEASURED),
    "memory.65536": Number(lambda: fabric("65,536", 8), MEASURED),
}


def paper() -> str:
    """The paper, with its figures."""
    template = (ROOT / "paper" / "template.md").read_text(encoding="utf-8")
    return re.sub(r"\{([a-z][a-z0-9.-]*)\}", lambda key: NUMBERS[key[1]].read(), template)


def numbers() -> str:
    """The table with all figures and their places."""
    lines = ["# Figures of the paper", "", "<!-- Written by paper/build.py; do not edit. -->", ""]
    lines += ["| figure | value | table in | renewed by |", "|---|---|---|---|"]
    for key, number in NUMBERS.items():
        file, command = number.origin
        lines.append(f"| {key} | {number.read()} | [{file}](../{file}) | `{command}` |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Renew the files, and typeset them if a name is given."""
    folder = ROOT / "paper"
    (folder / "paper.md").write_text(paper(), encoding="utf-8")
    (folder / "numbers.md").write_text(numbers(), encoding="utf-8")
    for target in sys.argv[1:]:
        import pypandoc
        import typst

        Path(target).parent.mkdir(parents=True, exist_ok=True)
        words = [
            "--standalone",
            "--citeproc",
            "--resource-path",
            str(folder),
            "--metadata",
            f"author={AUTHOR}",
        ]
        text = pypandoc.convert_file(str(folder / "paper.md"), "typst", extra_args=words)
        Path(target).write_bytes(typst.compile(text.encode()))


if __name__ == "__main__":
    main()
