"""Writes ``python/elanite/data/studies.json``, which ``elanite explain`` shows, from finished
sensitivity studies.

    elanite sweep es40-qsnet --one-at-a-time --out out && python benches/studies.py out

Each folder was an ``--out`` folder. Several studies for a machine, each with some claims, make one
entry; where two have the same claim, the last one counts. Claims and machines without a study in
these folders keep their data, with the old model revision.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from elanite import _core
from elanite.study.basis import study
from elanite.study.changes import LEAST, resolved, turned
from elanite.study.sensitivity import kept
from elanite.study.study_findings import Effect, StudyEntry

TABLE = Path(__file__).parents[1] / "python" / "elanite" / "data" / "studies.json"
ABOUT = (
    "changes of claims, as fractions: parameter, claim, with the lower value, with the higher,"
    " verdict turns"
)


def outcome(table: pl.DataFrame, command: str, date: str) -> StudyEntry:
    """A machine's entry in the shipped data, from its study's change table."""
    values: dict[str, dict[str, str]] = {}
    for row in table.iter_rows(named=True):
        values.setdefault(row["parameter"], {"value": row["value"]})[row["step"]] = row["changed"]
    strong = {
        (row["parameter"], row["claim"], row["step"]): row["change"]
        for row in table.filter(resolved(), pl.col("change").abs() >= LEAST).iter_rows(named=True)
    }
    turns = {(row["parameter"], row["claim"]) for row in turned(table).iter_rows(named=True)}
    pairs = dict.fromkeys([*(key[:2] for key in strong), *sorted(turns)])
    effects = [
        Effect(*pair, strong.get((*pair, "less")), strong.get((*pair, "more")), pair in turns)
        for pair in pairs
    ]
    return {
        "revision": _core.MODEL_REVISION,
        "date": date,
        "command": command,
        "claims": table["claim"].unique(maintain_order=True).to_list(),
        "values": values,
        "effects": [
            (each.parameter, each.claim, _rounded(each.less), _rounded(each.more), each.turns)
            for each in sorted(effects, key=lambda each: -each.size)
        ],
    }


def merged(new: StudyEntry, old: StudyEntry) -> StudyEntry:
    """A new entry, completed with claims from an old one."""
    rest = [claim for claim in old["claims"] if claim not in new["claims"]]
    older = {claim: old.get("older", {}).get(claim, old["revision"]) for claim in rest}
    effects = [*new["effects"], *(row for row in old["effects"] if row[1] in rest)]
    effects.sort(key=lambda row: -max(abs(row[2] or 0.0), abs(row[3] or 0.0)))
    return new | {
        "claims": sorted([*new["claims"], *rest]),
        "values": {**old["values"], **new["values"]} if rest else new["values"],
        "older": {
            claim: revision for claim, revision in older.items() if revision != new["revision"]
        },
        "effects": effects,
    }


def _rounded(change: float | None) -> float | None:
    return None if change is None else round(change, 4)


def main() -> None:
    """Read the folders, and renew the entries for the machines that they studied."""
    parser = argparse.ArgumentParser(
        description="Write the shipped outcome of the studies of sensitivity."
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    folders = parser.parse_args().folders
    machines = json.loads(TABLE.read_text(encoding="utf-8"))["machines"] if TABLE.is_file() else {}
    found: dict[str, list[tuple[float, list[str], pl.DataFrame]]] = {}
    for manifest in (
        path for folder in folders for path in (folder / "sensitivity").glob("*/manifest.json")
    ):
        about = json.loads(manifest.read_text(encoding="utf-8"))
        claims = list(about["parts"])
        if (table := kept(study(about["machine"], claims), manifest.parents[2])) is None:
            print(f"{manifest.parent} is of another model, machine or claim; it is left out")
            continue
        found.setdefault(about["machine"], []).append((manifest.stat().st_mtime, claims, table))
    for name, several in found.items():
        several.sort(key=lambda each: each[0])
        claims = list(dict.fromkeys(claim for _, those, _ in several for claim in those))
        words = ["elanite", "sweep", name, "--one-at-a-time"]
        words += [] if set(claims) == set(study(name).parts) else ["--claims", ",".join(claims)]
        table = pl.concat(each for _, _, each in several).unique(
            ["parameter", "step", "claim"], keep="last"
        )
        made = datetime.fromtimestamp(several[-1][0], UTC).date().isoformat()
        found_now = outcome(table.sort("claim", "parameter", "step"), shlex.join(words), made)
        machines[name] = merged(found_now, machines[name]) if name in machines else found_now
        print(
            f"{name}: {len(machines[name]['effects'])} effects on {len(machines[name]['claims'])}"
            " claims"
        )
    text = json.dumps({"about": ABOUT, "machines": machines}, indent=1)
    # A line for each parameter and for each effect.
    text = re.sub(r"[\[{][^][{}]*[\]}]", lambda inner: " ".join(inner[0].split()), text)
    TABLE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
