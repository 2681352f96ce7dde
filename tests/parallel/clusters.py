"""Clusters of Dask on loopback, each process of which is started on its own."""

import os
import socket
import subprocess
import sys
from contextlib import contextmanager

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Cluster:
    """A scheduler and its workers. address: of the scheduler. workers: their processes."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self.folder, self.workers = folder, []
        self.scheduler = _dask("scheduler", "--host", self.address, "--no-show")

    def start(self, sources=None):
        """One worker more. sources: a folder that holds the simtmm that it is to have, if not this one."""
        words = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)]
        self.workers.append(_dask("worker", self.address, *words, sources=sources))


@contextmanager
def cluster(folder, workers):
    """A Cluster with so many workers, that ends with the context. folder: for files of the workers."""
    result = Cluster(folder)
    try:
        for _ in range(workers):
            result.start()
        yield result
    finally:
        for process in (result.scheduler, *result.workers):
            process.kill()
            process.wait()


def _dask(*words, sources=None):
    own = None if sources is None else {**os.environ, "PYTHONPATH": str(sources)}
    return subprocess.Popen([sys.executable, "-m", "dask", *words, "--no-dashboard"], cwd=sources, env=own, **QUIET)
