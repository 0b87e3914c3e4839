"""The command ``import``: machine files and flow lists from other tools' descriptions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base import whole
from elanite.cli import completion
from elanite.cli.common import data, say
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.formats.network import Network


@dataclass(frozen=True, kw_only=True)
class Import(Request):
    """Write a machine file and a list of flows from the files of another tool.

    \b
    Examples:
      elanite import fabric.ibnetdiscover
      elanite import topology.txt flow.txt --output two-rates.toml
      elanite import platform.xml --from slingshot-dragonfly
      elanite import edges.txt --terminals 4
      ibnetdiscover | elanite import - --output fabric.toml

    The format is recognised by the content: output of ibnetdiscover, topology.txt and flow.txt of
    ns-3 (HPCC, ASTRA-sim, SimAI), .topo and .cm of htsim, anynet of BookSim2, platforms of SimGrid
    (XML), topology.conf and topology.yaml of Slurm, InfraGraph (YAML, JSON, and its graph), METIS,
    lists of edges, GraphML, GML, node-link JSON and DOT, and tables of flows. A file of another
    format is refused. Files may be compressed by gzip, bzip2 or xz.

    \b
    Written beside each other, by the name of the output:
      NAME.toml            the machine
      NAME.graph.txt       its switches, nodes and cables
      NAME.routes.txt      forwarding tables, if hosts have several cables
      NAME.placement.txt   its hosts by name, as a placement of ranks
      NAME.flows.csv       the flows, if a file has any
      NAME.traffic.toml    an experiment with these flows on the machine
      NAME.goal            the flows as a trace, if some wait for others

    Comments at the head of each file list assumptions and omissions. Adapters, buses, hosts and the
    rules of switches are those of the machine of --from. An existing file is never overwritten.
    """

    verb: ClassVar[str] = "import"

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="A network, or lists of flows, or a network with such lists."
        ),
    ]
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The machine file.  [default: FILE's name, here]"
        ),
    ] = None
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="MACHINE",
            help="The machine that gives adapters, hosts and rules of switches.",
            autocompletion=completion.machines,
        ),
    ] = "infiniband-ndr"
    terminals: Annotated[
        int | None,
        typer.Option(
            "--terminals",
            min=1,
            max=1024,
            metavar="N",
            help="Nodes of each switch, of a graph without nodes.",
        ),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite import formats
        from elanite.base.text import word
        from elanite.errors import UsageError
        from elanite.inputs import network_import, network_trace, network_traffic, sources

        network: Network | None = None
        origin = ""
        lists: list[tuple[str, Network]] = []
        for file in self.files:
            format_, found = formats.read(file)
            if format_.flows:
                lists.append((file.name, found))
            elif network is not None:
                raise UsageError(
                    f"{origin} and {file.name} are both networks: import one at a time"
                )
            else:
                network, origin = found, file.name
        if self.terminals is not None:
            if network is None or network.nodes:
                raise UsageError("--terminals: the network has nodes of its own; leave it out")
            network.terminals = self.terminals
        target = self.output or Path(
            f"{self.files[0].name.split('.')[0].strip('-') or 'imported'}.toml"
        )
        if target.suffix != ".toml":
            raise UsageError(f"--output {target}: a machine file ends in .toml")
        name = target.stem
        texts: dict[str, str] = {}
        notes: list[str] = []
        if network is not None:
            made = network_import.machine(
                network, origin, name, sources.read("machine", self.from_)
            )
            texts, notes = dict(made.texts), list(made.notes)
            if any(not each.isdecimal() for each in network.nodes):
                texts[".placement.txt"] = network_traffic.placement(network)
        if network_trace.needed(lists):
            texts[".goal"], more = network_trace.trace(lists, network)
            notes += more
        elif lists:
            texts[".flows.csv"], more = network_traffic.flows(lists, network)
            notes += more
            if network is not None:
                classes = len(network_traffic.priorities(lists))
                files = f"{name}.toml", f"{name}.flows.csv"
                texts[".traffic.toml"] = network_traffic.experiment(
                    name, *files, classes, made.channels
                )
        written = self._write(texts, target)
        for each in written:
            data(str(each))
        for note in notes:
            say(f"note: {note}")
        if network is not None:
            made_file = word(target)
            say(f"next: elanite check {made_file}; elanite new experiment NAME --from {made_file}")
        if ".goal" in texts:
            machine = word(target) if network is not None else "MACHINE"
            say(f"next: elanite replay {word(target.with_suffix('.goal'))} --machine {machine}")

    def _write(self, texts: dict[str, str], target: Path) -> list[Path]:
        """Write all files, unless one exists; the machine last."""
        from elanite.errors import ElaniteError, UsageError

        paths = {target.with_name(f"{target.stem}{ending}"): text for ending, text in texts.items()}
        for path in paths:
            if path.exists() or path.is_symlink():
                raise UsageError(f"{path} exists; remove it, or give another name by --output")
        written: list[Path] = []
        last = {path: text for path, text in paths.items() if path.suffix == ".toml"}
        for path, text in [
            *((path, text) for path, text in paths.items() if path not in last),
            *last.items(),
        ]:
            try:
                whole.write(path, text)
            except ElaniteError:
                for each in written:
                    with suppress(OSError):
                        each.unlink()
                raise
            written.append(path)
        return list(paths)
