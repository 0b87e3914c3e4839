"""``elanite mpirun`` from the user's view, with a fake simulator, and arbitrary processes as
ranks.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from conftest import FAKE, PATIENCE, Ended, background, environment, execute, until
from elanite.base import build
from elanite.cli import main
from elanite.mpirun import launcher
from elanite.mpirun.run_tables import TABLES, KeptRun

Run = Callable[..., Ended]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty shared object, which any process may load."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "nothing.c").write_text("int elanite_has_nothing;\n", encoding="utf-8")
    made = folder / "libnothing-fi.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", str(made), str(folder / "nothing.c")], check=True
    )
    return made


@pytest.fixture
def around(library: Path) -> Callable[..., dict[str, str]]:
    """The environment for a run with the fake simulator."""

    def chosen(outcome: dict[str, Any] | None = None, **more: str) -> dict[str, str]:
        return (
            environment() | {"FAKE": json.dumps(outcome or {}), "FAKE_LIBRARY": str(library)} | more
        )

    return chosen


@pytest.fixture
def mpirun(tmp_path: Path, around: Callable[..., dict[str, str]]) -> Run:
    def run(
        *arguments: str, outcome: dict[str, Any] | None = None, give: str = "", **more: str
    ) -> Ended:
        words = [sys.executable, FAKE, "mpirun", *arguments]
        how = {"input": give} if give else {}
        return execute(words, cwd=tmp_path, env=around(outcome, **more), **how)

    return run


def plain(ended: Ended, folder: Path) -> str:
    """A command's end, without the parts that differ from run to run."""
    text = str(ended).replace(str(folder), "FOLDER").replace(str(Path(sys.prefix) / "bin"), "BIN")
    text = re.sub(r"pid \d+", "pid PID", text)
    text = re.sub(r"mpirun/[0-9a-f]{20}", "mpirun/ID", text)
    text = text.replace(str(build.own_build()), "BUILD")
    return re.sub(r"host time( +)\d+\.\d+ s", r"host time\1SECONDS s", text)


def living(marker: str) -> list[int]:
    """Processes with the marker in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def gone(marker: str) -> bool:
    return until(lambda: not living(marker))


def mark(name: str) -> str:
    """Words that only a test's processes have, even while similar tests run on the host."""
    return f"marker {os.getpid()} of {name}"


def started(marker: str, count: int) -> None:
    assert until(lambda: len(living(marker)) >= count), (
        f"only {len(living(marker))} processes have {marker}"
    )


@contextmanager
def running(words: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A run in the background, which does not outlive its test."""
    with subprocess.Popen([sys.executable, str(FAKE), "mpirun", *words], **how) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_reader_that_leaves_ends_the_run_without_a_word(
    tmp_path: Path, around: Callable[..., dict[str, str]]
) -> None:
    """As `head` does: no rank reports a broken pipe of its own."""
    loud = "while True: print('line', flush=True)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = ["-n", "2", sys.executable, "-c", loud, mark("reader")]
    with running(words, cwd=tmp_path, env=around(), **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 0
    assert gone(mark("reader"))


def test_a_machine_with_one_node_is_named_as_the_user_has_asked_for_it(mpirun: Run) -> None:
    for words in (["--nodes", "1"], ["--set", "topology.nodes=1"]):
        ended = mpirun("-n", "2", *words, "true")
        assert ended.code == 2, ended
        assert ended.err.startswith("error: es40-qsnet has one node"), ended
        assert "--nodes 2" in ended.err


def test_a_dry_run_starts_and_writes_nothing(mpirun: Run, tmp_path: Path) -> None:
    options = ("-n", "4", "--ranks-per-node", "2", "--html", "pages/run.html", "--dry-run")
    ended = mpirun(*options, "sh", "-c", "touch made")
    assert ended.code == 0, ended
    for text in (
        "4 ranks on 2 nodes of es40-qsnet: sh -c 'touch made'",
        "node 0: ranks 0, 1; node 1: ranks 2, 3",
        "libnothing-fi.so",
        "libmpich.so.12",
        "pages/run.html",
    ):
        assert text in ended.out, ended
    found = json.loads(mpirun(*options, "--format", "json", "sh", "-c", "touch made").out)
    assert (found["placement"], found["collectives"]) == ([0, 0, 1, 1], "mpi")
    assert found["ranks_memory_bytes"] > 4 * 3_000_000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-n", "2", "./nothing"), "there is no program ./nothing"),
        (("-n", "2", "--placement", "nowhere", "sh"), "nowhere"),
        (("-n", "2", "--record", "made/", "--collectives", "hardware", "sh"), "--record"),
        (("-n", "2", "--mpi", "nowhere/mpiexec", "sh"), "nowhere/mpiexec"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses(
    mpirun: Run, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    ended = mpirun("--dry-run", *words)
    assert (ended.code, says in ended.err) == (2, True), ended
    assert list(tmp_path.iterdir()) == []


def test_a_run(mpirun: Run, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Rank output goes to its usual place, the summary to standard error."""
    script = '[ "$PMI_RANK" = 2 ] && { echo here; echo there >&2; }; exit 0'
    ended = mpirun("-n", "4", "sh", "-c", script)
    assert plain(ended, tmp_path) == snapshot


def test_quiet_is_what_ranks_say_and_no_more(mpirun: Run) -> None:
    ended = mpirun("-n", "1", "--quiet", "--", "sh", "-c", "echo one; echo two >&2")
    assert (ended.code, ended.out, ended.err) == (0, "one\n", "two\n")


def test_input_goes_to_the_first_rank(mpirun: Run) -> None:
    script = 'if [ "$PMI_RANK" = 0 ]; then read word; echo "got $word"; fi'
    assert mpirun("-n", "2", "-q", "sh", "-c", script, give="this\n").out == "got this\n"


def test_arguments_after_the_program_are_its_own(mpirun: Run) -> None:
    assert (
        mpirun("-n", "1", "-q", "echo", "--machine", "-n", "3", "--help").out
        == "--machine -n 3 --help\n"
    )


def test_the_environment_of_ranks(mpirun: Run, library: Path) -> None:
    names = (
        "LD_PRELOAD",
        "FI_PROVIDER",
        "FI_PROVIDER_PATH",
        "MPIR_CVAR_CH4_NETMOD",
        "MPIR_CVAR_NOLOCAL",
    )
    names += ("UCX_MEM_EVENTS", "UCX_MEM_MMAP_HOOK_MODE", "PYTHONHASHSEED", "ELANITE_LINK", "MINE")
    ended = mpirun(
        "-n",
        "1",
        "-q",
        sys.executable,
        "-c",
        f"import os; print([os.environ[n] for n in {names}])",
        MINE="x",
    )
    assert ended.code == 0, ended.err
    preload, provider, folder, *rest = ast.literal_eval(ended.out)
    # The loader ends names at blanks: there, the library's folder is in LD_LIBRARY_PATH.
    named = library.name if " " in str(library) else str(library)
    assert (preload, provider, folder) == (named, "elanite", str(library.parent))
    assert rest[:5] == ["ofi", "1", "no", "none", "0"]
    assert re.fullmatch(r"/proc/\d+/fd/0", rest[5])
    assert rest[6] == "x"


def test_only_ranks_load_the_network(mpirun: Run) -> None:
    """Not the process manager: it would see another clock."""
    script = """
import os
p = os.getppid()
exe = os.readlink(f"/proc/{p}/exe")
print("LD_PRELOAD" in open(f"/proc/{p}/environ").read(), exe.split("/")[-1])
"""
    ended = mpirun("-n", "1", "-q", sys.executable, "-c", script)
    assert ended.out == "False elanite-mpiexec\n", ended.err


def test_what_the_user_preloads_comes_after_ours(
    mpirun: Run, library: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.so"
    other.write_bytes(library.read_bytes())
    ended = mpirun("-n", "1", "-q", "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD=str(other))
    assert ended.out.rstrip().endswith(f"{library.name}:{other}")


@pytest.mark.parametrize("folder", ["a folder", "tab\tin it"])
def test_a_library_in_a_folder_with_blanks_is_loaded(
    mpirun: Run, library: Path, tmp_path: Path, folder: str
) -> None:
    """Where a user has installed Elanite; the loader ends a name in LD_PRELOAD at a blank."""
    own = tmp_path / folder / library.name
    own.parent.mkdir()
    own.write_bytes(library.read_bytes())
    words = [
        "-n",
        "1",
        "-q",
        "sh",
        "-c",
        "grep -c nothing-fi.so /proc/$$/maps; echo $LD_LIBRARY_PATH",
    ]
    ended = mpirun(*words, FAKE_LIBRARY=str(own), LD_LIBRARY_PATH="/mine")
    mapped, searched = ended.out.splitlines()
    assert int(mapped) > 0
    assert searched.startswith(f"{own.parent}:".replace("\t", " "))
    assert "/mine" in searched.split(":")
    assert ended.err == ""


def test_a_folder_with_a_colon_is_refused(mpirun: Run, library: Path, tmp_path: Path) -> None:
    own = tmp_path / "a:b" / library.name
    own.parent.mkdir()
    own.write_bytes(library.read_bytes())
    ended = mpirun("-n", "1", "true", FAKE_LIBRARY=str(own))
    assert ended.code == 2
    assert "folder with a colon or a semicolon in its name; install Elanite elsewhere" in ended.err


def test_options_reach_the_simulator(mpirun: Run, tmp_path: Path) -> None:
    given = tmp_path / "options.json"
    words = [
        "-n",
        "4",
        "--ranks-per-node",
        "2",
        "--placement",
        "cyclic",
        "--compute",
        "measured:0.5",
        "--seed",
        "7",
    ]
    words += ["--network", "ideal", "--limit-time", "1ms", "--timeline", "t.perfetto"]
    ended = mpirun(*words, "true", FAKE_OPTIONS=str(given))
    assert ended.code == 0, ended.err
    assert "repeatable      no: computation takes the time that it takes on this host" in ended.err
    assert json.loads(given.read_text(encoding="utf-8")) == {
        "ranks": 4,
        "ranks_per_node": 2,
        "placement": [0, 1, 0, 1],
        "compute": "measured x 0.5",
        "network": "ideal",
        "memory": "main",
        "seed": 7,
        "limit_time": "1ms",
        "timeline": True,
        "calls": True,
        "checksums": True,
        "keep_going": False,
    }


def test_json_is_one_line(mpirun: Run) -> None:
    ended = mpirun("-n", "2", "--format", "json", "sh", "-c", "echo noise >&2")
    found = json.loads(ended.err.splitlines()[-1])
    assert (found["ranks"], found["messages"], found["digest"]) == (2, 4, "0123456789abcdef")
    assert found["sizes"] == [
        {"least": 0, "most": 0, "messages": 2, "bytes": 0},
        {"least": 65, "most": 1024, "messages": 2, "bytes": 2048},
    ]
    assert found["mpi_us"]["most"] == {"time": 6.5, "rank": 1, "ranks": 1}
    assert found["links"][0]["busy"] == pytest.approx(0.5)
    assert found["repeatable"] is True
    assert found["versions"] == build.own_build().versions()


def test_runs_are_kept(mpirun: Run, elanite: Run, tmp_path: Path) -> None:
    for _ in range(2):
        ended = mpirun("-n", "2", "--out", "kept", "true")
        assert ended.code == 0, ended.err
    (folder,) = (tmp_path / "kept" / "mpirun").iterdir()  # the same run, and nothing half-written
    assert f"kept in kept/mpirun/{folder.name}" in ended.err
    kept = KeptRun.load(folder)
    assert kept.manifest["program"] == ["true"]
    heights = {"messages": 4, "calls": 0, "ranks": 2, "links": 1, "faults": 0, "series": 9}
    assert {name: kept.table(name).height for name in TABLES} == heights
    assert kept.table("messages").schema["tag"] == pl.UInt64
    matrix = kept.congestion()
    assert (matrix.switches.height, matrix.links.height) == (48, 3 * 128)
    printed = elanite("congestion", str(folder))
    assert printed.code == 0, printed.err
    assert "true, run" in printed.out
    assert "down from level 1 to the nodes" in printed.out
    assert (
        elanite("congestion", str(folder), "--format", "csv").out.count("\n")
        == 1 + matrix.links.height
    )
    (one,) = json.loads(elanite("congestion", str(folder), "--format", "json").out)
    assert one["program"] == ["true"]
    assert all(figure.spec() for figure in kept.figures())


def test_a_run_that_is_not_there_is_told_with_those_that_are(
    mpirun: Run, elanite: Run, tmp_path: Path
) -> None:
    none = elanite("congestion", "kept/mpirun/xyz")
    assert none.code == 2
    assert none.err.startswith(
        "error: there is no run in kept/mpirun/xyz, nor any other in kept/mpirun"
    )
    assert mpirun("-n", "2", "--out", "kept", "true").code == 0
    (folder,) = (tmp_path / "kept" / "mpirun").iterdir()
    wrong = elanite("congestion", f"kept/mpirun/{folder.name[:-1]}")
    assert wrong.code == 2
    assert f"did you mean `kept/mpirun/{folder.name}`?" in wrong.err
    assert "experiment" not in wrong.err


def test_another_folder_is_no_run(elanite: Run, tmp_path: Path) -> None:
    ended = elanite("congestion", str(tmp_path))
    assert ended.code == 2
    assert "is not a folder of a run" in ended.err


WAITING = [
    {
        "rank": rank,
        "pid": 1,
        "call": "MPI_Recv",
        "what": "a message of any rank, tag 7",
        "runs": False,
    }
    for rank in (0, 2, 3)
] + [{"rank": 1, "pid": 1, "call": "no call of MPI", "what": "", "runs": True}]

OUTCOMES: dict[str, tuple[dict[str, Any], int]] = {
    "deadlock": (
        {
            "end": "deadlock",
            "message": "every rank waits for something that cannot happen any more",
            "waiting": WAITING,
        },
        3,
    ),
    "network deadlock": ({"end": "deadlock", "message": "a cycle of packets", "waiting": []}, 3),
    "limit": ({"end": "limit", "message": "simulated time reached its bound of 500 us"}, 1),
    "killed": ({"end": "died", "rank": 2, "waiting": WAITING}, 1),
    "swept away": ({"end": "died", "rank": 0, "waiting": WAITING}, 1),
    "exited": ({"end": "died", "rank": 1, "waiting": WAITING}, 5),
    "aborted": ({"end": "died", "rank": 1}, 7),
    "error of MPI": ({"end": "died", "rank": 1}, 15),
    "before MPI": ({"end": "launcher gone", "attached": 0}, 6),
    "at the end": ({"end": "finished"}, 9),
    "no MPI": ({"end": "no mpi", "attached": 0, "message": "never called"}, 2),
    "mpiexec killed": ({"end": "launcher gone", "message": "gone"}, 1),
}

SCRIPTS = {
    "killed": "[ $PMI_RANK = 2 ] && { sleep 0.5; kill -9 $$; }; sleep 1000",
    "swept away": "[ $PMI_RANK = 2 ] && { sleep 0.5; kill -11 $$; }; sleep 1000",
    "exited": "[ $PMI_RANK = 1 ] && { sleep 0.5; exit 5; }; exit 0",
    "aborted": (
        "[ $PMI_RANK = 1 ] && { sleep 0.5; echo 'Abort(7) on node 1 (rank 1 in comm 0): application"
        " called MPI_Abort(MPI_COMM_WORLD, 7) - process 1' >&2; exit 7; }; exit 0"
    ),
    "error of MPI": (
        "[ $PMI_RANK = 1 ] && { sleep 0.5; echo 'Abort(136898831) on node 1 (rank 1 in comm 0):"
        " Fatal error in internal_Recv: Invalid rank, error stack:' >&2; exit 15; }; exit 0"
    ),
    "before MPI": "[ $PMI_RANK = 3 ] && exit 6; exit 0",
    "at the end": "exit 9",
    "no MPI": "exit 0",
    "mpiexec killed": "[ $PMI_RANK = 0 ] && { sleep 0.5; kill -9 $PPID; }; sleep 1000",
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_ends(mpirun: Run, tmp_path: Path, snapshot: SnapshotAssertion, name: str) -> None:
    """One clear message for each, the exit code, no output from mpiexec itself, and no process
    left.
    """
    outcome, code = OUTCOMES[name]
    marker = mark(name)
    script = SCRIPTS.get(name, "sleep 1000")
    ended = mpirun("-n", "4", "--quiet", "sh", "-c", script, marker, outcome=outcome)
    assert ended.code == code, ended
    assert gone(marker)
    assert plain(ended, tmp_path) == snapshot


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["-n", "4", "nowhere"], id="no program on the PATH"),
        pytest.param(["-n", "4", "own"], id="not on the PATH but here"),
        pytest.param(["-n", "4", "./onw"], id="misspelt"),
        pytest.param(["-n", "4", "./notes"], id="not executable"),
        pytest.param(["-n", "4", "./neither"], id="neither ELF nor script"),
        pytest.param(["-n", "4", "./static"], id="static"),
        pytest.param(["-n", "4", "./script-of-static"], id="script of a static interpreter"),
        pytest.param(["-n", "4", "./foreign"], id="of another machine"),
        pytest.param(["-n", "4", "./lost"], id="interpreter not there"),
        pytest.param(["-n", "4", "."], id="folder"),
        pytest.param(["-n", "4", "./ring.c"], id="source text"),
        pytest.param(["-n", "4", "ring.c"], id="source text in this folder"),
        pytest.param(["-n", "4", "--mpi", "/nowhere/mpiexec", "true"], id="no such mpiexec"),
        pytest.param(["-n", "4", "--mpi", "./own", "true"], id="no mpiexec"),
        pytest.param(["-n", "4", "--mpi", "./ucx", "true"], id="MPICH without libfabric"),
        pytest.param(["-n", "4", "--compute", "3", "true"], id="computation without a unit"),
        pytest.param(["-n", "4", "--compute", "measured:0", "true"], id="measured times nothing"),
        pytest.param(["-n", "4", "--limit-time", "long", "true"], id="no time"),
        pytest.param(
            ["-n", "4", "--network", "ideal", "--memory", "elan", "true"], id="no adapters"
        ),
        pytest.param(["-n", "4", "--placement", "blocks", "true"], id="no such placement"),
        pytest.param(["-n", "4", "--placement", "places", "true"], id="wrong line of a placement"),
        pytest.param(["-n", "3", "--placement", "beyond", "true"], id="no such node"),
        pytest.param(["-n", "3", "--placement", "twice", "true"], id="too many on a node"),
        pytest.param(["-n", "4", "--placement", "short", "true"], id="too few lines"),
        pytest.param(
            ["-n", "4", "--set", "switch.circut=wormhole", "true"], id="override misspelt"
        ),
        pytest.param(["-n", "4", "--set", "run.seeds=1", "true"], id="override of an experiment"),
        pytest.param(["-n", "4", "--machine", "es40", "true"], id="machine misspelt"),
        pytest.param(["-n", "0", "true"], id="no ranks"),
        pytest.param(["-n", "4"], id="no program"),
        pytest.param(["true"], id="no number of ranks"),
        pytest.param(["-n", "4", "--frob", "true"], id="no such option"),
    ],
)
def test_errors_are_for_people(
    tmp_path: Path,
    library: Path,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    own = Path("/proc/self/exe").resolve().read_bytes()
    files = {
        "own": b"#!/bin/sh\n",
        "neither": b"words\n",
        "static": own.replace(
            b"\x03\x00\x00\x00\x04\x00\x00\x00", b"\x00\x00\x00\x00\x04\x00\x00\x00", 1
        ),
        "script-of-static": b"#!./static\n",
        "foreign": own[:18] + b"\x16\x00" + own[20:],
        "lost": b"#!/nowhere/python -u\n",
        "ucx": (
            b"#!/bin/sh\necho 'HYDRA build details:\n  Version: 4.0\n  Configure options:"
            b" --with-device=ch4:ucx'\n"
        ),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
    texts = {
        "notes": "",
        "ring.c": "",
        "places": "0\n1\n# a remark\nnode 2\n",
        "beyond": "0\n1\n64\n",
    }
    texts |= {"twice": "5\n6\n5\n", "short": "1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launcher, "library", lambda: library)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as left:
        main(["mpirun", *words])
    said = capfd.readouterr()
    ended = Ended(int(str(left.value.code)), said.out, said.err)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert plain(ended, tmp_path) == snapshot


def test_without_mpiexec(
    tmp_path: Path, around: Callable[..., dict[str, str]], snapshot: SnapshotAssertion
) -> None:
    code = (
        "import sys; sys.prefix = '/nowhere'; sys.argv = ['x', 'mpirun', '-n', '2',"
        " sys.executable]\n"
    )
    code += f"sys.path.append({str(FAKE.parent)!r}); exec(open({str(FAKE)!r}).read())"
    ended = execute(
        [sys.executable, "-c", code], cwd=tmp_path, env=around() | {"PATH": str(tmp_path)}
    )
    assert ended.code == 2
    assert ended.err == snapshot


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all(
    tmp_path: Path, around: Callable[..., dict[str, str]], number: signal.Signals
) -> None:
    """Also processes that left their rank's session."""
    marker = mark(number.name)
    script = f"setsid sh -c 'sleep 1000; true' '{marker}' & sleep 1000; true"
    with running(["-n", "3", "sh", "-c", script, marker], cwd=tmp_path, env=around()) as process:
        started(marker, 2 + 3 + 3)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 130
        assert gone(marker)


def test_in_the_background_of_a_script_an_interrupt_is_ignored(
    tmp_path: Path, around: Callable[..., dict[str, str]]
) -> None:
    """By mpiexec and the ranks, too; SIGTERM ends them all."""
    marker = mark("background")
    words = ["-n", "2", "sh", "-c", "sleep 1000; true", marker]
    with running(words, cwd=tmp_path, env=around(), preexec_fn=background) as process:
        started(marker, 2 + 2)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        assert len(living(marker)) >= 2 + 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 130
        assert gone(marker)


def test_kill_9_of_the_simulator_ends_mpiexec(
    tmp_path: Path, around: Callable[..., dict[str, str]]
) -> None:
    """Here without the code that ends ranks: it is in the library that they load."""
    marker = mark("kill -9")
    with running(
        ["-n", "2", "sh", "-c", "sleep 1000; true", marker], cwd=tmp_path, env=around()
    ) as process:
        started(marker, 2 + 2)
        process.kill()
        process.wait(PATIENCE)
        assert gone(marker)


def test_a_reader_that_leaves_ends_the_run(
    tmp_path: Path, around: Callable[..., dict[str, str]]
) -> None:
    marker = mark("head")
    words = ["-n", "1", "sh", "-c", "while echo line; do :; done", marker]
    pipe = subprocess.PIPE
    with running(words, cwd=tmp_path, env=around(), stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
        assert gone(marker)


def test_output_comes_at_once(tmp_path: Path, around: Callable[..., dict[str, str]]) -> None:
    """A prompt without a newline, too."""
    words = ["-n", "1", "-q", "sh", "-c", "printf 'name? '; read name; echo $name"]
    pipe = subprocess.PIPE
    with running(words, cwd=tmp_path, env=around(), stdin=pipe, stdout=pipe, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read(6) == b"name? "
        process.stdin.write(b"me\n")
        assert process.stdout.read() == b"me\n"
