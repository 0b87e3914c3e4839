"""Renew the README from finished points: its sentence of the scoreboard, and its figure, 11 c of the QsNET paper.

``make docs`` runs this.
"""

import re
import sys
from pathlib import Path

import elanite as el
from elanite.text import headline

out, picture = sys.argv[1:]
result = el.load_results(el.Experiment.load("qsnet/uniform"), out=out)
figure = next(figure for figure in result.figures() if figure.name == "11c")
figure.chart.properties(background="white").save(picture)
readme = Path(__file__).parents[1] / "README.md"
sentence = f"**{headline(el.scoreboard(out))}**"
text = re.sub(r"(?m)^\*\*\d+ of .*\*\*", sentence, readme.read_text(encoding="utf-8"))
readme.write_text(text, encoding="utf-8")
