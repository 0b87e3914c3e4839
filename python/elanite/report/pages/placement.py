"""The page on placements: packed, spread and the best one, on one scale, and the ranks of all tried
ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elanite.base.text import counted, distinct, number
from elanite.report.pages import experiment
from elanite.report.pages.frame import Page, PageTable, Section
from elanite.study.placements import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elanite.inputs.plan import Plan
    from elanite.report.pages.inputs import Inputs
    from elanite.store import Store
    from elanite.study.limits import Limit
    from elanite.study.placements import PlacementScore


def page(
    plan: Plan,
    store: Store,
    command: Sequence[str],
    inputs: Inputs,
    limits: Iterable[Limit],
    jobs: Sequence[str],
    found: Sequence[PlacementScore],
) -> Page:
    """The page; ``plan`` has the drawn placements' points, ``found`` all ranks, the best first."""
    # Configurations of ``drawn`` are jobs of three placements only, and their slowdown is the
    # sharing.
    drawn = experiment.page(plan, store, command, inputs, limits, compared=False, noun="placement")
    ranks = Section("Placements", tables=[_ranks(jobs, found), _nodes(jobs, found)])
    return replace(
        drawn,
        findings=[sentence(jobs, found), *drawn.findings],
        sections=[ranks, *drawn.sections],
        title=_title(found),
        about=(
            f"{drawn.about} · {counted(len(found), 'placement')}, of which {len(plan.points)} are"
            " drawn"
        ),
    )


def _title(found: Sequence[PlacementScore]) -> str:
    best = found[0]
    long = number(best.score[0])
    name = best.tried.placement.name
    placement = f"All {len(found)} placements are equal" if equal(found) else f"Placement {name}"
    times = "" if long == "1" else f"{long} times "
    return f"{placement}: the slowest job takes {times}its time alone"


def equal(found: Sequence[PlacementScore]) -> bool:
    """Whether several placements have been tried, and all jobs are as slow in each."""
    return len(found) > 1 and all(each.slowdowns == found[0].slowdowns for each in found)


def sentence(jobs: Sequence[str], found: Sequence[PlacementScore]) -> str:
    """The best placement, the next one if it is as good or equal as written, and the worst one's
    cost; or that no placement differs.
    """
    best, worst = found[0], found[-1]
    near = [other for other in found[1:] if number(other.score[0]) == number(best.score[0])]
    each = ", ".join(
        f"{job} {number(slow)}" for job, slow in zip(jobs, best.slowdowns, strict=True)
    )
    if equal(found):
        return f"All {len(found)} placements are equal (slow-down of {each} in every one)."
    least, most = distinct(best.score[0], near[0].score[0]) if near else ("", "")
    behind = f"slowest job {f'{most} against {least}' if least != most else 'as slow'}"
    following = f" the next is {near[0].tried.placement.name} ({behind});" if near else ""
    return (
        f"Best of {counted(len(found), 'placement')}: {best.tried.placement.name} (slow-down of"
        f" {each});{following} the worst is {worst.tried.placement.name}"
        f" ({number(worst.score[0])})."
    )


def _ranks(jobs: Sequence[str], found: Sequence[PlacementScore]) -> PageTable:
    columns = (
        "placement",
        *(f"{job}{column}" for job in jobs for column in (", slow-down", ", sharing", ", µs")),
    )
    rows = [
        (
            each.tried.placement.name,
            *(
                number(value)
                for slow, sharing, time in zip(
                    each.slowdowns, each.tried.sharing(), each.tried.times, strict=True
                )
                for value in (slow, sharing, time)
            ),
        )
        for each in found
    ]
    note = (
        "Slow-down: time beside the other jobs over the time alone in the placement where the job"
        " is fastest alone. Sharing: the same over the time alone in the same place, which the"
        " tables below call slowdown."
    )
    return PageTable(columns, rows, "Placements, the best first", right=columns[1:], note=note)


def _nodes(jobs: Sequence[str], found: Sequence[PlacementScore]) -> PageTable:
    rows = [
        (each.tried.placement.name, *(text(nodes) for nodes in each.tried.placement.nodes))
        for each in found
    ]
    return PageTable(("placement", *jobs), rows, "Nodes of the jobs", folded=True)
