"""A timeline's drawing: lanes, messages and load, with zoom and pointer, from the data inside the
page.

The browser draws ``lanes.Timeline`` data with the script ``timeline.js``, without further requests.
The drawing counts messages that are not drawn at the present zoom, and its caption has the data's
bounds.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from elanite.base import html
from elanite.report.pages.frame import Drawing, template
from elanite.report.pages.lanes import GROUPS, group

if TYPE_CHECKING:
    from elanite.report.pages.lanes import Timeline

NAMES = {
    "send": "sends",
    "receive": "receives",
    "exchange": "sends and receives in one call",
    "wait": "waits and tests",
    "collective": "collective operations",
    "one-sided": "one-sided operations",
    "compute": "computation",
    "unended": "not ended at the end of the replay",
    "other": "other calls",
}
"""The groups in the legend."""

_BUTTONS = (
    ("in", "+", "Zoom in"),
    ("out", "-", "Zoom out"),
    ("left", "◂", "Earlier"),
    ("right", "▸", "Later"),
    ("whole", "All", "The whole run"),
    ("taller", "Taller", "Taller lanes"),
    ("flatter", "Flatter", "Flatter lanes"),
)


def drawing(timeline: Timeline, title: str = "Timeline") -> Drawing:
    """A timeline's drawing."""
    calls = timeline.rows == ("calls",)
    buttons = "".join(
        f'<button type="button" data-do="{do}" title="{name}" aria-label="{name}">{sign}</button>'
        for do, sign, name in _BUTTONS
    )
    messages = len(timeline.messages)
    box = (
        '<label><input type="checkbox" class="lines" checked> messages</label>' if messages else ""
    )
    used = {group(name) for name, _ in timeline.kinds}
    keys = [(f"var(--{one})", NAMES[one]) for one in GROUPS if one in used]
    keys.append(("var(--lane)", "outside of calls" if calls else "free"))
    if timeline.ends:
        keys.append(("#e0928c", "after the last call that ended: waits at the end of the run"))
    legend = "".join(
        f'<li><i style="background:{colour}"></i>{escape(name)}</li>' for colour, name in keys
    )
    links = ""
    if len(timeline.links):
        links = (
            '<p class="quiet">Load of links, in each period</p><canvas class="links" role="img"'
            ' aria-label="Load over time for the busiest links; the links table has the'
            ' sums."></canvas><ul class="legend"><li><i class="ramp" style="width:70px"></i>0 to'
            " 100% of the bandwidth</li></ul>"
        )
    return Drawing(
        title=title,
        markup=(
            f'<div class="timeline" tabindex="0" role="group" aria-label="{escape(title)}"><div'
            f' class="tools">{buttons}{box}<span class="span"></span></div><canvas class="ruler"'
            ' aria-hidden="true"></canvas><div class="box"><div class="all"><canvas class="lanes"'
            ' role="img" aria-label="A lane for each rank with its'
            f" {'calls' if calls else 'operations'}; the tables below have the"
            f' sums."></canvas></div></div><ul class="legend">{legend}</ul>{links}<p class="pointed'
            ' quiet">Point at an interval, a message or a link to see its times and'
            " sizes.</p><script"
            f' type="application/json">{html.embedded(timeline.as_json())}</script></div>'
        ),
        caption=" ".join([*_about(timeline, calls=calls), *timeline.notes()]),
        style=template("timeline.css"),
        script=template("timeline.js"),
    )


def _about(timeline: Timeline, *, calls: bool) -> list[str]:
    """The drawing's meaning, in sentences."""
    if calls:
        found = [
            "A lane is a rank, an interval a call; the lane is light where the rank is outside of"
            " calls."
        ]
    else:
        found = [
            "A lane is a rank with three rows: computation, sends, receives. An interval begins"
            " when the dependencies of the operation are met, and ends with the operation;"
            " operations that are pending together overlap."
        ]
    if any(group(name) == "unended" for name, _ in timeline.kinds):
        unarrived = "; messages that had not arrived have no line"
        found.append(f"Operations that had not ended last until the end of the replay{unarrived}.")
    if len(timeline.messages):
        found.append("A line leads from the posting of a message to its arrival at the receiver.")
    found.append(
        "Drag moves, + and - zoom, as does the wheel after a click; a double click shows all."
    )
    return found
