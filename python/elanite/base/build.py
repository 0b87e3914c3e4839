"""The build: which program computes the results.

Two fingerprints are compiled into the simulator (``crates/provenance`` defines them). ``engine``
covers everything that decides a point's result: a point from another engine is a point from another
program, whatever its model revision. ``sources`` covers also the parts for runs with real programs.
Comments, tests and documents are not covered.

The commit is for people. In a checkout it is the present one, with a mark if tracked sources differ
from it; in a wheel it is the commit that the wheel was built from. Git is asked once per process,
and only if a text or a manifest names the commit. A checkout with sources that have changed since
the simulator was compiled is *stale*: results then belong to the older sources.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from elanite import _core
from elanite.base import bounded, checkout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DIGITS = 12
"""A hash's shown digits."""

UNKNOWN = "unknown"

STALE = (
    "the sources have changed since the simulator was compiled, and results are those of the older"
    " sources; run: make build"
)

_ROOT = Path(__file__).resolve().parents[3]


class Versions(TypedDict):
    """The manifests' entry about the build; older versions' manifests lack names."""

    elanite: NotRequired[str]
    model: int
    engine: NotRequired[str]
    sources: NotRequired[str]
    commit: NotRequired[str]
    dirty: NotRequired[bool]
    python: NotRequired[str]
    polars: NotRequired[str]


@dataclass(frozen=True)
class Build:
    """A program's identity: this one's, or that of a manifest's writer."""

    version: str
    revision: int
    """The model revision."""
    engine: str
    """The fingerprint over everything that decides points' results; empty in manifests that do not
    name it.
    """
    sources: str
    """The fingerprint over everything that was compiled; empty likewise."""
    commit: str
    """Empty if it is unknown."""
    dirty: bool
    """Whether tracked sources differ from the commit."""

    @classmethod
    def of(cls, versions: Versions) -> Build:
        """The build that a manifest's ``versions`` name."""
        return cls(
            version=str(versions.get("elanite", UNKNOWN)),
            revision=versions["model"],
            engine=str(versions.get("engine") or ""),
            sources=str(versions.get("sources") or ""),
            commit=str(versions.get("commit") or ""),
            dirty=bool(versions.get("dirty")),
        )

    def versions(self) -> Versions:
        """The manifests' entry about the build."""
        return {
            "elanite": self.version,
            "model": self.revision,
            "engine": self.engine,
            "sources": self.sources,
            "commit": self.commit,
            "dirty": self.dirty,
        }

    def facts(self) -> dict[str, str]:
        """Names and values for page tables."""
        return {
            "Elanite": self.version,
            "model revision": str(self.revision),
            "engine": self.engine[:DIGITS] or UNKNOWN,
            "commit": self._commit,
        }

    @property
    def _commit(self) -> str:
        return f"{self.commit[:DIGITS] or UNKNOWN}{' with changes' if self.dirty else ''}"

    def __str__(self) -> str:
        """In one line:
        ``elanite 0.1.0 (model revision 3, engine 0f3c5a7e9b1d, commit 1a2b3c4d5e6f with changes)``.
        """
        engine = self.engine[:DIGITS] or UNKNOWN
        return (
            f"elanite {self.version} (model revision {self.revision}, engine {engine}, commit"
            f" {self._commit})"
        )


def grouped(builds: Iterable[Build]) -> list[tuple[Build, int]]:
    """Builds with their counts, the most frequent first. Builds with one engine are one."""
    many: Counter[tuple[str, int, str]] = Counter()
    first: dict[tuple[str, int, str], Build] = {}
    for build in builds:
        key = (build.version, build.revision, build.engine)
        many[key] += 1
        first.setdefault(key, build)
    return [(first[key], number) for key, number in many.most_common()]


def note(builds: Sequence[tuple[Build, int]]) -> str:
    """A sentence that names the points' builds; empty if this build has computed all of them."""
    if all(is_own(build.versions()) for build, _ in builds):
        return ""
    named = "; ".join(
        f"{number:,} of {'this build, ' if is_own(build.versions()) else ''}{build}"
        for build, number in builds
    )
    if len(builds) == 1:
        return f"all points are of another build: {named}"
    return f"points of {len(builds)} builds: {named}"


@cache
def own_build() -> Build:
    """The running program's build."""
    commit, dirty = _commit()
    return Build(_core.VERSION, _core.MODEL_REVISION, _core.ENGINE, _core.SOURCES, commit, dirty)


def is_own(versions: Versions) -> bool:
    """Whether a manifest's ``versions`` name an engine equal to this program's."""
    return versions.get("engine") == _core.ENGINE and versions.get("model") == _core.MODEL_REVISION


@cache
def stale() -> bool:
    """Whether the compiled simulator is older than the checkout's sources; False for an installed
    package.
    """
    if not (_ROOT / "crates" / "py" / "Cargo.toml").is_file():
        return False
    try:
        return _core.fingerprints(_ROOT) != (_core.ENGINE, _core.SOURCES)
    except OSError:
        return True  # the sources cannot be compiled as they are


def _commit() -> tuple[str, bool]:
    """The commit, empty if it is unknown, and whether sources differ from it."""
    if found := checkout.state(_ROOT):
        return found
    try:
        written = json.loads(bounded.packaged("data", "build.json"))
        return str(written["commit"]), bool(written["dirty"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", False
