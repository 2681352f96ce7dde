"""Blocks whose events are taken out while they run: their traces are those of blocks that are taken out whole."""

import pytest

from simtmm import record
from simtmm.errors import RecordingError
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler

# Threads do differently much between two barriers, one ends early, and atomics tell in which order they ran.
WORKS = """__global__ void f(int* a) {
    SHARED(int, s, 8);
    for (int i = 0; i < 5 + 7 * (int)threadIdx.x; ++i) ATOMIC_ADD(a, 0, LD(a, (i * 3 + threadIdx.x) % 4));
    if (threadIdx.x == 3) return;
    STS(s, threadIdx.x, LD(a, 0));
    SYNC();
    for (int i = 0; i < 30; ++i) OP(LD(a, i % 4) % 3 + 1);
    SYNC();
    ATOMIC_ADD(a, 1, LDS(s, threadIdx.x));
}"""
MANY = {"block": "5", "grid": "4", "local": 32, "check": "pass"}


@pytest.mark.parametrize("most", [1, 10, 64, 333])
def test_a_block_that_is_taken_out_in_parts_is_recorded_as_it_is(recorded, monkeypatch, most):
    whole = recorded(WORKS, **MANY)
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", most)
    monkeypatch.setattr("simtmm.trace.runs.encoder.LONG", most)
    parts = recorded(WORKS, **MANY)
    assert parts.info.events == whole.info.events > 1000
    assert parts.info.digest == whole.info.digest
    assert parts.info.warnings == whole.info.warnings


def test_small_blocks_before_and_behind_a_long_one_are_whole(recorded, monkeypatch):
    device = """__global__ void f(int* a) {
        int many = blockIdx.x == 2 || blockIdx.x == 5 ? 400 : 3;
        for (int i = 0; i < many; ++i) ST(a, i % 4, i);
    }"""
    whole = recorded(device, block="2", grid="8", check="pass")
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", 50)
    assert recorded(device, block="2", grid="8", check="pass").info.digest == whole.info.digest


def test_a_limit_holds_for_a_block_that_is_taken_out_in_parts(tmp_path, recorded, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", 64)
    events = recorded(WORKS, **MANY).info.events
    folder = tmp_path / "probe"
    assert record(folder, most_events=events, form="written").info.events == events
    with pytest.raises(RecordingError, match=f"more to come, but at most {events - 1:,} may be held"):
        record(folder, most_events=events - 1, form="written")


def test_a_crash_behind_events_that_were_taken_out_names_its_place(recorded, monkeypatch):
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", 64)
    with pytest.raises(RecordingError, match=r"site 0 .*block 0, thread 0.*crashed"):
        recorded(
            """__global__ void f(int* a) {
                for (int i = 0; i < 1000; ++i) ST(a, 0, i);
                *(volatile int*)8 = 1;
            }"""
        )


def test_races_are_found_in_a_block_that_is_taken_out_in_parts(tmp_path, recorded, monkeypatch):
    recorded(WORKS, **MANY)
    folder = tmp_path / "probe"
    whole = record(folder, races=True, form="written")
    monkeypatch.setattr("simtmm.recorder.cpu.launches.MOST_EVENTS", 64)
    parts = record(folder, races=True, form="written")
    assert parts.info.digest == whole.info.digest
    assert parts.races == whole.races
