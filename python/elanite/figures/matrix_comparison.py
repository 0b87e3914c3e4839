"""Several points' congestion matrices on one time scale, and their differences.

The pictures come from ``matrix``, with sums in µs in place of shares of the most loaded link: a
colour is the same time in every picture on a page, for links and for switches each. A list chooses
the point; a second picture has two lists, and shows the first point less the second one. Points on
one network share a picture, points on other networks have separate pictures with the same scale.
Points with time slices have the ``matrix`` slider, and separate pictures beside points without
slices, or with slices at other times.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.base.text import counted, number
from elanite.figures.matrix import LEAVING, moments_of, of_delays, of_waits
from elanite.figures.matrix_places import (
    DIGITS,
    HEAD,
    LEFT,
    SEVERAL,
    WIDTH,
    View,
    blocks,
    grouped,
    layout,
    maxima,
    parts_of,
)
from elanite.figures.style import FORMAT, RULE, SLIDES, Figure, layered, pixels
from elanite.results.congestion import HEAT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from elanite.results.congestion import Matrix

LESS_MORE = [
    "#08519c",
    "#3182bd",
    "#6baed6",
    "#bdd7e7",
    "#f7f7f7",
    "#fdbe85",
    "#fd8d3c",
    "#e6550d",
    "#a63603",
]
"""Blue for less, white for equal, orange for more: both ends are dark, and differ for the
colour-blind.
"""

MOST_NUMBERS = 300_000
"""Squares times points times moments for which a picture has its slices."""

FAINT = 10
"""A network gets a note if its highest sums are this factor below the darkest colour's."""

MOST_ROWS = 200
"""Rows in the table behind a picture: the most loaded links and switches."""


KINDS: list[tuple[str, str, Callable[[Matrix], View]]] = [
    ("waits", f"Waits for {LEAVING}", of_waits),
    ("delays", "Delays of the packets on each link", of_delays),
]
"""A network's pictures: their names, titles and views."""


_Slices = tuple[str, ...]


@dataclass(frozen=True)
class PicturePoint:
    """A picture's point."""

    label: str
    matrix: Matrix


@dataclass(frozen=True)
class _Picture:
    """One network's squares, with all its points' sums in µs."""

    cases: Sequence[PicturePoint]
    squares: pl.DataFrame
    """``kind``, ``x``, ``x2``, ``y``, ``y2``, ``name``, and the lists ``us`` (the first point's
    moments, the second one's, and so on) and ``down`` (whether the link failed, by point).
    """
    labels: pl.DataFrame
    height: int
    moments: list[str]
    """The time slices, then the measured window; only the window if not all points have slices."""
    largest: dict[str, float]
    """The largest sum for any link and for any switch, exactly: the squares' sums are rounded."""


def draw(cases: Sequence[PicturePoint], start: int = 0) -> list[Figure]:
    """The wait and delay pictures, and their differences if there are two points or more.

    All of a network's pictures show the same point at first: the one at the place ``start``, or the
    one with the longest waits if ``start`` is on another network.
    """
    if not cases:
        return []
    found: list[Figure] = []
    networks: dict[tuple[str, _Slices], list[PicturePoint]] = {}
    for case in cases:
        wires = case.matrix.links.select("link", "from", "to").sort("link").write_csv()
        networks.setdefault((wires, _slices(case)), []).append(case)
    several = len(networks) > 1
    apart = [_network_title(*key, networks, here) for key, here in networks.items()]
    for kind, title, view in KINDS:
        pictures = [_picture(here, view) for here in networks.values()]
        most = _largest_sums(pictures)
        if not any(most.values()):
            continue
        scale = _scale(most, len(cases))
        for place, (of, here, picture) in enumerate(
            zip(apart, networks.values(), pictures, strict=True), 1
        ):
            name = f"{kind}-{place}" if several else kind
            ends = _ends(here, cases[start])
            caption = _caption(view(here[0].matrix), most, scale, picture)
            found.append(
                Figure(
                    name,
                    title + of,
                    "",
                    caption,
                    _chart(picture, name, most, ends),
                    True,
                    _reader_table(picture),
                )
            )
            if len(here) > 1:
                name, caption = (
                    f"{name}-difference",
                    f"The first point less the second one. {scale}",
                )
                if grouped(view(here[0].matrix)):
                    caption += f" {SEVERAL} In the two points these may be different ones."
                caption += _crosses(picture, " in the first or the second point")
                chart, data = (
                    _chart(picture, name, most, ends, difference=True),
                    _differences(picture, ends),
                )
                found.append(
                    Figure(
                        name,
                        f"{title}{of}: difference of two points",
                        "",
                        caption,
                        chart,
                        True,
                        data,
                    )
                )
    return found


def _slices(case: PicturePoint) -> _Slices:
    """A point's time slices, and its measured window; empty without slices."""
    return tuple(moments_of(case.matrix)) if case.matrix.slice_count else ()


def _network_title(
    wires: str,
    slices: _Slices,
    networks: Collection[tuple[str, _Slices]],
    cases: Sequence[PicturePoint],
) -> str:
    """A network's size, and its slices, as far as a title needs them to distinguish its picture."""
    words = []
    if len({one for one, _ in networks}) > 1:
        words.append(counted(cases[0].matrix.switches.height, "switch", "switches"))
    if len([of for one, of in networks if one == wires]) > 1:
        first = (
            f"{counted(len(slices) - 1, 'slice')} of {slices[0].removeprefix('0 to ')}"
            if slices
            else ""
        )
        words.append(first or "without slices of time")
    return "".join(f", {one}" for one in words)


def still_pictures(cases: Sequence[PicturePoint]) -> Iterator[Figure]:
    """Each point's waits and delays in its measured window, for pictures without lists; all have
    one scale.
    """
    for kind, title, view in KINDS:
        pictures = [_picture([case], view, sliced=False) for case in cases]
        most = _largest_sums(pictures)
        if not any(most.values()):
            continue
        scale = _scale(most, len(cases))
        for place, (case, picture) in enumerate(zip(cases, pictures, strict=True), 1):
            name = f"{kind}-{place}"
            heading = ", ".join(filter(None, [title, case.label]))
            chart = _chart(picture, name, most, (0, 0)).properties(title=heading)
            yield Figure(
                name,
                heading,
                "",
                _caption(view(case.matrix), most, scale, picture, still=True),
                chart,
                True,
                _reader_table(picture),
            )


def _picture(
    cases: Sequence[PicturePoint], view: Callable[[Matrix], View], *, sliced: bool = True
) -> _Picture:
    views = [view(case.matrix) for case in cases]
    _, labels, height = layout(views[0])
    tables = [parts_of(layout(one)[0], one) for one in views]
    counts = {case.matrix.slice_count for case in cases}
    squares = sum(len(table) for table in tables)
    sliced = sliced and counts != {0}
    moments = moments_of(cases[0].matrix)
    if not sliced or squares * len(moments) > MOST_NUMBERS:
        window = {case.matrix.window for case in cases}
        moments = moments[-1:] if len(window) == 1 else ["measured window"]
    us = zip(*(table["delays"].to_list() for table in tables), strict=True)
    down = zip(
        *(
            (table["failed"] if "failed" in table.columns else [False] * len(table))
            for table in tables
        ),
        strict=True,
    )
    return _Picture(
        cases,
        tables[0]
        .select(
            *("kind", "x", "x2", "y", "y2"), pl.col("name").str.replace("; in the window.*", "")
        )
        .with_columns(
            us=pl.Series(
                [[v for one in each for v in one[-len(moments) :]] for each in us],
                dtype=pl.List(pl.Float64),
            ),
            down=pl.Series([list(each) for each in down], dtype=pl.List(pl.Boolean)),
        ),
        labels,
        height,
        moments,
        {
            kind: max(us for one in views for us in maxima(one)[kind][-len(moments) :])
            for kind in ("link", "switch")
        },
    )


def _largest_sums(pictures: Sequence[_Picture]) -> dict[str, float]:
    """The largest sum for any link and for any switch, over all points and moments, in µs."""
    return {kind: max(picture.largest[kind] for picture in pictures) for kind in ("link", "switch")}


def _scale(most: dict[str, float], points: int) -> str:
    """The caption sentence on the darkest colours. Waits and delays have scales of their own."""
    darkest = (
        f"darkest link has {number(most['link'])} µs, the darkest switch"
        f" {number(most['switch'])} µs."
    )
    return f"{'The' if points == 1 else 'All points have the same colours: the'} {darkest}"


def _caption(
    view: View, most: dict[str, float], scale: str, picture: _Picture, *, still: bool = False
) -> str:
    said = f"{blocks(view)}{view.says} Sums in µs; k is 1,000 µs. {scale}"
    if len(picture.moments) > 1:
        said += f" {SLIDES}"
    elif not still and any(case.matrix.slice_count for case in picture.cases):
        said += (
            ' The slices of time are too many for this picture: result.table("slices") has them.'
        )
    own = _largest_sums([picture])
    for kind in ("link", "switch"):
        if 0 < own[kind] < most[kind] / FAINT:
            said += (
                f" The highest {kind} of this network has {number(own[kind])} µs, and is pale on"
                " this scale."
            )
    return said + _crosses(picture, " in this point")


def _crosses(picture: _Picture, where: str) -> str:
    failed = any(case.matrix.failed for case in picture.cases)
    return f" A cross in place of a number marks links that were down{where}." if failed else ""


def _ends(cases: Sequence[PicturePoint], start: PicturePoint) -> tuple[int, int]:
    """The places of the first shown point, and of another one with the shortest waits, for the
    difference.
    """
    waits = [float(case.matrix.links["waiting_us"].sum()) for case in cases]
    hot = next(
        (place for place, case in enumerate(cases) if case is start), waits.index(max(waits))
    )
    others = [place for place in range(len(cases)) if place != hot]
    return hot, min(others, key=lambda place: waits[place], default=hot)


def _chart(
    picture: _Picture,
    name: str,
    most: dict[str, float],
    ends: tuple[int, int],
    *,
    difference: bool = False,
) -> alt.LayerChart:
    steps = len(picture.moments)
    safe = "".join(one if one.isalnum() else "_" for one in name)
    params = [
        _chosen(f"point_{safe}", "point " if not difference else "first point ", ends[0], picture)
    ]
    moment = alt.param(name=f"moment_{safe}", value=steps)
    if steps > 1:
        slider = alt.binding_range(
            min=1, max=steps, step=1, name="time slice, then the measured window "
        )
        moment = alt.param(name=moment.name, value=steps, bind=slider)
    params.append(moment)
    if difference:
        params.insert(1, _chosen(f"other_{safe}", "less second point ", ends[1], picture))
    points = [one for one in params if one is not moment]
    value = f"datum.us[{params[0].name} * {steps} + {moment.name} - 1]"
    if difference:
        value += f" - datum.us[{params[1].name} * {steps} + {moment.name} - 1]"
    layers = [
        layer
        for kind in ("link", "switch")
        for layer in _squares(
            picture, kind, most, value, [one.name for one in points], difference=difference
        )
    ]
    rows = alt.Chart(picture.labels).encode(
        x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None), text=alt.Text("text:N")
    )
    layers += [
        rows.transform_filter(alt.FieldEqualPredicate(field="align", equal=align)).mark_text(
            align=align, baseline="middle", color=RULE, fontSize=11
        )
        for align in ("left", "center")
    ]
    layers.append(_head(picture, [one.name for one in points], moment.name))
    return layered("", layers, WIDTH, picture.height).add_params(*params)


def _squares(
    picture: _Picture,
    kind: str,
    most: dict[str, float],
    value: str,
    points: list[str],
    *,
    difference: bool,
) -> list[alt.Chart | alt.LayerChart]:
    """The links or the switches: squares in their sums' colour, sums in digits, and crosses on
    failed ones.
    """
    x, y = pixels(WIDTH, picture.height)
    tooltip = [
        alt.Tooltip("name:N", title="where"),
        alt.Tooltip("sum:Q", title=f"{'difference' if difference else 'sum'}, µs", format=FORMAT),
    ]
    layers: list[alt.Chart | alt.LayerChart] = []
    end = most[kind] or 1.0
    scale = alt.Scale(
        domain=[-end, end] if difference else [0, end], range=LESS_MORE if difference else HEAT
    )
    # Labels at the very ends are aligned inwards; a centred one near an end would lose its sign at
    # the margin.
    legend = alt.Legend(
        orient="bottom",
        direction="horizontal",
        gradientLength=240,
        titleLimit=320,
        values=[-end, 0, end] if difference else [0, end / 2, end],
        format=",.4~r",
    )
    # Two channels with separate scales: switch sums are larger than link sums.
    channel = alt.Color if kind == "link" else alt.Fill
    of = (
        f"{kind}, µs" if most["link"] != most["switch"] else "link and switch, µs"
    )  # equal scales have one legend
    title = f"difference of {of}" if difference else of
    colour = channel("sum:Q", title=title, scale=scale, legend=legend)
    here = (
        alt.Chart(picture.squares.filter(pl.col("kind") == kind))
        .transform_calculate(sum=value, failed=" || ".join(f"datum.down[{one}]" for one in points))
        .transform_calculate(centre="(datum.x + datum.x2) / 2", middle="(datum.y + datum.y2) / 2")
    )
    wide = f"datum.x2 - datum.x >= {DIGITS}"
    layers.append(
        here.mark_rect(stroke="#9a9a9a").encode(
            x=x,
            x2=alt.X2("x2:Q"),
            y=y,
            y2=alt.Y2("y2:Q"),
            **{"color" if kind == "link" else "fill": colour},
            strokeWidth=alt.condition(wide, alt.value(0.6), alt.value(0.2)),
            tooltip=tooltip,
        )
    )
    for tone, sign in (("#ffffff", ">"), ("#1b1f24", "<=")):
        layers.append(
            here.transform_filter(
                f"datum.x2 - datum.x >= {1.6 * DIGITS} && !datum.failed && abs(datum.sum) {sign}"
                f" {0.55 * end}"
            )
            .transform_calculate(text=_SHORT)
            .mark_text(baseline="middle", fontSize=13 if kind == "switch" else 9, color=tone)
            .encode(
                x=alt.X("centre:Q", axis=None),
                y=alt.Y("middle:Q", axis=None),
                text=alt.Text("text:N"),
                tooltip=tooltip,
            )
        )
    if kind == "link" and any(case.matrix.failed for case in picture.cases):
        crosses = here.transform_filter("datum.failed").mark_point(
            shape="cross", angle=45, size=90, filled=False, strokeWidth=2, color=RULE
        )
        layers.append(
            crosses.encode(
                x=alt.X("centre:Q", axis=None), y=alt.Y("middle:Q", axis=None), tooltip=tooltip
            )
        )
    return layers


_SHORT = (
    "abs(datum.sum) >= 9999.5 ? format(datum.sum / 1000, '.0f') + 'k' : abs(datum.sum) >= 9.95 ||"
    " abs(datum.sum) < 0.05 ? format(datum.sum, '.0f') : format(datum.sum, '.1f')"
)
"""Vega expression for a sum in µs with four characters at most."""


def _chosen(name: str, title: str, value: int, picture: _Picture) -> alt.Parameter:
    """A list with a picture's points; a picture with one point has no list."""
    labels = [case.label or "all" for case in picture.cases]
    if len(labels) == 1:
        return alt.param(name=name, value=0)
    return alt.param(
        name=name,
        value=value,
        bind=alt.binding_select(options=list(range(len(labels))), labels=labels, name=title),
    )


LETTERS = 140
"""Letters that the line above a picture has room for."""


def _head(picture: _Picture, points: Sequence[str], moment: str) -> alt.Chart:
    """The line above a picture: its points and its moment; two lines for two points with long
    names.
    """
    labels = json.dumps([case.label for case in picture.cases])
    first, *others = (f"{labels}[{name}]" for name in points)
    end = f"datum.moments[{moment} - 1]"
    text, y = f"{first} + ({first} ? ', ' : '') + {end}", str(HEAD / 3)
    if others:
        second = f"'less ' + {others[0]} + ', ' + {end}"
        text = f"{first} + ' ' + {second}"
        long = f"length({text}) > {LETTERS}"
        text, y = f"{long} ? [{first}, {second}] : {text}", f"{long} ? 0 : {y}"
    chart: alt.Chart = (
        alt.Chart(pl.DataFrame({"moments": [picture.moments], "x": [float(LEFT)]}))
        .transform_calculate(text=text, y=y)
        .mark_text(align="left", baseline="middle", color=RULE, fontSize=13, limit=WIDTH - LEFT)
        .encode(x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None), text=alt.Text("text:N"))
    )
    return chart


def _differences(picture: _Picture, ends: tuple[int, int]) -> pl.DataFrame:
    """The sums for the two points that the picture shows first, and their difference: the largest
    differences first.
    """
    steps = len(picture.moments)
    names = [f"{picture.cases[place].label}, µs" for place in ends]
    one, other = (
        pl.col("us").list.get(place * steps + steps - 1).alias(name)
        for place, name in zip(ends, names, strict=True)
    )
    less = "first less second, µs"
    found = picture.squares.select(pl.col("name").alias("where"), one, other)
    found = found.with_columns((pl.col(names[0]) - pl.col(names[1])).round(2).alias(less))
    return found.sort(pl.col(less).abs(), descending=True, maintain_order=True).head(MOST_ROWS)


def _reader_table(picture: _Picture) -> pl.DataFrame:
    """The sums in every point's measured window, for readers: the most loaded links and switches
    first.
    """
    steps = len(picture.moments)
    window = pl.col("us").list
    columns = [
        window.get(place * steps + steps - 1).alias(f"{case.label or 'sum'}, µs")
        for place, case in enumerate(picture.cases)
    ]
    return (
        picture.squares.sort(pl.col("us").list.max(), descending=True, maintain_order=True)
        .head(MOST_ROWS)
        .select(pl.col("name").alias("where"), *columns)
    )
