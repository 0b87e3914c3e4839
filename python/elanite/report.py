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
from elanite.claims import claims, fitted_parameters, plans_of, verdict
from elanite.figures import sensitivity as heat_map
from elanite.plan import FIRST_SEED, plan
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
    from elanite.plan import Plan
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


def sections(store: Store, names: Sequence[str], seed: int = FIRST_SEED) -> list[Section]:
    """The sections of the experiments that have at least one point in the store."""
    found = []
    for name in names:
        planned = plan(sources.read("experiment", name), seed=seed)
        points = frames.finished(planned, store)
        if not points:
            continue
        manifests = [manifest for point in points if (manifest := store.get(point.id)) is not None]
        found.append(
            Section(
                plan=planned,
                finished=len(points),
                figures=figures.drawn(planned, store),
                packets=sum(manifest["packets"] for manifest in manifests),
                events=sum(manifest["events"] for manifest in manifests),
                cpu_seconds=sum(manifest.cpu_seconds for manifest in manifests),
            )
        )
    return found


def prepare(out: Path) -> None:
    """See whether the report can be written, before anything is simulated for it.

    Raises ``UsageError`` if a file stands where a folder belongs, ``StoreError`` if the folder cannot be written.
    """
    Folder(out / "report").prepare()


def write(out: Path, store: Store, seed: int = FIRST_SEED) -> tuple[Path, list[Verdict]]:
    """Write ``out/report/index.html`` and ``out/scoreboard.json``; returns the page and the verdicts."""
    plans = plans_of(claims(), seed)
    verdicts = [verdict(claim, plans.get(claim.experiment), store) for claim in claims()]
    found = sections(store, sources.shipped("experiment"), seed)
    page = out / "report" / "index.html"
    prepare(out)
    replace(page, render(found, verdicts, seed, studied(out, seed)))
    replace(
        out / "scoreboard.json",
        json.dumps([v.as_json() for v in verdicts], indent=1, ensure_ascii=False) + "\n",
    )
    return page, verdicts


def render(
    found: Sequence[Section],
    verdicts: Sequence[Verdict],
    seed: int = FIRST_SEED,
    sensitivities: Sequence[Studied] = (),
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
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


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
