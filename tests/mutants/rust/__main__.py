"""Try mutants of the Rust crates; see the package."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1]))

from mutants.rust.trial import Trial  # noqa: E402 - the path comes first
from mutants.rust.workspace import ABOVE, CRATES, PLACE, Workspace, sample  # noqa: E402

LEDGER = FOLDER / "accepted.toml"


def accepted() -> dict[str, str]:
    """The mutants that may survive, with the reasons."""
    return {
        name: entry["reason"]
        for entry in tomllib.loads(LEDGER.read_text(encoding="utf-8"))["accepted"]
        for name in entry["mutants"]
    }


def main() -> int:
    """Run the trial; the exit code is 1 if a mutant survives that the ledger does not accept."""
    parser = argparse.ArgumentParser(prog="mutants.rust", description=__doc__)
    parser.add_argument("crates", nargs="*", metavar="CRATE", help=", ".join(CRATES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=110, help="mutants of a crate")
    options = parser.parse_args()
    if unknown := set(options.crates) - set(CRATES):
        parser.error(f"no crate {', '.join(sorted(unknown))}")
    work = Workspace(sample(options.seed, options.each))
    trial = Trial(work.build(), ABOVE, PLACE / "reached.json")
    say(f"{len(work.mutants)} mutants")
    known, failed = accepted(), False
    outcome: dict[str, str | None] = {}
    for crate in options.crates or CRATES:
        counts = {"killed": 0, "accepted": 0, "open": 0}
        for number, (path, mutant) in work.mutants.items():
            if path.parts[1] != crate:
                continue
            found = trial.killer(number, crate)
            outcome[mutant.name] = found
            counts["killed" if found else "accepted" if mutant.name in known else "open"] += 1
            if not found and mutant.name not in known:
                failed = True
                tests = len(trial.reaching(number, ABOVE[ABOVE.index(crate) :]))
                say(f"survives {tests:3} tests, line {mutant.line:3}: {mutant.name}")
        say(f"{crate}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
        (PLACE / "outcome.json").write_text(json.dumps(outcome, indent=1))
    return int(failed)


def say(text: str) -> None:
    """One line for people."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
