"""Edge lists: a line has the two ends of a cable, with more words or cells behind them.

Words behind the ends are Elanite's own (``rate=25Gb/s``), a rate or a time with its unit, a weight,
or the dictionary that networkx writes. A first line with the columns' names gives each cell its
meaning; the cells are separated as the names are, by commas, semicolons, tabs or blanks, and may
stand in quotes::

    source,target,bandwidth (Gb/s),length
    "rack 1",spine,100,7
    "rack 2",spine,20,9

Columns that are no rate and no delay are left out. The ends may stand in any columns, such as
``source_device,source_port,destination_device,destination_port``; with ports, a cable that is
listed at both ends is one. A list in which every edge comes in both directions equally often is
that of a directed graph.
"""

from __future__ import annotations

import ast
import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from elanite.base.text import counted
from elanite.formats import quantities
from elanite.formats.attributes import (
    DELAYS,
    RATES,
    ethernet,
    is_count,
    is_state,
    is_unit,
    is_width,
    quantity,
)
from elanite.formats.drawings import EDGES, AttributedGraph, network
from elanite.formats.network import Network, fail

if TYPE_CHECKING:
    from pathlib import Path

_ENDS = (
    {"source", "target"},
    {"from", "to"},
    {"src", "dst"},
    {"source", "destination"},
    {"node1", "node2"},
)
_THING = (
    "(?:(?:device|host|node|switch|system)(?: (?:name|id|guid))?|hostname|name|id|(?:node)?guid)"
)
_PORT = "(?:port|interface|ifname|if)(?: (?:id|name))?"
_KIND = "(?:kind|type|role|function)"
_SIDES = (
    ("source|src|from|local|near", "[1a]"),
    ("destination|dest|dst|to|target|remote|peer|neighbou?r|far", "[2bz]"),
)
"""The words for a cable's ends in columns' names: ``source device``, ``switch A``."""
_OF_FLOWS = re.compile(
    r"(?:(?:flow|message|msg|data|transfer|num|tx|total)(?: of)? )?(?:size|bytes|volume|packets)"
    r"(?: (?:in )?(?:b|bytes?|[kmg]i?b))?"
    r"|(?:flow )?(?:start|arrival)(?: ?time)?(?: (?:in )?(?:[munp]?s|sec|seconds))?"
    r"|flow(?: ?id| size)?|fct.*"
)
"""Names of columns that only flows have."""
_ARROWS = ("--", "->", "-->", "<->", "<-->", "—")


class Columns(NamedTuple):
    """The columns' names, and the letter between two cells; empty for blanks."""

    names: tuple[str, ...]
    between: str
    ends: tuple[int, int] = (0, 1)
    """The columns with a cable's ends."""
    ports: tuple[int, ...] = ()
    """The columns with the ends' ports, if both have one."""
    kinds: tuple[int, ...] = ()
    """The columns with the ends' kinds, if both have one."""


def bare(line: str) -> str:
    """A line without its remark."""
    return re.split(r"[#%]|//", line, maxsplit=1)[0].strip()


def columns(line: str) -> Columns | None:
    """The columns that a first line names; `None` for an edge."""
    between = next((each for each in "\t;," if each in line), "")
    names = tuple(cells(line, between))
    named = [name.lower() for name in names if name]
    if len(set(named)) < len(named):
        return None
    low = [re.sub(r"[\s_.-]+", " ", name.lower()) for name in names]
    one, other = (
        _column(low, f"(?:{words})(?: {_THING})?|{_THING} ?{letter}|{letter} {_THING}")
        for words, letter in _SIDES
    )
    if len(low) > 2 and one is not None and other is not None:
        return Columns(names, between, (one, other), _both(low, _PORT), _both(low, _KIND))
    found = set(low[:2]) in _ENDS
    if not found and len(low) > 2:
        found = all(
            quantity({name: ""}, RATES) or quantity({name: ""}, DELAYS) or name == "weight"
            for name in low[2:]
        )
    return Columns(names, between) if found else None


def of_flows(line: str) -> bool:
    """Whether a first line names columns of a list of flows: ends with a size or a start."""
    heading = columns(line)
    names = heading.names if heading else ()
    return any(
        _OF_FLOWS.fullmatch(re.sub(r"[\s_.()\[\]-]+", " ", each.lower()).strip()) for each in names
    )


def _both(names: list[str], thing: str) -> tuple[int, ...]:
    """The columns with a thing of both ends; empty if one lacks it."""
    found = (
        _column(names, f"(?:{words})(?: {_THING})? {thing}|{thing} ?{letter}|{letter} {thing}")
        for words, letter in _SIDES
    )
    known = tuple(each for each in found if each is not None)
    return known if len(known) == 2 else ()


def _column(names: list[str], pattern: str) -> int | None:
    """The first column with such a name."""
    return next((at for at, name in enumerate(names) if re.fullmatch(pattern, name)), None)


def words(line: str) -> list[str]:
    """An edge's words."""
    if '"' in line:
        return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^\s,;"]+)', line)]
    found = [word for word in re.split(r"[\s,;]+", line) if word]
    if len(found) > 2 and found[1] in _ARROWS:
        del found[1]
    for at in range(len(found) - 2, 1, -1):
        whole = found[at] + found[at + 1]
        if (
            quantities.number(found[at]) is not None
            and found[at + 1][0].isalpha()
            and (quantities.rate(whole) or quantities.time(whole)) is not None
        ):
            found[at : at + 2] = [whole]
    return found


def edges(text: str, file: Path) -> Network:
    """Read an edge list, with or without Elanite's node and switch lines. Raises ``UsageError``."""
    drawn = AttributedGraph(
        directed=text.startswith("%%MatrixMarket") and " general" in text.partition("\n")[0].lower()
    )
    weights: list[tuple[int, str]] = []
    both, own = 0, False
    joined: set[frozenset[tuple[str, str]]] = set()
    sized = _matrix(text)
    heading: Columns | None = None
    for line, written in enumerate(text.splitlines(), 1):
        data, rest = _dictionary(bare(written), file, line)
        if not rest or line == sized:
            continue
        if not drawn.edges and heading is None and (heading := columns(rest)):
            continue
        if heading and (row := _row(heading, rest)):
            if row.plugs and row.plugs in joined:
                both += 1
                continue
            joined.add(row.plugs)
            drawn.edges.append((*row.ends, data | row.data, line))
            for end, kind in zip(row.ends, row.kinds, strict=False):
                if kind:
                    _kind(drawn, end, kind, file, line)
            continue
        found = words(rest)
        if found[:1] in (["switch"], ["node"]) and len(found) >= 2:
            if found[1] in drawn.vertices:
                fail(
                    file,
                    line,
                    f"the name `{found[1]}` is taken: line {drawn.vertices[found[1]][1]} has it",
                )
            own = True
            drawn.vertex(found[1], {"kind": found[0]} | _pairs(found[2:], file, line), line)
            continue
        if len(found) < 2:
            fail(
                file,
                line,
                f"`{rest}` is alone: a line is a switch, a node, or the two ends of a cable",
            )
        if re.fullmatch(r"[A-Za-z_]+=.*", found[1]):
            fail(file, line, f"`{found[1]}` stands where the other end of `{found[0]}` belongs")
        if len(found) == 3 and quantities.number(found[2]) is not None:
            weights.append((line, found[2]))
            found = found[:2]
        drawn.edges.append((found[0], found[1], data | _pairs(found[2:], file, line), line))
    if sized is None:
        _counted(drawn)
    if weights:
        _refuse_lists(drawn, weights, file)
        drawn.notes.append(
            f"the third words of {len(weights)} lines are weights without a unit: left out"
        )
    if both:
        drawn.notes.append(
            f"{counted(both, 'cable')} listed at both ends, by the same ports: one each"
        )
    if heading and (left := _left(heading)):
        drawn.notes.append(f"columns left out: {', '.join(left)}")
    if not own:
        drawn.directed = drawn.directed or _both_ways(drawn)
        for one, other, _, place in drawn.edges:
            drawn.vertex(one, {}, place)
            drawn.vertex(other, {}, place)
    return network(drawn, EDGES, file)


def _refuse_lists(drawn: AttributedGraph, weights: list[tuple[int, str]], file: Path) -> None:
    """Refuses a third word that may be a neighbour: one on some lines, with a vertex's name."""
    ends = {end for edge in drawn.edges for end in edge[:2]}
    if len(weights) < len(drawn.edges):
        for line, word in weights:
            if word in ends:
                fail(
                    file,
                    line,
                    f"`{word}` may be a weight or a neighbour: write a weight on every line, or"
                    " none; an adjacency list becomes a list with a pair on each line",
                )


def _kind(drawn: AttributedGraph, name: str, kind: str, file: Path, line: int) -> None:
    """Give a vertex the kind of its column. Refuses a second kind."""
    known, first = drawn.vertices.get(name, ({}, None))
    if known and known["kind"] != kind:
        fail(file, line, f"`{name}` is a {kind} here, and a {known['kind']} in line {first}")
    drawn.vertex(name, {"kind": kind}, line)


def _is_quantity(name: str) -> bool:
    """Whether a column is a rate, its unit or width, a delay, a number of cables, or a state."""
    return (
        is_count(name)
        or is_state(name)
        or is_width(name)
        or is_unit(name)
        or (quantity({name: ""}, RATES) or quantity({name: ""}, DELAYS)) is not None
    )


def cells(line: str, between: str) -> list[str]:
    """A line's cells between two such letters; between blanks without one."""
    if not between:
        return line.split()
    return [
        cell.strip()
        for cell in next(csv.reader([line], delimiter=between, skipinitialspace=True), [])
    ]


class CableRow(NamedTuple):
    """A line with the heading's cells."""

    ends: tuple[str, str]
    data: dict[str, object]
    """Its quantities."""
    plugs: frozenset[tuple[str, str]]
    """The ends with their ports; empty without ports."""
    kinds: tuple[str, ...]
    """The ends' kinds, if the columns have them."""


def _left(heading: Columns) -> list[str]:
    """The columns that are neither ends, ports, kinds nor quantities."""
    known = {*heading.ends, *heading.ports, *heading.kinds}
    return [
        name for at, name in enumerate(heading.names) if at not in known and not _is_quantity(name)
    ]


def _row(heading: Columns, line: str) -> CableRow | None:
    """A line with the heading's cells; `None` for a line of another kind."""
    row = cells(line, heading.between)
    if not max(heading.ends) < len(row) <= len(heading.names):
        return None
    ends = row[heading.ends[0]], row[heading.ends[1]]
    if not all(ends) or row[0] in ("switch", "node"):
        return None
    if not heading.between and len(row) != len(heading.names):
        return None
    named = dict(zip(heading.names, row, strict=False))
    ports = [row[at] for at in heading.ports if at < len(row)]
    return CableRow(
        ends,
        {name: cell for name, cell in named.items() if _is_quantity(name)},
        frozenset(zip(ends, ports, strict=True)) if len(ports) == 2 and all(ports) else frozenset(),
        tuple(row[at] for at in heading.kinds if at < len(row)),
    )


def _both_ways(drawn: AttributedGraph) -> bool:
    """Whether every edge comes in both directions equally often."""
    counts = Counter((one, other) for one, other, _, _ in drawn.edges)
    return bool(counts) and all(
        one != other and counts[other, one] == each for (one, other), each in counts.items()
    )


def _matrix(text: str) -> int | None:
    """The line in a Matrix Market matrix with its rows, columns and entries; `None` for another
    text.
    """
    lines = enumerate(text.splitlines(), 1)
    if not text.startswith("%%MatrixMarket"):
        return None
    return next(
        (line for line, written in lines if written.strip() and not written.startswith("%")), None
    )


def _counted(drawn: AttributedGraph) -> None:
    """Removes a first line with the vertex and edge counts.

    An edge between such numbers is one if they are ends elsewhere and the ends are not numbered in
    a row.
    """
    if drawn.edges and not drawn.vertices:
        vertices, count, _, line = drawn.edges[0]
        ends = {end for edge in drawn.edges[1:] for end in edge[:2]}
        if (vertices, count) != (str(len(ends)), str(len(drawn.edges) - 1)):
            return
        rows = ({str(number) for number in range(start, start + len(ends))} for start in (0, 1))
        if not ends & {vertices, count} or ends in rows:
            del drawn.edges[0]
            drawn.notes.append(f"line {line} has the numbers of vertices and edges, and is no edge")


def _dictionary(text: str, file: Path, line: int) -> tuple[dict[str, object], str]:
    """The dictionary at the end of a networkx line, and the line's rest."""
    start = text.find("{")
    if start < 0:
        return {}, text
    try:
        data = ast.literal_eval(text[start:])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        data = None  # its words name the parser's objects
    if not isinstance(data, dict):
        fail(file, line, "the data of the edge are no dictionary: write {'rate': '25 Gb/s'}")
    return {str(key): value for key, value in data.items()}, text[:start].strip()


def _pairs(found: list[str], file: Path, line: int) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for word in found:
        key, equals, value = word.partition("=")
        if ethernet(word) is not None:
            key, equals, value = "rate", "=", word
        elif quantities.number(word) is None and quantities.time(word) is not None:
            key, equals, value = "delay", "=", word
        if not equals or key not in ("rate", "delay", "forward"):
            fail(
                file,
                line,
                f"`{word}` is no word of an edge: write rate=25Gb/s, delay=500ns, or a weight"
                " alone",
            )
        pairs[key] = value
    return pairs
