"""The command ``new``: new machine and experiment files, valid and with comments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.base import whole
from elanite.cli import completion
from elanite.cli.common import Nodes, data, say
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.inputs.designs import MachineRequest


class Kind(StrEnum):
    """The file kind."""

    MACHINE = "machine"
    EXPERIMENT = "experiment"


class TopologyKind(StrEnum):
    """The network kinds that are made for a node count (``elanite.inputs.shapes``)."""

    FAT_TREE = "fat-tree"
    TORUS = "torus"
    DRAGONFLY = "dragonfly"
    MEGAFLY = "megafly"
    HYPERX = "hyperx"
    SLIM_FLY = "slim-fly"
    POLAR_FLY = "polar-fly"


@dataclass(frozen=True, kw_only=True)
class New(Request):
    """Write a machine or an experiment file with comments.

    \b
    Examples:
      elanite new machine --nodes 200 --oversubscription 2:1 --link NDR
      elanite new machine --nodes 512 --link 400GbE --topology dragonfly
      elanite new machine my-cluster --from opteron-qsnet2 --nodes 32
      elanite new experiment my-traffic --from my-cluster.toml
      elanite run my-traffic.toml --html my-traffic.html

    Every key of the machine has a comment with its meaning, and the value and source of the machine
    that it starts from. An existing file is never overwritten.

    With --link, the machine is the smallest network of its kind that holds the nodes: the fewest
    switches, then the fewest cables. Notes at the head of the file list its parts and assumptions.
    Links are EDR, HDR100, HDR, NDR200, NDR, XDR, and 10, 25, 50, 100, 200, 400 and 800GbE.
    """

    verb: ClassVar[str] = "new"

    kind: Annotated[Kind, typer.Argument(help="The kind of file.")]
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Its name; the file is NAME.toml.  [default: of link and nodes]"
        ),
    ] = None
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MACHINE",
            help=(
                "The machine to start from, or on which the experiment runs.  [default: es40-qsnet,"
                " or one of --link]"
            ),
            autocompletion=completion.machines,
        ),
    ] = None
    nodes: Nodes = None
    link: Annotated[
        str | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help="Links of today: NDR, 400GbE, ...",
            autocompletion=completion.links,
        ),
    ] = None
    topology: Annotated[
        TopologyKind | None,
        typer.Option("--topology", help="The kind of network of --link.  [default: fat-tree]"),
    ] = None
    oversubscription: Annotated[
        str | None,
        typer.Option(
            "--oversubscription",
            metavar="D:U",
            help="Links down to links up of a leaf: 2:1.  [default: 1:1]",
        ),
    ] = None
    ports: Annotated[
        int | None,
        typer.Option(
            "--ports",
            min=2,
            max=1024,
            metavar="N",
            help="Ports of a switch.  [default: one of --link]",
        ),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.base.text import word
        from elanite.errors import UsageError
        from elanite.explain.templates import experiment_file, machine_file
        from elanite.inputs import sources

        wanted = self._wanted()
        name = self.name or (f"{wanted.link.name.lower()}-{wanted.nodes}" if wanted else "")
        if not name:
            raise UsageError(f"the file has no name: elanite new {self.kind.value} NAME")
        if not name.isprintable():
            raise UsageError(f"`{name}`: this name has control characters; give it another one")
        path = Path(name if name.endswith(".toml") else f"{name}.toml")
        machine = sources.read(
            "machine", self.from_ or (wanted.link.base if wanted else "es40-qsnet")
        )
        design = wanted.design(machine) if wanted else None
        if self.kind is Kind.MACHINE:
            text = machine_file(path.stem, machine, self.nodes, design)
        elif self.nodes is None:
            text = experiment_file(path.stem, machine)
        else:
            raise UsageError("--nodes belongs to a machine: elanite new machine NAME --nodes N")
        try:
            whole.new(path, text)
        except FileExistsError:
            raise UsageError(f"{path} exists; give another name, or remove the file") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        data(str(path))
        for note in design.notes if design else ():
            say(f"note: {note}")
        verb = "check" if self.kind is Kind.MACHINE else "run"
        after = f"elanite {verb} {word(path)}"
        say(f"change the file, then: {after}")

    def _wanted(self) -> MachineRequest | None:
        """The machine that --link and the options beside it ask for; `None` without them."""
        from elanite.errors import UsageError
        from elanite.inputs.designs import MachineRequest
        from elanite.inputs.links import find
        from elanite.inputs.shapes import Ratio

        given = {
            "--link": self.link,
            "--topology": self.topology,
            "--oversubscription": self.oversubscription,
        }
        used = [
            option
            for option, value in (given | {"--ports": self.ports}).items()
            if value is not None
        ]
        if not used:
            return None
        if self.kind is not Kind.MACHINE:
            raise UsageError(
                f"{used[0]} belongs to a machine: elanite new machine --nodes N --link NDR"
            )
        if self.link is None:
            raise UsageError(
                f"{used[0]} needs --link, such as --link NDR: the links decide how many ports a"
                " switch has"
            )
        if self.nodes is None:
            raise UsageError(f"--link {self.link} needs the number of nodes: --nodes 200")
        ratio = Ratio.of(self.oversubscription) if self.oversubscription else None
        topology = (self.topology or TopologyKind.FAT_TREE).value
        return MachineRequest(self.nodes, find(self.link), topology, ratio, self.ports)
