"""Fills the tables in docs/machines.md from the machine file schema: python docs/machines.py [PAGE]."""

from __future__ import annotations

import sys
from pathlib import Path

from elanite.explain import catalog

BEGIN, END = "<!-- written by docs/machines.py from the schema; do not edit. -->", "<!-- end of the schema -->"


def tables() -> str:
    """A key table for every machine file section."""
    lines: list[str] = []
    parameters = catalog.parameters()
    for section, text in catalog.sections().items():
        name = "[noise.NAME]" if section == "noise" else "[[fault]]" if section == "fault" else f"[{section}]"
        rows = [one for one in parameters if one["parameter"].split(".")[0] == section]
        lines += [f"## {name}", "", text, "", "| key | for example | meaning |", "|---|---|---|"]
        for one in rows:
            key = one["parameter"].rsplit(".", 1)[-1]
            example = f"`{one['value']}`" if one["value"] else ""
            lines.append(f"| `{key}` | {example} | {one['meaning'].replace('|', '&#124;')} |")
        lines.append("")
    return "\n".join(lines)


def filled(page: str) -> str:
    """The page with its tables renewed."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("machines.md")
    path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
