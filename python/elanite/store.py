"""The store: one folder per finished point, found by the content of the point.

``DIR/store/<id>/`` holds ``manifest.json`` and one Parquet file for each of the ``TABLES``. A folder is written aside
(``.partial-<id>-<pid>``), forced to the disk and renamed, so that it exists as a whole or not at all. A run that is
killed at any moment loses no finished point and leaves nothing that looks finished. Two processes may simulate the same
point: the first rename wins, and both processes have written the same bytes.

Everything that may differ between two runs of the same point is under ``times`` in the manifest; all other bytes are
equal.
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
_LAYOUT = 4


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


class Store:
    """The finished points below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Manifest] = {}

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
        """Remove an incomplete folder of a point, so that the point is simulated again; True if there was one."""
        folder = self.folder / identity
        if not folder.exists() or self.get(identity) is not None:
            return False
        doomed = self.folder / f"{_PARTIAL}{identity}-{os.getpid()}"
        shutil.rmtree(doomed, ignore_errors=True)
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)
        return True

    def table(self, identity: str, table: Table) -> pl.DataFrame:
        """One table of a finished point; empty if there was no such table when the point was simulated."""
        import polars as pl

        manifest = self.get(identity)
        if manifest is not None and f"{table}.parquet" not in manifest["files"]:
            return empty(table)
        return pl.read_parquet(self.folder / identity / f"{table}.parquet")

    def put(self, point: Point, records: Records, times: Mapping[str, object]) -> Manifest:
        """Keep the results of a point. Returns when they are on the disk."""
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
        folder = self.folder / identity
        try:
            data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            whole = data["layout"] == _LAYOUT and data["id"] == identity and "cpu_seconds" in data["times"]
            whole = whole and "rows.parquet" in data["files"]
            if whole and all(_sha256(folder / name) == digest for name, digest in data["files"].items()):
                return Manifest(data)
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None


def keep(folder: Path, identity: str, tables: Mapping[str, pl.DataFrame], data: dict[str, Any]) -> None:
    """Write a folder of tables and its manifest, and fill in its ``files``. Returns when the folder is on the disk.

    An existing folder of the same identity stays: it has the same content.
    """
    partial = folder / f"{_PARTIAL}{identity}-{os.getpid()}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    hashes = {}
    for name, table in tables.items():
        path = partial / f"{name}.parquet"
        table.write_parquet(path, compression="zstd", statistics=False)
        hashes[path.name] = _sha256(path)
        _sync(path)
    data["files"] = hashes
    path = partial / "manifest.json"
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _sync(path)
    _sync(partial)
    try:
        partial.rename(folder / identity)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(partial, ignore_errors=True)  # another process was first
    _sync(folder)


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
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
