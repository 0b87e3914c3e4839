"""The explorer: a page that simulates in the browser, and the small server that delivers it.

The page is built by ``make web`` from the repository's folder ``web`` and the crate ``web``: the
simulator as a WebAssembly module, and the page around it. Wheels have the built files; a checkout
has them after ``make web``. The page makes no other requests, so that it works without a network; a
site delivers the same files.

A browser loads modules and workers from a server only, and not from files. The server listens on
this computer alone, delivers only the page's files, and reads each file once, when it starts.
"""

from __future__ import annotations

import http.server
import mimetypes
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import bounded, whole
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "explorer"
"""The built page's folder within the package."""

HOST = "127.0.0.1"
PORT = 8417
"""The default port, if it is free, so that kept addresses lead to the page again.

The number is arbitrary.
"""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
}
"""File types by suffix; operating systems' tables differ, and browsers refuse modules with other
types.
"""


def built() -> dict[str, bytes]:
    """The page's files by their names below its folder.

    Raises ``UsageError`` if the page was not built.
    """
    root = Path(str(files("elanite").joinpath(FOLDER)))
    names = (
        sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
        if root.is_dir()
        else []
    )
    if Path("index.html") not in names:
        raise UsageError(
            "the page of the explorer is not part of this installation\n  In a checkout, `make web`"
            " builds it; it needs Node.js 20 and the target wasm32-unknown-unknown of Rust."
        )
    return {name.as_posix(): bounded.packaged_bytes(FOLDER, *name.parts) for name in names}


def copy(folder: Path) -> list[Path]:
    """Write the page into a folder, from where any web server delivers it, and return the files."""
    made = []
    for name, content in built().items():
        whole.prepare(folder / name)
        whole.write(folder / name, content)
        made.append(folder / name)
    return made


class Server(http.server.ThreadingHTTPServer):
    """A server for some files on this computer. Raises ``UsageError`` if the port is taken."""

    def __init__(self, page: Mapping[str, bytes], port: int | None = None) -> None:
        self.page = page
        wanted = PORT if port is None else port
        try:
            super().__init__((HOST, wanted), Handler)
        except OSError as error:
            if port is not None:
                raise UsageError(
                    f"--port {port}: {error.strerror}; leave it out for a port that is free"
                ) from error
            super().__init__((HOST, 0), Handler)

    @property
    def address(self) -> str:
        """The page's address."""
        return f"http://{HOST}:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests for the page's files."""

    server: Server

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Send a file's headers."""
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        name = self.path.partition("?")[0].lstrip("/") or "index.html"
        content = self.server.page.get(name)
        status = HTTPStatus.OK if content is not None else HTTPStatus.NOT_FOUND
        content = content if content is not None else b"there is no such file\n"
        self.send_response(status)
        kind = (
            TYPES.get(Path(name).suffix)
            or mimetypes.guess_type(name)[0]
            or "application/octet-stream"
        )
        self.send_header("Content-Type", kind if status == HTTPStatus.OK else "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Stay silent: the library would print each request."""
