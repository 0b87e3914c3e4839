"""Noise on this computer: the garcia2005 s3.3 loop in the extension module, its figure and files.

``el.noise(seconds=5, cpu=1).write("out/noise")`` measures, and writes ``noise.svg``, ``noise.html``
and ``noise.toml``, which is a section for a machine file.
"""

from __future__ import annotations

import platform
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elanite import _core
from elanite.base import html, whole
from elanite.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

    from elanite._core import Noise
    from elanite.figures import Figure


@dataclass(frozen=True)
class NoiseMeasurement:
    """A noise test on this computer. Times are in microseconds."""

    compute: str
    """The requested computation length in an iteration."""
    cpu: int | None
    """The processor; `None` if the operating system chose it."""
    data: Noise = field(repr=False)

    @property
    def summary(self) -> dict[str, float | int | str | None]:
        """The printed figures: iterations, their times in microseconds, and the share that took at
        least 1% longer.
        """
        times = {
            "base_us": self.data["base_ps"],
            "mean_us": self.data["mean_ps"],
            "p50_us": self.data["p50_ps"],
            "p99_us": self.data["p99_ps"],
            "p99_99_us": self.data["p99_99_ps"],
            "max_us": self.data["max_ps"],
        }
        return {
            "cpu": self.cpu,
            "compute": self.compute,
            "iterations": self.data["iterations"],
            **{key: ps / 1e6 for key, ps in times.items()},
            "above_1_percent": self.data["above_1_percent"],
        }

    @property
    def profile(self) -> str:
        """A machine file section."""
        return self.data["profile"]

    def _repr_html_(self) -> str:
        return html.block(
            "Noise of this computer", html.table(("figure", "value"), self.summary.items())
        )

    def frame(self) -> pl.DataFrame:
        """The iteration delays after the shortest one: each bin's least delay, ``lower_ps``, and
        ``count``.
        """
        from elanite.store import frame

        return frame(self.data["distribution"])

    def figure(self) -> Figure:
        """The histogram, as in garcia2005's figure 3."""
        from elanite.figures import noise

        where = f"processor {self.cpu}" if self.cpu is not None else "any processor"
        title = f"Noise of this machine: time of an iteration on {where}"
        return noise.histogram(self.frame(), self.data["base_ps"] / 1e6, ("noise", title, ""))

    def write(self, folder: str | Path) -> list[Path]:
        """Write the figure, as SVG and as HTML, and the profile; returns their paths."""
        from elanite.figures import vega

        folder = prepared(folder)
        figure = self.figure()
        chart = figure.chart.properties(background="white")
        svg, html, toml = (folder / f"noise.{kind}" for kind in ("svg", "html", "toml"))
        with whole.replacing(svg) as aside:
            chart.save(str(aside), format="svg")
        whole.write(html, vega.page(figure.title, chart.to_dict()))
        whole.write(toml, self.profile)
        return [svg, html, toml]


def measure(
    seconds: float = 5.0, compute: str = "1 ms", cpu: int | None = None
) -> NoiseMeasurement:
    """Compute for ``seconds`` on a processor, and measure each iteration's time.

    Raises ``RunError`` with the allowed values if the processor does not exist, or a number is out
    of range.
    """
    if not 0 <= seconds <= 1e6:
        raise UsageError(f"--seconds: {seconds:g} is out of range; allowed: 0.01 to 3600")
    length = f"{round(seconds * 1e9)} ns"
    on = f"processor {cpu}" if cpu is not None else "no certain processor"
    source = (
        f"measured by elanite noise, {on} of a machine with {platform.system()}"
        f" {platform.release()}"
    )
    cancel = _core.Cancel()
    found: list[Noise] = []
    failed: list[Exception] = []

    def work() -> None:
        try:
            found.append(_core.measure_noise(length, compute, cpu, source, cancel))
        except Exception as error:  # noqa: BLE001 - the thread that waits raises it again
            failed.append(error)

    # Another thread is bound to the processor, so that this thread can receive interrupts.
    thread = threading.Thread(target=work)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        cancel.set()
        thread.join()
        raise
    if failed:
        raise failed[0]
    return NoiseMeasurement(compute, cpu, found[0])


def prepared(folder: str | Path, *, dry: bool = False) -> Path:
    """Make the folder, and check that it is writable; a ``dry`` look makes nothing."""
    folder = Path(folder)
    try:
        (whole.permitted if dry else whole.folder)(folder)
    except OSError as error:
        raise UsageError(
            f"--out: {folder} cannot be written: {error.strerror}; name another folder"
        ) from error
    return folder
