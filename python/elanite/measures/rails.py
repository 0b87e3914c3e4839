"""Measures of what the policies of several rails accept (004 s5, s6).

Loads are parts of what all links of a node carry. The maximum accepted load is what is accepted at the highest load of
a configuration, beyond its saturation.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from elanite.measures.base import (
    Finding,
    Number,
    at_least,
    averaged,
    difference,
    measure,
    of_whole,
    ratio,
    together,
)
from elanite.policies import told

if TYPE_CHECKING:
    from collections.abc import Callable

    from elanite.claims import Claim

NEARLY = 0.1
"""What varies by no more than this fraction of its highest value is almost constant (004 gives no figure)."""

FULL, NONE = "full striping", "no striping"

Figures = dict[tuple[Any, ...], Number]


def maxima(rows: pl.DataFrame, *keys: str) -> Figures:
    """The maximum accepted load of each configuration, by columns that tell them apart."""
    rows = told(rows).filter(pl.col("metric") == "accepted_part")
    rows = rows.filter(pl.col("load_MBps") == pl.col("load_MBps").max().over(keys))
    return {key: averaged(group) for key, group in rows.group_by(keys, maintain_order=True)}


@measure("rails-limit")
def limit(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001 - all measures look alike
    """The most that any configuration accepts."""
    keys = ("curve", "rails", "nodes", "message_bytes")
    found = maxima(rows, *keys)
    best = max(found, key=lambda key: found[key].mean)
    curve, rails, nodes, size = best
    most = found[best]
    note = f"{curve}, {rails_of(rails)}, {nodes} nodes, {size_of(size)}; the most of {len(found)} configurations"
    return Number(most.mean, most.low, most.high, note, values=most.values)


def _gain(policy: str, over: str) -> Callable[[pl.DataFrame, Claim], Number]:
    def gain(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001
        found = maxima(rows, "message_bytes", "policy", "striping", "threshold")
        gains: list[tuple[Number, str]] = []
        for (size, one, striping, threshold), figure in found.items():
            if one != policy:
                continue
            # Like is compared with like: with and without striping, where both have it.
            other = next(
                (found[key] for key in ((size, over, striping, ""), (size, over, "", "")) if key in found), None
            )
            if other is not None:
                parts = (size_of(size), threshold and f"threshold {threshold}", striping)
                words = f"{', '.join(part for part in parts if part)}: {part_of(figure)} of {part_of(other)}"
                gains.append((ratio(figure, other), words))
        if not gains:
            raise ValueError(f"the points have no pair of {policy} and {over}")
        best, _ = max(gains, key=lambda one: one[0].mean)
        note = "; ".join(f"{words}, {one.mean - 1:+.1%}" for one, words in gains)
        return Number(best.mean - 1, best.low - 1, best.high - 1, note)

    return gain


for _one, _other in (
    ("dynamic", "basic"),
    ("dynamic", "local-dynamic"),
    ("hybrid", "basic"),
    ("hybrid", "local-dynamic"),
    ("hybrid", "dynamic"),
):
    measure(f"{_one}-over-{_other}")(_gain(_one, _other))


@measure("node-scaling")
def node_scaling(rows: pl.DataFrame, claim: Claim) -> Number:
    """What each policy loses of its maximum from the fewest to the most nodes: the loss farthest from the middle."""
    found = maxima(rows, "nodes", "curve")
    few, many = min(nodes for nodes, _ in found), max(nodes for nodes, _ in found)
    losses = {}
    for curve in dict.fromkeys(curve for _, curve in found):
        left = ratio(found[many, curve], found[few, curve])
        losses[curve] = Number(1 - left.mean, 1 - left.high, 1 - left.low)
    middle = ((claim.low or 0.0) + (claim.high or 0.0)) / 2
    farthest = max(losses.values(), key=lambda one: abs(one.mean - middle))
    note = "; ".join(f"{curve} {of_whole(one)}" for curve, one in losses.items())
    return Number(farthest.mean, farthest.low, farthest.high, f"{few} to {many} nodes: {note}")


@measure("rails-loss")
def rails_loss(rows: pl.DataFrame, claim: Claim) -> Number:  # noqa: ARG001
    """What a policy loses of its normalised maximum from the fewest to the most rails."""
    found = maxima(rows, "rails")
    few, many = min(found), max(found)
    left = ratio(found[many], found[few])
    note = f"{part_of(found[few])} with {rails_of(few[0])}, {part_of(found[many])} with {many[0]}"
    return Number(1 - left.mean, 1 - left.high, 1 - left.low, note)


@measure("rails-constant")
def rails_constant(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """The normalised maximum hardly varies from one to seven rails; above 16 KB more rails carry more for each."""
    found = maxima(rows, "message_bytes", "rails")
    series = {rails: figure for (size, rails), figure in found.items() if size == 32 * 1024}
    highest = max(series.values(), key=lambda one: one.mean)
    parts = [at_least(ratio(one, highest), 1 - NEARLY) for one in series.values() if one is not highest]
    words = ["32 KB: " + ", ".join(f"{rails_of(rails)} {part_of(series[rails])}" for rails in sorted(series))]
    numbers = list(series.values())
    for size in sorted({size for size, _ in found if size > 16 * 1024}):
        counts = sorted(rails for one, rails in found if one == size and rails in (1, 2, 4))
        few, many = found[size, counts[0]], found[size, counts[-1]]
        change = ratio(many, few)
        parts.append(at_least(change, 1.0))
        words.append(f"{size_of(size)}, {rails_of(counts[0])} to {counts[-1]}: {change_of(change)}")
        numbers += [few, many]
    return Finding(together(parts), "; ".join(words), tuple(numbers))


@measure("rails-message-size")
def message_size(rows: pl.DataFrame, claim: Claim) -> Finding:  # noqa: ARG001
    """Figures at two message sizes, and saturation points over all, of the three policies."""
    beyond = rows.filter(pl.col("load_MBps") == pl.col("load_MBps").max())
    found = maxima(beyond, "policy", "message_bytes")
    short, long = (bound({size for _, size in found}) for bound in (min, max))
    changes = {policy: ratio(found[policy, long], found[policy, short]) for policy in ("basic", "dynamic")}
    near, far = (difference(found["local-dynamic", long], found[one, long]) for one in ("basic", "dynamic"))
    parts = {
        "basic falls": at_least(_less(changes["basic"]), -1.0),
        "dynamic rises": at_least(changes["dynamic"], 1.0),
        "local-dynamic above basic on long messages": at_least(near, 0.0),
        "below it on short ones": at_least(difference(found["basic", short], found["local-dynamic", short]), 0.0),
        "nearer to it than to dynamic on long ones": abs(near.mean) < abs(far.mean),
    }
    words = [
        f"{policy} {', '.join(f'{size_of(size)} {part_of(found[policy, size])}' for size in (short, long))}"
        for policy in dict.fromkeys(policy for policy, _ in found)
    ]
    for policy, points in _saturation(rows).items():
        loads = [points[size] for size in sorted(points)]
        if policy == "dynamic":
            steps = all(one <= other for one, other in pairwise(loads))
            parts["dynamic saturates later on longer messages"] = steps and loads[-1] > loads[0]
        else:
            parts[f"{policy} saturates at nearly the same load"] = min(loads) >= (1 - NEARLY) * max(loads)
        figures = ", ".join(f"{size_of(size)} {points[size]:.3f}" for size in sorted(points))
        words.append(f"{policy} saturates at {figures}")
    words.append("; ".join(f"{name}: {said(holds)}" for name, holds in parts.items()))
    return Finding(together(parts.values()), "; ".join(words), tuple(found.values()))


def _saturation(rows: pl.DataFrame) -> dict[str, dict[int, float]]:
    points: dict[str, dict[int, float]] = {}
    searched = told(rows.filter(pl.col("metric") == "saturation_part"))
    for row in searched.iter_rows(named=True):
        points.setdefault(row["policy"], {})[row["message_bytes"]] = row["value"]
    return points


def _less(figure: Number) -> Number:
    return Number(-figure.mean, -figure.high, -figure.low)


def part_of(figure: Number) -> str:
    """A part of what the links carry, in words."""
    return f"{figure.mean:.3f} ± {figure.half:.3f}"


def change_of(figure: Number) -> str:
    """A ratio as a change, in words."""
    return f"{figure.mean - 1:+.1%} [{figure.low - 1:+.1%}, {figure.high - 1:+.1%}]"


def size_of(size: int) -> str:
    """A message size in words."""
    return f"{size // 1024} KB" if size >= 1024 else f"{size} B"


def rails_of(count: int) -> str:
    """A number of rails in words."""
    return "one rail" if count == 1 else f"{count} rails"


def said(holds: bool | None) -> str:
    """Whether something holds, in a word."""
    return {True: "yes", False: "no", None: "not resolved"}[holds]
