"""Kernels as written that go round for ever are told, with what they read; nobody else is, and nobody is waited for."""

import platform
import sys

import pytest

from simtmm.errors import LivelockError, RecordingError
from simtmm.recorder.cpu import process
from tests.recorder.conftest import needs_compiler

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="is told by /proc")]

# what 0 ends, and loops in other ways. a: 4 zeros, b: 4 zeros
KERNEL = """__device__ int looked(int* a) { return LD(a, 2); }
__global__ void f(int* a, int* b, int what)
{
    SHARED(int, s, 4);
    if (what == 1 && threadIdx.x == 1) while (LD(a, 3) == 0) {}
    if (what == 2) while (ATOMIC_CAS(a, 1, 0, 7)) {}
    if (what == 3) while (LD(a, 0) == 0) SYNC();
    if (what == 4) { STS(s, 2, 0); while (LDS(s, 2) == 0) {} }
    if (what == 5) while (looked(a) == 0) ST(b, 0, 9);
    if (what == 6) for (;;) OP(1);
    if (what == 7) for (int turn = 0;; turn ^= 1) ST(b, turn, LD(a, turn));
    if (what == 8)
        for (int k = 0; LD(a, 0) == 0; ++k) {
            ATOMIC_MAX(b, k & 1023, 0);
            for (volatile int left = 5000; left > 0; --left) {}
        }
    if (what == 11) for (int k = 0; k < 100000; ++k) LD(a, 0);
    if (what == 12) { ST(a, 0, 100000); while (LD(a, 0) > 0) ST(a, 0, LD(a, 0) - 1); }
    if (what == 13) { STS(s, 0, 100000); while (LDS(s, 0) > 0) { ATOMIC_OR(b, 0, 0); STS(s, 0, LDS(s, 0) - 1); } }
    if (what == 14) { static int left; for (left = 100000; left > 0; --left) LD(a, 0); }
    if (what == 15) { int* own = new int(100000); while (--*own > 0) LD(a, 0); delete own; }
    if (what == 16) for (int k = 0; k < 50000; ++k) SYNC();
}
"""
ENDLESS = {  # by `what`: the thread, and what is told of it
    1: (1, r"loops for ever: \S+kernel\.cu:\d+ reads index 3 of a: it is 0"),
    2: (1, r"loops for ever: \S+kernel\.cu:\d+ tries to update index 1 of a: it is 7"),
    3: (None, r"2 threads loop for ever: \S+kernel\.cu:\d+ reads index 0 of a: it is 0"),
    4: (0, r"loops for ever: \S+kernel\.cu:\d+ reads byte 8 of `SHARED\(int, s, 4\);`"),
    5: (0, r"loops for ever: \S+kernel\.cu:2 reads index 2 of a: it is 0"),
    6: (0, r"loops for ever, and reads nothing there that could change"),
    7: (0, r"loops for ever: .* reads index [01] of a: it is 0, .* reads index [01] of a: it is 0"),
}
RIGHT = (0, 11, 12, 13, 14, 15, 16)
ARRAYS = '{"a": np.zeros(4, np.int32), "b": np.zeros(1024, np.int32)}'


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch):
    monkeypatch.setattr(process, "TICK_SECONDS", 0.002)


@pytest.fixture
def told(recorded):
    def make(what, grid="1", device=KERNEL):
        return recorded(device, arguments=f'("a", "b", {what})', arrays=ARRAYS, grid=grid, block="2", local=16)

    return make


@pytest.mark.parametrize("what", ENDLESS)
def test_one_that_comes_back_to_all_that_decides_is_told(told, what):
    thread, words = ENDLESS[what]
    with pytest.raises(RecordingError, match=words) as caught:
        told(what)
    assert f"block 0, thread {'' if thread is None else thread}" in str(caught.value)
    later = (
        str(caught.value).rpartition("; as compiled")[0].rpartition("; ")[2] or str(caught.value).rpartition("; ")[2]
    )
    if thread == 0:
        assert later.startswith("1 thread comes later: as written, a thread runs up to its next barrier")
    else:
        assert isinstance(caught.value, LivelockError)
        assert later == "no other thread remains that could change it"


def test_blocks_that_come_later_are_counted(told):
    with pytest.raises(RecordingError, match="; 2 blocks come later: as written") as caught:
        told(1, grid="3")
    assert not isinstance(caught.value, LivelockError)


@pytest.mark.parametrize("what", RIGHT)
def test_one_that_ends_is_not(told, what):
    assert told(what).info.events >= 0


CLOCKS = {
    "of the C library": ("ctime", "clock()", "CLOCKS_PER_SEC / 50"),
    "of C++": ("chrono", "std::chrono::steady_clock::now().time_since_epoch().count()", "20000000"),
    "of the processor": ("x86intrin.h", "(long long)__rdtsc()", "50000000"),
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_one_that_waits_for_a_clock_is_not(recorded, clock):
    header, now, wait = CLOCKS[clock]
    if header == "x86intrin.h" and platform.machine() != "x86_64":
        pytest.skip("is of x86-64")
    waits = f"{{ auto begun = {now}; while ({now} - begun < {wait}) LD(a, 0); }}"
    assert recorded(f"#include <{header}>\n__global__ void f(int* a) {waits}").info.events > 10


def test_one_that_only_counts_is_ended_though_it_updates(told, monkeypatch):
    """Its count never comes back, and what it updates stays as it is."""
    monkeypatch.setenv("SIMTMM_KERNEL_TIMEOUT", "0.3")
    with pytest.raises(RecordingError, match=r"changed nothing in memory for 0\.3 s and was stopped: does it loop for"):
        told(8)
