"""Notebooks: progress as the tqdm bar, if it is installed, and charts that need no network."""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import TYPE_CHECKING, Protocol

from elanite.campaign import Observer

if TYPE_CHECKING:
    from elanite.campaign import PointFailure
    from elanite.figures.style import Spec
    from elanite.inputs.plan import Point


def observer() -> Observer | None:
    """A bar if this process is a notebook's kernel and has tqdm, else `None`."""
    if not in_notebook():
        return None
    try:
        with warnings.catch_warnings():
            # Without ipywidgets, tqdm advises to install them, and shows its bar as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return NotebookBar(tqdm)


def draw_offline() -> None:
    """Let all charts in a notebook draw without a network, unless the user has chosen a renderer.

    Altair's own default loads the Vega libraries from the network; here an output has them inside.
    """
    if not in_notebook():
        return
    import altair as alt

    if alt.renderers.active == "default":
        alt.renderers.register("elanite", output)
        alt.renderers.enable("elanite")


def output(spec: Spec, **_: object) -> dict[str, object]:
    """A chart as a cell's output: as a part of a page, and as its Vega-Lite specification."""
    from elanite.figures import vega

    return {"text/html": vega.part(spec, next(_NUMBERS)), vega.MEDIA_TYPE: spec}


_NUMBERS = itertools.count(1)
"""The charts that this process has shown."""


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class TqdmBar(Protocol):
    """A tqdm bar, as far as it is used."""

    def __init__(self, *, total: int, initial: int, unit: str, desc: str) -> None:
        """Show the bar."""

    def update(self) -> object:
        """Move by one."""

    def close(self) -> object:
        """Leave the bar as it is."""


class NotebookBar(Observer):
    """A bar with the remaining points; absent if all points are finished."""

    def __init__(self, tqdm: type[TqdmBar]) -> None:
        self._tqdm = tqdm
        self._bar: TqdmBar | None = None

    def start(self, total: int, done: int) -> None:
        """Show the bar."""
        if total > done:
            self._bar = self._tqdm(total=total, initial=done, unit="point", desc="points")

    def point(self, point: Point, failure: PointFailure | None) -> None:
        """Move the bar by one point; failures are printed at the end."""
        del point, failure
        if self._bar is not None:
            self._bar.update()

    def stop(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
