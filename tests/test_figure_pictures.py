"""Pictures of own results without a page: the page's figures, without page-only elements."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import elanite as el
from conftest import Ended
from elanite.figures.style import FONT, LIVE, static_picture
from elanite.inputs import toml
from elanite.report.pages import experiment

Run = Callable[..., Ended]

JOB = {
    "pattern": "complement",
    "nodes": 16,
    "message": "8 KB",
    "load": ["100 MB/s", "300 MB/s"],
    "processes": 2,
}
JOB |= {"sizes": "fixed", "arrivals": "exponential"}
RUN = {"warm_up": "50 us", "window": "200 us", "batches": 3, "slices": 2, "seeds": 2}
CONTENT = {
    "title": "Complement",
    "machine": "es40-qsnet",
    "run": RUN,
    "series": [{"name": "load", "jobs": {"exchange": JOB}}],
    "figure": [{"name": "loads", "title": "Loads", "draw": "loads", "curve": ["pattern"]}],
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> el.Result:
    return el.run(
        el.Experiment.from_dict(CONTENT, "mine"), out=tmp_path_factory.mktemp("mine"), jobs=1
    )


def test_a_picture_names_nothing_that_it_lacks(result: el.Result) -> None:
    """The page has sliders and tables, and mentions them; the picture does not have them."""
    drawn = experiment.pictures(result.plan, result.store)
    captions = [figure.caption for figure in drawn] + [
        figure.caption for figure in result.figures()
    ]
    assert [words for words in LIVE if any(words in caption for caption in captions)], (
        "the pages say it"
    )
    spec = json.dumps(static_picture(drawn).to_dict())
    assert not re.search("slider|tooltips and data", spec, re.IGNORECASE)
    assert '"bind"' not in spec, "a control"


def test_the_matrices_of_a_picture_have_the_scale_of_the_page(result: el.Result) -> None:
    """Sums in µs with the same ends in all pictures, as on the page; not each relative to its own
    maximum.
    """
    drawn = [figure for figure in experiment.pictures(result.plan, result.store) if figure.wide]
    labels = {figure.title.partition(", ")[2] for figure in drawn}
    assert labels == {
        "load 100 MB/s",
        "load 300 MB/s",
    }, "one of each configuration, of its first seed"
    for kind in ("waits", "delays"):
        ends = {
            json.dumps(layer["encoding"]["color"]["scale"]["domain"])
            for figure in drawn
            if figure.name.startswith(kind)
            for layer in figure.spec()["layer"]
            if isinstance(layer["encoding"].get("color"), dict)
            and "scale" in layer["encoding"]["color"]
        }
        assert len(ends) <= 1
    assert all(
        "All points have the same colours: the darkest link" in figure.caption for figure in drawn
    )
    assert not any("most loaded link in the picture" in figure.caption for figure in drawn)


def test_the_lines_and_legends_of_a_picture_have_room(
    result: el.Result, elanite: Run, tmp_path: Path
) -> None:
    """A viewer may have a wider font than the picture's maker."""
    spec = static_picture(experiment.pictures(result.plan, result.store)).to_dict()
    assert spec["config"]["font"] == FONT
    assert spec["config"]["legend"]["padding"] >= 8
    for chart in spec["vconcat"]:
        width = chart.get("width") or chart["vconcat"][0]["width"]
        assert max(map(len, chart["title"]["text"])) * 6.5 <= width
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "Pings"\nmachine = "es40-qsnet"\n[[series]]\nname = "size"\n[series.ping]\nfrom ='
        ' 0\nto = 5\ndirections = "one"\nsource = "main"\ndestination = "main"\nmessage = ["0 B",'
        ' "64 B"]\nrepeats = 1\n',
        encoding="utf-8",
    )
    ended = elanite("run", "mine.toml", "--svg", "mine.svg")
    assert ended.code == 0, ended.err
    assert (tmp_path / "mine.svg").read_text(encoding="utf-8").startswith("<svg")


def test_flow_lists_have_figures_in_a_picture_of_several_kinds(
    elanite: Run, tmp_path: Path
) -> None:
    (tmp_path / "flows.csv").write_text(
        "start,source,destination,size\n0 us,0,2,300 B\n50 us,1,3,40000 B\n", encoding="utf-8"
    )
    flows = {"name": "list", "flows": {"web": {"file": "flows.csv", "nodes": 4}}}
    content = CONTENT | {"series": [{"name": "load", "jobs": {"exchange": JOB}}, flows]}
    (tmp_path / "mine.toml").write_text(toml.text(content), encoding="utf-8")
    ended = elanite("run", "mine.toml", "--svg", "mine.svg", "--html", "mine.html")
    assert ended.code == 0, ended.err
    page = (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert "Packets waited for a link in 4 of 6 points." in page, "all that waited are there"
    picture = (tmp_path / "mine.svg").read_text(encoding="utf-8")
    for title in (
        "FCT slowdown over the size of flows",
        "Distribution of the completion time of flows",
    ):
        assert title in picture
