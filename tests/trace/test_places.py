"""Operations that know where they come from: the same program, to the tick; and what its lines do adds up."""

from dataclasses import replace

import numpy as np
import pytest

from simtmm import count, load_machine, lower, record, simulate
from simtmm.errors import TraceError
from simtmm.stalls import OF_LAUNCHES, Place
from simtmm.trace import site_tables
from simtmm.trace.counts import lower_and_count
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.schema import MOST_SITES, TraceArray, TraceSite
from simtmm.trace.warps.lowering import Lowering
from simtmm.workload import ASYNC, ATOMIC, COMPUTE, LOAD, PAUSE, STORE
from tests.trace.build import barrier, load, store, trace, work

KERNELS = ("gemm", "bfs", "histogram", "list-ranking-wyllie", "transpose", "fft")
MACHINES = ("h100-sxm", "gtx280", "cray-xmt", "hd5870")


@pytest.fixture(scope="module", params=KERNELS)
def recorded(request):
    return record(request.param)


def merged(workload):
    """Kinds and amounts by warp, where neighbouring computes are one, as are neighbouring pauses."""
    lists = []
    for first, last in zip(workload.warp_operations[:-1], workload.warp_operations[1:], strict=True):
        own = []
        for kind, amount in zip(workload.kind[first:last].tolist(), workload.amount[first:last].tolist(), strict=True):
            if own and kind in (COMPUTE, PAUSE) and own[-1][0] == kind:
                own[-1] = (kind, own[-1][1] + amount)
            else:
                own.append((kind, amount))
        lists.append(own)
    return lists


@pytest.mark.parametrize("machine", MACHINES)
def test_places_change_no_tick_and_no_count(recorded, machine):
    on = load_machine(machine).replace({"cores.max_threads_per_core": 1024})  # a block of every kernel fits
    plain, placed = lower(recorded, on), lower(recorded, on, places=True)
    assert merged(placed) == merged(plain)
    assert np.array_equal(placed.chunks, plain.chunks)
    assert len(placed.place) == len(placed.kind)
    assert simulate(on, placed).ticks == simulate(on, plain).ticks
    assert count(recorded, on, placed) == count(recorded, on, plain)


def test_chunks_lie_in_the_array_that_the_place_names(recorded):
    on = load_machine("gtx280")
    placed = lower(recorded, on, places=True)
    arrays = {array.name: array for array in recorded.info.arrays}
    listed = 0
    for kind, amount, number in zip(placed.kind.tolist(), placed.amount.tolist(), placed.place.tolist(), strict=True):
        if kind not in (LOAD, ASYNC, STORE, ATOMIC):
            continue
        array = arrays[placed.places.place(number)[1]]
        first = placed.chunks[listed] * on.chunk_bytes
        assert array.base - on.chunk_bytes < first < array.base + array.bytes
        listed += amount
    assert listed == len(placed.chunks)


def test_threads_and_bytes_are_those_of_the_counts(recorded):
    on = load_machine("h100-sxm")
    placed = lower(recorded, on, places=True)
    launches = count(recorded, on).launches
    # What goes to no array is shared memory's.
    in_arrays = [number for number in range(len(placed.places)) if placed.places.place(number)[1]]
    threads = placed.places.threads[in_arrays]
    assert threads[:, 1].sum() == sum(launch.accesses for launch in launches)
    reads, writes = (sum(getattr(launch, name) for launch in launches) for name in ("bytes_read", "bytes_written"))
    assert max(reads, writes) <= threads[:, 2].sum() <= reads + writes  # an atomic is counted as both


def test_streams_and_held_workloads_are_booked_alike(recorded):
    on = load_machine("h100-sxm")
    held = simulate(on, lower(recorded, on, places=True), stalls=True)
    streamed, _ = lower_or_stream(recorded, on, most_held=0, places=True)
    result = simulate(on, streamed, stalls=True)
    assert result == held
    assert result.stalls.rows() == held.stalls.rows()


def sites(*kinds):
    return tuple(TraceSite(number, kind, "k.cu", 10 + number, f"line {number}") for number, kind in enumerate(kinds))


def test_computes_of_several_lines_are_apart_and_of_one_line_together():
    threads = [[work(0, 2), work(0, 3), work(1, 4), load(2, 4096 + 4 * n), barrier(3)] for n in range(32)]
    result = trace([threads], sites=sites("work", "work", "load", "barrier"))
    on = load_machine("h100-sxm").replace({"scheduling.barrier_latency": 0, "scheduling.barrier_interval": 0})
    placed = lower(result, on, places=True)
    lines = [
        (placed.places.place(number)[0].line, amount)
        for number, amount in zip(placed.place, placed.amount, strict=True)
    ]
    assert lines == [(10, 5), (11, 4), (12, 1), (13, 0)]
    assert lower(result, on).amount.tolist() == [9, 1, 0]
    columns = zip(*(placed.places.threads[number].tolist() for number in placed.place), strict=True)
    executions, lanes, moved, times = columns
    assert (executions, lanes, moved) == ((2, 1, 1, 1), (64, 32, 32, 32), (0, 0, 128, 0))
    assert times == (32 * (2 + 3), 32 * 4, 32, 32)
    assert dict(zip(OF_LAUNCHES, placed.places.launches[0].tolist(), strict=True)) == {
        "executions": 5, "threads": 160, "bytes_asked": 128, "floating_point_instructions": 0,
        "thread_instructions": 32 * (5 + 4 + 1),
    }  # fmt: skip


def test_threads_of_diverged_warps_and_of_work_that_differs():
    """Half of a warp works (its lanes by 1 to 16), all of it meets at two barriers, a site each."""
    threads = [[*([work(0, 1 + n)] if n < 16 else []), barrier(1 + n % 2)] for n in range(32)]
    placed = lower(trace([threads], sites=sites("work", "barrier", "barrier")), load_machine("h100-sxm"), places=True)
    reported = placed.places.threads[:: len(placed.places.arrays)].tolist()
    assert reported[0] == [1, 16, 0, 16 * 17 // 2]
    assert [row[:3] for row in reported[1:3]] == [[1, 16, 0]] * 2


def test_instructions_of_threads_are_the_work_that_is_counted():
    """Of compiled programs too, where a site's work comes before its access, and of each launch."""
    own = [
        TraceSite(0, "load", "k", 1, "", work=(("fp32", 2), ("integer", 3))),
        TraceSite(1, "work", "k", 2, "", work=(("fp64", 4),)),
        TraceSite(2, "barrier", "k", 3, "", work=(("control", 1),)),
    ]
    blocks = [[[load(0, 4096 + 4 * n), work(1, n % 3), barrier(2)] for n in range(48)]] * 2
    result = trace(blocks, sites=own)
    on = load_machine("h100-sxm")
    counts = count(result, on)
    found = simulate(on, lower(result, on, places=True), stalls=True)
    assert sum(row["thread_instructions"] for row in found.sites) == counts.work
    assert sum(row["thread_instructions"] for row in found.launches) == counts.work
    classes = counts.work_by_class
    assert sum(row["floating_point_instructions"] for row in found.sites) == classes["fp32"] + classes["fp64"]


def test_work_that_does_not_fit_is_refused():
    result = trace([[[work(0, 1 << 61), barrier(1)] for _ in range(32)]], sites=sites("work", "barrier"))
    with pytest.raises(TraceError, match="its work must be below 2\\^63"):
        lower(result, load_machine("h100-sxm"), places=True)


def test_a_site_that_a_trace_does_not_describe_is_unknown():
    result = trace([[[load(7, 4096), store(9, 8192)]]])
    placed = lower(result, load_machine("gtx280"), places=True)
    assert [placed.places.place(number) for number in placed.place] == [(Place("unknown"), "")] * 2


def test_many_arrays_share_what_numbers_there_are(monkeypatch):
    monkeypatch.setattr(site_tables, "MOST_PLACES", 10)
    arrays = [TraceArray(f"a{number}", 4096 * (1 + number), 64 * (1 + number), "u1", (1,)) for number in range(6)]
    tables = site_tables.site_tables(sites("load"), arrays)
    assert tables.names == ("", "a5", "a4", "other arrays", "local memory")
    assert tables.arrays.tolist() == [
        [4096, 4096 + 64, 3], [8192, 8192 + 128, 3], [12288, 12288 + 192, 3], [16384, 16384 + 256, 3],
        [20480, 20480 + 320, 2], [24576, 24576 + 384, 1],
    ]  # fmt: skip


def test_numbers_of_sites_as_large_as_can_be_take_no_memory():
    """A row for each would be gigabytes: operations are booked for themselves then."""
    last = TraceSite(MOST_SITES - 1, "load", "k.cu", 11, "line 1")
    result = trace([[[work(0, 3), load(MOST_SITES - 1, 4096)]]], sites=(*sites("work"), last))
    on = load_machine("gtx280")
    placed = lower(result, on, places=True)
    assert not placed.has_places
    assert simulate(on, placed, stalls=True).ticks == simulate(on, lower(result, on)).ticks


def thrice(of):
    """A trace whose launches come three times, one behind the other."""
    many, pieces = len(of.info.launches), list(of.runs())
    info = replace(of.info, launches=of.info.launches * 3, events=of.info.events * 3)
    return Trace(info, [replace(runs, launch=runs.launch + many * turn) for turn in range(3) for runs in pieces])


@pytest.mark.parametrize("machine", ["h100-sxm", "cray-xmt"])
def test_blocks_that_launches_repeat_are_lowered_as_if_each_was_the_first(recorded, machine, monkeypatch):
    on = load_machine(machine).replace({"cores.max_threads_per_core": 1024})
    repeated, lowered = thrice(recorded), Lowering.lower
    calls = []
    monkeypatch.setattr(Lowering, "lower", lambda *given: calls.append(given) or lowered(*given))
    known, counts = lower_and_count(repeated, on, places=True)
    of_known = len(calls)
    monkeypatch.setattr("simtmm.trace.lower.MOST_EVENTS", -1)
    each, of_each = lower_and_count(repeated, on, places=True)
    assert known == each
    assert counts == of_each
    assert np.array_equal(known.place, each.place)
    assert np.array_equal(known.places.threads, each.places.threads)
    assert np.array_equal(known.places.launches, each.places.launches)
    assert known.places.threads.sum() > 0
    assert of_known <= len(calls) - of_known
    assert simulate(on, known, stalls=True) == simulate(on, each, stalls=True)


def test_small_blocks_are_lowered_once(monkeypatch):
    calls, lowered = [], Lowering.lower
    monkeypatch.setattr(Lowering, "lower", lambda *given: calls.append(given) or lowered(*given))
    small = thrice(thrice(trace([[[work(0, 3), load(0, 512)]]])))
    assert lower(small, load_machine("h100-sxm"), places=True).launches == 9
    assert len(calls) == 1
