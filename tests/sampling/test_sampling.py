"""Programs by a sample of them beside the whole."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import simtmm
from simtmm import count, load_machine, simulate
from simtmm.analysis.run import run
from simtmm.errors import EngineError
from simtmm.kernel import load_kernel
from simtmm.program import open_program
from simtmm.sampling import program as of_program
from simtmm.sampling.long import steady as of_long
from simtmm.sampling.long.phases import under_way
from simtmm.sampling.long.steady import PHASES_SYSTEMATIC, STEADY_SYSTEMATIC, steady
from simtmm.sampling.recording import KernelSource
from simtmm.sampling.sampled import sampled_kernel, sampled_program
from simtmm.sampling.sources import DependsError
from simtmm.trace.lower import lower
from simtmm.trace.streamed import StreamedWorkload
from simtmm.watch import followed_by, foreseen_by, watched

MACHINE = load_machine("gtx480").replace({"cores.groups": 2, "memory.partitions": 2})
STREAM = {"n": 1 << 18}


@pytest.fixture(scope="module")
def trace():
    return simtmm.record("stream", STREAM)


@pytest.fixture(scope="module")
def whole(trace):
    return simulate(MACHINE, lower(trace, MACHINE), stalls=True)


@pytest.fixture(scope="module")
def sampled():
    return sampled_kernel(load_kernel("stream"), STREAM, MACHINE).sampled


def test_a_sample_is_within_its_interval_of_the_whole_and_of_far_fewer_blocks(sampled, whole):
    assert abs(sampled.result.ticks / whole.ticks - 1) <= sampled.error <= 0.03
    assert sampled.simulated_blocks < sampled.blocks / 2
    assert sampled.words == f"of 2,048 blocks {sampled.simulated_blocks:,} were simulated"


def test_counts_of_equal_blocks_are_those_of_the_whole(sampled, trace):
    expected = count(trace, MACHINE)
    assert sampled.counts.launches == expected.launches
    assert sampled.counts == expected


def test_sums_of_the_result_are_those_of_the_whole(sampled, whole):
    assert (sampled.result.issued, sampled.result.transactions) == (whole.issued, whole.transactions)
    assert [row["instructions"] for row in sampled.result.launches] == [whole.issued]
    groups = MACHINE.cores.groups
    assert sum(sampled.result.time.values()) == pytest.approx(groups * sampled.result.ticks, rel=1e-6)  # rounded


def test_a_sample_of_a_trace_is_that_of_the_kernel(sampled, trace):
    of_trace = sampled_program(open_program(trace), MACHINE).sampled
    assert of_trace.result == sampled.result


def test_what_is_small_is_simulated_whole_and_that_is_said():
    done = run("stream", MACHINE, {"n": 1 << 12}, sample="auto", what_if=False)
    assert done.sampled is None
    assert done.warnings[0].startswith("all blocks were simulated")
    assert done.result == run("stream", MACHINE, {"n": 1 << 12}, what_if=False).result


def test_a_narrower_interval_takes_more_blocks(sampled):
    more = sampled_kernel(load_kernel("stream"), STREAM, MACHINE, error=sampled.error * 0.999).sampled
    assert more is None or more.simulated_blocks > sampled.simulated_blocks


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sample": "all"}, "sample = 'all': must be 'auto'"),
        ({"sample": "auto", "error": 0.01}, "error = 0.01: must be above 0.01"),
        ({"sample": "auto", "engine": "reference"}, "engine 'reference': can't simulate samples"),
        ({"sample": "auto", "timeline": True}, "timeline: needs all blocks"),
    ],
)
def test_what_can_not_be_sampled_is_refused(given, said):
    with pytest.raises(EngineError, match=said):
        run("stream", MACHINE, STREAM, **given)


@pytest.mark.parametrize("name", ["gemm", "reduce", "spmv-csr", "fft", "facs"])
def test_kernels_whose_way_no_written_data_decides_run_in_part(name):
    source = KernelSource(load_kernel(name), {}, "written")
    last = source.launches[0].blocks - 1
    part = source.trace_of({0: np.array([last])})
    of_whole = next(runs for runs in simtmm.record(name).runs() if runs.launch == 0 and last in runs.block)
    alone = [runs.of_blocks(np.array([last], np.int32)).to_batch().events for runs in (*part.runs(), of_whole)]
    assert (alone[0] == alone[1]).all()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("list-ranking-wyllie", "nodes decides the path of blocks, and launches write it"),
        ("bfs", "its host code reads deepest between launches"),
        ("apsp-bellman-ford", "threads of bellman_ford may wait for other blocks"),
    ],
)
def test_kernels_whose_way_depends_on_other_blocks_are_told(name, why):
    with pytest.raises(DependsError, match=why):
        KernelSource(load_kernel(name), {}, "written")


@pytest.mark.parametrize("form", ["written", "compiled"])
def test_recording_a_sample_tells_the_blocks_that_have_run_and_foresees_the_events_of_all(form):
    source = KernelSource(load_kernel("vector-add"), {"n": 8192}, form)
    chosen = {0: np.arange(3, 23, 2)}
    told, foreseen = [], []
    with (
        watched(lambda *each: told.append(each)),
        foreseen_by(lambda found: foreseen.append(found["events"])),
        followed_by(lambda events: {"events": events}),
    ):
        trace = source.trace_of(chosen)
    assert [each for each in told if each[0] == "recording a sample"][-1] == ("recording a sample", 10, 10)
    assert all(done <= total == 10 for stage, done, total in told if stage == "recording a sample")
    assert foreseen[-1] == trace.info.events


def test_a_kernel_s_arrays_run_as_their_elements_follow_one_another_in_c(monkeypatch):
    """Whatever the order and the bytes of the array that host.py gives."""
    source, given = KernelSource(load_kernel("gemm"), {"n": 64}, "compiled"), []
    monkeypatch.setattr(
        "simtmm.sampling.recording.CompiledLaunches", lambda linked, arrays, *_, **__: given.append(arrays)
    )
    array = np.asfortranarray(np.arange(12, dtype=">f4").reshape(3, 4))
    source._execution({"a": array})
    (arrays,) = given
    assert (arrays["a"] == array).all()
    assert arrays["a"].tobytes("A") == np.arange(12, dtype=np.float32).tobytes()


def test_the_operations_of_a_launch_are_told_by_a_block_that_it_has(monkeypatch):
    """The one in the middle of the first launch of each stratum, of one block that one."""
    asked = {}

    def trace_of(blocks):
        asked.update({launch: numbers.tolist() for launch, numbers in blocks.items()})

    source = SimpleNamespace(launches=[SimpleNamespace(blocks=blocks) for blocks in (1, 2, 9, 5)], trace_of=trace_of)
    tallies = [SimpleNamespace(operations=7 + launch) for launch in range(3)]
    monkeypatch.setattr(of_program, "sample_of", lambda trace, blocks: trace)
    monkeypatch.setattr(of_program, "lower_or_stream", lambda trace, machine: (None, tallies))
    strata = [SimpleNamespace(launches=launches) for launches in ([2, 3], [0], [1])]
    assert of_program._operations(source, MACHINE, strata) == {0: 7, 1: 8, 2: 9}
    assert asked == {0: [0], 1: [1], 2: [4]}


def test_long_blocks_are_made_of_a_few_and_told_by_their_pace():
    machine = load_machine("gtx480").replace({"cores.groups": 2, "memory.partitions": 1})
    source = KernelSource(load_kernel("gemm"), {"n": 192}, "written")
    asked = []
    recorded = source.trace_of
    source.trace_of = lambda chosen: asked.append(chosen[0]) or recorded(chosen)
    wave = 12
    made = steady(source, machine, 0, wave, 100_000)
    whole = simulate(machine, lower(simtmm.record("gemm", {"n": 192}), machine))
    assert len(asked) == 1
    assert len(asked[0]) < wave  # of 144
    assert abs(made.ticks / whole.ticks - 1) <= made.half / made.ticks
    assert STEADY_SYSTEMATIC <= made.half / made.ticks < PHASES_SYSTEMATIC  # its blocks have no phases


def test_a_part_of_a_wave_ends_once_its_pace_is_known_and_not_before_so_many_operations(monkeypatch):
    machine = load_machine("gtx480").replace({"cores.groups": 2, "memory.partitions": 1})
    source = KernelSource(load_kernel("gemm"), {"n": 192}, "written")
    whole = steady(source, machine, 0, 12, 100_000)
    monkeypatch.setattr(of_long, "LEAST_OPERATIONS", 0)
    early = steady(source, machine, 0, 12, 100_000)
    monkeypatch.setattr(of_long, "KNOWN", 0.0)
    unknown = steady(source, machine, 0, 12, 100_000)
    assert 0.25 * whole.share <= early.share < 0.9 * whole.share  # of 12 blocks, which issue by turns
    assert unknown.ticks == whole.ticks
    assert early.ticks == pytest.approx(whole.ticks, rel=STEADY_SYSTEMATIC)


def test_blocks_under_way_have_a_digest_of_how_far_they_are():
    source = KernelSource(load_kernel("gemm"), {"n": 64}, "written")
    trace = source.trace_of({0: np.arange(16)})
    (runs,) = trace.runs()
    first, middle = np.arange(8), np.arange(4, 12)
    further = under_way(runs, [0.5] * len(runs.block))
    moved = dataclasses.replace(runs, values=runs.values + 1)
    several = [(runs, first), (runs, middle), (further, first), (moved, first)]
    digests = [of_long._begun(trace, of, 0, blocks).info.digest for of, blocks in (*several, (runs, first))]
    assert len(set(digests)) == 4
    assert digests[0] == digests[-1]


@pytest.mark.parametrize(
    ("paces", "is_known"),
    [
        ([1.0] * 16, True),
        ([1.0, 1.02] * 8, True),  # half of its interval is 0.5 %
        ([1.0, 1.2] * 8, False),
        ([1.0] * 8 + [1.02] * 8, False),  # it is known to 1 %, but changes
    ],
)
def test_a_pace_is_known_where_it_neither_spreads_nor_changes(paces, is_known):
    assert of_long._is_known(np.array(paces), 0.01) is is_known


def test_the_pace_of_long_blocks_is_of_instructions_however_long_bank_conflicts_hold_a_port():
    """With two banks a shared access takes its port for many ticks, and is one instruction of those that are issued."""
    machine = load_machine("gtx480").replace({"cores.groups": 2, "memory.partitions": 1, "banks.count": 2})
    source = KernelSource(load_kernel("matrix-multiplication"), {"n": 128}, "written")
    made = steady(source, machine, 0, 16, 100_000)
    whole = simulate(machine, lower(simtmm.record("matrix-multiplication", {"n": 128}), machine))
    # 6 % off, more than stated, as blocks of 16 turns of a loop are no long ones; conflicts counted, it is 3.4 times
    assert made.ticks == pytest.approx(whole.ticks, rel=0.1)


def test_an_l2_that_holds_all_arrays_begins_with_them_as_an_earlier_run_leaves_them(monkeypatch):
    """Which blocks need not be lowered for, whole; the pace is the same to the tick."""
    machine = load_machine("v100").replace({"cores.groups": 4, "memory.partitions": 4})
    source = KernelSource(load_kernel("gemm"), {"n": 192}, "written")
    lowered = []
    usual = StreamedWorkload.lowered
    monkeypatch.setattr(StreamedWorkload, "lowered", lambda *given: lowered.append(given) or usual(*given))
    made = steady(source, machine, 0, 16, 200_000)
    assert machine.memory.l2.start == "warm"
    assert lowered == []
    monkeypatch.setattr("simtmm.sampling.long.steady._resident", lambda *_: None)
    as_accessed = steady(source, machine, 0, 16, 200_000)
    assert len(lowered) == 2  # of the first wave, and of blocks in the middle
    assert made.ticks == as_accessed.ticks
    assert made.workload.digest() != as_accessed.workload.digest()


def test_what_an_earlier_run_left_written_in_the_l2_is_waited_for_in_a_sample_too():
    """A fill of 8 MB through an L2 of 768 kB, warm: into an empty one it would be sooner over."""
    machine = load_machine("rtx-a4000").replace(
        {"cores.groups": 4, "memory.partitions": 4, "memory.l2.sets": 384, "memory.l2.ways": 16}
    )
    fill = {"operation": "init", "n": 1 << 20}
    found = sampled_kernel(load_kernel("stream"), fill, machine).sampled
    workload = lower(simtmm.record("stream", fill), machine)
    warm, cold = (simulate(machine.replace({"memory.l2.start": start}), workload).ticks for start in ("warm", "cold"))
    assert machine.memory.l2.start == "warm"
    assert cold < 0.98 * warm
    assert found.result.ticks == pytest.approx(warm, rel=0.01)  # of the interval, what no repetition shows


def test_a_launch_of_long_blocks_says_how_it_was_simulated(monkeypatch):
    monkeypatch.setattr(of_program, "MOST_OPERATIONS", 20_000)
    monkeypatch.setattr(of_program, "LONG", 40_000)
    found = sampled_kernel(load_kernel("gemm"), {"n": 96}, MACHINE).sampled
    assert any("their pace" in note for note in found.notes)
    assert found.simulated_blocks < found.blocks
    expected = count(simtmm.record("gemm", {"n": 96}), MACHINE)
    assert dataclasses.asdict(found.counts) == dataclasses.asdict(expected)
