"""Engines, which run a campaign's batches. Each is an existing package.

    threads          threads of this process
    processes        processes of this host, without a port (``pool.py``)
    dask             the workers of a Dask scheduler (--scheduler tls://host:8786); without one, as
                     processes
    slurm, flux      jobs of a batch system, by executorlib; jobs go on when the driver ends, and
                     keep their points
    mpi              the other processes of an MPI job: mpiexec -n 65 elanite run ... --executor mpi
    module:factory   any function without arguments that returns a ``concurrent.futures.Executor``

An engine is opened as a context manager and gives an executor. The driver's needs are small:
``submit`` of a function with one text, futures that end, and exceptions for workers that die.
Engines' further behaviour:

Dask restarts workers that die (the nanny) and hands out their tasks again, four times
(``distributed.scheduler.allowed-failures``) before the driver counts one death. executorlib notices
within 30 s that a batch system's job has ended without a result. An MPI job dies as a whole with
any of its processes; start it again. A ``ProcessPoolExecutor`` breaks as a whole, too.

A scheduler runs code for everyone with access to its port. Elanite therefore starts no scheduler.
It connects to the user's scheduler, with TLS where the user names the files (``--tls``), and warns
where clients are not identified.
"""

from __future__ import annotations

import importlib
import logging
import shutil
import tempfile
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elanite.base import host, whole
from elanite.base.foreign import reading
from elanite.campaign import memory
from elanite.campaign.pool import ProcessPool
from elanite.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

NAMES = ("threads", "processes", "dask", "slurm", "flux", "mpi")

Tls = tuple[Path, Path, Path]
"""A client's TLS files: the authority's certificate, and the client's certificate and key."""

_WAIT = 30.0
"""Seconds in which a scheduler must answer."""


@dataclass(frozen=True)
class Engine:
    """An opened engine."""

    executor: Executor | None
    """`None`: this process's threads."""
    workers: int | None
    """Points that it simulates at the same time; `None`: the core count."""


@contextmanager
def opened(
    name: str,
    workers: int | None,
    scheduler: str | None,
    tls: Tls | None,
    folder: Path,
    warn: Callable[[str], None],
) -> Iterator[Engine]:
    """Open an engine by its name. Batch systems keep their files in ``folder``, which every worker
    must see.

    Raises ``UsageError`` if there is no such engine, a package lacks, or no scheduler answers.
    """
    if scheduler is not None and name != "dask":
        raise UsageError(f"--scheduler is for --executor dask, not for {name}")
    if tls is not None and scheduler is None:
        raise UsageError(
            "--tls is for the scheduler of Dask: name it, as in --scheduler tls://host:8786"
        )
    if name == "threads":
        yield Engine(None, workers)
    elif name == "dask" and scheduler is not None:
        with _dask(workers, scheduler, tls, warn) as engine:
            yield engine
    elif name in ("processes", "dask"):
        with _processes(workers or host.processors()) as engine:
            yield engine
    elif name in ("slurm", "flux"):
        with _batch_system(name, workers, folder) as engine:
            yield engine
    elif name == "mpi":
        with _mpi() as engine:
            yield engine
    elif ":" in name:
        with _factory(name)() as executor:
            yield Engine(executor, workers or host.processors())
    else:
        raise UsageError(
            f"there is no executor `{name}`: choose one of {', '.join(NAMES)} or module:factory"
        )


@contextmanager
def _processes(workers: int) -> Iterator[Engine]:
    room = host.memory()
    if room is not None and workers > (most := room.left // memory.PROCESS):
        raise UsageError(
            f"--workers {workers:,}: {room.limit} has room for {most:,} processes; start fewer"
        )
    pool = ProcessPool(workers)
    try:
        yield Engine(pool, workers)
    finally:
        pool.shutdown(wait=False)  # without the batches that an interrupt has left


@contextmanager
def _dask(
    workers: int | None, scheduler: str, tls: Tls | None, warn: Callable[[str], None]
) -> Iterator[Engine]:
    try:
        from distributed import Client
        from distributed.security import Security
    except ImportError as error:
        raise _lacks("dask", "distributed") from error
    # The campaign reports dead workers and lost schedulers; Dask would add tracebacks.
    for logger in [
        name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"
    ]:
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    if not scheduler.startswith("tls://"):
        if tls is not None:
            raise UsageError(
                f"--tls: the address {scheduler} is without TLS; write it as tls://host:port"
            )
        warn(
            f"warning: the scheduler {scheduler} asks for no certificate: whoever reaches its port"
            " runs code as its user, and in this command; start it and its workers with"
            " --tls-ca-file, --tls-cert and --tls-key, and name the files by --tls"
        )
    elif tls is None:
        raise UsageError(f"--scheduler {scheduler} needs the files of TLS: --tls CA CERT KEY")
    for file in tls or ():
        if not file.is_file():
            raise UsageError(
                f"--tls: there is no file {file}; the files are those of dask scheduler"
                " --tls-ca-file ..."
            )
    remedy = "start one: dask scheduler --port 8786"
    with reading(f"--scheduler {scheduler}", "no Dask scheduler answers", remedy):
        security = None
        if tls is not None:
            ca, cert, key = map(str, tls)
            security = Security(
                tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True
            )
        client = Client(scheduler, timeout=_WAIT, security=security)
    with client:
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler {scheduler} has no workers; start some: dask worker"
                f" {scheduler}"
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
        raise UsageError(
            f"--executor {name} needs the command {command}, which is not here; run it on a login"
            " node"
        )
    whole.parents(folder)
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
"""The assumed count of batch system jobs that run at the same time without --workers."""


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
    # By its types it returns itself.
    communicator: AbstractContextManager[object] = MPICommExecutor()
    with communicator as executor:
        if isinstance(executor, MPIPoolExecutor):
            yield Engine(executor, executor.num_workers)
            return
    raise SystemExit(0)  # another process than the first one, which has served until the end


def _factory(name: str) -> Callable[[], Executor]:
    module, _, attribute = name.partition(":")
    try:
        found: Callable[[], Executor] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"--executor {name}: {error}; it must name a function of a module on PYTHONPATH"
        ) from error
    return found


def _lacks(name: str, package: str) -> UsageError:
    return UsageError(f"--executor {name} needs a package: pip install {package}")
