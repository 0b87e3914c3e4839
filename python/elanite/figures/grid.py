"""A table as data: columns, cell rows, and a legend for their tints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Align = Literal["left", "center"]


@dataclass(frozen=True)
class Column:
    """A column: its heading, and its width relative to the others."""

    heading: str
    """Lines are separated by line feeds."""
    width: float = 1.0
    align: Align = "center"


@dataclass(frozen=True)
class Cell:
    """A cell: its text, and the figure that decides its tint."""

    text: str
    """Lines are separated by line feeds; all but the first are smaller."""
    ratio: float | None = None
    """The figure relative to the reference; `None` for no tint."""
    says: str = ""
    """The text that appears when the reader points at the cell."""


@dataclass(frozen=True)
class Grid:
    """A table; ``legend`` explains the tints, if there are any."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    legend: str = ""
