"""Waits for copies in bulk from shared memory beside what an H100 took, as machine code and as PTX."""

import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.trace.lower import lower
from simtmm.trace.schema import STORES_COMMIT, STORES_WAIT, Kind
from tests.recorder.compiled.test_clusters import measured

BYTES = (16, 4096, 16384)
TRIPS = (8, 24)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    program = str(__file__).replace("test_store_groups.py", "store_groups.cu")
    outcome = cuda_program([program], words=[]).run(output=tmp_path_factory.mktemp("groups") / "trace.parquet")
    assert outcome.status == 0
    return outcome.trace


def cycles(trace, **keys):
    """Simulated cycles a trip, of copies of so many bytes."""
    h100 = load_machine("h100-sxm").replace(keys)
    ticks = simulate(h100, lower(trace, h100), "fast").launch_ticks
    each = (
        (more - less) / (TRIPS[1] - TRIPS[0]) / h100.ticks_per_cycle
        for less, more in zip(ticks[::2], ticks[1::2], strict=True)
    )
    return dict(zip(BYTES, each, strict=True))


def test_a_copy_and_the_wait_for_it_take_what_they_took(trace):
    # The latency was fitted to the larger two; the loop has its own instructions where the measured one read clocks.
    found = cycles(trace)
    for size in BYTES:
        assert found[size] == pytest.approx(measured("bulk_s2g_wait_read", f"{size}B"), abs=2)


def test_without_a_latency_it_is_less_by_that(trace):
    less, more = cycles(trace, **{"memory.drain_latency": 0}), cycles(trace)
    assert more[16384] - less[16384] == load_machine("h100-sxm").memory.drain_latency


def test_a_trace_has_each_group_and_each_wait(trace):
    values = [
        value
        for batch in trace.batches()
        for value in batch.events["value"][batch.events["kind"] == Kind.PRODUCT].tolist()
    ]
    trips = len(BYTES) * sum(TRIPS)
    assert sorted(values) == [STORES_COMMIT] * trips + [STORES_WAIT] * trips
    kinds = [
        site.kind for site in trace.info.sites if "UTMACMDFLUSH" in site.instruction or "DEPBAR" in site.instruction
    ]
    assert len(kinds) >= 2
    assert set(kinds) == {"product"}
