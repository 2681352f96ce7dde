"""What binds a run is named: programs whose cause is known from closed forms, on a machine where each has its cost."""

import pytest
from hypothesis import given

from simtmm import Machine, Workload, lower, simulate
from simtmm.analysis.run import run
from simtmm.engine import causes
from simtmm.engine.causes import shares
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several
from tests.trace.build import barrier, trace, work
from tests.trace.test_compiled import site

# Four groups of one port and 32 warps; an instruction a cycle, the next one of a warp 4 cycles later. Of a chunk's 400
# cycles in flight a partition takes 4, so 4 partitions are busy with 400 chunks in flight.
GPU = Machine.from_dict(
    {
        "name": "gpu",
        "ticks_per_cycle": 10,
        "clock_hz": 1e9,
        "cores": {"groups": 4, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"switch": "every-instruction", "scheduler": "oldest", "pipeline_depth": 4},
        "memory": {
            "latency": 400,
            "chunk_words": 32,
            "partitions": 4,
            "service": 4,
            "atomic_service": 4,
            "port_interval": 1,
            "l2": {"sets": 64, "ways": 16, "latency": 150, "service": 1},
        },
        "limits": {"blocks_per_group": 16, "warps_per_group": 32},
    }
)
ON_STALL = {"scheduling.switch": "on-stall"}
NO_CACHE = {"memory.l2": None}


def blocks(count, warps, warp):
    """Blocks of warps, each made by a function of the block's and the warp's number."""
    return {"blocks": [{"warps": [warp(block, number) for number in range(warps)]} for block in range(count)]}


def stream(kinds, times=4):
    """A warp that goes through memory chunk by chunk, by operations of these kinds."""

    def warp(block, number):
        first = (block * 64 + number) * times * len(kinds)
        lines = [[kind, [first + place]] for place, kind in enumerate(kinds * times)]
        return [operation for each in lines for operation in (each, ["compute", 2])]

    return warp


def same(*operations, times=1):
    """A warp like any other."""
    return lambda block, number: [list(operation) for operation in operations] * times


def chase(steps):
    """A warp whose loads depend on one another; no two of them in a line."""
    return lambda block, number: [["load", [4099 * (block * 64 + number) + 7 * step]] for step in range(steps)]


def loads_ahead(block, number):
    """Loads that are waited for at the end: twenty of each warp are in flight."""
    return [["async", [20 * (64 * block + number) + place]] for place in range(20)] + [["join"]]


CASES = {
    "saxpy": ({"memory.service": 40}, blocks(64, 8, stream(["load", "load", "store"])), causes.MEMORY_BANDWIDTH),
    "copy": ({"memory.service": 40}, blocks(64, 8, stream(["load", "store"])), causes.MEMORY_BANDWIDTH),
    "read": ({"memory.service": 40}, blocks(64, 8, stream(["load"], 8)), causes.MEMORY_BANDWIDTH),
    "read without a cache": (
        NO_CACHE | {"memory.service": 40}, blocks(64, 8, stream(["load"])), causes.MEMORY_BANDWIDTH,
    ),
    "loads ahead": ({}, blocks(64, 8, loads_ahead), causes.MEMORY_BANDWIDTH),
    "posted stores": (
        {"memory.stores": "posted", "memory.service": 40}, blocks(64, 8, stream(["store"], 8)), causes.MEMORY_BANDWIDTH,
    ),
    "one partition": (
        {"memory.service": 16},
        blocks(16, 8, lambda block, number: [["load", [4 * (8 * block + number + 128 * n)]] for n in range(8)]),
        causes.MEMORY_BANDWIDTH,
    ),
    "reads and writes in turns": (
        {"memory.turnaround": 40, "memory.service": 30},
        blocks(32, 8, stream(["load", "store"])),
        causes.MEMORY_BANDWIDTH,
    ),
    "rows": (
        {"memory.rows": {"chunks": 1, "open": 1, "opening": 40}},
        blocks(64, 8, stream(["load"])),
        causes.MEMORY_BANDWIDTH,
    ),
    "pointer chase of one thread": ({}, blocks(1, 1, chase(50)), causes.LATENCY),
    "pointer chase, a warp a group": ({}, blocks(4, 1, chase(50)), causes.LATENCY),
    "pointer chase in the L2": ({}, blocks(4, 1, same(["load", [3]], times=60)), causes.LATENCY),
    "few warps": ({}, blocks(4, 2, stream(["load"], 16)), causes.LATENCY),
    "on-stall, few warps": (ON_STALL, blocks(4, 2, stream(["load"], 16)), causes.LATENCY),
    "one async at a time": (
        {"memory.outstanding": 1}, blocks(4, 1, same(*(["async", [7 * n]] for n in range(30)))), causes.LATENCY,
    ),
    "one counter": ({}, blocks(16, 8, same(["atomic", [0] * 32])), causes.ATOMICS),
    "four counters": ({}, blocks(16, 8, lambda block, number: [["atomic", [number % 4] * 32]]), causes.ATOMICS),
    "slow atomics": ({"memory.atomic_service": 50}, blocks(16, 8, stream(["load", "atomic"])), causes.ATOMICS),
    "an L2 that all read from": (
        {}, blocks(64, 8, same(["load", list(range(0, 32, 4))], times=8)), causes.L2_BANDWIDTH,
    ),
    "a last-level cache that all read from": (
        NO_CACHE | {"memory.last_level": {"sets": 64, "ways": 16, "latency": 150, "service": 4}},
        blocks(64, 8, same(["load", list(range(0, 32, 4))], times=8)),
        causes.LAST_LEVEL_BANDWIDTH,
    ),
    "a shared L1 that all read from": (
        NO_CACHE | {"memory.shared_l1": {"groups": 2, "sets": 64, "ways": 16, "latency": 50, "service": 4}},
        blocks(64, 8, same(["load", list(range(0, 32, 4))], times=8)),
        causes.SHARED_L1_BANDWIDTH,
    ),
    "a narrow port": (
        {"memory.port_interval": 8},
        blocks(64, 8, lambda block, number: [["load", [(block * 8 + number) * 32 + n for n in range(32)]]]),
        causes.PORT_BANDWIDTH,
    ),
    "gathers": (
        {"memory.port_interval": 10}, blocks(16, 8, same(["load", list(range(32))], times=4)), causes.PORT_BANDWIDTH,
    ),
    "full of work": ({}, blocks(64, 8, same(["compute", 200])), causes.ISSUE),
    "on-stall, full of work": (ON_STALL, blocks(64, 8, same(["compute", 200])), causes.ISSUE),
    "work beside loads": ({}, blocks(64, 8, same(["load", [0]], ["compute", 300])), causes.ISSUE),
    "work of doubles": (
        {"pipes.fp64.interval": 16}, blocks(64, 8, same(["compute", 50, "fp64"], ["compute", 50])), causes.PIPES,
    ),
    "one warp's work": ({}, blocks(1, 1, same(["compute", 500])), causes.DEPENDENCE),
    "a deep pipeline": ({"scheduling.pipeline_depth": 200}, blocks(16, 4, same(["compute", 100])), causes.DEPENDENCE),
    "stalls of instructions": ({}, blocks(4, 1, same(["pause", 100], ["compute", 1], times=20)), causes.DEPENDENCE),
    "a divergent barrier": (
        {}, blocks(64, 8, lambda block, number: [["compute", 4 if number else 200], ["barrier"]] * 20), causes.BARRIERS,
    ),
    "many small launches": (
        {"scheduling.launch_overhead": 5000}, {"launches": [blocks(4, 1, same(["compute", 10]))] * 20}, causes.LAUNCHES,
    ),
    "blocks that cost more than they do": (
        {"scheduling.block_launch": 1000, "scheduling.warp_launch": 50},
        blocks(256, 8, same(["compute", 3])),
        causes.BLOCK_STARTS,
    ),
    "one block of 32 warps": ({}, blocks(1, 32, same(["compute", 200])), causes.FEW_BLOCKS),
    "two blocks of gathers": (
        {"cores.groups": 8, "memory.port_interval": 10},
        blocks(2, 16, same(["load", list(range(32))], times=4)),
        causes.FEW_BLOCKS,
    ),
    "one block a little longer than all others, behind them": (
        {"limits.blocks_per_group": 1},
        {"blocks": [{"warps": [[["compute", 1000 if number < 4 else 2900]]]} for number in range(5)]},
        causes.TAIL,
    ),
    "one block longer than all others beside it": (
        {}, {"blocks": [{"warps": [[["compute", 1000 if number < 16 else 2900]]]} for number in range(17)]},
        causes.UNEVEN,
    ),
    "one block longer than all others": (
        {}, {"blocks": [{"warps": [[["compute", 10 if number < 40 else 4000]]]} for number in range(41)]},
        causes.UNEVEN,
    ),
    **{
        f"bank conflicts of {degree}": ({}, blocks(64, 8, same(["shared", degree], times=50)), causes.SHARED_MEMORY)
        for degree in (2, 3, 4, 8, 16, 32)
    },
}  # fmt: skip


HIDDEN = ("posted stores",)  # nobody waits for them, but the run


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_the_known_one(name):
    changes, tables, cause = CASES[name]
    done = run(Workload.from_dict(tables), GPU.replace(changes))
    found = done.verdict
    assert found.cause == cause, found.words
    assert found.words.lower().startswith(cause.lower())
    assert 0.49 <= found.share <= 1  # of bank conflicts of 2 it is half, but for the beginning
    if name not in HIDDEN:
        others = [cause for cause in found.shares if cause != causes.IDLE]
        waited = {causes.BLOCK_STARTS: causes.LAUNCHES}.get(cause, cause)
        assert (
            not found.is_tried or cause in OF_BLOCKS or waited in others[:2]
        )  # what warps wait for says so too, if not as clearly


OF_BLOCKS = (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN)


def test_there_are_enough_cases():
    assert len(CASES) >= 30
    assert {cause for _, _, cause in CASES.values()} == {*causes.REASONS_OF, *OF_BLOCKS, causes.BLOCK_STARTS}


def test_without_trying_it_is_what_warps_wait_for():
    for name in ("one counter", "full of work", "pointer chase of one thread", "an L2 that all read from"):
        changes, tables, cause = CASES[name]
        found = run(Workload.from_dict(tables), GPU.replace(changes), what_if=False).verdict
        assert (found.cause, found.is_tried, found.what_ifs) == (cause, False, ())
        assert "(estimated from what its warps wait for)" in found.words


@given(drawn=several(machines()), workload=workloads())
@examples(100 // SHARING)
def test_shares_add_up_to_all_of_the_time(drawn, workload):
    for machine in drawn:
        result = simulate(machine, workload, stalls=True)
        found = shares(machine, result)
        assert all(0 <= share <= 1 for share in found.values())
        assert sum(found.values()) == pytest.approx(1 if result.ticks else 0)
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_what_warps_wait_out_behind_a_barrier_is_the_barriers(tmp_path):
    """One warp, which never waits for another: all of it would be the latency of an instruction."""
    thread = [event for _ in range(20) for event in (barrier(1), work(2, 1))]
    program = trace([[thread]], sites=[site(1, "barrier"), site(2, "work")])
    costs = {"scheduling.barrier_latency": 20, "scheduling.barrier_interval": 2}
    machine = GPU.replace({"cores.groups": 1, **costs, **ON_STALL})
    result = simulate(machine, lower(program, machine, places=True), stalls=True)
    found = shares(machine, result)
    assert found[causes.BARRIERS] * result.ticks == pytest.approx(20 * 22 * machine.ticks_per_cycle)
    assert found[causes.DEPENDENCE] == 0
    assert causes.where(result, causes.BARRIERS).source == "barrier"
