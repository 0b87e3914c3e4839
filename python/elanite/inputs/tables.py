"""Tables in Elanite's data files, which become dataclasses when they are loaded.

An error has file, line, key, value and a remedy, as in machine files. ``tomllib`` reads the content
and keeps no places; for an error, heading and key lines are looked up in the text without strings
and comments. A key in an inline table has the line of the inline table's own key.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from elanite.errors import UsageError
from elanite.inputs.sources import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")

_HIDDEN = re.compile(
    r"'''.*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|#[^\n]*",
    re.DOTALL,
)
_LINE = re.compile(
    r"^[ \t]*(?:\[\[?[ \t]*(?P<heading>[\w.-]+)[ \t]*\]|(?P<key>[\w-]+)[ \t]*=)", re.MULTILINE
)


@dataclass(frozen=True)
class DataTable:
    """A data file's table."""

    content: Mapping[str, object]
    name: str
    """The table's name in errors: ``claim `ping.latency```."""
    file: str
    text: str
    """The file's text."""
    place: tuple[tuple[str, int], ...] = ()
    """The headings that lead to the table, each with its number below the one before."""
    path: str = ""
    """The keys that lead to an inner table, each with a full stop."""

    def wrong(self, key: str, problem: str, remedy: str = "") -> UsageError:
        """The error for a key, or for the whole table without one."""
        value = self.content.get(key)
        shown = f" = `{value}`" if isinstance(value, str | int | float) else ""
        named = f"{self.path}{key}".rstrip(".")
        head = f"{self.name}, `{named}`{shown}: {problem}" if named else f"{self.name}: {problem}"
        help_ = f"\n  = help: {remedy}" if remedy else ""
        return UsageError(f"{head}\n{self._excerpt(self.path + key)}{help_}")

    def _excerpt(self, path: str) -> str:
        """The line of a key, or of its table's heading, as machine file errors show it."""
        key, dot, inner = path.partition(".")
        section = _section(self.text, (*self.place, (key, 0))) if dot else None
        section, key = (
            (section, inner.split(".")[0]) if section else (_section(self.text, self.place), key)
        )
        if section is None and len(self.place) > 1:
            return replace(self, place=self.place[:-1])._excerpt(self.place[-1][0])
        if section is None:
            return f" --> {self.file}"
        line = section[1].get(key, section[0])
        text = self.text.split("\n")[line - 1]
        word = re.search(re.escape(key) if key in section[1] else r"\S+", text)
        start, end = word.span() if word else (0, 1)
        gap = " " * len(str(line))
        shown = text if len(text) <= 100 else text[:97] + "..."
        marks = " " * start + "^" * (end - start)
        return (
            f"{gap}--> {self.file}:{line}:{start + 1}\n{gap} |\n{line} | {shown}\n{gap} |"
            f" {marks}\n{gap} |"
        )

    def filled(
        self, record: type[Record], words: Mapping[str, Collection[str]], **read: object
    ) -> Record:
        """A dataclass with the table's keys; ``read`` has its fields with types outside
        ``READERS``.

        ``words`` has the allowed values by field name.
        """
        known = {one.name: one for one in fields(record)}
        self.only(known)
        values: dict[str, object] = dict(read)
        for name, one in known.items():
            if name in self.content and name not in read:
                values[name] = (
                    self.word(name, words[name])
                    if name in words
                    else READERS[str(one.type)](self, name)
                )
            elif one.default is MISSING and one.default_factory is MISSING and name not in read:
                raise self.wrong(
                    name,
                    "this key is needed",
                    f"allowed: {', '.join(words.get(name, ())) or 'a text'}",
                )
        return record(**values)

    def only(self, allowed: Collection[str]) -> None:
        """Refuses keys that are not allowed."""
        for key in self.content:
            if key not in allowed:
                problem = f"this key is unknown{did_you_mean(key, allowed)}"
                raise self.wrong(key, problem, f"allowed: {', '.join(sorted(allowed))}")

    def string(self, key: str) -> str:
        """A text; empty without the key."""
        value = self.content.get(key, "")
        if not isinstance(value, str):
            raise self.wrong(key, "a text is needed")
        return value

    def word(self, key: str, known: Collection[str]) -> str:
        """One of the known words; empty without the key."""
        value = self.string(key)
        if value not in known:
            listed = ", ".join(filter(None, known))
            raise self.wrong(
                key, f"is not one of {listed}{did_you_mean(value, known)}", f"allowed: {listed}"
            )
        return value

    def number(self, key: str) -> float | None:
        """A number as it is written, a whole one too; `None` without the key."""
        value = self.content.get(key)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise self.wrong(key, "a number is needed")

    def truth(self, key: str) -> bool:
        """A truth; false without the key."""
        value = self.content.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false is needed")
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        """A text list; empty without the key."""
        value = self.content.get(key, [])
        found = (
            tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else None
        )
        if not isinstance(value, list) or found is None or len(found) < len(value):
            raise self.wrong(key, "a list of texts is needed", f'write {key} = ["...", ...]')
        return found

    def numbers(self, key: str) -> tuple[float, ...]:
        """A number list; empty without the key."""
        value = self.content.get(key, [])
        found = (
            [one for one in value if isinstance(one, int | float)]
            if isinstance(value, list)
            else None
        )
        if not isinstance(value, list) or found is None or len(found) < len(value):
            raise self.wrong(key, "a list of numbers is needed", f"write {key} = [1.0, ...]")
        return tuple(found)

    def table(self, key: str) -> DataTable:
        """An inner table; an empty one without the key."""
        found = self.content.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, "a table is needed", f"write {key} = {{ ... }}")
        return replace(self, content=found, path=f"{self.path}{key}.")

    def tables(self, key: str) -> list[DataTable]:
        """The tables in a table list; empty without the key."""
        found = self.content.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.wrong(
                key, "a list of tables is needed", f"write [[{key}]] and the keys below it"
            )
        name = f"{self.name}, {key}" if self.name else key
        known = [one.get("id", one.get("name", count + 1)) for count, one in enumerate(found)]
        return [
            replace(
                self,
                content=one,
                name=f"{name} `{known[count]}`",
                place=(*self.place, (key, count)),
            )
            for count, one in enumerate(found)
        ]


READERS: dict[str, Callable[[DataTable, str], object]] = {
    "str": DataTable.string,
    "float | None": DataTable.number,
    "bool": DataTable.truth,
    "tuple[str, ...]": DataTable.strings,
    "tuple[float, ...]": DataTable.numbers,
}
"""Field readers, by type."""


def loaded(text: str, file: str) -> DataTable:
    """A data file's content. Raises ``UsageError`` if it is not TOML."""
    try:
        return DataTable(tomllib.loads(text), "", file, text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is not a TOML file: {error}") from None


def _section(text: str, place: Sequence[tuple[str, int]]) -> tuple[int, dict[str, int]] | None:
    """The line of a table's heading, and its keys' lines; `None` for an inline table."""
    bare = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    heading, wanted, seen = "", list(place), -1
    found: tuple[int, dict[str, int]] | None = None if wanted else (1, {})
    for each in _LINE.finditer(bare):
        line = bare.count("\n", 0, each.end()) + 1
        if each["key"]:
            if found:
                found[1].setdefault(each["key"], line)
        elif found:
            break
        elif wanted and each["heading"] == (f"{heading}." if heading else "") + wanted[0][0]:
            seen += 1
            if seen == wanted[0][1]:
                heading, seen = each["heading"], -1
                del wanted[0]
                found = None if wanted else (line, {})
        elif heading and each["heading"] == place[len(place) - len(wanted) - 1][0]:
            break
    return found
