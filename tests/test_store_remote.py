"""Stores that are not folders, by fsspec's implementations for memory and for local files."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import SMALL, command, execute, until
from elanite import _core, campaign
from elanite.errors import UsageError
from elanite.inputs import sources
from elanite.inputs.plan import Plan, plan
from elanite.store import Store, StoreError, UnreadableError, owner
from elanite.store.upkeep import merge, verify
from stores import contents

fsspec = pytest.importorskip("fsspec")


def few() -> Plan:
    """The small campaign's pings."""
    whole = plan(sources.read("experiment", SMALL))
    return replace(whole, points=tuple(whole.series("ping")[:12]))


@pytest.fixture(params=["memory", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store's URL."""
    if request.param == "file":
        yield f"file://{tmp_path}/far/store"
    else:
        yield f"memory://{tmp_path.name}/store"
        fsspec.filesystem("memory").store.clear()
        fsspec.filesystem("memory").pseudo_dirs[:] = [""]


def path(address: str, name: str) -> tuple[fsspec.AbstractFileSystem, str]:
    """A store file, as fsspec sees it."""
    files, root = fsspec.core.url_to_fs(address)
    return files, f"{root}/{name}"


def verified(store: Store) -> tuple[int, list[tuple[str, str]]]:
    """The count of sound points, and the unsound folders, in a store where all points can be
    confirmed.
    """
    found = verify(store)
    assert found.unconfirmed == {}
    return len(found.sound), found.wrong


def test_a_campaign_goes_on_and_its_merged_store_is_that_of_a_folder(
    address: str, tmp_path: Path
) -> None:
    planned = few()
    some = replace(planned, points=planned.points[:5])
    assert campaign.run([some], Store.open(address)).simulated == 5
    outcome = campaign.run([planned], Store.open(address))
    assert (outcome.reused, outcome.simulated, outcome.damaged) == (5, 7, 0)
    store = Store.open(address)
    assert store.identities() == sorted(point.id for point in planned.points)
    assert [name for name in store.place.names() if name.startswith(".")] == []
    campaign.run([planned], Store(tmp_path / "whole" / "store"))
    assert merge([store], Store(tmp_path / "merged" / "store")).copied == 12
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")
    local = Store(tmp_path / "whole" / "store")
    for point in planned.points:
        assert store.table(point.id, "rows").equals(local.table(point.id, "rows"))
    back = Store.open(address + "-2")
    assert merge([local], back).copied == 12
    assert verified(back) == (12, [])


def test_a_point_exists_when_its_manifest_does(address: str) -> None:
    """A writer that dies leaves tables, and no point; the next writer writes the point."""
    planned = few()
    point = planned.points[0]
    campaign.run([replace(planned, points=(point,))], Store.open(address))
    files, manifest = path(address, f"{point.id}/manifest.json")
    files.rm_file(manifest)
    assert Store.open(address).get(point.id) is None
    assert Store.open(address).clean() == []  # its writer may be at work
    assert verified(Store.open(address)) == (0, [(point.id, "it has no manifest")])
    outcome = campaign.run([replace(planned, points=(point,))], Store.open(address))
    assert outcome.simulated == 1
    assert verified(Store.open(address)) == (1, [])


def test_damage_is_found_and_replaced(address: str) -> None:
    planned = few()
    campaign.run([planned], Store.open(address))
    first, second = planned.points[:2]
    files, rows = path(address, f"{first.id}/rows.parquet")
    files.pipe_file(rows, b"PAR1")
    files, links = path(address, f"{second.id}/links.parquet")
    files.rm_file(links)
    sound, damaged = verified(Store.open(address))
    assert sound == 10
    assert dict(damaged) == {
        first.id: "rows.parquet differs from its checksum",
        second.id: "links.parquet is missing",
    }
    outcome = campaign.run([planned], Store.open(address))
    assert (outcome.simulated, outcome.damaged) == (2, 2)
    assert verified(Store.open(address)) == (12, [])


def test_writers_of_one_point_do_not_harm_each_other(address: str) -> None:
    point = few().points[0]
    records = _core.simulate(point.json, _core.Cancel())
    for round_ in range(10):
        stores = [Store.open(f"{address}-{round_}") for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda store: store.put(point, records, {"cpu_seconds": 1.0}), stores))
        assert verified(Store.open(f"{address}-{round_}")) == (1, [])


def test_who_looks_at_a_point_that_another_host_writes_removes_nothing(address: str) -> None:
    planned = few()
    point = planned.points[0]
    campaign.run([replace(planned, points=(point,))], Store.open(address))
    files, table = path(address, f"{point.id}/rows.parquet")
    whole = files.cat_file(table)
    files.pipe_file(table, whole[:100])  # as far as the other host has come
    looks = Store.open(address)
    assert looks.get(point.id) is None
    assert looks.damaged(point.id)
    files.pipe_file(table, whole)
    assert verified(Store.open(address)) == (1, [])


def test_claims(address: str) -> None:
    store = Store.open(address)
    with store.claim("0123") as claim:
        assert claim.renew()
        assert Store.open(address).claim("0123") is None
    claim = Store.open(address).claim("0123")
    assert claim is not None
    claim.seconds = 0.3  # it is renewed three times within these seconds
    files, name = path(address, ".claim-0123")
    made = files.modified(name)
    with claim:
        assert until(lambda: files.modified(name) > made)
        assert store.claim("0123") is None
    # Another host's claim, and the same one when it has expired.
    said = {
        "owner": str(replace(owner.own_process(), host="elsewhere")),
        "seconds": 600,
        "number": "1",
    }
    files, name = path(address, ".claim-4567")
    files.pipe_file(name, json.dumps(said).encode())
    assert store.claim("4567") is None
    files.pipe_file(name, json.dumps(said | {"seconds": 0.01}).encode())
    assert until(lambda: store.place.age(".claim-4567") > 0.01)
    successor = store.claim("4567")
    assert successor is not None
    successor.release()
    assert [name for name in store.place.names() if name.startswith(".")] == []


def test_leftovers_are_removed_when_they_are_old(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/store"
    (tmp_path / "store" / "0123").mkdir(parents=True)
    table = tmp_path / "store" / "0123" / "rows.parquet"
    table.write_bytes(b"x")
    assert Store.open(address).clean() == []
    os.utime(table, (time.time() - 2 * 86400,) * 2)
    assert Store.open(address).clean() == ["0123"]
    assert not (tmp_path / "store" / "0123").exists()


def test_the_commands_take_addresses(campaign: Path, tmp_path: Path) -> None:
    far = f"file://{tmp_path}/far"
    ended = execute(command("store", "merge", str(campaign), "--into", far))
    assert ended.code == 0, ended
    assert execute(command("store", "verify", "--store", far)).code == 0
    shutil.copytree(tmp_path / "far", tmp_path / "near" / "store")
    assert contents(tmp_path / "near") == contents(campaign)
    exported = execute(command("store", "export", "x.parquet", "--store", far), cwd=tmp_path)
    assert exported.code == 0, exported


@pytest.mark.parametrize("url", ["nonsense://x/y", "s3://bucket/store"])
def test_what_cannot_be_opened_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as if it were not installed
    with pytest.raises(UsageError, match="cannot be opened") as error:
        Store.open(url)
    assert url in str(error.value)


def test_errors_of_the_far_side_are_errors_of_people(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = type(fsspec.filesystem("memory"))
    store = Store.open(f"memory://{tmp_path.name}/store")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(memory, "pipe_file", refuse)
    with pytest.raises(StoreError, match=r"memory://.* cannot be written: Access Denied"):
        store.prepare()
    with pytest.raises(StoreError, match="Access Denied"):
        store.claim("0123")
    monkeypatch.setattr(memory, "cat_file", refuse)
    with pytest.raises(UnreadableError, match="cannot be read: Access Denied"):
        store.get("0123")
