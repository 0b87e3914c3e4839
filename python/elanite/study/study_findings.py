"""The sensitivity studies' findings: the claims that a parameter moves, as data that comes with
Elanite.

``elanite sweep --one-at-a-time`` takes minutes (see ``sensitivity``). The outcome of each machine's
default study is in ``data/studies.json``, so that ``elanite explain`` can print it immediately. The
table has the changes that were distinguished from noise and are no smaller than half a percent, and
the verdicts that turned. It records the model revision, the date and the command of its making, and
the machine's values: where a machine file or the revision has changed since, ``explain`` notes it.

``benches/studies.py`` writes the table. Only parameters that were fitted or assumed are studied,
and a study may be made in pieces, with some claims at a time. A case without a study is *not looked
at*, and not without effect; a case that was studied with an older model revision keeps that
revision.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NotRequired, TypedDict

from elanite import _core
from elanite.base import bounded

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Effect:
    """The effects of a parameter's steps on a claim, as fractions of the figure behind it."""

    parameter: str
    claim: str
    less: float | None
    """The change with the lower value; `None` if it is not distinguished from noise, or below
    ``LEAST``.
    """
    more: float | None
    turns: bool
    """Whether a step turns the claim's verdict."""

    @property
    def size(self) -> float:
        """The larger change."""
        return max(abs(self.less or 0.0), abs(self.more or 0.0))


@dataclass(frozen=True)
class StudyOutcome:
    """A machine's default study outcome."""

    machine: str
    revision: int
    """The study's model revision."""
    date: str
    command: str
    claims: tuple[str, ...]
    values: Mapping[str, Mapping[str, str]]
    """The studied parameters: the machine's ``value``, and the steps ``less`` and ``more`` that it
    has.
    """
    effects: tuple[Effect, ...]
    """The strongest first."""
    older: Mapping[str, int] = field(default_factory=dict)
    """Claims that were studied with an older model revision, with this revision."""

    def of(self, parameter: str) -> list[Effect]:
        """The claims that a parameter moves, the strongest change first."""
        return [each for each in self.effects if each.parameter == parameter]

    def on(self, claim: str) -> list[Effect]:
        """The parameters that move a claim, the strongest change first."""
        return [each for each in self.effects if each.claim == claim]

    def stale(self, parameter: str, value: str) -> str:
        """The reason why the study does not cover the present model and value, or an empty text."""
        if self.revision != _core.MODEL_REVISION:
            return (
                f"made with model revision {self.revision}; this is revision {_core.MODEL_REVISION}"
            )
        then = self.values[parameter]["value"]
        if then != value:
            return f"made when the value was {then}"
        revisions = ", ".join(map(str, sorted(set(self.older.values()))))
        return (
            f"{self.date}; {len(self.older)} of them with model revision {revisions}"
            if self.older
            else ""
        )


Moved = tuple[str, str, float | None, float | None, bool]
"""Parameter, claim, its change with less and with more, and whether the verdict turns."""


class StudyEntry(TypedDict):
    """A machine's entry in the shipped data; fields as in ``StudyOutcome``."""

    revision: int
    date: str
    command: str
    claims: list[str]
    values: dict[str, dict[str, str]]
    effects: list[Moved]
    older: NotRequired[dict[str, int]]


@cache
def shipped() -> dict[str, StudyOutcome]:
    """The shipped outcomes, by machine."""
    text = bounded.packaged("data", "studies.json")
    return {name: _read(name, about) for name, about in json.loads(text)["machines"].items()}


def _read(machine: str, about: StudyEntry) -> StudyOutcome:
    return StudyOutcome(
        machine,
        about["revision"],
        about["date"],
        about["command"],
        tuple(about["claims"]),
        about["values"],
        tuple(Effect(*row) for row in about["effects"]),
        about.get("older", {}),
    )
