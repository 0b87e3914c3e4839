"""The causes that texts give for missed claims, against ablations and sensitivity studies.

``known_miss`` gives the reason for a missed claim in words. Beside it, ``causes`` names the
mechanisms (see ``ablation``) and the parameters on which the missed figure depends according to
this text, and ``not_causes`` those on which it does not depend. Shipped data can contradict both:

- A *cause* is contradicted if the figure is the same without it, or if no step in it moves the
  claim.
- A *not-cause* is contradicted if the verdict turns without it, or with a step in it.

A cause without a study is not contradicted, and is listed as open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elanite.study import ablation, study_findings
from elanite.validation import ablation_verdicts
from elanite.validation.ablation_verdicts import WHOLE, turning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.validation.claim import Claim


PARAMETER = re.compile(
    r"\b(?:switch|adapter|bus|link|rails|group|tport|host|packet|elan4)\.[a-z_]+"
)
"""The machine file keys in a text."""


def contradicted(claims: Iterable[Claim]) -> list[tuple[str, str, str]]:
    """The causes that shipped data contradict: claim, cause and the contradiction."""
    chosen = list(claims)
    wrong = [
        (one.id, name, "changes nothing")
        for one in chosen
        for name in one.causes
        if moves(one.id, name) is False
    ]
    turned = [
        (one.id, name, "turns the verdict")
        for one in chosen
        for name in one.not_causes
        if turns(one.id, name)
    ]
    return [*wrong, *turned]


def open_(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    """Claims with causes that were not looked at, each with the cause."""
    return [
        (claim.id, name)
        for claim in claims
        for name in (*claim.causes, *claim.not_causes)
        if moves(claim.id, name) is None
    ]


def undeclared(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    """Missed claims with a mechanism or parameter in their text that is missing in ``causes`` and
    ``not_causes``.
    """
    found = []
    for claim in claims:
        declared = {*claim.causes, *claim.not_causes}
        names = [
            name
            for name, entry in ablation.all_mechanisms().items()
            if re.search(entry["words"], claim.known_miss)
        ]
        names += PARAMETER.findall(claim.known_miss)
        found += [(claim.id, name) for name in names if name not in declared]
    return found


def moves(claim: str, name: str) -> bool | None:
    """Whether a figure changes without a mechanism or with a parameter step; ``None`` if this was
    not studied.
    """
    if "." in name:
        looked = [
            study
            for study in study_findings.shipped().values()
            if claim in study.claims and name in study.values
        ]
        return (
            any(each.claim == claim for study in looked for each in study.of(name))
            if looked
            else None
        )
    rows = {row.mechanism: row for row in ablation_verdicts.shipped().get(claim, ())}
    return rows[name].figure != rows[WHOLE].figure if name in rows else None


def turns(claim: str, name: str) -> bool:
    """Whether a claim's verdict turns without a mechanism, or with a parameter step."""
    if "." in name:
        return any(
            each.claim == claim and each.turns
            for study in study_findings.shipped().values()
            for each in study.of(name)
        )
    return name in turning(ablation_verdicts.shipped().get(claim, ()))
