"""A cluster of an enemy: who is no scheduler is told within its time, and a worker's answers are errors of points."""

import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import simtmm
from simtmm.parallel.dask import _version
from simtmm.study.sweep import sweep
from tests.parallel.clusters import cluster
from tests.study.programs import designed, write

ROOT = Path(__file__).parents[2]
SENT = {
    "nothing": None,
    "an end": b"",
    "bytes of no meaning": bytes(range(256)) * 16,
    "another protocol": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "more bytes than there are": struct.pack("<QQ", 2**40, 2**50),
    "as many as there might be": struct.pack("<QQQ", 40 << 30, 1, 40 << 30),
    "a few of many frames": struct.pack("<QQ", 16, 2**60),
}


@contextmanager
def peer(sent):
    """The address of one that sends so much to each who comes, and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def serve():
            try:
                while True:
                    held.append(server.accept()[0])
                    if sent is not None:
                        held[-1].sendall(sent)
                        if not sent:
                            held[-1].close()
            except OSError:  # this one ends
                pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in held:
            each.close()


# In a process of its own: what such a peer sends can keep the loop of Dask's clients busy, which all of a process share
REACH = """
import sys
from simtmm.errors import StudyError
from simtmm.parallel import dask
dask.CONNECT, dask.ANSWER = 2.0, 1.0
try:
    list(dask.Cluster(sys.argv[1]).run([]))
except StudyError as error:
    print(error)
"""


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_who_is_no_scheduler_is_told_in_a_line(sent):
    with peer(sent) as address:
        words = [sys.executable, "-c", REACH, address]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.fullmatch(rf"cluster {address}: can't be reached \(.{{1,500}}\)\n", done.stdout)


# What a worker does that calls itself one of our version
LIES = """
_version = lambda: {version!r}
class Evil:
    def __repr__(self):
        return "evil\\x1b[2J" * 1000
class Raised(Exception):
    pass
def _guarded(version, function, *arguments):
    {does}
"""
DOES = {  # and what is told
    "return {'results': 1}": "its computation returned no result: ",
    "return Evil()": "a worker's result can't be read (",
    "raise Raised": "it failed on a worker (",
    "raise OSError": "it failed on a worker (OSError)",
}


@pytest.mark.parametrize(("does", "told"), DOES.items(), ids=DOES)
def test_what_a_hostile_worker_gives_is_an_error_of_each_point(does, told, tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(simtmm.__file__).parent, tmp_path / "hostile" / "simtmm", ignore=ignored)
    with (tmp_path / "hostile" / "simtmm" / "parallel" / "dask.py").open("a", encoding="utf-8") as source:
        source.write(LIES.format(version=_version(), does=does))
    with cluster(tmp_path, 0) as dask:
        dask.start(tmp_path / "hostile")
        study = sweep(designed(write(tmp_path), axes={"memory.latency": [100, 200]}), cluster=dask.address)
    ((why, points),) = study.reasons("failed").items()
    assert points == 2
    assert told in why
    assert why.isprintable()
