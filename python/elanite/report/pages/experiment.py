"""The page on an experiment or a sweep, from its finished points.

The findings are sentences on result numbers (``findings``, ``hottest``), and the tables below the
figures (``summaries``) have the same numbers for every configuration. Without ``[[figure]]``,
series of one kind that vary the same keys share their charts, so that placements in separate series
can be compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from elanite import figures
from elanite.base import build
from elanite.base.text import are, counted, number, plain, value_list
from elanite.figures import grouping, matrix_comparison
from elanite.figures.empty_figures import missing
from elanite.inputs.machine import Machine
from elanite.report.pages import curves, findings, hot_links, programs, summaries
from elanite.report.pages.failures import failures, rails
from elanite.report.pages.frame import Page, Section
from elanite.report.pages.slow_nodes import slowest
from elanite.results import frames
from elanite.results.congestion import matrix
from elanite.study.limits import ASSUMED, of_plans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from elanite.figures import Figure
    from elanite.inputs.plan import Plan, Point
    from elanite.report.pages.inputs import Inputs
    from elanite.store import Store
    from elanite.study.limits import Limit

RUN_KEYS: tuple[Literal["warm_up", "window", "precision", "batches"], ...] = (
    "warm_up",
    "window",
    "precision",
    "batches",
)
"""The keys of ``run`` that change how a series is measured; intervals show the seeds."""

SERIES = "series name"
"""The axis of several series that have one figure."""

MOST_MATRICES = 12
"""Points in the congestion pictures."""


def page(
    plan: Plan,
    store: Store,
    command: Sequence[str],
    inputs: Inputs,
    limits: Iterable[Limit] | None = None,
    *,
    compared: bool = True,
    noun: str = SERIES,
) -> Page:
    """The page on a plan's finished points; ``command`` are the command-line words that ran it.

    ``limits`` are the plan's and its results' limits, by default the plan's. The findings compare
    the configurations if ``compared``. A ``noun`` names the axis of several series.
    """
    limits = of_plans([plan]) if limits is None else limits
    limited = [f"{limit.words}." for limit in limits if limit.kind != ASSUMED]
    points = frames.finished(plan, store)
    rows = curves.unsearched(frames.tidy(points, store))
    kinds = {point.series: point.kind for point in points}
    units = dict(rows.select("metric", "unit").unique(maintain_order=True).iter_rows())
    shared = grouping.common(point.parameters.get(grouping.MACHINE) for point in points)
    configurations = curves.curves(_without_shared_changes(rows, shared), kinds)
    found = findings.sentences(configurations, units) if compared else []
    searches = curves.searches(rows)
    columns = curves.distinguishing(rows)
    named = curves.within_kinds(rows, kinds)
    own = [_label_point(point, shared, searches, named[point.series]) for point in points]
    links = (
        hot_links.hottest(own, store, columns)
        if any(_loaded(point, store) for point in own)
        else []
    )
    best = hot_links.first(links)
    drawn = _figures(plan, store, rows, kinds, noun)
    empty = missing(plan, store, [one.name for one in drawn])
    lost, counts = failures(_with_parameters(_without_shared_changes(rows, shared), named), columns)
    found += programs.slowdowns(rows, columns)
    found += [*programs.findings(own, store, columns), *lost, *rails(points, store)]
    results = [
        Section(
            "Results", figures=drawn, tables=[*summaries.tables(configurations, units), *counts]
        )
    ]
    if best is not None:
        known = hot_links.shares(best.point, store)
        found += [hot_links.sentence(best, links, known), *slowest(own, store, columns)]
        results.append(Section("Hottest links", tables=hot_links.tables(links, best, known)))
    results += programs.sections(own, store, columns)
    results += _congestion(links, len(points), store)
    return Page(
        title=plan.title,
        command=command,
        inputs=inputs,
        about=" · ".join(
            [_about(plan, points, store), *([f"all with {', '.join(shared)}"] if shared else [])]
        ),
        findings=found,
        notes=[
            *_notes(plan, points, store),
            *run_keys(points),
            *limited,
            *(f"{one[:1].upper()}{one[1:]}." for one in empty),
        ],
        sections=results,
        machines=[Machine.of(machine, machine.overrides) for machine in plan.machines],
    )


def pictures(plan: Plan, store: Store) -> list[Figure]:
    """The page's figures without sliders and lists, for a separate picture.

    Matrices cover points with time slices, for each configuration's first seed: the measured
    window.
    """
    points = frames.finished(plan, store)
    rows = curves.unsearched(frames.tidy(points, store))
    kinds = {point.series: point.kind for point in points}
    shared = grouping.common(point.parameters.get(grouping.MACHINE) for point in points)
    searches = curves.searches(rows)
    named = curves.within_kinds(rows, kinds)
    own = [_label_point(point, shared, searches, named[point.series]) for point in points]
    sliced = [point for point in own if point.run["slices"]]
    links = hot_links.hottest(sliced, store, curves.distinguishing(rows)) if sliced else []
    first: dict[str, hot_links.Hottest] = {}
    for one in links:
        if one.links["waiting_us"].sum() > 0:
            first.setdefault(one.configuration, one)
    shown = list(first.values())[:MOST_MATRICES]
    cases = [
        matrix_comparison.PicturePoint(one.configuration, matrix(one.point, store)) for one in shown
    ]
    flows = programs.figures(own, store, curves.distinguishing(rows))
    return [
        *_figures(plan, store, rows, kinds),
        *flows,
        *(matrix_comparison.still_pictures(cases) if cases else []),
    ]


def _without_shared_changes(rows: pl.DataFrame, shared: Sequence[str]) -> pl.DataFrame:
    """Rows without the changes that all machines share, which the page's head names."""
    if not shared:
        return rows
    labels = rows[grouping.MACHINE].unique().to_list()
    own = {label: grouping.label_without(label, shared) for label in labels}
    return rows.with_columns(pl.col(grouping.MACHINE).replace(own))


def _with_parameters(rows: pl.DataFrame, named: Mapping[str, Collection[str]]) -> pl.DataFrame:
    """Rows with each series's ``named`` parameters only."""

    def without(name: str) -> pl.Expr:
        others = [series for series, names in named.items() if name not in names]
        return pl.when(~pl.col("series").is_in(others)).then(pl.col(name)).alias(name)

    return rows.with_columns(
        without(name) for name in frames.parameters(rows) if name not in ("experiment", "series")
    )


def _label_point(
    point: Point, shared: Sequence[str], searches: Collection[str], names: Collection[str]
) -> Point:
    """A point with parameters for its label: without the changes that all machines share, and a
    search's first load.

    ``searches`` are the series that search the saturation point, ``names`` the parameters in
    labels.
    """
    own = {name: value for name, value in point.parameters.items() if name in names}
    if shared and grouping.MACHINE in own:
        own = {**own, grouping.MACHINE: grouping.label_without(own[grouping.MACHINE], shared)}
    if point.series in searches:
        own = {name: value for name, value in own.items() if name.split(".")[-1] != "load"}
    return replace(point, parameters=own)


def _loaded(point: Point, store: Store) -> bool:
    """Whether a point offers loads, or packets waited for its links: a ping alone has no hottest
    link.
    """
    if point.kind in (curves.JOBS, curves.PROGRAMS):
        return True
    links = store.table(point.id, "links")
    return not links.is_empty() and links["waiting_ps"].sum() > 0


def _figures(
    plan: Plan, store: Store, rows: pl.DataFrame, kinds: dict[str, str], noun: str = SERIES
) -> list[Figure]:
    """The experiment file's figures; without them, and in sweeps, also general figures.

    In general figures, series that vary the same keys share charts.
    """
    asked = figures.charts(replace(plan, general=False), store) if plan.figures else []
    if plan.figures and not plan.general:
        return asked
    groups = [
        (kind, together)
        for kind in dict.fromkeys(kinds.values())
        for together in curves.comparable(rows, [name for name, of in kinds.items() if of == kind])
    ]
    drawn = list(asked)
    for kind, together in groups:
        here = rows.filter(pl.col("series").is_in(together))
        if kind == curves.PROGRAMS:  # flows have their own figures
            here = here.filter(~pl.col("metric").str.starts_with(programs.FLOWS))
            if here.is_empty():
                continue
        title = curves.series_names(together)
        if len(together) > 1:
            # The series' name is one more parameter, and stands for all that it decides.
            names = curves.distinguishing(here)
            decided = [name for name in frames.varying(here) if name not in names]
            twins = [name + suffix for name in decided for suffix in frames.SUFFIX.values()]
            here = here.drop([name for name in (*decided, *twins) if name in here.columns])
            here = here.with_columns(pl.col("series").alias(noun), series=pl.lit(title))
        drawn += figures.default_figures.draw(here, {title: kind})
    return list(figures.unique(drawn))


def _congestion(links: Sequence[hot_links.Hottest], every: int, store: Store) -> list[Section]:
    """The congestion matrices of the points with the hottest links, of all seeds; the hottest point
    comes up first.
    """
    waited = [one for one in links if one.links["waiting_us"].sum() > 0]
    if not waited:
        return []
    shown = sorted(waited, key=hot_links.heat, reverse=True)[:MOST_MATRICES]
    chosen = {one.point.id for one in shown}
    inside = [one for one in waited if one.point.id in chosen]
    cases = [matrix_comparison.PicturePoint(one.label, matrix(one.point, store)) for one in inside]
    start = [one.point.id for one in inside].index(shown[0].point.id)
    text = []
    if len(inside) < len(waited):
        text.append(
            f"The {len(inside)} of {counted(every, 'point')} with the longest waits for one link."
        )
    elif len(waited) < every:
        text.append(f"Packets waited for a link in {len(waited)} of {counted(every, 'point')}.")
    drawn = matrix_comparison.draw(cases, start)
    return [Section("Congestion", text, drawn)] if drawn else []


def _about(plan: Plan, points: Sequence[Point], store: Store) -> str:
    """The experiment, its machines, and the runs' size."""
    each = dict.fromkeys(point.id for point in points)  # a point in several series is one run
    manifests = [manifest for one in each if (manifest := store.get(one)) is not None]
    machines = " and ".join(machine.name for machine in plan.machines)
    distinct = f" ({len(each):,} different)" if len(each) < len(points) else ""
    packets = number(sum(manifest.data["packets"] for manifest in manifests))
    seconds = number(sum(manifest.cpu_seconds for manifest in manifests))
    parts = [
        f"{plan.experiment.name} on {machines}",
        f"{counted(len(points), 'point')}{distinct}",
        f"{packets} packet{'s' * (packets != '1')}",
        f"{seconds} processor seconds",
    ]
    return " · ".join([plan.document, *parts] if plan.document else parts)


def _notes(plan: Plan, points: Sequence[Point], store: Store) -> list[str]:
    """Missing points, and points from other builds."""
    every = len({point.id for point in plan.points})
    missing = every - len({point.id for point in points})
    said = [f"Incomplete: {missing} of {every} points {are(missing)} missing."] if missing else []
    manifests = (manifest for point in points if (manifest := store.get(point.id)) is not None)
    others = build.note(
        build.grouped(build.Build.of(manifest.data["versions"]) for manifest in manifests)
    )
    return [*said, *([f"{others[:1].upper()}{others[1:]}."] if others else [])]


def run_keys(points: Sequence[Point]) -> list[str]:
    """A sentence on the keys of ``run`` in which the series differ; empty if they agree."""
    found: dict[str, dict[str, dict[str, None]]] = {key: {} for key in RUN_KEYS}
    for point in points:
        run = point.run
        for key in RUN_KEYS:
            found[key].setdefault(plain(run[key]), {})[point.series] = None
    parts = []
    for name, values in found.items():
        if len(values) > 1:
            each = [f"{value} ({value_list(list(series))})" for value, series in values.items()]
            parts.append(f"run.{name} is {value_list(each)}")
    return [f"Series differ: {'; '.join(parts)}."] if parts else []
