"""The store: one folder per finished point, found by the content of the point.

``DIR/store/<id>/`` holds ``manifest.json`` and one Parquet file for each of the ``TABLES``. A folder is written aside
(``.partial-<id>-<pid>``), forced to the disk and renamed, so that it exists as a whole or not at all. A run that is
killed at any moment loses no finished point and leaves nothing that looks finished. Two processes may simulate the same
point: the first rename wins, and both processes have written the same bytes.

Everything that may differ between two runs of the same point is under ``times`` in the manifest; all other bytes are
equal. The manifest holds the checksum of each table, and its ``seal`` is the checksum of all that it says besides the
times. So a folder of which any bit has changed is not taken: its point is simulated again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from elanite import _core
from elanite.errors import ElaniteError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from elanite._core import Records
    from elanite.plan import Point

Table = str
"""The name of one of the ``TABLES``."""

TABLES: dict[Table, dict[str, str]] = {
    name: {column: kind for column, kind, _, _ in columns} for name, columns in _core.tables()
}
"""The tables of every point, as the simulator defines them: names of columns and their types."""

_PARTIAL = ".partial-"
_LAYOUT = 5
_UNSEALED = 4
"""The layout of folders whose manifests have no seal: they were written before there was one, and are still taken."""


@dataclass(frozen=True)
class Manifest:
    """The data of a finished point besides its tables."""

    data: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    @property
    def cpu_seconds(self) -> float:
        """Processor time that the simulation took."""
        return float(self.data["times"]["cpu_seconds"])


_SAID = {"parameters", "digest", "packets", "events", "simulated_ps", "peak_memory_bytes", "versions", "point"}
"""What manifests of points say besides."""


class StoreError(ElaniteError):
    """A folder that cannot be written: the disk is full, fails, or is not ours."""

    def __init__(self, folder: Path, reason: object) -> None:
        super().__init__(
            f"{folder} cannot be written: {reason}\n  Finished points are kept. Make room, or make the folder writable,"
            " or choose another one with --out. The same command then goes on."
        )


class Store:
    """The finished points below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Manifest] = {}

    def identities(self) -> list[str]:
        """The names of all folders that look finished, in order."""
        if not self.folder.is_dir():
            return []
        return sorted(entry.name for entry in os.scandir(self.folder) if not entry.name.startswith("."))

    def clean(self) -> None:
        """Remove half-written folders of killed runs; folders that living processes are writing stay."""
        if not self.folder.is_dir():
            return
        for entry in self.folder.iterdir():
            if entry.name.startswith(_PARTIAL) and not _alive(entry.name.rsplit("-", 1)[-1]):
                shutil.rmtree(entry, ignore_errors=True)

    def get(self, identity: str) -> Manifest | None:
        """The manifest of a finished point, or None if the store has no complete and undamaged folder of the point."""
        if identity not in self._known:
            manifest = self._check(identity)
            if manifest is None:
                return None
            self._known[identity] = manifest
        return self._known[identity]

    def discard(self, identity: str) -> bool:
        """Remove an incomplete folder of a point, so that the point is simulated again; True if there was one.

        Raises ``StoreError`` if the folder cannot be removed.
        """
        folder = self.folder / identity
        if not folder.exists() or self.get(identity) is not None:
            return False
        doomed = self.folder / f"{_PARTIAL}{identity}-{os.getpid()}"
        shutil.rmtree(doomed, ignore_errors=True)
        try:
            folder.rename(doomed)
        except OSError as error:
            raise StoreError(folder, error.strerror) from error
        shutil.rmtree(doomed, ignore_errors=True)
        return True

    def table(self, identity: str, table: Table) -> pl.DataFrame:
        """One table of a finished point; empty if there was no such table when the point was simulated.

        Columns that there were not yet are null.
        """
        import polars as pl

        manifest = self.get(identity)
        if manifest is not None and f"{table}.parquet" not in manifest["files"]:
            return empty(table)
        found = pl.read_parquet(self.folder / identity / f"{table}.parquet")
        missing = [name for name in TABLES.get(table, {}) if name not in found.columns]
        return pl.concat([empty(table), found], how="diagonal") if missing else found

    def put(self, point: Point, records: Records, times: Mapping[str, object]) -> Manifest:
        """Keep the results of a point. Returns when they are on the disk. Raises ``StoreError`` if they cannot be."""
        data = {
            "layout": _LAYOUT,
            "id": point.id,
            "experiment": point.experiment,
            "series": point.series,
            "parameters": point.parameters,
            "seed": point.seed,
            "digest": records["digest"],
            "packets": records["packets"],
            "events": records["events"],
            "simulated_ps": records["simulated_ps"],
            "peak_memory_bytes": records["peak_memory_bytes"],
            "files": {},
            "versions": versions(),
            "point": json.loads(point.json),
            "times": dict(times),
        }
        keep(self.folder, point.id, {name: frame(columns) for name, columns in records["tables"].items()}, data)
        manifest = Manifest(data)
        self._known[point.id] = manifest
        return manifest

    def _check(self, identity: str) -> Manifest | None:
        data = read(self.folder / identity, _LAYOUT, _UNSEALED)
        if data is None or data["id"] != identity or "rows.parquet" not in data["files"] or not data.keys() >= _SAID:
            return None
        seconds = data["times"].get("cpu_seconds")
        return Manifest(data) if isinstance(seconds, int | float) else None


def read(folder: Path, layout: int, unsealed: int) -> dict[str, Any] | None:
    """The manifest of a folder that ``keep`` has written; None unless the folder is complete and undamaged.

    Folders of the layout ``unsealed`` have no seal. Whatever the files hold: nothing is raised, and no other file read.
    """
    try:
        data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data["layout"] not in (layout, unsealed):
            return None
        if data.get("seal") != (_seal(data) if data["layout"] == layout else None):
            return None
        tables, times = data["files"], data["times"]
        if not isinstance(tables, dict) or not isinstance(times, dict) or not isinstance(data["id"], str):
            return None
        if all(_is_table(folder, name) and _sha256(folder / name) == sum_ for name, sum_ in tables.items()):
            return data
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _is_table(folder: Path, name: str) -> bool:
    """Whether a name is that of a table in the folder: reading anything else, a pipe for example, might never end."""
    return name.endswith(".parquet") and "/" not in name and (folder / name).is_file()


def _seal(data: Mapping[str, Any]) -> str:
    """The checksum of all that a manifest says, but for the times and the checksum itself."""
    said = {key: value for key, value in data.items() if key not in ("times", "seal")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def keep(folder: Path, identity: str, tables: Mapping[str, pl.DataFrame], data: dict[str, Any]) -> None:
    """Write a folder of tables and its manifest, and fill in its ``files``. Returns when the folder is on the disk.

    An existing folder of the same identity stays: it has the same content. Raises ``StoreError`` if the folder cannot
    be written; then nothing half-written is left where it can be removed.
    """
    from polars.exceptions import PolarsError

    partial = folder / f"{_PARTIAL}{identity}-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        _write(partial, tables, data)
        _rename(partial, folder / identity)
        _sync(folder)
    except (OSError, PolarsError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise StoreError(folder, getattr(error, "strerror", None) or error) from error


def _write(partial: Path, tables: Mapping[str, pl.DataFrame], data: dict[str, Any]) -> None:
    """Write the files of a folder, and force them to the disk."""
    hashes = {}
    for name, table in tables.items():
        path = partial / f"{name}.parquet"
        table.write_parquet(path, compression="zstd", statistics=False)
        hashes[path.name] = _sha256(path)
        _sync(path)
    data["files"] = hashes
    data["seal"] = _seal(data)
    path = partial / "manifest.json"
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _sync(path)
    _sync(partial)


def _rename(partial: Path, folder: Path) -> None:
    try:
        partial.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(partial, ignore_errors=True)  # another process was first


def versions() -> dict[str, str | int]:
    """The versions of the programs that write a folder."""
    return {
        "elanite": _core.VERSION,
        "model": _core.MODEL_REVISION,
        "python": platform.python_version(),
        "polars": version("polars"),
    }


def frame(columns: Mapping[str, tuple[str, Sequence[object]]]) -> pl.DataFrame:
    """A data frame of the columns from the simulator, each with its type."""
    import polars as pl

    return pl.DataFrame([pl.Series(name, values, getattr(pl, kind)) for name, (kind, values) in columns.items()])


def empty(table: Table) -> pl.DataFrame:
    """A table of a point without rows."""
    return frame({column: (kind, []) for column, kind in TABLES[table].items()})


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _alive(pid: str) -> bool:
    try:
        number = int(pid)
        if number > 0:
            os.kill(number, 0)
            return True
    except PermissionError:
        return True
    except (ValueError, OverflowError, ProcessLookupError):
        pass
    return False
