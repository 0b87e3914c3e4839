"""Renew the figures on the pages about faults and networks of today from finished points.

``make docs`` runs this, with a reproduction's folder.
"""

import re
import sys
from pathlib import Path

import altair as alt

import elanite as el

FIGURES = {
    ("faults/goodput", "goodput"): "faults-goodput",
    ("faults/links", "complement-random"): "faults-any-cables",
    ("faults/links", "uniform-worst"): "faults-worst-cables",
    ("faults/recovery", "detect"): "faults-recovery",
    ("faults/collectives", "switch"): "faults-collectives",
    ("today/topologies", "patterns"): "today-topologies",
    ("today/rails", "allreduce"): "today-rails",
    ("today/placement", "beside"): "today-placement",
    ("today/circuits", "packets"): "today-circuits",
}
"""Experiment and figure, and the picture's name."""

(out,) = sys.argv[1:]
for (experiment, name), picture in FIGURES.items():
    result = el.load_results(el.Experiment.load(experiment), out=out)
    panels = [
        figure.chart for figure in result.figures() if re.fullmatch(rf"{name}(-\d+)?", figure.name)
    ]
    chart = (
        alt.vconcat(*panels).resolve_scale(color="independent") if len(panels) > 1 else panels[0]
    )
    chart.properties(background="white").save(str(Path(__file__).parent / f"{picture}.svg"))
