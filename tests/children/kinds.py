"""Commands that start each kind of child, and how its children are found."""

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.recorder.build import host

PATIENCE = 600.0  # seconds: until a process that a busy machine runs does what it is to do
MARK = "SIMTMM_TEST_MARK"
# As the installed command: a script in a folder of its own. `python -m simtmm` is tried apart
COMMAND = (sys.executable, str(Path(__file__).parent / "command" / "simtmm"))

PROGRAM = """#include <cstdio>
__global__ void add(int n, int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += i; }
int main() {
    int *a, b[4];
    cudaMalloc(&a, 4096);
    cudaMemset(a, 0, 4096);
    add<<<8, 128>>>(1024, a);
    cudaMemcpy(b, a, 16, cudaMemcpyDeviceToHost);
    cudaFree(a);
    printf("%d %d\\n", b[1], b[3]);
}
"""
# Has a child of its own, which lost its parent and has a session of its own
ENDLESS_PROGRAM = """#include <cstdio>
#include <unistd.h>
__global__ void one(int *a) { *a = 1; }
int main() {
    int *a;
    cudaMalloc(&a, 4);
    one<<<1, 1>>>(a);
    cudaDeviceSynchronize();
    if (!fork() && !fork()) { setsid(); execlp("sleep", "sleep", "3000", (char *)0); }
    fclose(fopen("begun", "w"));
    for (;;) sleep(1000);
}
"""
# Likewise, one that has no program of its own to run
FORKING_PROGRAM = ENDLESS_PROGRAM.replace('execlp("sleep", "sleep", "3000", (char *)0);', "sleep(3000);")
# Each macro doubles the one before: what the compiler makes of it fits no memory
BOMB = "".join(f"#define M{n} M{n - 1} M{n - 1}\n" for n in range(1, 40))
BOMB = f'#define M0 x[0] += 1;\n{BOMB}extern "C" __global__ void k(int* x) {{ M39 }}\n'
LAUNCHES = """source = "kernel.cu"
[[launch]]
kernel = "k"
grid = 1
block = 32
arguments = ["zeros:int32:32"]
"""
# A compiler that never ends, with a child of its own
COMPILER = """#!/bin/sh
[ "$1" = --version ] && exec echo slow
touch begun
sleep 3000 &
sleep 3000
"""
# Rules are read in the command's own process first
RULE = """import multiprocessing, pathlib, time
def stuck(ready, group):
    pathlib.Path("begun").touch()
    time.sleep(3000)
"""
SCRIPT = """import pathlib, time
pathlib.Path("begun").touch()
time.sleep(3000)
"""
SPINNING = """__global__ void f(int* a)
{
    ST(a, 0, 1);
    volatile int on = 1;
    while (on) {}
}
"""


@dataclass(frozen=True)
class Kind:
    """A command that goes on until it is ended. words: of its command line. files: that it needs, by name.

    variables: of its environment. begun: a file that its child makes; or a word of the child's own command line.
    """

    words: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    begun: str = "begun"


def lay_out(kind, folder):
    """The files of a kind in a folder."""
    for name, text in kind.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o700)


def environment(folder, **more):
    """The tests' environment, with a mark that all children bear, and with temporary files in a folder of their own."""
    (folder / "temporary").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    package = str(Path(__file__).parents[2])
    own = {
        MARK: str(folder), "SIMTMM_PASS_VARIABLES": MARK, "TMPDIR": str(folder / "temporary"), "PYTHONPATH": package,
    }  # fmt: skip
    return {**kept, **own, **more}


def children(folder):
    """Processes that bear the mark of a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            pass
    return found


def waited_for(condition, process=None):
    """Wait until a condition holds; False where a process ends before it does."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if process is not None and process.poll() is not None:
            return condition()
        assert time.monotonic() < until
        time.sleep(0.02)
    return True


def has_begun(kind, folder):
    """Whether the child of a kind is about its work."""
    if (folder / kind.begun).exists():
        return True
    for process in children(folder):
        try:
            if any(kind.begun in word for word in process.cmdline()):
                return True
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            pass
    return False


STUDY = ("sweep", "list-ranking-wyllie", "--vary", "n=64,128", "-m", "gtx480")
# Takes longer than any moment that is drawn; rules are not for a cluster's workers
LONG_STUDY = ("sweep", "list-ranking-wyllie", "--vary", "n=400000,500000,600000", "-m", "gtx480")
STUCK = ("--set", "scheduling.scheduler=stuck", "--rule", "rule.py", "-o", "out.sqlite")
KINDS = {
    "program": Kind(("record", "program.cu", "-o", "out.parquet"), {"program.cu": ENDLESS_PROGRAM}),
    "forking": Kind(("record", "program.cu", "-o", "out.parquet"), {"program.cu": FORKING_PROGRAM}),
    "tool": Kind(
        ("record", "vector-add", "-p", "n=64", "-o", "out.parquet"), {"compiler": COMPILER}, {"CXX": "compiler"}
    ),
    "nvrtc": Kind(
        ("run", "files.toml", "-m", "rtx-a6000"), {"kernel.cu": BOMB, "files.toml": LAUNCHES}, begun="nvrtc_process"
    ),
    "kernel": Kind(
        ("record", "spinning", "--kernel-path", ".", "--kernel-timeout", "3000", "-o", "out.parquet"),
        {"spinning/kernel.cu": f'#include "device.cuh"\n{SPINNING}', "spinning/host.py": host()},
        begun="/builds/spinning",
    ),
    "workers": Kind((*STUDY, *STUCK, "--workers", "2"), {"rule.py": RULE}),
    "dask": Kind((*LONG_STUDY, "--cluster", "local:2", "-o", "out.sqlite"), begun="spawn_main"),
    "tune": Kind(
        (
            "tune",
            "spinning",
            "--kernel-path",
            ".",
            "--kernel-timeout",
            "3000",
            "--over",
            "n=1,2",
            "-j",
            "2",
            "-m",
            "gtx480",
            "-o",
            "out.json",
        ),
        {"spinning/kernel.cu": f'#include "device.cuh"\n{SPINNING}', "spinning/host.py": host()},
        begun="/builds/spinning",
    ),
    "script": Kind(("record", "script.py", "-o", "out.parquet"), {"script.py": SCRIPT}),
}
MEASURED = Path(__file__).parents[2] / "traces" / "measured"
# Commands that end by themselves, and how often each is ended by each signal
SHORT = {
    "run": (2, ("run", "list-ranking-wyllie", "-m", "gtx480", "-o", "out.json")),
    "calibrate": (  # takes a minute
        1,
        ("calibrate", "--latency", str(MEASURED / "latency_curves.csv"), "--stream",
         str(MEASURED / "stream_occupancy.csv"), "--gpu", "a40", "-m", "rtx-a6000", "-o", "out.toml"),
    ),
}  # fmt: skip
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
