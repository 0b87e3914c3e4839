"""Write the tables and figure of the pages on speed from bench.json, the history and other
simulators' figures.

``make speed`` runs this.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "benches" / "peers.toml"
HISTORY = ROOT / "benches" / "bench-history.json"


def main() -> None:
    """Replace the text between the marks of the pages in a folder, and draw the history."""
    source, folder = map(Path, sys.argv[1:])
    bench = json.loads(source.read_text(encoding="utf-8"))
    history = json.loads(HISTORY.read_text(encoding="utf-8"))
    tables = [
        ("speed.md", "measured", measured(bench)),
        ("speed-simulators.md", "compared", compared(bench["rows"])),
        ("speed-simulators.md", "in turns", in_turns()),
        ("speed-engine.md", "counts", counts(history[-1])),
    ]
    texts = {page: (folder / page).read_text(encoding="utf-8") for page, _, _ in tables}
    for page, name, lines in tables:
        texts[page] = filled(texts[page], name, lines)
    for page, text in texts.items():
        (folder / page).write_text(text, encoding="utf-8")
    draw_history(history, folder / "speed-history.svg")


def draw_history(history: Sequence[dict[str, Any]], picture: Path) -> None:
    """Instructions per packet over the commits, a line per case."""
    rows = [
        {"commit": entry["commit"], "order": order, "case": case, "instructions": count}
        for order, entry in enumerate(history)
        for case, count in entry["instructions_per_packet"].items()
    ]
    commits = alt.X(
        "commit:N", title="commit", sort=alt.SortField("order"), axis=alt.Axis(labelAngle=-30)
    )
    instructions = alt.Y("instructions:Q", title="instructions per packet")
    chart = alt.Chart(alt.Data(values=rows)).mark_line(point=True)
    chart = chart.encode(x=commits, y=instructions, color=alt.Color("case:N", title=None))
    chart.properties(width=420, height=220, background="white").save(str(picture))


def filled(text: str, name: str, lines: Iterable[str]) -> str:
    """The text with these lines between the marks for a name."""
    marks = re.compile(rf"(<!-- {name}: .*? -->\n).*(<!-- end of {name} -->)", re.DOTALL)
    block = "\n" + "\n".join(lines) + "\n\n"
    text, found = marks.subn(lambda match: match[1] + block + match[2], text)
    if found != 1:
        sys.exit(f"error: the marks of `{name}` are not on the page, or more than once")
    return text


def counts(entry: dict[str, Any]) -> Iterator[str]:
    """An entry's counts, a line per case."""
    fields = ["instructions", "d1_misses", "ll_misses", "mispredictions"]
    yield (
        f"Per packet, at a load of 0.3 (commit {entry['commit']}, {entry['rustc'].split(' (')[0]}):"
    )
    yield ""
    yield "| case | instructions | D1 misses | LL misses | mispredictions |"
    yield "|---|---|---|---|---|"
    for case in entry["instructions_per_packet"]:
        cells = [entry[f"{field}_per_packet"][case] for field in fields]
        yield (
            f"| {case} | {cells[0]:,.0f} | "
            + " | ".join(f"{cell:.1f}" for cell in cells[1:])
            + " |"
        )


def measured(bench: dict[str, Any]) -> Iterator[str]:
    """All benchmark rows."""
    yield f"Measured with one core of: {bench['processor']}."
    yield ""
    yield (
        "| level | nodes | traffic | load | changed | packets per CPU second | events per packet |"
        " set-up, s | peak memory, MB |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in bench["rows"]:
        load = "saturated" if row["load"] is None else row["load"]
        changed = ", ".join(f"`{change}`" for change in row["set"])
        peak = "" if row["peak_memory_bytes"] is None else f"{row['peak_memory_bytes'] / 1e6:,.0f}"
        yield (
            f"| {row['level']} | {row['nodes']:,} | {row['pattern']} | {load} | {changed}"
            f" | {rounded(row['packets_per_cpu_second'])} | {row['events_per_packet']:.1f}"
            f" | {row['set_up_seconds']:.2f} | {peak} |"
        )


def compared(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Packets per CPU second over the other simulators' figures."""
    peers = tomllib.loads(PEERS.read_text(encoding="utf-8"))["peer"]
    works = list(dict.fromkeys(work(figure) for peer in peers for figure in peer["figures"]))
    yield "| simulator | what it moves |" + "".join(f" {work} |" for work in works)
    yield "|---|---|" + "---|" * len(works)
    for peer in peers:
        times = {work(figure): ratio(peer, figure, rows) for figure in peer["figures"]}
        yield f"| {peer['simulator']} | {peer['model']} |" + "".join(
            f" {times.get(work, '')} |" for work in works
        )


def in_turns() -> Iterator[str]:
    """Packets per CPU second for two programs run in turns, and the median of their ratios."""
    for other in tomllib.loads(PEERS.read_text(encoding="utf-8"))["in_turns"]:
        yield (
            f"Elanite {other['commit']} and {other['simulator']}, {other['date']}:"
            f" {other['model']}."
        )
        yield ""
        yield (
            f"| network | nodes | {other['simulator']} | Elanite | Elanite over"
            f" {other['simulator']} |"
        )
        yield "|---|---|---|---|---|"
        for row in other["figures"]:
            theirs, ours = (f"{row[whose]:,}" for whose in ("theirs", "ours"))
            yield f"| {row['network']} | {row['nodes']:,} | {theirs} | {ours} | {row['ratio']:g} |"


def work(figure: dict[str, Any]) -> str:
    """A column's heading."""
    return f"{figure['nodes']:,} nodes, {figure.get('work', figure['load'])}"


def ratio(peer: dict[str, Any], figure: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """The packet rate as a multiple of the other simulator's."""
    wanted = {"level": "fabric", "pattern": "uniform", "set": []} | figure
    theirs = wanted.pop("packets_per_cpu_second")
    wanted.pop("work", None)
    ours = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(ours) != 1:
        sys.exit(
            f"error: {PEERS}: {peer['simulator']}: {len(ours)} rows of the benchmark are {wanted},"
            " not 1"
        )
    return rounded(ours[0]["packets_per_cpu_second"] / theirs)


def rounded(value: float) -> str:
    """Two significant digits: a second run agrees with no more."""
    return f"{float(f'{value:.1e}'):,g}" if value < 1e6 else f"{value / 1e6:.2g} million"


if __name__ == "__main__":
    main()
