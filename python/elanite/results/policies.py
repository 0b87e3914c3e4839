"""Names for multirail policies (coll2003) in figures and measures, from a series' machine changes.

The experiments on several rails vary parameters in ``machine`` only. The label for these changes is
a column in their tables, such as ``rails.policy=dynamic, rails.striping=1.0``.
"""

from __future__ import annotations

import polars as pl

from elanite.results.frames import padded

RAILS = 4
"""The rails per node, unless a series changes them (coll2003 s5.1)."""

POLICIES = ("static", "basic", "local-dynamic", "dynamic", "hybrid")
"""The policies in the order for legends and notes."""

STRIPED = {"0.0": "no striping", "1.0": "full striping"}
"""Striping ratios in words."""


def changes(label: str) -> dict[str, str]:
    """The changes in a ``machine`` label, by machine file key."""
    parts = (part.partition("=") for part in label.split(", ") if "=" in part)
    return {key: value for key, _, value in parts}


def with_policies(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with columns for their rails, policy, striping and threshold, and with a name for
    all but the rails.
    """
    rows = padded(rows, machine=pl.String)
    labels = rows["machine"].unique(maintain_order=True).to_list()
    known = [_policy_columns(label or "") | {"machine": label} for label in labels]
    columns = ("machine", "rails", "policy", "striping", "threshold", "curve")
    schema = dict.fromkeys(columns, pl.String) | {"rails": pl.Int64}
    return rows.join(
        pl.DataFrame(known, schema=schema), on="machine", nulls_equal=True, maintain_order="left"
    )


def _policy_columns(label: str) -> dict[str, object]:
    said = changes(label)
    policy = said.get("rails.policy", "")
    alone = policy in ("static", "basic")
    striping = (
        "" if alone else STRIPED.get(said.get("rails.striping", ""), said.get("rails.striping", ""))
    )
    threshold = said.get("rails.threshold", "") if policy == "hybrid" else ""
    return {
        "rails": int(said.get("rails.count", RAILS)),
        "policy": policy,
        "striping": striping,
        "threshold": threshold,
        "curve": ", ".join(
            word for word in (policy, threshold and f"up to {threshold}", striping) if word
        ),
    }


def ordered(rows: pl.DataFrame) -> list[str]:
    """The names from ``with_policies``, in the order of ``POLICIES``; other policies come last, in
    row order.
    """
    names = (
        rows.filter(pl.col("policy") != "").select("policy", "curve").unique(maintain_order=True)
    )
    policies = dict.fromkeys((*POLICIES, *names["policy"]))
    names = names.sort(pl.col("curve").str.contains(STRIPED["1.0"]), maintain_order=True)
    return [
        name
        for policy in policies
        for name in names.filter(pl.col("policy") == policy)["curve"].to_list()
    ]
