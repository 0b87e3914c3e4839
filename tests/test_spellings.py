"""A value has one spelling in legends, axes and csv, and the command line accepts any number
spelling.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

import elanite as el
from conftest import Ended, data
from elanite.base.text import means_same, plain
from elanite.figures.style import size_axis
from test_figure_checks import JOBS

Run = Callable[..., Ended]

RATES = ["1e-7", "1e-5"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    head, _, jobs = JOBS.partition("[series.jobs.a]")
    text = (
        f'{head}fault = [{{ links = "all", bit_error_rate = [1e-7, 1e-5] }}]\n[series.jobs.a]{jobs}'
    )
    text += (
        '[[figure]]\nname = "own"\ntitle = "{fault.bit_error_rate}"\nmetric = "accepted"\nx ='
        ' "load_MBps"\n'
    )
    (tmp_path / "mine.toml").write_text(
        text + 'curve = ["{fault.bit_error_rate}"]\n', encoding="utf-8"
    )
    return tmp_path / "mine.toml"


def test_small_numbers_have_one_spelling(elanite: Run, file: Path) -> None:
    ended = elanite("run", "mine.toml", "--format", "csv", "--out", "out")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert list(dict.fromkeys(row["fault.bit_error_rate"] for row in rows)) == RATES
    (figure,) = el.load_results(file, out=file.parent / "out").figures()
    assert list(dict.fromkeys(row["curve"] for row in data(figure, "mean"))) == RATES
    assert figure.title == ", ".join(RATES)
    for rate in (*RATES, "1e-07", "0.00001"):
        ended = elanite(
            "run",
            "mine.toml",
            "--format",
            "csv",
            "--out",
            "out",
            "--where",
            f"fault.bit_error_rate={rate}",
        )
        assert ended.code == 0, ended.err
        chosen = {row["fault.bit_error_rate"] for row in csv.DictReader(io.StringIO(ended.out))}
        assert chosen == {plain(float(rate))}
    both = [word for rate in RATES for word in ("--where", f"fault.bit_error_rate={rate}")]
    ended = elanite("run", "mine.toml", "--format", "csv", "--out", "out", *both)
    assert {row["fault.bit_error_rate"] for row in csv.DictReader(io.StringIO(ended.out))} == set(
        RATES
    )
    assert (
        "there are: 1e-7, 1e-5"
        in elanite("run", "mine.toml", "--where", "fault.bit_error_rate=2").err
    )


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (1e-5, "0.00001", True),
        (0.0, "0", True),
        (8, "8", True),
        ("80 MB/s", "0.08 GB/s", True),
        ("4 KB", "4096 B", True),
        ("4 KB", "4096", False),
        ("uniform", "uniform", True),
        ("uniform", "tornado", False),
        (True, "true", True),
        (None, "", True),
    ],
)
def test_numbers_are_compared_as_numbers(value: object, text: str, expected: bool) -> None:
    assert means_same(value, text) is expected


def test_few_sizes_are_all_labelled() -> None:
    def marks(*sizes: int) -> list[float]:
        found: list[float] = size_axis("message_bytes", "message", sizes).to_dict()["axis"][
            "values"
        ]
        return found

    assert marks(1024, 32768) == [1024, 32768]
    assert marks(1024, 1280, 32768) == [1024, 4096, 16384]
    assert len(marks(*(2**power for power in range(23)))) < 23
