"""Pages of the user's own work: one HTML file for an experiment, a sweep, a comparison, a calibration or a run.

A page holds that work and nothing else: its title, one sentence per finding, sections with figures and tables, the
exact command, the machines, and the build that made it. It needs no network. Its inputs are inside: ``elanite open``
writes them to a folder, with a command that gives the same results there.

    found = Page(
        title="Two jobs on 128 nodes",
        about="place on m128, 8 points",
        findings=("Highest accepted load: 36,700 MB/s per node (interleaved).",),
        sections=(Section("Accepted load", figures=figures, tables=(Table(("link", "busy"), rows, "Links"),)),),
        command=("elanite", "run", "../place.toml", "--html", "place.html"),
        inputs=Inputs.gather(("elanite", "run", "place.toml"), {"place.toml": text.encode()}),
    )
    write(Path("place.html"), found)

``frame`` has these types and the writer, ``inputs`` the embedded files and their limits. The other modules make the
pages of one kind of work each. The report of the papers (``elanite.report``) is a page of its own, with claims.
"""

from elanite.report.pages.frame import Drawing, Page, Section, Table, render, write
from elanite.report.pages.inputs import Inputs

__all__ = ["Drawing", "Inputs", "Page", "Section", "Table", "render", "write"]
