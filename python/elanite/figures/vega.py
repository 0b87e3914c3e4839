"""The Vega libraries, which draw a page's figures in the reader's browser.

A page has them inside, so that it works without a network. ``vl-convert`` has their sources and
puts them together, which takes one or two seconds; the result is kept in the user's cache, where
the next page finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from elanite.figures.style import Spec


from contextlib import suppress
from functools import cache
from html import escape
from importlib.metadata import version

import altair as alt
import platformdirs

from elanite.base import bounded, host, whole
from elanite.base.html import embedded
from elanite.errors import ElaniteError

NOTICES = "vega-notices.txt"
"""The licences for the script's contents, as these libraries' packages bring them."""


@cache
def libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script with their notices, safe to stand inside a
    page.
    """
    if (script := _kept()) is not None:
        return script
    made = _made(_wanted())
    with suppress(ElaniteError):  # without a place for it, the next page makes the script again
        whole.write(_place(), made)
    return made


MEDIA_TYPE = "application/vnd.vegalite.v6+json"
"""The media type of a chart's specification."""


def prepare(page: Path, option: str = "--html", *, dry: bool = False) -> None:
    """Raise ``ElaniteError`` if a page could not be written now; ``option`` requests it.

    A ``dry`` look makes no folder for it.
    """
    whole.prepare(page, dry=dry)
    if _kept() is None:
        host.require_drawing(option)


def _wanted() -> str:
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def _place() -> Path:
    name = f"vega-{_wanted()}-{version('vl-convert-python')}-scoped.js"
    return platformdirs.user_cache_path("elanite") / name


def _kept() -> str | None:
    """The script that an earlier page has left in the cache."""
    with suppress(OSError, UnicodeError):
        return bounded.load(_place(), bounded.TABLE).decode()
    return None


def page(title: str, spec: Spec) -> str:
    """One chart as a separate page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta'
        f' charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body>\n{part(spec)}\n</body>\n</html>\n"
    )


def part(spec: Spec, number: int = 0) -> str:
    """One chart as a part of a page, with the libraries; ``number`` tells several parts apart."""
    place = f"chart-{number}" if number else "chart"
    return (
        f'<div id="{place}"></div>\n<script>{libraries()}</script>\n'
        f'<script>window.vegaEmbed("#{place}", {embedded(spec)}, {{ mode: "vega-lite" }});</script>'
    )


def _made(wanted: str) -> str:
    host.require_drawing("a page")
    import vl_convert as vlc

    have: list[str] = vlc.get_vegalite_versions()
    bundle: str = vlc.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=wanted if wanted in have else have[-1]
    )
    notices = bounded.packaged("templates", NOTICES)
    # The bundle's names stay its own: a page may have other scripts, and a notebook several charts.
    script = f"/*! {notices}*/\n(() => {{\n{bundle}\n}})();\n"
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
