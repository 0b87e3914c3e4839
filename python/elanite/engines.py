"""Engines: who runs the batches of a campaign. Each is a package that people use already; none is made here.

    threads          threads of this process
    dask             Dask: the cluster of a scheduler (--scheduler tcp://host:8786), or one of --workers processes here
    slurm, flux      jobs of a batch system, by executorlib; jobs go on when the driver ends, and keep their points
    mpi              the other processes of an MPI job: mpiexec -n 65 elanite run ... --executor mpi
    module:factory   any function without arguments that returns a ``concurrent.futures.Executor``

An engine is opened as a context manager and gives an executor. The driver needs little of it: ``submit`` of a function
with one text, futures that end, and exceptions for workers that die. What the engines do beyond that:

Dask restarts workers that die (the nanny) and hands out their tasks again: a scheduler of your own four times
(``distributed.scheduler.allowed-failures``), the local one never, so that the driver counts. executorlib notices within
30 s that a job of a batch system has ended without a result. An MPI job dies as a whole with any of its processes;
start it again. A ``ProcessPoolExecutor`` breaks as a whole, too.
"""

from __future__ import annotations

import importlib
import logging
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.campaign import cores
from elanite.errors import UsageError
from elanite.foreign import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

NAMES = ("threads", "dask", "slurm", "flux", "mpi")

_WAIT = 30.0
"""Seconds in which a scheduler must answer."""


@dataclass(frozen=True)
class Engine:
    """An opened engine."""

    executor: Executor | None
    """None: threads of this process."""
    workers: int | None
    """How many points it simulates at the same time; None: as many as there are cores."""


@contextmanager
def opened(name: str, workers: int | None, scheduler: str | None, folder: Path) -> Iterator[Engine]:
    """Open an engine by its name. Batch systems keep their files in ``folder``, which every worker must see.

    Raises ``UsageError`` if there is no such engine, a package lacks, or no scheduler answers.
    """
    if scheduler is not None and name != "dask":
        raise UsageError(f"--scheduler is for --executor dask, not for {name}")
    if name == "threads":
        yield Engine(None, workers)
    elif name == "dask":
        with _dask(workers, scheduler) as engine:
            yield engine
    elif name in ("slurm", "flux"):
        with _batch_system(name, workers, folder) as engine:
            yield engine
    elif name == "mpi":
        with _mpi() as engine:
            yield engine
    elif ":" in name:
        with _factory(name)() as executor:
            yield Engine(executor, workers or cores())
    else:
        raise UsageError(f"there is no executor `{name}`: choose one of {', '.join(NAMES)} or module:factory")


@contextmanager
def _dask(workers: int | None, scheduler: str | None) -> Iterator[Engine]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise _lacks("dask", "distributed") from error
    # Workers that die and schedulers that are lost are told by the campaign; Dask would add tracebacks.
    for logger in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]:
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    if scheduler is None:
        # A worker has no bound of memory: points have their own. The driver counts deaths of workers. Nobody looks at
        # the profiles that workers make of what they do. A worker that dies on a busy machine may take long to come
        # back; after this timeout the cluster would give it up for ever, and the campaign would wait for nobody. Every
        # process looks 50 times a second whether it is late, which is half of what an idle cluster costs.
        settings = {
            "distributed.worker.profile.enabled": False,
            "distributed.admin.tick.interval": "1s",
            "distributed.deploy.lost-worker-timeout": "1 day",
        }
        with (
            dask.config.set(settings),
            LocalCluster(
                n_workers=workers or cores(),
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address=None,
                scheduler_kwargs={"allowed_failures": 0},
            ) as cluster,
            Client(cluster) as client,
        ):
            yield Engine(client.get_executor(pure=False), workers or cores())
        return
    with reading(f"--scheduler {scheduler}", "no Dask scheduler answers", "start one: dask scheduler --port 8786"):
        client = Client(scheduler, timeout=_WAIT)
    with client:
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler {scheduler} has no workers; start some: dask worker {scheduler}"
            ) from error
        yield Engine(client.get_executor(pure=False), workers or sum(client.nthreads().values()))


@contextmanager
def _batch_system(name: str, workers: int | None, folder: Path) -> Iterator[Engine]:
    try:
        import h5py  # noqa: F401 - executorlib hands tasks over in HDF5 files
        import pysqa  # noqa: F401 - and calls sbatch by pysqa
        from executorlib import FluxClusterExecutor, SlurmClusterExecutor
    except ImportError as error:
        raise _lacks(name, "'executorlib[cluster]'") from error
    command = {"slurm": "sbatch", "flux": "flux"}[name]
    if shutil.which(command) is None:
        raise UsageError(f"--executor {name} needs the command {command}, which is not here; run it on a login node")
    folder.mkdir(parents=True, exist_ok=True)
    cache = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
    kind = {"slurm": SlurmClusterExecutor, "flux": FluxClusterExecutor}[name]
    executor = kind(cache_directory=str(cache), disable_dependencies=True, refresh_rate=0.5)
    try:
        yield Engine(executor, workers or _JOBS)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown(wait=True, cancel_futures=True)
    shutil.rmtree(cache, ignore_errors=True)


_JOBS = 16
"""How many jobs of a batch system are taken to run at the same time unless --workers says so."""


@contextmanager
def _mpi() -> Iterator[Engine]:
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor, MPIPoolExecutor
    except ImportError as error:
        raise _lacks("mpi", "mpi4py") from error
    if MPI.COMM_WORLD.Get_size() < 2:
        raise UsageError(
            "--executor mpi needs at least two processes, of which one hands out the work:"
            " mpiexec -n 5 elanite run ... --executor mpi"
        )
    executor: MPIPoolExecutor | None
    with MPICommExecutor() as executor:  # type: ignore[assignment] # it gives another executor, or none
        if executor is not None:
            yield Engine(executor, executor.num_workers)
            return
    raise SystemExit(0)  # another process than the first one, which has served until the end


def _factory(name: str) -> Callable[[], Executor]:
    module, _, attribute = name.partition(":")
    try:
        found: Callable[[], Executor] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"--executor {name}: {error}; it must name a function of a module on PYTHONPATH") from error
    return found


def _lacks(name: str, package: str) -> UsageError:
    return UsageError(f"--executor {name} needs a package: pip install {package}")
