"""The explorer's times in headless Chromium, and the size of its module.

    make web && python benches/explorer.py       prints a table

The page is served from this computer, and all other addresses are refused. Each row opens a new
browser context, whose cache is empty. The first paint and the first result count from the start of
the navigation; the simulation is the time that the page states for the point at the chosen load.
The computer must be idle, with a processor for the browser and one for the worker.
"""

from __future__ import annotations

import gzip
import shutil
import threading
from statistics import median
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from elanite.report import explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RUNS = 3
HALF = {"64 nodes": "m=es40-qsnet&l=50", "1,024 nodes": "m=es40-qsnet&n=1024&l=50"}
"""Uniform traffic at half of the link rate, by the address of the page."""

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
DIGEST = "document.querySelector('#digest').textContent.length === 32"
STATED = r"""() => {
  const stated = document.querySelector('#digest').parentElement.textContent;
  return { first: performance.now(), point: Number(/([\d.]+) s in this browser/.exec(stated)[1]) };
}"""


def opened(browser: Browser, address: str, state: str) -> tuple[float, float, float]:
    """Seconds until the first paint and until the first result, and of its simulation."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(600_000)
    page.route(lambda url: not url.startswith(address), lambda route: route.abort())
    page.goto(f"{address}#{state}", wait_until="commit")
    page.wait_for_function(PAINT)
    paint = page.evaluate(PAINT)
    page.wait_for_function(DIGEST)
    found = page.evaluate(STATED)
    context.close()
    return paint / 1e3, found["first"] / 1e3, found["point"]


def main() -> None:
    """Print the table."""
    files = explorer.built()
    (module,) = (content for name, content in files.items() if name.endswith(".wasm"))
    print(
        f"module: {len(module) / 1e6:.2f} MB, {len(gzip.compress(module)) / 1e6:.2f} MB with gzip"
    )
    print(f"{'':12} {'first paint':>12} {'first result':>13} {'simulation':>11}   seconds")
    with explorer.Server(files, 0) as server, sync_playwright() as tools:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = tools.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, state in HALF.items():
            found = [opened(browser, server.address, state) for _ in range(RUNS)]
            paint, first, point = (median(column) for column in zip(*found, strict=True))
            print(f"{name:12} {paint:12.2f} {first:13.2f} {point:11.2f}")
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
