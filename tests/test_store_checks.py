"""Points that are not the results that they claim to be: found by checks, or by another simulation
only.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import FILES, Ended
from elanite import _core
from elanite.cli import progress
from elanite.cli.store import number
from elanite.errors import ElaniteError, RunError, UsageError
from elanite.store import Store, checks, manifest, upkeep
from elanite.store.tables import frame
from stores import contents, copied, rewritten, small

TINY = str(FILES.parent / "store_kills" / "tiny.toml")
Run = Callable[..., Ended]
Tables = dict[str, pl.DataFrame]
Change = Callable[[Tables, Any], None]


def a_load() -> str:
    """A point with rows for many links."""
    return small().series("load")[0].id


def another() -> str:
    return small().series("load")[1].id


def doubled(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].with_columns(pl.col("value") * 2)


def one_more_flit(tables: Tables, _: Any) -> None:
    links = tables["links"]
    last = pl.int_range(links.height) == links.height - 1
    tables["links"] = links.with_columns(
        pl.when(last).then(pl.col("flits") + 1).otherwise("flits").alias("flits")
    )


def without_a_row(tables: Tables, _: Any) -> None:
    tables["nodes"] = tables["nodes"].head(-1)


def without_a_table(tables: Tables, _: Any) -> None:
    del tables["links"]


def other_order(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].reverse()


def without_a_column(tables: Tables, _: Any) -> None:
    tables["links"] = tables["links"].drop("delay_ps")


def another_type(tables: Tables, _: Any) -> None:
    tables["links"] = tables["links"].with_columns(pl.col("flits").cast(pl.Float64))


def another_metric(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].with_columns(
        pl.col("metric").str.replace("accepted", "offered")
    )


def other_digest(_: Tables, data: Any) -> None:
    data["digest"] = "0" * 32


def other_packets(_: Tables, data: Any) -> None:
    data["packets"] += 1


def bound(change: Change) -> Change:
    """The same change with a bond that fits."""

    def both(tables: Tables, data: Any) -> None:
        change(tables, data)
        manifest.seal(tables, data, bound=True)

    return both


CHANGES = (
    *(
        doubled,
        one_more_flit,
        without_a_row,
        without_a_table,
        other_order,
        without_a_column,
        another_type,
    ),
    *(another_metric, other_digest, other_packets),
)


def wrong(store: Path) -> list[tuple[str, str]]:
    return upkeep.verify(Store(store)).wrong


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changed_results_are_found(campaign: Path, tmp_path: Path, change: Change) -> None:
    store = copied(campaign, tmp_path) / "store"
    rewritten(store, a_load(), change)
    assert wrong(store) == [
        (a_load(), "its tables are not those that its digest was computed from")
    ]
    # Also if the bond was recomputed, where digests are computed.
    store = copied(campaign, tmp_path / "bound") / "store"
    rewritten(store, a_load(), bound(change))
    assert wrong(store) == []
    deep = upkeep.verify(Store(store), digests=True)
    assert [identity for identity, _ in deep.wrong] == [a_load()]
    assert len(deep.sound) == len(small().points) - 1


def test_all_points_with_doubled_rows_are_named_and_not_merged(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    store = copied(campaign, tmp_path / "lies") / "store"
    for point in small().points:
        rewritten(store, point.id, doubled)
        assert manifest.point(Store(store).place, point.id)  # their checksums hold
        assert Store(store).damaged(point.id)  # a campaign simulates them again
    ended = elanite_here("store", "verify", "--store", "lies")
    assert ended.code == 1
    assert [line.partition(":")[0] for line in ended.out.splitlines()] == [
        f"lies/store/{identity}" for identity in sorted(point.id for point in small().points)
    ]
    merged = elanite_here("store", "merge", "lies", "--into", "out")
    assert merged.code == 1
    assert (
        f"{len(small().points)} of the points are not the results that they claim to be"
        in merged.err
    )
    assert not (tmp_path / "out").exists()


def test_one_false_point_keeps_a_store_from_being_merged(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    part = tmp_path / "out"
    copied(campaign, part)
    shutil.rmtree(part / "store" / a_load())
    before = contents(part)
    rewritten(copied(campaign, tmp_path / "lies") / "store", a_load(), bound(doubled))
    ended = elanite_here("store", "merge", "lies", "--into", "out")
    assert ended.code == 1
    assert f"lies/store/{a_load()}: its digest is not that of its tables" in ended.err
    assert contents(part) == before


def test_tables_of_another_point_are_found(campaign: Path, tmp_path: Path) -> None:
    """Two points that have changed places, in part and as a whole."""
    for names in (["rows"], ["links"], None):
        store = copied(campaign, tmp_path / "-".join(names or ["all"])) / "store"
        one, other = (taken(tables_of(store, identity), names) for identity in PAIR())
        for identity, foreign in zip(PAIR(), (other, one), strict=True):
            rewritten(store, identity, lambda tables, _, foreign=foreign: tables.update(foreign))
        assert [identity for identity, _ in wrong(store)] == sorted(PAIR())
        for identity in PAIR():
            rewritten(store, identity, bound(lambda *_: None))
        deep = upkeep.verify(Store(store), digests=True)
        assert [identity for identity, _ in deep.wrong] == sorted(PAIR())


def more_columns(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].with_columns(pl.lit("x").alias("evil"))


def without_units(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].drop("unit")


def values_as_text(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].cast({"value": pl.String})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (more_columns, "there is no column evil"),
        (without_units, "the column unit is missing"),
        (values_as_text, "the column value has another type"),
        (None, "must end with PAR1"),
    ],
)
def test_a_sealed_file_that_is_no_table_of_its_kind_is_named(
    campaign: Path, tmp_path: Path, change: Change | None, said: str
) -> None:
    """Also if its bond was computed again; it is read by reports, merged and exported."""
    copied(campaign, tmp_path / "lies")
    store = Store(tmp_path / "lies" / "store")
    if change is not None:
        rewritten(tmp_path / "lies" / "store", a_load(), bound(change))
    else:
        folder = tmp_path / "lies" / "store" / a_load()
        data, garbage = content_of(folder.parent, a_load()), b"PAR1 cut off"
        data["files"]["rows.parquet"] = hashlib.sha256(garbage).hexdigest()
        data["bond"] = manifest.bond(data)
        data["seal"] = manifest._seal(data)
        (folder / "rows.parquet").write_bytes(garbage)
        (folder / "manifest.json").write_text(json.dumps(data))
    place = rf"lies/store/{a_load()}/rows.parquet: it is no table of its kind: .*{said}"
    remedy = "a program has changed it: remove its folder, and run the command again"
    with pytest.raises(ElaniteError, match=f"{place}.*; {remedy}"):
        store.tables([another(), a_load()], "rows")
    with pytest.raises(upkeep.FalseError, match=r"rows\.parquet is no table of its kind"):
        upkeep.merge([store], Store(tmp_path / "out"))
    if change is None:
        with pytest.raises(upkeep.ConflictError, match=r"differ in rows\.parquet"):
            upkeep.merge([Store(campaign / "store"), store], Store(tmp_path / "out"))


@pytest.mark.parametrize("name", ["manifest.json", "rows.parquet"])
def test_a_file_of_many_gigabytes_is_not_read(campaign: Path, tmp_path: Path, name: str) -> None:
    copied(campaign, tmp_path / "large")
    store = Store(tmp_path / "large" / "store")
    os.truncate(tmp_path / "large" / "store" / a_load() / name, 8_000_000_000_000)
    (found,) = upkeep.verify(store).wrong
    assert found[0] == a_load()


def PAIR() -> tuple[str, str]:  # noqa: N802
    return a_load(), another()


def tables_of(store: Path, identity: str) -> Tables:
    return {
        path.stem: pl.read_parquet(path.read_bytes())
        for path in (store / identity).glob("*.parquet")
    }


def taken(tables: Tables, names: list[str] | None) -> Tables:
    return {name: table for name, table in tables.items() if names is None or name in names}


def content_of(store: Path, identity: str) -> Any:
    return json.loads((store / identity / "manifest.json").read_bytes())


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            lambda data, foreign: data.update(point=foreign["point"]),
            "its content is that of the point ",
        ),
        (
            lambda data, _: data["point"].update(seed=data["seed"] + 7),
            "its content is that of the point ",
        ),
        (lambda data, _: data.update(point={}), "its content is no point"),
        (
            lambda data, _: data["parameters"].update(message="8 KB"),
            "the parameters of the manifest and of the",
        ),
        (
            lambda data, _: data.update(parameters=None, point=[], seed="1"),
            "its manifest has values of wrong types: parameters, point, seed",
        ),
        (
            lambda data, _: data.update(events="many", packets=-1, simulated_ps=True),
            "its manifest has counts that are none: packets, events, simulated_ps",
        ),
        (
            lambda data, _: data["times"].update(cpu_seconds=float("nan")),
            "its processor time is not a number",
        ),
        (
            lambda data, _: data["versions"].update(model=10**30),
            "its model revision is not a number",
        ),
        (
            lambda data, _: data.update(series="ping"),
            "the series of the manifest and of the content differ",
        ),
        (lambda data, _: data.update(seed=9), "the seed of the manifest and of the content differ"),
        (lambda data, _: data.pop("bond"), "it has no bond of digest and tables"),
    ],
)
def test_a_point_under_another_name_is_found(
    campaign: Path, tmp_path: Path, edit: Callable[[Any, Any], None], said: str
) -> None:
    store = copied(campaign, tmp_path) / "store"
    foreign = content_of(store, another())
    rewritten(store, a_load(), lambda _, data: edit(data, foreign))
    ((identity, reason),) = wrong(store)
    assert identity == a_load()
    assert said in reason


def test_the_points_of_a_sweep_are_sound_and_merged(elanite: Run, tmp_path: Path) -> None:
    """Varied keys are parameters in the manifests, and their values stand in the contents."""
    varied = ("topology.down=[4, 4, 4]", "run.window=0.1 ms,200 us", "bus.rate=0.2 GB/s,300 MB/s")
    vary = [word for text in (*varied, "switch.tokens=true") for word in ("--vary", text)]
    assert elanite("sweep", TINY, *vary, "--out", "swept", "-q").code == 0
    store = tmp_path / "swept" / "store"
    found = upkeep.verify(Store(store))
    assert (found.wrong, found.unconfirmed) == ([], {})
    assert {content_of(store, one)["parameters"]["bus.rate"] for one in found.sound} == {
        "0.2 GB/s",
        "300 MB/s",
    }
    assert elanite("store", "merge", "swept", "--into", "whole", "-q").code == 0


@pytest.mark.parametrize(
    ("key", "value", "false"),
    [
        ("bus.rate", "210 MB/s", True),
        ("link.channels", "3", True),
        ("switch.circuit", "wormhole", True),
        ("topology.down", "[4, 4]", True),
        ("bus.speed", "1", True),
        ("speed", "1", True),
        ("bus.rate", "0.4 GB/s", None),
        ("run.window", "7 us", False),
    ],
)
def test_a_varied_key_has_the_value_of_the_content(
    campaign: Path, tmp_path: Path, key: str, value: str, false: bool | None
) -> None:
    store = copied(campaign, tmp_path) / "store"
    rate = content_of(store, a_load())["point"]["machine"]["bus"]["rate"]["value"]
    rewritten(store, a_load(), lambda _, data: data["parameters"].update({key: value}))
    if false is None:
        false = _core.quantity(rate) != _core.quantity(value)
    assert (
        wrong(store)
        == [(a_load(), "the parameters of the manifest and of the content differ")] * false
    )


def test_the_folder_of_another_point_is_found(campaign: Path, tmp_path: Path) -> None:
    """As a whole, with the folder's identity in the manifest and a matching bond."""
    store = copied(campaign, tmp_path) / "store"
    shutil.rmtree(store / a_load())
    shutil.copytree(store / another(), store / a_load())
    assert wrong(store) == [(a_load(), f"it has the identity of point {another()}")]
    rewritten(store, a_load(), bound(lambda _, data: data.update(id=a_load())))
    assert wrong(store) == [(a_load(), f"its content is that of the point {another()}")]


def test_the_identity_that_is_verified_has_the_model_revision(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point from another model is not taken for one from this model, nor for a false one."""
    store = copied(campaign, tmp_path) / "store"
    identity = a_load()
    monkeypatch.setattr(_core, "MODEL_REVISION", _core.MODEL_REVISION + 1)
    found = upkeep.verify(Store(store))
    assert found.wrong == []
    assert sum(found.unconfirmed.values()) == len(found.sound) > 20
    rewritten(store, identity, lambda _, data: data["versions"].update(model=_core.MODEL_REVISION))
    ((named, reason),) = wrong(store)
    assert named == identity
    assert "its content is that of the point" in reason


def test_points_of_older_versions_are_counted_as_unconfirmed(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    def older(tables: Tables, data: Any) -> None:
        for name in ("base", "bond", "heights"):
            del data[name]
        for name in ("engine", "sources", "commit", "dirty"):
            del data["versions"][name]
        doubled(tables, data)

    rewritten(copied(campaign, tmp_path / "out") / "store", a_load(), older)
    ended = elanite_here("store", "verify")
    assert ended.code == 0
    assert (
        "not confirmed, only compared with their checksums: 1; they are of a version that wrote no"
        " bond" in ended.err
    )
    assert "points of 2 builds" in ended.err
    assert "engine unknown, commit unknown" in ended.err


# Changes that only another simulation finds.


def as_the_simulator_does(change: Change) -> Change:
    """A change with the digest and the bond that belong to it."""

    def whole(tables: Tables, data: Any) -> None:
        change(tables, data)
        held: Mapping[str, Any] = {
            name: ([tables[name].height], checks._columns(tables[name].select(columns)))
            for name, columns in _core.hashed().items()
            if columns and name in tables
        }
        (data["digest"],) = _core.digests(
            [(data["base"], data["packets"], data["events"], data["simulated_ps"])], held
        )
        manifest.seal(tables, data, bound=True)

    return whole


def other_unit(tables: Tables, _: Any) -> None:
    tables["rows"] = tables["rows"].with_columns(pl.lit("ms").alias("unit"))


def other_switches(tables: Tables, _: Any) -> None:
    tables["switches"] = tables["switches"].with_columns(pl.col("packets") + 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (as_the_simulator_does(doubled), "it differs in digest, rows.parquet; this build wrote it"),
        (bound(other_unit), "it differs in rows.parquet; this build wrote it"),
        (bound(other_switches), "it differs in switches.parquet; this build wrote it"),
    ],
    ids=["digest computed", "unit", "switches"],
)
def test_another_simulation_finds_what_checks_do_not(
    elanite_here: Run,
    campaign: Path,
    tmp_path: Path,
    change: Change,
    said: str,
) -> None:
    store = copied(campaign, tmp_path / "out") / "store"
    first, *others = (point.id for point in small().points)
    for identity in others[1:]:
        shutil.rmtree(store / identity)
    rewritten(store, first, change)
    assert wrong(store) == []
    ended = elanite_here("store", "verify", "--again", "100%")
    assert ended.code == 1
    assert ended.out == f"out/store/{first}: simulated again, {said}\n"
    assert "simulated again: 2; with other results: 1" in ended.err


def test_verification_and_simulation_show_their_progress(
    elanite_here: Run,
    campaign: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied(campaign, tmp_path / "out")
    words, of = ("store", "verify", "--again", "100%"), len(small().points)
    assert " left" not in elanite_here(*words).err, "a short command needs no progress"
    monkeypatch.setattr(progress, "EVERY", 0.0)
    lines = elanite_here(*words).err.splitlines()
    for doing in ("verifying", "simulating again"):
        shown = [line for line in lines if line.startswith(f"{doing}: ") and line.endswith(" left")]
        counts = [line.split(", about")[0] for line in shown]
        assert counts == [f"{doing}: {done} of {of} points" for done in range(1, of)]
    assert " left" not in elanite_here("--quiet", *words).err


def test_the_build_of_a_point_that_differs_is_named(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    store = copied(campaign, tmp_path / "out") / "store"
    for point in small().points[1:]:
        shutil.rmtree(store / point.id)
    first = small().points[0].id

    def by_another(tables: Tables, data: Any) -> None:
        data["versions"] |= {"engine": "f" * 32, "commit": "abc" * 13, "dirty": True}
        as_the_simulator_does(doubled)(tables, data)

    rewritten(store, first, by_another)
    ended = elanite_here("store", "verify", "--again", "1")
    assert ended.code == 1
    assert "engine ffffffffffff, commit abcabcabcabc with changes) wrote it" in ended.out
    assert "all points are of another build" in ended.err


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    identities = [f"{number:020x}" for number in range(200)]
    first = checks.sample(identities, 20, 1)
    assert first == checks.sample(identities[::-1], 20, 1)
    assert first != checks.sample(identities, 20, 2)
    assert len({*first}) == 20
    assert checks.sample(identities, 30, 1)[:20] == first


@pytest.mark.parametrize(
    ("text", "of", "found"),
    [("1%", 1, 1), ("1%", 150, 2), ("100%", 7, 7), ("0.1 %", 7, 1), ("3", 7, 3), ("9", 7, 7)],
)
def test_how_many_points_are_simulated_again(text: str, of: int, found: int) -> None:
    assert number(text)(of) == found


@pytest.mark.parametrize("text", ["0", "-1", "0%", "101%", "nan%", "many", "", "%", "1.5"])
def test_a_number_of_points_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="--again: "):
        number(text)


# The written data.


def test_tables_that_are_not_those_of_the_simulator_are_not_kept(tmp_path: Path) -> None:
    """A worker, or the way from it, that changes a value."""
    point = small().series("ping")[0]
    records = _core.simulate(point.json, _core.Cancel())
    kind, values = records["tables"]["rows"]["value"]
    records["tables"]["rows"]["value"] = kind, [value + 1.0 for value in values]  # type: ignore[operator]
    store = Store(tmp_path)
    with pytest.raises(RunError, match="are not those that the simulator has computed"):
        store.put(point, records, {"cpu_seconds": 1.0})
    assert store.identities() == []


def test_digests_of_every_table_are_computed_from_columns() -> None:
    """For records with rows in one table each: the columns match the simulator's, and a changed one
    is noticed.
    """
    point = small().series("load")[0]
    records = _core.simulate(point.json, _core.Cancel())
    tables = {name: frame(columns) for name, columns in records["tables"].items()}
    checks.compare(point.id, records, tables)
    hashed = _core.hashed()
    assert hashed["switches"] == []
    for name, columns in hashed.items():
        for column in columns if tables[name].height else []:
            kind = tables[name].schema[column]
            text = pl.concat_str(pl.col(column).fill_null(""), pl.lit("x"))
            value = (
                text
                if kind == pl.String
                else pl.lit(1, kind)
                if kind == pl.UInt32
                else pl.col(column) + 1
            )
            changed = tables[name].with_columns(value.cast(kind).alias(column))
            if not changed.equals(tables[name]):
                with pytest.raises(RunError):
                    checks.compare(point.id, records, tables | {name: changed})
