"""The figures that experiment files ask for by ``[[figure]]``, made of the layers of ``curves`` and ``style``.

The simulator checks the keys when it reads the file (``crates/experiment/src/figure.rs`` describes every key). This
module selects the rows, names the curves and fills in the texts. A figure without rows is left out.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from elanite import claims
from elanite.errors import UsageError
from elanite.figures import curves as layers_of
from elanite.figures.colours import PALETTE
from elanite.figures.style import (
    BYTES,
    MARKS,
    RULE,
    Figure,
    colour,
    layered,
    published,
    published_at,
    size_axis,
)
from elanite.frames import padded, parameters, summarise, sustained
from elanite.policies import told
from elanite.select import chosen, empty
from elanite.sources import did_you_mean
from elanite.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elanite.claims import Claim
    from elanite.figures.curves import Layers

Asked = dict[str, Any]
"""A ``[[figure]]`` with all of its keys."""

BARS = "Bars are 95% confidence intervals over batches and seeds."

_COLUMN = re.compile(r"\{([^{}]+)\}")


def panels(asked: Asked, rows: pl.DataFrame) -> Iterator[tuple[Asked, pl.DataFrame]]:
    """The figure with its texts filled in, and its rows, for each panel."""
    rows = chosen(rows, _where(asked))
    if rows.is_empty():
        return
    if not asked["panel"]:
        yield filled(asked, rows), rows
        return
    values = rows[_column(rows, asked, "panel")].unique(maintain_order=True).drop_nulls().to_list()
    for letter, value in zip("abcdefghijklmnopqrstuvwxyz", values, strict=False):
        here = rows.filter(pl.col(asked["panel"]) == value)
        yield filled(asked, here, letter=letter), here


def filled(asked: Asked, rows: pl.DataFrame, **known: str) -> Asked:
    """The texts with the first value of each column that they name."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in known or name not in rows.columns:
            return known.get(name, found[0])
        first = rows[name].drop_nulls().head(1).to_list()
        return _said(asked, name, first[0]) if first else ""

    texts = ("name", "title", "paper", "caption", "dashed")
    return asked | {text: _COLUMN.sub(value, asked[text]) for text in texts}


def figure(asked: Asked, layers: Layers, words: str = "", dashed: bool = False) -> Figure:
    """The figure of some layers; ``words`` are the caption of its kind."""
    caption = " ".join(text for text in (asked["caption"], words, asked["dashed"] if dashed else "") if text)
    return Figure(asked["name"], asked["title"], asked["paper"], caption, layered(asked["title"], layers))


def over(asked: Asked, rows: pl.DataFrame) -> Iterator[Figure]:
    """Means with their intervals over a parameter, as curves or as bars."""
    asked, rows = _axis_column(asked, _told(rows))
    beside = chosen(rows, _where(asked["beside"])) if asked["beside"] else rows.clear()
    for panel, here in panels(asked, rows):
        data = _means(panel, here)
        if data.is_empty() or (panel["draw"] == "curves" and panel["x"] in here.columns and _one(data[panel["x"]])):
            continue
        title = panel["y_title"] or panel["metric"].replace("_", " ")
        words = BARS if (data["high"] - data["low"]).max() else ""
        if panel["draw"] == "bars":
            yield figure(panel, _bars(panel, data, title), words)
            continue
        axis = _axis(panel, data)
        unit = title.rsplit(", ", 1)[-1] if ", " in title else ""
        found = layers_of.curves(
            data, "curve", panel["legend"], axis, title, unit, log=panel["log"], digits=_digits(data)
        )
        rules = _published(panel, here)
        rules += _beside(panel, _means(panel, beside), data) if not beside.is_empty() else []
        if panel["mark"] is not None:
            line = alt.Chart(pl.DataFrame({"x": [panel["mark"]]})).mark_rule(strokeDash=[6, 4], color=RULE)
            rules.append(line.encode(x=alt.X("x:Q")))
        yield figure(panel, found + rules, words, bool(rules))


def loads(asked: Asked, rows: pl.DataFrame) -> Iterator[Figure]:
    """Accepted over offered load; all panels have the same axes, so that they can be compared."""
    drawn = []
    for panel, here in panels(asked, _told(rows)):
        named = _named(panel, here)
        accepted, offered = panel["metric"] or "accepted", panel["offered"] or "offered"
        data = layers_of.of_loads(named, ["curve", "load_MBps"], accepted, offered)
        if not data.is_empty():
            drawn.append((panel, here, data))
    if not drawn:
        return
    to = layers_of.ends(pl.concat([data for *_, data in drawn]))
    for panel, here, data in drawn:
        unit = panel["y_title"].rsplit(", ", 1)[-1] or "MB/s per node"
        rules = _published(panel, here)
        found = layers_of.loads(data, "curve", panel["legend"], unit, digits=_digits(data), to=to)
        yield figure(panel, found + rules, layers_of.SATURATED, bool(rules))


def _axis_column(asked: Asked, rows: pl.DataFrame) -> tuple[Asked, pl.DataFrame]:
    """The horizontal axis by a name without dots, which Vega-Lite takes for a path: ``io.load`` of the job ``io``."""
    x: str = asked["x"]
    name = x.replace(".", "_")
    if name == x or x not in rows.columns:
        return asked, rows
    names = asked["names"] | ({name: asked["names"][x]} if x in asked["names"] else {})
    return asked | {"x": name, "x_title": asked["x_title"] or x, "names": names}, rows.with_columns(
        pl.col(x).alias(name)
    )


def _one(places: pl.Series) -> bool:
    """Whether a curve would be one point."""
    return places.n_unique() < 2


def _told(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with columns for the rails and policies of their machines."""
    return told(rows) if "machine" in rows.columns else rows


def _where(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The selection of rows: ``where``, and the series."""
    series = {"series": asked["series"]} if asked["series"] else {}
    return {**series, **asked["where"]}


def _column(rows: pl.DataFrame, asked: Asked, key: str) -> str:
    """A column that a figure names; an error lists the columns if there is no such column."""
    name: str = asked[key]
    if name not in rows.columns:
        have = parameters(rows)
        raise UsageError(
            f"the figure `{asked['name']}` has {key} = `{name}`, but the results have no such parameter"
            f"{did_you_mean(name, have)}\n  parameters: {', '.join(have)}"
        )
    return name


def _said(asked: Asked, name: str, value: object) -> str:
    """The name of a value in a figure."""
    names: dict[str, str] = dict(asked["names"].get(name, []))
    return names.get(plain(value), f"{value:,}" if isinstance(value, int) else str(value))


def _renamed(asked: Asked, name: str) -> pl.Expr:
    text = pl.col(name).cast(pl.String)
    names = dict(asked["names"].get(name, []))
    return text.replace(names) if names else text


def _named(asked: Asked, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the name of their curve, in the order of the legend."""
    templates: list[str] = asked["curve"]
    columns = list(dict.fromkeys(name for template in templates for name in _COLUMN.findall(template)))
    unknown = [name for name in columns if name not in rows.columns and name not in asked["names"]]
    for name in unknown:
        _column(rows, asked | {"curve": name}, "curve")
    rows = padded(rows, **dict.fromkeys(columns, pl.String))
    parts = []
    for template in templates:
        inside = _COLUMN.findall(template)
        text = pl.format(_COLUMN.sub("{}", template), *(_renamed(asked, name) for name in inside))
        # A template without columns lacks nothing.
        lacking = pl.any_horizontal(
            pl.lit(False), *(empty(rows, name) | (_renamed(asked, name) == "") for name in inside)
        )
        parts.append(pl.when(~lacking).then(text))
    curve = pl.concat_str(parts, separator=", ", ignore_nulls=True) if parts else pl.lit(asked["metric"])
    ranks = [
        pl.col(name)
        .cast(pl.String)
        .fill_null("")
        .replace_strict({value: rank for rank, (value, _) in enumerate(names)}, default=len(names))
        for name in columns
        if (names := asked["names"].get(name))
    ]
    rows = rows.with_columns(curve=curve)
    return rows.sort(ranks, maintain_order=True) if ranks else rows


def _means(asked: Asked, rows: pl.DataFrame) -> pl.DataFrame:
    """The data of the figure: a mean with its interval for each curve and place on the axis."""
    if rows.is_empty():
        return rows
    x = asked["x"]
    if x not in rows.columns and x in rows["metric"]:
        keys = [name for name in parameters(rows) if name != "series"]
        of = rows.filter(pl.col("metric") == x).group_by(keys, maintain_order=True).agg(pl.col("value").mean().alias(x))
        rows = rows.join(of, on=keys, nulls_equal=True, maintain_order="left")
    _column(rows, asked, "x")
    if asked["steady"]:
        keys = [name for name in parameters(rows) if name not in ("series", x)]
        state = pl.col("value").filter(pl.col("metric") == "saturated").max().over(keys)
        rows = rows.filter(state.fill_null(0.0) < 0.5)
    here = rows.filter(pl.col("metric") == asked["metric"])
    if here.is_empty():
        return here
    here = sustained(here) if asked["sustained"] else here
    here = _named(asked, here.unique(subset=[n for n in here.columns if n != "series"], maintain_order=True))
    if asked["twice"]:
        again = chosen(here.with_row_index("_row"), asked["twice"])["_row"]
        twice = pl.int_range(pl.len()).is_in(again.implode())
        here = here.with_columns(value=pl.when(twice).then(2 * pl.col("value")).otherwise("value"))
    if asked["names"].get(x):
        here = here.with_columns(_renamed(asked, x))
    return summarise(here, ["curve", x])


def _axis(asked: Asked, data: pl.DataFrame) -> alt.X:
    x, scale = asked["x"], asked["x_scale"]
    title = asked["x_title"] or x.replace("_", " ")
    marks = data[x].unique().sort().to_list()
    if scale == "sizes":
        return size_axis(x, title, marks)
    if scale == "steps":
        sizes = x.endswith("_bytes")
        shown = [mark for mark in marks if mark == 0 or mark in MARKS] if sizes else marks
        label = BYTES if sizes else alt.Undefined
        # Published values may stand where no point is finished yet.
        stated = [one["x"] for one in asked["published"] if one["x"] is not None and one["x"] not in marks]
        domain = sorted([*marks, *stated]) if all(isinstance(one, int | float) for one in stated) else marks + stated
        along = alt.Scale(domain=domain)
        return alt.X(f"{x}:O", scale=along, title=title, axis=alt.Axis(values=shown, labelExpr=label, labelAngle=0))
    if scale == "log":
        along = alt.Scale(type="log", base=2, domain=[marks[0], marks[-1]], nice=False)
        return alt.X(f"{x}:Q", title=title, scale=along, axis=alt.Axis(values=marks, format=",d", grid=False))
    if scale == "decades":
        along = alt.Scale(type="log", domain=[marks[0], marks[-1]], nice=False)
        tens = [10.0**power for power in range(math.floor(math.log10(marks[0])), math.ceil(math.log10(marks[-1])) + 1)]
        return alt.X(f"{x}:Q", title=title, scale=along, axis=alt.Axis(values=tens, format="~e", grid=False))
    axis = alt.Axis(values=marks, grid=False) if data.schema[x].is_integer() else alt.Undefined
    return alt.X(f"{x}:Q", title=title, axis=axis)


def _digits(data: pl.DataFrame) -> int:
    """Digits after the point, for parts or for MB/s."""
    most = data["high"].max()
    return 3 if isinstance(most, float) and most < 10 else 1


def _published(asked: Asked, rows: pl.DataFrame) -> Layers:
    """The published values of the claims that the rows do not contradict."""
    stated = {claim.id: claim for claim in claims.claims()}
    layers: Layers = []
    for entry in asked["published"]:
        claim = stated.get(entry["claim"])
        if claim is None:
            raise UsageError(
                f"the figure `{asked['name']}` has published values of `{entry['claim']}`, which is no claim"
                f"{did_you_mean(entry['claim'], list(stated))}"
            )
        if _fits(claim, rows):
            if entry["x"] is not None:
                layers += published_at(asked["x"], {claim.id: entry["x"]})
            else:
                rule = published(claim.id, label=entry["label"])
                layers += rule if entry["label"] else rule[:1]
    return layers


def _fits(claim: Claim, rows: pl.DataFrame) -> bool:
    """Whether rows have the parameters of a claim; parameters with several values do not count."""
    alike = [(name, values) for name, values in claim.where if name in rows.columns and rows[name].n_unique() == 1]
    return not chosen(rows, {name: list(values) for name, values in alike}).is_empty()


def _beside(asked: Asked, other: pl.DataFrame, data: pl.DataFrame) -> Layers:
    """The curves of other rows, dashed, as far as the solid curves reach."""
    x = asked["x"]
    order = data["curve"].unique(maintain_order=True).to_list()
    steps = asked["x_scale"] == "steps"
    along = pl.col(x).is_in(data[x].implode()) if steps else pl.col(x).is_between(data[x].min(), data[x].max())
    same = other.filter(pl.col("curve").is_in(order) & along)
    kind = "O" if steps else "Q"
    line = alt.Chart(same).mark_line(strokeDash=[4, 3], strokeWidth=1.2)
    tint = colour("curve", order, asked["legend"])
    return [line.encode(x=alt.X(f"{x}:{kind}"), y=alt.Y("mean:Q"), color=tint)] if len(same) else []


def _bars(asked: Asked, data: pl.DataFrame, title: str) -> Layers:
    """Bars with their intervals, side by side where there are several curves."""
    x = asked["x"]
    curves = data["curve"].unique(maintain_order=True).to_list()
    steps = data[x].unique(maintain_order=True).to_list()
    base = alt.Chart(data).encode(
        x=alt.X(f"{x}:N", title=asked["x_title"] or x, sort=steps, axis=alt.Axis(labelAngle=0)),
        color=colour("curve", curves, asked["legend"]) if len(curves) > 1 else alt.Undefined,
        xOffset=alt.XOffset("curve:N", sort=curves) if len(curves) > 1 else alt.Undefined,
    )
    ends = [alt.Tooltip(f"{end}:Q", format=".1f") for end in ("mean", "low", "high")]
    look: dict[str, Any] = {} if len(curves) > 1 else {"size": 70, "color": PALETTE[0]}
    bars = base.mark_bar(**look).encode(
        y=alt.Y("mean:Q", title=title), tooltip=[alt.Tooltip(x), alt.Tooltip("curve"), *ends]
    )
    rules = base.mark_rule(strokeWidth=1.5).encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"), color=alt.ColorValue(RULE)
    )
    return [bars, rules]
