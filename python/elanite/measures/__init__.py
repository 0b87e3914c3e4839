"""What a claim is compared with: named functions from simulated rows to a number, an order or a finding.

Each measure gets the tidy rows of the points that its claim asks for, all of them finished. It answers with a
``Number`` (with its 95% confidence interval), an ``Order`` (names, best first) or a ``Finding`` (whether an inequality
holds, and the figures on both of its sides). Judging numbers and orders against the published ones is done in
``elanite.claims``.
"""

from __future__ import annotations

from elanite.measures import (  # they register their measures
    collectives,
    congestion,
    jobs,
    multirail,
    noise,
    qsnet2,
    rails,
    rails_latency,
    uniform,
)
from elanite.measures.base import REGISTRY, Finding, Measurement, Number, Order

__all__ = [
    "REGISTRY",
    "Finding",
    "Measurement",
    "Number",
    "Order",
    "collectives",
    "congestion",
    "jobs",
    "multirail",
    "noise",
    "qsnet2",
    "rails",
    "rails_latency",
    "uniform",
]
