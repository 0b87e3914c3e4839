"""Checks on finished points beyond their checksums: whether a folder is the result that it claims
to be.

A seal shows damage, and anyone can make one. So three statements in a manifest are derived again:

- **The identity** is computed from ``point``, the content that was simulated. Parameters, series
  and seed, by which figures find the point, must equal the content's; keys that a sweep has varied
  are parameters, too, with the values of the content's machine.
- **The digest** is computed from the tables: the simulator takes it over all packets (``base``) and
  every table. It covers measurements and counts. It does not cover derived columns: units, link and
  switch names, and switch sums. This costs several times as much as the checksums. So it is done
  when a point is written, which is refused if they differ, when a point is merged, and beside
  ``resimulate``. In between, the **bond** holds digest and tables together: a checksum over both,
  which only a writer that has compared them adds to the manifest.
- ``resimulate`` simulates sample points, and compares digests and all tables.

The first two find tables that were edited, taken from another point or lost on the way, and points
that were renamed. They do not find a program that computes digest and bond as Elanite does: only
``resimulate`` does. Points from another model revision have other rules for identities and digests,
and points from older versions have no bond: both are counted as *unconfirmed*.

Digests for many points are computed at a time, because polars and the simulator take small tables
together in a fraction of the time that they need one by one.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from elanite import _core
from elanite.errors import ElaniteError, Exit, RunError
from elanite.inputs.overrides import EXPERIMENT
from elanite.store import manifest
from elanite.store.errors import DamagedError
from elanite.store.tables import TABLES, fit, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from elanite._core import Records
    from elanite.base.build import Build
    from elanite.store.manifest import Manifest, PointFolder
    from elanite.store.places import StorePlace

AT_ONCE = 256
"""How many points are checked at a time."""

_ON = "on"
"""The parameter that names a point's machine among several; it is not part of the content."""


@dataclass
class FolderCheck:
    """A folder, and its checks' outcome."""

    identity: str
    build: Build | None = None
    """The build that has computed the point; `None` if the folder is damaged."""
    damage: str = ""
    """Why the checksums do not hold."""
    contradiction: str = ""
    """Why the folder is not the result that it claims to be, although its checksums hold."""
    unconfirmed: str = ""
    """Why identity or digest could not be compared."""

    @property
    def reason(self) -> str:
        """The damage; empty if the folder is sound."""
        return self.damage or self.contradiction


def checked(
    place: StorePlace, identities: Iterable[str], *, digests: bool
) -> Iterator[FolderCheck]:
    """Check folders; every byte is read.

    ``digests``: compute digests again. Raises ``UnreadableError``.
    """
    rest = iter(identities)
    while some := list(islice(rest, AT_ONCE)):
        found = [FolderCheck(identity) for identity in some]
        # Thousands of manifests in memory would keep the garbage collector busy: only the needed
        # parts are kept.
        texts: dict[str, bytes] = {}
        claims: dict[str, Claims] = {}
        contents: dict[str, Any] = {}
        wholes: dict[str, PointFolder] = {}
        for one in found:
            try:
                whole = manifest.point_folder(place, one.identity)
            except DamagedError as reason:
                one.damage = str(reason)
                continue
            one.build = whole.manifest.build
            _bond(one, whole.manifest)
            if _comparable(one):
                data = whole.manifest.data
                texts[one.identity] = whole.text
                claims[one.identity] = data["parameters"], data.get("series"), data.get("seed")
                if any("." in str(name) for name in data["parameters"]):
                    contents[one.identity] = data["point"]
                if digests and isinstance(data.get("base"), str):
                    wholes[one.identity] = whole
        said = dict(zip(texts, _identified(list(texts.values())), strict=True))
        for one in found:
            if one.identity in said and not one.contradiction:
                content, own = contents.get(one.identity, {}), claims[one.identity]
                one.contradiction = _identity(one.identity, own, said[one.identity], content)
        _digests([one for one in found if one.identity in wholes and not one.contradiction], wholes)
        yield from found


def _bond(one: FolderCheck, found: Manifest) -> None:
    one.contradiction = manifest.contradiction(found)
    if "bond" not in found.data and not one.contradiction:
        one.unconfirmed = "they are of a version that wrote no bond of digest and tables"


def _comparable(one: FolderCheck) -> bool:
    if one.build is not None and one.build.revision != _core.MODEL_REVISION:
        one.unconfirmed = f"they have the model revision {one.build.revision}"
        return False
    return True


Claims = tuple[object, object, object]
"""A point's parameters, series and seed, as its manifest has them."""

Said = tuple[str, str, str, int]
"""A point's key, parameters as JSON, series and seed."""


def _identified(texts: list[bytes]) -> list[Said | None]:
    """The identifying content of manifests' points; `None` for an invalid point."""
    try:
        return _core.identify(texts)
    except ElaniteError:
        if len(texts) == 1:
            return [None]
        return [said for text in texts for said in _identified([text])]


def _identity(claimed: str, claims: Claims, said: Said | None, content: Any) -> str:
    """A manifest's contradiction to its content; empty without one."""
    if said is None:
        return "its content is no point"
    key, parameters, series, seed = said
    identity = hashlib.sha256(f"{key}{_core.MODEL_REVISION}".encode()).hexdigest()[:20]
    if identity != claimed:
        return f"its content is that of the point {identity}"
    own = _without_machine(json.loads(parameters))
    contents = own, series, seed
    written = _without_varied(_without_machine(claims[0]), own, content), *claims[1:]
    for name, one, other in zip(("parameters", "series", "seed"), written, contents, strict=True):
        if one != other:
            return f"the {name} of the manifest and of the content differ"
    return ""


def _without_machine(parameters: object) -> object:
    if not isinstance(parameters, dict):
        return parameters
    return {name: value for name, value in parameters.items() if name != _ON}


def _without_varied(parameters: object, own: object, content: Any) -> object:
    """A manifest's parameters without the keys that a sweep has varied, unless they contradict the
    content.
    """
    if not isinstance(parameters, dict) or not isinstance(own, dict):
        return parameters
    return {
        name: value
        for name, value in parameters.items()
        if name in own or _contradicts(content, name, value)
    }


def _contradicts(content: Any, key: str, value: object) -> bool:
    """Whether a point's content has another value at a varied key, or the key is none.

    Values of the machine are compared if both sides are quantities, numbers or words. A series may
    replace values of ``run``, and its own keys lead elsewhere in a content: they count as written.
    """
    first, *rest = key.split(".")
    if not rest or first in EXPERIMENT:
        return not rest
    found = content.get("machine")
    for name in (first, *rest):
        found = found.get(name) if isinstance(found, dict) else None
    if isinstance(found, dict):
        found = found.get("value")
    one, other = _plain(found), _plain(value)
    return found is None or (type(one) is type(other) and one != other)


@dataclass(frozen=True)
class _Unknown:
    """A text in a unit that is not known here; all are equal."""


def _plain(value: object) -> object:
    """A value as a number in its base unit, as what its JSON says, or as a word."""
    text = value if isinstance(value, str) else json.dumps(value)
    if (quantity := _core.quantity(text)) is not None:
        return quantity
    try:
        found = json.loads(text)
    except ValueError:
        return text if text.replace("-", "").isalpha() else _Unknown()
    return float(found) if type(found) is int else found


def compare(identity: str, records: Records, tables: Mapping[str, pl.DataFrame]) -> None:
    """Compare a point's digest with its tables before they are written.

    Raises ``RunError`` if it differs.
    """
    totals = records["base"], records["packets"], records["events"], records["simulated_ps"]
    held = {
        name: ([tables[name].height], _columns(tables[name].select(columns)))
        for name, columns in _core.hashed().items()
        if columns and name in tables
    }
    if _core.digests([totals], held) != [records["digest"]]:
        raise RunError(
            f"the tables of the point {identity} are not those that the simulator has computed:"
            " they were damaged on the way to the store",
            Exit.BROKEN,
        )


def _digests(some: Sequence[FolderCheck], wholes: Mapping[str, PointFolder]) -> None:
    """Compare points' digests with their tables."""
    try:
        together = _computed([wholes[one.identity] for one in some]) if some else []
    except _Unread:
        together = [None] * len(some)
    for one, digest in zip(some, together, strict=True):
        whole = wholes[one.identity]
        if digest == whole.manifest.data["digest"]:
            continue
        # Alone: another point's table may have shifted this one's rows.
        try:
            (digest,) = _computed([whole])
        except _Unread as reason:
            one.contradiction = str(reason)
            continue
        if digest != whole.manifest.data["digest"]:
            one.contradiction = "its digest is not that of its tables"


class _Unread(Exception):
    """Tables without the columns or the rows of their kind."""


def _computed(wholes: Sequence[PointFolder]) -> list[str | None]:
    """Points' digests, from their tables. Raises ``_Unread``."""
    totals = [_totals(whole.manifest) for whole in wholes]
    complete = all(whole.manifest.mine for whole in wholes)
    tables = {}
    for name, columns in _core.hashed().items():
        holders = [whole.tables.get(f"{name}.parquet") for whole in wholes]
        held = [data for data in holders if data is not None]
        if not held or not columns:
            continue
        rows = _read(name, columns, held, complete=complete)
        if len(held) == 1:
            heights = [0 if data is None else rows.height for data in holders]
        else:
            known = [_height(whole.manifest, name) for whole in wholes]
            heights = [
                0 if data is None else height for data, height in zip(holders, known, strict=True)
            ]
        if sum(heights) != rows.height or min(heights) < 0:
            raise _Unread(f"{name}.parquet has another number of rows")
        tables[name] = heights, _columns(rows)
    return _core.digests(totals, tables)


def _totals(found: Manifest) -> tuple[str, int, int, int]:
    data = found.data
    return data["base"], data["packets"], data["events"], data["simulated_ps"]


def _height(found: Manifest, table: str) -> int:
    """A table's row count by the manifest."""
    heights = found.data.get("heights")
    height = heights.get(table) if isinstance(heights, dict) else None
    return height if isinstance(height, int) and height >= 0 else -1


def _read(
    table: str, columns: Sequence[str], files: Sequence[bytes], *, complete: bool
) -> pl.DataFrame:
    """Some columns of several points' tables, one after the other; ``complete`` as for ``fit``.

    Raises ``_Unread``.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        scan = pl.scan_parquet(list(files))
        # Of several files, only the first one's schema is compared, and those that are read.
        read = list(TABLES[table]) if complete else columns
        schema, rows = scan.collect_schema(), scan.select(read).collect().select(columns)
    except (PolarsError, OSError) as error:
        raise _Unread(f"{table}.parquet is no table of its kind") from error
    try:
        fit(schema, table, complete=complete)
    except ValueError as error:
        raise _Unread(f"{table}.parquet is no table of its kind: {error}") from error
    return rows


def _columns(rows: pl.DataFrame) -> dict[str, bytes | list[object]]:
    """Columns as ``_core.digests`` takes them: numbers without gaps as bytes."""
    import polars as pl

    packed = [
        column.name for column in rows if column.dtype != pl.String and column.null_count() == 0
    ]
    found: dict[str, bytes | list[object]] = {
        name: rows[name].to_list() for name in rows.columns if name not in packed
    }
    if packed and rows.height:
        words = rows.select(pl.col(packed)).with_columns(
            pl.col(pl.UInt32, pl.Boolean).cast(pl.UInt64)
        )
        body = _body(words)
        stride = len(body) // len(packed)
        for number, name in enumerate(packed):
            found[name] = body[number * stride :][: 8 * rows.height]
    elif packed:
        found |= dict.fromkeys(packed, b"")
    return found


def _body(words: pl.DataFrame) -> bytes:
    """The columns of a frame with 8-byte numbers without gaps, each with the same padding behind
    it.

    This is the body of its only record batch as an Arrow stream: polars has no other way to a
    column's bytes without a further package.
    """
    stream = io.BytesIO()
    words.rechunk().write_ipc_stream(stream)
    data = stream.getbuffer()
    begin = 0
    for _ in range(2):  # the schema, which has no body, and the record batch
        mark, length = struct.unpack_from("<iI", data, begin)
        if mark != -1:
            raise AssertionError("an Arrow stream is a sequence of messages")
        begin += 8 + length
    end = len(data) - 8 if bytes(data[-8:]) == b"\xff\xff\xff\xff\0\0\0\0" else len(data)
    body = bytes(data[begin:end])
    if len(body) % words.width or len(body) // words.width < 8 * words.height:
        raise AssertionError("a record batch has the columns one after the other")
    return body


@dataclass
class Resimulation:
    """Points that were simulated again."""

    points: int = 0
    differing: list[tuple[str, str]] = field(default_factory=list)
    """Identities, and the differences between the results and the store's, with the build that
    wrote them.
    """


def sample(identities: Sequence[str], wanted: int, seed: int) -> list[str]:
    """The wanted count of identities; the choice depends on the seed and the identities alone."""
    return sorted(
        identities, key=lambda identity: hashlib.sha256(f"{seed} {identity}".encode()).digest()
    )[:wanted]


def resimulate(
    place: StorePlace,
    identities: Sequence[str],
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
) -> Resimulation:
    """Simulate sound points again, and compare. Raises ``UnreadableError``, and ``RunError`` after
    an interrupt.

    ``progress`` gets the counts of simulated points and all points.
    """
    cancel = _core.Cancel()
    found = Resimulation()
    with ThreadPoolExecutor(jobs, thread_name_prefix="again") as pool:
        try:
            for identity, difference in zip(
                identities,
                pool.map(lambda one: _differences(place, one, cancel), identities),
                strict=True,
            ):
                found.points += 1
                if progress is not None:
                    progress(found.points, len(identities))
                if difference:
                    found.differing.append((identity, difference))
        except BaseException:
            cancel.set()
            pool.shutdown(cancel_futures=True)
            raise
    return found


def _differences(place: StorePlace, identity: str, cancel: _core.Cancel) -> str:
    """A point's differences from its simulation by this program; empty if it is equal."""
    import polars as pl

    whole = manifest.point_folder(place, identity)
    written = whole.manifest.build
    records = _core.simulate(json.dumps(whole.manifest.data["point"]), cancel)
    new: Mapping[str, object] = records
    counted = ("digest", "packets", "events", "simulated_ps", "random")
    differing = [name for name in counted if new[name] != whole.manifest.data.get(name, new[name])]
    for name, columns in records["tables"].items():
        data = whole.tables.get(f"{name}.parquet")
        old = pl.read_parquet(data) if data is not None else None
        now = frame(columns)
        common = [column for column in now.columns if old is None or column in old.columns]
        if (old is None and now.height) or (
            old is not None and not old.select(common).equals(now.select(common))
        ):
            differing.append(f"{name}.parquet")
    if not differing:
        return ""
    other = "this build" if whole.manifest.mine else str(written)
    return f"simulated again, it differs in {', '.join(differing)}; {other} wrote it"
