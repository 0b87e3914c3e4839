"""Fills the tables in docs/machines-*-keys.md from the machine file schema: python
docs/machines.py.
"""

from __future__ import annotations

from pathlib import Path

from elanite.explain import catalog

BEGIN, END = (
    "<!-- written by docs/machines.py from the schema; do not edit. -->",
    "<!-- end of the schema -->",
)

FOLDER = Path(__file__).parent
PAGES = {
    "machines-network-keys.md": (
        "machine",
        "topology",
        "link",
        "switch",
        "packet",
        "fault",
        "faults",
        "fabric",
    ),
    "machines-node-keys.md": (
        *("adapter", "elan4", "bus", "host", "processor"),
        *("files", "tport", "group", "rails", "noise"),
    ),
}
"""Each page's sections."""


def tables(sections: tuple[str, ...]) -> str:
    """A key table for each of these machine file sections."""
    lines: list[str] = []
    parameters = catalog.parameters()
    for section, text in catalog.sections().items():
        if section not in sections:
            continue
        name = (
            "[noise.NAME]"
            if section == "noise"
            else "[[fault]]"
            if section == "fault"
            else f"[{section}]"
        )
        rows = [one for one in parameters if one["parameter"].split(".")[0] == section]
        lines += [f"## {name}", "", text, "", "| key | for example | meaning |", "|---|---|---|"]
        for one in rows:
            key = one["parameter"].rsplit(".", 1)[-1]
            example = f"`{one['value']}`" if one["value"] else ""
            lines.append(f"| `{key}` | {example} | {one['meaning'].replace('|', '&#124;')} |")
        lines.append("")
    return "\n".join(lines)


def filled(page: str, sections: tuple[str, ...]) -> str:
    """The page with the tables of its sections renewed."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{tables(sections)}\n{END}{after}"


if __name__ == "__main__":
    for name, sections in PAGES.items():
        path = FOLDER / name
        path.write_text(filled(path.read_text(encoding="utf-8"), sections), encoding="utf-8")
