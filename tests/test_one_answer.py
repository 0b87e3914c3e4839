"""The tests give one answer: on any host, in any surroundings, in any order, however busy the host
is.

A test with cases or verdicts that depend on a wall clock, on unseeded random numbers or on the
user's shell is green here and red elsewhere. So clocks in tests are listed with their purpose, and
the surroundings are tested.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import background
from surroundings import CHOSEN, unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]

CLOCKS = {
    "tests/conftest.py": (2, "`until`: a hang fails"),
    "tests/spoiling.py": (2, "make fuzz-inputs"),
    "tests/test_mpirun_hostile.py": (2, "make fuzz-inputs"),
    "tests/library_fuzz/__main__.py": (2, "make fuzz-libraries"),
    "tests/library_fuzz/runs.py": (2, "how long a wrong program is made smaller"),
    "tests/mpi_fuzz/fuzz.py": (5, "make fuzz-mpi; limits of simulated runs by the native one"),
    "tests/mpi_fuzz/shrink.py": (2, "how long a wrong program is made smaller"),
    "tests/mutants/trial.py": (2, "make mutants"),
    "tests/mutants/rust/trial.py": (2, "make mutants"),
    "tests/soak.py": (2, "make soak"),
    "tests/mpi_suite.py": (2, "durations in the log of a suite"),
    "tests/mpi4py_suite.py": (2, "durations in the log of a suite"),
    "tests/mpi/kill.py": (4, "a hang fails; durations in the log"),
    "tests/store_kills/run.py": (4, "a hang fails; moments of kills"),
    "tests/files/fake_mpirun.py": (2, "a hang fails"),
    "crates/experiment/tests/inputs.rs": (8, "make fuzz-inputs; a hang fails"),
    "crates/fabric/tests/differential.rs": (2, "how long a difference is made smaller"),
    "crates/fabric/tests/common/search.rs": (5, "make fuzz; a hang fails"),
    "crates/fabric/tests/common/mistake.rs": (2, "a hang fails"),
    "crates/mpi-calls/src/tests.rs": (5, "simulated sleeps take no time, real ones do"),
    "crates/preload/tests/preload/script.py": (2, "real sleeps take time"),
    "crates/libelan/tests/tports.rs": (2, "prints what long queues cost the host; ignored"),
    "crates/link/tests/hostile.rs": (2, "make fuzz-inputs"),
    "crates/mpirun/src/run/tests/hostile.rs": (2, "make fuzz-inputs"),
    "crates/noise/src/probe/tests.rs": (3, "durations that the probe has measured"),
    "crates/swarm/tests/swarm.rs": (2, "make swarm"),
}
"""The test files' uses of a host clock, with their purposes.

Verdicts and cases must not depend on it.
"""

CLOCK = re.compile(
    r"\btime\.(?:monotonic|perf_counter|process_time|thread_time)(?:_ns)?\("
    r"|\bInstant::now\b|\.elapsed\(\)|\bru_[us]time\b|\bos\.times\(|\btimeit\b"
)

RANDOM = re.compile(
    r"\bRandom\(\)|\brandom\.(?:random|randint|randrange|choices?|sample|shuffle|uniform"
    r"|gauss|getrandbits|randbytes|seed)\("
    r"|default_rng\(\)|\bos\.urandom\(|thread_rng|from_entropy|from_os_rng"
    r"|\brand::rng\(|\bOsRng\b|RngSeed::Random"
)
"""Random numbers that no seed decides."""

SHORT = re.compile(r"\b(?:timeout=|until\(.*, |wait\(|result\(|communicate\()(\d+(?:\.\d+)?)\)")
SHORTEST = 60.0

MAY_BE_SHORT = {
    "tests/test_mpi_programs.py": "a program that waits for ever is given up",
    "tests/test_mpirun_cli.py": "an ignored signal ends nothing",
}


def sources() -> Iterator[tuple[str, str]]:
    """The test files: their names below the root, and their texts without stand-alone comments."""
    folders = [ROOT / "tests", *(ROOT / "crates").glob("*/tests"), *(ROOT / "crates").glob("*/src")]
    for folder in folders:
        for path in sorted(path for end in ("py", "rs") for path in folder.rglob(f"*.{end}")):
            name = str(path.relative_to(ROOT))
            if path != Path(__file__) and re.search(r"(^|/)tests(/|\.rs$)", name):
                text = path.read_text(encoding="utf-8")
                yield (
                    name,
                    "\n".join(
                        line
                        for line in text.splitlines()
                        if not line.lstrip().startswith(("#", "//"))
                    ),
                )


def test_clocks_decide_no_verdict_and_no_case() -> None:
    found = Counter({name: len(CLOCK.findall(text)) for name, text in sources()})
    assert {name: count for name, count in found.items() if count} == {
        name: count for name, (count, _) in CLOCKS.items()
    }


def test_random_numbers_have_seeds() -> None:
    own = re.compile(r"^\s*from random import|^\s+random = ", re.MULTILINE)  # a stream of this name
    found = {name: RANDOM.findall(text) for name, text in sources() if not own.search(text)}
    assert {name: words for name, words in found.items() if words} == {}
    config = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    assert config["env"]["PROPTEST_RNG_SEED"].isdigit()


def test_waits_are_long() -> None:
    """A host with six other programs is ten times slower than an idle one."""
    short = [
        (name, line.strip())
        for name, text in sources()
        if re.match(r"tests/test_\w+\.py", name) and name not in MAY_BE_SHORT
        for line in text.splitlines()
        if (found := SHORT.search(line)) and float(found[1]) < SHORTEST
    ]
    assert short == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (CLOCK, "while time.monotonic() < end:"),
        (CLOCK, "assert used.ru_utime < 0.3"),
        (CLOCK, "while start.elapsed() < patience {"),
        (CLOCK, "let begin = Instant::now();"),
        (RANDOM, "draw = random.Random()"),
        (RANDOM, "random.shuffle(words)"),
        (RANDOM, "let mut stream = rand::thread_rng();"),
        (SHORT, "assert until(lambda: gone(marker), 10)"),
        (SHORT, "code = process.wait(10)"),
        (SHORT, "process.communicate(timeout=5)"),
    ],
)
def test_what_is_sought_is_found(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


STATE = """
import json, os, signal, time
before = dict(os.environ)
import surroundings
mask = os.umask(0)
print(json.dumps({
    "environment": {
        k: v for k, v in os.environ.items() if k not in {*surroundings.KEPT, "XDG_CACHE_HOME"}
    },
    "cache": os.listdir(os.environ["XDG_CACHE_HOME"]),
    "zone": time.tzname,
    "mask": mask,
    "ignored": [n for n in signal.valid_signals() if signal.getsignal(n) is signal.SIG_IGN],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
}))
"""


def odd() -> None:
    """The surroundings of a careful user's background job."""
    background()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    os.umask(0o077)


def test_the_surroundings_are_the_same_everywhere() -> None:
    few = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "tests")}
    many = few | {
        "TZ": "Pacific/Kiritimati",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "C",
        "LC_NUMERIC": "de_DE.UTF-8",
        "LANGUAGE": "tr",
        "COLUMNS": "31",
        "NO_COLOR": "1",
        "FORCE_COLOR": "1",
        "CLICOLOR_FORCE": "1",
        "CI": "1",
        "GITHUB_ACTIONS": "true",
        "MAKEFLAGS": "-j --jobserver-auth=3,4",
        "ELANITE_LINK": "/nowhere",
        "PMI_RANK": "3",
        "OMPI_MCA_btl": "self",
        "FI_PROVIDER": "tcp",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "error",
        "CFLAGS": "-Werror",
        "XDG_CACHE_HOME": "/nowhere",
        "POLARS_MAX_THREADS": "1",
        "GIT_DIR": "/nowhere",
        "RUST_BACKTRACE": "1",
    }
    words = [sys.executable, "-c", STATE]
    plain = subprocess.run(words, env=few, capture_output=True, text=True, check=True)
    other = subprocess.run(
        words, env=many, capture_output=True, text=True, check=True, preexec_fn=odd
    )
    assert plain.stdout == other.stdout
    assert '"cache": []' in plain.stdout
    assert CHOSEN.items() <= os.environ.items()


def test_a_test_that_leaves_another_state_behind_fails(tmp_path: Path) -> None:
    before, folder = os.environ.copy(), Path.cwd()

    def leave() -> None:
        os.environ["LEFT"] = "1"
        os.environ["TZ"] = "Asia/Tokyo"
        os.chdir(tmp_path)
        os.umask(0o077)

    with pytest.raises(
        AssertionError, match=r"the environment \(LEFT, TZ\), the current folder .*, the mask .*077"
    ):
        _surrounded(leave)
    assert os.environ.copy() == before
    assert Path.cwd() == folder
    assert os.umask(0o022) == 0o022


def test_handlers_of_signals_are_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    _surrounded(lambda: signal.signal(signal.SIGTERM, signal.default_int_handler))
    assert signal.getsignal(signal.SIGTERM) is before


def _surrounded(act: object) -> None:
    with unchanged():
        assert callable(act)
        act()
