"""What the commands that simulate share: a campaign on the engine that the options name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elanite.cli.common import OUT, complain, warn_if_stale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elanite.campaign import Outcome, Spent, engines
    from elanite.inputs.plan import Plan
    from elanite.store import Store


def campaign_on(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None,
    out: str | None,
    executor: str,
    scheduler: str | None,
    tls: engines.Tls | None,
    workers: int | None,
    shard: str | None,
    max_cost: float | None,
    ended: Callable[[Plan, Spent], None] | None = None,
) -> Outcome:
    """Run a campaign on an engine, with its progress on standard error.

    What experiments took is told at the end, or by ``ended``, which is as ``campaign.run`` has it.
    """
    from elanite import campaign
    from elanite.campaign import engines
    from elanite.cli.progress import deaths, observer, renewed, summary
    from elanite.errors import UsageError

    if executor == "threads" and workers is not None:
        raise UsageError("--workers is for other executors than threads; for threads it is --jobs")
    if executor != "threads" and jobs is not None:
        raise UsageError(f"--jobs is for threads; for --executor {executor} it is --workers")
    warn_if_stale()
    folder = Path(out) if out else OUT
    asked = jobs if executor == "threads" else workers
    with engines.opened(executor, asked, scheduler, tls, folder, complain) as engine:
        outcome = campaign.run(
            plans,
            store,
            engine.workers,
            observer(),
            out,
            executor=engine.executor,
            max_cost=max_cost,
            shard=shard,
            ended=ended,
        )
    if ended is None:
        summary(outcome)
    deaths(outcome)
    renewed(outcome)
    return outcome


def words_of(
    executor: str,
    scheduler: str | None,
    tls: engines.Tls | None,
    workers: int | None,
    shard: str | None,
    max_cost: float | None,
) -> list[str]:
    """The options that name the engine and the part of the campaign, for the command that goes on."""
    words = ["--executor", executor] if executor != "threads" else []
    words += ["--scheduler", scheduler] if scheduler else []
    words += ["--tls", *map(str, tls)] if tls else []
    words += ["--workers", str(workers)] if workers else []
    words += ["--shard", shard] if shard else []
    words += ["--max-cost", f"{max_cost:g}"] if max_cost is not None else []
    return words
