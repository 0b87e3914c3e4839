"""The simulator's speed on each network kind, per link crossed by a packet, and the memory per
node.

python benches/kinds.py [--renew]   prints a table; --renew also writes it into docs/speed.md

All networks have 1,024 or 16,384 nodes, and the same links, buffers, channels, packets and load,
which they all carry: wormhole switching, 4 channels, adapters with a memory port per direction,
uniform traffic at a tenth of the link rate. The rows with equal size run in turns, fifteen times. A
row is the median of its runs, and its speed against the first row is the median of the fifteen
ratios: a disturbance mostly affects all rows in a turn.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import bench

RUNS = 15
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
BEGIN, END = "<!-- kinds: written by benches/kinds.py; do not edit. -->", "<!-- end of kinds -->"
SAME = ["load=0.1", "switch.circuit=wormhole", "link.channels=4", "adapter.share_burst=0 flits"]
# By quaternary tree levels, 4 to their power nodes: cycles that take some seconds.
CYCLES = {5: 100_000, 7: 6_000}


def other(kind: str, **keys: object) -> list[str]:
    """The words for a network that is not a quaternary tree."""
    kept = [f"topology.kind={kind}"] if kind != "fat-tree" else []
    return ["topology=other", *kept, *(f"topology.{key}={value}" for key, value in keys.items())]


def tree(down: list[int], up: list[int]) -> tuple[str, list[str]]:
    """A three-level fat tree as a graph: its cables, and its top."""
    leaves, middle = down[1] * down[2], up[0] * down[2]
    tops = [f"t{number}" for number in range(up[0] * up[1])]
    lines = [f"switch {top}" for top in tops]
    lines += [f"switch m{number}" for number in range(middle)]
    lines += [f"switch l{number}" for number in range(leaves)]
    lines += [f"node n{number}" for number in range(down[0] * leaves)]
    lines += [f"n{number} l{number // down[0]}" for number in range(down[0] * leaves)]
    for leaf in range(leaves):
        lines += [f"l{leaf} m{leaf // down[1] * up[0] + port}" for port in range(up[0])]
    for number in range(middle):
        lines += [f"m{number} t{number % up[0] * up[1] + port}" for port in range(up[1])]
    return "\n".join(lines), tops


def graph(down: list[int], up: list[int], folder: Path, *, minimal: bool = False) -> list[str]:
    """The same tree with up*/down* or minimal routing, in a file in the folder."""
    cables, tops = tree(down, up)
    file = folder / f"tree-{len(tops)}.txt"
    file.write_text(cables, encoding="utf-8")
    quoted = ", ".join(f'"{top}"' for top in tops)
    keys = {"routing": "minimal"} if minimal else {"roots": f"[{quoted}]"}
    return [*other("graph", **keys), f"graph={file}"]


def networks(levels: int, folder: Path) -> dict[str, list[str]]:
    """The networks with a size, by their names in the table; the first one is the reference."""
    small = levels == 5
    down, up = ([16, 8, 8], [8, 8]) if small else ([16, 16, 64], [16, 16])
    sizes = [16, 8, 8] if small else [16, 16, 8, 8]
    dragonfly: dict[str, object] = (
        {"terminals": 4, "group": 8, "global": 4, "groups": 33}
        if small
        else {"terminals": 8, "group": 16, "global": 8, "groups": 129}
    )
    rows: dict[str, object] = {"dimensions": [8, 8] if small else [16, 8, 8], "terminals": 16}
    return {
        f"fat tree of {levels} levels": [],
        "fat tree of 3 levels": other("fat-tree", down=down, up=up),
        "the same, rail-optimised": other(
            "fat-tree", down=down, up=up, wiring="rail-optimised", adapters=8
        ),
        "the same as a graph": graph(down, up, folder),
        "the same as a graph, minimal": graph(down, up, folder, minimal=True),
        "torus": other("torus", dimensions=sizes),
        "mesh": other("torus", dimensions=sizes, wraparound="false"),
        "dragonfly, minimal": other("dragonfly", routing="minimal", **dragonfly),
        "dragonfly, UGAL-L": other("dragonfly", routing="ugal-local", **dragonfly),
        "HyperX, minimal": other("hyperx", routing="minimal", **rows),
        "HyperX, UGAL-L": other("hyperx", routing="ugal-local", **rows),
    }


def line(name: str, runs: list[dict[str, Any]], first: list[dict[str, Any]]) -> str:
    """A table row, from a network's runs and the reference's runs in the same turns."""
    per_link = [[1e9 * run["cpu_seconds"] / run["links"] for run in each] for each in (runs, first)]
    speed = median(of_first / own for own, of_first in zip(*per_link, strict=True))
    row = sorted(runs, key=lambda run: run["cpu_seconds"])[RUNS // 2]
    cells = [
        f"{row['nodes']:,}",
        name,
        f"{row['links'] / row['packets']:.1f}",
        f"{row['packets_per_cpu_second']:,.0f}",
        f"{median(per_link[0]):.0f}",
        f"{speed:.2f}",
        f"{row['events'] / row['links']:.1f}",
        f"{median(run['peak_memory_bytes'] for run in runs) / row['nodes'] / 1024:.1f}",
        f"{median(run['set_up_seconds'] for run in runs):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| nodes | network | links of a packet | packets per CPU second | ns per link | speed per link,"
    " of the first | events per link | KB per node | set-up, s"
    " |\n|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Measure, print, and write the page."""
    with TemporaryDirectory() as folder:
        lines = measured(Path(folder))
    if "--renew" in sys.argv[1:]:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        page = [
            before + BEGIN,
            f"Measured with one core of: {bench.processor()}.",
            "\n".join(lines),
            END + after,
        ]
        PAGE.write_text("\n\n".join(page), encoding="utf-8")


def measured(folder: Path) -> list[str]:
    """The table's lines, printed size by size."""
    program = bench.build()
    lines = [HEAD]
    print(HEAD)
    for levels, cycles in CYCLES.items():
        words = {
            name: [f"levels={levels}", f"cycles={cycles}", *SAME, *more]
            for name, more in networks(levels, folder).items()
        }
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in words}
        for _ in range(RUNS):
            for name, each in words.items():
                runs[name].append(bench.measure(program, each))
        first = next(iter(runs.values()))
        lines += [line(name, each, first) for name, each in runs.items()]
        print("\n".join(lines[-len(runs) :]), flush=True)
    return lines


if __name__ == "__main__":
    main()
