"""Store upkeep: contents, damage, unneeded points, and several stores as one.

Merging copies folders as they are, byte for byte. Two folders of one point agree if the simulator's
counts are equal and every table has the same values: their times may differ, and so may series
names, commits and Python versions. Folders that do not agree are a conflict. Points with equal
identity cannot differ unless a simulator was changed and the model revision was not, or a disk has
failed in a way that no checksum shows. Then the merge copies no point, and names both places with
their builds.

A merge verifies its points (``checks``). A folder with a wrong checksum is left out: damage is an
accident. A sealed folder that is not the result that it claims to be is no accident, and then no
point is copied either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base.build import grouped
from elanite.errors import ElaniteError
from elanite.store import checks, leases, manifest
from elanite.store.errors import DamagedError
from elanite.store.manifest import MANIFEST
from elanite.store.places import PARTIAL, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from elanite.base.build import Build
    from elanite.store.manifest import Manifest
    from elanite.store.points import Store

_COUNTED = ("digest", "packets", "events", "simulated_ps")
"""The simulator's counts, which two folders of one point have in common."""


@dataclass
class FolderFingerprint:
    """The manifest entries by which two folders of a point are compared."""

    seal: str | None
    files: dict[str, str]
    counted: dict[str, object]
    build: Build


class ConflictError(ElaniteError):
    """Points with equal identity and different content."""

    def __init__(self, conflicts: Sequence[str]) -> None:
        shown = "\n".join(f"  {conflict}" for conflict in conflicts[:10])
        more = f"\n  and {len(conflicts) - 10} more" if len(conflicts) > 10 else ""
        super().__init__(
            f"the stores contradict each other, and nothing was merged:\n{shown}{more}\n  Different"
            " programs have computed such points. Simulate them again with one build, or remove"
            " the folders of the wrong one."
        )


class FalseError(ElaniteError):
    """Points that are not the results that they claim to be."""

    def __init__(self, folders: Sequence[tuple[str, str]]) -> None:
        shown = "\n".join(f"  {folder}: {reason}" for folder, reason in folders[:10])
        more = f"\n  and {len(folders) - 10} more" if len(folders) > 10 else ""
        super().__init__(
            f"{len(folders)} of the points are not the results that they claim to be, and nothing"
            f" was merged:\n{shown}{more}\n  Their checksums hold: they were changed by a program."
            " `elanite store verify` names all such folders; remove them, or ask where the store"
            " is from."
        )


@dataclass
class RevisionGroup:
    """The points from one experiment and one model revision."""

    experiment: str
    revision: int
    points: int = 0
    cpu_seconds: float = 0.0
    packets: int = 0


@dataclass
class Listing:
    """A store's content."""

    groups: list[RevisionGroup]
    damaged: int
    """Folders with manifests that no longer hold.

    The tables were not read: ``verify`` does that.
    """
    unfinished: list[str]
    """Folders that processes are writing, or were writing when they died."""
    claims: list[tuple[str, str]]
    """Claimed points, with their holders."""
    builds: list[tuple[Build, int]]
    """The builds that have computed the points, with their point counts."""


@dataclass
class MergeOutcome:
    """A merge's outcome."""

    copied: int = 0
    present: int = 0
    """Points that were there already, or in another store."""
    damaged: list[tuple[str, str]] = field(default_factory=list)
    """Folders that were not copied, and why."""


def listing(store: Store) -> Listing:
    """The points by experiment and model revision, and the unfinished ones. Tables are not read."""
    groups: dict[tuple[str, int], RevisionGroup] = {}
    builds = []
    damaged = 0
    for identity in store.identities():
        try:
            found = manifest.point(store.place, identity, tables=False)
            key = str(found.data["experiment"]), int(found.data["versions"]["model"])
        except (DamagedError, KeyError, TypeError, ValueError):
            damaged += 1
            continue
        group = groups.setdefault(key, RevisionGroup(*key))
        builds.append(found.build)
        group.points += 1
        group.cpu_seconds += found.cpu_seconds
        group.packets += int(found.data["packets"])
    names = store.place.names()
    held = []
    for name in names:
        if name.startswith(leases.CLAIM):
            try:
                holder = leases.holder(store.place.load(name))
            except FileNotFoundError:
                continue  # released meanwhile
            held.append((name.removeprefix(leases.CLAIM), holder.known if holder else "somebody"))
    unfinished = [name for name in names if name.startswith(PARTIAL)]
    return Listing(
        [groups[key] for key in sorted(groups)], damaged, unfinished, held, grouped(builds)
    )


@dataclass
class VerificationOutcome:
    """A verification's findings."""

    sound: list[str] = field(default_factory=list)
    """Sound points, including the unconfirmed ones."""
    wrong: list[tuple[str, str]] = field(default_factory=list)
    """Folders that are damaged, or not the results that they claim to be, with the reasons."""
    unconfirmed: dict[str, int] = field(default_factory=dict)
    """The reasons why identities or digests could not be computed again, with the point counts."""
    builds: list[tuple[Build, int]] = field(default_factory=list)
    """The builds that have computed the sound points."""


def verify(
    store: Store, *, digests: bool = False, progress: Callable[[int, int], None] | None = None
) -> VerificationOutcome:
    """Compare every byte in a store with its checksum, identities with contents, and bonds with
    digests and tables.

    ``digests``: compute the digests from the tables, too. ``progress`` gets the counts of checked
    points and all points.
    """
    found = VerificationOutcome()
    builds = []
    identities = list(walk(store.place))
    for done, one in enumerate(checks.checked(store.place, identities, digests=digests), 1):
        if progress is not None:
            progress(done, len(identities))
        if one.reason or one.build is None:
            found.wrong.append((one.identity, one.reason))
            continue
        found.sound.append(one.identity)
        builds.append(one.build)
        if one.unconfirmed:
            found.unconfirmed[one.unconfirmed] = found.unconfirmed.get(one.unconfirmed, 0) + 1
    found.builds = grouped(builds)
    return found


def outdated(store: Store) -> list[str]:
    """The points from another model revision than this program's."""
    return _chosen(store, lambda found: found.data["versions"]["model"] != _core.MODEL_REVISION)


def unknown(store: Store, experiments: Sequence[str]) -> list[str]:
    """The points from experiments that are not among the given ones."""
    return _chosen(store, lambda found: found.data["experiment"] not in experiments)


def _chosen(store: Store, condition: Callable[[Manifest], bool]) -> list[str]:
    chosen = []
    for identity in walk(store.place):
        try:
            if condition(manifest.point(store.place, identity, tables=False)):
                chosen.append(identity)
        except (DamagedError, KeyError, TypeError):
            continue  # its state is unknown; `verify` names it
    return chosen


def merge(stores: Sequence[Store], into: Store) -> MergeOutcome:
    """Copy all sound points from several stores into one.

    Raises ``ConflictError`` or ``FalseError`` before anything is copied.
    """
    merged = MergeOutcome()
    taken: dict[str, tuple[Store, FolderFingerprint]] = {}
    conflicts: list[str] = []
    for store in (into, *stores):
        for identity in walk(store.place):
            try:
                found = manifest.point(store.place, identity)
            except DamagedError as reason:
                merged.damaged.append((f"{store.place.name}/{identity}", str(reason)))
                continue
            said = FolderFingerprint(
                found.data.get("seal"),
                found.data["files"],
                {key: found[key] for key in _COUNTED},
                found.build,
            )
            if identity not in taken:
                taken[identity] = store, said
                continue
            merged.present += 1
            other, before = taken[identity]
            if difference := _difference(identity, (other, before), (store, said)):
                folders = f"{other.place.name}/{identity} and {store.place.name}/{identity}"
                by = " and ".join(dict.fromkeys([str(before.build), str(said.build)]))
                conflicts.append(f"{folders} differ in {difference}; computed by {by}")
    if conflicts:
        raise ConflictError(conflicts)
    if false := [lie for store in stores if store is not into for lie in _false(store, taken)]:
        raise FalseError(false)
    into.prepare()
    for identity, (store, said) in taken.items():
        if store is not into:
            names = [*said.files, MANIFEST]
            into.add(identity, {name: store.place.load(f"{identity}/{name}") for name in names})
            merged.copied += 1
    # The target's damaged folder has given way to a sound one.
    replaced = {f"{into.place.name}/{identity}" for identity in taken}
    merged.damaged = [
        (folder, reason) for folder, reason in merged.damaged if folder not in replaced
    ]
    return merged


def _false(
    store: Store, taken: Mapping[str, tuple[Store, FolderFingerprint]]
) -> list[tuple[str, str]]:
    """The points to be copied from a store that are not the results that they claim to be, with the
    reasons.
    """
    own = [identity for identity, (holder, _) in taken.items() if holder is store]
    found = checks.checked(store.place, own, digests=True)
    return [(f"{store.place.name}/{one.identity}", one.reason) for one in found if one.reason]


def _difference(
    identity: str, one: tuple[Store, FolderFingerprint], other: tuple[Store, FolderFingerprint]
) -> str:
    """The differences between a point's two folders; empty if they agree."""
    (first, before), (second, after) = one, other
    if before.seal == after.seal is not None:
        return ""
    differing = [key for key in _COUNTED if before.counted[key] != after.counted[key]]
    for name in sorted(set(before.files) & set(after.files)):
        path = f"{identity}/{name}"
        if before.files[name] != after.files[name] and not _equal(
            first.place.load(path), second.place.load(path)
        ):
            differing.append(name)
    return ", ".join(differing)


def _equal(one: bytes, other: bytes) -> bool:
    """Whether two tables have the same values.

    Other versions write other bytes, and may add columns. A file that is no table equals none.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        first, second = pl.read_parquet(one), pl.read_parquet(other)
    except (PolarsError, OSError):
        return False
    common = [name for name in first.columns if name in second.columns]
    return first.select(common).equals(second.select(common))
