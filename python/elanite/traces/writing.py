"""The lines of a trace in GOAL, as the readers of other traces give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Writing:
    """The lines of a trace, rank by rank. ``operations`` counts what has been written."""

    operations = 0
    notes: Sequence[str] = ()
    """Assumptions of the translation, known when the first line is."""

    def lines(self) -> Iterator[str]:
        """The lines of the trace, with their ends."""
        raise NotImplementedError

    @property
    def ranks(self) -> int:
        """How many ranks the trace has."""
        raise NotImplementedError
