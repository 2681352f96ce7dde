"""How fast: rates of the main job's steps. Counts are pinned, so that faster can't mean less.

    python -m pytest tests/benchmarks -n 0 --benchmark-enable --benchmark-only

Each benchmark prints what it did a second (extra_info). Without --benchmark-enable each runs once, as a test.
"""

import subprocess
import sys

import pytest

from simtmm import Workload, count, load_machine, lower, record, simulate
from simtmm.errors import CompilerError
from simtmm.recorder.compiler import find_compiler
from simtmm.trace.io import TraceRecorder
from simtmm.trace.races import find_races
from simtmm.trace.schema import Kind

ACCESSES = (Kind.LOAD, Kind.ASYNC, Kind.STORE, Kind.ATOMIC, Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC)


def has_compiler():
    try:
        return bool(find_compiler())
    except CompilerError:
        return False


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="recording needs a C++ compiler")


def rate(benchmark, what, amount):
    if benchmark.enabled:
        benchmark.extra_info[f"{what} a second"] = round(amount / benchmark.stats.stats.median)


def accesses(trace):
    return sum(int((batch.events["kind"] == kind).sum()) for batch in trace.batches() for kind in ACCESSES)


def minplus_accesses(n, sub_block=16, steps=7):
    """Each product reads two sub-blocks a step of k into shared memory, two words of it a pair, and stores once."""
    return steps * (4 * n * n * n // sub_block + 2 * n**3 + n * n)


def wyllie_accesses(n):
    """A load and a store of each node a step, and one of its successor's where it still has one."""
    steps = (n - 1).bit_length()
    return 2 * n * steps + sum(max(0, n - 2**step) for step in range(steps))


def reduce_counts(n, threads=128):
    """Accesses and barriers: a launch reads all, each block folds its threads in a tree, until one value is left."""
    count = barriers = 0
    while n > 1:
        blocks = -(-n // (2 * threads))
        count += n + blocks * (threads + 2 * (threads - 1) + 1)
        barriers += blocks * threads * (1 + (threads - 1).bit_length())
        n = blocks
    return count, barriers


def matrix_accesses(n, sub_block):
    """A step along the row: a word of each matrix into shared memory, two words of it a pair; and the product."""
    steps = n // sub_block
    return steps * n * n * (2 + 2 + 2 * sub_block) + n * n


def alternating(blocks, warps, rounds):
    """Loads alternating with compute, a chunk of its own for each load of a warp."""
    warp = [operation for chunk in range(rounds) for operation in (["load", [chunk]], ["compute", 4])]
    return Workload.from_dict({"blocks": [{"warps": [warp] * warps}] * blocks})


@pytest.mark.parametrize(
    ("changes", "ticks"),
    [
        ({}, 32_510),
        ({"scheduling.switch": "every-instruction", "scheduling.scheduler": "round-robin"}, 39_760),
        ({"memory.service": 1, "memory.l1": {"sets": 64, "ways": 4, "latency": 30}}, 19_553),
    ],
    ids=["on-stall", "every-instruction", "caches"],
)
def test_reference_engine(benchmark, changes, ticks):
    machine = load_machine("ideal").replace({"cores.groups": 15, "memory.latency": 400, **changes})
    workload = alternating(blocks=90, warps=8, rounds=40)
    assert workload.operations == 57_600
    result = benchmark.pedantic(simulate, (machine, workload), {"engine": "reference"}, rounds=3)
    assert (result.issued, result.transactions) == (144_000, 28_800)
    assert result.ticks == ticks
    rate(benchmark, "warp operations", workload.operations)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "expected"),
    [
        ("stream", {"operation": "triad", "n": 2_000_000}, 8_000_000),
        ("apsp-minplus", {"n": 128, "sub_block": 16, "threads": 64}, minplus_accesses(128)),
    ],
    ids=["stream-triad", "apsp-minplus"],
)
@pytest.mark.parametrize("to", ["memory", "file"])
def test_recording(benchmark, tmp_path, kernel, parameters, expected, to):
    record(kernel, {**parameters, "n": 2})  # built
    output = {"output": tmp_path / "t.parquet"} if to == "file" else {}
    trace = benchmark.pedantic(record, (kernel, parameters), output, rounds=3)
    assert accesses(trace) == expected
    rate(benchmark, "accesses", expected)


class Counted(TraceRecorder):
    """Takes batches and drops them."""

    def add(self, batch):
        self.events += len(batch.events)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "expected", "others"),
    [
        ("stream", {"operation": "triad", "n": 2_000_000}, 8_000_000, 2 * 2_000_000),  # a join and work a thread
        # a join, two barriers and work for each word of the sub-blocks, a thread and step
        ("matrix-multiplication", {"n": 128, "sub_block": 8}, matrix_accesses(128, 8), 11 * 16 * 128**2),
    ],
    ids=["stream-triad", "matrix-multiplication"],
)
def test_running_blocks_without_digest_and_file(benchmark, monkeypatch, kernel, parameters, expected, others):
    """The part of a recording that could be done for several blocks at once (docs/kernels.md)."""
    monkeypatch.setattr("simtmm.recorder.cpu.record.TraceRecorder", Counted)
    record(kernel, {**parameters, "n": 300})  # built
    trace = benchmark.pedantic(record, (kernel, parameters), rounds=3)
    assert trace.info.events == expected + others
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "expected", "barriers"),
    [
        ("reduce", {"n": 1_000_000}, *reduce_counts(1_000_000)),
        # Counted; tests/kernels/cases has all events of these two (7,829,559 and 8,238,486) from their algorithms.
        ("scan", {"n": 300_000}, 4_063_083, 2_714_112),
        ("merge-sort", {"n": 30_000}, 4_776_852, 981_760),
        ("matrix-multiplication", {"n": 128, "sub_block": 8}, matrix_accesses(128, 8), 2 * 16 * 128**2),
    ],
    ids=["reduce", "scan", "merge-sort", "matrix-multiplication"],
)
@pytest.mark.parametrize("to", ["memory", "file"])
def test_recording_with_many_barriers(benchmark, tmp_path, kernel, parameters, expected, barriers, to):
    record(kernel, {**parameters, "n": 300})  # built
    output = {"output": tmp_path / "t.parquet"} if to == "file" else {}
    trace = benchmark.pedantic(record, (kernel, parameters), output, rounds=3)
    assert accesses(trace) == expected
    assert sum(int((batch.events["kind"] == Kind.BARRIER).sum()) for batch in trace.batches()) == barriers
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "expected", "pairs"),
    [
        ("stream", {"operation": "triad", "n": 1_000_000}, 4_000_000, 0),
        ("matrix-multiplication", {"n": 128, "sub_block": 8}, matrix_accesses(128, 8), 0),
        ("list-ranking-wyllie-variants", {"n": 30_000}, 911_450, 1),  # counted: how many jumps depends on the list
    ],
    ids=["stream-triad", "matrix-multiplication", "list-ranking"],
)
def test_looking_for_races(benchmark, kernel, parameters, expected, pairs):
    trace = record(kernel, parameters)
    find_races(record(kernel, {**parameters, "n": 300}))  # compiled
    races = benchmark.pedantic(find_races, (trace,), rounds=3)
    assert accesses(trace) == expected
    assert len(races) == pairs
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize("width", [1, 32, 64])
@pytest.mark.parametrize("kernel", ["stream", "list-ranking-wyllie", "apsp-minplus"])
def test_lowering(benchmark, kernel, width):
    sizes = {"stream": 1_000_000, "list-ranking-wyllie": 100_000, "apsp-minplus": 96}
    expected = {
        "stream": 4 * sizes["stream"],
        "list-ranking-wyllie": wyllie_accesses(sizes["list-ranking-wyllie"]),
        "apsp-minplus": minplus_accesses(sizes["apsp-minplus"]),
    }
    trace = record(kernel, {"n": sizes[kernel]})
    machine = load_machine("ideal").replace({"cores.warp_width": width})
    lower(trace, machine)  # compiled
    benchmark.pedantic(lower, (trace, machine), rounds=3)
    assert accesses(trace) == expected[kernel]
    rate(benchmark, "accesses", expected[kernel])


@needs_compiler
def test_counting(benchmark):
    trace = record("apsp-minplus", {"n": 96})
    machine = load_machine("ideal")
    workload = lower(trace, machine)
    counts = benchmark.pedantic(count, (trace, machine, workload), rounds=3)
    assert counts.work == minplus_accesses(96) + 7 * 2 * 96**3  # and an addition and a minimum for each pair
    rate(benchmark, "events", trace.info.events)


def test_help(benchmark):
    command = [sys.executable, "-m", "simtmm", "--help"]
    done = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=3)
    assert b"machines" in done.stdout
