"""Figure 6 of 004 as it goes on: what adapters in a circle get done, with livelock avoidance and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from elanite.figures.style import Figure, colour, layered
from elanite.frames import summarise
from elanite.policies import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = {"false": "without the procedure", "true": "with the procedure"}


def draw(rows: pl.DataFrame) -> Iterator[Figure]:
    """Messages that each node of the circle has sent."""
    here = rows.filter(pl.col("metric") == "messages")
    if here.is_empty():
        return
    told = {machine: WORDS.get(changes(machine).get("rails.avoidance", ""), machine) for machine in here["machine"]}
    # Each node has a job of its own.
    names = {job: f"node {here[f'{job}.nodes'][0]}" for job in here["job"].unique(maintain_order=True)}
    node = pl.col("job").replace_strict(names)
    data = summarise(here).with_columns(procedure=pl.col("machine").replace_strict(told), node=node)
    title = "Three adapters that ask each other in a circle"
    base = alt.Chart(data).encode(
        x=alt.X("node:N", title=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("procedure:N", sort=list(WORDS.values())),
        y=alt.Y("mean:Q", title="messages sent"),
        color=colour("procedure", list(WORDS.values()), "livelock avoidance"),
        tooltip=["node", "procedure", alt.Tooltip("mean:Q", title="messages")],
    )
    number = base.mark_text(dy=-6).encode(text=alt.Text("mean:Q", format=".0f"), color=alt.value("#888888"))
    caption = (
        "Each node always has a message for the next, over one rail, and all begin in the same cycle. Without the"
        " procedure every adapter has a request out when that of its neighbour comes, refuses it, is refused, and all"
        " try again for ever. With it one of two requests that meet goes on, and next time the other. Means over seeds."
    )
    yield Figure("6", title, "figure 6", caption, layered(title, [base.mark_bar(), number]))
