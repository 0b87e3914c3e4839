"""The figures that experiment files request by ``[[figure]]``, made from the layers in ``curves``
and ``style``.

The simulator checks the keys when it reads the file (``crates/experiment/src/figure.rs`` describes
every key). This module selects the rows, names the curves and fills in the texts. A figure without
rows is left out.
"""

from __future__ import annotations

import re
from itertools import chain, count
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted, grouped, plain, value_list
from elanite.errors import UsageError
from elanite.figures import axes, dodge, origin, published_values, request_layers
from elanite.figures import curves as layers_of
from elanite.figures import grouping as grouping_of
from elanite.figures.style import Figure, layered
from elanite.inputs.sources import did_you_mean
from elanite.results.frames import (
    SHIPPED,
    STATE,
    padded,
    parameters,
    resolved,
    summarise,
    sustained,
    unloaded,
)
from elanite.results.policies import with_policies
from elanite.results.selection import chosen, empty
from elanite.results.states import QueueState, is_steady, with_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elanite.figures.curves import Layers
    from elanite.figures.grouping import Grouping, Panel
    from elanite.inputs.contents import FigureSection, FigureTexts, Rows

CURVE = grouping_of.CURVE

TEMPLATE = request_layers.TEMPLATE

_COLUMN = re.compile(r"\{([^{}]+)\}")


def panels(
    asked: FigureSection, rows: pl.DataFrame
) -> Iterator[tuple[FigureSection, pl.DataFrame]]:
    """The figure with its texts filled in, and its rows, for each panel."""
    rows = chosen(rows, _row_selection(asked))
    if rows.is_empty():
        return
    if not asked["panel"]:
        yield filled(asked, rows), rows
        return
    column = _column(rows, asked, "panel", asked["panel"])
    values = rows[column].unique(maintain_order=True).drop_nulls().to_list()
    texts = (asked["title"], asked["caption"], asked["dashed"], *asked["curve"])
    said = {grouping_of.word(name) for text in texts for name in _COLUMN.findall(text)}
    if len(values) > 1 and asked["title"] and grouping_of.word(column) not in said:
        asked = asked | {"title": f"{asked['title']}, {grouping_of.word(column)} {{{column}}}"}
    letters = chain("abcdefghijklmnopqrstuvwxyz", map(str, count(27)))
    for letter, value in zip(letters, values, strict=False):  # there are always enough letters
        here = rows.filter(pl.col(asked["panel"]) == value)
        yield filled(asked, here, letter=letter), here


def filled(asked: FigureSection, rows: pl.DataFrame, **known: str) -> FigureSection:
    """The texts with the values of each named column."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in known or name not in rows.columns:
            return known.get(name, found[0])
        values = rows[name].drop_nulls().unique(maintain_order=True).to_list()
        return value_list([_value_name(asked, name, one) for one in values])

    asked = origin.section_for(asked, rows)
    raw: FigureTexts = {
        "name": asked["name"],
        "title": asked["title"],
        "paper": asked["paper"],
        "caption": asked["caption"],
        "dashed": asked["dashed"],
    }
    return asked | {
        "name": _COLUMN.sub(value, raw["name"]),
        "title": _COLUMN.sub(value, raw["title"]),
        "paper": _COLUMN.sub(value, raw["paper"]),
        "caption": _COLUMN.sub(value, raw["caption"]),
        "dashed": _COLUMN.sub(value, raw["dashed"]),
        "raw": raw,
        "known": known,
    }


def figure(
    asked: FigureSection, layers: Layers, words: str = "", *, dashed: bool = False, stated: str = ""
) -> Figure:
    """The figure from some layers; ``words`` are its kind's caption, ``stated`` its published
    values' caption.
    """
    caption = " ".join(
        text
        for text in (asked["caption"], words, asked["dashed"] if dashed else "", stated)
        if text
    )
    return Figure(
        asked["name"], asked["title"], asked["paper"], caption, layered(asked["title"], layers)
    )


def figures_over(asked: FigureSection, rows: pl.DataFrame) -> Iterator[Figure]:
    """Means with their intervals over a parameter, as curves or as bars."""
    rows, given = _with_policies(rows), asked["x"]
    asked, rows = _axis_column(asked, with_states(rows) if asked["steady"] else rows)
    beside = chosen(rows, _row_selection(asked["beside"])) if asked["beside"] else rows.clear()
    found_panels = []
    for panel, here in panels(asked, rows):
        selected = _selected(panel, here)
        if selected.is_empty():
            continue
        grouping = _grouping(panel, selected, _axis_of(panel, here))
        parts = list(grouping_of.panels(selected, grouping, panel["metric"]))
        panel = request_layers.titled(panel, selected)
        drawn = [
            (*one, _means(panel, one[1].rows, grouping))
            for one in _lettered(panel, parts, grouping)
        ]
        there = here.filter(is_steady()) if panel["steady"] else here
        there = (
            there.drop(panel["x"]) if panel["x"] != given else there
        )  # its twin has the parameter's name
        measured = there.filter(pl.col("metric") == panel["metric"])
        bare = " ".join(filter(None, [_choice(panel, here), axes.unmeasured(there, measured)]))
        found_panels.append((here, grouping, drawn, bare))
    means = [data for *_, drawn, _ in found_panels for *_, data in drawn]
    if not means:
        return
    every = pl.concat(means, how="vertical_relaxed")
    common = axes.share_scale(means, log=asked["log"])
    apart = "" if common else axes.OWN_AXES
    shown = [
        published_values.of_figure(one, part.rows, one["x"])
        for *_, drawn, _ in found_panels
        for one, part, _ in drawn
    ]
    reached = (
        [value for values in shown for value in published_values.drawn(values)] if common else []
    )

    def companions(
        one: FigureSection, part: Panel, here: pl.DataFrame, grouping: Grouping
    ) -> tuple[Layers, list[float]]:
        one = request_layers.stepped(one, every)
        others = _selected(one, _in_panel(asked, here, beside))
        return request_layers.companion_curves(one, others, part.rows, grouping)

    if common and not beside.is_empty():
        reached += [
            value
            for here, grouping, drawn, _ in found_panels
            for one, part, _ in drawn
            for value in companions(one, part, here, grouping)[1]
        ]
    for here, grouping, drawn, bare in found_panels:
        for one, part, data in drawn:
            one = request_layers.stepped(one, every)
            x = one["x"]
            reach = every if common else data
            doubled = _doubled(one, part.rows)
            words = [
                request_layers.intervals(data, part.rows),
                bare,
                doubled,
                grouping.words,
                apart,
            ]
            more_tips = tips(grouping, data, x if x in here.columns else "")
            if one["draw"] == "bars":
                drawn_bars, cut = request_layers.bars(one, data, every, reach, more_tips)
                yield figure(one, drawn_bars, " ".join(filter(None, words)), stated=cut)
                continue
            stated = published_values.of_figure(one, part.rows, x)
            dashed, more = companions(one, part, here, grouping)
            joined = grouping.lines and (
                x not in here.columns or grouping_of.measurable(part.rows, x)
            )
            around = (every, reach, [*more, *reached])
            found, about = request_layers.curves(
                one, data, around, stated, lines=joined, tips=more_tips
            )
            lines = bool(stated or dashed or one["mark"] is not None)
            caption = " ".join(filter(None, words))
            yield figure(one, found + dashed, caption, dashed=lines, stated=about)


def loads(asked: FigureSection, rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load; all panels have the same axes, so that they can be compared."""
    drawn = []
    accepted, offered = asked["metric"] or "accepted", asked["offered"] or "offered"
    for panel, here in panels(asked, with_states(_with_policies(rows))):
        wanted = here.filter(pl.col("metric").is_in([accepted, offered, "saturated"]))
        wanted = request_layers.converted(panel, wanted, [accepted, offered])
        named = _with_names(
            panel,
            wanted.unique(subset=[n for n in wanted.columns if n != "series"], maintain_order=True),
        )
        grouping = _grouping(panel, named, loads_of(named))
        parts = list(grouping_of.panels(named, grouping, accepted))
        for one, part in _lettered(panel, parts, grouping):
            keys = dict.fromkeys([CURVE, *grouping.axis, *grouping.configuration])
            data = layers_of.of_loads(part.rows, list(keys), accepted, offered)
            if not data.is_empty():
                drawn.append((one, published_values.of_figure(one, part.rows), data, grouping))
    if not drawn:
        return
    right, top = layers_of.ends(
        pl.concat([data for _, _, data, _ in drawn], how="diagonal_relaxed")
    )
    right = max([right, *(one["mark"] for one, *_ in drawn if one["mark"] is not None)])
    most = [
        axes.HEADROOM * value for _, stated, *_ in drawn for value in published_values.drawn(stated)
    ]
    to = right, max([top, *most])
    for one, stated, data, grouping in drawn:
        unit = one["y_title"].rsplit(", ", 1)[-1] or "MB/s per node"
        extra = tips(grouping, data)
        found = layers_of.loads(data, CURVE, one["legend"], unit, to=to, tips=extra)
        rules = [
            *published_values.layers(stated, axes.rounded((0.0, to[1]))),
            *request_layers.crossing(one),
        ]
        words = [
            layers_of.signs(data, to[1], CURVE),
            dodge.hidden_marks(data, "offered", (0.0, to[1]), right=to[0]),
            grouping.words,
            _other_loads(grouping, data),
        ]
        yield figure(one, found + rules, " ".join(filter(None, words)), dashed=bool(rules))


def tips(grouping: Grouping, data: pl.DataFrame, x: str = "") -> list[alt.Tooltip]:
    """The tooltips for a configuration's parameters that curve, panel and the axis ``x`` leave
    unnamed.
    """
    shown = (*grouping.curves, *grouping.panels, *grouping.covered)
    names = [name for name in grouping.configuration if name not in shown and name in data.columns]
    names = [name for name in names if not x or not grouping_of.on_axis(name, [x])]
    return [alt.Tooltip(axes.field(name), title=grouping_of.word(name)) for name in names]


def _other_loads(grouping: Grouping, data: pl.DataFrame) -> str:
    """The caption sentence about job marks that differ in another job's load."""
    owners = [name.rpartition(".")[0] for name in grouping.axis]
    jobs = data["job"].unique().to_list() if "job" in data.columns else []
    names = [
        name
        for name, owner in zip(grouping.axis, owners, strict=True)
        if owner and jobs and jobs != [owner]
    ]
    words = " and ".join(map(grouping_of.word, names))
    return (
        f"Marks of the other jobs differ in {words}; tooltips and data have the values."
        if words
        else ""
    )


def loads_of(rows: pl.DataFrame) -> list[str]:
    """The columns with jobs' offered loads: those that vary, or the only one."""
    found = [name for name in rows.columns if name == "load_MBps" or name.endswith(".load_MBps")]
    varying = [name for name in found if rows[name].n_unique() > 1]
    return (varying or found)[:1]


def _grouping(asked: FigureSection, rows: pl.DataFrame, axis: Sequence[str]) -> Grouping:
    """The grouping for one panel's rows in the file."""
    covered = [name for template in asked["curve"] for name in _COLUMN.findall(template)]
    if {*covered, *axis} & {*grouping_of.DERIVED}:
        covered.append(grouping_of.MACHINE)
    measured = [asked["x"]] if asked["x"] in rows.columns and asked["x"] not in axis else []
    return grouping_of.grouped(
        rows.drop(measured), axis, [CURVE] if asked["curve"] else [], covered
    )


def _lettered(
    asked: FigureSection, parts: Sequence[Panel], grouping: Grouping
) -> Iterator[tuple[FigureSection, Panel]]:
    """The panels with their texts; names, titles and the legend have the parameters that the file
    does not name.
    """
    added = [grouping_of.word(name) for name in grouping.curves if name != CURVE]
    for number, part in enumerate(parts, 1):
        named = [asked["legend"]] if asked["legend"] else _columns(asked, part.rows)
        raw = asked["raw"]
        bare = asked | {"name": raw["name"], "title": raw["title"], "caption": raw["caption"]}
        bare |= {"paper": raw["paper"], "dashed": raw["dashed"]}
        one = filled(bare, part.rows, **asked["known"]) | {
            "legend": ", ".join(dict.fromkeys([*named, *added]))
        }
        if len(parts) > 1:
            title = ", ".join(filter(None, [one["title"], part.words]))
            one |= {"name": f"{one['name']}-{number}", "title": title}
        yield one, part


def _columns(asked: FigureSection, rows: pl.DataFrame) -> list[str]:
    """The columns in curve names, in their order, without those that have no value here."""
    names = dict.fromkeys(name for template in asked["curve"] for name in _COLUMN.findall(template))
    return [
        grouping_of.word(name)
        for name in names
        if name in rows.columns and not rows.select(empty(rows, name)).to_series().all()
    ]


def _axis_of(asked: FigureSection, rows: pl.DataFrame) -> list[str]:
    """The horizontal axis's parameters: the loads, if a measured quantity is on the axis."""
    return [asked["x"]] if asked["x"] in rows.columns else loads_of(rows)


def _selected(asked: FigureSection, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that are drawn, each with the name that the file gives its curve and with its place
    on the axis.
    """
    if rows.is_empty():
        return rows
    x = asked["x"]
    if x not in rows.columns and x in rows["metric"]:
        keys = [name for name in parameters(rows) if name != "series"]
        of = (
            rows.filter(pl.col("metric") == x)
            .group_by(keys, maintain_order=True)
            .agg(pl.col("value").mean().alias(x))
        )
        rows = rows.join(of, on=keys, nulls_equal=True, maintain_order="left")
    _column(rows, asked, "x", asked["x"])
    if asked["steady"]:
        rows = rows.filter(is_steady())
    here = rows.filter((pl.col("metric") == asked["metric"]) & pl.col(x).is_not_null())
    if here.is_empty():
        return here
    here = request_layers.converted(asked, here, [asked["metric"]])
    here = _sustained(asked, here) if asked["sustained"] else here
    here = _with_names(
        asked, here.unique(subset=[n for n in here.columns if n != "series"], maintain_order=True)
    )
    if asked["twice"]:
        again = chosen(here.with_row_index("_row"), asked["twice"])["_row"]
        twice = pl.int_range(pl.len()).is_in(again.implode())
        here = here.with_columns(value=pl.when(twice).then(2 * pl.col("value")).otherwise("value"))
    return here


def _sustained(asked: FigureSection, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows at the load with the highest accepted load, without this load: it is a result, no
    parameter.
    """
    if asked["metric"] != "accepted" or not loads_of(rows):
        have = "`accepted`" if asked["metric"] != "accepted" else "points with an offered load"
        raise UsageError(
            f"the figure `{asked['name']}` has sustained = true with metric = `{asked['metric']}`,"
            f" which needs {have}\n  leave `sustained` out, or select series of jobs"
        )
    found = sustained(rows)
    named = {
        asked["x"],
        *(name for template in asked["curve"] for name in _COLUMN.findall(template)),
    }
    bare = unloaded(found).drop("_load", *(name for name in named if name in found.columns))
    return bare.with_columns(found.select(name for name in named if name in found.columns)).select(
        found.columns
    )


def _doubled(asked: FigureSection, rows: pl.DataFrame) -> str:
    """The caption sentence on the rows that count twice."""
    twice = chosen(rows, asked["twice"]) if asked["twice"] else rows.clear()
    if twice.is_empty():
        return ""
    words = [
        f"{grouping_of.word(name)} "
        + value_list([_value_name(asked, name, one) for one in twice[name].unique().sort()])
        for name in asked["twice"]
    ]
    return f"Values with {' and '.join(words)} count twice."


def _in_panel(asked: FigureSection, rows: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Those of some other rows that belong to the panel of ``rows``, or to all panels."""
    name = asked["panel"]
    if not name or name not in other.columns:
        return other
    return other.filter(pl.col(name).is_null() | pl.col(name).is_in(rows[name].implode()))


def _choice(asked: FigureSection, rows: pl.DataFrame) -> str:
    """The caption sentences on the loads that ``steady`` and ``sustained`` leave out."""
    said = []
    rows = rows.filter(pl.col("metric") == asked["metric"])
    if asked["steady"]:
        named = [name for name in parameters(rows) if name != "series"]
        loads = rows.select(*named, STATE).unique()
        states = (QueueState.SATURATED, QueueState.UNDECIDED)
        left = [(loads.filter(pl.col(STATE) == state).height, state.value) for state in states]
        words = " and ".join(f"{number:,} {state}" for number, state in left if number)
        said += [f"Left out: {words} of {counted(len(loads), 'load')}."] if words else []
    if asked["sustained"] and rows.select(loads_of(rows)).unique().height > 1:
        said.append("Each mark is at the load with the highest accepted load of its configuration.")
    return " ".join(said)


def _means(asked: FigureSection, rows: pl.DataFrame, grouping: Grouping) -> pl.DataFrame:
    """A panel's data: a mean with its interval for each configuration, with its curve and place on
    the axis.
    """
    x = asked["x"]
    keys = dict.fromkeys([CURVE, x, *grouping.configuration])
    marks = [SHIPPED] if SHIPPED in rows.columns else []
    data = resolved(summarise(rows, list(keys)))
    more = [
        name for name in grouping.configuration if name in data.columns and name not in (CURVE, x)
    ]
    data = data.select(CURVE, x, "mean", "low", "high", "n", *marks, *more)
    renamed = (
        _renamed(asked, x, data) if asked["names"].get(x) else _listed(data, x, grouping.common)
    )
    if renamed is None:
        return data
    found = data.with_columns(renamed)
    # Two values with one name would share their places.
    alike = found.select(CURVE, x).n_unique() < data.select(CURVE, x).n_unique()
    return data.with_columns(pl.col(x).cast(pl.String)) if alike else found


def _listed(data: pl.DataFrame, x: str, shared: Sequence[str]) -> pl.Expr | None:
    """The labels for lists, and for machines without ``shared`` changes; `None` for other
    values.
    """
    machines = x == grouping_of.MACHINE and shared
    if data.schema[x] != pl.String or not (machines or grouping_of.lists(data, x)):
        return None
    values = data[x].unique(maintain_order=True).to_list()
    return pl.col(x).replace(dict(zip(values, axes.labels(x, values, shared), strict=True)))


def _axis_column(asked: FigureSection, rows: pl.DataFrame) -> tuple[FigureSection, pl.DataFrame]:
    """The horizontal axis by a name without dots, which Vega-Lite takes for a path: ``io.load`` for
    the job ``io``.
    """
    x: str = asked["x"]
    name = x.replace(".", "_")
    if name == x or x not in rows.columns:
        return asked, rows
    names = asked["names"] | ({name: asked["names"][x]} if x in asked["names"] else {})
    title = asked["x_title"] or axes.title(x)
    renamed = asked | {"x": name, "x_title": title, "names": names}
    return renamed, rows.with_columns(pl.col(x).alias(name))


def _with_policies(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with columns for their machines' rails and policies."""
    return with_policies(rows) if "machine" in rows.columns else rows


def _row_selection(asked: Rows) -> dict[str, object]:
    """The row selection: ``where``, and the series."""
    return {**({"series": asked["series"]} if asked["series"] else {}), **asked["where"]}


def _column(rows: pl.DataFrame, asked: FigureSection, key: str, name: str) -> str:
    """A column that a figure names; an error lists the columns if there is no such column."""
    if name not in rows.columns:
        have = parameters(rows)
        raise UsageError(
            f"the figure `{asked['name']}` has {key} = `{name}`, but the results have no such"
            f" parameter{did_you_mean(name, have)}\n  parameters: {', '.join(have)}"
        )
    return name


def _value_name(asked: FigureSection, name: str, value: object) -> str:
    """A value's name in a figure."""
    names: dict[str, str] = dict(asked["names"].get(name, []))
    return names.get(plain(value), grouped(value))


def _renamed(asked: FigureSection, name: str, rows: pl.DataFrame) -> pl.Expr:
    text = pl.col(name).cast(pl.String)
    if name in rows.columns and rows.schema[name].is_float():
        said = {value: plain(value) for value in rows[name].unique().drop_nulls()}
        text = pl.col(name).replace_strict(said, default=None, return_dtype=pl.String)
    names = dict(asked["names"].get(name, []))
    return text.replace(names) if names else text


def _with_names(asked: FigureSection, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with their curve's name, in legend order."""
    templates: list[str] = asked["curve"]
    columns = list(
        dict.fromkeys(name for template in templates for name in _COLUMN.findall(template))
    )
    unknown = [name for name in columns if name not in rows.columns and name not in asked["names"]]
    for name in unknown:
        _column(rows, asked, "curve", name)
    rows = padded(rows, **dict.fromkeys(columns, pl.String))
    parts = []
    for template in templates:
        inside = _COLUMN.findall(template)
        text = pl.format(
            _COLUMN.sub("{}", template), *(_renamed(asked, name, rows) for name in inside)
        )
        # A template without columns is complete.
        lacking = pl.any_horizontal(
            pl.lit(False),
            *(empty(rows, name) | (_renamed(asked, name, rows) == "") for name in inside),
        )
        parts.append(pl.when(~lacking).then(text))
    curve = (
        pl.concat_str(parts, separator=", ", ignore_nulls=True)
        if parts
        else pl.lit(asked["metric"])
    )
    ranks = [
        pl.col(name)
        .cast(pl.String)
        .fill_null("")
        .replace_strict({value: rank for rank, (value, _) in enumerate(names)}, default=len(names))
        for name in columns
        if (names := asked["names"].get(name))
    ]
    rows = rows.with_columns(curve.alias(CURVE), curve.alias(TEMPLATE))
    return rows.sort(ranks, maintain_order=True) if ranks else rows
