"""What a script's host code calls: copies, waiting and allocations by line, and what other calls would gain."""

import textwrap
from collections import Counter

import pytest

from simtmm import load_machine
from simtmm.analysis.host.calls import calls_of
from simtmm.analysis.host.python_words import of_place
from simtmm.analysis.run import run
from simtmm.recorder.direct import calls as kinds
from simtmm.scripts.recording import recording
from simtmm.scripts.run import run_script

CUPY = '''
import cupy as cp
import numpy as np

kernel = cp.RawKernel(r"""extern "C" __global__ void half(const float* x, float* y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i] * 0.5f + 1; }""", "half")
x = cp.asarray(np.zeros(8192, np.float32))
y = cp.zeros(8192, dtype=cp.float32)
for step in range(6):
    kernel((32,), (256,), (x, y))
    cp.cuda.Device().synchronize()
    found = y.get()
    last = float(y[0])
    x, y = y, x
'''
NUMBA = """
import warnings
import numpy as np
from numba import cuda

@cuda.jit
def half(x, y):
    i = cuda.grid(1)
    y[i] = x[i] * np.float32(0.5) + np.float32(1)

warnings.simplefilter("ignore")  # of few blocks, and of the copies
x = np.zeros(8192, np.float32)
y = np.zeros(8192, np.float32)
for step in range(6):
    half[32, 256](x, y)
    cuda.synchronize()
on = cuda.to_device(x)
host = cuda.pinned_array(8192, np.float32)
for step in range(5):
    half[32, 256](on, on)
on.copy_to_host(host)
"""


def recorded(tmp_path, text, machine="h100-sxm"):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(text))
    under_way = recording(machine)
    assert run_script(path, [], under_way).status == 0
    return path, under_way.trace


def line(text, part):
    return next(number for number, words in enumerate(textwrap.dedent(text).splitlines(), start=1) if part in words)


def listed(trace):
    """How often each kind of call is made at each line, with its direction and bytes."""
    calls = calls_of(trace.info, [1e-6] * len(trace.info.launches))
    return Counter(
        (call.kind, int(call.place.rpartition(":")[2]), call.direction, call.size, call.is_pinned) for call in calls
    )


def test_calls_of_a_cupy_script_are_listed_by_line(tmp_path):
    path, trace = recorded(tmp_path, CUPY)
    assert listed(trace) == {
        (kinds.COPY, line(CUPY, "asarray"), "in", 32768, False): 1,
        (kinds.LAUNCH, line(CUPY, "kernel((32"), None, 0, False): 6,
        (kinds.SYNCHRONIZE, line(CUPY, "synchronize"), None, 0, False): 6,
        (kinds.COPY, line(CUPY, ".get()"), "out", 32768, False): 6,
        (kinds.COPY, line(CUPY, "float(y"), "out", 4, False): 6,
    }
    (place,) = {each[1].rpartition(":")[0] for each in trace.info.provenance["host"]["calls"]}
    assert place == str(path)


def test_of_results_that_overwrite_one_another_it_is_said_that_one_copy_may_do(tmp_path):
    _, trace = recorded(tmp_path, CUPY)
    host = run(trace, load_machine("h100-sxm")).host
    (found,) = [each for each in host.advice if each.change == "copy back once"]
    assert found.line == line(CUPY, ".get()")


def test_calls_of_a_numba_script_are_listed_by_line_its_host_arrays_too(tmp_path):
    pytest.importorskip("numba_cuda")
    _, trace = recorded(tmp_path, NUMBA)
    found = listed(trace)
    launch = line(NUMBA, "half[32, 256](x, y)")
    assert found[kinds.COPY, launch, "in", 32768, False] == found[kinds.COPY, launch, "out", 32768, False] == 12
    assert found[kinds.ALLOCATE, launch, None, 32768, False] == 12
    assert found[kinds.LAUNCH, launch, None, 0, False] == 6
    assert found[kinds.SYNCHRONIZE, line(NUMBA, "synchronize"), None, 0, False] == 6
    assert found[kinds.COPY, line(NUMBA, "to_device"), "in", 32768, False] == 1
    on_device = line(NUMBA, "half[32, 256](on, on)")
    assert {each for each in found if each[1] == on_device} == {(kinds.LAUNCH, on_device, None, 0, False)}
    assert found[kinds.COPY, line(NUMBA, "copy_to_host"), "out", 32768, True] == 1
    assert found[kinds.ALLOCATE_PINNED, line(NUMBA, "pinned_array"), None, 32768, False] == 1


def test_host_arrays_as_arguments_in_a_loop_are_to_stay_on_the_device_in_words_of_python(tmp_path):
    pytest.importorskip("numba_cuda")
    path, trace = recorded(tmp_path, NUMBA)
    host = run(trace, load_machine("h100-sxm")).host
    first = host.advice[0]
    assert (first.change, first.file, first.line) == ("stay", str(path), line(NUMBA, "half[32, 256](x, y)"))
    assert first.gain > 1.5
    assert "cuda.to_device" in first.words
    assert not any("cudaM" in each.words for each in host.advice)


ONCE = """
import numpy as np
from numba import cuda


@cuda.jit
def sums(a, b, c, d, out):
    i = cuda.grid(1)
    out[i] = a[i] + b[i] + c[i] + d[i]


a, b, c, d, out = (np.ones(64) for _ in range(5))
sums[1, 64](a, b, c, d, out)
"""


@pytest.mark.filterwarnings("ignore")  # Numba's, of a small grid
def test_many_host_arrays_of_one_launch_are_no_loop(tmp_path):
    pytest.importorskip("numba_cuda")
    _, trace = recorded(tmp_path, ONCE)
    advice = run(trace, load_machine("h100-sxm")).host.advice
    assert not {each.change for each in advice} & {"stay", "allocate once", "wait once"}
    assert not any("loop" in each.words or "round" in each.words for each in advice)


def test_without_a_machine_nothing_is_listed(tmp_path):
    _, trace = recorded(tmp_path, CUPY, None)
    assert "host" not in trace.info.provenance


def test_words_of_a_program_stay_those_of_c():
    words = "copy from pinned memory (cudaMallocHost instead of malloc or new)"
    assert of_place(words, "a.cu:3") == words
    assert of_place(words, "a.py:3") == (
        "copy from pinned memory (cuda.pinned_array in Numba, cupyx.empty_pinned in CuPy)"
    )
