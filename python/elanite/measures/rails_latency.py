"""Measures of the latency of the policies of several rails, and of striping (004 s6.2, s6.4, s6.6).

Latencies are in cycles, of points that are not saturated. They are compared point with point: equal seeds send equal
messages at equal times, whatever the policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from elanite.measures.base import LITTLE, Finding, Number, at_least, averaged, measure, ratio, together, within
from elanite.measures.rails import FULL, NONE, Figures, change_of, maxima, said, size_of
from elanite.policies import told

if TYPE_CHECKING:
    from elanite.claims import Claim


CROSSING = 0.15
"""Up to about this load local-dynamic has the lower latency (004 s6.2); at it either may."""

SWITCH = 16 * 1024
"""The message size from which dynamic is best (004 s6.2); at it either may."""

BELOW, ABOVE = "local-dynamic lower below 0.15", "dynamic lower above"

LOW_LOADS = 2
"""The lowest loads of the experiment, at which the claim is tested; at higher ones the paper has dynamic as good or
better without striping (004 s6.6)."""


def latencies(rows: pl.DataFrame, *keys: str) -> Figures:
    """The mean latency, in cycles, of each configuration that is not saturated in any run."""
    rows = told(rows)
    value = pl.col("value").filter(pl.col("metric") == "saturated").max().over(keys)
    steady = rows.filter((value < 0.5) & (pl.col("metric") == "latency_cycles"))
    return {key: averaged(group) for key, group in steady.group_by(keys, maintain_order=True)}


@measure("rails-latency")
def rails_latency(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """How latency changes from one to seven rails: basic's grows, striped ones' fall, unstriped ones' do not grow."""
    found = latencies(rows, "policy", "striping", "rails")
    words, changes, numbers = [], {}, []
    for policy, striping in dict.fromkeys((policy, striping) for policy, striping, _ in found):
        counts = sorted(rails for *one, rails in found if one == [policy, striping])
        few, many = found[policy, striping, counts[0]], found[policy, striping, counts[-1]]
        change = changes[policy, striping] = ratio(many, few)
        figures = ", ".join(f"{found[policy, striping, rails].mean:.0f}" for rails in counts)
        name = ", ".join(word for word in (policy, striping) if word)
        words.append(f"{name}: {figures} cycles with {counts[0]} to {counts[-1]} rails, {change_of(change)}")
        numbers += [few, many]
    parts = {
        "basic grows": at_least(changes["basic", ""], 1 + LITTLE),
        "local-dynamic falls with striping": within(changes["local-dynamic", FULL], 0.0, 1 - LITTLE),
        "dynamic does": within(changes["dynamic", FULL], 0.0, 1 - LITTLE),
        "local-dynamic more": changes["local-dynamic", FULL].mean < changes["dynamic", FULL].mean,
        "local-dynamic scales without": within(changes["local-dynamic", NONE], 0.0, 1 + LITTLE),
        "dynamic scales without": within(changes["dynamic", NONE], 0.0, 1 + LITTLE),
    }
    words.append("; ".join(f"{name}: {said(holds)}" for name, holds in parts.items()))
    return Finding(together(parts.values()), "; ".join(words), tuple(numbers))


@measure("striping-bandwidth")
def striping_bandwidth(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Figures with and without striping hardly differ; latencies are lower with it wherever neither is saturated."""
    several = pl.col("load_MBps").n_unique().over("message_bytes") > 1
    found = maxima(rows.filter(several), "policy", "message_bytes", "striping")
    parts, words, numbers = [], [], []
    for (policy, size, striping), figure in found.items():
        if striping == FULL:
            change = ratio(figure, found[policy, size, NONE])
            parts.append(within(change, 1 - LITTLE, 1 + LITTLE))
            words.append(f"{policy}, {size_of(size)}: {change_of(change)} accepted")
            numbers += [figure, found[policy, size, NONE]]
    delays = latencies(rows, "policy", "message_bytes", "load_MBps", "striping")
    pairs = [key[:-1] for key in delays if key[-1] == FULL and (*key[:-1], NONE) in delays]
    longer = [key for key in pairs if delays[*key, FULL].mean > delays[*key, NONE].mean]
    words.append(f"latency is lower with striping in {len(pairs) - len(longer)} of {len(pairs)} points")
    for policy, size, load in longer:
        cut = delays[policy, size, load, FULL].mean / delays[policy, size, load, NONE].mean - 1
        words.append(f"{policy}, {size_of(size)}, {load:g} MB/s: {cut:+.1%} latency")
    return Finding(together([*parts, not longer]), "; ".join(words), tuple(numbers))


@measure("striping-latency")
def striping_latency(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001
    """What full striping cuts of the latency of one policy at one load."""
    found = {key[0]: figure for key, figure in latencies(rows, "striping").items()}
    left = ratio(found[FULL], found[NONE])
    note = f"{found[FULL].mean:.0f} ± {found[FULL].half:.0f} of {found[NONE].mean:.0f} ± {found[NONE].half:.0f} cycles"
    return Number(1 - left.mean, 1 - left.high, 1 - left.low, note)


@measure("striping-crossover")
def striping_crossover(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Who has the lower latency: over the load at 64 KB, and over the message size at the load that has all sizes."""
    rows = told(rows)
    parts: dict[str, bool] = {}
    words = []
    striped = rows.filter((pl.col("message_bytes") == 64 * 1024) & (pl.col("striping") == FULL))
    by_load = latencies(striped, "policy", "load_MBps")
    links = _links(striped)
    loads = sorted(load for policy, load in by_load if policy == "dynamic" and ("local-dynamic", load) in by_load)
    for load in loads:
        part = round(load / links, 3)
        local, dynamic = by_load["local-dynamic", load].mean, by_load["dynamic", load].mean
        words.append(f"64 KB, {part:.2g}: local-dynamic {local:.0f}, dynamic {dynamic:.0f} cycles")
        if part < CROSSING:
            parts.setdefault(BELOW, True)
            parts[BELOW] &= local < dynamic
        elif part > CROSSING:
            parts.setdefault(ABOVE, True)
            parts[ABOVE] &= dynamic < local
    parts.setdefault(ABOVE, False)
    sizes = pl.col("message_bytes").n_unique().over("load_MBps")
    here = rows.filter(sizes == sizes.max())
    by_size = latencies(here, "message_bytes", "curve")
    best_below, best_above = [], []
    for size in sorted({size for size, _ in by_size}):
        found = {curve: one.mean for (other, curve), one in by_size.items() if other == size}
        best = min(found, key=lambda curve: found[curve])
        words.append(f"{size_of(size)}: {best} {found[best]:.0f}")
        if size < SWITCH:
            best_below.append(best == f"local-dynamic, {FULL}")
        elif size > SWITCH:
            best_above.append(best == f"dynamic, {FULL}")
    parts["local-dynamic with striping best below 16 KB"] = all(best_below)
    parts["dynamic with striping best above"] = all(best_above)
    short = here.filter((pl.col("policy") == "dynamic") & (pl.col("message_bytes") < 8 * 1024))
    state = short.filter(pl.col("metric") == "saturated")
    parts["dynamic saturated below 8 KB"] = not state.is_empty() and state["value"].to_list() == [1.0] * len(state)
    words.append("; ".join(f"{name}: {said(holds)}" for name, holds in parts.items()))
    return Finding(all(parts.values()), "; ".join(words))


def _links(rows: pl.DataFrame) -> float:
    """What the links of a node carry together, in MB/s."""
    offered = {metric: averaged(rows.filter(pl.col("metric") == metric)).mean for metric in ("offered", "offered_part")}
    return offered["offered"] / offered["offered_part"]


@measure("hybrid-latency")
def hybrid_latency(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """How many thresholds beat both other policies in latency, at low loads; striped at 32 KB dynamic is better."""
    found = latencies(rows, "striping", "load_MBps", "policy", "threshold")
    loads = sorted({load for _, load, *_ in found})[:LOW_LOADS]
    parts, words = [], []
    for striping in (NONE, FULL):
        for load in loads:
            basic, dynamic = found["", load, "basic", ""].mean, found[striping, load, "dynamic", ""].mean
            hybrid = {key[3]: one.mean for key, one in found.items() if key[:3] == (striping, load, "hybrid")}
            better = [threshold for threshold, one in hybrid.items() if one < min(basic, dynamic)]
            parts.append(len(better) >= len(hybrid) - 1)
            figures = ", ".join(f"{threshold} {one:.0f}" for threshold, one in hybrid.items())
            words.append(
                f"{striping}, {load:g} MB/s: basic {basic:.0f}, dynamic {dynamic:.0f}, hybrid {figures} cycles:"
                f" {len(better)} of {len(hybrid)} beat both"
            )
            if striping == FULL and load == loads[0]:
                parts.append(hybrid["32 KB"] > dynamic)
                words.append(f"32 KB {'above' if parts[-1] else 'not above'} dynamic")
    return Finding(all(parts), "; ".join(words))
