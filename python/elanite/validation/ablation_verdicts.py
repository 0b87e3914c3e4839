"""Verdicts without a mechanism: the ablations for all claims, as data that comes with Elanite.

A claim with the same verdict under every ablation is weak evidence for the model. The table
(``data/ablations.toml``, generated) has a row for each claim and each mechanism that was removed,
such as circuits or the second virtual channel, and a row for the unchanged model, measured in the
same way. A claim is *falsifiable* if a removed mechanism turns its verdict from held to missed or
from missed to held; a verdict that is not resolved does not count. A claim without rows is *not yet
ablated*, and is not counted.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from elanite.base import bounded
from elanite.errors import UsageError
from elanite.inputs.tables import loaded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elanite.validation.claim import Claim

Outcome = Literal["holds", "missed", "not resolved"]

FILE = "ablations.toml"
"""The shipped ablations, among the package's data."""

WHOLE = "none"
"""The mechanism name for rows that measure the unchanged model."""


@dataclass(frozen=True)
class Ablation:
    """The verdict on one claim without one mechanism."""

    claim: str
    mechanism: str
    """The mechanism that was removed; ``WHOLE`` for the unchanged model."""
    verdict: Outcome
    figure: str
    """The simulated figure in words, with its unit."""


OUTCOME: dict[bool | None, Outcome] = {True: "holds", False: "missed", None: "not resolved"}
"""The words for ``Verdict.holds``."""


@cache
def shipped() -> dict[str, tuple[Ablation, ...]]:
    """The shipped ablations, by claim; empty without any."""
    return read(text, FILE) if (text := bounded.packaged_or_none("data", FILE)) else {}


def read(text: str, file: str) -> dict[str, tuple[Ablation, ...]]:
    """A data file's ablations, by claim.

    Raises ``UsageError`` if a claim has no row for the unchanged model.
    """
    found: dict[str, tuple[Ablation, ...]] = {}
    for entry in loaded(text, file).tables("ablation"):
        one = entry.filled(Ablation, {"verdict": get_args(Outcome)})
        found[one.claim] = (*found.get(one.claim, ()), one)
    for claim, rows in found.items():
        if all(one.mechanism != WHOLE for one in rows):
            raise UsageError(
                f"{file}: claim `{claim}` has no row with mechanism = {WHOLE!r}, the unchanged"
                " model\n  help: measure the claim without an ablation in the same way"
            )
    return found


def written(rows: Iterable[Ablation]) -> str:
    """The data file for some ablations."""
    entries = [
        "\n".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in asdict(one).items()
        )
        for one in rows
    ]
    return "".join(f"[[ablation]]\n{entry}\n" for entry in entries)


def turning(rows: Iterable[Ablation]) -> tuple[str, ...]:
    """The mechanisms with a removal that turns one claim's verdict."""
    rows = list(rows)
    whole = {one.verdict for one in rows if one.mechanism == WHOLE}
    opposite = {"holds": "missed", "missed": "holds"}
    return tuple(one.mechanism for one in rows if opposite.get(one.verdict) in whole)


def falsifiable(claim: Claim) -> bool | None:
    """Whether a removed mechanism turns the verdict on a claim; `None` if the claim is not yet
    ablated.
    """
    rows = shipped().get(claim.id, ())
    return bool(turning(rows)) if agrees(claim, rows) else None


def agrees(claim: Claim, rows: Iterable[Ablation]) -> bool:
    """Whether the unchanged model gives the scoreboard's verdict in runs as short as the
    ablations'.

    The scoreboard does not resolve a claim whose source is too vague: for such a claim this is a
    verdict, too.
    """
    expected = {
        "missed" if claim.known_miss else "holds",
        *(["not resolved"] if claim.vague else []),
    }
    return any(one.mechanism == WHOLE and one.verdict in expected for one in rows)
