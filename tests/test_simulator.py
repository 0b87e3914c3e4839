"""User simulators, by a script that answers the calls like the simulator itself."""

from __future__ import annotations

import json
import sys
import threading
from importlib import import_module
from pathlib import Path

import pytest

from conftest import SMALL
from elanite.base.simulator import VARIABLE, _Simulator
from elanite.campaign.work import _records
from elanite.errors import ConfigError, Exit, RunError, UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan

CORE = import_module("elanite._core")
ANSWERS = f"""
import json, os, sys
os.environ.pop("{VARIABLE}", None)
from elanite import _core
from elanite.errors import ConfigError

name, arguments = sys.argv[1], json.load(sys.stdin)
try:
    if name == "revision":
        found = _core.MODEL_REVISION
    elif name == "simulate":
        found = _core.simulate(*arguments, _core.Cancel())
    elif name in ("plan", "wiring"):
        found = getattr(_core, name)(*arguments)
    else:
        found = json.loads(getattr(_core, name)(*arguments))
    print(json.dumps({{"ok": found}}))
except ConfigError as error:
    print(json.dumps({{"config": error.args}}))
"""
MACHINE = (Path(__file__).parents[1] / "machines" / "es40-qsnet.toml").read_text()


def simulator(folder: Path, text: str) -> _Simulator:
    program = folder / "program"
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    return _Simulator(CORE, program)


def test_calls_of_a_program_are_those_of_the_simulator(tmp_path: Path) -> None:
    ours = simulator(tmp_path, ANSWERS)
    arguments = (MACHINE, "machine", "small", Path(SMALL).read_text(), SMALL, [], 1)
    points = ours.plan(*arguments)
    assert points == CORE.plan(*arguments)
    point = points[0][0]
    found, expected = ours.simulate(point, CORE.Cancel()), CORE.simulate(point, CORE.Cancel())
    assert json.dumps(found["tables"]) == json.dumps(expected["tables"])
    assert found["digest"] == expected["digest"]
    assert json.loads(ours.load_machine(MACHINE, "machine", [])) == json.loads(
        CORE.load_machine(MACHINE, "machine", [])
    )
    assert ours.quantity("1 KB") == (1024.0, "B")
    with pytest.raises(ConfigError, match="no-such"):
        ours.load_machine(MACHINE, "machine", ["no-such.key=1"])


def test_the_processor_time_of_a_point_is_that_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = "_core.simulate(*arguments, _core.Cancel())"
    timed = ANSWERS.replace(call, f'{call} | {{"cpu_seconds": 1000.0}}')
    monkeypatch.setattr("elanite.campaign.work._core", simulator(tmp_path, timed))
    points = plan(sources.read("experiment", SMALL)).points
    assert 1000 < _records(points[0], CORE.Cancel())[1]["cpu_seconds"] < 1010


def test_another_program_is_another_engine(tmp_path: Path) -> None:
    one = simulator(tmp_path, ANSWERS).ENGINE
    assert len(one) == len(CORE.ENGINE)
    assert len({CORE.ENGINE, one, simulator(tmp_path, ANSWERS + "\n").ENGINE}) == 3


def test_a_program_is_as_old_as_the_crates_that_elanite_was_compiled_from(tmp_path: Path) -> None:
    """A checkout's fingerprints are compared with the build's (``elanite.base.build.stale``)."""
    ours, root = simulator(tmp_path, ANSWERS), Path(__file__).parents[1]
    stale = CORE.fingerprints(root) != (CORE.ENGINE, CORE.SOURCES)
    assert (ours.fingerprints(root) != (ours.ENGINE, ours.SOURCES)) == stale


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("print('{\"ok\": 0}')", UsageError, "model revision 0"),
        ("raise SystemExit('out of luck')", RunError, "no answer to `revision`: out of luck"),
        ('print(\'{"run": ["it broke", 1]}\')', UsageError, "model revision None"),
    ],
)
def test_a_program_that_is_no_simulator_is_an_error(
    tmp_path: Path, text: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        simulator(tmp_path, text).point_warnings("{}")


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{VARIABLE}=.*No such file"):
        _Simulator(CORE, tmp_path / "none").point_warnings("{}")


def test_a_simulation_is_cancelled(tmp_path: Path) -> None:
    revision = f"print('{{\"ok\": {CORE.MODEL_REVISION}}}')"
    ours = simulator(
        tmp_path,
        f"import sys, time\nif sys.argv[1] == 'revision': {revision}\nelse: time.sleep(60)",
    )
    cancel = CORE.Cancel()
    timer = threading.Timer(0.3, cancel.set)
    timer.start()
    with pytest.raises(RunError, match="cancelled") as raised:
        ours.simulate("{}", cancel)
    assert raised.value.exit_code == Exit.INTERRUPTED
