"""The command ``explore``: a page in the browser that simulates networks, and shows curves, hot
links and packets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from elanite.cli.common import Open, Role, data, say
from elanite.cli.request import Request


@dataclass(frozen=True, kw_only=True)
class Explore(Request):
    """Explore networks in the browser.

    \b
    Examples:
      elanite explore --open
      elanite explore --port 8000
      elanite explore --into site/explore

    The command serves a page on this computer until Ctrl-C, and prints its address. The page
    simulates in the browser, with the engine of this installation, and needs no network: choose a
    machine, topology, routing, flow control, traffic and load, and the page shows the
    latency-throughput curve, latencies, hot links, and packets with the circuits that they hold.
    The address of the page holds every choice. "Copy as experiment file" gives a file for
    `elanite run`, with the same points and digests. --into writes the files of the page for a web
    server, and ends.
    """

    verb: ClassVar[str] = "explore"

    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            metavar="N",
            help="The port of the page.  [default: 8417, or one that is free]",
        ),
        Role.HOST,
    ] = None
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="DIR", help="Write the page into a folder instead of serving it."
        ),
        Role.OUTPUT,
    ] = None
    open_: Open = False

    def execute(self) -> None:
        """Run the command."""
        from elanite.report import explorer

        if self.into is not None:
            self.refuse("--into: the page is written to a folder and not served", "into")
            for file in explorer.copy(self.into):
                data(str(file))
            return
        with explorer.Server(explorer.built(), self.port) as server:
            data(server.address)
            say("the page is served until Ctrl-C")
            if self.open_:
                typer.launch(server.address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                say("ended")
