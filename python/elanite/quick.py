"""The quick form of the shipped experiments: all papers in a few minutes of processor time.

``data/quick.toml`` says what ``reproduce --quick`` changes: ordinary overrides (shorter windows, one seed), and
expensive series that no claim is measured on, which are left out. A quick run says less than a whole one, and nothing
else: of a claim whose points were changed the whole interval has to be within the bounds, or the claim is not
resolved (see ``claims.judge``). What the table does not name runs whole, and shares its points with a whole run.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from elanite import sources
from elanite.plan import FIRST_SEED, Plan, plan

if TYPE_CHECKING:
    from elanite.claims import Claim
    from elanite.sources import Source


@dataclass(frozen=True)
class Changes:
    """What the quick form of an experiment changes."""

    set: tuple[str, ...] = ()
    """Overrides, as ``key=value``."""
    skip: tuple[str, ...] = ()
    """Series that are left out."""


@cache
def table() -> dict[str, Changes]:
    """The changes by the names of shipped experiments."""
    text = files("elanite").joinpath("data", "quick.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text).items()
    return {name: Changes(tuple(one.get("set", ())), tuple(one.get("skip", ()))) for name, one in entries}


def planned(name: str, seed: int = FIRST_SEED, *, quick: bool = False) -> Plan:
    """The plan of a shipped experiment, whole or quick. Raises ``UsageError`` if there is no such experiment."""
    return _planned(sources.read("experiment", name), name, seed, quick)


@cache
def _planned(source: Source, name: str, seed: int, quick: bool) -> Plan:
    if not quick or name not in table():
        return plan(source, seed=seed)
    changes = table()[name]
    found = plan(source, overrides=changes.set, seed=seed)
    return replace(found, points=tuple(point for point in found.points if point.series not in changes.skip))


def shortened(claim: Claim, quick: Plan, whole: Plan) -> bool:
    """Whether the quick form changes any point that a claim is measured on."""
    here, there = ({point.id for point in one.points if claim.asks_for(point)} for one in (quick, whole))
    return here != there


NOTE = (
    "This is a quick run: windows are shorter, one seed stands for several, and expensive series that no claim needs"
    " are left out; figures show the shipped results of these series, pale. A claim whose points were"
    " shortened is resolved only if its whole interval decides."
)
"""What reports and scoreboards of quick runs say."""
