"""All points in a store as one Parquet file, for polars, DuckDB, pandas or anything else that reads
Parquet.

The file is tidy: a row is a row in a point's table, beside the point's parameters, its machine, the
model revision, the engine (``elanite.base.build``) and the processor time. A parameter that a point
does not have is null; quantities stand twice, as text with their unit and as a number (``load``,
``load_MBps``). Points are taken a thousand at a time, so that memory does not grow with the store.
The file appears as a whole or not at all.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import whole
from elanite.base.build import grouped
from elanite.errors import ElaniteError, UsageError
from elanite.inputs.sources import did_you_mean
from elanite.results import frames
from elanite.store.points import Store
from elanite.store.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from elanite.base.build import Build
    from elanite.store.tables import Table

AT_ONCE = 1000
"""How many points are taken at a time."""


def export(
    store: Store, file: Path, table: Table = "rows"
) -> tuple[int, int, list[tuple[Build, int]]]:
    """Write one table of all points to a Parquet file; returns the point and row counts, and the
    builds.

    Raises ``UsageError`` if there is no such table or no point, ``ElaniteError`` if the file cannot
    be written.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    if table not in TABLES:
        raise UsageError(
            f"--table: there is no table {table}{did_you_mean(table, TABLES)}: {', '.join(TABLES)}"
        )
    identities = store.identities()
    many = rows = 0
    builds: list[Build] = []
    try:
        with (
            whole.replacing(file) as aside,
            tempfile.TemporaryDirectory(prefix=".export-", dir=aside.parent) as folder,
        ):
            parts = []
            for start in range(0, len(identities), AT_ONCE):
                read = Store(store.place)
                part = _part(read, identities[start : start + AT_ONCE], table)
                builds += [build for build, number in read.builds() for _ in range(number)]
                if part is not None:
                    parts.append(Path(folder) / f"{start}.parquet")
                    with _reasons(parts[-1]):
                        part.write_parquet(parts[-1])
                    many += part["id"].n_unique()
                    rows += part.height
            if not rows:
                raise UsageError(f"{store.place.name} has no rows of a table {table}")
            with _reasons(aside):
                pl.concat(
                    [pl.scan_parquet(part) for part in parts], how="diagonal_relaxed"
                ).sink_parquet(aside)
    except (OSError, PolarsError) as error:
        raise ElaniteError(
            f"{file} cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from error
    return many, rows, grouped(builds)


@contextmanager
def _reasons(file: Path) -> Iterator[None]:
    """Turn polars' words for a file without room, "File out of specification", into the
    system's.
    """
    from polars.exceptions import PolarsError

    try:
        yield
    except PolarsError:
        whole.extend(file)
        raise


def _part(store: Store, identities: list[str], table: Table) -> pl.DataFrame | None:
    import polars as pl

    points = store.points(identities)
    if not points:
        return None
    found = frames.tidy(points, store, table)
    about = [
        (
            point.id,
            point.machine,
            manifest.build.revision,
            manifest.build.engine or None,
            manifest.cpu_seconds,
        )
        for point in points
        if (manifest := store.get(point.id)) is not None
    ]
    columns = {
        "id": pl.String,
        "machine": pl.String,
        "model_revision": pl.Int64,
        "engine": pl.String,
        "cpu_seconds": pl.Float64,
    }
    beside = pl.DataFrame(about, columns, orient="row")
    beside = beside.drop(
        [name for name in beside.columns if name != "id" and name in found.columns]
    )
    return found.join(beside, on="id", how="left", maintain_order="left")
