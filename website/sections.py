"""Long pages of the site as several: consecutive sections share a page while they fit.

The list of all claims or the command line's reference fills dozens of screens. So such a generated
page is divided at its sections: the first part keeps the page's name and lists all sections, and
each further part is named after its first section. Links to a section lead to its part.

How high a section will be is estimated from its lines; ``tests/test_site.py`` measures the pages.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass, field

TALLEST = 5000
"""Estimated height of a part's sections, in CSS pixels on a wide screen; a part's title and the
list of sections come on top.
"""

SHORT = 150
"""A section below this height is on the page of the section before it."""

SECTION = re.compile(r"(?m)^(?<!\)=\n)(?=(?:\([^)\n]+\)=\n)?## )")
HEADING = re.compile(r"(?m)^## (.+)$")
DOCUMENTED = re.compile(r"\.\. auto\w+:: (\S+)")


@dataclass
class Part:
    """A page with some of the sections."""

    name: str
    """The file's name without ``.md``."""
    sections: list[str] = field(default_factory=list)


def divide(name: str, text: str) -> dict[str, str]:
    """A page's parts by name; a page that is short enough, or a single section, stays as it is."""
    head, *sections = SECTION.split(text)
    parts = [Part(name)]
    filled = height(head)
    for section in sections:
        if filled + height(section) > TALLEST and height(section) > SHORT:
            parts.append(Part(f"{name}-{anchor(section)}"))
            filled = 0
        parts[-1].sections.append(section)
        filled += height(section)
    if len(parts) == 1:
        return {name: text}
    title = head.split("\n", 1)[0].removeprefix("# ")
    texts = {part.name: _text(title, part.sections) for part in parts[1:]}
    first = head + contents(parts) + "".join(parts[0].sections)
    return {name: first.rstrip() + "\n\n" + _tree(parts[1:]), **texts}


def contents(parts: list[Part]) -> str:
    """A list of all sections, with links to them."""
    links = (
        f"[{heading(section)}]({'' if part is parts[0] else part.name + '.md'}#{anchor(section)})"
        for part in parts
        for section in part.sections
    )
    return f"Sections: {', '.join(links)}.\n\n"


def places(name: str, text: str) -> dict[str, str]:
    """The part that has a section, by the section's anchor."""
    return {
        anchor(section): part
        for part, text_of in divide(name, text).items()
        for section in SECTION.split(text_of)[1:]
    }


def heading(section: str) -> str:
    """A section's title."""
    found = HEADING.search(section)
    assert found
    return found[1]


def anchor(section: str) -> str:
    """The end of a link to a section, as Markdown's anchors are made."""
    return re.sub(r"[^\w\- ]", "", heading(section).lower()).replace(" ", "-")


def height(text: str) -> int:
    """About how high a text will be, in CSS pixels at 1,400 px. A table's rows wrap, the more the
    longer they are; columns are unknown, so the rows of `docs/validation.md` are the measure.
    """
    pixels, code = 0.0, False
    for line in text.splitlines():
        if line.startswith("```"):
            code = not code
            pixels += 20
        elif match := DOCUMENTED.match(line):
            pixels += _of_docstrings(match[1])
        elif code:
            pixels += 19
        elif line.startswith("|"):
            pixels += 16 + 0.3 * len(line)
        elif line:
            pixels += 25 * -(-len(line) // 105)
    return round(pixels)


def _of_docstrings(name: str) -> int:
    """The same of an object and of its members, as Sphinx prints them from their docstrings."""
    one = pkgutil.resolve_name(name)
    members = [
        member
        for each, member in (vars(one) if isinstance(one, type) else {}).items()
        if not each.startswith("_") and inspect.getdoc(member)
    ]
    return sum(70 + 25 * len((inspect.getdoc(each) or "").splitlines()) for each in [one, *members])


def _text(title: str, sections: list[str]) -> str:
    """A further part. A single section's heading is the title."""
    if len(sections) == 1:
        return HEADING.sub(r"# \1", sections[0], count=1)
    return f"# {title}: {heading(sections[0])} to {heading(sections[-1])}\n\n{''.join(sections)}"


def _tree(parts: list[Part]) -> str:
    names = "\n".join(part.name for part in parts)
    return f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
