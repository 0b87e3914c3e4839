"""Measures for several rails (coll2003)."""

from __future__ import annotations

from itertools import permutations
from math import comb
from typing import TYPE_CHECKING

import polars as pl

from elanite.results.numbers import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

FIGURES = {
    ("logarithmic", 8): ("10101010", "11001100", "11110000", "01010101", "00110011", "00001111"),
    ("optimal", 20): (
        "1111111111000000000",
        "1111000000111111000",
        "1000111000111000111",
        "0100100110100110110",
        "0010010101010101101",
        "0001001011001011011",
    ),
}
"""Figures 3 and 4 in our copy of the paper: a text for each rail, a digit for each node.

The copy lacks the last of figure 4's 20 columns.
"""

NUMBERS = {"logarithmic": "1", "optimal": "2"}


def static_bound(rows: pl.DataFrame, figures: Sequence[float]) -> Finding:  # noqa: ARG001 - as all special measures
    """Static allocations: all nodes reach each other, on the fewest rails, and two matrices equal
    the paper's.
    """
    found = {
        (str(name), int(str(nodes))): _matrix(here)
        for (name, nodes), here in rows.group_by("algorithm", "nodes")
    }
    apart = [key for key, matrix in found.items() if not _connected(matrix)]
    # The bound holds for any allocation; each algorithm also reaches its own bound.
    more = [key for key, matrix in found.items() if not _is_least(key[0], key[1], len(matrix))]
    other = [key for key, figure in FIGURES.items() if not _shows(found.get(key, ()), figure)]
    words = [
        _words(name, {nodes: len(matrix) for (one, nodes), matrix in found.items() if one == name})
        for name in NUMBERS
    ]
    words += [
        f"{len(found) - len(apart)} of {len(found)} allocations connected",
        f"{len(found) - len(more)} with the fewest rails",
        f"{len(FIGURES) - len(other)} of {len(FIGURES)} published matrices",
    ]
    return Finding(not (apart or more or other), "; ".join(words))


def _matrix(table: pl.DataFrame) -> tuple[str, ...]:
    """A text for each rail, with 1 for each node that transmits."""
    digits = pl.when(pl.col("role") == "transmit").then(pl.lit("1")).otherwise(pl.lit("0"))
    lines = (
        table.unique(["rail", "node"]).sort("rail", "node").group_by("rail", maintain_order=True)
    )
    return tuple(lines.agg(digits.str.join("").alias("line"))["line"].to_list())


def _connected(matrix: tuple[str, ...]) -> bool:
    """Whether each node transmits to each other node on some rail on which the other node
    receives.
    """
    nodes = list(zip(*matrix, strict=True))
    return all(("1", "0") in zip(one, other, strict=True) for one, other in permutations(nodes, 2))


def _published_nodes(algorithm: str, rails: int) -> int:
    """The published count of nodes that an algorithm connects by some rails; for the optimal
    algorithm, the bound.
    """
    return comb(rails, rails // 2) if algorithm == "optimal" else 2 ** (rails // 2)


def _is_least(algorithm: str, nodes: int, rails: int) -> bool:
    """Whether this number of rails is enough, and a smaller number is not."""
    fewer = rails - (1 if algorithm == "optimal" else 2)
    return _published_nodes(algorithm, fewer) < nodes <= _published_nodes(algorithm, rails)


def _shows(matrix: tuple[str, ...], figure: tuple[str, ...]) -> bool:
    """Whether a matrix has a figure's rows, as far as these are known."""
    return len(matrix) == len(figure) and all(
        row.startswith(line) for row, line in zip(matrix, figure, strict=True)
    )


def _words(algorithm: str, rails: dict[int, int]) -> str:
    """The highest node count with 6 rails, and the rails that one more node needs."""
    most = max((nodes for nodes, count in rails.items() if count == 6), default=0)
    after = f", {most + 1} need {rails[most + 1]}" if most + 1 in rails else ""
    return f"algorithm {NUMBERS[algorithm]}: {most} nodes with 6 rails{after}"


FAIR = 0.1
"""Among nodes that are served fairly, the first has at most this fraction more than the last (no
published figure).
"""


def livelock(rows: pl.DataFrame, figures: Sequence[float]) -> Finding:  # noqa: ARG001 - as all special measures
    """Cyclic requests: without the procedure no request is granted, with it all nodes are served in
    turn.
    """
    without, served = (
        rows.filter(pl.col("machine").str.contains(f"rails.avoidance={on}"))
        for on in ("false", "true")
    )
    ended = without.filter(pl.col("metric") == "messages")["value"]
    messages = served.filter(pl.col("metric") == "messages")
    each = (
        messages.group_by("seed")
        .agg(least=pl.col("value").min(), most=pl.col("value").max())
        .sort("seed")
    )
    pauses = served.filter((pl.col("metric") == "accepted") & (pl.col("value") == 0))
    if ended.is_empty() or each.is_empty():
        raise ValueError("the points are not with the procedure and without")
    fair = (each["most"] <= (1 + FAIR) * each["least"]).all() and (each["least"] > 0).all()
    counts = ", ".join(
        f"{least:.0f} to {most:.0f}" for least, most in each.select("least", "most").iter_rows()
    )
    text = (
        f"without the procedure {ended.sum():.0f} messages in {without['seed'].n_unique()} runs;"
        f" with it {counts} of each node, {len(pauses)} parts of the runs in which a node got"
        " nothing"
    )
    return Finding(ended.sum() == 0 and fair and pauses.is_empty(), text)
