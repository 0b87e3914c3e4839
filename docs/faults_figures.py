"""Renew the figures of the page about faults from finished points.

``make docs`` runs this, with the folder of a reproduction.
"""

import sys
from pathlib import Path

import elanite as el

FIGURES = {
    ("goodput", "goodput"): "goodput",
    ("links", "complement-random"): "any-cables",
    ("links", "uniform-worst"): "worst-cables",
    ("recovery", "detect"): "recovery",
    ("collectives", "switch"): "collectives",
}
"""Experiment and figure, and the ending of the picture's name."""

(out,) = sys.argv[1:]
for (experiment, name), ending in FIGURES.items():
    result = el.load_results(el.Experiment.load(f"faults/{experiment}"), out=out)
    figure = next(figure for figure in result.figures() if figure.name == name)
    figure.chart.properties(background="white").save(str(Path(__file__).parent / f"faults-{ending}.svg"))
