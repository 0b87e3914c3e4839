"""The command ``replay``: a GOAL trace on a simulated machine."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from elanite.cli.common import OUT, Nodes, Open, Set, console, data, opened, say, warn, warn_if_stale
from elanite.cli.launch import Launch, RunPage, page_of
from elanite.cli.mpirun import MOST_FAULTS, Memory, Network, SummaryFormat
from elanite.plan import FIRST_SEED

if TYPE_CHECKING:
    from elanite.replay import Replay


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file in GOAL, as text or as txt2bin makes it.")],
    machine: Annotated[
        str, typer.Option("--machine", "-m", metavar="MACHINE", help="A shipped machine or a machine file.")
    ] = "es40-qsnet",
    set_: Set = None,
    nodes: Nodes = None,
    ranks_per_node: Annotated[
        int, typer.Option("--ranks-per-node", min=1, metavar="K", help="How many ranks a node has at most.")
    ] = 1,
    placement: Annotated[
        str,
        typer.Option(
            "--placement",
            metavar="RULE|FILE",
            help="block, cyclic, random, or a file with the node of a rank on each line.",
        ),
    ] = "block",
    network: Annotated[
        Network, typer.Option("--network", help="The machine's network, or one without contention.")
    ] = Network.MACHINE,
    memory: Annotated[
        Memory,
        typer.Option("--memory", help="The memory of a node that holds messages: main memory, or the adapter's."),
    ] = Memory.MAIN,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, max=2**63, metavar="N", help="Seed of random placement, and of the machine's noise."
        ),
    ] = FIRST_SEED,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="FAULT",
            help="A part that fails: \"link = 'node 3', at = '1 ms'\", in the words of [[fault]]. May be repeated.",
        ),
    ] = None,
    limit_time: Annotated[
        str | None,
        typer.Option("--limit-time", metavar="TIME", help="End the replay at this simulated time: 500us, 1s."),
    ] = None,
    operations: Annotated[
        bool,
        typer.Option("--operations", help="Keep when each operation was free and ended, and the load of links, too."),
    ] = False,
    html: RunPage = None,
    open_: Open = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder below which the tables of the replay are kept.")
    ] = OUT,
    format_: Annotated[
        SummaryFormat, typer.Option("--format", "-f", help="How to print the summary.")
    ] = SummaryFormat.TABLE,
) -> None:
    """Replay a trace in GOAL, the language of LogGOPSim, on a simulated machine.

    \b
    Examples:
      elanite replay my_program.goal
      elanite replay my_program.goal --machine opteron-qsnet2 --ranks-per-node 2 --format json
      elanite replay my_program.goal --html replay.html --open
      elanite replay my_program.goal --network ideal
      elanite replay my_program.goal --set switch.circuit=wormhole --operations

    Each rank is a process of the machine. Its messages cross the simulated network, and its computation takes time of
    the processor. The trace may be larger than memory. DIR/replay keeps the tables of replays. The exit code is 2 if
    the trace is wrong, and 3 if receives wait for ever or messages have no receive at the end.
    """
    from elanite import limits, pages, sources
    from elanite.api import Machine
    from elanite.errors import Exit, RunError
    from elanite.mpirun.cluster import tree_of
    from elanite.noise import prepared
    from elanite.pages import files
    from elanite.pages import replay as of_replay
    from elanite.replay import keep, run

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
    command = ["elanite", "replay", str(trace), *launch.words(), *(["--operations"] if operations else [])]
    command += ["--html", str(page)] if page else []
    command += ["--out", str(out)] if out != OUT else []
    printed = None if format_ is SummaryFormat.TABLE else format_.value
    command += files.outputs(format=printed)
    options = [*(["--operations"] if operations else []), *files.outputs(html=page, format=printed)]
    warn_if_stale()
    try:
        found = run(
            trace,
            source,
            changes,
            keep=operations or page is not None,
            ranks_per_node=ranks_per_node,
            placement=placement,
            network=network.value,
            memory=memory.value,
            seed=seed,
            limit_time=limit_time,
            faults=tuple(fault or ()),
        )
    except RunError as error:
        if page is not None and error.exit_code in (Exit.DEADLOCK, Exit.FAILED):
            failed = of_replay.failed(
                trace, error, source, changes, command, launch.inputs_of_trace(source, trace, options)
            )
            pages.write(page, failed)
            say(f"page: {page}")
        raise
    folder = str(keep(found, out))
    if format_ is SummaryFormat.JSON:
        data(json.dumps(found.as_json(folder)))
    else:
        _print(found)
        say(f"kept in {folder}")
    if page is not None:
        pages.write(page, of_replay.page(found, source, command, launch.inputs_of_trace(source, trace, options)))
        say(f"page: {page}")
        if open_:
            opened(page)


def _print(found: Replay) -> None:
    """The summary for people."""
    from elanite import build
    from elanite.cli.tables import hottest
    from elanite.congestion import in_words
    from elanite.mpirun.summary import named, size
    from elanite.text import number

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
        "payload": size(figures["bytes"]) + ("" if ideal else f" in {figures['packets']:,} packets"),
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
