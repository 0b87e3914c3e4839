"""The command ``new``: machine and experiment files of one's own, valid and with comments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from elanite.base import whole
from elanite.cli import completion
from elanite.cli.common import Nodes, data, say
from elanite.cli.request import Request


class Kind(StrEnum):
    """What is made."""

    MACHINE = "machine"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, kw_only=True)
class New(Request):
    """Write a machine or an experiment file with comments.

    \b
    Examples:
      elanite new machine my-cluster --from opteron-qsnet2 --nodes 32
      elanite new experiment my-traffic --from my-cluster.toml
      elanite run my-traffic.toml --html my-traffic.html

    Every key of the machine has a comment that says what the key means, and the value and the source of the machine
    that it starts from. An existing file is never overwritten.
    """

    verb: ClassVar[str] = "new"

    kind: Annotated[Kind, typer.Argument(help="What to make.")]
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name; the file is NAME.toml.")]
    from_: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="MACHINE",
            help="The machine to start from, or on which the experiment runs.",
            autocompletion=completion.machines,
        ),
    ] = "es40-qsnet"
    nodes: Nodes = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.errors import UsageError
        from elanite.explain.templates import experiment_file, machine_file
        from elanite.inputs import sources

        path = Path(self.name if self.name.endswith(".toml") else f"{self.name}.toml")
        machine = sources.read("machine", self.from_)
        if self.kind is Kind.MACHINE:
            text = machine_file(path.stem, machine, self.nodes)
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
        after = f"elanite check {path}" if self.kind is Kind.MACHINE else f"elanite run {path}"
        say(f"change the file, then: {after}")
