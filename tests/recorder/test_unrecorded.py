"""What a kernel does without a macro, where it shows, and barriers that not all threads of a block pass."""

import json
import logging
import sys

import pytest

from simtmm import load_trace, record
from simtmm.__main__ import main
from simtmm.recorder.cpu import unrecorded
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler

SAXPY = """
__global__ void f(const float* x, float* y, int marked)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (marked == 0) y[i] = 2 * x[i] + y[i];
    if (marked == 1) y[i] = 2 * LD(x, i) + LD(y, i);
    if (marked == 2) ST(y, i, 2 * LD(x, i) + LD(y, i));
    if (marked == 3) ATOMIC_ADD(y, i, 2 * LD(x, i));
    if (marked == 4) { SHARED(float, s, 4); STS(s, threadIdx.x, 1.0f); }
}
"""
ARRAYS = '{"x": np.arange(8, dtype=np.float32), "y": np.ones(8, np.float32), "z": np.zeros(8, np.float32)}'
LAUNCH = 'yield Launch("f", ("x", "y", {}), grid=2, block=4, shared_memory_bytes=16)'
RIGHT = "assert np.array_equal(after['y'], 2 * before['x'] + 1)"
SILENT = "recorded no access to memory: only accesses with LD, ST and the other macros are recorded"
UNSTORED = "f changed array y without a recorded store: only accesses with LD, ST"


@pytest.fixture(autouse=True)
def lines_that_no_macro_marks_are_left_aside(monkeypatch):
    """What compilers say of these kernels is in test_unmarked.py."""
    monkeypatch.setattr("simtmm.recorder.unmarked.unmarked_warnings", lambda kernel, parameters: [])


def doubts(recorded, *marked, check="pass", between="pass"):
    launches = f"\n{between}\n".join(LAUNCH.format(each) for each in marked)
    return recorded(SAXPY, arrays=ARRAYS, launches=launches, check=check).info.doubts


def test_a_kernel_without_macros_is_reported_though_its_answer_is_right(recorded):
    silent, unstored = doubts(recorded, 0, check=RIGHT)
    assert silent.startswith(f"launch 0 of f {SILENT}")
    assert unstored.startswith(UNSTORED)


def test_a_store_that_was_left_out_is_reported(recorded):
    (unstored,) = doubts(recorded, 1, check=RIGHT)
    assert unstored.startswith(UNSTORED)


@pytest.mark.parametrize("marked", [2, 3])
def test_of_a_kernel_with_all_its_macros_nothing_is_reported(recorded, marked):
    assert doubts(recorded, marked, check=RIGHT) == []


def test_an_access_to_shared_memory_is_an_access(recorded):
    assert doubts(recorded, 4) == []


def test_launches_without_an_access_are_reported_together(recorded):
    (silent,) = doubts(recorded, 2, 9, 9)
    assert silent.startswith(f"2 launches of f, the first 1, {SILENT}")


def test_what_the_host_program_changes_is_no_store_of_a_launch(recorded):
    assert doubts(recorded, 2, 9, between="memory['y'][0] = 7; memory['z'][0] = 7")[1:] == []
    assert not any("changed" in doubt for doubt in doubts(recorded, 9, 9, between="memory['y'][:] += 1"))


def test_a_change_that_a_later_store_hides_is_reported_all_the_same(recorded):
    assert [doubt.startswith(UNSTORED) for doubt in doubts(recorded, 1, 2)] == [True]


def test_comparing_is_bounded_by_what_is_recorded_and_then_told_at_the_end(recorded, monkeypatch):
    monkeypatch.setattr(unrecorded, "FREE_BYTES", 0)
    (reported,) = doubts(recorded, 1, check=RIGHT)
    assert reported.startswith("array y changed without a recorded store, unless host.py changed it: ")


def test_a_doubt_is_logged_and_stands_in_the_trace(recorded, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "simtmm"):
        recorded(SAXPY, arrays=ARRAYS, launches=LAUNCH.format(1), output=tmp_path / "t.parquet")
    assert caplog.records[0].getMessage().startswith(f"warning: kernel probe: {UNSTORED}")
    assert load_trace(tmp_path / "t.parquet").info.warnings[0].startswith(UNSTORED)


@pytest.mark.parametrize("verb", ["run", "predict"])
def test_a_report_of_such_a_trace_is_reported_in_words_and_in_json(recorded, tmp_path, monkeypatch, capsys, verb):
    recorded(SAXPY, arrays=ARRAYS, launches=LAUNCH.format(1), output=tmp_path / "t.parquet")
    capsys.readouterr()
    for words in ((), ("--json",)):
        monkeypatch.setattr(sys, "argv", ["simtmm", verb, str(tmp_path / "t.parquet"), *words])
        with pytest.raises(SystemExit):
            main()
        out = capsys.readouterr().out
        if words:
            assert json.loads(out)["warnings"][0].startswith(UNSTORED)
        else:
            assert f"Warning: {UNSTORED}" in out


# --- barriers ---------------------------------------------------------------------------------------------------------

BARRIERS = """
__global__ void f(int* a, int what)
{
    ST(a, 0, 1);
    if (what == 1 && threadIdx.x >= 2) return;
    if (what == 2 && threadIdx.x >= 2) { SYNC(); return; }
    SYNC();
    if (what == 3 && threadIdx.x < 2) return;
    SYNC();
    SYNC();
}
"""


def barriers(recorded, what):
    return recorded(BARRIERS, arguments=f'("a", {what})', grid="2", block="4").info.doubts


@pytest.mark.parametrize(("what", "passed"), [(1, 0), (3, 1)])
def test_threads_that_end_before_a_barrier_of_others_are_reported(recorded, what, passed):
    (reported,) = barriers(recorded, what)
    waiting, ended = (0, 2) if what == 1 else (2, 0)
    assert (
        f"site {2 + passed} `SYNC();`, block 0, thread {waiting} waits at its barrier number {passed + 1}" in reported
    )
    assert f", and thread {ended} has ended after {passed}: CUDA does not define" in reported


def test_threads_that_meet_at_barriers_of_different_lines_are_reported(recorded):
    ended, apart = sorted(barriers(recorded, 2))
    assert "thread 0 waits at its barrier number 1, and thread 2 waits at another, kernel.cu:7: site 1 " in apart
    assert "thread 0 waits at its barrier number 2, and thread 2 has ended after 1" in ended


def test_threads_that_pass_the_same_barriers_are_not_worth_a_word(recorded):
    assert barriers(recorded, 0) == []


def test_sixty_four_threads_once_and_the_others_three_times_is_reported(kernel_folder):
    device = "__global__ void f(int* a) { ST(a, 0, 1); SYNC(); if (threadIdx.x >= 64) { SYNC(); SYNC(); } }"
    (reported,) = record(kernel_folder(DEVICE + device, host(block="128"))).info.doubts
    assert "thread 64 waits at its barrier number 2, and thread 0 has ended after 1" in reported
