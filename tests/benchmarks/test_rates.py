"""How fast: rates of the main job's steps. Counts are pinned, so that faster can't mean less.

    python -m pytest tests/benchmarks -n 0 --benchmark-enable --benchmark-only

Each benchmark prints what it did a second (extra_info). Without --benchmark-enable each runs once, as a test, of less.
"""

import subprocess
import sys

import pytest

from simtmm import Workload, count, load_machine, lower, record, simulate
from simtmm.errors import CompilerError
from simtmm.recorder.compiler import find_compiler
from simtmm.trace.races import find_races
from simtmm.trace.recording import TraceRecorder
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


def minplus_accesses(n, sub_block=16):
    """Each product reads two sub-blocks a step of k into shared memory, two words of it a pair, and stores once."""
    steps = (n - 1).bit_length()
    return steps * (4 * n * n * n // sub_block + 2 * n**3 + n * n)


def triad_accesses(n):
    """A thread loads three operands, stores one result; the triad is the default operation."""
    return 4 * n


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


def matrix_accesses(n, sub_block=8):
    """A step along the row: a word of each matrix into shared memory, two words of it a pair; and the product."""
    steps = n // sub_block
    return steps * n * n * (2 + 2 + 2 * sub_block) + n * n


def alternating(blocks, warps, rounds):
    """Loads alternating with compute, a chunk of its own for each load of a warp."""
    warp = [operation for chunk in range(rounds) for operation in (["load", [chunk]], ["compute", 4])]
    return Workload.from_dict({"blocks": [{"warps": [warp] * warps}] * blocks})


@pytest.mark.parametrize(
    ("changes", "ticks", "fewer"),
    [
        ({}, 32_510, 3_315),
        ({"scheduling.switch": "every-instruction", "scheduling.scheduler": "round-robin"}, 39_760, 3_720),
        ({"memory.service": 1, "memory.l1": {"sets": 64, "ways": 4, "latency": 30}}, 19_553, 3_314),
    ],
    ids=["on-stall", "every-instruction", "caches"],
)
def test_reference_engine(benchmark, sized, changes, ticks, fewer):
    machine = load_machine("ideal").replace({"cores.groups": 15, "memory.latency": 400, **changes})
    blocks, rounds, ticks = sized((90, 40, ticks), (30, 8, fewer))
    workload = alternating(blocks, 8, rounds)
    loads = blocks * 8 * rounds
    assert workload.operations == 2 * loads
    result = benchmark.pedantic(simulate, (machine, workload), {"engine": "reference"}, rounds=3)
    assert (result.issued, result.transactions) == (5 * loads, loads)
    assert result.ticks == ticks
    rate(benchmark, "warp operations", workload.operations)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "sizes", "accesses_of"),
    [
        ("stream", {"operation": "triad"}, (2_000_000, 50_000), triad_accesses),
        ("apsp-minplus", {"sub_block": 16, "threads": 64}, (128, 32), minplus_accesses),
    ],
    ids=["stream-triad", "apsp-minplus"],
)
@pytest.mark.parametrize("to", ["memory", "file"])
def test_recording(benchmark, sized, tmp_path, kernel, parameters, sizes, accesses_of, to):
    record(kernel, {**parameters, "n": 2})  # built
    n = sized(*sizes)
    parameters, expected = {**parameters, "n": n}, accesses_of(n)
    output = {"output": tmp_path / "t.parquet"} if to == "file" else {}
    trace = benchmark.pedantic(record, (kernel, parameters), output, rounds=3)
    assert accesses(trace) == expected
    rate(benchmark, "accesses", expected)


class Counted(TraceRecorder):
    """Takes batches and drops them."""

    def add(self, batch, launches):
        self.events += batch.count


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "sizes", "accesses_of", "others"),
    [
        (
            "stream",
            {"operation": "triad"},
            (2_000_000, 50_000),
            triad_accesses,
            lambda n: 2 * n,
        ),  # a join and work each
        # a join, two barriers and work for each word of the sub-blocks, a thread and step
        ("matrix-multiplication", {"sub_block": 8}, (128, 32), matrix_accesses, lambda n: 11 * (n // 8) * n**2),
    ],
    ids=["stream-triad", "matrix-multiplication"],
)
def test_running_blocks_without_digest_and_file(
    benchmark, sized, monkeypatch, kernel, parameters, sizes, accesses_of, others
):
    """The part of a recording that could be done for several blocks at once (docs/kernels.md)."""
    monkeypatch.setattr("simtmm.recorder.cpu.record.TraceRecorder", Counted)
    record(kernel, {**parameters, "n": 8})  # built
    n = sized(*sizes)
    parameters, expected = {**parameters, "n": n}, accesses_of(n)
    trace = benchmark.pedantic(record, (kernel, parameters), rounds=3)
    assert trace.info.events == expected + others(n)
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "sizes", "counts_of"),
    [
        ("reduce", {}, (1_000_000, 50_000), reduce_counts),
        # Counted; tests/kernels/cases has all events of these two (7,829,559 and 8,238,486, or 83,566 and 152,620) from
        # their algorithms.
        ("scan", {}, (300_000, 3_000), {300_000: (4_063_083, 2_714_112), 3_000: (42_504, 29_952)}.get),
        ("merge-sort", {}, (30_000, 1_000), {30_000: (4_776_852, 981_760), 1_000: (93_528, 23_040)}.get),
        ("matrix-multiplication", {"sub_block": 8}, (128, 32), lambda n: (matrix_accesses(n), 2 * (n // 8) * n**2)),
    ],
    ids=["reduce", "scan", "merge-sort", "matrix-multiplication"],
)
@pytest.mark.parametrize("to", ["memory", "file"])
def test_recording_with_many_barriers(benchmark, sized, tmp_path, kernel, parameters, sizes, counts_of, to):
    record(kernel, {**parameters, "n": 8})  # built
    n = sized(*sizes)
    parameters, (expected, barriers) = {**parameters, "n": n}, counts_of(n)
    output = {"output": tmp_path / "t.parquet"} if to == "file" else {}
    trace = benchmark.pedantic(record, (kernel, parameters), output, rounds=3)
    assert accesses(trace) == expected
    assert sum(int((batch.events["kind"] == Kind.BARRIER).sum()) for batch in trace.batches()) == barriers
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "parameters", "sizes", "accesses_of", "pairs"),
    [
        ("stream", {"operation": "triad"}, (1_000_000, 50_000), triad_accesses, 0),
        ("matrix-multiplication", {"sub_block": 8}, (128, 32), matrix_accesses, 0),
        # counted: how many jumps depends on the list
        ("list-ranking-wyllie-variants", {}, (30_000, 1_000), {30_000: 911_450, 1_000: 23_668}.get, 1),
    ],
    ids=["stream-triad", "matrix-multiplication", "list-ranking"],
)
def test_looking_for_races(benchmark, sized, kernel, parameters, sizes, accesses_of, pairs):
    n = sized(*sizes)
    trace, expected = record(kernel, {**parameters, "n": n}), accesses_of(n)
    find_races(record(kernel, {**parameters, "n": 8}))  # compiled
    races = benchmark.pedantic(find_races, (trace,), rounds=3)
    assert accesses(trace) == expected
    assert len(races) == pairs
    rate(benchmark, "accesses", expected)


@needs_compiler
@pytest.mark.parametrize("width", [1, 32, 64])
@pytest.mark.parametrize("kernel", ["stream", "list-ranking-wyllie", "apsp-minplus"])
def test_lowering(benchmark, sized, kernel, width):
    sizes, accesses_of = {
        "stream": ((1_000_000, 20_000), triad_accesses),
        "list-ranking-wyllie": ((100_000, 3_000), wyllie_accesses),
        "apsp-minplus": ((96, 32), minplus_accesses),
    }[kernel]
    n = sized(*sizes)
    trace = record(kernel, {"n": n})
    machine = load_machine("ideal").replace({"cores.warp_width": width})
    lower(trace, machine)  # compiled
    benchmark.pedantic(lower, (trace, machine), rounds=3)
    assert accesses(trace) == accesses_of(n)
    rate(benchmark, "accesses", accesses_of(n))


@needs_compiler
def test_counting(benchmark, sized):
    n = sized(96, 32)
    trace = record("apsp-minplus", {"n": n})
    machine = load_machine("ideal")
    workload = lower(trace, machine)
    counts = benchmark.pedantic(count, (trace, machine, workload), rounds=3)
    assert (
        counts.work == minplus_accesses(n) + (n - 1).bit_length() * 2 * n**3
    )  # and an addition and a minimum for each pair
    rate(benchmark, "events", trace.info.events)


def test_help(benchmark):
    command = [sys.executable, "-m", "simtmm", "--help"]
    done = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=3)
    assert b"machines" in done.stdout
