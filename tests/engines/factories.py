"""Functions for ``--executor engines.factories:NAME``."""

from __future__ import annotations

import os
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from tempfile import mkdtemp


def processes() -> Executor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def single_node() -> Executor:
    from executorlib import SingleNodeExecutor

    return SingleNodeExecutor(
        max_workers=2, block_allocation=True, restart_limit=3, hostname_localhost=True
    )


def test_cluster() -> Executor:
    from executorlib.api import TestClusterExecutor

    return TestClusterExecutor(
        cache_directory=mkdtemp(dir=os.environ["ENGINE_FILES"]), disable_dependencies=True
    )
