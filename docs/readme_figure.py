"""Renew the README from finished points: its sentence of the scoreboard, and its picture, a congestion matrix.

``make docs`` runs this.
"""

import re
import sys
from pathlib import Path

import elanite as el
from elanite.figures.animated import animated
from elanite.validation.board import headline

TITLE = "Complement traffic on 64 nodes: how congestion builds up"

out, picture = sys.argv[1:]
result = el.load_results(el.Experiment.load("qsnet/congestion"), out=out)
points = [point for point in result.points if point.series == "build-up"]
(point,) = [point for point in points if point.parameters["pattern"] == "complement"][:1]
Path(picture).write_text(animated(result.congestion(point), TITLE), encoding="utf-8")
readme = Path(__file__).parents[1] / "README.md"
sentence = f"**{headline(el.scoreboard(out))}**"
text = re.sub(r"(?m)^\*\*\d+ of .*\*\*", sentence, readme.read_text(encoding="utf-8"))
readme.write_text(text, encoding="utf-8")
