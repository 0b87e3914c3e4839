"""New files to start from: a machine like a shipped one, and an experiment with uniform traffic.

A machine file's comments are the schema's descriptions, so that no key lacks one. Claims about the
original machine do not apply to the new one: ``fitted_to`` is left out, and every source names the
machine it comes from.
"""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.units import amount
from elanite.errors import UsageError
from elanite.explain import catalog
from elanite.inputs.warmup import long_enough

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elanite.inputs.contents import MachineFile
    from elanite.inputs.designs import Design
    from elanite.inputs.sources import Source

WIDTH = 110
"""Comment width."""

FAST = 5_000.0
"""Link rate in MB/s from which on a new experiment measures for a shorter time."""


PROCESSES, MESSAGE = 16, 4096
"""Processes on each node in a new experiment, and their messages' bytes."""


def machine_file(
    name: str, preset: Source, nodes: int | None = None, design: Design | None = None
) -> str:
    """A machine file like another machine, with a comment on every section and key.

    It has ``nodes`` nodes, in a tree with the other machine's switches, or a design's values.
    """
    from elanite.mpirun.cluster import tree_of

    # True before the file is edited and after it: the preset's title would describe values that are
    # gone.
    title = f"a machine of my own, begun from {preset.name}"
    changed: dict[str, tuple[str, str]] = {}
    if design is not None:
        title = design.title
        changed = {
            key: (json.dumps(value, ensure_ascii=False), source)
            for key, (value, source) in design.values.items()
        }
    elif nodes:
        why = f"assumed: so many nodes, with the switches of {preset.name}"
        changed = {
            key: (value, why)
            for key, value in (one.split("=", 1) for one in tree_of(preset, nodes))
        }
    lines = [
        f"# {name}: a machine that starts from {preset.name}.",
        *(f"# - {note}" for note in (design.notes if design else ())),
        "#",
        *_comment(
            "Every parameter has a value and a source: the document that gives the value, or how"
            " it was measured or assumed. Change what you know better, and say whence. Values that"
            f" say {preset.name} are those of that machine. Quantities carry their unit; KB is 1024"
            " bytes, and the MB of MB/s is 10^6 bytes. `elanite check` checks the file, and"
            " `elanite explain KEY` tells bounds."
        ),
        "",
        *_comment(
            "What the machine is called, and a title that reports show: say in a few words what the"
            " machine is."
        ),
        "[machine]",
        f"name = {json.dumps(name)}",
        f"title = {json.dumps(title, ensure_ascii=False)}",
        *_sections(preset, changed, whole=("topology",) if design else ()),
    ]
    text = "\n".join(lines) + "\n"
    _core.load_machine(text, f"{name}.toml", [])
    return text


def _sections(
    preset: Source, changed: dict[str, tuple[str, str]], whole: tuple[str, ...] = ()
) -> Iterator[str]:
    """The preset's sections with comments; those in ``whole`` have the changed keys alone."""
    texts = {
        **catalog.sections(),
        **{row["parameter"]: row["meaning"] for row in catalog.parameters()},
    }
    section = ""
    skipped = True
    for line in _joined(preset.text):
        if head := re.fullmatch(r"\[\[?([\w.-]+)\]\]?\s*(#.*)?", line):
            section = head[1]
            skipped = section == "machine"
            if not skipped:
                yield ""
                yield from _comment(texts.get(section) or texts.get(section.split(".")[0], ""))
                yield line
            if section in whole:
                skipped = True
                for key, each in changed.items():
                    if key.partition(".")[0] == section:
                        yield from _comment(texts.get(key, ""))
                        yield _row(key.partition(".")[2], *each)
            continue
        found = re.fullmatch(r"([\w-]+) = (.*)", line)
        if skipped or not found:
            continue
        key = f"{section}.{found[1]}"
        described = re.sub(r"^noise\.[^.]+\.", "noise.NAME.", key)
        yield from _comment(texts.get(described, ""))
        if key in changed:
            yield _row(found[1], *changed[key])
        else:
            yield _from(preset.name, line)


def _row(key: str, value: str, source: str) -> str:
    return f"{key} = {{ value = {value}, source = {json.dumps(source, ensure_ascii=False)} }}"


def _joined(text: str) -> list[str]:
    """A machine file's lines, each with a whole parameter, without fitted claims and without the
    source's range.
    """
    text = re.sub(r'"""((?:[^\\]|\\.)*?)"""', _one_line, text, flags=re.DOTALL)
    text = re.sub(r",\s+fitted_to = \[[^\]]*\]", "", text)
    text = re.sub(r', admissible = \{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}', "", text)
    return text.splitlines()


def _one_line(string: re.Match[str]) -> str:
    """A string over several lines, which end with backslashes, as a string on one line."""
    return '"' + re.sub(r"\\\n\s*", "", string[1]) + '"'


def _from(preset: str, line: str) -> str:
    """A preset line, whose source names the preset."""
    return re.sub(r'source = "', f'source = "{preset}: ', line)


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, WIDTH)]


def experiment_file(name: str, machine: Source) -> str:
    """An experiment file with uniform traffic on all nodes in a machine, from light load to
    saturation.
    """
    about: MachineFile = json.loads(_core.load_machine(machine.text, machine.file, []))
    values = {one["key"]: one["value"] for one in about["parameters"]}
    nodes = int(str(values["topology.nodes"]))
    rates = values["link.rate"]
    # A list begins with the node links.
    rate = amount(rates[0] if isinstance(rates, list) and rates else rates)
    if nodes < 2 or rate is None:
        raise UsageError(f"{machine.name} has {nodes} node; traffic needs two")
    loads = [round(rate * share) for share in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8)]
    # A fast network moves the same message count in a shorter time.
    warm_up, window = (200.0, "400 us") if rate > FAST else (1000.0, "2 ms")
    # Arrivals are stationary once each process has sent a message on average, at the lowest load,
    # too.
    gap = PROCESSES * MESSAGE / max(loads[0], 1)
    text = EXPERIMENT.format(
        name=json.dumps(name),
        machine=json.dumps(machine.argument),
        warm_up=long_enough(max(warm_up, gap)),
        window=window,
        processes=PROCESSES,
        message=f"{MESSAGE // 1024} KB",
        nodes=nodes,
        last=nodes - 1,
        loads=", ".join(f'"{load} MB/s"' for load in loads),
    )
    _core.load_experiment(text, f"{name}.toml", [])
    return text


EXPERIMENT = """\
# An experiment: series of points on a machine. Every field of a series is one value or a list; the
# points are all combinations of the values in the lists. `elanite show FILE` lists the points,
# `elanite run FILE --html FILE.html` draws the figures.

title = {name}
source = "my own"
machine = {machine} # a shipped machine or the path of a machine file; a list compares machines

[run] # how points are measured; a series may change it: run = {{ window = "20 ms" }}
# Before the window, each process sends a message on average, so that arrivals are stationary:
# processes * message / load.
warm_up = "{warm_up}" # simulated time that is discarded
window = "{window}" # simulated time that is measured after it
batches = 10 # parts of the window; their means give the 95% confidence interval
seeds = 1 # runs with different random numbers

[[series]]
name = "load"
title = "Uniform traffic from light load to saturation"
[series.jobs.uniform] # a job, by a name of your choice; several jobs run at the same time
# Where messages go; for any number of nodes also complement, tornado, "shift 8", "random 1".
pattern = "uniform"
nodes = {nodes} # the first so many nodes, or a set such as "0-15"
processes = {processes} # on each node, which share the load; each sends one message at a time
# Mean size; with few processes, short messages saturate the senders before the network.
message = "{message}"
sizes = "fixed" # distribution of sizes: fixed, uniform, exponential
arrivals = "exponential" # distribution of the times between messages
load = [{loads}] # offered by each node
# [[series.fault]] # what fails while this series runs; [[fault]] at the top is for all series
# links = "level 1" # the cables of a level, a cable, a switch, an adapter, a node or a rail
# count = [1, 2]
# pick = "random"
# at = "0 us" # they are down from here on; or bit_error_rate, or mtbf with mttr

[[series]]
name = "ping"
title = "One message at a time between the first and the last node"
[series.ping]
from = 0
to = {last}
directions = "one" # or "both"
source = "main" # the memory at the sender: main memory, or the adapter's ("elan")
destination = "main"
message = ["0 B", "64 B", "1 KB", "4 KB", "64 KB", "1 MB"]
repeats = 10

[[figure]]
name = "load"
title = "Accepted against offered load"
draw = "loads"
series = ["load"]

[[figure]]
name = "latency"
title = "Latency of a message on an idle machine"
series = ["ping"]
metric = "latency"
x = "message_bytes"
x_scale = "steps"
x_title = "message size"
y_title = "latency, µs"
log = true
"""
