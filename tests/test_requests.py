"""A command is declared once: its options, help, completion, manual page, printed command and
schema agree.
"""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import pytest
import typer

from conftest import command as run_as
from conftest import environment, execute
from elanite.cli import app, manual
from elanite.cli.common import Role
from elanite.cli.inspect import Schema
from elanite.cli.mpirun import Mpirun
from elanite.cli.request import DECLARED, Entry, Request, entries, filled, schema
from elanite.cli.results import Pictures, Run
from elanite.cli.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Ended

GROUP = typer.main.get_command(app)
every = pytest.mark.parametrize("request_", DECLARED.values(), ids=list(DECLARED))


def leaves(found: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, and every group, with its words."""
    yield name, found
    for word, one in getattr(found, "commands", {}).items():
        yield from leaves(one, f"{name} {word}")


def command(request: type[Request]) -> Any:
    """The command that parses a request's words."""
    found: Any = GROUP
    for word in request.verb.split():
        found = found.commands[word]
    return found


def other(kind: Any, default: Any) -> Any:
    """A value for a type that is not the default one."""
    options = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) is list:
        return [other(options[0], None), other(options[0], None)]
    if get_origin(kind) is tuple:
        return tuple(other(one, None) for one in options)
    if options:
        return other(options[0], default)
    if issubclass(kind, Enum):
        return next(one for one in kind if one != default)
    return {bool: not default, int: 3, float: 0.5, str: "a word", Path: Path("a file")}[kind]


def parsed(request: type[Request], words: list[str]) -> dict[str, Any]:
    context = command(request).make_context(request.verb, list(words))
    found = {
        name: list(value) if isinstance(value, tuple | list) else value
        for name, value in context.params.items()
    }
    found.pop("quiet")
    return found


def values(request: type[Request], names: set[str]) -> dict[str, Any]:
    """Values for these options, and the others' defaults."""
    return {
        one.name: other(one.values, one.default)
        if one.name in names or one.default is inspect.Parameter.empty
        else one.default
        for one in entries(request)
    }


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value


def lost(one: Entry) -> bool:
    """Whether no command line repeats the option."""
    return one.role is Role.ONCE or one.name == "quiet"


@every
def test_the_printed_command_has_the_same_values(request_: type[Request]) -> None:
    repeated = [one for one in entries(request_) if not lost(one)]
    for names in (set(), {one.name for one in repeated}, *({one.name} for one in repeated)):
        given = values(request_, names)
        words = filled(request_, given).words()
        theirs = parsed(request_, words)
        for one in repeated:
            assert (theirs[one.name] or None) == (plain(given[one.name]) or None), (one.name, words)


def test_a_command_that_was_given_nothing_prints_nothing() -> None:
    assert Run(experiment="qsnet/ping").again() == ["elanite", "run", "qsnet/ping"]
    assert Run(experiment="qsnet/ping", pictures=Pictures(open_=True)).again() == [
        "elanite",
        "run",
        "qsnet/ping",
    ]
    assert Mpirun(program=["./a", "-n", "2"], ranks=4).again() == [
        *("elanite", "mpirun", "-n", "4", "--machine", "es40-qsnet"),
        *("./a", "-n", "2"),
    ]


def test_command_lines_of_pages_leave_out_hosts_and_name_files_by_their_last_names() -> None:
    found = Watch(experiment="a/b.toml", page=Path("x/y.html"), jobs=3, out=Path("there"), seed=5)
    assert found.words(Role.RESULT) == ["--seed", "5"]
    assert found.written() == ["--html", "y.html"]
    assert found.again(point=["ab"])[2:] == [
        *("a/b.toml", "--seed", "5", "--point", "ab"),
        *("--html", "x/y.html", "--jobs", "3", "--out", "there"),
    ]


@pytest.mark.parametrize("name", [name for name, _ in leaves(GROUP, "elanite")])
def test_help_fits_80_columns_and_names_no_type_of_python(
    elanite: Callable[..., Ended], name: str
) -> None:
    text = elanite(*name.split()[1:], "--help").out
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert not [word for word in ("<str>", "<list[", "<path>", "<int", "<float") if word in text]


WRONG = [
    (["run", "qsnet/ping", "--jobs", "x"], "`x` is not a whole number"),
    (["run", "qsnet/ping", "--jobs", "1.5"], "`1.5` is not a whole number"),
    (["run", "qsnet/ping", "--max-cost", "x"], "`x` is not a number"),
    (
        ["run", "qsnet/ping", "--format", "yaml"],
        "'yaml' is not one of 'table', 'json', 'csv', 'parquet'.",
    ),
    (["sweep", "qsnet/ping", "--vary", "a=1", "--sample", "lhs", "x"], "`x` is not a whole number"),
    (["mpirun", "-n", "x", "true"], "`x` is not a whole number"),
    (["noise", "--seconds", "long"], "`long` is not a number"),
]


@pytest.mark.parametrize(
    ("words", "why"), WRONG, ids=lambda one: " ".join(one) if isinstance(one, list) else None
)
def test_wrong_values_are_refused_in_the_words_of_the_user(
    elanite: Callable[..., Ended], words: list[str], why: str
) -> None:
    ended = elanite(*words)
    assert ended.code == 2
    assert ended.err.endswith(f": {why}\n")


MISTYPED = [
    (["mpirn"], "mpirun"),
    (["RUN"], "run"),
    (["calib"], "calibrate"),
    (["store", "verfy"], "verify"),
    (["goal", "allredce"], "allreduce"),
    (["schema", "experimnt"], "experiment"),
    (["run", "qsnet/ping", "--machine", "es40"], "es40-qsnet"),
    (["run", "qsnet/ping", "--machine", "ES40-QSNET"], "es40-qsnet"),
    (["mpirun", "-n", "2", "--machine", "opteron", "true"], "opteron-qsnet2"),
    (["replay", "x.goal", "--machine", "smart"], "smart-multirail"),
    (["run", "hotspot"], "qsnet/hotspot"),
    (["watch", "qsnet/hot"], "qsnet/hotspot"),
    (["show", "es40"], "es40-qsnet"),
    (["sensitivity", "es40"], "es40-qsnet"),
    (["sweep", "es40", "--one-at-a-time"], "es40-qsnet"),
    (["calibrate", "opteron", "--to", "claims"], "opteron-qsnet2"),
    (["reproduce", "--only", "qsnt"], "qsnet"),
]


@pytest.mark.parametrize(
    ("words", "meant"), MISTYPED, ids=lambda one: " ".join(one) if isinstance(one, list) else None
)
def test_a_mistyped_name_has_a_hint(
    elanite: Callable[..., Ended], words: list[str], meant: str
) -> None:
    ended = elanite(*words)
    assert ended.code == 2
    assert f"did you mean `{meant}" in ended.err


def completed(request: type[Request], words: list[str], option: str, incomplete: str) -> list[str]:
    """The words that the shell is offered for an option, behind these words."""
    found = command(request)
    context = found.make_context(request.verb, list(words), resilient_parsing=True)
    (parameter,) = (one for one in found.params if option in (one.name, *one.opts))
    return [one.value for one in parameter.shell_complete(context, incomplete)]


def test_keys_and_values_of_options_are_completed() -> None:
    words = ["qsnet/ping"]
    assert "link.hop_delay=" in completed(Run, words, "--set", "link.h")
    assert "run.seeds=" in completed(Run, words, "--set", "run.s")
    assert completed(Run, words, "--metric", "laten") == [
        one for one in completed(Run, words, "--metric", "") if one.startswith("laten")
    ]
    assert "latency" in completed(Run, words, "--metric", "laten")
    assert "message=" in completed(Run, words, "--where", "mes")
    assert "message=4 KB" in completed(Run, words, "--where", "message=4")
    assert "size" in completed(Run, words, "--series", "")
    assert completed(Run, words, "--machine", "es") == ["es40-qsnet"]
    assert completed(Run, ["missing.toml"], "--where", "") == []
    assert completed(Mpirun, [], "--machine", "op") == ["opteron-qsnet2"]
    assert completed(Schema, [], "kind", "sw") == ["sweep"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("elanite run qsnet/ping --where mes", "message="),
        ("elanite run qsnet/ping --jobs 2 --where message=4", "message=4 B"),
        ("elanite run qsnet/ping --set link.h", "link.hop_delay="),
        ("elanite sweep qsnet/ping --vary bus.r", "bus.rate="),
        ("elanite mpi", "mpirun"),
        ("elanite sens", ""),
    ],
)
def test_the_shell_is_offered_words(words: str, first: str) -> None:
    asked = {
        "_ELANITE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    ended = execute(run_as(), env=environment() | asked)
    assert ended.out.partition("\n")[0] == first, ended


def test_the_manual_has_every_option() -> None:
    page = manual.page(GROUP, "0")
    for name, found in leaves(GROUP, "elanite"):
        if name == "elanite" or found.hidden:
            continue
        start = page.index(f".SS {manual._plain(name)}\n")
        section = page[start : page.find("\n.SS ", start)]
        for one in found.params if not hasattr(found, "commands") else ():
            assert (
                manual._plain(one.opts[-1] if one.opts[0].startswith("-") else one.metavar or "")
                in section
            )


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_the_manual_has_no_mistake_of_its_language() -> None:
    words = ["groff", "-man", "-Tascii", "-ww", "-z"]
    done = subprocess.run(
        words, input=manual.page(GROUP, "0"), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


@every
def test_a_schema_has_every_option_with_its_default(request_: type[Request]) -> None:
    found = json.loads(json.dumps(schema(request_)))
    names = {
        option.split("/")[0][2:]
        for one in command(request_).params
        for option in one.opts
        if option[:2] == "--"
    }
    arguments = {one.name.rstrip("_") for one in entries(request_) if one.positional}
    assert set(found["properties"]) == (names - {"help", "quiet"}) | arguments | (
        {"quiet"} & set(found["properties"])
    )
    needed = {one.name for one in entries(request_) if one.default is inspect.Parameter.empty}
    assert len(found.get("required", ())) == len(needed)
    assert not found["additionalProperties"]


FORMER = [
    (
        ["sensitivity", "es40", "--claims", "ping", "-j", "2"],
        "sweep es40 --one-at-a-time --claims ping --jobs 2",
    ),
    (["refit", "es40", "--most", "3"], "calibrate es40 --to claims --trials 3"),
]


@pytest.mark.parametrize(("words", "now"), FORMER, ids=["sensitivity", "refit"])
def test_a_former_command_names_and_runs_the_new_one(
    elanite: Callable[..., Ended], words: list[str], now: str
) -> None:
    ended = elanite(*words)
    assert ended.code == 2
    warning, error, *_ = ended.err.splitlines()
    assert warning == f"warning: the next release has no `elanite {words[0]}`; use: elanite {now}"
    assert error == "error: there is no study of `es40`; did you mean `es40-qsnet`?"
    assert elanite(*now.split()).err.splitlines()[0] == error


STUDIES = [
    (
        ["sweep", "es40-qsnet", "--one-at-a-time", "--vary", "a=1"],
        "--vary is not for --one-at-a-time",
    ),
    (
        ["sweep", "es40-qsnet", "--one-at-a-time", "--html", "x.html"],
        "--html is not for --one-at-a-time",
    ),
    (["sweep", "qsnet/ping"], "a sweep needs --vary KEY=VALUES"),
    (
        ["sweep", "qsnet/ping", "--vary", "a=1", "--claims", "ping"],
        "a sweep needs --one-at-a-time, if it has --claims",
    ),
    (
        ["calibrate", "es40-qsnet", "--to", "claims", "--fit", "a=1..2"],
        "--fit is not for --to claims",
    ),
    (
        ["calibrate", "es40-qsnet", "x", "--to", "claims"],
        "--to claims takes one machine, not es40-qsnet, x",
    ),
    (["calibrate", "qsnet/ping", "--to", "m.csv"], "a calibration needs --fit KEY=LOW..HIGH"),
]


@pytest.mark.parametrize(
    ("words", "why"), STUDIES, ids=lambda one: " ".join(one) if isinstance(one, list) else None
)
def test_options_of_another_study_are_refused(
    elanite: Callable[..., Ended], words: list[str], why: str
) -> None:
    ended = elanite(*words)
    assert ended.code == 2
    assert f"error: {why}" in ended.err
