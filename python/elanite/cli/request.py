"""A command is one typed structure: a frozen dataclass with its arguments and options as fields.

All command texts come from the fields. ``declare`` turns them into the options that ``typer``
parses, with their help and their completion. ``words`` turns the values back into a command line:
the one that resumes or repeats the command, and a page's command, which runs in another folder.
``schema`` is the JSON schema of the values. A field of type ``OptionGroup`` stands for the group's
options, which several commands share.

A field's ``Role`` decides in which of these command lines it appears. Options with their default
values are left out, except ``PrintedDefault`` ones.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, ParameterInfo

from elanite.cli.common import Role, Speech
from elanite.cli.parser import Command
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class PrintedDefault:
    """Marks options that the printed command names also with their default values."""


@dataclass(frozen=True, kw_only=True)
class OptionGroup:
    """Base of the dataclasses with options that several commands share."""


Filled = TypeVar("Filled", bound="Request | OptionGroup")


@dataclass(frozen=True)
class Entry:
    """A command's argument or option."""

    name: str
    """The field's name."""
    annotation: object
    """The type, as ``typer`` reads it."""
    default: object
    """The default value; ``inspect.Parameter.empty`` if the command needs the option."""
    info: ParameterInfo
    role: Role
    stated: bool

    @property
    def positional(self) -> bool:
        """Whether it is an argument, which has no option before its value."""
        return isinstance(self.info, ArgumentInfo)

    @property
    def values(self) -> object:
        """The values' type, without the command-line marks."""
        return get_args(self.annotation)[0]

    @property
    def options(self) -> tuple[str, ...]:
        """The names on the command line, such as ``--jobs`` and ``-j``; empty for arguments."""
        # Within ``Annotated``, ``typer`` keeps the first name where defaults stand elsewhere.
        return () if self.positional else (str(self.info.default), *(self.info.param_decls or ()))

    def words(self, value: object) -> list[str]:
        """The command-line words that give this value."""
        if self.positional:
            return [_word(each) for each in (value if isinstance(value, list | tuple) else [value])]
        first = self.options[0]
        if isinstance(value, bool):
            return [first.split("/")[0 if value else 1]]
        if isinstance(value, tuple):
            return [first, *map(_word, value)]
        return [
            word
            for each in (value if isinstance(value, list) else [value])
            for word in (first, _word(each))
        ]


@dataclass(frozen=True, kw_only=True)
class Request:
    """Base of all commands.

    A subclass has the command's help as its docstring, and the options as fields.
    """

    verb: ClassVar[str]
    """The words that name the command, such as ``run`` or ``store verify``."""

    former: ClassVar[bool] = False
    """Whether another command has taken over; the help leaves it out."""

    rest: ClassVar[bool] = False
    """Whether all words after the first argument are another program's."""

    def execute(self) -> None:
        """Run the command."""
        raise NotImplementedError

    def words(self, *roles: Role, **changed: object) -> list[str]:
        """The command-line words behind the verb: those with the given roles, by default all but
        ``Role.ONCE``.

        ``changed`` are values in place of the present ones, by field name; `None` leaves an option
        out.
        """
        present = _values(self) | changed
        arguments: list[str] = []
        options: list[str] = []
        for entry in entries(type(self)):
            value = present[entry.name]
            empty = value is None or value in ([], ())
            idle = empty or (value == entry.default and not entry.stated)
            if idle or entry.role not in (roles or set(Role) - {Role.ONCE}):
                continue
            (arguments if entry.positional else options).extend(entry.words(value))
        return [*options, *arguments] if self.rest else [*arguments, *options]

    def refuse(self, why: str, *allowed: str) -> None:
        """Raise ``UsageError`` if options were given that have no meaning here: all but those of
        the allowed fields.
        """
        from elanite.errors import UsageError

        for entry in entries(type(self)):
            value = _values(self)[entry.name]
            if entry.name not in allowed and value not in (entry.default, [], ()):
                raise UsageError(
                    f"{entry.options[0] if entry.options else entry.name} is not for {why}"
                )

    def written(self, **changed: object) -> list[str]:
        """The output options' words for a command in another folder: files have their last
        names.
        """
        from elanite.report.pages.files import tame

        present = _values(self) | changed
        files = {
            name: tame(value.name) for name, value in present.items() if isinstance(value, Path)
        }
        return self.words(Role.OUTPUT, **(changed | files))

    def again(self, **changed: object) -> list[str]:
        """The command line that repeats the command, or resumes it; ``changed`` as in ``words``."""
        return ["elanite", *self.verb.split(), *self.words(**changed)]


def entries(made: type[Request | OptionGroup]) -> tuple[Entry, ...]:
    """A command's arguments and options, in declaration order."""
    return tuple(_entries(made))


def _entries(made: type[Request | OptionGroup]) -> Iterator[Entry]:
    hints = get_type_hints(made, include_extras=True)
    for field in dataclasses.fields(made):
        annotation = hints[field.name]
        if isinstance(annotation, type) and issubclass(annotation, OptionGroup):
            yield from entries(annotation)
            continue
        marks = annotation.__metadata__
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        info = next(each for each in marks if isinstance(each, ParameterInfo))
        role = next((each for each in marks if isinstance(each, Role)), Role.RESULT)
        stated = any(isinstance(each, PrintedDefault) for each in marks)
        yield Entry(
            field.name, Annotated[get_args(annotation)[0], info], default, info, role, stated
        )


def _values(of: Request | OptionGroup) -> dict[str, object]:
    """A command's values by field name, including group fields."""
    found: dict[str, object] = {}
    for field in dataclasses.fields(of):
        value = getattr(of, field.name)
        found |= _values(value) if isinstance(value, OptionGroup) else {field.name: value}
    return found


def filled(made: type[Filled], values: dict[str, object]) -> Filled:
    """The command, or the group, with these values by field name, including group fields."""
    hints = get_type_hints(made)
    names = [field.name for field in dataclasses.fields(made)]
    groups = {
        name: hints[name]
        for name in names
        if isinstance(hints[name], type) and issubclass(hints[name], OptionGroup)
    }
    found = made(
        **{name: filled(groups[name], values) if name in groups else values[name] for name in names}
    )
    if isinstance(found, Request):
        _require_text(found)
    return found


def _require_text(request: Request) -> None:
    """Raise ``UsageError`` for a word with bytes that are not UTF-8: the simulator, pages and
    manifests are texts.

    The words behind another program's name are that program's.
    """
    theirs = {entry.name for entry in entries(type(request)) if request.rest and entry.positional}
    for name, value in _values(request).items():
        for word in value if isinstance(value, list | tuple) else [value]:
            if name not in theirs and isinstance(word, str | Path):
                try:
                    str(word).encode()
                except UnicodeEncodeError:
                    raise not_text(str(word)) from None


def not_text(word: str) -> UsageError:
    """An error about a name with bytes that are not UTF-8."""
    return UsageError(f"`{word}`: this name has bytes that are not UTF-8; give it another one")


def _word(value: object) -> str:
    return (
        f"{value:g}"
        if isinstance(value, float)
        else str(value.value if isinstance(value, Enum) else value)
    )


DECLARED: dict[str, type[Request]] = {}
"""All commands, by their words behind ``elanite``."""


def declare(app: typer.Typer, *requests: type[Request]) -> None:
    """Add commands to the command line, or to one of its groups; every command has the option
    ``--quiet``.
    """
    for request in requests:
        DECLARED[request.verb] = request
        # Words behind another program's name go to that program.
        settings = {"allow_interspersed_args": not request.rest}
        name = request.verb.rsplit(" ", 1)[-1]
        app.command(name, cls=Command, hidden=request.former, context_settings=settings)(
            _function(request)
        )


def _function(request: type[Request]) -> Callable[..., None]:
    quiet = typer.Option("--quiet", "-q", help="Print only errors on standard error.")
    options = {entry.name: (entry.annotation, entry.default) for entry in entries(request)}
    options.setdefault("quiet", (Annotated[bool, quiet], False))

    def run(**values: object) -> None:
        Speech.quiet = bool(values["quiet"])
        filled(request, values).execute()

    only = inspect.Parameter.KEYWORD_ONLY
    vars(run)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, only, default=one, annotation=kind)
            for name, (kind, one) in options.items()
        ]
    )
    run.__annotations__ = {name: kind for name, (kind, _) in options.items()}
    run.__doc__ = request.__doc__
    return run


def schema(request: type[Request]) -> dict[str, object]:
    """The JSON schema of a command's values, by option name."""
    from pydantic import ConfigDict, Field, create_model

    def field(entry: Entry) -> object:
        about = entry.info
        default = ... if entry.default is inspect.Parameter.empty else entry.default
        return Field(default, description=about.help, ge=about.min, le=about.max)

    fields: dict[str, Any] = {
        _key(entry): (entry.values, field(entry)) for entry in entries(request)
    }
    title = f"elanite {request.verb}"
    made = create_model(title, __config__=ConfigDict(extra="forbid", title=title), **fields)
    about = inspect.getdoc(request) or ""
    return {**made.model_json_schema(), "description": about.splitlines()[0]}


def _key(entry: Entry) -> str:
    long = [each for each in entry.options if each.startswith("--")]
    return long[0].split("/")[0].removeprefix("--") if long else entry.name.rstrip("_")
