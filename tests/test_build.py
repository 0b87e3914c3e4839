"""The build: source fingerprints, a checkout's commit, and other builds' results in a store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import SMALL, Ended, execute
from elanite import _core
from elanite import campaign as campaigns
from elanite.base import bounded, build, checkout
from elanite.campaign.outcome import Observer
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.library.api import Result
from elanite.store import Store, StoreError
from stores import contents, copied, other_values, rewritten, small

ROOT = Path(__file__).parents[1]
Run = Callable[..., Ended]
OTHER = "f" * 32
"""Another build's engine."""


# The fingerprints.


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's sources in another folder, with other times."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(ROOT / "crates", folder / "crates", copy_function=shutil.copyfile)
    return folder


def edited(tree: Path, file: str, old: str, new: str) -> tuple[str, str]:
    """The fingerprints after an edit, which is undone."""
    path = tree / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        return _core.fingerprints(tree)
    finally:
        path.write_text(text)


def test_the_fingerprints_are_those_of_the_sources_wherever_they_lie(tree: Path) -> None:
    assert _core.fingerprints(tree) == _core.fingerprints(ROOT)
    with pytest.raises(OSError, match=r"Cargo\.toml"):
        _core.fingerprints(tree / "crates")


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="no checkout")
def test_a_source_distribution_has_the_fingerprints_and_names_the_commit(tmp_path: Path) -> None:
    code = f"import backend; print(backend.build_sdist({str(tmp_path)!r}))"
    environ = os.environ | {
        "PYTHONPATH": "packaging",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    ended = execute([sys.executable, "-c", code], env=environ, cwd=ROOT)
    assert ended.code == 0, ended
    (archive,) = tmp_path.glob("*.tar.gz")
    assert execute(["tar", "-xzf", str(archive), "-C", str(tmp_path)]).code == 0
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert _core.fingerprints(folder) == _core.fingerprints(ROOT)
    said = json.loads((folder / "python/elanite/data/build.json").read_text())
    found = checkout.state(ROOT)
    assert found is not None
    assert (said["commit"], said["dirty"]) == found


FABRIC = "crates/fabric/src/control/queue.rs"


def test_an_edit_of_a_comment_or_a_test_changes_no_fingerprint(tree: Path) -> None:
    before = _core.fingerprints(tree)
    assert edited(tree, FABRIC, "//! ", "//! Once more: ") == before
    assert edited(tree, "crates/fabric/tests/all.rs", "mod ", "// a test\nmod ") == before
    assert edited(tree, "crates/swarm/src/lib.rs", "//!", "const MORE: u64 = 1;\n//!") == before


def test_an_edit_of_code_changes_the_fingerprints_of_what_it_enters(tree: Path) -> None:
    engine, program = _core.fingerprints(tree)
    for file, old, new in (
        (FABRIC, "size_of::<Queue>() == 32", "size_of::<Queue>() == 33"),
        ("crates/experiment/src/revision.rs", "MODEL_REVISION: u32 = ", "MODEL_REVISION: u32 = 1"),
        ("Cargo.toml", "overflow-checks = true", "overflow-checks = false"),
        ("Cargo.lock", 'name = "libm"\nversion = "', 'name = "libm"\nversion = "1'),
    ):
        changed = edited(tree, file, old, new)
        assert changed[0] != engine, file
        assert changed[1] != program, file
    alone = edited(tree, "crates/fi/src/lib.rs", "mod ", "mod more;\nmod ")
    assert alone[0] == engine
    assert alone[1] != program


def test_a_simulator_older_than_its_sources_says_so(
    elanite_here: Run, monkeypatch: pytest.MonkeyPatch, campaign: Path, tmp_path: Path
) -> None:
    copied(campaign, tmp_path / "out")
    now = _core.ENGINE, _core.SOURCES
    for found, said in ((now, False), ((OTHER, now[1]), True), ((now[0], OTHER), True)):
        build.stale.cache_clear()
        monkeypatch.setattr(_core, "fingerprints", lambda _, found=found: found)
        for words in (["--version"], ["run", SMALL, "--format", "csv"]):
            ended = elanite_here(*words)
            assert ended.code == 0
            assert ("run: make build" in ended.err) is said
    build.stale.cache_clear()
    monkeypatch.setattr(build, "_ROOT", tmp_path)  # an installed package has no sources
    assert not build.stale()
    build.stale.cache_clear()


# The commit.


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "crates").mkdir(parents=True)
    (root / "docs").mkdir()
    for name in ("crates/lib.rs", "docs/page.md"):
        (root / name).write_text("one\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout


def test_the_commit_of_a_checkout_and_whether_sources_differ(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git(repository, "rev-parse", "HEAD").strip()
    assert checkout.state(repository) == (commit, False)
    (repository / "docs" / "page.md").write_text("two\n")
    assert checkout.state(repository) == (commit, False)
    (repository / "crates" / "lib.rs").write_text("two\n")
    assert checkout.state(repository) == (commit, True)
    git(repository, "add", "--all")
    assert checkout.state(repository) == (commit, True)
    monkeypatch.setenv("GIT_DIR", str(ROOT / ".git"))  # as in a hook of another repository
    assert checkout.state(repository) == (commit, True)


def test_no_commit_is_told_where_there_is_none(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checkout.state(repository / "crates") is None  # git would find the repository around it
    fresh = repository / "fresh"
    fresh.mkdir()
    git(fresh, "init", "--quiet")
    assert checkout.state(fresh) is None
    monkeypatch.setenv("PATH", str(fresh))
    assert checkout.state(repository) is None


def test_an_installed_package_names_the_commit_of_its_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(build, "_ROOT", tmp_path)
    monkeypatch.setattr(bounded, "files", lambda _: tmp_path)
    file = tmp_path / "data" / "build.json"
    for text, commit, words in (
        (
            '{"commit": "0123456789abcdef", "dirty": false}',
            "0123456789abcdef",
            "commit 0123456789ab)",
        ),
        (
            '{"commit": "0123456789abcdef", "dirty": true}',
            "0123456789abcdef",
            "commit 0123456789ab with changes)",
        ),
        ("{", "", "commit unknown)"),
        (None, "", "commit unknown)"),
    ):
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text)
        build.own_build.cache_clear()
        assert build.own_build().commit == commit
        assert words in str(build.own_build())
    build.own_build.cache_clear()


# Other builds' points.


def of_engine(engine: str | None) -> Callable[[dict[str, pl.DataFrame], Any], None]:
    """Points from another build, or from a version that named no engine."""

    def change(_: dict[str, pl.DataFrame], data: Any) -> None:
        if engine is None:
            for name in ("engine", "sources", "commit", "dirty"):
                del data["versions"][name]
        else:
            data["versions"]["engine"] = engine

    return change


def wrong(tables: dict[str, pl.DataFrame], data: Any) -> None:
    """Another build's point with other results."""
    of_engine(OTHER)(tables, data)
    other_values(tables, data)
    data["digest"] = "0" * 32


def test_manifests_name_the_build(campaign: Path) -> None:
    store = Store(campaign / "store")
    for point in small().points:
        found = store.get(point.id)
        assert found is not None
        assert found.mine
        assert found.build == build.own_build()
        assert (found["versions"]["engine"], found["versions"]["sources"]) == (
            _core.ENGINE,
            _core.SOURCES,
        )
    assert build.note(store.builds()) == ""


class Told(Observer):
    def __init__(self) -> None:
        self.builds: list[tuple[build.Build, int]] = []

    def others(self, builds: Any) -> None:
        self.builds = list(builds)


def test_points_of_another_build_are_simulated_again(campaign: Path, tmp_path: Path) -> None:
    out = copied(campaign, tmp_path / "out")
    first, second, third = (point.id for point in small().points[:3])
    rewritten(out / "store", first, of_engine(OTHER), bound=True)
    rewritten(out / "store", second, of_engine(None), bound=True)
    rewritten(out / "store", third, wrong, bound=True)
    told = Told()
    outcome = campaigns_run(out, told)
    assert (outcome.simulated, outcome.damaged, outcome.reused) == (3, 0, outcome.total - 3)
    assert outcome.again == {first: False, second: False, third: True}
    assert sorted(number for _, number in told.builds) == [1, 2]
    assert contents(out) == contents(campaign)
    assert campaigns_run(out, Told()).simulated == 0


def campaigns_run(out: Path, observer: Observer) -> campaigns.CampaignOutcome:
    return campaigns.run([small()], Store(out / "store"), observer=observer)


def test_a_changed_simulator_uses_no_point_of_the_one_before(
    elanite_here: Run, monkeypatch: pytest.MonkeyPatch, campaign: Path, tmp_path: Path
) -> None:
    out = copied(campaign, tmp_path / "out")
    rewritten(out / "store", small().points[0].id, other_values, bound=True)
    before = str(build.own_build())
    many = len(small().points)
    monkeypatch.setattr(_core, "ENGINE", OTHER)
    build.own_build.cache_clear()
    build.stale.cache_clear()
    monkeypatch.setattr(build, "_ROOT", tmp_path)
    listed = elanite_here("store", "list")
    assert f"all points are of another build: {many} of {before}" in listed.err
    ended = elanite_here("run", SMALL, "--format", "csv")
    assert ended.code == 0, ended
    assert f"simulating {many} points of another build again: {before}" in ended.err
    assert f"{many} points of another build simulated again: all results are the same" in ended.err
    again = elanite_here("run", SMALL, "--format", "csv")
    assert "another build" not in again.err
    assert f"{many} already done" in again.err
    rewritten(out / "store", small().points[1].id, wrong_of_none, bound=True)
    changed = elanite_here("run", SMALL, "--format", "csv", "--quiet")
    assert (
        "warning: 1 point of another build with the same model revision simulated again: 1 differ"
        in changed.err
    )
    assert "MODEL_REVISION" in changed.err
    build.own_build.cache_clear()
    build.stale.cache_clear()


def wrong_of_none(tables: dict[str, pl.DataFrame], data: Any) -> None:
    wrong(tables, data)
    data["versions"]["engine"] = "0" * 32


def test_a_store_that_cannot_be_written_is_used_and_its_builds_are_named(
    elanite_here: Run, monkeypatch: pytest.MonkeyPatch, campaign: Path, tmp_path: Path
) -> None:
    out = copied(campaign, tmp_path / "out")
    for point in small().points[:3]:
        rewritten(out / "store", point.id, of_engine(OTHER), bound=True)

    def prepare(_: Store) -> None:
        raise StoreError(out, "read-only")

    monkeypatch.setattr(Store, "prepare", prepare)
    ended = elanite_here("run", SMALL, "--format", "csv")
    assert ended.code == 0, ended
    many = len(small().points)
    assert (
        f"warning: points of 2 builds: {many - 3} of this build, {build.own_build()}; 3 of elanite"
        in ended.err
    )
    read = elanite_here("congestion", SMALL, "--point", small().points[0].id, "--format", "csv")
    assert "all points are of another build: 1 of elanite" in read.err
    assert "points of 2 builds: " in elanite_here("store", "export", "all.parquet").err
    assert sorted(pl.read_parquet("all.parquet")["engine"].unique()) == sorted(
        [OTHER, _core.ENGINE]
    )
    assert "points of 2 builds: " in elanite_here("store", "list").err
    # Missing points cannot be simulated there.
    shutil.rmtree(out / "store" / small().points[5].id)
    assert elanite_here("run", SMALL, "--format", "csv").code == 1


def test_a_page_of_several_builds_says_so(
    elanite_here: Run, campaign: Path, tmp_path: Path
) -> None:
    out = copied(campaign, tmp_path / "out")
    rewritten(out / "store", small().points[0].id, of_engine(OTHER), bound=True)
    assert elanite_here("report", SMALL).code == 0
    page = (out / "report" / "small.html").read_text()
    assert "points of 2 builds: " in page.lower()
    assert OTHER[:12] in page
    assert _core.ENGINE[:12] in page


def test_the_identity_depends_on_the_model_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {point.id for point in small().points}
    assert before == {point.id for point in small().points}
    monkeypatch.setattr(_core, "MODEL_REVISION", _core.MODEL_REVISION + 1)
    assert before.isdisjoint(point.id for point in small().points)


def test_results_of_a_library_name_their_builds(campaign: Path, tmp_path: Path) -> None:
    out = copied(campaign, tmp_path / "out")
    rewritten(out / "store", small().points[0].id, of_engine(OTHER), bound=True)
    result = Result(small(), Store(out / "store"))
    assert [(one.engine, number) for one, number in result.builds] == [
        (_core.ENGINE, len(small().points) - 1),
        (OTHER, 1),
    ]


CONSTANT = (
    "crates/fabric/src/control/circuit.rs",
    "link(channel).hop.delay()",
    "link(channel).hop.delay() + 1",
)
"""A fabric file, a text in it and its replacement: one cycle more for an acknowledgement and
link.
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cargo"), reason="compiles a simulator")
def test_a_simulator_with_a_changed_constant_simulates_again(
    campaign: Path, tmp_path: Path
) -> None:
    """A copy of the sources with another fabric constant, compiled; the model revision stays."""
    tree = tmp_path / "tree"
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in tracked.removesuffix("\0").split("\0"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tree / name, follow_symlinks=False)
    path = tree / CONSTANT[0]
    text = path.read_text()
    assert text.count(CONSTANT[1]) == 1
    path.write_text(text.replace(CONSTANT[1], CONSTANT[2]))
    words = [
        "cargo",
        "rustc",
        "--release",
        "--locked",
        "--quiet",
        "--manifest-path",
        "crates/py/Cargo.toml",
        "--lib",
    ]
    subprocess.run(
        words, cwd=tree, env=os.environ | {"CARGO_TARGET_DIR": str(tmp_path / "target")}, check=True
    )
    shutil.copy(tmp_path / "target/release/lib_core.so", tree / "python/elanite/_core.abi3.so")
    out = copied(campaign, tmp_path / "out")
    line = [sys.executable, "-m", "elanite", "run", SMALL, "--out", str(out), "--format", "json"]
    ended = execute(line, env=os.environ | {"PYTHONPATH": str(tree / "python")}, cwd=tmp_path)
    assert ended.code == 0, ended
    many = len(small().points)
    assert f"simulating {many} points of another build again" in ended.err
    assert "differ; the store has the new results" in ended.err
    assert {point["digest"] for point in json.loads(ended.out)}.isdisjoint(
        manifest["digest"]
        for point in small().points
        if (manifest := Store(campaign / "store").get(point.id))
    )


def test_other_plans_are_not_touched(campaign: Path, tmp_path: Path) -> None:
    """A campaign replaces only planned points from another build."""
    out = copied(campaign, tmp_path / "out")
    one, other = (point.id for point in small().points[:2])
    for identity in (one, other):
        rewritten(out / "store", identity, of_engine(OTHER), bound=True)
    part = plan(sources.read("experiment", SMALL)).only([one])
    assert campaigns.run([part], Store(out / "store")).simulated == 1
    store = Store(out / "store")
    assert store.current(one) is not None
    assert store.current(other) is None
    assert store.get(other) is not None
