"""Pages on the user's own work: one HTML file for an experiment, a sweep, a comparison, a
calibration or a run.

A page holds only that work: its title, one sentence per finding, sections with figures and tables,
the exact command, the machines, and the build that made it. It needs no network. Its inputs are
inside: ``elanite open`` writes them to a folder, with a command that gives the same results there.

    found = Page(
        title="Two jobs on 128 nodes",
        about="place on m128, 8 points",
        findings=("Highest accepted load: 36,700 MB/s per node (interleaved).",),
        sections=(Section("Accepted load", figures=figures, tables=(links,)),),
        command=("elanite", "run", "../place.toml", "--html", "place.html"),
        inputs=Inputs.gather(("elanite", "run", "place.toml"), {"place.toml": text.encode()}),
    )
    write(Path("place.html"), found)

``frame`` has these types and the writer, ``inputs`` the embedded files and their limits. Each other
module makes the pages for one kind of work. The papers' report (``elanite.report``) is a separate
page, with claims.
"""

from elanite.report.pages.frame import Drawing, Page, PageTable, Section, render, write
from elanite.report.pages.inputs import Inputs

__all__ = ["Drawing", "Inputs", "Page", "PageTable", "Section", "render", "write"]
