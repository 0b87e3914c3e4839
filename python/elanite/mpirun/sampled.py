"""Sampled computation: a program's table, ``--compute sampled:FILE``.

The first run measures, and writes the file; later runs take their times from it. So a program
computes in one measurement's times on any machine and network, and two runs with one table have
equal digests. An execution that the table lacks is measured and added, and the run is not
repeatable; the next one is. The simulator reads and makes the text (crate ``mpirun``,
``table.rs``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import bounded, whole
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE = 1 << 20


@dataclass(frozen=True)
class Sampling:
    """A run's table."""

    file: Path
    found: bool
    """Whether the file was there before the run."""
    request: dict[str, object]
    """The request in the form that ``_core.MpiRun`` reads."""

    @classmethod
    def of(
        cls, file: Path, program: Path, words: Sequence[str], ranks: int, *, dry: bool = False
    ) -> Sampling:
        """A file's table, or a new one, for a program and its words; a ``dry`` one is not written.

        Raises ``UsageError`` if the file has no table.
        """
        found = file.exists()
        text = (
            bounded.text(file, bounded.TABLE, "name another file for the table", "--compute")
            if found
            else None
        )
        whole.prepare(file, UsageError, dry=dry)
        name = {
            "words": [Path(words[0]).name, *words[1:]],
            "sha256": _hash(program, words),
            "ranks": ranks,
        }
        step, core_memory, *_ = _core.measure_processor() if text is None else ("", "")
        host = {"step": step, "core_memory": core_memory} if text is None else None
        return cls(file, found, {"file": str(file), "text": text, "program": name, "host": host})

    def write(self, text: str) -> None:
        """Write the table with the run's measurements."""
        whole.write(self.file, text, UsageError)

    def why(self, executions: int) -> str:
        """Why the same command may give other records; empty if it gives the same."""
        if not executions:
            return ""
        times = f"{executions:,} execution{'s' * (executions != 1)} of regions"
        if self.found:
            return f"{self.file} lacked {times}, which were measured and added; run again"
        return (
            f"{times} were measured for {self.file}, which is new; runs with this table are equal"
        )


def _hash(program: Path, words: Sequence[str]) -> str:
    """A hash over the program's file and a script: the program as it was called, or the first word
    after it.
    """
    digest = hashlib.sha256()
    for path in (program, *(Path(word) for word in words[:2])):
        if path.is_file() and (path == program or not path.samefile(program)):
            with bounded.opened(path) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
    return digest.hexdigest()
