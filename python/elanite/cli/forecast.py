"""Printouts of dry runs: the work of a command, its inputs and its expected cost.

Experiments have ``output.to_do`` and ``output.costs``; here are the studies, calibrations, MPI
programs and replays. Nothing is simulated, except that a trace is replayed on the ideal network,
which counts its messages and shows that every message has its receive.
"""

from __future__ import annotations

import json
import shlex
from functools import partial
from typing import TYPE_CHECKING

from elanite.cli.common import TableFormat, console, data, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from elanite.campaign.cost import CostModel
    from elanite.inputs.machine import Machine
    from elanite.inputs.plan import Plan, Point
    from elanite.mpirun.cluster import Cluster
    from elanite.mpirun.options import Options
    from elanite.mpirun.preparation import Preparation
    from elanite.store import Store
    from elanite.study.basis import Study
    from elanite.study.ranges import Range
    from elanite.traces.replay import PreparedReplay

MOST_NODES = 3
"""How many nodes with their ranks a printout has, beside the last one."""


def study(chosen: Study, changes: Mapping[str, Sequence[str]], store: Store, jobs: int) -> None:
    """Print a study's points: on the machine as it is, its probes, and with each change by its
    name.
    """
    from elanite.base.text import counted, duration
    from elanite.campaign.cost import CostModel
    from elanite.study.probes import probes

    model = CostModel.learn(store)
    known: set[str] = set()
    board = table(("runs", "points", "to do", "processor time"), right=("points", "to do"))

    def add(name: str, plans: Iterable[Plan], at_most: str = "") -> tuple[int, float]:
        points = {point.id: point for plan in plans for point in plan.points}
        new = [
            point
            for point in points.values()
            if point.id not in known and store.current(point.id) is None
        ]
        known.update(points)
        seconds = model.total(new)
        said = f"{at_most}{duration(seconds)}" if new else "done"
        board.add_row(name, str(len(points)), str(len(new)), said)
        return len(new), seconds

    names = list(changes)
    still, probing = probes(chosen, list(changes.values()))
    sure = [
        add("the machine as it is", chosen.usual.values()),
        add("probes", [plan for one in (still, *probing.values()) for plan in one.values()]),
    ]
    more = [
        add(names[number], chosen.plans(changes[names[number]]).values(), "at most ")
        for number in probing
    ]
    (count, seconds), (others, longest) = (
        (sum(each[0] for each in found), sum(each[1] for each in found)) for found in (sure, more)
    )
    screen = console()
    screen.print(board)
    screen.print(
        f"{counted(len(chosen.claims), 'claim')}; {counted(count, 'point')} to simulate: about"
        f" {duration(seconds)} of processor time; then the points on which a change acts, at most"
        f" {others:,}: {duration(longest)}; with {counted(jobs, 'point')} at a time",
        markup=False,
        soft_wrap=True,
    )
    refused = [name for number, name in enumerate(names) if number not in probing]
    if refused:
        screen.print(f"refused by an experiment: {', '.join(refused)}", markup=False)


def refit(chosen: Study, store: Store, trials: int | None) -> None:
    """Print a joint refit's parameters and claims, and the cost of a set of values."""
    from elanite import campaign
    from elanite.base.text import counted, duration
    from elanite.campaign.cost import CostModel
    from elanite.study import refit as fitting

    taken = fitting.fitted(chosen)
    parameters, stay = fitting.adjustable(chosen)
    fitting.require(chosen, parameters, taken)
    model = CostModel.learn(store)
    search = fitting.ClaimSearch(
        chosen, parameters, taken, store, partial(campaign.run, store=store)
    )
    one, whole = (
        [point for plan in each.usual.values() for point in plan.points]
        for each in (search.fast, chosen)
    )
    board = table(("parameter", "value", "range"), right=("value",))
    for each in parameters:
        low, high = search.ends(each)
        board.add_row(each.key, str(each.value), f"x {low:g} to x {high:g}")
    screen = console()
    screen.print(board)
    seconds = model.total({point.id: point for point in one}.values())
    step = 1 + len(parameters)
    limit = "" if trials is None else f", at most {counted(trials, 'step')}"
    screen.print(
        f"{counted(len(taken), 'claim')} to fit; a set of values takes {counted(len(one), 'point')}"
        f" and about {duration(seconds)} of processor time, and a step of the search takes up to"
        f" {counted(step, 'set')}, {duration(step * seconds)}{limit}",
        markup=False,
        soft_wrap=True,
    )
    screen.print(
        f"all {counted(len(chosen.claims), 'claim')}, before and after:"
        f" {duration(2 * model.total({point.id: point for point in whole}.values()))}",
        markup=False,
    )
    if stay:
        screen.print(f"parameters that take no part: {', '.join(stay)}", style="dim", markup=False)


def calibration(
    base: Machine,
    keys: Sequence[Range],
    points: Sequence[Point],
    targets: int,
    trials: int | None,
    model: CostModel,
) -> None:
    """Print the parameters, and the cost of a calibration's sets of values.

    ``points`` are the measured ones on the machine as it is, ``targets`` is the count of measured
    values.
    """
    from elanite.base.text import counted, duration
    from elanite.study.minimum import STARTS

    board = table(("parameter", "value", "range"), right=("value",))
    for key in keys:
        board.add_row(key.key, str(base[key.key]), str(key).partition("=")[2])
    screen = console()
    screen.print(board)
    seconds = model.total({point.id: point for point in points}.values())
    # The machine as it is, the hypercube, and the first derivative; its start is among them.
    fewest = 1 + (STARTS + 1) * len(keys)
    least = fewest if trials is None else min(fewest, trials)
    ends = "" if trials is None else f", and at most {trials:,} in the search"
    screen.print(
        f"{counted(targets, 'measured value')}; a set of values takes"
        f" {counted(len(points), 'point')} and about {duration(seconds)} of processor time;"
        f" a calibration tries at least {counted(least, 'set')}, {duration(least * seconds)}{ends}",
        markup=False,
        soft_wrap=True,
    )


def run(ready: Preparation, files: Sequence[str], format_: TableFormat) -> None:
    """Print an MPI program's run: ranks and nodes, network, libraries, files."""
    from elanite.campaign import memory
    from elanite.mpirun import exchange
    from elanite.mpirun.summary import size

    options, cluster = ready.options, ready.cluster
    replaced = {name: str(path) for name, path in exchange.replaced(ready.libraries).items()}
    simulator = memory.PROCESS + memory.of_machine(cluster.point)
    if format_ is TableFormat.JSON:
        found = {
            "program": list(ready.words),
            "file": str(ready.file.absolute()),
            **_places(cluster, options, ready.placement),
            "collectives": options.collectives,
            "compute": options.compute,
            "mpi": {"path": ready.mpi.path, "kind": ready.mpi.kind, "version": ready.mpi.version},
            "preloaded": str(ready.network),
            "replaced": replaced,
            "ranks_memory_bytes": ready.memory,
            "simulator_memory_bytes": simulator,
            "files": list(files),
        }
        data(json.dumps(found))
        return
    ways = {"hardware": "the hardware", "elan": "Elanlib's trees", "mpi": "the MPI library"}
    executor = ways[options.collectives or "mpi"]
    ranks = f"{size(ready.memory)} for the ranks' MPI, " if ready.memory is not None else ""
    lines = [
        ("program", str(ready.file.absolute())),
        ("MPI", f"{ready.mpi.kind} {ready.mpi.version}, {ready.mpi.path}"),
        *_where(cluster, options, ready.placement),
        ("collectives", f"by {executor}"),
        ("computation", options.compute),
        ("preloaded", str(ready.network)),
        *(("in place of", f"{name}: {path}") for name, path in replaced.items()),
        ("memory", f"{ranks}{size(simulator)} for the simulator; the program's own is on top"),
        ("processor time", "not known before the run: it depends on the program"),
        *_written(files),
    ]
    _print(_title(ready.placement, cluster, shlex.join(ready.words)), lines)


def replay(ready: PreparedReplay, files: Sequence[str], format_: TableFormat) -> None:
    """Print a trace's replay: operations, messages, ranks and nodes, network, files, cost.

    Raises ``RunError`` for a trace that does not end on the ideal network.
    """
    from elanite.base.text import duration, number
    from elanite.campaign import cost, memory
    from elanite.mpirun.summary import size

    cluster, options = ready.cluster, ready.options
    ideal = ready.ideal()
    network = options.network == "machine"
    machine = json.loads(cluster.point)["machine"]
    seconds = cost.of_messages(ideal["messages"], ideal["bytes"], machine) if network else None
    simulator = memory.PROCESS + memory.of_machine(cluster.point)
    if format_ is TableFormat.JSON:
        found = {
            "trace": str(ready.trace),
            **_places(cluster, options, ready.placement),
            "operations": ideal["operations"],
            "messages": ideal["messages"],
            "bytes": ideal["bytes"],
            "ideal_us": ideal["time_us"],
            "cpu_seconds": seconds,
            "simulator_memory_bytes": simulator,
            "files": list(files),
        }
        data(json.dumps(found))
        return
    lines = [
        ("operations", f"{ideal['operations']:,}"),
        ("messages", f"{ideal['messages']:,}"),
        ("payload", size(ideal["bytes"])),
        *_where(cluster, options, ready.placement),
        ("simulated time", f"{number(ideal['time_us'])} µs on an ideal network"),
    ]
    if seconds is not None:
        lines.append(("processor time", duration(seconds)))
        lines.append(("memory", f"{size(simulator)} for the simulator"))
    _print(_title(ready.placement, cluster, str(ready.trace)), [*lines, *_written(files)])


def _title(placement: Sequence[int], cluster: Cluster, what: str) -> str:
    from elanite.base.text import counted

    ranks, nodes = counted(len(placement), "rank"), counted(len(set(placement)), "node")
    return f"{ranks} on {nodes} of {cluster.name}: {what}"


def _print(title: str, lines: Iterable[tuple[str, str]]) -> None:
    screen = console()
    screen.print(title, style="bold", markup=False, soft_wrap=True)
    for word, text in lines:
        screen.print(f"  {word:16}{text}", markup=False, soft_wrap=True)
    screen.print("a dry run: nothing is started or written", style="dim")


def _places(cluster: Cluster, options: Options, placement: Sequence[int]) -> dict[str, object]:
    """Machine, network and places, for JSON."""
    return {
        "machine": cluster.name,
        "network": options.network,
        "ranks": options.ranks,
        "nodes": len(set(placement)),
        "placement": list(placement),
    }


def _where(cluster: Cluster, options: Options, placement: Sequence[int]) -> list[tuple[str, str]]:
    """Ranks by node, and the network, for people."""
    from elanite.base.text import counted
    from elanite.mpirun.summary import rank_list

    by_node: dict[int, list[int]] = {}
    for rank, node in enumerate(placement):
        by_node.setdefault(node, []).append(rank)
    said = [f"node {node}: {rank_list(ranks)}" for node, ranks in by_node.items()]
    if len(said) > MOST_NODES + 1:
        said = [*said[:MOST_NODES], "...", said[-1]]
    network = (
        f"of the machine: {counted(cluster.nodes, 'node')},"
        f" {counted(cluster.rails, 'adapter')} in each"
        if options.network == "machine"
        else "ideal: messages do not wait for each other"
    )
    faults = f"; {counted(len(options.faults), 'fault')}" if options.faults else ""
    return [("ranks", "; ".join(said)), ("network", f"{network}{faults}")]


def _written(files: Sequence[str]) -> list[tuple[str, str]]:
    return [("files" if not number else "", name) for number, name in enumerate(files)]


def outputs(folder: Path, *files: Path | None) -> list[str]:
    """The places that a run writes: a folder below ``folder``, and the files that are asked for."""
    return [f"{folder}/...", *(str(file) for file in files if file is not None)]
