"""A GOAL trace's lines, as the readers for other traces give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Writing:
    """A trace's lines, rank by rank. ``operations`` counts the written operations."""

    operations = 0
    notes: Sequence[str] = ()
    """The translation's assumptions, known when the first line is."""

    def lines(self) -> Iterator[str]:
        """The trace's lines, with their ends."""
        raise NotImplementedError

    @property
    def ranks(self) -> int:
        """How many ranks the trace has."""
        raise NotImplementedError
