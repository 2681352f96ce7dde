"""Every kernel that comes with simtmm, as written and as compiled: the same answer, from the same addresses.

Compiled without fused multiply-add, which the written form has not, both store the same bits. What the compiler merged
or removed, and what it could not know to be unneeded, shows in the number of accesses; a kernel not listed below has
the same number of each kind. As machine code all of them run, and access the same bytes in as many accesses or fewer.
"""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from simtmm.cuda.execution.translation import kept_code
from simtmm.cuda.function import KernelFunction
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.compiler import build
from simtmm.recorder.cpu.launches import CpuLaunches, Room
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.launches import ProgramRun
from simtmm.recorder.limits import NO_LIMIT
from simtmm.trace.schema import Kind
from tests.kernels.test_kernels import CASES
from tests.recorder.conftest import needs_compiler

pytestmark = [needs_compiler, pytest.mark.usefixtures("probe_flags")]  # the answer alone matters
pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

READS, WRITES, UPDATES = (Kind.LOAD, Kind.ASYNC), (Kind.STORE,), (Kind.ATOMIC,)
SHARED = {
    "shared reads": (Kind.SHARED_LOAD,),
    "shared writes": (Kind.SHARED_STORE,),
    "shared updates": (Kind.SHARED_ATOMIC,),
}
GLOBAL = {"reads": READS, "writes": WRITES, "updates": UPDATES}

# Which numbers differ, and why.
DIFFERENT = {
    "apsp-johnson-heap": {"reads": "what is read again though nothing was stored in between stays in its register"},
    "gemm": {"reads": "the running sum that has just been stored is in a register"},
    "mvt": {"reads": "likewise"},
}
# Where other bits are stored, by how much (relative to the largest), and why.
ROUNDED = {"fft": (4e-7, "cosf and sinf of CUDA and of the C library may be wrong by 2 units in the last place each")}


class Seen:
    """What a run did: how many accesses of each kind, where, and what it left in the arrays."""

    def __init__(self, kernel, parameters, execution, arrays):
        self.counts, self.places = Counter(), {name: [] for name in GLOBAL}
        run = ProgramRun(kernel, parameters, arrays, execution)
        for batch in run.batches():
            events = batch.events
            for name, kinds in (GLOBAL | SHARED).items():
                chosen = np.isin(events["kind"], kinds)
                self.counts[name] += int(chosen.sum())
                if name in GLOBAL:
                    self.places[name].append(_bytes_of(events[chosen]))
        run.check()
        self.places = {name: np.unique(np.concatenate([[], *found])) for name, found in self.places.items()}
        self.arrays = {name: np.array(array) for name, array in arrays.items()}


def _bytes_of(events):
    """The addresses of all bytes that are accessed."""
    width = int(events["bytes"].max(initial=1))
    places = events["value"].astype(np.int64)[:, None] + np.arange(width)
    return np.unique(places[np.arange(width) < events["bytes"][:, None]])


def written(kernel, parameters):
    memory = GlobalMemory(kernel.inputs(parameters), shared=True)
    program = build(kernel, kernel.defines(parameters), False)
    with CpuLaunches(kernel, program, memory, Room(NO_LIMIT, in_memory=False)) as execution:
        return Seen(kernel, parameters, execution, memory.arrays)


def compiled(kernel, parameters, linked, machine_code, monkeypatch):
    """As machine code, begun in code compiled quickly, ended in code compiled for speed; or as PTX, quickly alone."""
    monkeypatch.setattr(KernelFunction, "is_quick", not machine_code)
    monkeypatch.setattr(kept_code, "seconds_for_speed", lambda text: 0.0)
    arrays = {name: np.array(array, order="C") for name, array in kernel.inputs(parameters).items()}
    execution = CompiledLaunches(linked, arrays, NO_LIMIT, kernel.name, machine_code)
    return Seen(kernel, parameters, execution, arrays), execution.runs.schedules


@pytest.mark.parametrize("name", kernel_folders())
def test_a_compiled_kernel_does_what_the_written_one_does(name, monkeypatch):
    kernel = load_kernel(name)
    parameters = kernel.resolve(min(CASES[name].events_at, key=str))
    linked = module_of(dataclasses.replace(kernel, options=("-fmad=false",)), parameters, 90)
    as_written = written(kernel, parameters)
    as_compiled, _ = compiled(kernel, parameters, linked, False, monkeypatch)
    as_issued, schedules = compiled(kernel, parameters, linked, True, monkeypatch)
    for form in (as_compiled, as_issued):
        for array, left in as_written.arrays.items():
            if name in ROUNDED and left.dtype.kind in "fc":
                scale = float(np.abs(left).max())
                np.testing.assert_allclose(form.arrays[array], left, rtol=0, atol=scale * ROUNDED[name][0])
            else:
                np.testing.assert_array_equal(_raw(form.arrays[array]), _raw(left), err_msg=array)
        for what, places in as_written.places.items():
            np.testing.assert_array_equal(form.places[what], places, err_msg=what)
    different = {what for what in as_written.counts if as_written.counts[what] != as_compiled.counts[what]}
    assert different == set(DIFFERENT.get(name, {})), (as_written.counts, as_compiled.counts)
    assert [(schedule.kernel, schedule.why) for schedule in schedules if schedule.why] == [], "all run as machine code"
    more = {what for what in as_compiled.counts if as_issued.counts[what] > as_compiled.counts[what]}
    assert not more, "the assembler merges accesses, and makes none"


def _raw(array):
    return array.reshape(-1).view(np.uint8)
