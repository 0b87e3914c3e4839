"""The commands ``goal``: traces from other tools, and generated traces of collective operations and
training.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from elanite.cli.goal_import import ImportTrace, NcclAlgorithm
from elanite.cli.parser import CommandGroup as CommandGroup
from elanite.cli.quantities import chunk_bytes, in_bytes, in_ns
from elanite.cli.request import Request, declare

if TYPE_CHECKING:
    from collections.abc import Iterable

HELP = """Write traces in GOAL: translated or generated.

\b
Examples:
  elanite goal allreduce --algorithm ring --ranks 64 --size "1 MB" > ring.goal
  elanite goal allreduce --algorithm hierarchical --group 4 \\
    --ranks 64 --size "1 MB" > levels.goal
  elanite goal alltoall --ranks 64 --group 8 --size "4 KB" \\
    --compute "50 us" --calls 10 > exchange.goal
  elanite goal nccl all_reduce 64 MB over 8 x 8 with 4 channels \\
    --algorithm tree > tree.goal
  elanite goal pipeline --ranks 8 --batches 32 --size "1 MB" \\
    --compute "2 ms" > pipeline.goal
  elanite goal expert --ranks 64 --group 8 --layers 4 --size "64 KB" \\
    --compute "1 ms" > experts.goal
  elanite goal import scorep_run/traces.otf2 --output my_program.goal
  elanite replay ring.goal --machine es40-qsnet

The text goes to standard output, of `import` to a file. A group's ranks have consecutive numbers.
"""

goal_app = typer.Typer(cls=CommandGroup, help=HELP, no_args_is_help=True, rich_markup_mode=None)


class Algorithm(StrEnum):
    """The algorithm that combines vectors."""

    RING = "ring"
    TREE = "tree"
    RECURSIVE_DOUBLING = "recursive-doubling"
    HIERARCHICAL = "hierarchical"


Ranks = Annotated[
    int, typer.Option("--ranks", "-n", min=1, max=1 << 20, metavar="N", help="The rank count.")
]
Vector = Annotated[
    str, typer.Option("--size", metavar="SIZE", help="Bytes of the vector: 8B, '64 KB', '1 MB'.")
]
Pair = Annotated[
    str,
    typer.Option("--size", metavar="SIZE", help="Bytes from each rank to each other of its group."),
]
Compute = Annotated[
    str,
    typer.Option(
        "--compute", metavar="TIME", help="Computation of each rank before each call: 0us, '2 ms'."
    ),
]
Calls = Annotated[
    int,
    typer.Option("--calls", min=1, max=1 << 20, metavar="K", help="Calls, one after the other."),
]
Group = Annotated[
    int | None,
    typer.Option("--group", min=1, metavar="G", help="Ranks of a group.  [default: all ranks]"),
]


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
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", help="The algorithm that combines vectors.")
    ] = Algorithm.RING
    group: Annotated[
        int | None,
        typer.Option("--group", min=1, metavar="G", help="Ranks of a group, for hierarchical."),
    ] = None
    compute: Compute = "0us"
    calls: Calls = 1

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.all_reduce(
                self.ranks,
                in_bytes(self.size),
                self.algorithm.value,
                group=self.group,
                compute=in_ns(self.compute),
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
                in_bytes(self.size),
                group=self.group,
                compute=in_ns(self.compute),
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
                self.ranks,
                in_bytes(self.size),
                group=self.group,
                compute=in_ns(self.compute),
                calls=self.calls,
            )
        )


@dataclass(frozen=True, kw_only=True)
class Nccl(Request):
    """Write collective operations as NCCL makes them, in channels and chunks.

    \b
    Examples:
      elanite goal nccl all_reduce 64 MB over 8 x 8 with 4 channels > ring.goal
      elanite goal nccl "all_reduce 64 MB over 8 x 8 with 4 channels" \\
        --algorithm tree > tree.goal
      elanite goal nccl all_gather 1 MB over 64 ranks --algorithm pat > pat.goal

    A call is an operation (all_reduce, all_gather, reduce_scatter, broadcast, reduce), the bytes of
    the whole vector, the ranks, as hosts x ranks of a host or as a number of ranks with a host
    each, and the channels. Replay with as many ranks per node as a host has.
    """

    verb: ClassVar[str] = "goal nccl"

    call: Annotated[
        list[str],
        typer.Argument(
            metavar="CALL...", help="OPERATION SIZE over [HOSTS x] RANKS [with N channels]."
        ),
    ]
    algorithm: Annotated[
        NcclAlgorithm,
        typer.Option(
            "--algorithm", help="The tree is for all_reduce, pat for all_gather and reduce_scatter."
        ),
    ] = NcclAlgorithm.RING
    chunk: Annotated[
        str | None,
        typer.Option("--chunk", metavar="SIZE", help="Bytes of a chunk.  [default: as NCCL]"),
    ] = None
    compute: Compute = "0us"
    calls: Calls = 1

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal
        from elanite.traces.nccl_call import NcclCall

        call = NcclCall.of(" ".join(self.call), self.algorithm.value, chunk=chunk_bytes(self.chunk))
        _write(goal.nccl(call, compute=in_ns(self.compute), calls=self.calls))


@dataclass(frozen=True, kw_only=True)
class Pipeline(Request):
    """Write a step of pipeline-parallel training: one micro-batch forward and one backward in
    turns.

    \b
    Example:
      elanite goal pipeline --ranks 8 --batches 32 --size "1 MB" \\
        --compute "2 ms" > pipeline.goal

    Backward takes twice as long as forward. Activations go to the next stage, and gradients of the
    same size back.
    """

    verb: ClassVar[str] = "goal pipeline"

    ranks: Annotated[
        int,
        typer.Option(
            "--ranks",
            "-n",
            min=1,
            max=1 << 20,
            metavar="N",
            help="The stage count, a rank each.",
        ),
    ]
    size: Annotated[
        str,
        typer.Option("--size", metavar="SIZE", help="Bytes of the activations of a micro-batch."),
    ]
    batches: Annotated[
        int,
        typer.Option("--batches", min=1, max=1 << 20, metavar="K", help="The micro-batch count."),
    ]
    compute: Annotated[
        str,
        typer.Option(
            "--compute", metavar="TIME", help="Time of a stage for a micro-batch forward."
        ),
    ]

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.pipeline(
                self.ranks, in_bytes(self.size), batches=self.batches, compute=in_ns(self.compute)
            )
        )


@dataclass(frozen=True, kw_only=True)
class Expert(Request):
    """Write a step of expert-parallel training: all-to-alls to the experts and back, in each layer
    and direction.

    \b
    Example:
      elanite goal expert --ranks 64 --group 8 --layers 4 --size "64 KB" \\
        --compute "1 ms" > experts.goal

    Backward takes twice as long as forward.
    """

    verb: ClassVar[str] = "goal expert"

    ranks: Ranks
    size: Pair
    group: Annotated[
        int, typer.Option("--group", min=1, metavar="G", help="Ranks that share a set of experts.")
    ]
    layers: Annotated[
        int,
        typer.Option(
            "--layers", min=1, max=1 << 20, metavar="K", help="The count of layers with experts."
        ),
    ]
    compute: Annotated[
        str,
        typer.Option(
            "--compute", metavar="TIME", help="Time of attention, and of an expert, forward."
        ),
    ]

    def execute(self) -> None:
        """Run the command."""
        from elanite.traces import goal

        _write(
            goal.expert(
                self.ranks,
                in_bytes(self.size),
                group=self.group,
                layers=self.layers,
                compute=in_ns(self.compute),
            )
        )


declare(
    goal_app, ImportTrace, Allreduce, Allgather, ReduceScatter, Alltoall, Nccl, Pipeline, Expert
)
