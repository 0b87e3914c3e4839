"""Datatypes: memory layouts for a basic datatype's elements, as MPI calls and as plain offsets.

A program checks MPI's work by the plain offsets, *runs*, so these do not come from MPI. Sender and
receiver use different layout kinds for the same basic datatype; MPI requires only matching basic
datatypes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .steps import Layout

BASIC = {
    **dict.fromkeys(("MPI_BYTE", "MPI_CHAR", "MPI_UINT8_T"), 1),
    **dict.fromkeys(("MPI_SHORT", "MPI_UINT16_T"), 2),
    **dict.fromkeys(("MPI_INT", "MPI_FLOAT", "MPI_UINT32_T"), 4),
    **dict.fromkeys(("MPI_DOUBLE", "MPI_INT64_T", "MPI_LONG", "MPI_UINT64_T"), 8),
}
"""Basic datatypes and their bytes."""

KINDS = (
    *("plain", "contiguous", "duplicate", "vector", "tail", "pieces", "backwards"),
    *("blocks", "spread", "columns", "subarray", "nested", "structure"),
)

UNIT_KINDS = (
    "plain",
    "contiguous",
    "vector",
    "pieces",
    "blocks",
    "subarray",
    "structure",
    "spread",
)
"""Layouts with elements that can follow each other, and that can be one element."""

MOST_BLOCKS = 4096
"""For a datatype with many holes: more take time without new findings."""

Run = tuple[int, int, int, int]
"""Offset, block bytes, block count, and block distance."""


@dataclass(frozen=True)
class Shape:
    """A layout with this element count: the expression that makes the datatype, its count, and its
    meaning.
    """

    type: str
    count: int
    extent: int
    runs: tuple[Run, ...]

    @property
    def size(self) -> int:
        return sum(length * times for _, length, times, _ in self.runs)

    @property
    def end(self) -> int:
        """The end of the elements' last byte."""
        last = max(at + (times - 1) * step + length for at, length, times, step in self.runs)
        return last + self.extent * max(self.count - 1, 0)

    def single(self) -> Shape:
        """The same as one element, where it is several."""
        if self.count == 1:
            return self
        if self.runs == ((0, self.extent, 1, 0),):
            whole = self.extent * self.count
            return Shape(f"contiguous({self.count}, {self.type})", 1, whole, ((0, whole, 1, 0),))
        if len(self.runs) == 1 and self.runs[0][2] == 1:
            at, length, _, _ = self.runs[0]
            runs = ((at, length, self.count, self.extent),)
            return Shape(
                f"contiguous({self.count}, {self.type})", 1, self.extent * self.count, runs
            )
        raise AssertionError(f"several elements of {self.type}")


def factor(number: int, rng: random.Random, limit: int = 64) -> int:
    """A divisor, at random: 1 if there are no others up to the limit."""
    return rng.choice([one for one in range(1, limit + 1) if number % one == 0] or [1])


def _ints(values: list[int]) -> str:
    return "(const int[]){" + ", ".join(map(str, values)) + "}"


def _places(values: list[int]) -> str:
    return "(const MPI_Aint[]){" + ", ".join(map(str, values)) + "}"


def shape(layout: Layout, basic: str, elements: int) -> Shape:
    """So many elements in a layout; kinds that cannot have so many fall back to simpler ones."""
    rng = random.Random(f"{layout.kind}/{layout.salt}/{basic}")
    size = BASIC[basic]
    plain = Shape(basic, elements, size, ((0, size, 1, 0),))
    if elements == 0:
        return plain
    match layout.kind:
        case "contiguous":
            part = factor(elements, rng)
            return Shape(
                f"contiguous({part}, {basic})",
                elements // part,
                part * size,
                ((0, part * size, 1, 0),),
            )
        case "duplicate":
            return Shape(f"duplicate({basic})", elements, size, ((0, size, 1, 0),))
        case "vector":
            return _vector(basic, size, elements, factor(elements, rng), rng) or plain
        case "tail":
            return _tail(basic, size, elements, rng)
        case "pieces" | "backwards":
            return _pieces(basic, size, elements, layout.kind == "backwards", rng)
        case "blocks":
            return _blocks(basic, size, elements, rng) or plain
        case "spread" if elements <= 16 * MOST_BLOCKS:
            extent = size * rng.randint(1, 4)
            return Shape(f"resized({basic}, 0, {extent})", elements, extent, ((0, size, 1, 0),))
        case "columns" if elements <= MOST_BLOCKS:
            columns = factor(elements, rng)
            rows = elements // columns
            made = f"resized(vector({rows}, 1, {columns * size}, {basic}), 0, {size})"
            return Shape(made, columns, size, ((0, size, rows, columns * size),))
        case "subarray":
            return _subarray(basic, size, elements, rng) or plain
        case "nested":
            return _nested(basic, size, elements, rng) or plain
        case "structure":
            return _structure(basic, size, elements, rng)
    return plain


def _vector(basic: str, size: int, elements: int, length: int, rng: random.Random) -> Shape | None:
    count = elements // length
    if count > MOST_BLOCKS:
        return None
    step = size * (length + rng.choice((1, 2, 3, 8)))
    made = f"vector({count}, {length}, {step}, {basic})"
    return Shape(made, 1, (count - 1) * step + length * size, ((0, length * size, count, step),))


def _tail(basic: str, size: int, elements: int, rng: random.Random) -> Shape:
    """Equal blocks, and the remainder."""
    length = max(rng.randint(1, 40), elements // MOST_BLOCKS + 1)
    count, left = divmod(elements, length)
    step = size * (length + rng.randint(1, 3))
    lead = size * rng.randint(0, 2)
    parts: list[tuple[int, int, str]] = []
    runs: list[Run] = []
    if count:
        parts.append((lead, 1, f"vector({count}, {length}, {step}, {basic})"))
        runs.append((lead, length * size, count, step))
    if left:
        parts.append((lead + count * step, left, basic))
        runs.append((lead + count * step, left * size, 1, 0))
    return _struct(parts, runs, lead + count * step + left * size + size)


def _struct(parts: list[tuple[int, int, str]], runs: list[Run], extent: int) -> Shape:
    types = "(const MPI_Datatype[]){" + ", ".join(one for _, _, one in parts) + "}"
    lengths, places = _ints([length for _, length, _ in parts]), _places([at for at, _, _ in parts])
    made = f"resized(structure({len(parts)}, {lengths}, {places}, {types}), 0, {extent})"
    return Shape(made, 1, extent, tuple(runs))


def _cut(elements: int, most: int, rng: random.Random) -> list[int]:
    """Piece lengths; some may be empty."""
    cuts = sorted(rng.randint(0, elements) for _ in range(rng.randint(0, most - 1)))
    return [high - low for low, high in zip([0, *cuts], [*cuts, elements], strict=True)]


def _pieces(basic: str, size: int, elements: int, backwards: bool, rng: random.Random) -> Shape:
    """Pieces with different lengths, in any memory order, some before the start."""
    lengths = _cut(elements, 8, rng)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    at = -size * rng.randint(0, 12) if backwards else size * rng.randint(0, 4)
    places = [0] * len(lengths)
    for piece in order:
        places[piece] = at
        at += size * (lengths[piece] + rng.choice((0, 1, 2, 7)))
    used = [(place, length) for place, length in zip(places, lengths, strict=True) if length]
    runs = tuple((place, length * size, 1, 0) for place, length in used)
    low = min(0, *(place for place, _ in used), 0)
    made = f"indexed({len(lengths)}, {_ints(lengths)}, {_places(places)}, {basic})"
    extent = at - low
    return Shape(f"resized({made}, {low}, {extent})", 1, extent, runs)


def _blocks(basic: str, size: int, elements: int, rng: random.Random) -> Shape | None:
    count = factor(elements, rng, 12)
    length = elements // count
    order = list(range(count))
    rng.shuffle(order)
    gap = rng.randint(1, 3)
    places = [one * (length + gap) for one in order]
    runs = tuple((place * size, length * size, 1, 0) for place in places)
    extent = count * (length + gap) * size
    return Shape(
        f"resized(blocks({count}, {length}, {_ints(places)}, {basic}), 0, {extent})",
        1,
        extent,
        runs,
    )


def _subarray(basic: str, size: int, elements: int, rng: random.Random) -> Shape | None:
    rows = factor(elements, rng)
    columns = elements // rows
    row, column = rng.randint(0, 2), rng.randint(0, 3)
    all_rows, all_columns = rows + row + rng.randint(0, 2), columns + column + rng.randint(0, 2)
    made = f"subarray({rows}, {columns}, {all_rows}, {all_columns}, {row}, {column}, {basic})"
    runs = (((row * all_columns + column) * size, columns * size, rows, all_columns * size),)
    return Shape(made, 1, all_rows * all_columns * size, runs)


def _nested(basic: str, size: int, elements: int, rng: random.Random) -> Shape | None:
    outer = factor(elements, rng, 12)
    inner = _vector(basic, size, elements // outer, factor(elements // outer, rng), rng)
    if inner is None:
        return None
    step = inner.extent + size * rng.randint(0, 5)
    ((_, length, times, apart),) = inner.runs
    runs = tuple((one * step, length, times, apart) for one in range(outer))
    return Shape(
        f"vector({outer}, 1, {step}, {inner.type})", 1, (outer - 1) * step + inner.extent, runs
    )


def _structure(basic: str, size: int, elements: int, rng: random.Random) -> Shape:
    """A structure with single elements, arrays and vectors of the basic datatype."""
    parts: list[tuple[int, int, str]] = []
    runs: list[Run] = []
    at = size * rng.randint(0, 3)
    for length in _cut(elements, 5, rng):
        if not length:
            continue
        way = rng.randrange(3)
        if way == 0 and length <= MOST_BLOCKS:
            parts.append((at, 1, f"vector({length}, 1, {2 * size}, {basic})"))
            runs.append((at, size, length, 2 * size))
            at += 2 * size * length
        else:
            parts.append(
                (at, length, basic) if way == 1 else (at, 1, f"contiguous({length}, {basic})")
            )
            runs.append((at, length * size, 1, 0))
            at += size * length
        # Never without a gap: MPICH 5.0.2 counts two arrays that touch both as one piece and as
        # two, and crashes.
        at += size * rng.choice((1, 1, 4))
    return _struct(parts, runs, at)
