"""XML elements with their lines, read by ``defusedxml``: no entities, and no file that a document
names.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.handler import ContentHandler, feature_external_ges

from elanite.base.foreign import optional, reading

if TYPE_CHECKING:
    from pathlib import Path
    from xml.sax.xmlreader import AttributesImpl, Locator


@dataclass
class Element:
    """An element: its name without a prefix, its attributes, its text, its children and its
    line.
    """

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def of(self, *names: str) -> list[Element]:
        """The children with these names."""
        return [each for each in self.children if each.name in names]


class _Tree(ContentHandler):
    """Builds a document's elements."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {}, 0)
        self.open = [self.root]
        self.place: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 - the interface's name
        self.place = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        line = self.place.getLineNumber() if self.place else None
        made = Element(name.rpartition(":")[2], dict(attrs.items()), line or 0)
        self.open[-1].children.append(made)
        self.open.append(made)

    def endElement(self, name: str) -> None:  # noqa: ARG002, N802
        self.open.pop()

    def characters(self, content: str) -> None:
        self.open[-1].text += content


def parsed(text: str, file: Path, about: str) -> Element:
    """A document's root.

    Raises ``UsageError`` with the line; ``about`` names the expected document.
    """
    with optional(f"{file}: XML needs the package defusedxml: pip install defusedxml"):
        from defusedxml.sax import make_parser
    tree = _Tree()
    with reading(
        lambda: _place(file, tree),
        f"not {about} in XML",
        "correct the document, without entities of its own",
    ):
        parser = make_parser()
        # SimGrid documents name their DTD's address, which is not fetched.
        parser.forbid_external = False
        parser.setFeature(feature_external_ges, False)
        parser.setContentHandler(tree)
        parser.parse(io.StringIO(text))
    return tree.root.children[0]


def _place(file: Path, tree: _Tree) -> str:
    line = tree.place.getLineNumber() if tree.place else None
    return f"{file}:{line}" if line else str(file)
