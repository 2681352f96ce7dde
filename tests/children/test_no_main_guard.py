"""A script that starts workers is not read by them, so that it needs no `if __name__ == "__main__":`."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.children.kinds import environment

COUNTED = 'with open("read", "a") as file:\n    file.write(__name__ + "\\n")\n'
POOL = f"""{COUNTED}
import os
from simtmm.children.workers import WorkerPool
from simtmm.parallel.processes import _begin_worker
pool = WorkerPool(2, _begin_worker, "scratch")
pool.start(os.getpid)
assert pool.submit(os.getpid).result() != os.getpid()
pool.end(at_once=False)
print("done")
"""
DASK = f"""{COUNTED}
import distributed
from simtmm.children.workers import dask_cluster
with dask_cluster(distributed, 1) as cluster:
    assert len(cluster.workers) == 1
print("done")
"""
THEIRS = f"""{COUNTED}
import multiprocessing
from simtmm.children.workers import spawning
def call():
    print("called", flush=True)
if __name__ == "__main__":
    with spawning():
        pass
    process = multiprocessing.get_context("spawn").Process(target=call)
    process.start()
    process.join()
    print("done")
"""
FORMS = ["file", "module", "-c", "stdin"]


def run(script, form, folder):
    (folder / "script.py").write_text(script)
    words = {"file": ["script.py"], "module": ["-m", "script"], "-c": ["-c", script], "stdin": ["-"]}[form]
    given = script if form == "stdin" else ""
    done = subprocess.run(
        [sys.executable, *words], input=given, cwd=folder, env=environment(folder), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split(), (folder / "read").read_text().split()


@pytest.mark.parametrize("form", FORMS)
def test_a_script_is_not_read_by_workers(form, tmp_path):
    assert run(POOL, form, tmp_path) == (["done"], ["__main__"])


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_nor_by_dasks(tmp_path):
    assert run(DASK, "file", tmp_path) == (["done"], ["__main__"])


def test_a_process_of_the_scripts_own_reads_it_as_ever(tmp_path):
    assert run(THEIRS, "file", tmp_path) == (["called", "done"], ["__main__", "__mp_main__"])
