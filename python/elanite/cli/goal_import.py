"""The command ``goal import``: other tools' traces, translated into GOAL."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import Role, Set, machine_option, say
from elanite.cli.quantities import chunk_bytes, memory_rate, operations
from elanite.cli.request import Request

if TYPE_CHECKING:
    from elanite.traces.chakra_reading import ReadingOptions, Roofline


class NcclAlgorithm(StrEnum):
    """NCCL's algorithms."""

    RING = "ring"
    TREE = "tree"
    PAT = "pat"


@dataclass(frozen=True, kw_only=True)
class ImportTrace(Request):
    """Translate a trace of another tool: OTF2 (.otf2), Chakra (.et, .json) or the text of DUMPI
    (.txt).

    \b
    Examples:
      elanite goal import scorep_run/traces.otf2 -o my_program.goal
      elanite goal import training.*.et -o training.goal
      elanite goal import stage.*.et --groups groups.json \\
        --flops 312T --memory-rate "2039 GB/s" -o stage.goal
      elanite goal import training.0.et --replicate 64 -o training.goal
      elanite goal import training.*.et --algorithm tree --channels 4 \\
        --ranks-per-node 8 -o training.goal
      elanite goal import dumpi-*.txt -o my_program.goal

    OTF2 is written by Score-P for MPI programs, and needs the package otf2. A Chakra trace is a
    file for each rank, and its binary form needs the package protobuf. The text of DUMPI, from
    dumpi2ascii, is a file for each rank, too. Collective operations become messages. Nodes of
    Chakra with operations and bytes in place of a duration take the time of a roofline. A trace
    with missing data is refused with the place, and no file is written.
    """

    verb: ClassVar[str] = "goal import"

    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...", help="The anchor of an OTF2 archive, or the traces of all ranks."
        ),
    ]
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file for the trace in GOAL.")
    ]
    groups: Annotated[
        Path | None,
        typer.Option(
            "--groups",
            metavar="FILE",
            help='Chakra: the members of groups, as {"1": [0, 1], "2": [2, 3]}.',
        ),
    ] = None
    flops: Annotated[
        str | None,
        typer.Option(
            "--flops",
            metavar="RATE",
            help="Chakra: operations of an accelerator in a second, as 312T.",
        ),
    ] = None
    memory_rate: Annotated[
        str | None,
        typer.Option(
            "--memory-rate", metavar="RATE", help="Chakra: the rate of its memory, as '2039 GB/s'."
        ),
    ] = None
    machine: Annotated[
        str | None,
        machine_option(
            "Chakra: rates that are not given are those of this machine's section [processor]."
        ),
        Role.INPUT,
    ] = None
    set_: Set = None
    replicate: Annotated[
        int | None,
        typer.Option(
            "--replicate",
            min=1,
            max=1 << 20,
            metavar="N",
            help="Chakra: one trace stands for N ranks.",
        ),
    ] = None
    algorithm: Annotated[
        NcclAlgorithm | None,
        typer.Option(
            "--algorithm",
            help="Chakra: collective operations as NCCL makes them.  [default: as MPI does]",
        ),
    ] = None
    channels: Annotated[
        int | None,
        typer.Option(
            "--channels",
            min=1,
            max=64,
            metavar="C",
            help="NCCL's channels.  [default: 1, of a tree 2]",
        ),
    ] = None
    chunk: Annotated[
        str | None,
        typer.Option(
            "--chunk", metavar="SIZE", help="Bytes of a chunk of NCCL.  [default: as NCCL]"
        ),
    ] = None
    ranks_per_node: Annotated[
        int | None,
        typer.Option(
            "--ranks-per-node", min=1, metavar="K", help="Ranks of a host, for NCCL.  [default: 1]"
        ),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import translate

        done = translate(self.traces, self.output, self.reading())
        say(f"{done.path}: {done.ranks:,} ranks, {done.operations:,} operations")
        for note in done.notes:
            say(f"note: {note}")

    def reading(self) -> ReadingOptions | None:
        """The rules for reading Chakra traces; `None` without any option. Raises ``UsageError``."""
        from elanite.errors import UsageError
        from elanite.traces.chakra_reading import NcclTransport, ReadingOptions

        cut = (self.channels, self.chunk, self.ranks_per_node)
        if self.algorithm is None and cut != (None,) * 3:
            raise UsageError(
                "--channels, --chunk and --ranks-per-node are NCCL's; choose its --algorithm, too"
            )
        if self.set_ and self.machine is None:
            raise UsageError("--set: it changes a machine; name one with --machine")
        nccl = None
        if self.algorithm is not None:
            channels = self.channels or (2 if self.algorithm is NcclAlgorithm.TREE else 1)
            nccl = NcclTransport(
                self.algorithm.value, channels, chunk_bytes(self.chunk), self.ranks_per_node or 1
            )
        how = ReadingOptions(self.groups, self._roofline(), self.replicate, nccl)
        return None if how == ReadingOptions() else how

    def _roofline(self) -> Roofline:
        """The given rates, with the machine processor's rates as defaults."""
        from elanite.errors import UsageError
        from elanite.inputs.machine import Machine
        from elanite.traces.chakra_reading import Roofline

        flops = None if self.flops is None else operations(self.flops)
        memory = None if self.memory_rate is None else memory_rate(self.memory_rate)
        if self.machine is None:
            return Roofline(flops, memory)
        found = {
            one.key: one.value for one in Machine.load(self.machine, self.set_ or []).parameters
        }
        if "processor.step" not in found:
            remedy = "measure one with `elanite calibrate-host`, or give --flops and --memory-rate"
            raise UsageError(f"--machine {self.machine}: it has no section [processor]; {remedy}")
        return Roofline.of_processor(found, flops, memory)
