"""The store: one folder per finished point, found by the point's content.

The package docstring has the layout.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base.build import grouped
from elanite.base.foreign import reading
from elanite.base.units import stated
from elanite.errors import ElaniteError
from elanite.inputs import contents
from elanite.store import checks, leases, manifest
from elanite.store.errors import DamagedError, StoreError
from elanite.store.manifest import LAYOUT, Manifest
from elanite.store.places import Folder, walk
from elanite.store.remote import Remote
from elanite.store.tables import TABLES, Table, empty, fit, frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import polars as pl

    from elanite._core import Records
    from elanite.base.build import Build
    from elanite.inputs.plan import Point
    from elanite.store.leases import Lease
    from elanite.store.places import StorePlace


def _any(columns: Mapping[str, tuple[str, Sequence[object]]]) -> bool:
    """Whether a table from the simulator has rows."""
    return any(len(values) > 0 for _, values in columns.values())


def _completed(found: pl.DataFrame, table: Table) -> pl.DataFrame:
    """A table with all columns that its kind has today."""
    import polars as pl

    known = TABLES.get(table, {})
    missing = [name for name in known if name not in found.columns]
    return pl.concat([empty(table), found], how="diagonal") if missing else found.select(*known)


def _with_failure(faults: pl.DataFrame, known: Manifest | None) -> pl.DataFrame:
    """A fault table with the rail that the point's series lets fail, if the run reached that
    moment.

    The row repeats settings: it is in no digest, and points that were kept before it existed have
    it, too.
    """
    import polars as pl

    failure = contents.failure(known.data["point"]) if known is not None else None
    if known is None or failure is None:
        return faults
    down = round(stated(failure["at"], "us") * 1e6)
    if down > known.data["simulated_ps"]:
        return faults
    row = {"part": "rail", "name": f"rail {failure['rail']}", "down_ps": down}
    return pl.concat(
        [faults, pl.DataFrame([row]).cast({name: faults.schema[name] for name in row})],
        how="diagonal",
    )


class Store:
    """The finished points below one folder, or at another place."""

    def __init__(self, place: Path | StorePlace) -> None:
        self.place: StorePlace = Folder(place) if isinstance(place, Path) else place
        self._known: dict[str, Manifest] = {}

    @classmethod
    def open(cls, address: str | Path) -> Store:
        """The store at a path, or at a URL that ``fsspec`` understands: ``s3://bucket/store``.

        Raises ``UsageError`` if the URL is not understood. A path need not exist yet.
        """
        if isinstance(address, str) and "://" in address:
            return cls(Remote(address))
        return cls(Path(address))

    @property
    def address(self) -> str:
        """The argument for ``open`` in any process that can reach the place."""
        return self.place.address

    def prepare(self) -> None:
        """Make the store if it does not exist, check that it can be used, and remove dead
        processes' leftovers.

        To be called before anything is simulated. Raises ``UsageError`` if the place is no folder,
        ``StoreError`` if it cannot be written, ``UnreadableError`` if it cannot be read.
        """
        if isinstance(self.place, Folder):  # a remote place would have to be listed completely
            self.clean()  # at first: this may make room
        self.place.prepare()

    def clean(self) -> list[str]:
        """Remove the leftovers of unfinished writers that have died or are silent for long; returns
        the names.

        The same holds for claims. A living process's files and claims stay, whichever host it runs
        on.
        """
        partial = self.place.leftovers()
        for name in partial:
            self.place.remove(name)
        with suppress(StoreError):  # a store that is only read is cleaned by its writers
            held = [name for name in self.place.names() if name.startswith(leases.CLAIM)]
            partial += [name for name in held if leases.remove_expired(self.place, name)]
        return partial

    def claim(self, identity: str, seconds: float = leases.SECONDS) -> Lease | None:
        """The right to simulate a point; `None` if a living process has it, or if this build has
        finished it meanwhile.

        The claim is a context that releases it at the end. It holds for ``seconds`` after it was
        last renewed, and in the context it is renewed in time. Raises ``StoreError`` if the place
        cannot be written.
        """
        claim = leases.claim(self.place, identity, seconds)
        if claim is not None and self.current(identity) is not None:
            claim.release()
            return None
        return claim

    def identities(self) -> list[str]:
        """All identities with folders that look finished, sorted."""
        return list(walk(self.place))

    def get(self, identity: str) -> Manifest | None:
        """A finished point's manifest, or `None` if the store has no complete and undamaged folder
        for the point, or one with tables that its digest was not computed from.

        Raises ``UnreadableError`` if the state is unknown.
        """
        if identity not in self._known:
            try:
                found = manifest.point(self.place, identity)
            except DamagedError:
                return None
            if manifest.contradiction(found):
                return None
            self._known[identity] = found
        return self._known[identity]

    def current(self, identity: str) -> Manifest | None:
        """The manifest of a finished point that this build has computed; `None` if it is missing,
        or another build's.

        Another process may have replaced another build's point in the meantime: such a folder is
        read again. Raises as ``get``.
        """
        known = self._known.get(identity)
        if known is not None and not known.mine:
            del self._known[identity]
        found = self.get(identity)
        return found if found is not None and found.mine else None

    def forget(self, identity: str) -> None:
        """Read a point's manifest again at the next need: another process has replaced the
        point.
        """
        self._known.pop(identity, None)

    def builds(self, identities: Iterable[str] | None = None) -> list[tuple[Build, int]]:
        """The builds that have computed points, each with its point count, the most first.

        Points are those given, as far as they are finished, or all that this object has read so
        far.
        """
        known = (
            list(self._known.values())
            if identities is None
            else [self.get(identity) for identity in identities]
        )
        return grouped(found.build for found in known if found is not None)

    def damaged(self, identity: str) -> bool:
        """Whether a point has an incomplete folder; ``put`` replaces it.

        Only ``put`` removes it: to a reader, a point that another host is about to finish looks the
        same.
        """
        return self.place.exists(identity) and self.get(identity) is None

    def table(self, identity: str, table: Table) -> pl.DataFrame:
        """A finished point's table; empty if the point has no rows of that kind, or never had such
        a table.

        Columns that there were not yet when the point was simulated are null.
        """
        (found,) = self.tables([identity], table)
        return found

    def tables(self, identities: Sequence[str], table: Table) -> list[pl.DataFrame]:
        """Several finished points' tables of one kind, each as ``table`` has it.

        The simulator's faults are those that files list; a rail that a series lets fail
        (``failure``) is added.
        """
        file = f"{table}.parquet"
        held = [
            one
            for one in identities
            if (known := self.get(one)) is None or file in known.data["files"]
        ]
        read = dict(zip(held, self._read(held, table), strict=True))
        found = [read[one] if one in read else empty(table) for one in identities]
        if table == "faults":
            found = [
                _with_failure(one, self.get(name))
                for name, one in zip(identities, found, strict=True)
            ]
        return found

    def _read(self, identities: Sequence[str], table: Table) -> list[pl.DataFrame]:
        """Stored tables, with all columns that their kind has today.

        Raises ``ElaniteError`` if a checksum holds for a file that is no such table.
        """
        import polars as pl
        from polars.exceptions import PolarsError

        names = [f"{identity}/{table}.parquet" for identity in identities]
        # Polars reads many small files together in a fraction of the time that it takes one by one.
        scans = [pl.scan_parquet(self.place.load(name)) for name in names]

        def wrong(name: str) -> AbstractContextManager[None]:
            remedy = "a program has changed it: remove its folder, and run the command again"
            place = f"{self.place.name}/{name}"
            return reading(place, "it is no table of its kind", remedy, error=ElaniteError)

        try:
            found = pl.collect_all(scans)
        except (PolarsError, OSError):
            for name, scan in zip(names, scans, strict=True):
                with wrong(name):
                    scan.collect()
            raise
        for identity, name, one in zip(identities, names, found, strict=True):
            known = self.get(identity)
            with wrong(name):
                fit(one.schema, table, complete=known is not None and known.mine)
        return [_completed(one, table) for one in found]

    def put(self, point: Point, records: Records, times: Mapping[str, object]) -> Manifest:
        """Keep a point's results. Returns when they are on the disk.

        Raises ``StoreError`` if they cannot be kept, and ``RunError`` if the digest is not the
        tables'.
        """
        # Most points have rows of a few kinds only. Every point has results, and a folder without
        # them is not a point.
        tables = {
            name: frame(columns)
            for name, columns in records["tables"].items()
            if name == "rows" or _any(columns)
        }
        data: dict[str, object] = {
            "layout": LAYOUT,
            "id": point.id,
            "experiment": point.experiment,
            "series": point.series,
            "parameters": point.parameters,
            "seed": point.seed,
            "base": records["base"],
            "digest": records["digest"],
            "packets": records["packets"],
            "events": records["events"],
            "simulated_ps": records["simulated_ps"],
            "random": records.get("random"),  # workers from older versions do not report it
            "peak_memory_bytes": records["peak_memory_bytes"],
            "heights": {name: table.height for name, table in tables.items()},
            "files": {},
            "versions": manifest.versions(),
            "point": json.loads(point.json),
            "times": dict(times),
        }
        checks.compare(point.id, records, tables)
        files = manifest.seal(tables, data, bound=True)
        # Another build's point gives way to this build's: both may have the same results, and then
        # only the build is renewed.
        if not self.place.keep(point.id, files) and self.current(point.id) is None:
            self.place.replace(point.id, files)
        self._known[point.id] = Manifest(json.loads(files[manifest.MANIFEST]))
        return self._known[point.id]

    def add(self, identity: str, files: Mapping[str, bytes]) -> None:
        """Keep a sealed point's files.

        The point's sound folder stays, a damaged one is replaced.
        """
        if not self.place.keep(identity, files) and self.get(identity) is None:
            self.place.replace(identity, files)

    def points(self, identities: Iterable[str]) -> list[Point]:
        """The finished ones among some points, as in the plan that led to them."""
        from elanite.inputs.plan import Point

        found = []
        for identity in identities:
            if (known := self.get(identity)) is not None:
                (kind,) = known.data["point"]["workload"]
                found.append(
                    Point(
                        id=identity,
                        experiment=known.data["experiment"],
                        series=known.data["series"],
                        parameters=known.data["parameters"],
                        seed=known.data["seed"],
                        json=json.dumps(known.data["point"]),
                        machine=known.data["point"]["machine"]["machine"]["name"],
                        kind=kind,
                    )
                )
        return found
