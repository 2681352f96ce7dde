"""What the seconds from kernel to result go into, as Markdown for docs/scaling.md.

python -m tests.benchmarks.parts, or with names of kernels; they are those of tests/benchmarks/traces.py. Each part is
the least of three runs; a thread's parts are what it worked itself, whatever others did meanwhile. With `windows`: what
simulating takes where operations are held, and where they are lowered again window by window, on a core and on two.
With `against FOLDER`: the whole of it in this checkout and in another, in turns, as machines are noisy.
"""

import os
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from unittest.mock import patch

from simtmm import load_machine, record, simulate
from simtmm.kernel import Kernel
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.trace.counts import lower_and_count
from simtmm.trace.digest import TraceDigest
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.recording import TraceRecorder
from tests.benchmarks.scaling import clock
from tests.benchmarks.traces import KERNELS, LAUNCHES_ONLY, MACHINE, RUNS

ARRAYS = (Kernel, "inputs"), (GlobalMemory, "__init__"), (Kernel, "check")
ENCODING = ((TraceRecorder, "_take_in"),)
DIGESTS = ((TraceDigest, "add"),)
PARTS = (
    "kernel's process", "encoding", "of it digests", "arrays", "rest of recording", "lowering, counting", "simulating"
)  # fmt: skip
WINDOWS = ("gemm", {"n": 512}, "a100-80"), ("stream", {"n": 1 << 23}, "h100-sxm"), ("gemm", {"n": 448}, "gtx480")


class Timed:
    """Methods whose processor time is added up, that of the threads that call them."""

    def __init__(self, methods):
        self.seconds = 0.0
        self._stack = ExitStack()
        for owner, name in methods:
            self._stack.enter_context(patch.object(owner, name, self._timed(getattr(owner, name))))

    def _timed(self, method):
        def timed(*arguments, **options):
            begin = time.thread_time()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds += time.thread_time() - begin

        return timed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()


def parts(kernel, parameters, machine):
    """Seconds of each part of a run; those of digests are within those of encoding."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Timed(ARRAYS) as arrays, Timed(ENCODING) as encoding, Timed(DIGESTS) as digests, clock() as recording:
        trace = record(kernel, parameters, most_events=1 << 40)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = now.ru_utime + now.ru_stime - others.ru_utime - others.ru_stime
    rest = recording.cpu - process - encoding.seconds - arrays.seconds
    with clock() as lowering:
        workload, _ = lower_and_count(trace, machine)
    with clock() as simulating:
        simulate(machine, workload)
    return process, encoding.seconds, digests.seconds, arrays.seconds, rest, lowering.cpu, simulating.cpu


def row(kernel, parameters):
    """A line of the table."""
    machine = load_machine(MACHINE)
    simulate(machine, lower_and_count(record(kernel, LAUNCHES_ONLY), machine)[0])
    runs = [parts(kernel, parameters, machine) for _ in range(RUNS)]
    least = [min(seconds) for seconds in zip(*runs, strict=True)]
    whole = sum(least) - least[PARTS.index("of it digests")]
    return f"| {kernel} | {whole:.2f} | {' | '.join(f'{seconds / whole:.0%}' for seconds in least)} |"


def windows():
    """Print simulations with operations held and not, of the same result: by the clock, on a core and on two."""
    print("| kernel | machine | operations, millions | held, s | not held, s | on two cores, s |")
    print("|---|---|---:|---:|---:|---:|")
    for kernel, parameters, name in WINDOWS:
        machine = load_machine(name)
        trace = record(kernel, parameters, most_events=1 << 40)
        held, streamed = (lower_or_stream(trace, machine, most_held=most)[0] for most in (1 << 40, 0))
        ways = (held, 1), (streamed, 1), (streamed, 2)
        seconds, results = [[] for _ in ways], []
        for _ in range(RUNS):  # in turns
            for (workload, threads), taken in zip(ways, seconds, strict=True):
                with clock() as simulating:
                    results.append(simulate(machine, workload, breakdown=False, threads=threads))
                taken.append(simulating.wall)
        assert all(result == results[0] for result in results)
        size, least = f"n = {parameters['n']:,}", " | ".join(f"{min(taken):.2f}" for taken in seconds)
        print(f"| {kernel}, {size} | {name} | {held.operations / 1e6:.1f} | {least} |", flush=True)


SECONDS = """
import sys
from simtmm import load_machine, record, simulate
from simtmm.trace.counts import lower_and_count
from tests.benchmarks.parts import PARTS, parts
from tests.benchmarks.traces import KERNELS, LAUNCHES_ONLY, MACHINE
kernel, machine = sys.argv[1], load_machine(MACHINE)
simulate(machine, lower_and_count(record(kernel, LAUNCHES_ONLY), machine)[0])
for _ in sys.stdin:
    found = parts(kernel, KERNELS[kernel], machine)
    print(sum(found) - found[PARTS.index("of it digests")], flush=True)
"""
TURNS = 9


def against(folder, names):
    """Print processor times of this checkout and another, the least of runs in turns."""
    print("| kernel | before, s | now, s | before / now | million events a second, now |\n|---|---:|---:|---:|---:|")
    for name in names or KERNELS:
        with ExitStack() as stack:
            both = [stack.enter_context(in_checkout(checkout, name)) for checkout in (folder, os.getcwd())]
            turns = [[seconds_of(each) for each in both] for _ in range(TURNS)]
        before, now = (min(taken) for taken in zip(*turns, strict=True))
        millions = record(name, KERNELS[name], most_events=1 << 40).info.events / 1e6
        print(f"| {name} | {before:.2f} | {now:.2f} | {before / now:.2f} | {millions / now:.1f} |", flush=True)


def in_checkout(checkout, name):
    """A process that runs a kernel as that checkout does, whenever it is asked to."""
    environment = {**os.environ, "PYTHONPATH": checkout}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", SECONDS, name], cwd=checkout, env=environment, **pipes)


def seconds_of(process):
    """What its next run takes."""
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main(names):
    """Print the table."""
    if names[:1] == ["against"]:
        against(names[1], names[2:])
        return
    if names == ["windows"]:
        windows()
        return
    print(f"| kernel | s | {' | '.join(PARTS)} |\n|---{'|---:' * (1 + len(PARTS))}|")
    for name in names or KERNELS:
        print(row(name, KERNELS[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
