"""README: the first command on the first screen, then networks of today in pictures with
commands.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from test_report_browser import CHROMIUM

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="not a checkout")

PHONE = 360
"""Pixels that a phone's page leaves for a picture."""

LEAST_LETTERS = 10.5
"""Pixels of a readable letter's size."""


TOPOLOGIES = "network and routing"
SUITES = "suite"
"""The first cells of tables' heads."""


def pictures() -> dict[str, tuple[str, str]]:
    """The first part's pictures: each file's alternative text, and the text beside it."""
    text = README.read_text(encoding="utf-8")
    asked = text[text.index("## What can I ask?") : text.index("## Is it right?")]
    found = re.findall(
        r'<img src="([^"]+)"[^>]*? alt="([^"]+)">\n(.*?)<br clear="all">', asked, re.DOTALL
    )
    return {file: (alt, after) for file, alt, after in found}


def test_the_first_screen_has_a_command() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("    elanite "))
    assert first < 20


def test_today_comes_before_quadrics_with_three_pictures_and_a_moving_one() -> None:
    found = pictures()
    assert [Path(file).suffix for file in found] == [".svg", ".svg", ".svg", ".webp"]
    for file, (alt, after) in found.items():
        assert len(alt) > 80, file
        assert re.search(r"^    elanite ", after, re.MULTILINE), f"{file} has no command beside it"


@pytest.mark.parametrize("file", [file for file in pictures() if file.endswith(".svg")])
def test_pictures_are_small_and_readable_on_a_phone_in_light_and_dark(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert len(text) < 60_000
    picture = ET.fromstring(text)  # noqa: S314 - a picture of our own
    scale = min(1.0, PHONE / float(picture.attrib["width"]))
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', text)]
    assert sizes
    assert min(sizes) * scale >= LEAST_LETTERS
    style = next(element.text for element in picture if element.tag.endswith("style"))
    assert style
    dark = style.split("prefers-color-scheme: dark")[1]
    assert ".paper { fill" in dark
    assert "text { fill" in dark
    assert next(iter(picture)).tag.endswith("title")


def rows(page: str, first: str) -> list[list[str]]:
    """The cells of a page's table, but for its head, which begins with the words ``first``."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    table = text.split(f"| {first} | ")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def said(sentence: str) -> tuple[str, ...]:
    """The figures in a sentence of README, by a pattern; line ends are spaces."""
    (found,) = re.findall(sentence, " ".join(README.read_text(encoding="utf-8").split()))
    return found if isinstance(found, tuple) else (found,)


def test_figures_about_networks_are_those_of_the_page_about_today() -> None:
    table = {row[0]: [float(cell) for cell in row[1:]] for row in rows("today.md", TOPOLOGIES)}
    assert len(table) == 9
    worst = [min(loads) for loads in table.values()]
    text = (ROOT / "docs" / "readme-networks.svg").read_text(encoding="utf-8")
    assert f"from {min(worst):.0f} GB/s (" in text, "make docs"
    assert f"to {max(worst):.0f} GB/s (" in text, "make docs"
    switched = [loads for network, loads in table.items() if network != "torus"]
    uniform = [loads[0] for loads in switched]
    found = said(
        r"all but the torus carry (\d+) to (\d+) GB/s per node;"
        r" in the worst of five patterns they carry (\d+) to (\d+),"
    )
    lowest = [min(loads) for loads in switched]
    assert found == tuple(
        f"{value:.0f}" for value in (min(uniform), max(uniform), min(lowest), max(lowest))
    )
    reversal = (table["fat tree, destination modulo"][2], table["fat tree, adaptive"][2])
    found = said(r"a node gets ([\d.]+) GB/s instead of ([\d.]+)\. ")
    assert found == tuple(f"{value:.1f}" for value in reversal)


def test_counts_of_tests_are_those_of_the_page_about_conformance() -> None:
    (mpich,) = (row for row in rows("conformance.md", SUITES) if row[0].startswith("MPICH"))
    found = said(r"In MPICH's suite, (\d+) tests pass natively, and (\d+) of these pass")
    assert found == tuple(mpich[2:4])


def parts(picture: bytes) -> list[bytes]:
    """The kinds of a WebP file's chunks."""
    assert (picture[:4], picture[8:12]) == (b"RIFF", b"WEBP")
    kinds, at = [], 12
    while at < len(picture):
        kinds.append(picture[at : at + 4])
        length = int.from_bytes(picture[at + 4 : at + 8], "little")
        at += 8 + length + length % 2
    return kinds


def test_the_moving_picture_is_short_and_small() -> None:
    picture = (ROOT / "docs" / "watch.webp").read_bytes()
    assert len(picture) < 1_000_000
    assert 20 <= parts(picture).count(b"ANMF") <= 60


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no chromium on the PATH: apt-get install chromium")
def test_the_moving_picture_can_be_recorded(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    recording = runpy.run_path(str(ROOT / "docs" / "recording.py"))
    recording["record"](tmp_path / "watch.webp", frames=3)
    assert parts((tmp_path / "watch.webp").read_bytes()).count(b"ANMF") == 3
    readme = " ".join(re.sub(r"\\\n", " ", README.read_text(encoding="utf-8")).split())
    for command in recording["COMMANDS"][:-1]:
        assert command in readme
