"""Graphs of METIS, as partitioners read them: also those of Chaco, KaHIP and Scotch's ``gcv``.

The first line has the numbers of vertices and edges, a format of three digits (sizes, weights of
vertices, weights of edges), and the number of weights of a vertex. Each further line belongs to a
vertex, from 1 on, and lists its neighbours, behind its size and weights and with the weight of each
edge where the format says so; an empty line is a vertex without neighbours. Lines that begin with
``%`` are comments::

    % a ring
    4 4
    2 4
    1 3
    2 4
    1 3

Both lines of an edge list it. Vertices are switches, and weights have no unit and are left out.

Source: the METIS 5.1 manual, section 4.1.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from elanite.formats.network import Cable, Network, checked, fail

if TYPE_CHECKING:
    from pathlib import Path

NAME = "graph of METIS"


class _Head(NamedTuple):
    """The first line's numbers."""

    line: int
    vertices: int
    edges: int
    before: int
    """Words before a vertex's neighbours."""
    step: int
    """Words of a neighbour."""


def recognised(sample: str, *, whole: bool) -> bool:
    """Whether a text, or its beginning, lists each vertex's neighbours behind a METIS head."""
    try:
        head, rows = _read(sample)
        listed = [[int(word) for word in words] for _, words in (rows if whole else rows[:-1])]
    except ValueError:
        return False
    if not 2 <= len(listed) <= head.vertices or (whole and len(listed) < head.vertices):
        return False
    near: list[list[int]] = []
    for words in listed:
        if len(words) < head.before or (len(words) - head.before) % head.step:
            return False
        near.append(words[head.before :: head.step])
    for vertex, others in enumerate(near, 1):
        for other in others:
            if not 1 <= other <= head.vertices:
                return False
            if other <= len(near) and vertex not in near[other - 1]:
                return False
    return not whole or sum(map(len, near)) == 2 * head.edges


def read(text: str, file: Path) -> Network:
    """Read a graph. Raises ``UsageError``."""
    head, rows = _read(text)
    network = Network(NAME)
    if len(rows) != head.vertices:
        fail(file, head.line, f"{head.vertices} vertices are stated, and {len(rows)} lines follow")
    for vertex, (line, words) in enumerate(rows, 1):
        network.switches[str(vertex)] = line
        for word in words[head.before :: head.step]:
            other = int(word) if word.isdecimal() and len(word) < 10 else 0
            if not 1 <= other <= head.vertices:
                fail(file, line, f"there is no vertex {word}: they are 1 to {head.vertices}")
            if vertex < other:
                network.cables.append(Cable(str(vertex), str(other), None, None, line))
    if head.before or head.step > 1:
        network.notes.append("weights have no unit: left out")
    network.terminals = 1
    return checked(network, file)


def _read(text: str) -> tuple[_Head, list[tuple[int, list[str]]]]:
    """The head, and the words of each vertex's line. Raises ``ValueError`` for another text."""
    lines = [
        (line, written.split())
        for line, written in enumerate(text.removesuffix("\n").split("\n"), 1)
        if not written.lstrip().startswith("%")
    ]
    lines = lines[next((at for at, (_, words) in enumerate(lines) if words), len(lines)) :]
    line, words = lines[0] if lines else (0, [])
    if not 2 <= len(words) <= 4 or not all(map(str.isdecimal, words)):
        raise ValueError
    form = words[2] if len(words) > 2 else "0"
    if not re.fullmatch(r"[01]{1,3}", form):
        raise ValueError
    sizes, weights, step = (digit == "1" for digit in form.zfill(3))
    many = int(words[3]) if len(words) > 3 else int(weights)
    head = _Head(line, int(words[0]), int(words[1]), sizes + many * weights, 1 + step)
    rows = lines[1:]
    while len(rows) > head.vertices and not rows[-1][1]:
        rows.pop()
    return head, rows
