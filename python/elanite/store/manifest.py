"""Manifests: a folder's own description, and the checks that it still holds.

``manifest.json`` holds each table's checksum, and its ``seal`` is the checksum over all its content
besides the times. So a folder with any changed bit is not taken. Whatever the files hold, a damaged
folder is a ``DamagedError`` with the reason, and no file outside the folder is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, NotRequired, TypedDict, TypeVar

from elanite.base import build
from elanite.store.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from elanite.inputs.contents import Content
    from elanite.store.places import StorePlace

Shape = TypeVar("Shape")

MANIFEST = "manifest.json"
LAYOUT = 5
UNSEALED = 4
"""The layout of folders with unsealed manifests: they were written before there was a seal, and are
still taken.
"""


_MOST_REVISIONS = 1 << 31
_MOST_SECONDS = 1e12
_COUNTS = ("packets", "events", "simulated_ps", "peak_memory_bytes")
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("parameters", "point"), dict),
    "digest": str,
    **dict.fromkeys(("experiment", "series"), (str, type(None))),
    "seed": (int, type(None)),
}
"""The types of a point's entries; some are missing in older versions."""

_SAID = {
    "parameters",
    "digest",
    "packets",
    "events",
    "simulated_ps",
    "peak_memory_bytes",
    "versions",
    "point",
}
"""Entries that every point manifest has."""


class Times(TypedDict):
    """A simulation's times, beside its results."""

    cpu_seconds: float
    started: NotRequired[str]
    finished: NotRequired[str]


class Data(TypedDict):
    """A point's manifest. Older versions lack the optional keys."""

    layout: int
    id: str
    experiment: NotRequired[str]
    series: NotRequired[str]
    parameters: dict[str, object]
    seed: NotRequired[int]
    base: NotRequired[str]
    digest: str
    packets: int
    events: int
    simulated_ps: int
    random: NotRequired[bool | None]
    peak_memory_bytes: int
    heights: NotRequired[dict[str, int]]
    files: dict[str, str]
    versions: build.Versions
    point: Content
    times: Times
    bond: NotRequired[str]
    seal: NotRequired[str | None]


@dataclass(frozen=True)
class Manifest:
    """A finished point's data besides its tables."""

    data: Data

    def __getitem__(self, key: str) -> object:
        found: Mapping[str, object] = self.data
        return found[key]

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the simulation took."""
        return float(self.data["times"]["cpu_seconds"])

    @property
    def random(self) -> bool | None:
        """Whether the simulation drew random numbers: the records of a point without draws hold for
        any seed.

        `None` for points from versions that did not record it.
        """
        found = self.data.get("random")
        return found if isinstance(found, bool) else None

    @property
    def mine(self) -> bool:
        """Whether a simulator with this one's sources has computed the point."""
        return build.is_own(self.data["versions"])

    @property
    def build(self) -> build.Build:
        """The build that has computed the point. Older manifests name no engine and no commit."""
        return build.Build.of(self.data["versions"])


@dataclass(frozen=True)
class PointFolder:
    """A finished point with its files' bytes."""

    manifest: Manifest
    text: bytes
    """The manifest as it stands in its file."""
    tables: dict[str, bytes]
    """The tables by their files' names."""


def point(place: StorePlace, identity: str, *, tables: bool = True) -> Manifest:
    """A finished point's manifest; with ``tables``, the tables' checksums are compared, too.

    Raises ``DamagedError`` with the reason if the folder is no point, and ``UnreadableError``.
    """
    return _point(identity, read(place, identity, LAYOUT, UNSEALED, Data, tables=tables))


def point_folder(place: StorePlace, identity: str) -> PointFolder:
    """A finished point with all its bytes; raises as ``point``."""
    text, data, tables = _load(place, identity, LAYOUT, UNSEALED, Data, tables=True)
    return PointFolder(_point(identity, data), text, tables)


def _point(identity: str, data: Data) -> Manifest:
    if data["id"] != identity:
        raise DamagedError(f"it has the identity of point {data['id']}")
    if "rows.parquet" not in data["files"] or not data.keys() >= _SAID:
        raise DamagedError("it is not a point")
    seconds = data["times"].get("cpu_seconds")
    if not (isinstance(seconds, int | float) and 0 <= seconds < _MOST_SECONDS):
        raise DamagedError("its processor time is not a number")
    if wrong := [name for name, kind in _KINDS.items() if not isinstance(data.get(name), kind)]:
        raise DamagedError(f"its manifest has values of wrong types: {', '.join(wrong)}")
    if wrong := [name for name in _COUNTS if not 0 <= _number(data.get(name)) < 1 << 64]:
        raise DamagedError(f"its manifest has counts that are none: {', '.join(wrong)}")
    versions = data["versions"]
    revision = versions.get("model") if isinstance(versions, dict) else None
    if not (isinstance(revision, int) and 0 <= revision < _MOST_REVISIONS):
        raise DamagedError("its model revision is not a number")
    return Manifest(data)


def _number(found: object) -> int:
    """A count; -1 for anything else."""
    return found if isinstance(found, int) and not isinstance(found, bool) else -1


def read(
    place: StorePlace,
    identity: str,
    layout: int,
    unsealed: int,
    shape: type[Shape],
    *,
    tables: bool = True,
) -> Shape:
    """The manifest in a folder that ``seal`` has made. Raises ``DamagedError`` or
    ``UnreadableError``.

    Folders in the layout ``unsealed`` have no seal. ``shape`` is the manifest's type; its owner
    checks the keys.
    """
    return _load(place, identity, layout, unsealed, shape, tables=tables)[1]


def _load(
    place: StorePlace,
    identity: str,
    layout: int,
    unsealed: int,
    shape: type[Shape],  # noqa: ARG001 - the result's type
    *,
    tables: bool,
) -> tuple[bytes, Shape, dict[str, bytes]]:
    """A manifest's text, its data, and the tables' bytes if these are compared with their
    checksums.
    """
    try:
        text = place.load(f"{identity}/{MANIFEST}")
        data = json.loads(text)
    except FileNotFoundError:
        raise DamagedError("it has no manifest") from None
    except (ValueError, RecursionError):
        raise DamagedError("its manifest is not JSON") from None
    try:
        if data["layout"] not in (layout, unsealed):
            raise DamagedError(f"its layout is {data['layout']}, not {layout}")
        if data.get("seal") != (_seal(data) if data["layout"] == layout else None):
            raise DamagedError("the seal does not fit the manifest")
        if not (
            isinstance(data["files"], dict)
            and isinstance(data["times"], dict)
            and isinstance(data["id"], str)
        ):
            raise DamagedError("its manifest has values of wrong types")
        held = _compared(place, identity, data["files"]) if tables else {}
    except (AttributeError, KeyError, TypeError, RecursionError):
        raise DamagedError("its manifest is incomplete") from None
    return text, data, held


def _compared(place: StorePlace, identity: str, sums: Mapping[str, str]) -> dict[str, bytes]:
    """A folder's tables, compared with their checksums."""
    held = {}
    for name in sums:
        if not name.endswith(".parquet") or "/" in name:
            raise DamagedError(f"its manifest names {name}, which the folder does not have")
    names = list(sums)
    for name, data in zip(
        names, place.load_all([f"{identity}/{name}" for name in names]), strict=True
    ):
        if data is None:
            raise DamagedError(f"{name} is missing")
        if hashlib.sha256(data).hexdigest() != sums[name]:
            raise DamagedError(f"{name} differs from its checksum")
        held[name] = data
    return held


def seal(
    tables: Mapping[str, pl.DataFrame], data: dict[str, object], *, bound: bool = False
) -> dict[str, bytes]:
    """A folder's files, the manifest last: the tables, and ``data`` with checksums and seal filled
    in.

    ``bound`` is for a caller that has compared the digest with the tables: the manifest gets their
    bond.
    """
    files = {f"{name}.parquet": encode(table) for name, table in tables.items()}
    data["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if bound:
        data["bond"] = bond(data)
    data["seal"] = _seal(data)
    return files | {MANIFEST: (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()}


def bond(data: Mapping[str, object]) -> str:
    """The checksum of a point's results: its identity, the simulator's counts and digest, and its
    tables.
    """
    results = [
        data.get(name)
        for name in ("id", "base", "digest", "packets", "events", "simulated_ps", "random")
    ]
    return hashlib.sha256(
        json.dumps([*results, data["files"]], sort_keys=True).encode()
    ).hexdigest()


def contradiction(found: Manifest) -> str:
    """Why a sealed point is not the result that it claims to be, by its bond; empty if it may
    be.
    """
    if "bond" in found.data:
        if found.data["bond"] != bond(found.data):
            return "its tables are not those that its digest was computed from"
    elif found.build.engine:
        return "it has no bond of digest and tables, which its build writes"
    return ""


def encode(table: pl.DataFrame) -> bytes:
    """A table as a Parquet file's bytes."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()


def versions() -> build.Versions:
    """The build that writes a folder, and the Python and polars versions."""
    return {
        **build.own_build().versions(),
        "python": platform.python_version(),
        "polars": version("polars"),
    }


def _seal(data: Mapping[str, object]) -> str:
    """The checksum over a manifest's whole content, except the times and the checksum itself."""
    said = {key: value for key, value in data.items() if key not in ("times", "seal")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
