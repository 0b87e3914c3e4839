"""Measures of barriers and broadcasts (002)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from elanite.frames import padded
from elanite.measures.base import (
    LITTLE,
    Finding,
    Number,
    at_least,
    averaged,
    difference,
    measure,
    ratio,
    together,
    with_interval,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.claims import Claim

SIGNIFICANT = 0.10
"""A bandwidth that is lower by this fraction is significantly degraded (002 gives no figure)."""

BRANCHING = 4
"""Nodes of a switch, and switches of a switch above: the layers that a broadcast to so many nodes passes."""

HARDWARE, SOFTWARE = "hbcast", "bcast"

BROADCASTS = {HARDWARE: "hardware", SOFTWARE: "software"}

MEMORY = {"elan": "Elan memory", "main": "main memory"}

NAMES = {(name, memory): f"{BROADCASTS[name]}, {MEMORY[memory]}" for name in BROADCASTS for memory in MEMORY}
"""Kinds of broadcasts, in words."""

UNCHANGED = "unchanged"
"""The machine as it is, which serialises broadcasts."""

SAID = {True: "so", False: "not so", None: "not resolved"}

Figures = dict[tuple[bool, str, str, int], Number]
"""Broadcasts by whether there is other traffic, operation, memory, and size of the message."""

Part = tuple[bool | None, list[str]]
"""Whether one of several findings holds, and the figures in words."""


@measure("slowdown")
def slowdown(rows: pl.DataFrame, claim: Claim) -> Number:
    """A mean among other traffic over that without, the largest over the numbers of nodes and the patterns of traffic.

    A configuration that several series have is taken from the longest. The interval is that of the largest of several:
    from the highest low end to the highest high end.
    """
    rows = rows.filter(pl.col("metric") == claim.metric)
    traffic = pl.col("background.pattern")
    idle = {nodes: averaged(here) for (nodes,), here in rows.filter(traffic.is_null()).group_by("nodes")}
    loaded: dict[tuple[int, str], Number] = {}
    groups = rows.filter(traffic.is_not_null()).group_by("series", "nodes", "background.pattern", maintain_order=True)
    for (_, nodes, pattern), here in groups:
        assert isinstance(nodes, int)  # noqa: S101 - polars does not know
        one, key = averaged(here), (nodes, str(pattern))
        if key not in loaded or len(one.values) > len(loaded[key].values):
            loaded[key] = one
    found = {(nodes, pattern): ratio(one, idle[nodes]) for (nodes, pattern), one in loaded.items()}
    note = "; ".join(
        f"{nodes} nodes, {pattern} {one.mean:.1f} ({in_us(loaded[nodes, pattern])} of {idle[nodes].mean:.2f} us)"
        for (nodes, pattern), one in found.items()
    )
    most = max(one.mean for one in found.values())
    low, high = max(one.low for one in found.values()), max(one.high for one in found.values())
    return Number(most, low, high, note)


@measure("asymptotes")
def asymptotes(rows: pl.DataFrame, claim: Claim) -> Number:
    """The asymptotic bandwidth by hardware; besides, that by software is as published, too.

    It is the rate of what the longest message has more than the second longest: no start-up is in it, neither the
    barrier nor the filling of a chain of processes. The note has the whole bandwidth of the longest, too.
    """
    value, tolerance = claim.value or 0.0, claim.tolerance or 0.0
    rates, words = {}, []
    for operation, said in BROADCASTS.items():
        times = _by_size(rows.filter(pl.col("operation") == operation, pl.col("metric") == claim.metric))
        (few, before), (many, last) = list(times.items())[-2:]
        more = difference(last, before)
        # Bytes per microsecond are MB/s.
        length = many - few
        rate = Number(length / more.mean, length / more.high, length / more.low)
        rates[operation] = rate
        words.append(
            f"{said} {with_interval(rate)} ({rate.mean / value - 1:+.1%}), {many / last.mean:.1f} with start-up"
        )
    besides = within(rates[SOFTWARE], value * (1 - tolerance), value * (1 + tolerance))
    hardware = rates[HARDWARE]
    return Number(hardware.mean, hardware.low, hardware.high, "; ".join(words), besides)


@measure("most")
def most_of_sizes(rows: pl.DataFrame, claim: Claim) -> Number:
    """The largest mean of a metric over the sizes of messages."""
    found = _by_size(rows.filter(pl.col("metric") == claim.metric))
    most = max(found.values(), key=lambda one: one.mean)
    note = ", ".join(f"{size} B {one.mean:.2f}" for size, one in found.items())
    return Number(most.mean, most.low, most.high, f"{note} us")


@measure("software-extra")
def software_extra(rows: pl.DataFrame, claim: Claim) -> Number:
    """How much longer the software broadcast takes than the hardware one, mean over the sizes of messages."""
    rows = rows.filter(pl.col("metric") == claim.metric)
    parts = [rows.filter(pl.col("operation") == name) for name in (SOFTWARE, HARDWARE)]
    extra = difference(*(averaged(here) for here in parts))
    software, hardware = (_by_size(here) for here in parts)
    each = {size: software[size].mean - hardware[size].mean for size in software}
    note = f"{min(each.values()):.2f} to {max(each.values()):.2f} us: "
    note += ", ".join(f"{size} B {one:.2f}" for size, one in each.items())
    return Number(extra.mean, extra.low, extra.high, note)


@measure("broadcast-flat")
def flat(rows: pl.DataFrame, claim: Claim) -> Finding:
    """A metric that differs little between the numbers of nodes, for the hardware and for the software broadcast."""
    parts, words, numbers = [], [], []
    for operation, found in _by_nodes(rows, claim.metric).items():
        ordered = sorted(found.values(), key=lambda one: one.mean)
        parts.append(at_least(ratio(ordered[0], ordered[-1]), 1 - LITTLE))
        words.append(f"{operation}: {_over_nodes(found)}")
        numbers += ordered
    return Finding(together(parts), "; ".join(words), tuple(numbers))


@measure("layers")
def layers(rows: pl.DataFrame, claim: Claim) -> Finding:
    """A metric that is alike for numbers of nodes of the same layers of switches, and lower with each more layer."""
    parts, words, numbers = [], [], []
    for operation, found in _by_nodes(rows, claim.metric).items():
        steps: dict[int, list[Number]] = {}
        for nodes, one in found.items():
            steps.setdefault(_layers(nodes), []).append(one)
        for same in steps.values():
            least, most = min(same, key=_mean), max(same, key=_mean)
            parts.append(at_least(ratio(least, most), 1 - LITTLE))
        for fewer, more in pairwise(steps[count] for count in sorted(steps)):
            parts.append(_below(max(more, key=_mean), min(fewer, key=_mean)))
        words.append(f"{operation}: {_over_nodes(found)}")
        numbers += list(found.values())
    return Finding(together(parts), "; ".join(words), tuple(numbers))


@measure("broadcast-loaded")
def loaded(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001 - all measures look alike
    """Three findings at once, of broadcasts with other traffic and without.

    The bandwidth of all is lower; the software takes longer than the hardware by more than without; with buffers in
    main memory bandwidth is higher than in the adapter's. Each is compared at every size that was run both ways.
    """
    rows = padded(rows, **{"background.pattern": pl.String})
    busy = pl.col("background.pattern").is_not_null().alias("busy")
    found: dict[str, Figures] = {}
    for metric in ("bandwidth", "latency"):
        here = rows.filter((pl.col("metric") == metric) & pl.col("series").str.starts_with(metric))
        groups = here.group_by(busy, "operation", "memory", "message_bytes", maintain_order=True)
        found[metric] = {
            (bool(key[0]), str(key[1]), str(key[2]), int(str(key[3]))): averaged(group) for key, group in groups
        }
    parts = {
        "bandwidth that is kept": _degraded(found["bandwidth"]),
        "software above hardware latency, without other traffic and with it": _grown(found["latency"]),
        "bandwidth of main above Elan memory": _better(found["bandwidth"]),
    }
    text = "; ".join(f"{what}, {SAID[holds]}: {', '.join(words)}" for what, (holds, words) in parts.items())
    figures = (figure for group in found.values() for figure in group.values())
    return Finding(together(holds for holds, _ in parts.values()), text, tuple(figures))


def _degraded(found: Figures) -> Part:
    """Whether bandwidth is much lower with other traffic, of each kind."""
    parts, words = [], []
    for name, memory in NAMES:
        kept = {size: ratio(found[True, name, memory, size], found[False, name, memory, size]) for size in _both(found)}
        parts += [within(one, 0.0, 1 - SIGNIFICANT) for one in kept.values()]
        words.append(f"{NAMES[name, memory]} {_each(kept, lambda one: f'{one.mean:.0%} ± {one.half:.0%}')}")
    return together(parts), words


def _grown(found: Figures) -> Part:
    """Whether the software is slower than the hardware by more with other traffic, in each memory."""
    parts, words = [], []
    for memory in MEMORY:
        said = []
        for size in _both(found):
            before, after = (
                difference(found[busy, SOFTWARE, memory, size], found[busy, HARDWARE, memory, size])
                for busy in (False, True)
            )
            parts.append(at_least(difference(after, before), 0.0))
            said.append(f"{size} B {before.mean:.1f} and {after.mean:.1f} ± {after.half:.1f}")
        words.append(f"{MEMORY[memory]} {', '.join(said)} us")
    return together(parts), words


def _better(found: Figures) -> Part:
    """Whether bandwidth with other traffic is higher in main memory, by hardware and by software."""
    parts, words = [], []
    for name in BROADCASTS:
        gain = {size: ratio(found[True, name, "main", size], found[True, name, "elan", size]) for size in _both(found)}
        parts += [at_least(one, 1.0) for one in gain.values()]
        words.append(f"{BROADCASTS[name]} {_each(gain, lambda one: f'{one.mean - 1:+.1%} ± {one.half:.1%}')}")
    return together(parts), words


def _both(found: Figures) -> list[int]:
    """The sizes of messages that were broadcast with other traffic."""
    return list(dict.fromkeys(size for busy, _, _, size in found if busy))


@measure("deadlocks")
def deadlocks(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Broadcasts at the same time complete where they are serialised, and come to a deadlock where they are not."""
    found = {
        (str(machine), int(str(groups))): (here["value"].sum(), len(here))
        for (machine, groups), here in rows.filter(pl.col("metric") == "deadlock").group_by(
            "machine", "groups", maintain_order=True
        )
    }
    serialised = [ended for (machine, _), (ended, _) in found.items() if machine == UNCHANGED]
    apart = [ended for (machine, _), (ended, _) in found.items() if machine != UNCHANGED]
    text = "; ".join(
        f"{'serialised' if machine == UNCHANGED else 'by source'}, {groups} at the same time:"
        f" {f'deadlock in {ended:.0f} of {runs} runs' if ended else 'all complete'}"
        for (machine, groups), (ended, runs) in found.items()
    )
    return Finding(sum(serialised) == 0 and sum(apart) > 0, text)


def in_us(figure: Number) -> str:
    """A latency with its interval, in words."""
    return f"{figure.mean:.2f} [{figure.low:.2f}, {figure.high:.2f}] us"


def _mean(figure: Number) -> float:
    return figure.mean


def _below(one: Number, other: Number) -> bool | None:
    """Whether one figure is less than another by more than the intervals."""
    return at_least(difference(other, one), 0.0) if other.mean != one.mean else False


def _layers(nodes: int) -> int:
    count = 1
    while BRANCHING**count < nodes:
        count += 1
    return count


def _by_size(rows: pl.DataFrame) -> dict[int, Number]:
    groups = rows.sort("message_bytes", maintain_order=True).group_by("message_bytes", maintain_order=True)
    return {int(str(size)): averaged(here) for (size,), here in groups}


def _by_nodes(rows: pl.DataFrame, metric: str) -> dict[str, dict[int, Number]]:
    """By operation, in words, and number of nodes."""
    here = rows.filter(pl.col("metric") == metric).sort("nodes", maintain_order=True)
    found: dict[str, dict[int, Number]] = {}
    for (operation, nodes), group in here.group_by("operation", "nodes", maintain_order=True):
        found.setdefault(BROADCASTS[str(operation)], {})[int(str(nodes))] = averaged(group)
    return found


def _over_nodes(found: dict[int, Number]) -> str:
    return ", ".join(f"{nodes} nodes {one.mean:.1f}" for nodes, one in found.items()) + " MB/s"


def _each(found: dict[int, Number], said: Callable[[Number], str]) -> str:
    return ", ".join(f"{size} B {said(one)}" for size, one in found.items())
