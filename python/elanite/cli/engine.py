"""What the commands that simulate share: a campaign on the engine that the options name."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.cli.common import OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elanite.campaign import Outcome
    from elanite.plan import Plan
    from elanite.store import Store


@contextmanager
def campaigns_on(
    store: Store,
    jobs: int | None,
    out: str | None,
    executor: str,
    scheduler: str | None,
    workers: int | None,
    shard: str | None,
    max_cost: float | None = None,
) -> Iterator[Callable[[Sequence[Plan]], Outcome]]:
    """Open an engine for one campaign or several; the value runs a campaign, with its progress on standard error."""
    from elanite import campaign, engines
    from elanite.cli.progress import observer, summary
    from elanite.errors import UsageError

    if executor == "threads" and workers is not None:
        raise UsageError("--workers is for other executors than threads; for threads it is --jobs")
    if executor != "threads" and jobs is not None:
        raise UsageError(f"--jobs is for threads; for --executor {executor} it is --workers")
    folder = Path(out) if out else OUT
    with engines.opened(executor, jobs if executor == "threads" else workers, scheduler, folder) as engine:

        def simulate(plans: Sequence[Plan]) -> Outcome:
            outcome = campaign.run(
                plans,
                store,
                engine.workers,
                observer(),
                out,
                executor=engine.executor,
                max_cost=max_cost,
                shard=shard,
            )
            summary(outcome)
            return outcome

        yield simulate


def afford(plans: Sequence[Plan], store: Store, shard: str | None, max_cost: float | None) -> None:
    """Refuse campaigns that together cost more than was allowed, if anything was."""
    from elanite import campaign

    if max_cost is not None:
        campaign.afford(plans, store, max_cost, shard)


def campaign_on(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None,
    out: str | None,
    executor: str,
    scheduler: str | None,
    workers: int | None,
    shard: str | None,
    max_cost: float | None,
) -> Outcome:
    """Run a campaign on an engine, with its progress on standard error."""
    with campaigns_on(store, jobs, out, executor, scheduler, workers, shard, max_cost) as simulate:
        return simulate(plans)


def words_of(
    executor: str, scheduler: str | None, workers: int | None, shard: str | None, max_cost: float | None
) -> list[str]:
    """The options that name the engine and the part of the campaign, for the command that goes on."""
    words = ["--executor", executor] if executor != "threads" else []
    words += ["--scheduler", scheduler] if scheduler else []
    words += ["--workers", str(workers)] if workers else []
    words += ["--shard", shard] if shard else []
    words += ["--max-cost", f"{max_cost:g}"] if max_cost is not None else []
    return words
