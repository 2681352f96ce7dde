"""Blocks that do as the one before them stand as distances on their way to the encoder; traces are as without."""

import re

import pytest

from simtmm.errors import RecordingError
from simtmm.recorder.compiler import HERE
from simtmm.recorder.cpu import launches
from simtmm.recorder.cpu.launches import CpuLaunches
from simtmm.trace.runs.layout import DISTANCE
from tests.recorder.conftest import needs_compiler, watched_batches

pytestmark = needs_compiler

# Each with a grid and a block: what blocks have in common, and what some of them do differently.
KERNELS = {
    "an element a thread": (
        "__global__ void f(int* a) { int i = blockIdx.x * blockDim.x + threadIdx.x; OP(2); ST(a, i, LD(a, i) + 1); }",
        "60",
        "16",
    ),
    "a tree over shared memory": (
        """__global__ void f(int* a) {
            SHARED(int, s, 16);
            STS(s, threadIdx.x, LD(a, blockIdx.x * 16 + threadIdx.x));
            for (int half = 8; half > 0; half /= 2) {
                SYNC();
                if (threadIdx.x < half) STS(s, threadIdx.x, LDS(s, threadIdx.x) + LDS(s, threadIdx.x + half));
            }
            if (threadIdx.x == 0) ST(a, blockIdx.x, LDS(s, 0));
        }""",
        "60",
        "16",
    ),
    "rows and columns": (
        """__global__ void f(int* a) {
            SYNC();
            ST(a, (blockIdx.y * 4 + threadIdx.y) * 32 + blockIdx.x * 8 + threadIdx.x, 1);
        }""",
        "(4, 8)",
        "(8, 4)",
    ),
    "blocks without events among others": (
        "__global__ void f(int* a) { if (blockIdx.x % 7 != 3) ST(a, blockIdx.x + threadIdx.x, 1); }",
        "60",
        "16",
    ),
    "one block in three does more": (
        "__global__ void f(int* a) { ST(a, blockIdx.x, 1); if (blockIdx.x % 3 == 0 && threadIdx.x == 5) LD(a, 0); }",
        "60",
        "16",
    ),
    "a site whose distances differ": (
        "__global__ void f(int* a) { for (int i = 0; i < 3; ++i) LD(a, blockIdx.x * i + threadIdx.x); }",
        "60",
        "16",
    ),
    "one site in other threads' turns": (
        "__global__ void f(int* a) { if (threadIdx.x == blockIdx.x % 16) ST(a, 3, 1); }",
        "60",
        "16",
    ),
    "other widths of barriers": (
        """__global__ void f(int* a) {
            for (int i = 0; i < int(blockIdx.x / 20) + 1; ++i) { ST(a, threadIdx.x + 16 * i, 1); SYNC(); }
        }""",
        "60",
        "16",
    ),
    "distances below zero": (
        """__global__ void f(int* a) {
            ST(a, (59 - blockIdx.x) * 16 + threadIdx.x, 1);
            ATOMIC_ADD(a, 959 - blockIdx.x, 1);
        }""",
        "60",
        "16",
    ),
    "values that are counts": (
        "__global__ void f(int* a) { OP(blockIdx.x + 1); ST(a, threadIdx.x, 1); OP(threadIdx.x + 1); }",
        "60",
        "16",
    ),
    "counts that are apart by more from thread to thread": (
        "__global__ void f(int* a) { ST(a, threadIdx.x, 1); OP((threadIdx.x + 1) * (blockIdx.x + 1)); }",
        "60",
        "16",
    ),
}
NOTHING_IN_COMMON = {
    "one site in other threads' turns",
    "a site whose distances differ",
    "counts that are apart by more from thread to thread",
}
ARRAYS = '{"a": np.arange(1024, dtype=np.int32)}'


@pytest.fixture
def spared(monkeypatch):
    """Of each batch that is recorded from now on, how many events were spared."""
    return watched_batches(monkeypatch, lambda batch: batch.spared)


@pytest.fixture
def plainly(monkeypatch):
    """Have blocks stand as their events."""

    def switch():
        begin = CpuLaunches._begin

        def without(execution, command, last, most, where):
            execution.straight = False
            begin(execution, command, last, most, where)

        monkeypatch.setattr(CpuLaunches, "_begin", without)

    return switch


@pytest.mark.parametrize("whole", [1 << 20, 500])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_trace_is_as_without_distances(kernel, whole, recorded, spared, plainly, monkeypatch):
    device, grid, block = KERNELS[kernel]
    monkeypatch.setattr(launches, "WHOLE_EVENTS", whole)  # of a command
    what = {"arrays": ARRAYS, "grid": grid, "block": block, "local": 64}
    found = recorded(device, **what)
    assert (sum(spared) > 0) == (kernel not in NOTHING_IN_COMMON)
    spared.clear()
    plainly()
    expected = recorded(device, **what)
    assert not any(spared)
    assert found.to_table().equals(expected.to_table())
    assert (found.info.digest, found.info.events) == (expected.info.digest, expected.info.events)


def test_next_to_nothing_is_handed_on_of_blocks_that_all_do_the_same(recorded, spared):
    device, *_ = KERNELS["an element a thread"]
    trace = recorded(device, arrays='{"a": np.zeros(1 << 16, np.int32)}', grid="1 << 12", block="16")
    assert trace.info.events == 3 << 16
    assert sum(spared) == ((1 << 12) - 1) * (3 * 16 - 3)  # three sites are left of each block but the first


@pytest.mark.parametrize("extra", [0, 1])
def test_spared_events_count_for_the_limit(extra, kernel_folder, recorded, monkeypatch):
    """The first block that goes beyond it is refused, whatever stands as distances before it."""
    device, *_ = KERNELS["an element a thread"]
    monkeypatch.setenv("SIMTMM_MOST_EVENTS", str(3 * 16 * 60 - extra))
    what = {"arrays": ARRAYS, "grid": "60", "block": "16"}
    if not extra:
        assert recorded(device, **what).info.events == 3 * 16 * 60
        return
    with pytest.raises(RecordingError, match=r"block 59, thread 15: 2,879 events so far .* at most 2,879 may"):
        recorded(device, **what)


def test_spared_events_are_among_those_so_far(recorded, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.launches.MOST_LAUNCHES", 2)
    device, *_ = KERNELS["an element a thread"]
    launches = "for _ in range(3): yield Launch('f', ('a',), grid=60, block=16)"
    with pytest.raises(RecordingError, match=f"launch 2 of .f.: {2 * 3 * 16 * 60:,} events so far"):
        recorded(device, arrays=ARRAYS, launches=launches)


def test_a_death_among_such_blocks_is_named_with_its_place(recorded):
    device = "__global__ void f(int* a) { ST(a, threadIdx.x, 1); if (blockIdx.x == 41) *(volatile int*)8 = 1; }"
    with pytest.raises(RecordingError, match=r"site 0 .*, block 41, thread 0 or after it"):
        recorded(device, arrays=ARRAYS, grid="60", block="16")


def test_a_block_longer_than_what_is_mapped_stands_between_others(recorded, plainly, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", 300)
    monkeypatch.setattr("simtmm.trace.runs.mapped.LONG", 300)
    device = """__global__ void f(int* a) {
        for (int i = 0; i < (blockIdx.x % 10 == 4 ? 60 : 2); ++i) ST(a, blockIdx.x + i, threadIdx.x);
    }"""
    what = {"arrays": ARRAYS, "grid": "60", "block": "16"}
    found = recorded(device, **what)
    plainly()
    assert found.to_table().equals(recorded(device, **what).to_table())


# --- threads that wait at barriers ------------------------------------------------------------------------------------

KEPT_OVER_BARRIERS = """#include <cmath>
template <class T> __device__ T mixed(int seed)
{
    T kept[12];
    for (int i = 0; i < 12; ++i) kept[i] = (T)(seed % 97 + 3 * i);
    SYNC();
    T sum = 0;
    for (int i = 0; i < 12; ++i) sum += kept[i] * (T)(i + 1);
    return sum;
}
__global__ void f(double* a, int* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = i * 0.5, y = std::sqrt((double)i), z = x * y;
    long double wide = x + 1;
    float narrow = i;
    int p = i, q = i * 3, r = i ^ 21, t = i % 7;
    unsigned long long u = 0x123456789abcull * i;
    SYNC();
    ST(a, i, x + y + z + (double)wide + narrow + mixed<double>(i) + mixed<float>(i) + (double)mixed<long double>(i));
    SYNC();
    ST(b, i, p + q + r + t + (int)(u >> 7) + mixed<int>(i) + (int)mixed<long long>(i));
}
"""
CHECK = """
i = np.arange(640)
weights = np.arange(1, 13)
mixed = ((i[:, None] % 97 + 3 * np.arange(12)) * weights).sum(axis=1)
expect_equal("a", after["a"], i * 0.5 + np.sqrt(i) + i * 0.5 * np.sqrt(i) + (i * 0.5 + 1) + i + 3 * mixed, 1e-14)
u = np.uint64(0x123456789abc) * i.astype(np.uint64) >> np.uint64(7)
expect_equal("b", after["b"], (i + i * 3 + (i ^ 21) + i % 7 + u.astype(np.int32) + 2 * mixed).astype(np.int32))
"""


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O3", "-march=native"], ["-O2", "-fno-omit-frame-pointer"]])
def test_whatever_threads_hold_is_theirs_behind_a_barrier(flags, recorded, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.compiler.FLAGS", ("-std=c++17", "-w", "-ffp-contract=off", *flags))
    arrays = '{"a": np.zeros(640), "b": np.zeros(640, np.int32)}'
    trace = recorded(KEPT_OVER_BARRIERS, arrays=arrays, arguments='("a", "b")', grid="10", block="64", check=CHECK)
    assert trace.info.events == 640 * 9


def test_a_launch_of_fewer_threads_behind_one_of_more_that_wait_is_right(recorded):
    device = """__global__ void f(int* a, int most) {
        for (int i = 0; i < most; ++i) SYNC();
        if (threadIdx.x % 2) SYNC();
        ST(a, threadIdx.x, 1);
    }"""
    sizes = "for size in (64, 7, 64, 1, 33): yield Launch('f', ('a', size % 5), grid=3, block=size)"
    trace = recorded(device, arrays='{"a": np.zeros(64, np.int32)}', launches=sizes)
    expected = sum(3 * (size * (size % 5) + size // 2 + size) for size in (64, 7, 64, 1, 33))
    assert trace.info.events == expected


def test_both_sides_call_a_distance_the_same():
    text = (HERE / "process_cpu.cuh").read_text(encoding="utf-8")
    assert re.findall(r"KIND_DISTANCE = (\d+)", text) == [str(DISTANCE)]


def test_a_thread_that_throws_behind_a_barrier_is_named_and_none_goes_on_behind_it(recorded):
    device = """#include <stdexcept>
    __global__ void f(int* a) { SYNC(); if (threadIdx.x > 2) throw std::runtime_error("no"); ST(a, 0, 1); }"""
    with pytest.raises(RecordingError, match=r"block 0, thread 3 or after it: threw an exception: no"):
        recorded(device, arrays=ARRAYS, grid="2", block="9")
