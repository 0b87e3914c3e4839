"""Renew the table in docs/io.md, every statement about I/O with every reading, from finished
points.

``make docs`` runs this, with a reproduction's folder and the page.
"""

import re
import sys
from pathlib import Path

from elanite.store import Store
from elanite.validation.readings import Reader, markdown

BETWEEN = r"(?s)(?<=<!-- readings, renewed by `make docs` -->\n).*?(?=<!-- end of readings -->)"


def main() -> None:
    """Write the table between its two marks."""
    out, page = map(Path, sys.argv[1:])
    table = Reader(Store(out / "store")).read()
    text = "\n".join(["", *markdown(table), "", table.counts, "", ""])
    renewed, count = re.subn(BETWEEN, lambda _: text, page.read_text(encoding="utf-8"))
    if count != 1:
        sys.exit(f"error: {page}: has {count} places for the table, not 1")
    page.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    main()
