"""Tables of flows with named columns, as scripts and simulators write them.

A flow is a line below the columns' names::

    flow_id,src,dst,size_bytes,start_us,priority
    0,h0,h5,700000,12.5,3

Columns are the ends, a size or bytes, and perhaps a start and a priority; all others are left out.
A unit stands in the cell, or in the column's name; a size without one is bytes, and KB is 1,024
bytes, as everywhere in Elanite. A start needs its unit. Elanite's own lists of flows have this
form, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite.formats import edges, quantities
from elanite.formats.network import Flow, Network, fail

if TYPE_CHECKING:
    from pathlib import Path

NAME = "table of flows"

_SIZE = re.compile(
    r"(?:(?:flow|message|msg|data|transfer|num|tx|total)(?: of)? )?(?:size|bytes|volume)"
    r"(?: (?:in )?(b|bytes?|[kmg]i?b))?"
)
_START = re.compile(
    r"(?:flow )?(?:(?:start|arrival|begin|release|injection)(?: ?time)?|time(?: ?stamp)?)"
    r"(?: (?:in )?([munp]?s|sec|seconds))?"
)
_TIMELY = re.compile(r".*(?:time|start|begin|arriv|release|inject)")
"""A name that may be that of a start."""
_PRIORITY = re.compile(r"(?:traffic )?class|tc|prio(?:rity)?(?: group)?|pg")
_BYTES = {"b": 1, "byte": 1, "bytes": 1} | {
    f"{prefix}{middle}b": 1024**power
    for power, prefix in enumerate("kmg", 1)
    for middle in ("", "i")
}


def read(text: str, file: Path) -> Network:
    """Read a table of flows. Raises ``UsageError``."""
    lines = [
        (line, bare) for line, each in enumerate(text.splitlines(), 1) if (bare := edges.bare(each))
    ]
    first, title = lines[0]
    heading = edges.columns(title)
    if heading is None:
        fail(file, first, "the first line names no columns, such as source,destination,size,start")
    low = [re.sub(r"[\s_.()\[\]-]+", " ", each.lower()).strip() for each in heading.names]
    size, start, priority = (
        next((at for at, name in enumerate(low) if pattern.fullmatch(name)), None)
        for pattern in (_SIZE, _START, _PRIORITY)
    )
    if size is None:
        fail(file, first, "no column has the flows' bytes: name it size_bytes")
    network = Network(NAME)
    if start is None and (name := next(filter(_TIMELY.match, low), "")):
        fail(file, first, f"`{name}` may be the flows' start: name it start_us, or leave it out")
    if start is None:
        network.notes.append("there is no column with starts: all flows start at 0 s")
    known = {*heading.ends, size, start, priority}
    if left := [name for at, name in enumerate(heading.names) if at not in known]:
        network.notes.append(f"columns left out: {', '.join(left)}")
    units = _unit(_SIZE, low[size]), "" if start is None else _unit(_START, low[start])
    for line, row in lines[1:]:
        cells = edges.cells(row, heading.between)
        if len(cells) != len(low):
            fail(file, line, f"{len(cells)} cells stand under {len(low)} names of columns")
        source, destination = (cells[at] for at in heading.ends)
        bytes_ = _bytes(cells[size], units[0])
        if bytes_ is None:
            fail(file, line, f"`{cells[size]}` is no whole number of bytes")
        began = 0 if start is None else _time(cells[start], units[1])
        if began is None:
            fail(
                file,
                line,
                f"`{cells[start or 0]}` is no start with its unit: name the column start_us, or"
                " write 12.5 us",
            )
        group = "0" if priority is None else cells[priority]
        if not re.fullmatch(r"\d{1,9}", group):
            fail(file, line, f"`{group}` is no number of a class")
        network.flows.append(Flow(began, source, destination, bytes_, line, int(group)))
    if not network.flows:
        fail(file, first, "there are no flows: add a line for each")
    if units[0].startswith(("k", "m", "g")):
        network.notes.append("KB, MB and GB are powers of 1,024 bytes")
    return network


def _unit(pattern: re.Pattern[str], name: str) -> str:
    """The unit in a column's name."""
    found = pattern.fullmatch(name)
    return (found[1] or "") if found else ""


def _bytes(cell: str, unit: str) -> int | None:
    found = re.fullmatch(r"(.*?)\s*([kKMG]?i?B|[bB]ytes?)?", cell)
    number = quantities.number(found[1]) if found else None
    if found is None or number is None:
        return None
    value = number * _BYTES[(found[2] or unit or "b").lower()]
    return int(value) if value.denominator == 1 else None


def _time(cell: str, unit: str) -> int | None:
    if quantities.number(cell) is None:
        return quantities.time(cell)
    return quantities.time(f"{cell} {'s' if unit == 'seconds' else unit}") if unit else None
