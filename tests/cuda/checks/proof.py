"""What the checks find and what they cost: `python -m tests.cuda.checks.proof [faults] [kernels] [costs] [programs]`.

faults: the planted ones, and right kernels beside them. kernels: the shipped ones, as compiled. costs: some of them
with more work, timed with checks and without. programs: those of tests/programs. All if nothing is named. The exit
status is 1 where a fault is missed, or anything is found in what is right. docs/checks.md has the figures.
"""

import contextlib
import io
import sys
import time
from pathlib import Path

from simtmm.catalogue import kernel_folders
from simtmm.cuda.checks.active import checking
from simtmm.cuda.checks.names import checks_of
from simtmm.programs.program import cuda_program
from simtmm.recorder import record
from simtmm.recorder.sources import opened_kernel
from tests.cuda.checks import faults
from tests.programs.test_programs import FILES, FLAGS, RIGHT

PROGRAMS = Path(__file__).parents[2] / "programs"
COSTS = (
    ("gemm", {"n": 256}), ("vector-add", {"n": 1 << 20}), ("reduce", {"n": 1 << 20}), ("scan", {"n": 1 << 18}),
    ("histogram", {"n": 1 << 20}), ("transpose", {"n": 1024}), ("merge-sort", {"n": 1 << 15}), ("fft", {"n": 1 << 14}),
)  # fmt: skip
WRONG = {"bfs.cu", "streams.cu"}  # all blocks read and write levels; two arrays are read that nobody has written


def planted():
    """Whether all planted faults are found, and nothing in right kernels."""
    missed = [k for k in faults.FAULTS if faults.planted(k, faults.found(k, fresh=k == "unwritten_global")) is None]
    alarms = [kernel for kernel in faults.right() if faults.found(kernel).harmful]
    print(f"{len(faults.FAULTS)} planted faults, missed: {missed or 'none'}")
    print(f"{len(faults.right())} right kernels, false alarms: {alarms or 'none'}", flush=True)
    return not missed and not alarms


def timed(name, parameters, checks):
    """Seconds of processor time that a recording takes, the second time, when all is compiled; and what was found."""
    for _ in range(2):
        began = time.process_time()
        with checking(checks_of(checks)) as checker, contextlib.redirect_stdout(io.StringIO()):
            record(opened_kernel(name), parameters, form="ptx")
        seconds = time.process_time() - began
    return seconds, checker.found


def kernels(which):
    """Whether nothing is found in shipped kernels; a line each."""
    right = True
    for name, parameters in which:
        plain, _ = timed(name, parameters, "memcheck")
        checked, found = timed(name, parameters, "all")
        what = " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])
        print(f"| {what} | {plain:.2f} | {checked:.2f} | {checked / plain:.1f} |", *found.notes, flush=True)
        print(*(line for finding in found.harmful for line in finding.lines), sep="\n", end="")
        right = right and not found.harmful
    return right


def programs():
    """Whether something is found in the programs that have a fault, and in no others."""
    right = True
    with contextlib.chdir(PROGRAMS):
        for name in RIGHT:
            with checking(checks_of("all")) as checker:
                cuda_program(FILES.get(name, [name]), options=FLAGS.get(name, [])).run_printing(
                    None, None, io.StringIO()
                )
            found = checker.found
            print(f"{name}: {len(found.harmful)} found in {found.launches} launches", *found.notes, flush=True)
            right = right and bool(found.harmful) == (name in WRONG)
    return right


PARTS = {
    "faults": planted,
    "kernels": lambda: kernels([(name, {}) for name in sorted(kernel_folders())]),
    "costs": lambda: kernels(COSTS),
    "programs": programs,
}

if __name__ == "__main__":
    sys.exit(sum(not PARTS[part]() for part in sys.argv[1:] or PARTS) > 0)
