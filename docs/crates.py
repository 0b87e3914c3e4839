"""Draw the crates and their dependencies: ``python docs/crates.py`` writes ``docs/crates.svg``.

A crate stands above all crates that it uses, in the row below its lowest user. Lines lead to the
crates that it uses, unless another crate between the two implies the line.
"""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import networkx

ROOT = Path(__file__).parents[1]
WIDTH, GAP, HEIGHT, ROW = (
    92,
    14,
    26,
    60,
)  # pixels of a box, between boxes, of a box, from row to row
LANE = 10  # pixels of a line that passes a row
SWEEPS = 30


def uses() -> networkx.DiGraph:
    """Crates and the crates that they use, without lines that others imply."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    crates = [Path(member).name for member in members if member.startswith("crates/")]
    graph = networkx.DiGraph()
    graph.add_nodes_from(crates)
    for crate in crates:
        manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
        used = (
            manifest.get("dependencies", {}).keys() | manifest.get("build-dependencies", {}).keys()
        )
        graph.add_edges_from((crate, other) for other in crates if other in used)
    reduced = networkx.DiGraph()
    reduced.add_nodes_from(crates)
    reduced.add_edges_from(
        edge for edge in graph.edges if edge in networkx.transitive_reduction(graph).edges
    )
    return reduced


def layered(graph: networkx.DiGraph) -> tuple[list[list[str]], list[list[str]]]:
    """Rows with boxes and with places where lines pass, and each line as a chain from row to
    row.
    """
    level: dict[str, int] = {}
    for crate in networkx.topological_sort(graph):
        level[crate] = 1 + max((level[user] for user in graph.predecessors(crate)), default=-1)
    rows: list[list[str]] = [
        [crate for crate in graph if level[crate] == row] for row in range(max(level.values()) + 1)
    ]
    lines = []
    for user, used in graph.edges:
        passed = [f"{user}>{used}>{row}" for row in range(level[user] + 1, level[used])]
        for row, place in enumerate(passed, level[user] + 1):
            rows[row].append(place)
        lines.append([user, *passed, used])
    return rows, lines


def width(place: str) -> int:
    """The width of a box or lane."""
    return LANE if ">" in place else WIDTH


def placed(rows: list[list[str]], lines: list[list[str]]) -> dict[str, float]:
    """The middle of each box and lane: near its neighbours' mean, in the order of these means."""
    near: dict[str, list[str]] = {place: [] for row in rows for place in row}
    for line in lines:
        for one, other in itertools.pairwise(line):
            near[one].append(other)
            near[other].append(one)
    middle = {place: float(index * WIDTH) for row in rows for index, place in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else reversed(rows):
            wish = {
                place: (
                    sum(middle[other] for other in near[place]) / len(near[place])
                    if near[place]
                    else middle[place]
                )
                for place in row
            }
            row.sort(key=lambda place: wish[place])
            total = sum(width(place) + GAP for place in row)
            right = sum(wish[place] for place in row) / len(row) - total / 2
            for place in row:
                half = (width(place) + GAP) / 2
                middle[place] = max(right + half, wish[place] if len(row) < 3 else right + half)
                right = middle[place] + half
    left = min(middle[place] - width(place) / 2 for place in middle)
    return {place: round(x - left + GAP, 1) for place, x in middle.items()}


def drawn() -> str:
    """The picture as SVG."""
    rows, lines = layered(uses())
    middle = placed(rows, lines)
    height = {place: GAP + number * ROW for number, row in enumerate(rows) for place in row}
    wide = max(middle[place] + width(place) / 2 for place in middle) + GAP
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {len(rows) * ROW}"'
            f' width="{wide:g}" font-family="sans-serif" font-size="13" text-anchor="middle">'
        ),
        "<title>The crates of Elanite: each uses the crates to which lines lead down</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for line in lines:
        points = [f"M{middle[line[0]]:g},{height[line[0]] + HEIGHT}"]
        for one, other in itertools.pairwise(line):
            begin, end = height[one] + HEIGHT, height[other]
            bend = (begin + end) / 2
            points.append(
                f"L{middle[one]:g},{begin} C{middle[one]:g},{bend:g} {middle[other]:g},{bend:g}"
                f" {middle[other]:g},{end}"
            )
        parts.append(f'<path d="{" ".join(points)}" fill="none" stroke="#888"/>')
    for crate in (place for row in rows for place in row if ">" not in place):
        x, y = middle[crate] - WIDTH / 2, height[crate]
        parts.append(
            f'<rect x="{x:g}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#eef3fa"'
            ' stroke="#456"/>'
        )
        parts.append(f'<text x="{middle[crate]:g}" y="{y + 18}">{crate}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    (ROOT / "docs" / "crates.svg").write_text(drawn(), encoding="utf-8")
