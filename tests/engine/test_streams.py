"""A trace that is lowered as the engine comes to it gives what its operations give that are held, every field of it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simtmm import Machine, Workload, count, load_machine, load_trace, lower, run, simulate, sweep
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.engine.fast import layout
from simtmm.engine.fast.launches import launch
from simtmm.engine.fast.supply import operations as supply
from simtmm.engine.fast.supply import window_thread as beside
from simtmm.errors import EngineError, TraceError
from simtmm.native import Loop
from simtmm.testing import machines
from simtmm.trace import lower as lowering
from simtmm.trace.counts import lower_and_count
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.runs.encoder import Encoder
from simtmm.trace.schema import Batch
from simtmm.trace.streamed import Stream, StreamedWorkload
from simtmm.trace.warps import windows
from simtmm.trace.warps.walk import MOST_OPERATIONS
from simtmm.workload import COMPUTE, OF_CLASS, Tallying
from tests.examples import SHARING, examples, several
from tests.trace.programs import Program
from tests.trace.test_runs import SHAPES, programs, trace_of

MOST_GRANTED = 20_000  # instructions that the reference engine grants one by one, for a second; of some drawn, a minute


@pytest.fixture
def small_windows(monkeypatch):
    """Windows of a few operations, so that warps come to their ends."""
    monkeypatch.setattr(windows, "ALL_OPERATIONS", 1)
    monkeypatch.setattr(windows, "FEWEST", MOST_OPERATIONS + 1)


def streamed(trace, machine, places=False):
    return lower_or_stream(trace, machine, most_held=0, places=places)[0]


def long_trace(program, blocks, held, at_once):
    """Two launches whose blocks come in several pieces; some blocks, and so pieces of them, have no events."""
    one = trace_of(program, blocks)
    (batch,) = one.batches()
    kept = [block for block in range(blocks) if block in held]
    encoder, pieces = Encoder(), []
    for number in range(2):
        for first in range(0, len(kept), at_once):
            chosen = kept[first : first + at_once]
            events = [batch.events[batch.ends[b - 1] if b else 0 : batch.ends[b]] for b in chosen]
            ends = np.cumsum([len(part) for part in events], dtype=np.int64)
            part = Batch(
                np.concatenate(events), np.full(len(chosen), number, np.int32), np.array(chosen, np.int32), ends
            )
            pieces.append(encoder.runs(part, number, program._shape))
    events = sum(int(piece.events.sum()) for piece in pieces)
    return Trace(dataclasses.replace(one.info, launches=one.info.launches * 2, events=events), pieces)


long_traces = st.builds(long_trace, programs, st.just(9), st.sets(st.integers(0, 8), max_size=9), st.integers(1, 4))


def holding(machine, trace):
    """A machine whose groups hold a block of the trace, and not much more."""
    warps = -(-trace.info.launches[0].threads_per_block // machine.cores.warp_width)
    return machine.replace({"limits.warps_per_group": max(warps, machine.warps_per_group)})


@pytest.mark.parametrize("timeline", [False, True])
def test_a_stream_gives_what_its_operations_give(small_windows, timeline):
    compared = []

    @examples(140 // SHARING)
    @given(drawn=several(machines()), trace=long_traces)
    @example(drawn=[load_machine("gtx480")], trace=long_trace(Program(1, SHAPES[3]), 9, set(), 2))
    def agree(drawn, trace):
        for one in drawn:
            machine = holding(one, trace)
            places = timeline
            held, stream = lower(trace, machine, places=places), streamed(trace, machine, places)
            result = simulate(machine, held, "fast", timeline=timeline, stalls=True)
            assert simulate(machine, stream, "fast", timeline=timeline, stalls=True) == result
            assert (stream.operations, stream.warps, stream.blocks) == (held.operations, held.warps, held.blocks)
            compared.append(held.operations)

    agree()
    assert sum(compared) > 5_000
    assert 0 in compared  # the example's


def test_long_computes_of_a_stream_are_jumped_over(small_windows, monkeypatch):
    monkeypatch.setattr(launch, "LONG_COMPUTE", 1)
    compared = []

    @examples(60 // SHARING)
    @given(drawn=several(machines()), trace=long_traces)
    @example(drawn=[load_machine("gtx480")], trace=long_trace(Program(1, SHAPES[3]), 9, {0, 1, 2, 5}, 2))
    def agree(drawn, trace):
        for one in drawn:
            machine = holding(one, trace).replace({"scheduling.switch": "every-instruction"})
            held = lower(trace, machine)
            instructions = int(held.amount[(held.kind == COMPUTE) | (held.kind >= OF_CLASS)].sum())
            if instructions > MOST_GRANTED:
                continue
            assert simulate(machine, streamed(trace, machine)) == simulate(machine, held, "reference")
            compared.append(instructions)

    agree()
    assert any(instructions > 100 for instructions in compared)  # the example's are, whatever was drawn


def test_no_index_of_a_stream_is_outside_of_its_array(small_windows, monkeypatch):
    for module, name, constants in (
        (launch, "RUN", ("coupled", "switch", "memory", "order")),
        (windows, "_FILL", ()),
        (beside, "_FILL_BESIDE", ()),
        (supply, "_WARM", ()),
    ):
        monkeypatch.setattr(module, name, Loop(getattr(module, name).function, constants, checked=True))
    bound = []
    bind = Loop.bind
    monkeypatch.setattr(Loop, "bind", lambda loop, *arguments: bound.append(bind(loop, *arguments)) or bound[-1])

    @examples(40 // SHARING)
    @given(drawn=several(machines()), trace=long_traces)
    def agree(drawn, trace):
        for one in drawn:
            machine = holding(one, trace).replace({"scheduling.scheduler": "fifo"})
            for threads in (1, 2):
                simulate(machine, streamed(trace, machine, places=True), stalls=True, threads=threads)
                assert not any(one.line for one in bound)

    agree()
    assert len(bound) > 30


def test_counts_are_those_of_the_operations():
    @examples(60 // SHARING)
    @given(drawn=several(machines()), trace=long_traces)
    def agree(drawn, trace):
        for one in drawn:
            machine = holding(one, trace)
            expected = count(trace, machine, lower(trace, machine))
            assert count(trace, machine) == expected
            assert lower_and_count(trace, machine)[1] == expected

    agree()


MACHINE = Machine.from_dict({
    "name": "small",
    "cores": {"groups": 1, "cores_per_group": 2, "warp_width": 2, "max_threads_per_core": 4},
    "memory": {"latency": 1000, "chunk_words": 1},
})  # fmt: skip


def test_windows_are_filled_beside_the_engine(monkeypatch):
    trace, on = load_trace(shipped_trace(DEFAULT_TRACE)), load_machine("gtx480")
    filled, asked = [], []
    filling = beside._FILL_BESIDE

    def counted(request, queue, queue_ends, ask, sleep):
        filled.append(filling(request, queue, queue_ends, ask, sleep))
        asked.append(int(queue_ends[layout.QUEUE_END]))
        return filled[-1]

    monkeypatch.setattr(beside, "_FILL_BESIDE", counted)
    workload = streamed(trace, on)
    alone = simulate(on, workload, threads=1)
    assert not filled
    assert alone == simulate(on, lower(trace, on))
    for _ in range(200):  # which of the two comes first to a window is up to the system
        assert simulate(on, workload, threads=2) == alone
        if sum(filled) > 20:
            break
    assert sum(filled) > 20
    assert all(count <= most for count, most in zip(filled, asked, strict=True))


def test_the_engine_can_wait_for_windows_behind_a_launch_that_has_too_many_rows_for_two_threads(monkeypatch):
    trace = long_trace(Program(5, (2, 1, 1)), 8, set(range(8)), 2)
    simulate_stretch, waits_by = launch.Launch._simulate, []

    def begin(stream, number, rows):
        stream._launch, stream._last = number, -1
        stream.windows = stream._of_trace.windows(rows, number + 1)

    def stretch(one, mark):
        waits_by.append(int(one._state.parameters[layout.Parameters.yields]))
        return simulate_stretch(one, mark)

    monkeypatch.setattr(Stream, "begin", begin)
    monkeypatch.setattr(launch.Launch, "_simulate", stretch)
    result = simulate(MACHINE, streamed(trace, MACHINE), threads=2)
    assert waits_by[0] == 0
    assert waits_by[-1] == beside.address_of_yield()
    assert result == simulate(MACHINE, lower(trace, MACHINE))


def test_blocks_that_are_over_are_let_go(monkeypatch):
    """Of 400 pieces of a block each, those that are resident, and the one that comes next."""
    trace = long_trace(Program(5, (2, 1, 1)), 400, set(range(400)), 1)
    held = []
    supplied = supply.Streamed.supplied
    monkeypatch.setattr(
        supply.Streamed, "supplied", lambda one, state: (supplied(one, state), held.append(len(one._pieces)))[0]
    )
    simulate(MACHINE, streamed(trace, MACHINE))
    assert 2 <= max(held) <= MACHINE.warps_per_group + 1


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("left_out", [0, 1, 15, 40, 99])
def test_any_number_of_asyncs_is_in_flight(engine, left_out):
    """100 are issued in 100 cycles; the one that is waited for finishes L after its own end."""
    warp = [*(["async", [n]] for n in range(100)), ["join", left_out], ["compute", 1]]
    result = simulate(MACHINE, Workload.from_dict({"blocks": [{"warps": [warp]}]}), engine)
    issue = MACHINE.durations.issue
    waits_for = (100 - left_out) * issue + 1000 * MACHINE.ticks_per_cycle
    assert result.ticks == max(waits_for + issue, 100 * issue + 1000 * MACHINE.ticks_per_cycle)


def test_asyncs_of_many_warps_in_flight_are_as_the_reference_says():
    @examples(24)
    @given(
        machine=machines(),
        warps=st.lists(
            st.lists(st.one_of(st.tuples(st.just("async"), st.lists(st.integers(0, 40), min_size=1, max_size=3)),
                               st.tuples(st.just("join"), st.integers(0, 60))).map(list), min_size=30, max_size=80),
            min_size=1, max_size=6,
        ),
    )  # fmt: skip
    def agree(machine, warps):
        workload = Workload.from_dict({"blocks": [{"warps": warps}] * 2})
        assert simulate(machine, workload, "fast") == simulate(machine, workload, "reference")

    agree()


def test_what_comes_out_of_order_is_reported():
    trace = long_trace(Program(5, (2, 1, 1)), 8, set(range(8)), 2)
    disordered = Trace(trace.info, [trace._source[1], trace._source[0], *trace._source[2:]])
    with pytest.raises(TraceError, match="launch 0: blocks must come in the order of their numbers"):
        simulate(MACHINE, streamed(disordered, MACHINE))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("at_once", [2, 8])
def test_a_trace_that_has_changed_meanwhile_is_reported(at_once, threads):
    """What the whole of it was looked at for is found to be wrong later on, be it in the last piece."""
    wild = long_trace(Program(3, (2, 1, 1), wild=True), 8, set(range(8)), at_once)
    fine = long_trace(Program(5, (2, 1, 1)), 8, set(range(8)), at_once)
    half = len(fine._source) // 2  # the pieces of a launch
    last = Trace(fine.info, [*fine._source[:half], *wild._source[half:]])
    stream = dataclasses.replace(streamed(fine, MACHINE), trace=last)
    with pytest.raises(EngineError, match="launch 1: its trace has changed meanwhile"):
        simulate(MACHINE, stream, threads=threads)


def test_a_stream_says_what_it_is_by_its_digest():
    trace = long_trace(Program(5, (2, 1, 1)), 8, set(range(8)), 2)
    stream = streamed(trace, MACHINE)
    assert stream.digest() == streamed(trace, MACHINE).digest()
    wider = MACHINE.replace({"memory.chunk_words": 4})
    assert stream.digest() != streamed(trace, wider).digest()
    assert stream.digest() != dataclasses.replace(stream, launch_limits=stream.launch_limits + 1).digest()


def test_what_is_small_enough_is_held():
    trace = long_trace(Program(5, (2, 1, 1)), 8, set(range(8)), 2)
    workload, tallies = lower_or_stream(trace, MACHINE)
    assert isinstance(workload, Workload)
    assert workload == lower(trace, MACHINE)
    assert tallies == workload.tallies == workload.tallied(Tallying(2))
    assert isinstance(streamed(trace, MACHINE), StreamedWorkload)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_stream_knows_its_blocks_and_warps_before_it_is_lowered(threads, width):
    trace = long_trace(Program(1, (threads, 1, 1)), 5, {0, 3}, 2)
    machine = MACHINE.replace({"cores.warp_width": width, "cores.cores_per_group": 8, "cores.max_threads_per_core": 8})
    stream, held = streamed(trace, machine), lower(trace, machine)
    warps = -(-threads // width)
    assert (stream.launches, stream.blocks, stream.warps) == (2, 10, 10 * warps)
    assert stream.launch_blocks.tolist() == held.launch_blocks.tolist() == [0, 5, 10]
    assert stream.launch_warps.tolist() == [0, 5 * warps, 10 * warps]
    assert stream.block_warps.tolist() == held.block_warps.tolist() == [warps * block for block in range(11)]


def test_what_a_user_sees_is_the_same_where_nothing_is_held(monkeypatch):
    trace = str(shipped_trace(DEFAULT_TRACE))
    latencies = {"program": trace, "machines": ["gtx480"], "axes": {"memory.latency": [200, 800]}}
    plain = run(trace, "gtx480"), sweep(latencies, workers=1)
    monkeypatch.setattr(lowering, "MOST_HELD", 0)
    streams = []
    monkeypatch.setattr(StreamedWorkload, "stream", lambda one, threads: streams.append(one) or Stream(one, threads))
    streamed = run(trace, "gtx480"), sweep(latencies, workers=1)
    assert len(streams) >= 3  # the run, what it tries, and two of the sweep
    assert streamed[0].result == plain[0].result
    assert streamed[0].counts == plain[0].counts
    assert streamed[0].provenance["workload"] != plain[0].provenance["workload"]  # a hash of what decides it
    times = [[row.results["simulated"]["ticks"] for row in study.rows] for study in (streamed[1], plain[1])]
    assert times[0] == times[1]
    assert times[0][0] < times[0][1]


def test_what_is_there_at_first_lies_in_both_halves_of_an_l2():
    machine, trace = load_machine("a30"), load_trace(shipped_trace(DEFAULT_TRACE))
    stream, chunks = streamed(trace, machine), np.unique(lower(trace, machine).chunks)
    assert machine.memory.l2.halves == 2

    def of_ways(resident):
        """With short and long ways between the halves."""
        begun = dataclasses.replace(stream, resident=resident)
        return [simulate(machine.replace({"memory.l2.far_latency": latency}), begun) for latency in (0, 500)]

    short, long = of_ways(chunks)
    assert (short.memory_sectors, long.memory_sectors, long.ticks) == (0, 0, short.ticks)
    short, long = of_ways(chunks[:1])
    assert 0 < short.memory_sectors == long.memory_sectors
    assert long.ticks > short.ticks + 500 * machine.ticks_per_cycle
