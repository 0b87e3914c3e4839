"""HTML representations for notebooks: a line that names the thing, and short tables, the long ones
folded.

A cell shows a few lines. The data behind it are available as data frames and charts. ``embedded``
is for pages.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def block(title: str, *parts: str) -> str:
    """A thing: its name or title, and paragraphs, tables and folded parts below."""
    return f"<div><b>{escape(title)}</b>{''.join(parts)}</div>"


def line(text: str) -> str:
    """A text line."""
    return f"<div>{escape(text)}</div>"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers are written for people."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_words(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(summary: str, content: str) -> str:
    """A part that is closed at first."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def embedded(value: object) -> str:
    """A value as JSON that may stand inside a page's script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def count(number: int, noun: str) -> str:
    """``1 point``, ``1,288 points``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _words(cell: object) -> str:
    if isinstance(cell, float):
        from elanite.base.text import number

        return number(cell)
    return (
        f"{cell:,}"
        if isinstance(cell, int) and not isinstance(cell, bool)
        else ""
        if cell is None
        else str(cell)
    )
