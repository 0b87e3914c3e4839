"""One rank in mpi4py's own test suite, which writes each test's result to its own file.

An MPI launcher starts it: ``suite_rank.py LOGS TESTS WORDS…``, where TESTS is the suite's folder
and WORDS are for the suite's ``main.py``. The suite itself prints one line for each test from every
rank simultaneously, and these lines cannot be separated again. Here, rank R appends to
``LOGS/R.jsonl`` before a test begins and after it has ended, so that the last line from a crashed
or hanging rank names the test.
"""

from __future__ import annotations

import json
import os
import sys
import time
import unittest
from pathlib import Path
from typing import IO, Any


class Log(unittest.TextTestResult):
    """Records every test, without terminal output."""

    lines: IO[str]

    def write(self, **entry: Any) -> None:
        self.lines.write(json.dumps(entry) + "\n")
        self.lines.flush()

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        self.ended, self.why = "ok", ""
        self.write(begin=test.id(), at=time.time())

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        self.write(test=test.id(), ended=self.ended, why=self.why, at=time.time())

    def bad(self, how: str, error: Any) -> None:
        self.ended, self.why = how, f"{error[0].__name__}: {error[1]}"

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        if hasattr(self, "ended"):
            self.bad("error", err)
        if not isinstance(test, unittest.TestCase):  # setUpClass and the like
            self.write(
                test=str(test), ended="error", why=f"{err[0].__name__}: {err[1]}", at=time.time()
            )

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self.bad("failure", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.bad("failure", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        self.ended, self.why = "skip", reason
        if not hasattr(test, "_testMethodName"):  # a whole class
            self.write(test=str(test), ended="skip", why=reason, at=time.time())


def rank() -> int:
    """The process number, without an MPI call: the suite decides how MPI is initialised."""
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        if name in os.environ:
            return int(os.environ[name])
    return 0


def main() -> None:
    logs, tests, *words = sys.argv[1:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    Log.lines = (Path(logs) / f"{rank()}.jsonl").open("a", encoding="utf-8")
    suite = __import__("main")
    suite.print_banner = lambda _options: None
    runner = unittest.TextTestRunner(stream=Path(os.devnull).open("w"), resultclass=Log)  # noqa: SIM115
    suite.main(module=None, argv=["suite", *words], testRunner=runner)


if __name__ == "__main__":
    main()
