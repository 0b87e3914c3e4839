"""Static rail allocation: figures and claim, from the shipped experiment and with deliberate
mistakes.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import polars as pl
import pytest

import conftest
import elanite as el
from conftest import data, figures_of
from elanite import figures
from elanite.validation.claims import claims

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.validation.verdict import Verdict

CLAIM = next(claim for claim in claims() if claim.id == "multirail.static.bound")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> el.Result:
    out: Path = tmp_path_factory.mktemp("allocation")
    return el.run(el.Experiment.load("multirail/allocation"), out=out)


@pytest.fixture(scope="module")
def matrices(result: el.Result) -> pl.DataFrame:
    """The claim's data."""
    return result.table("allocation").filter(pl.col("series").is_in(CLAIM.series))


def judged(rows: pl.DataFrame) -> Verdict:
    return conftest.judged(CLAIM.id, rows)


def test_both_ends_of_every_step_are_computed(result: el.Result) -> None:
    """Between them the curve is flat, so that it is known everywhere."""
    rows = result.frame().filter(pl.col("metric") == "rails")
    nodes = set(rows["nodes"].to_list())
    steps = {2**half for half in range(1, 10)} | {comb(rails, rails // 2) for rails in range(2, 13)}
    assert steps | {step + 1 for step in steps} <= nodes
    for algorithm in ("logarithmic", "optimal"):
        assert (
            set(
                rows.filter(pl.col("algorithm") == algorithm, pl.col("series") != "figure-3")[
                    "nodes"
                ]
            )
            == nodes
        )


def test_figures_2_to_4(result: el.Result) -> None:
    drawn = result.figures()
    assert [figure.paper for figure in drawn] == ["figure 2", "figure 3", "figure 4"]
    curves, *pictures = drawn
    assert {row["curve"] for row in data(curves, "curve")} == {
        "algorithm 1, 2 log₂ n",
        "algorithm 2, optimal",
    }
    assert "1,000 nodes need 20 rails with algorithm 1, 13 with 2." in curves.caption
    assert "Our copy" not in pictures[0].caption
    assert "Our copy of it lacks the last column." in pictures[1].caption
    for figure, nodes in zip(pictures, (8, 20), strict=True):
        digits = {(row["rail"], row["node"]): row["digit"] for row in data(figure, "digit")}
        assert len(digits) == 6 * nodes
        assert sorted(digits.values()) == ["0"] * 3 * nodes + ["1"] * 3 * nodes, (
            "half of the rails of each node"
        )
        corners = {(0, 0): "1", (5, 0): "0", (0, nodes - 1): "0", (5, nodes - 1): "1"}
        assert corners.items() <= digits.items()


def test_other_allocations_are_drawn_without_a_figure_of_the_paper(result: el.Result) -> None:
    draw = figures.multirail_static.matrices
    table = result.table("allocation")
    other = table.filter(
        pl.col("series") == "small", pl.col("algorithm") == "optimal", pl.col("nodes") == 10
    )
    (figure,) = draw(other.with_columns(series=pl.lit("figure-4")))
    assert (figure.name, figure.paper) == ("optimal-10-5", "")
    assert "5 rails and 10 nodes, algorithm 2" in figure.title
    assert "of the paper" not in figure.caption
    assert list(draw(table.clear())) == []


def test_more_rails_than_those_of_the_paper_are_another_allocation(tmp_path: Path) -> None:
    changes = ["series.figure-4.rails=[6, 7]", "series.small.nodes=2", "series.large.nodes=2"]
    result = el.run(el.Experiment.load("multirail/allocation", changes), out=tmp_path)
    drawn = [(figure.name, figure.paper) for figure in result.figures()[1:]]
    assert drawn == [("3", "figure 3"), ("4", "figure 4"), ("optimal-20-7", "")]


def test_one_algorithm_gives_one_curve(result: el.Result) -> None:
    rows = result.frame().filter(pl.col("algorithm") == "optimal")
    (figure,) = figures_of("multirail/allocation", rows)
    assert {row["curve"] for row in data(figure, "curve")} == {"algorithm 2, optimal"}
    assert "need 20 rails" not in figure.caption
    assert figures_of("multirail/allocation", rows.filter(pl.col("series") == "figure-4")) == []


def test_the_claim_holds(matrices: pl.DataFrame) -> None:
    verdict = judged(matrices)
    assert verdict.holds is True
    assert (
        verdict.simulated
        == "algorithm 1: 8 nodes with 6 rails, 9 need 8; algorithm 2: 20 nodes with 6 rails, 21"
        " need 7; 36 of 36 allocations connected; 36 with the fewest rails; 2 of 2 published"
        " matrices"
    )


def here(algorithm: str, nodes: int) -> pl.Expr:
    return (pl.col("algorithm") == algorithm) & (pl.col("nodes") == nodes)


def test_a_node_that_is_left_out_misses_the_claim(matrices: pl.DataFrame) -> None:
    """The last node repeats the first one's actions."""
    first = matrices.filter(here("optimal", 7), pl.col("node") == 0).with_columns(
        node=pl.lit(6, pl.UInt32)
    )
    others = matrices.filter(~(here("optimal", 7) & (pl.col("node") == 6)))
    verdict = judged(pl.concat([others, first]))
    assert verdict.holds is False
    assert "35 of 36 allocations connected; 36 with the fewest rails; 2 of 2" in str(
        verdict.simulated
    )


@pytest.mark.parametrize(("algorithm", "nodes"), [("optimal", 10), ("logarithmic", 9)])
def test_a_rail_too_many_misses_the_claim(
    matrices: pl.DataFrame, algorithm: str, nodes: int
) -> None:
    """One copy of the first node, or two, is harmless and not needed."""
    more = matrices.filter(here(algorithm, nodes), pl.col("rail") == 0)
    copies = [more.with_columns(rail=pl.lit(rail, pl.UInt32)) for rail in (60, 61)]
    verdict = judged(pl.concat([matrices, *copies]))
    assert verdict.holds is False
    assert "36 of 36 allocations connected; 35 with the fewest rails; 2 of 2" in str(
        verdict.simulated
    )


@pytest.mark.parametrize(("algorithm", "nodes"), [("logarithmic", 8), ("optimal", 20)])
def test_another_matrix_misses_the_claim(
    matrices: pl.DataFrame, algorithm: str, nodes: int
) -> None:
    """With receivers for transmitters all are as well connected; the paper has it otherwise."""
    inverse = (
        pl.when(pl.col("role") == "receive").then(pl.lit("transmit")).otherwise(pl.lit("receive"))
    )
    turned = pl.when(here(algorithm, nodes)).then(inverse).otherwise(pl.col("role"))
    verdict = judged(matrices.with_columns(role=turned))
    assert verdict.holds is False
    assert "36 of 36 allocations connected; 36 with the fewest rails; 1 of 2" in str(
        verdict.simulated
    )
