"""Bandwidth over occupancy: the workloads are those of kernels/stream, and the bandwidth what arithmetic says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, load_machine, lower, record
from simtmm.calibration.streams.kernels import (
    FP64,
    MEASURED_ARRAY,
    SHRINK,
    as_felt_by,
    stream_bandwidth,
    stream_workload,
    with_l2_for,
)
from simtmm.calibration.streams.occupancy_curve import StreamPoint, bandwidths, load_stream, occupancy_curve
from simtmm.engine import simulate
from simtmm.errors import StudyError
from simtmm.measurement.stream_operations import OPERATIONS
from simtmm.testing import machines
from simtmm.workload import PAUSE
from tests.examples import examples
from tests.recorder.conftest import needs_compiler

GOLDEN = Path(__file__).parents[1] / "golden" / "stream_occupancy.csv"
TABLES = {
    "name": "m",
    "clock_hz": 1e9,
    "ticks_per_cycle": 100,
    "cores": {"groups": 4, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 400, "chunk_words": 32, "stores": "posted"},
}


def machine(**memory):
    return Machine.from_dict({**TABLES, "memory": {**TABLES["memory"], **memory}})


@needs_compiler
@pytest.mark.parametrize("block_size", [16, 48, 96])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", ["a100-80", "mi210"])
def test_the_workload_is_what_lowering_the_kernel_gives(operation, block_size, name):
    on = load_machine(name).replace({"pipes": None})  # as written, no instruction says that it is for doubles
    lowered = lower(record("stream", {"operation": operation, "n": 5 * block_size, "threads": block_size}), on)
    result = stream_workload(operation, block_size, 5, on, 2)
    for part in ("kind", "amount", "warp_operations", "warp_chunks", "block_warps", "launch_blocks"):
        assert np.array_equal(getattr(result, part), getattr(lowered, part)), part
    # Each array may lie elsewhere, as a whole.
    shifts = set((lowered.chunks - result.chunks).tolist())
    assert len(shifts) <= 1 + max((array for array, _ in OPERATIONS[operation].loads), default=0)


@pytest.mark.parametrize(
    ("operation", "waits"), [("read", 1), ("scale", 1), ("triad", 1), ("stencil3", 2), ("stencil5", 3)]
)
def test_a_warp_waits_for_each_double_that_another_or_its_end_needs(operation, waits):
    # A load of latency 400, then 1 cycle for what is no double; a double takes its pipe for 16 and is there after 45.
    cycles = {}
    for latency in (0, 45):
        on = machine(stores="posted").replace({"pipes.fp64.interval": 16, "results.fp64": latency})
        cycles[latency] = simulate(on, stream_workload(operation, 32, 1, on, 1), "reference").ticks / 100
    # Each of a chain takes its 45 cycles, where without the latency all but the first take their pipe for 16.
    assert cycles[45] - cycles[0] == 45 * waits - 16 * (waits - 1) - 1


@needs_compiler
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_waits_as_often_as_compiled_code_does(operation):
    on = load_machine("a40")
    parameters = {"operation": operation, "n": 64, "threads": 32}
    compiled = lower(record("stream", parameters, form="compiled", architecture=86, machine=on), on)
    result = stream_workload(operation, 32, 2, on, 1)
    whole = [int(((each.kind == PAUSE) & (each.amount == 44)).sum()) for each in (compiled, result)]
    assert whole == [2 * OPERATIONS[operation].waits] * 2
    assert [int(each.amount[each.kind == FP64].sum()) for each in (compiled, result)] == [
        2 * OPERATIONS[operation].fp64
    ] * 2


def test_a_warp_alone_moves_its_bytes_in_latency_and_two_issues():
    # A round of a block: load (issue, L) and compute (issue); 32 threads of 8 bytes, one block a group.
    expected = 32 * 8 * 4 / (1 + 400 + 1) * 1e9
    assert stream_bandwidth(machine(), "read", 32, 1) == pytest.approx(expected, rel=1e-12)


def test_a_full_machine_moves_what_its_partitions_take():
    # 4 partitions, a chunk of 128 bytes every 32 cycles each; 64 warps of 2 chunks a group hide the latency 5 times.
    # Waves of blocks don't come to quite the same pace: 1 %.
    on = machine(partitions=4, service=32)
    assert stream_bandwidth(on, "read", 1024, 2) == pytest.approx(4 * 128 / 32 * 1e9, rel=0.01)


def test_stencils_read_a_line_once():
    # A block loads 64 lines and stores 64, as with scale, and the line behind its own. Of 4 partitions it is always the
    # same one that has this line, and so 33 lines of a block where the others have 32.
    on = machine(partitions=4, service=32, l1={"sets": 1024, "ways": 4, "latency": 30})
    scale, stencil = (stream_bandwidth(on, name, 1024, 2) for name in ("scale", "stencil5"))
    assert scale == pytest.approx(4 * 128 / 32 * 1e9, rel=0.01)
    assert stencil / scale == pytest.approx(32 / 33, rel=0.001)


def test_a_curve_gives_the_error_of_each_point_and_its_mean():
    points = [StreamPoint(32, 1, 0.01, {"read": 2.0e9}), StreamPoint(64, 1, 0.02, {"read": 4.0e9})]
    curve = occupancy_curve(machine(), points)
    for entry in curve.points:
        assert entry.error("read") == entry.bandwidth["read"] / entry.point.measured["read"] - 1
    assert curve.mean_error("read") == np.mean(np.abs(curve.errors("read")))
    assert curve.mean_error() == curve.mean_error("read")
    assert curve.to_dict()["points"][1]["error"]["read"] == curve.errors("read")[1]


# What a kernel does not notice is left out

L1, L2 = {"sets": 4, "ways": 2, "latency": 9}, {"sets": 16, "ways": 2, "latency": 90}


@given(made=machines(), chunk_words=st.sampled_from([2, 8, 32]), operation=st.sampled_from(sorted(OPERATIONS)),
       block_size=st.sampled_from([1, 4, 16, 32]), blocks=st.integers(1, 12), limit=st.integers(1, 3))  # fmt: skip
@examples(200)
def test_without_what_it_does_not_meet_a_streaming_kernel_takes_the_same_ticks(
    made, chunk_words, operation, block_size, blocks, limit
):
    made = made.replace({"memory.chunk_words": chunk_words, "limits.warps_per_group": 32})
    bare = as_felt_by(made, operation, block_size)
    workload = stream_workload(operation, block_size, blocks, made, limit)
    assert simulate(bare, workload, "reference").ticks == simulate(made, workload, "reference").ticks


@pytest.mark.parametrize("operation", ["read", "scale", "triad", "init"])
def test_cold_caches_that_write_through_are_left_out(operation):
    on = machine(service=32, l1=L1, l2={**L2, "service": 32}, l1_after_store="drop")
    bare = as_felt_by(on, operation, 32).memory
    assert (bare.l1, bare.l2) == (None, None)


@pytest.mark.parametrize(
    ("operation", "l2"),
    [
        ("read", {**L2, "start": "warm", "sets": 4096}),
        ("read", {**L2, "service": 33}),
        ("init", {**L2, "writes": "back"}),
        ("scale", {**L2, "writes": "back"}),
        ("stencil3", L2),
    ],
    ids=["warm", "slow slices", "stores back", "loads and stores back", "loads twice"],
)
def test_an_l2_that_a_kernel_notices_stays(operation, l2):
    on = machine(partitions=4, service=32, l2=l2)
    assert as_felt_by(on, operation, 32).memory.l2 == on.memory.l2
    workload = stream_workload(operation, 32, 40, on, 2)
    assert simulate(on, workload).ticks != simulate(on.replace({"memory.l2": None}), workload).ticks


@pytest.mark.parametrize(
    ("operation", "l2"), [("read", {**L2, "writes": "back"}), ("init", {**L2, "start": "warm", "service": 99})]
)
def test_what_an_l2_does_to_stores_alone_or_loads_alone_keeps_it_for_no_other_kernel(operation, l2):
    assert as_felt_by(machine(service=32, l2=l2), operation, 32).memory.l2 is None


@pytest.mark.parametrize("operation", ["read", "init"])
def test_an_l2_that_measured_arrays_do_not_fit_serves_no_stream(operation):
    # A run has 1 MiB, for which the L2 has room; measured arrays of 128 MiB it would not hold.
    l2 = {"sets": 4096, "ways": 16, "latency": 90, "service": 8, "start": "warm"}
    on = machine(partitions=4, service=32, l2=l2)
    assert stream_bandwidth(on, operation, 1024, 2) == pytest.approx(4 * 128 / 32 * 1e9, rel=0.01)


def test_an_l2_is_smaller_by_what_arrays_are_smaller_than_the_measured_ones():
    on = machine(l2={"sets": 4096, "ways": 16, "latency": 90, "start": "warm"})
    result = with_l2_for(on, MEASURED_ARRAY // 16).memory.l2
    assert (result.start, result.sets) == ("cold", 4096 // 16 // SHRINK)
    assert with_l2_for(machine(l2=L2), 4096) == machine(l2=L2)


@pytest.mark.parametrize("stores", ["posted", "at-end"])
def test_both_engines_give_the_same_bandwidth(stores):
    on = machine(partitions=4, interleave="hash", service=32, turnaround=5, stores=stores)
    results = [stream_bandwidth(on, "triad", 64, 2, engine, 4096) for engine in ("fast", "reference")]
    assert results[0] == results[1]


@pytest.mark.parametrize("stores", ["posted", "at-end", "blocking"])
def test_stores_that_nobody_waits_for_take_their_partitions_all_the_same(stores):
    on = machine(partitions=4, service=32, stores=stores)
    assert stream_bandwidth(on, "init", 1024, 2) == pytest.approx(4 * 128 / 32 * 1e9, rel=0.01)


def test_machines_that_a_kernel_cannot_tell_apart_run_once(monkeypatch):
    made = []

    def simulated(machine, workload, *arguments, **options):
        made.append((machine.memory.store_latency, workload.origin.split()[1]))
        return simulate(machine, workload, *arguments, **options)

    monkeypatch.setattr("simtmm.calibration.streams.kernels.simulate", simulated)
    on = [machine(stores="at-end", store_latency=latency) for latency in (100, 200, 300)]
    points = [StreamPoint(32, 1, 0.01, {}), StreamPoint(64, 1, 0.02, {})]
    runs = [(each, name, point) for each in on for name in ("read", "init") for point in points]
    told = []
    found = bandwidths(runs, watch=told.append, bytes_a_group=4096)
    assert sorted(made, key=str) == sorted([(None, "read")] * 2 + [(at, "init") for at in (100, 200, 300)] * 2, key=str)
    assert found == [stream_bandwidth(each, name, point.block_size, 1, None, 4096) for each, name, point in runs]
    assert told == sorted(told)
    assert told[-1] == len(runs)


def test_points_that_feel_a_machine_alike_share_one(monkeypatch):
    felt = []
    monkeypatch.setattr(
        "simtmm.calibration.streams.occupancy_curve.stream_bandwidth", lambda machine, *_: felt.append(machine) or 1e9
    )
    points = [StreamPoint(size, 1, 0.01, {}) for size in (32, 64, 96)]
    on = machine(l1=L1, l2=L2, l1_after_store="drop")
    bandwidths([(on, "read", point) for point in points])
    assert [each is felt[0] for each in felt] == [True] * 3
    # 17 threads of 8 bytes end within a chunk, which another block loads, too: caches count.
    bandwidths([(on, "read", StreamPoint(17, 1, 0.01, {}))])
    assert (felt[0].memory.l1, felt[-1].memory.l1) == (None, on.memory.l1)


def test_a_measured_file_is_read():
    points = load_stream(GOLDEN, "mi210")
    assert len(points) == 13
    assert points[0] == StreamPoint(
        16, 1, 0.008,
        {"init": 33e9, "read": 24e9, "scale": 36e9, "triad": 65e9, "stencil3": 35e9, "stencil5": 35e9}, 1664,
    )  # fmt: skip
    assert [point.occupancy for point in points] == sorted(point.occupancy for point in points)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "has no rows"),
        ("block_size,blocks_per_sm,read_GBs\n1,1,1\n", "has no column 'occupancy_pct'"),
        ("block_size,blocks_per_sm,occupancy_pct\n1,1,1\n", "has no column NAME_GBs with NAME of init, read"),
        ("block_size,blocks_per_sm,occupancy_pct,read_GBs\n1,1,1,x\n", "read_GBs = 'x': must be a number above 0"),
        ("block_size,blocks_per_sm,occupancy_pct,read_GBs\n1.5,1,1,2\n", "block_size = '1.5': must be a whole number"),
        ("block_size,blocks_per_sm,occupancy_pct,read_GBs\n1,0,1,2\n", "blocks_per_sm = '0': must be a number above 0"),
        ("gpu,block_size,blocks_per_sm,occupancy_pct,read_GBs\na,1,1,1,1\nb,1,1,1,1\n", "has several GPUs: choose one"),
    ],
)
def test_what_a_file_lacks_is_reported(tmp_path, text, line):
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(StudyError) as caught:
        load_stream(path)
    assert str(caught.value).startswith(f"{path}: {line}")


def test_an_unknown_gpu_and_an_unknown_operation_are_refused():
    with pytest.raises(StudyError, match="gpu 'v1000': unknown; did you mean 'v100'"):
        load_stream(GOLDEN, "v1000")
    with pytest.raises(StudyError, match="operation 'raed': was not measured; did you mean 'read'"):
        occupancy_curve(machine(), load_stream(GOLDEN, "v100"), ["raed"])
    with pytest.raises(StudyError, match="operation 'copy': unknown"):
        stream_workload("copy", 32, 1, machine(), 1)


def test_a_machine_without_a_clock_has_no_bandwidth():
    with pytest.raises(StudyError, match=r"machine m \(clock_hz = none\): clock_hz: is required"):
        stream_bandwidth(machine().replace({"clock_hz": None}), "read", 32, 1)
