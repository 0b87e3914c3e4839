"""Record the README's moving picture, the page of ``elanite watch``: ``make recording`` runs this.

The commands in ``COMMANDS`` are the README's. The page's time slider moves in equal steps, and
each frame is a screenshot, so that the same results give the same picture on any host with the same
fonts. Needs Chromium.
"""

from __future__ import annotations

import io
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

COMMANDS = [
    "elanite new machine dragonfly --nodes 64 --link HDR --topology dragonfly",
    "elanite goal alltoall --ranks 64 --size '64 KB' > exchange.goal",
    (
        "elanite replay exchange.goal --operations --machine dragonfly.toml --set"
        " topology.routing=minimal"
    ),
    "elanite watch out/replay/* --html watch.html",
]

PICTURE = Path(__file__).with_name("watch.webp")
WIDTH, HEIGHT = 480, 640
"""The window in pixels: narrow, so that a phone shows the picture nearly at full size."""

FRAMES, PAUSE, REST = 36, 180, 1500
"""Frames, milliseconds between them, and milliseconds before the first and after the last one."""

MOVE = """at => {
  const time = document.getElementById("time");
  time.value = at * time.max;
  time.dispatchEvent(new Event("input"));
}"""


def record(picture: Path = PICTURE, frames: int = FRAMES) -> None:
    """Run the commands in an empty folder, and record the page."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            words = command.replace("elanite", f"{shlex.quote(sys.executable)} -m elanite", 1)
            subprocess.run(["sh", "-ec", words], cwd=folder, check=True, capture_output=True)  # noqa: S603, S607
        shots = taken(Path(folder) / "watch.html", frames)
    times = [REST, *[PAUSE] * (frames - 2), REST]
    shots[0].save(
        picture,
        save_all=True,
        append_images=shots[1:],
        duration=times,
        loop=3,
        quality=45,
        method=4,
    )


def taken(page: Path, frames: int) -> list[Image.Image]:
    """Screenshots of the page over its whole time."""
    chromium = shutil.which("chromium")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        window.goto(page.as_uri())
        top = window.locator(".controls").bounding_box()
        end = window.locator(".hint").bounding_box()
        assert top, end  # noqa: S101
        clip = {
            "x": 0.0,
            "y": top["y"] - 8,
            "width": float(WIDTH),
            "height": end["y"] - top["y"] + 8,
        }
        found = []
        for frame in range(frames):
            window.evaluate(MOVE, (frame + 0.5) / frames)
            shot = window.screenshot(clip=clip, full_page=True)
            found.append(Image.open(io.BytesIO(shot)).convert("RGB"))
        browser.close()
    return found


if __name__ == "__main__":
    record()
