"""Other tools' traces, translated into GOAL: OTF2 archives, Chakra execution traces and DUMPI text.

``translate`` chooses the reader by the files' names, and writes the trace rank by rank. The GOAL
file appears when all of it has been written; after an error there is no file, and an earlier file
with this name stays as it was. Information that GOAL needs and a trace lacks (a size, a partner, an
order) is refused with its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elanite.base import bounded, packed, whole
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.traces.chakra_reading import ReadingOptions
    from elanite.traces.goal_lines import Writing

OTF2 = ".otf2"
CHAKRA = (".et", ".json")
DUMPI = ".txt"
_OTHERS = (
    (rb"\xff\xaa\xddDUMPI", "a binary trace of DUMPI; write its text with dumpi2ascii"),
    (
        rb"(?:\s|//[^\n]*\n|/\*.*?\*/)*num_ranks\b",
        "a trace in GOAL already; use elanite replay",
    ),
    (
        rb"(?:\s|#[^\n]*\n)*(?:Nodes|Connections) +\d",
        "a connection matrix of htsim; use elanite import",
    ),
    (
        rb"\s*<algo\b",
        "an algorithm of MSCCL; write it as Chakra traces with the converter of ASTRA-sim",
    ),
    (
        rb"(?:DATA|MODEL|MICRO|HYBRID_\w+|TRANSFORMER\w*|DLRM\w*)\b[^\n]*\n\s*\d+\s*\n",
        "a workload of ASTRA-sim 1 or SimAI; write it as Chakra traces: chakra_converter Text",
    ),
    (
        rb"(?i)\d+ (?:init|comp_size|compute|i?send|i?recv|bcast|allreduce|barrier)\b",
        "a time-independent trace of SimGrid; record the program with Score-P or DUMPI",
    ),
    (rb"#Paraver\b", "a trace of Paraver; record the program with Score-P or DUMPI"),
)
"""The beginnings of other formats, and remedies."""


@dataclass(frozen=True)
class Translation:
    """The written trace."""

    path: Path
    ranks: int
    operations: int
    notes: tuple[str, ...] = ()
    """The translation's assumptions, in words; the file has them as comments."""


def reader(traces: Sequence[Path], how: ReadingOptions | None = None) -> Writing:
    """The reader for these files: an OTF2 archive's anchor, or all ranks' Chakra traces."""
    for path in traces:
        bounded.check(path, "name the anchor of an OTF2 archive or Chakra traces")
        with packed.opened(path) as (file, _):
            begin = file.read(4096).removeprefix(b"\xef\xbb\xbf")
        for first, what in _OTHERS:
            if re.match(first, begin, re.DOTALL):
                raise UsageError(f"{path}: this is {what}")
    suffixes = {packed.plain(path).suffix for path in traces}
    if suffixes == {OTF2}:
        if len(traces) > 1:
            raise UsageError(f"{traces[1]}: an OTF2 archive has all ranks; name one anchor file")
        if how is not None:
            raise UsageError(
                f"{traces[0]}: groups, rates and --replicate are for Chakra traces; an archive"
                " has all"
            )
        from elanite.traces.otf2 import Archive

        return Archive(traces[0])
    if len(suffixes) == 1 and suffixes <= set(CHAKRA):
        from elanite.traces.chakra import ChakraJob

        return ChakraJob(traces, how)
    if suffixes == {DUMPI}:
        if how is not None:
            raise UsageError(
                f"{traces[0]}: these options are for Chakra traces; a trace of DUMPI has all"
            )
        from elanite.traces import dumpi

        return dumpi.DumpiJob(traces)
    allowed = ", ".join((OTF2, *CHAKRA, f"{DUMPI} (the text of DUMPI)"))
    raise UsageError(
        f"{traces[0]}: names of traces end with one of {allowed}, and all with the same"
    )


def translate(traces: Sequence[Path], out: Path, how: ReadingOptions | None = None) -> Translation:
    """Translate a trace into GOAL, as text, in the file ``out``; ``how`` is for Chakra traces.

    Raises ``UsageError`` for names that cannot be read or written, and ``RunError`` for a trace
    that cannot be translated.
    """
    source = reader(traces, how)
    with whole.replacing(out, UsageError) as aside:
        whole.fill(aside, source.lines())
    return Translation(out, source.ranks, source.operations, tuple(source.notes))
