"""The library as people use it in notebooks: names and paths, changes, comparisons, programs, short
representations.
"""

from __future__ import annotations

import pickle
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import elanite as el
from conftest import SMALL, command, execute, needs_mpi
from elanite.campaign import Observer
from elanite.inputs import toml
from elanite.library import notebooks

if TYPE_CHECKING:
    from elanite.campaign import PointFailure

PINGS: dict[str, Any] = {
    "title": "Pings",
    "source": "made for the tests",
    "machine": "es40-qsnet",
    "series": [
        {
            "name": "ping",
            "title": "A ping to a near and to a far node",
            "ping": {
                "from": 0,
                "to": [1, 63],
                "directions": "one",
                "source": "elan",
                "destination": "elan",
                "message": ["0 B", "4 KB"],
                "repeats": 1,
            },
        }
    ],
}

USUAL = el.Machine.load("es40-qsnet")
SLOW = USUAL.with_({"link.hop_delay": "100 ns"}, name="slow")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> el.Result:
    return el.run(
        el.Experiment.from_dict(PINGS, "pings"), [USUAL, SLOW], out=tmp_path_factory.mktemp("both")
    )


def test_machines_and_experiments_are_named_in_any_way(campaign: Path) -> None:
    ways = [
        el.load_results(each, "es40-qsnet", out=campaign)
        for each in (SMALL, Path(SMALL), el.Experiment.load(SMALL))
    ]
    assert {len(way.points) for way in ways} == {len(ways[0].plan.points)}
    assert el.Machine.load(Path("es40-qsnet")) == USUAL
    assert el.run(SMALL, USUAL, out=str(campaign)).plan.points == ways[0].plan.points
    with pytest.raises(el.UsageError, match="did you mean `qsnet/ping`"):
        el.run("qsnet/pong")


def test_a_machine_with_other_values() -> None:
    changed = USUAL.with_(
        {"topology.nodes": 16, "topology.down": [4, 4], "topology.up": [4]}
    ).with_({"link.rate": "800 MB/s"})
    assert (changed["topology.nodes"], changed["topology.down"], changed["link.rate"]) == (
        16,
        [4, 4],
        "800 MB/s",
    )
    assert (
        changed.name
        == "es40-qsnet, topology.nodes=16, topology.down=[4, 4], topology.up=[4], link.rate=800"
        " MB/s"
    )
    assert USUAL["topology.nodes"] == 64
    with pytest.raises(el.ConfigError, match="did you mean `rate`"):
        USUAL.with_({"link.rat": "1 GB/s"})
    with pytest.raises(el.UsageError, match=r"link\.rate: a NoneType is not a value"):
        USUAL.with_({"link.rate": None})


def test_an_experiment_of_a_dictionary_is_that_of_its_file(tmp_path: Path) -> None:
    made = el.Experiment.from_dict(PINGS, "pings").with_({"run.seeds": 2})
    saved = made.save(tmp_path / "pings.toml")
    assert saved.about == made.about
    assert saved.about["run"]["seeds"] == 2
    assert [point.id for point in el.load_results(saved).plan.points] == [
        point.id for point in el.load_results(made).plan.points
    ]
    assert execute(command("check", "pings.toml"), cwd=tmp_path).code == 0
    with pytest.raises(el.ConfigError, match=r"experiment\.toml:\d+:1\n(.|\n)*did you mean `name`"):
        el.Experiment.from_dict(PINGS | {"series": [{"nam": "ping"}]})
    with pytest.raises(el.UsageError, match="cannot be written"):
        made.save(tmp_path / "pings.toml" / "below-a-file.toml")
    assert made.save(tmp_path / "new" / "pings.toml").about == made.about


def test_dictionaries_are_toml_and_come_back_the_same() -> None:
    import tomllib

    odd = {
        "text": 'a "quoted"\n\tµ \\ \x7f',
        "numbers": [1, -2.5, 1e300, True],
        "empty": {},
        "list": [],
        "with spaces": {"x.y": {"deep": [{"a": 1, "b": {"c": [{"d": "e"}]}}, {"a": 2}]}},
        "mixed": [{}, {"switch": {"circuit": "wormhole"}}],
        "after": {"table": 1, "key": "last"},
    }
    assert tomllib.loads(toml.text(odd)) == odd


def test_results_on_several_machines_are_compared(both: el.Result) -> None:
    table = el.compare(both)
    latency = table.filter(pl.col("metric") == "latency").sort("to")
    assert latency["on"].unique().to_list() == ["slow"]
    # Two links from node 0 to node 1 and one switch, six links and five switches to node 63; 0 B
    # and 4 KB.
    added = [row["mean"] - row["reference"] for row in latency.iter_rows(named=True)]
    hops = [round(us / 0.065, 3) for us in added]
    assert len(hops) == 4
    assert hops[0] < hops[2]
    assert (latency["ratio"] > 1).all()
    assert ((latency["mean"] > latency["reference"]) == (latency["state"] == "differs")).all()
    out = Path(both.store.address).parent
    alone = [
        el.load_results(el.Experiment.from_dict(PINGS, "pings"), each, out=out)
        for each in (USUAL, SLOW)
    ]
    assert len(alone[1].points) == 4  # the points are those of the common run
    assert el.compare(*alone).equals(table)
    with pytest.raises(el.UsageError, match="a comparison needs two results"):
        el.compare(alone[0])
    with pytest.raises(el.UsageError, match="two results are of `slow`"):
        el.compare(alone[1], alone[1])
    with pytest.raises(el.UsageError, match="two machines `slow`"):
        el.run(SMALL, [SLOW, SLOW])


def test_equal_results_do_not_differ(both: el.Result) -> None:
    out = Path(both.store.address).parent
    pings = el.Experiment.from_dict(PINGS, "pings")
    same = el.run(pings, [USUAL, USUAL.with_({}, name="same")], out=out)
    table = el.compare(same)
    assert set(table["state"]) == {"equal"}
    assert set(table["ratio"].drop_nulls()) == {1.0}


def test_a_point_of_a_changed_machine_has_a_command_of_its_own(
    both: el.Result, tmp_path: Path
) -> None:
    point = both.points[-1]
    line = both.plan.command(point)
    assert (
        line == "elanite run pings.toml --machine es40-qsnet --set 'link.hop_delay=100 ns' --point"
        f" {point.id}"
    )
    el.Experiment.from_dict(PINGS, "pings").save(tmp_path / "pings.toml")
    words = [
        "run",
        "pings.toml",
        "--machine",
        "es40-qsnet",
        "--set",
        "link.hop_delay=100 ns",
        "--point",
        point.id,
    ]
    assert execute(command(*words), cwd=tmp_path).code == 0


def test_results_go_to_other_libraries(both: el.Result) -> None:
    frame = both.frame()
    pandas = frame.to_pandas()
    assert list(pandas.columns) == frame.columns
    assert len(pandas) == len(frame)


def test_representations_fit_a_cell(both: el.Result, campaign: Path) -> None:
    result = el.load_results(SMALL, out=campaign)
    shown: list[Any] = [USUAL, el.Experiment.load("qsnet/ping"), both, result, both.points[0]]
    shown += [result.congestion(result.points[-1]), el.noise(seconds=0.01)]
    for each in shown:
        assert len(repr(each)) < 400, repr(each)
        assert "\n" not in repr(each)
    for each in (each for each in shown if not isinstance(each, el.Point)):
        page = each._repr_html_()
        opened = page.split("<details>")[0]
        assert opened.count("<tr>") <= 12
        assert len(opened) < 2500
        assert page.count("<div>") == page.count("</div>")
    assert "AlphaServer ES40" in USUAL._repr_html_()
    assert "&lt;" in USUAL.with_({}, name="<b>")._repr_html_()


def test_all_errors_of_users_have_one_class_and_are_text() -> None:
    for kind in (el.ConfigError, el.RunError, el.UsageError, el.PointsFailed):
        assert issubclass(kind, el.ElaniteError)
    with pytest.raises(el.ElaniteError) as caught:
        el.Machine.load("es40-qsnet", ["link.rat=1 GB/s"])
    assert str(caught.value).startswith(
        "error: link.rat: this key is unknown\n --> --set link.rat:1:1\n"
    )
    assert isinstance(caught.value, el.ConfigError)
    assert caught.value.problems[0]["hint"] == "did you mean `rate`?"
    for error in (caught.value, el.RunError("a bound", 1)):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - it is our own
        assert (str(again), again.args, again.exit_code) == (
            str(error),
            error.args,
            error.exit_code,
        )


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 10**30}, {"jobs": 0}, {"jobs": -1}])
def test_numbers_out_of_range_are_errors_with_what_is_allowed(wrong: dict[str, int]) -> None:
    with pytest.raises(el.UsageError, match=r"allowed|at least"):
        el.run(SMALL, **wrong)  # type: ignore[arg-type]


def test_public_names_mean_the_same_whatever_has_been_imported() -> None:
    """Python binds a loaded submodule to its name in the package; see ``elanite.base.verbs``."""
    every = (
        "import pkgutil, importlib, elanite\nnames = [module.name for module in"
        " pkgutil.iter_modules(elanite.__path__)]\nfor name in names:\n    if name.isidentifier()"
        " and name != '__main__': importlib.import_module(f'elanite.{name}')\n"
    )
    for first in (every, ""):
        script = f"{first}import elanite as el, inspect\n"
        script += "print([name for name in el.__all__ if not callable(getattr(el, name))])\n"
        script += (
            "print(el.noise(seconds=0.01).summary['iterations'] > 0, inspect.signature(el.mpirun))"
        )
        ended = execute([sys.executable, "-c", script])
        assert ended.out.startswith("[]\nTrue (program:"), ended


def test_the_bar_counts_the_points_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notebooks.observer() is None
    updates: list[dict[str, Any]] = []

    class Tqdm:
        def __init__(self, **how: Any) -> None:
            updates.append(how)

        def update(self) -> None:
            updates.append({})

        def close(self) -> None:
            updates.append({"closed": True})

    monkeypatch.setattr("elanite.library.notebooks.observer", lambda: notebooks.NotebookBar(Tqdm))
    pings = el.Experiment.from_dict(PINGS, "pings")
    el.run(pings, out=tmp_path)
    assert updates[0]["total"] == 4
    assert updates[1:] == [{}] * 4 + [{"closed": True}]
    updates.clear()
    el.run(pings, out=tmp_path)
    assert updates == []


def test_an_observer_is_told_of_every_point(tmp_path: Path) -> None:
    told: list[object] = []

    class Told(Observer):
        def start(self, total: int, done: int) -> None:
            told.append((total, done))

        def point(self, point: el.Point, failure: PointFailure | None) -> None:
            told.append(failure)

        def stop(self) -> None:
            told.append("end")

    el.run(el.Experiment.from_dict(PINGS), out=tmp_path, observer=Told())
    assert told == [(4, 0), None, None, None, None, "end"]


@needs_mpi
def test_a_program_runs_as_a_call(mpi_programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = mpi_programs / "messages"
    run = el.mpirun(program, 4, USUAL.with_({"link.hop_delay": "500 ns"}))
    usual = el.mpirun([program], 4, "es40-qsnet", placement="cyclic")
    assert run.summary["time_us"] > usual.summary["time_us"] > 0
    assert len(run.tables["messages"]) == run.summary["messages"]
    assert repr(run) == f"Run({shlex.quote(str(program))} on 4 ranks of es40-qsnet: finished)"
    assert "<th scope" in run._repr_html_()
    assert run.congestion().links["packets"].sum() > 0
    capfd.readouterr()


@needs_mpi
def test_a_program_that_fails_is_an_error_or_is_told(mpi_programs: Path) -> None:
    program = [mpi_programs / "leaver", "exit"]
    with pytest.raises(el.RunError) as caught:
        el.mpirun(program, 2)
    failed = el.mpirun(program, 2, check=False)
    assert "rank 1" in str(caught.value)
    assert "rank 1" in failed.ended.message
    assert caught.value.exit_code == failed.ended.exit_code != 0
    with pytest.raises(el.UsageError, match="no-such-program"):
        el.mpirun("no-such-program", 2)
