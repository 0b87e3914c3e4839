"""The report: one HTML page with the scoreboard and every figure, which works without a network.

The page is drawn from the store alone. The Vega libraries are embedded once; the figures are specifications with their
data inside, drawn by the reader's browser in its light or dark colours.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elanite import _core, figures, frames, sources
from elanite.api import Machine
from elanite.claims import fitted_parameters, verdicts
from elanite.figures import sensitivity as heat_map
from elanite.plan import FIRST_SEED
from elanite.quick import NOTE, planned
from elanite.sensitivity import FOLDER, STRONG, Reading, kept, read
from elanite.store.places import Folder
from elanite.study import studies, study
from elanite.text import SIGN, fitted, headline, number, percent, plain, simulated, spread, widest
from elanite.text import published as published_text
from elanite.vary import varied

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from elanite.claims import Verdict
    from elanite.figures import Figure
    from elanite.plan import Plan, Point
    from elanite.store import Store


@dataclass(frozen=True)
class Section:
    """One experiment in the report."""

    plan: Plan
    finished: int
    figures: list[Figure]
    packets: int
    events: int
    cpu_seconds: float

    @property
    def anchor(self) -> str:
        """Identifier of the section within the page."""
        return self.plan.experiment.name.replace("/", "-")


@dataclass(frozen=True)
class Studied:
    """The sensitivity of the claims about one machine."""

    machine: str
    figure: Figure
    reading: Reading
    others: list[str]
    """Uncertain parameters that are no numbers."""
    chosen: int
    """How many claims about the machine the study covers."""


def studied(out: Path, seed: int = FIRST_SEED) -> list[Studied]:
    """The studies of sensitivity that were kept below ``out`` and still hold for the machines as they are."""
    found = []
    for machine in studies() if (out / FOLDER).is_dir() else []:
        chosen = study(machine, seed=seed)
        table = kept(chosen, out)
        figure = heat_map.draw(machine, table) if table is not None else None
        if table is not None and figure is not None:
            others = [each.key for each in varied(chosen.machine)[1]]
            found.append(Studied(machine, figure, read(table), others, len(chosen.claims)))
    return found


class Writer:
    """Writes the report of a campaign, again and again: what has not changed since the last time is not drawn again."""

    def __init__(self, out: Path, store: Store, seed: int = FIRST_SEED, *, quick: bool = False) -> None:
        self.out, self.store, self.seed, self.quick = out, store, seed, quick
        self._drawn: dict[str, Section] = {}
        prepare(out)

    def write(self) -> tuple[Path, list[Verdict]]:
        """Write ``out/report/index.html`` and ``out/scoreboard.json``; returns the page and the verdicts."""
        found = verdicts(self.store, self.seed, quick=self.quick)
        shown = [section for name in sources.shipped("experiment") if (section := self._section(name)) is not None]
        page = self.out / "report" / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        note = NOTE if self.quick else ""
        replace(page, render(shown, found, self.seed, studied(self.out, self.seed), note))
        board = [verdict.as_json() for verdict in found]
        replace(self.out / "scoreboard.json", json.dumps(board, indent=1, ensure_ascii=False) + "\n")
        return page, found

    def _section(self, name: str) -> Section | None:
        plan = planned(name, self.seed, quick=self.quick)
        points = frames.finished(plan, self.store)
        if points and (name not in self._drawn or self._drawn[name].finished != len(points)):
            self._drawn[name] = section(plan, points, self.store)
        return self._drawn.get(name)


def prepare(out: Path) -> None:
    """See whether the report can be written, before anything is simulated for it.

    Raises ``UsageError`` if a file stands where a folder belongs, ``StoreError`` if the folder cannot be written.
    """
    Folder(out / "report").prepare()


def section(plan: Plan, points: Sequence[Point], store: Store) -> Section:
    """The section of an experiment, of the finished points."""
    manifests = [manifest for point in points if (manifest := store.get(point.id)) is not None]
    return Section(
        plan=plan,
        finished=len(points),
        figures=figures.drawn(plan, store),
        packets=sum(manifest["packets"] for manifest in manifests),
        events=sum(manifest["events"] for manifest in manifests),
        cpu_seconds=sum(manifest.cpu_seconds for manifest in manifests),
    )


def write(out: Path, store: Store, seed: int = FIRST_SEED, *, quick: bool = False) -> tuple[Path, list[Verdict]]:
    """Write ``out/report/index.html`` and ``out/scoreboard.json`` once; returns the page and the verdicts."""
    return Writer(out, store, seed, quick=quick).write()


def write_own(page: Path, plans: Sequence[Plan], store: Store) -> int:
    """Write a page of experiments of one's own: figures and machines, no claims; returns the number of sections."""
    found = [section(plan, points, store) for plan in plans if (points := frames.finished(plan, store))]
    if found:
        page.parent.mkdir(parents=True, exist_ok=True)
        replace(page, render(found, []))
    return len(found)


def render(
    found: Sequence[Section],
    verdicts: Sequence[Verdict],
    seed: int = FIRST_SEED,
    sensitivities: Sequence[Studied] = (),
    note: str = "",
) -> str:
    """The page as text."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters.update(
        number=number,
        percent=percent,
        plain=plain,
        published=published_text,
        simulated=simulated,
        spread=spread,
    )
    machines = dict.fromkeys(machine for section in found for machine in section.plan.machines)
    charts = {f"{section.anchor}-{figure.name}": figure.spec() for section in found for figure in section.figures}
    charts |= {each.figure.name: each.figure.spec() for each in sensitivities}
    counted = [v for v in verdicts if v.role in ("predicted", "fitted")]
    template = environment.from_string(_data("report.html.j2"))
    return template.render(
        style=_data("report.css"),
        script=_data("report.js"),
        libraries=_libraries(),
        charts=_json(charts),
        sections=found,
        headline=headline(verdicts),
        judged=[v for v in verdicts if v.judged],
        missed=[v for v in counted if v.holds is False],
        unresolved=[v for v in counted if v.state == "not resolved"],
        vague=[v for v in counted if v.state == "source too vague"],
        inferred=[v for v in verdicts if v.judged and v.role == "inference"],
        contradicted=[v for v in verdicts if v.judged and v.role == "inconsistent"],
        sign=SIGN,
        unjudged=[v for v in verdicts if not v.judged],
        widest=widest(verdicts),
        fitted=[fitted(machine, parameters) for machine, parameters in fitted_parameters().items()],
        sensitivities=sensitivities,
        strong=f"{STRONG:.0%}",
        machines=[Machine.of(source) for source in machines],
        note=note,
        seed=seed,
        first_seed=FIRST_SEED,
        versions={
            "elanite": _core.VERSION,
            "model revision": _core.MODEL_REVISION,
            "python": platform.python_version(),
            "altair": version("altair"),
            "polars": version("polars"),
        },
    )


def replace(path: Path, text: str) -> None:
    """Write a file aside and rename it, so that a reader never sees half of it."""
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def _data(name: str) -> str:
    return files("elanite").joinpath("templates", name).read_text(encoding="utf-8")


def _libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, safe to stand inside a page."""
    import altair as alt
    import vl_convert as vlc

    wanted = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    have: list[str] = vlc.get_vegalite_versions()
    bundle: str = vlc.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=wanted if wanted in have else have[-1]
    )
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _json(value: dict[str, Any]) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
