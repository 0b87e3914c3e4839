"""Store upkeep: shards merged into one, damage found, garbage removed, all points exported as one
table.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import FILES, SMALL, Ended, command, execute
from elanite import _core, campaign
from elanite.base import build
from elanite.campaign.shards import shard
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.results.export import export
from elanite.store import Store, manifest, owner
from stores import contents, copied, other_values, rewritten, small

Run = Callable[..., Ended]
CHEAP = str(FILES / "cheap.toml")


@pytest.mark.parametrize("name", [None, "list", "verify", "gc", "merge", "export"])
def test_help(snapshot: SnapshotAssertion, name: str | None) -> None:
    ended = execute(command("store", *([name] if name else []), "--help"))
    assert ended.code == 0
    assert str(ended) == snapshot


@pytest.mark.parametrize(
    "experiment",
    [pytest.param(SMALL, id="small"), pytest.param(CHEAP, id="cheap", marks=pytest.mark.slow)],
)
def test_shards_merged_are_the_store_of_one_run(
    elanite_here: Run, tmp_path: Path, experiment: str
) -> None:
    whole = plan(sources.read("experiment", experiment))
    if experiment == CHEAP:
        whole = replace(whole, points=whole.points[:400])
    campaign.run([whole], Store(tmp_path / "whole" / "store"))
    for number in range(1, 5):
        part = replace(whole, points=tuple(shard(f"{number}/4", whole.points)))
        assert len(part.points) < len(whole.points) / 2
        campaign.run([part], Store(tmp_path / f"part-{number}" / "store"))
    ended = elanite_here(
        "store", "merge", *[f"part-{number}" for number in range(1, 5)], "--into", "merged"
    )
    assert ended.code == 0, ended
    assert f"copied points: {len(whole.points)}; already there: 0" in ended.err
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")
    # Once more: no point to copy. The merged store is used like any other.
    again = elanite_here("store", "merge", "part-2", "whole", "--into", "merged")
    assert again.code == 0
    assert "copied points: 0" in again.err
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")
    outcome = campaign.run([whole], Store(tmp_path / "merged" / "store"))
    assert (outcome.reused, outcome.simulated) == (len(whole.points), 0)


def other_digest(_: dict[str, pl.DataFrame], data: Any) -> None:
    data["digest"] = "0" * 32


@pytest.mark.parametrize(
    ("change", "said"),
    [(other_values, "differ in rows.parquet"), (other_digest, "differ in digest")],
    ids=["values", "digest"],
)
def test_a_merge_of_contradictions_is_refused(
    elanite_here: Run, campaign: Path, tmp_path: Path, change: Callable, said: str
) -> None:
    one, other = copied(campaign, tmp_path / "one"), copied(campaign, tmp_path / "other")
    identity = small().points[3].id
    rewritten(other / "store", identity, change)
    assert manifest.point(Store(other / "store").place, identity)  # its checksums hold
    ended = elanite_here("store", "merge", "one", "other", "--into", "both")
    assert ended.code == 1
    assert (
        f"one/store/{identity} and other/store/{identity} {said}; computed by {build.own_build()}\n"
        in ended.err
    )
    assert "nothing was merged" in ended.err
    assert not (tmp_path / "both").exists()
    ended = elanite_here("store", "merge", "other", "--into", "one")
    assert ended.code == 1
    assert contents(one) == contents(campaign)


def test_points_that_other_versions_wrote_agree(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    """Another series with the same content, another polars, a table with a column less: the first
    one stays.
    """

    def change(tables: dict[str, pl.DataFrame], data: Any) -> None:
        data["series"] = data["point"]["series"] = "other"
        data["versions"] |= {"polars": "0.1", "commit": "0" * 40}
        tables["links"] = tables["links"].drop("errors")

    copied(campaign, tmp_path / "one")
    rewritten(copied(campaign, tmp_path / "other") / "store", small().points[3].id, change)
    ended = elanite_here("store", "merge", "one", "other", "--into", "both")
    assert ended.code == 0, ended
    assert contents(tmp_path / "both") == contents(campaign)


def test_a_merge_leaves_damaged_folders_out_and_replaces_them(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    one, other = copied(campaign, tmp_path / "one"), copied(campaign, tmp_path / "other")
    first, second = small().points[0].id, small().points[1].id
    (one / "store" / first / "rows.parquet").write_bytes(b"PAR1")
    (other / "store" / second / "links.parquet").unlink()
    # A merge that was killed has left a folder.
    dead = replace(owner.own_process(), start=0)
    (one / "store" / f".partial-x-0-{dead}").mkdir()
    ended = elanite_here("store", "merge", "other", "--into", "one")
    assert ended.code == 1
    assert ended.out == f"other/store/{second}: links.parquet is missing\n"
    assert contents(one) == contents(campaign)
    assert not list((one / "store").glob(".partial*"))


def test_verify_names_what_is_damaged(elanite_here: Run, campaign: Path, tmp_path: Path) -> None:
    out = copied(campaign, tmp_path / "out")
    sound = elanite_here("store", "verify")
    assert (sound.code, sound.out) == (0, "")
    many = len(small().points)
    assert f"sound points: {many}; damaged or false folders: 0" in sound.err
    ids = sorted(point.id for point in small().points)
    (out / "store" / ids[0] / "rows.parquet").write_bytes(b"PAR1")
    (out / "store" / ids[1] / "links.parquet").unlink()
    (out / "store" / ids[2] / "manifest.json").write_text("{")
    (out / "store" / ids[3] / "manifest.json").unlink()
    text = (out / "store" / ids[4] / "manifest.json").read_text()
    (out / "store" / ids[4] / "manifest.json").write_text(text.replace('"seed": ', '"seed": 1'))
    ended = elanite_here("store", "verify")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        f"out/store/{ids[0]}: rows.parquet differs from its checksum",
        f"out/store/{ids[1]}: links.parquet is missing",
        f"out/store/{ids[2]}: its manifest is not JSON",
        f"out/store/{ids[3]}: it has no manifest",
        f"out/store/{ids[4]}: the seal does not fit the manifest",
    ]
    assert f"sound points: {many - 5}; damaged or false folders: 5" in ended.err


def test_gc_removes_what_killed_campaigns_have_left(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    out = copied(campaign, tmp_path / "out")
    (out / "store" / ".partial-0123-0-999999999-1-01234567-elsewhere").mkdir()
    ended = elanite_here("store", "gc")
    assert (
        "removed unfinished folders and claims: 0; removed points: 0" in ended.err
    )  # it may be at work
    for name in (".partial-0123-0-999999999-1-01234567-elsewhere", ".claim-0123"):
        (out / "store" / name).touch()
        os.utime(out / "store" / name, (0, 0))
    ended = elanite_here("store", "gc")
    assert ended.code == 0
    assert "removed unfinished folders and claims: 2; removed points: 0" in ended.err
    assert contents(out) == contents(campaign)


def test_gc_removes_points_if_asked(elanite_here: Run, campaign: Path, tmp_path: Path) -> None:
    out = copied(campaign, tmp_path / "out")
    points = small().points

    def older(_: dict[str, pl.DataFrame], data: Any) -> None:
        data["versions"]["model"] = _core.MODEL_REVISION - 1

    def shipped(_: dict[str, pl.DataFrame], data: Any) -> None:
        data["experiment"] = "qsnet/ping"

    rewritten(out / "store", points[0].id, older)
    rewritten(out / "store", points[1].id, shipped)
    tried = elanite_here("store", "gc", "--outdated", "--dry-run")
    assert tried.out == f"out/store/{points[0].id}\n"
    assert len(Store(out / "store").identities()) == len(points)
    assert "removed points: 1" in elanite_here("store", "gc", "--outdated").err
    assert (
        "removed points: 0" in elanite_here("store", "gc", "--unknown", "--known", "small.toml").err
    )
    assert f"removed points: {len(points) - 2}" in elanite_here("store", "gc", "--unknown").err
    assert Store(out / "store").identities() == [points[1].id]
    alone = elanite_here("store", "gc", "--known", "small")
    assert alone.code == 2
    assert "--unknown" in alone.err


def test_list_says_what_a_store_holds(elanite_here: Run, campaign: Path, tmp_path: Path) -> None:
    out = copied(campaign, tmp_path / "out")
    with Store(out / "store").claim("0123"):
        ended = elanite_here("store", "list")
        assert ended.code == 0
        assert ended.out.split()[5:8] == [
            "small",
            str(_core.MODEL_REVISION),
            str(len(small().points)),
        ]
        assert "0123 is claimed by process" in ended.err
        found = json.loads(elanite_here("store", "list", "--format", "json").out)
    (group,) = found["groups"]
    assert group["points"] == len(small().points)
    assert group["cpu_seconds"] > 0
    assert found["claims"][0][0] == "0123"


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_what_is_no_store_is_refused(elanite_here: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    for word in ("list", "verify", "gc"):
        ended = elanite_here("store", word, "--store", name)
        assert ended.code == 2
        assert f"there is no store in {name}" in ended.err


def test_export_is_one_tidy_table(elanite_here: Run, campaign: Path, tmp_path: Path) -> None:
    copied(campaign, tmp_path / "out")
    ended = elanite_here("store", "export", "points.parquet")
    assert ended.code == 0, ended
    found = pl.read_parquet(tmp_path / "points.parquet")
    from elanite.results import frames

    whole = frames.tidy(
        sorted(small().points, key=lambda point: point.id), Store(campaign / "store")
    )
    assert found.select(whole.columns).equals(whole.cast(dict(found.select(whole.columns).schema)))
    assert found["machine"].unique().to_list() == ["es40-qsnet"]
    assert found["model_revision"].unique().to_list() == [_core.MODEL_REVISION]
    pandas = pytest.importorskip("pandas")
    read = pandas.read_parquet(tmp_path / "points.parquet")
    assert len(read) == found.height
    assert read.groupby("metric").value.mean().to_dict() == pytest.approx(
        dict(found.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    )
    links = elanite_here(
        "store", "export", "links.parquet", "--table", "links", "--store", "out/store"
    )
    assert links.code == 0, links
    assert {"id", "message_bytes", "machine"} < set(
        pl.read_parquet(tmp_path / "links.parquet").columns
    )
    wrong = elanite_here("store", "export", "x.parquet", "--table", "row")
    assert wrong.code == 2
    assert "did you mean `rows`" in wrong.err
    (tmp_path / "file").touch()
    nowhere = elanite_here("store", "export", "file/where.parquet")
    assert nowhere.code == 1
    assert "file/where.parquet cannot be written: " in nowhere.err
    assert not list(tmp_path.glob(".export-*"))


def test_export_in_parts_is_the_same(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts have different columns: pings have no loads."""
    export(Store(campaign / "store"), tmp_path / "whole.parquet")
    monkeypatch.setattr(sys.modules["elanite.results.export"], "AT_ONCE", 3)
    assert export(Store(campaign / "store"), tmp_path / "parts.parquet")[0] == len(small().points)
    whole, parts = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("whole", "parts"))
    assert set(whole.columns) == set(parts.columns)
    assert parts.select(whole.columns).equals(whole.cast(dict(parts.select(whole.columns).schema)))
