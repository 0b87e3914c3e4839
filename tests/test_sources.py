"""Claims from other publications: their origin, the parts read, and that none of the papers'
machines is fitted.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from elanite.errors import ConfigError, UsageError
from elanite.inputs import sources
from elanite.inputs.plan import plan
from elanite.validation.claim import fitted
from elanite.validation.claims import claims, claims_of
from elanite.validation.verdict import Verdict

ROOT = Path(__file__).parents[1]
PAPERS = {"petrini2003", "petrini2001", "garcia2005", "coll2003"}
ONE = """
[[claim]]
id = "other.bandwidth"
source = "other2005"
kind = "min"
rank = "bound"
because = "a limit"
value = 300
says = "Over 300 MB/s."
"""


def keys(source: str) -> set[str]:
    """The keys in a source such as `petrini2003 s6; coll2002`."""
    return {part.split()[0] for part in source.split(";")}


def test_every_source_is_a_publication_of_the_page() -> None:
    page = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))
    assert listed >= PAPERS
    used = {key for claim in claims() for key in keys(claim.source)}
    assert used == listed
    for claim in claims():
        if not keys(claim.source) & PAPERS:
            assert f"`{claim.id}`" in page, "the page lists the claims of other publications"


def test_nothing_is_fitted_to_other_publications() -> None:
    others = [claim for claim in claims() if not keys(claim.source) <= PAPERS and not claim.today]
    assert len(others) >= 10
    assert fitted().isdisjoint(claim.id for claim in others)
    for claim in others:
        if not keys(claim.source) & PAPERS:
            assert claim.confidence != "text", (
                f"{claim.id}: no text of another publication was read"
            )


def test_what_was_read_is_one_of_three() -> None:
    (read,) = claims_of(ONE, "own.toml")
    assert read.confidence == "text"
    (read,) = claims_of(ONE + 'confidence = "abstract"', "own.toml")
    assert read.cited == "other2005 (abstract)"
    assert Verdict(read).as_json()["confidence"] == "abstract"
    with pytest.raises(UsageError) as error:
        claims_of(ONE + 'confidence = "abstrct"', "own.toml")
    said = str(error.value)
    assert (
        "claim `other.bandwidth`, `confidence` = `abstrct`: is not one of text, abstract, secondary"
        in said
    )
    assert "did you mean `abstract`?" in said


def test_the_bus_at_66_mhz_is_that_of_the_machine_at_twice_the_clock() -> None:
    machine = tomllib.loads(sources.read("machine", "es40-qsnet").text)["bus"]
    experiment = tomllib.loads(sources.read("experiment", "sources/pci-66").text)
    buses = [series["machine"]["bus"] for series in experiment["series"] if "machine" in series]
    assert len(buses) == 3
    for bus in buses:
        for key, factor in (("rate", 2.0), ("burst_overhead", 0.5), ("turnaround", 0.5)):
            own, changed = machine[key]["value"], bus[key]
            assert number(changed) == pytest.approx(factor * number(own)), key


def test_the_aggregate_of_a_broadcast_is_shared_by_all_nodes() -> None:
    (claim,) = (claim for claim in claims() if claim.id == "sources.asci-q.broadcast")
    ((name, (nodes,)),) = claim.where
    assert name == "nodes"
    assert claim.value is not None
    assert claim.value * nodes == pytest.approx(100_000, rel=1e-3)


def test_the_global_sum_is_that_of_2048_processes_four_a_node() -> None:
    planned = plan(sources.read("experiment", "sources/qsnet2"))
    (claim,) = (claim for claim in claims() if claim.id == "sources.qsnet2.sum")
    points = [point for point in planned.points if claim.asks_for(point)]
    assert {point.parameters["nodes"] * point.parameters["processes"] for point in points} == {2048}


@pytest.mark.parametrize(
    ("processes", "said"),
    [
        ("5", "5 processes on a node; a node has 4 processors"),
        ("300", "300 is out of range"),
        ("0", "0 is out of range"),
    ],
)
def test_more_processes_than_processors_are_refused(processes: str, said: str) -> None:
    source = sources.read("experiment", "sources/qsnet2")
    text = source.text.replace("processes = 4", f"processes = {processes}")
    with pytest.raises(ConfigError, match=said):
        plan(replace(source, text=text))


def number(text: str) -> float:
    """A quantity's number; the two files have the same units."""
    return float(text.split()[0])
