"""Compare calibration methods: their distance from the changed parameters, by the count of value
sets.

    python benches/calibration.py OUT

Three machines with changed parameters are simulated: a few pings and a uniform traffic curve. Then
each method searches for the parameters. A Markdown table for docs/scale-calibration-limits.md is
printed: the largest error among the three values after 15, 30 and 45 value sets, as the median over
the machines and as the worst one. The methods are ``elanite calibrate`` (a Latin hypercube, then
least squares), least squares alone from mid-range, and Optuna's tree-structured Parzen estimator in
batches of four (`ask` and `tell`). Optuna's Gaussian process needs PyTorch and its CMA-ES another
package, which Elanite does not bring.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from elanite import campaign
from elanite.inputs.experiment import Experiment
from elanite.inputs.machine import Machine
from elanite.inputs.plan import plan
from elanite.library.api import run
from elanite.store import Store
from elanite.study import measurements, minimum, ranges
from elanite.study.search import TrialLimitError, ValueSearch

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD = str(Path(__file__).parents[1] / "tests" / "files" / "load.toml")
PINGS = [
    'series.size.ping.message=["0 B", "64 KB"]',
    "series.size.ping.directions=one",
    "series.distance.ping.message=0 B",
]
LOADS = ['series.load.jobs.uniform.load=["20 MB/s", "40 MB/s", "80 MB/s"]']
FIT = {
    "bus.rate": "150 MB/s..400 MB/s",
    "adapter.dma_start": "200 ns..1500 ns",
    "link.hop_delay": "20 ns..150 ns",
}
MACHINES = (
    ("231.5 MB/s", "671 ns", "75 ns"),
    ("340 MB/s", "1210 ns", "35 ns"),
    ("180 MB/s", "380 ns", "120 ns"),
)
COUNTS = (15, 30, 45)


def hypercube_and_least_squares(search: ValueSearch) -> None:
    """As ``elanite calibrate``."""
    minimum.minimise(search, 1)


def least_squares_alone(search: ValueSearch) -> None:
    """From mid-range."""
    minimum.solver()(
        lambda x: search.residuals(search.texts(x)),
        [0.5] * len(search.keys),
        jac=lambda x: minimum.jacobian(search, search.texts(x)),
        bounds=(0, 1),
    )


def parzen(search: ValueSearch) -> None:
    """Optuna's default sampler."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=12, constant_liar=True)
    )
    while True:
        asked = [study.ask() for _ in range(4)]
        sets = [
            search.texts([each.suggest_float(key.key, 0, 1) for key in search.keys])
            for each in asked
        ]
        search.run(sets)
        for trial, texts in zip(asked, sets, strict=True):
            study.tell(trial, search.root(texts) ** 2)


WAYS: dict[str, Callable[[ValueSearch], object]] = {
    "hypercube, then least squares": hypercube_and_least_squares,
    "least squares alone": least_squares_alone,
    "Parzen estimator (Optuna)": parzen,
}


def main() -> None:
    """Run all ways on all machines, and print the table."""
    parser = argparse.ArgumentParser(description="Compare ways to calibrate.")
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    experiments = [Experiment.load("qsnet/ping", PINGS), Experiment.load(LOAD, LOADS)]
    keys = [ranges.of("FIT", key, text) for key, text in FIT.items()]
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    ended: dict[str, list[int]] = {way: [] for way in WAYS}
    for number, values in enumerate(MACHINES):
        truth = dict(zip(FIT, values, strict=True))
        file = out / f"measured-{number}.csv"
        _measure(experiments, truth, out, file)
        for way, search_by in WAYS.items():
            base = Machine.load("es40-qsnet")
            targets = measurements.read(
                file, [plan(each.file, [base.file], each.overrides) for each in experiments]
            )
            store = Store(out / f"{number}-{way}" / "store")
            simulate = partial(campaign.run, store=store, out=str(out))
            search = ValueSearch(base, experiments, keys, targets, store, 1, simulate, COUNTS[-1])
            search.first(search.own())
            with contextlib.suppress(TrialLimitError):
                search_by(search)
            ended[way].append(len(search.tried))
            found[way].append([_error(search, count, truth) for count in COUNTS])
            print(
                values,
                way,
                ended[way][-1],
                [f"{error:.2%}" for error in found[way][-1]],
                flush=True,
            )
    print("| way | sets | " + " | ".join(f"after {count}" for count in COUNTS) + " |")
    print("|---|---|" + "---|" * len(COUNTS))
    for way, errors in found.items():
        cells = [f"{median(column):.1%}, {max(column):.1%}" for column in zip(*errors, strict=True)]
        print(f"| {way} | {min(ended[way])} to {max(ended[way])} | {' | '.join(cells)} |")


def _measure(experiments: list[Experiment], truth: dict[str, str], out: Path, file: Path) -> None:
    machine = Machine.load("es40-qsnet", [f"{key}={value}" for key, value in truth.items()])
    columns = [
        "experiment",
        "series",
        "to",
        "source",
        "destination",
        "message",
        "load",
        "metric",
        "mean",
    ]
    tables = []
    for each in experiments:
        rows = run(each, machine=machine, out=out).summary()
        rows = rows.filter(
            pl.col("metric").is_in(["latency", "accepted"]), pl.col("series") != "mpi"
        )
        tables.append(
            rows.select(name for name in columns if name in rows.columns).rename({"mean": "value"})
        )
    pl.concat(tables, how="diagonal").write_csv(file)


def _error(search: ValueSearch, count: int, truth: dict[str, str]) -> float:
    """The largest value error in the best of the first sets."""
    first = list(search.tried)[1 : count + 1]
    best = min(first, key=search.root)
    pairs = zip(best, truth.values(), strict=True)
    return max(math.fabs(ranges.amount(one) / ranges.amount(other) - 1) for one, other in pairs)


if __name__ == "__main__":
    main()
