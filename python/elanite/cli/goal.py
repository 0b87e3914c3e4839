"""The commands ``goal``: traces of other tools, and of collective operations and of training, made on the spot."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.common import say
from elanite.cli.parser import Group as CommandGroup
from elanite.cli.request import Request, declare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.traces.chakra import Reading

HELP = """Write traces in GOAL: of other tools or made on the spot.

\b
Examples:
  elanite goal allreduce --algorithm ring --ranks 64 --size "1 MB" > ring.goal
  elanite goal allreduce --algorithm hierarchical --group 4 \\
    --ranks 64 --size "1 MB" > levels.goal
  elanite goal alltoall --ranks 64 --group 8 --size "4 KB" \\
    --compute "50 us" --calls 10 > exchange.goal
  elanite goal pipeline --ranks 8 --batches 32 --size "1 MB" \\
    --compute "2 ms" > pipeline.goal
  elanite goal expert --ranks 64 --group 8 --layers 4 --size "64 KB" \\
    --compute "1 ms" > experts.goal
  elanite goal import scorep_run/traces.otf2 --output my_program.goal
  elanite replay ring.goal --machine es40-qsnet

The text goes to standard output, of `import` to a file. Ranks of a group have numbers next to each other.
"""

goal_app = typer.Typer(cls=CommandGroup, help=HELP, no_args_is_help=True, rich_markup_mode=None)


class Algorithm(StrEnum):
    """How vectors are combined."""

    RING = "ring"
    TREE = "tree"
    RECURSIVE_DOUBLING = "recursive-doubling"
    HIERARCHICAL = "hierarchical"


Ranks = Annotated[int, typer.Option("--ranks", "-n", min=1, max=1 << 20, metavar="N", help="How many ranks.")]
Vector = Annotated[str, typer.Option("--size", metavar="SIZE", help="Bytes of the vector: 8B, '64 KB', '1 MB'.")]
Pair = Annotated[str, typer.Option("--size", metavar="SIZE", help="Bytes from each rank to each other of its group.")]
Compute = Annotated[
    str, typer.Option("--compute", metavar="TIME", help="Computation of each rank before each call: 0us, '2 ms'.")
]
Calls = Annotated[int, typer.Option("--calls", min=1, metavar="K", help="How often, one after the other.")]
Group = Annotated[
    int | None, typer.Option("--group", min=1, metavar="G", help="Ranks of a group.  [default: all ranks]")
]


def _quantity(option: str, text: str, unit: str, example: str) -> float:
    from elanite import _core
    from elanite.errors import UsageError

    found = _core.quantity(text)
    if found is None or found[1] != unit:
        raise UsageError(f"{option}: `{text}` is not understood; write for example {example}")
    return found[0]


def _bytes(text: str) -> int:
    return round(_quantity("--size", text, "B", "8B, '64 KB' or '1 MB'"))


def _ns(text: str) -> int:
    return round(_quantity("--compute", text, "us", "500ns, 20us or '2 ms'") * 1000)


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(lines)


@dataclass(frozen=True, kw_only=True)
class Allreduce(Request):
    """Write all-reduces: each rank has a vector, and gets the sum of all.

    \b
    Example:
      elanite goal allreduce --algorithm ring --ranks 64 --size "1 MB" > ring.goal
    """

    verb: ClassVar[str] = "goal allreduce"

    ranks: Ranks
    size: Vector
    algorithm: Annotated[Algorithm, typer.Option("--algorithm", help="How vectors are combined.")] = Algorithm.RING
    group: Annotated[
        int | None, typer.Option("--group", min=1, metavar="G", help="Ranks of a group, for hierarchical.")
    ] = None
    compute: Compute = "0us"
    calls: Calls = 1

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.all_reduce(
                self.ranks,
                _bytes(self.size),
                self.algorithm.value,
                group=self.group,
                compute=_ns(self.compute),
                calls=self.calls,
            )
        )


@dataclass(frozen=True, kw_only=True)
class Allgather(Request):
    """Write all-gathers by rings: each rank has a part of a vector, and gets all of it.

    \b
    Example:
      elanite goal allgather --ranks 64 --size "1 MB" > gather.goal
    """

    verb: ClassVar[str] = "goal allgather"
    scatter: ClassVar[bool] = False

    ranks: Ranks
    size: Vector
    group: Group = None
    compute: Compute = "0us"
    calls: Calls = 1

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.all_gather(
                self.ranks,
                _bytes(self.size),
                group=self.group,
                compute=_ns(self.compute),
                calls=self.calls,
                scatter=self.scatter,
            )
        )


@dataclass(frozen=True, kw_only=True)
class ReduceScatter(Allgather):
    """Write reduce-scatters by rings: each rank has a vector, and gets a part of the sum.

    \b
    Example:
      elanite goal reduce-scatter --ranks 64 --size "1 MB" > scatter.goal
    """

    verb: ClassVar[str] = "goal reduce-scatter"
    scatter: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class Alltoall(Request):
    """Write all-to-alls: each rank has a message for each other rank of its group.

    \b
    Example:
      elanite goal alltoall --ranks 64 --group 8 --size "4 KB" \\
        --compute "50 us" --calls 10 > exchange.goal
    """

    verb: ClassVar[str] = "goal alltoall"

    ranks: Ranks
    size: Pair
    group: Group = None
    compute: Compute = "0us"
    calls: Calls = 1

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.all_to_all(
                self.ranks, _bytes(self.size), group=self.group, compute=_ns(self.compute), calls=self.calls
            )
        )


@dataclass(frozen=True, kw_only=True)
class Pipeline(Request):
    """Write a step of pipeline-parallel training: one micro-batch forward and one backward in turns.

    \b
    Example:
      elanite goal pipeline --ranks 8 --batches 32 --size "1 MB" \\
        --compute "2 ms" > pipeline.goal

    Backward takes twice as long as forward. Activations go to the next stage, and gradients of the same size back.
    """

    verb: ClassVar[str] = "goal pipeline"

    ranks: Annotated[int, typer.Option("--ranks", "-n", min=1, metavar="N", help="How many stages, a rank each.")]
    size: Annotated[str, typer.Option("--size", metavar="SIZE", help="Bytes of the activations of a micro-batch.")]
    batches: Annotated[int, typer.Option("--batches", min=1, metavar="K", help="How many micro-batches.")]
    compute: Annotated[
        str, typer.Option("--compute", metavar="TIME", help="Time of a stage for a micro-batch forward.")
    ]

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(goal.pipeline(self.ranks, _bytes(self.size), batches=self.batches, compute=_ns(self.compute)))


@dataclass(frozen=True, kw_only=True)
class Expert(Request):
    """Write a step of expert-parallel training: all-to-alls to the experts and back, in each layer and direction.

    \b
    Example:
      elanite goal expert --ranks 64 --group 8 --layers 4 --size "64 KB" \\
        --compute "1 ms" > experts.goal

    Backward takes twice as long as forward.
    """

    verb: ClassVar[str] = "goal expert"

    ranks: Ranks
    size: Pair
    group: Annotated[int, typer.Option("--group", min=1, metavar="G", help="Ranks that share a set of experts.")]
    layers: Annotated[int, typer.Option("--layers", min=1, metavar="K", help="How many layers have experts.")]
    compute: Annotated[
        str, typer.Option("--compute", metavar="TIME", help="Time of attention, and of an expert, forward.")
    ]

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.expert(self.ranks, _bytes(self.size), group=self.group, layers=self.layers, compute=_ns(self.compute))
        )


_POWERS = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def _reading(groups: Path | None, flops: str | None, memory: str | None, replicate: int | None) -> Reading | None:
    """How Chakra traces are read; none without any option."""
    from elanite.errors import UsageError
    from elanite.traces.chakra import Reading, Roofline

    if (groups, flops, memory, replicate) == (None,) * 4:
        return None
    rate = None
    if flops is not None:
        found = re.fullmatch(r"(\d+(?:\.\d*)?(?:[eE]\d+)?) ?([kMGTPE]?)(?:flops?(?:/s)?|FLOPS?(?:/s)?)?", flops.strip())
        if found is None or not 0 < (rate := float(found[1]) * 10 ** _POWERS[found[2]]) < 1e30:
            raise UsageError(f"--flops: `{flops}` is not understood; write for example 312T or 312e12")
    # MB/s are bytes in a microsecond.
    size = None if memory is None else _quantity("--memory-rate", memory, "MB/s", "'2039 GB/s'") * 1e6
    if size == 0:
        raise UsageError("--memory-rate: it is 0; write for example '2039 GB/s'")
    return Reading(groups, Roofline(rate, size), replicate)


@dataclass(frozen=True, kw_only=True)
class Import(Request):
    """Translate a trace of another tool: an OTF2 archive (.otf2), or Chakra execution traces (.et, .json).

    \b
    Examples:
      elanite goal import scorep_run/traces.otf2 -o my_program.goal
      elanite goal import training.*.et -o training.goal
      elanite goal import stage.*.et --groups groups.json \\
        --flops 312T --memory-rate "2039 GB/s" -o stage.goal
      elanite goal import training.0.et --replicate 64 -o training.goal

    OTF2 is what Score-P writes for MPI programs, and needs the package otf2. A Chakra trace is a file for each rank,
    and its binary form needs the package protobuf. Collective operations become messages. Nodes of Chakra with
    operations and bytes in place of a duration take the time of a roofline. What a trace does not tell is refused
    with its place, and no file is written then.
    """

    verb: ClassVar[str] = "goal import"

    traces: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE...", help="The anchor of an OTF2 archive, or the Chakra traces of all ranks."),
    ]
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file for the trace in GOAL.")]
    groups: Annotated[
        Path | None,
        typer.Option("--groups", metavar="FILE", help='Chakra: the members of groups, as {"1": [0, 1], "2": [2, 3]}.'),
    ] = None
    flops: Annotated[
        str | None,
        typer.Option("--flops", metavar="RATE", help="Chakra: operations of an accelerator in a second, as 312T."),
    ] = None
    memory_rate: Annotated[
        str | None,
        typer.Option("--memory-rate", metavar="RATE", help="Chakra: the rate of its memory, as '2039 GB/s'."),
    ] = None
    replicate: Annotated[
        int | None,
        typer.Option("--replicate", min=1, max=1 << 20, metavar="N", help="Chakra: one trace stands for N ranks."),
    ] = None

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import translate

        done = translate(self.traces, self.output, _reading(self.groups, self.flops, self.memory_rate, self.replicate))
        say(f"{done.path}: {done.ranks:,} ranks, {done.operations:,} operations")
        for note in done.notes:
            say(f"note: {note}")


declare(goal_app, Import, Allreduce, Allgather, ReduceScatter, Alltoall, Pipeline, Expert)
