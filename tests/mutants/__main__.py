"""Try the judging modules' mutants; see the package."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TESTS = FOLDER.parent
PACKAGE = TESTS.parent / "python" / "elanite"
sys.path.insert(0, str(TESTS))

from mutants.planting import Finder, switch  # noqa: E402 - the path comes first

MODULES = (
    "results.independent_values",
    "results.looks",
    "results.numbers",
    "results.selection",
    "validation.ablation_verdicts",
    "validation.admissible_ranges",
    "validation.claim",
    "validation.measures",
    "validation.measures.multirail",
    "validation.measures.quantities",
    "validation.measures.rows",
    "validation.proofs",
    "validation.tally",
    "validation.verdict",
)
"""The modules that judge: figures with their intervals, measures, bounds, verdicts and counts."""
FILES = (
    "test_admissible",
    "test_collective_measures",
    "test_independent",
    "test_job_measures",
    "test_judging_mistakes",
    "test_looks",
    "test_measures",
    "test_multirail_measures",
    "test_one_run",
    "test_proofs",
    "test_result_mistakes",
    "test_tally",
)
"""The tests that judge the mutants: tests for single functions, which run no simulation."""
LEDGER = FOLDER / "accepted.toml"


def accepted() -> dict[str, str]:
    """The mutants that may survive, with the reasons."""
    return {
        name: entry["reason"]
        for entry in tomllib.loads(LEDGER.read_text(encoding="utf-8"))["accepted"]
        for name in entry["mutants"]
    }


def main(names: list[str]) -> int:
    """Run the trial; the exit code is 1 if a mutant survives that the ledger does not accept."""
    import pytest

    from mutants.trial import Trial, say

    if unknown := set(names) - set(MODULES):
        sys.exit(
            f"error: no judging module {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}"
        )
    finder = Finder(PACKAGE, MODULES)
    sys.meta_path.insert(0, finder)
    known = accepted()
    trial = Trial(finder, switch(), lambda module: not names or module in names, known)
    files = [str(file) for name in FILES if (file := TESTS / f"{name}.py").exists()]
    pytest.main(
        [*files, "-k", "not planted and not mutant", "-p", "no:cacheprovider", "-q"],
        plugins=[trial],
    )
    left = [finder.mutants[number] for number in trial.survived]
    open_ = [one for one in left if one.name not in known]
    for name in trial.without:
        say(f"does not count: {name}")
    tried = len(trial.killed) + len(left)
    say(
        f"{len(trial.killed)} of {tried} mutants are killed, "
        f"{len(left) - len(open_)} survivors are accepted, {len(open_)} are not"
    )
    if not tried:
        return 2
    return int(bool(open_))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
