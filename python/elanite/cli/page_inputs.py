"""The command ``open``: a page's inputs, written to a folder, and the command for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from elanite.cli.common import data, say
from elanite.cli.request import Request

MOST_NAMES = 12
"""Most files named on the terminal; for more, the command prints their count."""


@dataclass(frozen=True, kw_only=True)
class Open(Request):
    """Unpack the inputs and the command of a page.

    \b
    Examples:
      elanite open my-traffic.html
      elanite open my-traffic.html --into again
      sh again/command.sh

    The folder gets the experiment file, the machine files and all other files that the command
    read, and the command itself as command.sh. The printed line is the same command for the present
    folder. `elanite open` does not run the command, refuses a folder that is not empty, and refuses
    pages with damaged contents or with names that lead out of the folder.
    """

    verb: ClassVar[str] = "open"

    page: Annotated[
        Path,
        typer.Argument(
            metavar="PAGE", help="A page that --html has written, or - for standard input."
        ),
    ]
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="FOLDER",
            help="A new or an empty folder.  [default: the name of the page]",
        ),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite import _core
        from elanite.base import bounded
        from elanite.base.text import counted
        from elanite.report.pages import page_extraction

        found = page_extraction.read(self.page)
        folder = (
            self.into
            if self.into is not None
            else Path("stdin" if self.page == bounded.STDIN else self.page.stem)
        )
        written = page_extraction.unpack(found, folder)
        names = [str(one.relative_to(folder)) for one in written]
        shown = f": {', '.join(names)}" if len(names) <= MOST_NAMES else ""
        say(f"{counted(len(names), 'file')} in {folder}{shown}")
        for name, digest in found.absent.items():
            checksum = f", SHA-256 {digest}" if digest else ""
            say(f"not in the page: {name}{checksum}; put it into {folder} before you rerun")
        if not found.same_model:
            say(
                f"warning: model revision {found.model} made the page, and this Elanite has"
                f" revision {_core.MODEL_REVISION}: results may differ"
            )
        data(page_extraction.line(found, folder))
