"""The store: one folder per finished point, found by the point's content.

``DIR/store/<id>/`` holds ``manifest.json``, ``rows.parquet``, and one Parquet file for each other
table in ``TABLES`` in which the point has rows. A folder is written aside, forced to the disk and
renamed, so that it exists as a whole or not at all. A run that is killed at any moment loses no
finished point, and its leftovers do not look finished.

All differences between two runs of the same point by one build are under ``times`` in the manifest;
all other bytes are equal. Another build's point (``base.build``) is read, but a campaign simulates
it again. A folder with any changed bit is not taken: its point is simulated again.

Several processes, on one host or on many, may use one store at the same time. Two may simulate the
same point: the first rename wins, and both have written the same bytes. ``Store.claim`` makes this
rare. An unfinished folder names the process that writes it, and is removed when that process is
known to be dead, or after a day.

- ``points``: the ``Store``.  ``manifest``: a folder's own description, and the checks.
- ``checks``: whether a point is the result that it claims to be.
- ``places``: folders that hosts share. ``remote``: object stores. ``leases``, ``owner``: the
  workers on points.
- ``upkeep``: list, verify, collect garbage, merge.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.errors import ElaniteError
from elanite.migration import former
from elanite.store import manifest
from elanite.store.errors import DamagedError, NoFolderError, StoreError, UnreadableError
from elanite.store.leases import Lease
from elanite.store.manifest import Manifest, versions
from elanite.store.places import Folder
from elanite.store.points import Store
from elanite.store.tables import TABLES, Table, empty, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from elanite.store.manifest import Shape

__all__ = [
    "TABLES",
    "Lease",
    "Manifest",
    "NoFolderError",
    "Store",
    "StoreError",
    "Table",
    "UnreadableError",
    "empty",
    "frame",
    "keep",
    "ours",
    "read",
    "rescued",
    "versions",
]

if not TYPE_CHECKING:
    __getattr__ = former(__name__)


def read(folder: Path, layout: int, unsealed: int, shape: type[Shape]) -> Shape | None:
    """The manifest in a folder that ``keep`` has written; `None` unless the folder is complete and
    undamaged.

    Folders in the layout ``unsealed`` have no seal; ``shape`` is the manifest's type. Raises
    ``UnreadableError`` if the state is unknown.
    """
    try:
        return manifest.read(Folder(folder.parent), folder.name, layout, unsealed, shape)
    except DamagedError:
        return None


def keep(
    folder: Path, identity: str, tables: Mapping[str, pl.DataFrame], data: dict[str, object]
) -> None:
    """Write a folder with tables and its manifest, and fill in its ``files``. Returns when the
    folder is on the disk.

    An existing folder with the same identity stays if this build has written it: it has the same
    content. Another build's folder is replaced. Raises ``StoreError`` if the folder cannot be
    written; then partial files are removed where this is possible.
    """
    place, files = Folder(folder), manifest.seal(tables, data)
    if not place.keep(identity, files) and not is_own(folder, identity):
        place.replace(identity, files)


def rescued(write: Callable[[Path], Path], out: Path) -> tuple[Path, str]:
    """Keep a run's results, which cost more than its tables, below ``out``, or else in a temporary
    folder.

    Returns the folder that ``write`` has returned, and why it is not below ``out``; empty if it is.
    Raises ``ElaniteError`` if the temporary folder has no room, either.
    """
    try:
        return write(out), ""
    except StoreError as error:
        cause = error.cause
    aside = Path(tempfile.mkdtemp(prefix="elanite-"))
    try:
        kept = write(aside)
    except StoreError:
        shutil.rmtree(aside, ignore_errors=True)
        raise ElaniteError(
            f"{cause}\n  The temporary folder has no room, either, so that the results of the run"
            " are lost. Make room, and run the same command again."
        ) from None
    return kept, f"{cause}\n  The results of the run are kept in {kept} instead."


def is_own(folder: Path, identity: str) -> bool:
    """Whether an identity has a folder with a manifest that names this build's sources."""
    try:
        data = json.loads(Folder(folder).load(f"{identity}/{manifest.MANIFEST}"))
        return bool(data["versions"]["sources"] == _core.SOURCES)
    except (FileNotFoundError, ValueError, RecursionError, KeyError, TypeError):
        return False
