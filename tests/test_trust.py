"""Other users on the host: no command opens a port, and a scheduler with TLS accepts only its key
holders.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from conftest import PATIENCE, SMALL, command, end, environment, execute, until
from elanite.campaign.pool import ProcessPool, WorkerDied
from stores import contents

if TYPE_CHECKING:
    from pathlib import Path

LASTING = ("run", SMALL, "--set", "run.window=20 ms", "--format", "csv")


def ports(process: int) -> list[str]:
    """The addresses on which a process or one of its descendants listens: sockets as in
    ``ss -ltn``.
    """
    found = []
    for each in (psutil.Process(process), *psutil.Process(process).children(recursive=True)):
        try:
            found += [
                str(one.laddr)
                for one in each.net_connections("inet")
                if one.status == psutil.CONN_LISTEN
            ]
        except psutil.Error:  # it has ended
            continue
    return found


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--jobs", "2"), id="threads"),
        pytest.param(("--executor", "processes", "--workers", "2"), id="processes"),
        pytest.param(("--executor", "dask", "--workers", "2"), id="dask"),
    ],
)
def test_a_campaign_listens_on_no_port(tmp_path: Path, options: tuple[str, ...]) -> None:
    running = subprocess.Popen(
        command(*LASTING, "--out", str(tmp_path), *options),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    try:
        assert until(
            lambda: bool(list((tmp_path / "store").glob("[!.]*"))) or running.poll() is not None
        )
        assert running.poll() is None, running.communicate()
        assert ports(running.pid) == []
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE)


def test_mpirun_listens_on_no_port(tmp_path: Path) -> None:
    program = tmp_path / "waits.py"
    program.write_text(
        "import os, pathlib, sys, time\n"
        "from mpi4py import MPI\n"
        "MPI.COMM_WORLD.barrier()\n"
        "pathlib.Path(sys.argv[1], str(MPI.COMM_WORLD.rank)).touch()\n"
        "while not os.path.exists(sys.argv[1] + '/end'): time.sleep(0.05)\n",
        encoding="utf-8",
    )
    pytest.importorskip("mpi4py")
    words = command(
        "mpirun",
        "-n",
        "2",
        "--out",
        str(tmp_path / "out"),
        sys.executable,
        str(program),
        str(tmp_path),
    )
    running = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert until(lambda: (tmp_path / "1").exists() or running.poll() is not None)
        assert running.poll() is None, running.communicate()
        assert ports(running.pid) == []
        (tmp_path / "end").touch()
        _, err = running.communicate(timeout=PATIENCE)
        assert running.returncode == 0, err
    finally:
        running.kill()


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, tuple[str, str]]:
    """Certificate and key for ``ours``, and for ``theirs``: other keys with the same names."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here")
    found = {}
    for name in ("ours", "theirs"):
        cert, key = str(tmp_path / f"{name}.cert"), str(tmp_path / f"{name}.key")
        words = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ]
        words += ["-days", "1", "-subj", "/CN=elanite", "-keyout", key, "-out", cert]
        subprocess.run(words, check=True, capture_output=True)
        found[name] = (cert, key)
    return found


def test_a_scheduler_with_tls_takes_the_keys_of_its_user_only(
    campaign: Path, tmp_path: Path, keys: dict[str, tuple[str, str]]
) -> None:
    pytest.importorskip("distributed")
    cert, key = keys["ours"]
    port, own = 18796, ["--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key]
    address = f"tls://127.0.0.1:{port}"
    words = [
        [
            "scheduler",
            "--host",
            "127.0.0.1",
            "--protocol",
            "tls",
            "--port",
            str(port),
            "--no-dashboard",
            *own,
        ],
        [
            "worker",
            address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--death-timeout",
            "60",
            *own,
        ],
    ]
    cluster = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{name}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=tmp_path,
        )
        for name, *options in words
    ]
    line = (
        "run",
        SMALL,
        "--format",
        "csv",
        "--executor",
        "dask",
        "--scheduler",
        address,
        "--tls",
        cert,
    )
    try:
        ended = execute(command(*line, cert, key, "--out", str(tmp_path / "out")))
        assert ended.code == 0, ended
        assert "asks for no certificate" not in ended.err
        assert contents(tmp_path / "out") == contents(campaign)
        stranger = execute(command(*line, *keys["theirs"], "--out", str(tmp_path / "other")))
        assert stranger.code == 2, stranger
        assert f"--scheduler {address}: no Dask scheduler answers" in stranger.err
    finally:
        end(cluster)


def shouted(text: str) -> str:
    """A pool task; some texts end their worker, or raise."""
    if text == "die":
        os._exit(7)
    if text == "raise":
        raise ValueError(text)
    return f"{text.upper()} {os.getpid()}"


def test_the_death_of_a_worker_fails_its_task_alone() -> None:
    with ProcessPool(1) as pool:
        calls = [pool.submit(shouted, text) for text in ("one", "die", "two", "raise", "three")]
        first, then, last = (calls[n].result(PATIENCE) for n in (0, 2, 4))
        with pytest.raises(WorkerDied, match="it ended with exit code 7"):
            calls[1].result(PATIENCE)
        with pytest.raises(ValueError, match="raise"):
            calls[3].result(PATIENCE)
    assert [text.split()[0] for text in (first, then, last)] == ["ONE", "TWO", "THREE"]
    assert first.split()[1] != then.split()[1] == last.split()[1]
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(shouted, "late")
