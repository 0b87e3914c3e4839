"""The command ``replay``: a GOAL trace on a simulated machine."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import (
    OUT,
    Nodes,
    Open,
    Set,
    TableFormat,
    complain,
    console,
    data,
    opened,
    say,
    warn,
    warn_if_stale,
)
from elanite.cli.launch import (
    MACHINE,
    Faults,
    Launch,
    LimitTime,
    MachineName,
    Memory,
    MemoryName,
    Network,
    NetworkName,
    Placement,
    RanksPerNode,
    RanksSeed,
    RunOut,
    RunPage,
    SummarisedAs,
    page_of,
)
from elanite.cli.mpirun import MOST_FAULTS
from elanite.inputs.plan import FIRST_SEED

if TYPE_CHECKING:
    from elanite.traces.replay import Replay


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file in GOAL, as text or as txt2bin makes it.")],
    machine: MachineName = MACHINE,
    set_: Set = None,
    nodes: Nodes = None,
    ranks_per_node: RanksPerNode = 1,
    placement: Placement = "block",
    network: NetworkName = Network.MACHINE,
    memory: MemoryName = Memory.MAIN,
    seed: RanksSeed = FIRST_SEED,
    fault: Faults = None,
    limit_time: LimitTime = None,
    buffered: Annotated[
        str | None,
        typer.Option(
            "--buffered",
            metavar="SIZE",
            help="Each pair of ranks buffers sends up to so many bytes: '4 MB'.  [default: none]",
        ),
    ] = None,
    operations: Annotated[
        bool,
        typer.Option("--operations", help="Keep when each operation was free and ended, and the load of links, too."),
    ] = False,
    html: RunPage = None,
    open_: Open = False,
    out: RunOut = OUT,
    format_: SummarisedAs = TableFormat.TABLE,
) -> None:
    """Replay a trace in GOAL, the language of LogGOPSim, on a simulated machine.

    \b
    Examples:
      elanite replay my_program.goal
      elanite replay my_program.goal --machine opteron-qsnet2 --ranks-per-node 2 --format json
      elanite replay my_program.goal --html replay.html --open
      elanite replay my_program.goal --network ideal
      elanite replay my_program.goal --set switch.circuit=wormhole --operations
      elanite replay training.goal --buffered "4 MB"

    Each rank is a process of the machine. Its messages cross the simulated network, and its computation takes time of
    the processor. The trace may be larger than memory. DIR/replay keeps the tables of replays. The exit code is 2 if
    the trace is wrong, and 3 if receives wait for ever or messages have no receive at the end.
    """
    from elanite.errors import ElaniteError
    from elanite.inputs import sources
    from elanite.inputs.machine import Machine
    from elanite.library.noise import prepared
    from elanite.mpirun.cluster import tree_of
    from elanite.report import pages
    from elanite.report.pages import files
    from elanite.report.pages import replay as of_replay
    from elanite.store import rescued
    from elanite.study import limits
    from elanite.traces.replay import Unfinished, keep, run

    page = page_of(html, out, trace.stem, open_=open_)
    prepared(out)
    source = sources.read("machine", machine)
    changes = [*(set_ or []), *(tree_of(source, nodes) if nodes else [])]
    if network is not Network.IDEAL:
        warn(limits.of_machine(Machine.of(source, changes)))
    launch = Launch(
        machine=machine,
        set_=set_ or (),
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        placement=placement,
        ideal=network is Network.IDEAL,
        adapter_memory=memory is Memory.ELAN,
        seed=seed,
        faults=fault or (),
        limit_time=limit_time,
    )
    own = [*(["--buffered", buffered] if buffered else []), *(["--operations"] if operations else [])]
    command = ["elanite", "replay", str(trace), *launch.words(), *own]
    command += ["--html", str(page)] if page else []
    command += ["--out", str(out)] if out != OUT else []
    printed = None if format_ is TableFormat.TABLE else format_.value
    command += files.outputs(format=printed)
    options = [*own, *files.outputs(html=page, format=printed)]
    warn_if_stale()
    try:
        found = run(
            trace,
            source,
            changes,
            keep=operations or page is not None,
            buffered=buffered,
            ranks_per_node=ranks_per_node,
            placement=placement,
            network=network.value,
            memory=memory.value,
            seed=seed,
            limit_time=limit_time,
            faults=tuple(fault or ()),
        )
    except Unfinished as error:
        _warnings(error.replay)
        if page is not None:
            inputs = launch.inputs_of_trace(source, trace, options)
            pages.write(page, of_replay.unfinished(error, source, command, inputs))
            say(f"page: {page}")
        raise
    _warnings(found)
    kept, lost = rescued(lambda place: keep(found, place), out)
    folder = str(kept)
    if format_ is TableFormat.JSON:
        data(json.dumps(found.as_json(folder)))
    else:
        _print(found)
        say(f"kept in {folder}")
    if page is not None:
        pages.write(page, of_replay.page(found, source, command, launch.inputs_of_trace(source, trace, options)))
        say(f"page: {page}")
        if open_:
            opened(page)
    if lost:
        raise ElaniteError(lost)


def _warnings(found: Replay) -> None:
    for warning in found.warnings:
        complain(f"warning: {warning}")


def _print(found: Replay) -> None:
    """The summary for people."""
    from elanite.base import build
    from elanite.base.text import number
    from elanite.cli.tables import hottest
    from elanite.mpirun.summary import named, size
    from elanite.results.congestion import in_words

    figures, faults = found.as_json(), found.tables["faults"]
    screen, slowest = console(), figures["slowest"]
    ranks, ideal = found.tables["ranks"], figures["network"] == "ideal"
    tied = ranks.filter(ranks["end_us"] == slowest["end_us"])["rank"].to_list()
    computes = "it computes" if len(tied) == 1 else f"rank {slowest['rank']} computes"
    where = "an ideal network" if ideal else f"{figures['nodes']:,} nodes of {figures['machine']}"
    screen.print(f"{found.trace}: {figures['ranks']:,} ranks on {where}", style="bold", markup=False, soft_wrap=True)
    lines = {
        "simulated time": f"{number(figures['simulated_us'])} µs",
        "processor time": f"{figures['cpu_seconds']:.2f} s",
        "operations": f"{figures['operations']:,}",
        "messages": f"{figures['messages']:,}",
        **({"buffers": f"{size(found.buffered)} for each pair of ranks"} if found.buffered else {}),
        "payload": size(figures["bytes"]) + ("" if ideal else f"; {figures['packets']:,} packets in the network"),
        "slowest": f"{named(tied)}; {computes} {number(slowest['computed_us'])} µs",
    }
    for word, text in lines.items():
        screen.print(f"  {word:16}{text}", markup=False)
    if figures["links"]:
        screen.print(hottest(figures["links"]))
    for one in faults.head(MOST_FAULTS).iter_rows(named=True):
        screen.print(f"  {'failed':16}{in_words(one)}", markup=False)
    if len(faults):
        screen.print(f"  {'sent again':16}{figures['packets_resent']:,} packets", markup=False)
    screen.print(f"  {'digest':16}{figures['digest']}", markup=False)
    screen.print(f"  {'build':16}{build.here()}", markup=False, soft_wrap=True)
