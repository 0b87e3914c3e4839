"""Draw the figure of the README, figure 11 c of the QsNET paper, from finished points: ``make docs`` runs this."""

import sys

import elanite as el

out, picture = sys.argv[1:]
result = el.load_results(el.Experiment.load("qsnet/uniform"), out=out)
figure = next(figure for figure in result.figures() if figure.name == "11c")
figure.chart.properties(background="white").save(picture)
