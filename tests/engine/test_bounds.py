"""Bounds that no engine can break, whatever the machine and the workload.

Engines share what is drawn, which takes longer than simulating it.
"""

from itertools import product

from hypothesis import given

from simtmm import simulate
from simtmm.engine import ENGINES
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several

CASES = examples(100 // SHARING)


def operations_of(workload):
    for warp in range(workload.warps):
        yield from workload.warp(warp)


def instructions(machine, operation):
    """Issue slots of an operation, each of one issue interval, and how many instructions they are."""
    match operation:
        case ["compute", n, *_]:
            return n, n
        case ["shared", degree, *_]:
            return 1 if machine.memory.pipe else degree, 1
        case ["join" | "barrier" | "sync" | "pause" | "settle" | "grid_barrier" | "remote", *_]:
            return 0, 0
    return 1, 1


def fastest_access(machine):
    memory = machine.memory
    levels = memory.l1, memory.shared_l1, memory.l2, memory.last_level
    caches = [cache.latency for cache in levels if cache]
    return min(machine.ticks(latency) for latency in [machine.memory.latency, *caches])


def least_wait(machine, name):
    """The least ticks that a warp waits for a memory operation."""
    memory = machine.memory
    if name == "load":
        return fastest_access(machine)
    if name == "store":
        return machine.fastest_store
    if memory.l2 and memory.l2.atomics == "here":
        return min(machine.durations.latency, machine.durations.atomic_latency)
    return min(machine.durations.latency, machine.durations.last_level_latency)


def alone(machine, warp):
    """The least ticks that a warp takes, nothing else being there."""
    issue = machine.ticks(machine.issue_cycles)
    depth = machine.ticks(machine.scheduling.pipeline_depth)
    every = machine.scheduling.switch == "every-instruction"
    ticks = 0
    for operation in warp:
        slots, count = instructions(machine, operation)
        name = operation[0]
        waits = name in ("load", "atomic") or (name == "store" and machine.memory.stores == "blocking")
        if name == "pause":
            ticks += operation[1] * machine.ticks_per_cycle
        elif waits:
            ticks += issue + least_wait(machine, name)
        elif every and name == "compute":
            ticks += count * max(issue, depth)
        elif every and count:
            ticks += max(slots * issue, depth)
        else:
            ticks += slots * issue
    return ticks


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_work_is_conserved(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        result = simulate(machine, workload, engine)
        work = [instructions(machine, operation) for operation in operations_of(workload)]
        assert result.issued == sum(count for _, count in work)
        assert result.port_busy == machine.ticks(machine.issue_cycles) * sum(slots for slots, _ in work)
        assert result.transactions == len(workload.chunks)


def overheads_of(machine, workload):
    """Ticks of launches that no group spends."""
    each = (overhead_of(machine, workload, launch) for launch in range(workload.launches))
    return sum(each) + machine.ticks(machine.scheduling.first_launch)


def overhead_of(machine, workload, launch):
    """Ticks before a launch, which a graph launches sooner behind another one."""
    scheduling = machine.scheduling
    if workload.follows_in_graph(launch) and scheduling.graph_launch_overhead is not None:
        return machine.ticks(scheduling.graph_launch_overhead)
    return machine.ticks(scheduling.launch_overhead)


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_every_tick_of_every_group_is_accounted_for(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        result = simulate(machine, workload, engine)
        overheads = overheads_of(machine, workload)
        assert sum(result.time.values()) == machine.cores.groups * (result.ticks - overheads)
        assert min(result.time.values()) >= 0
        assert sum(result.launch_ticks) == result.ticks


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_the_makespan_is_at_least_the_work_over_the_ports(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        result = simulate(machine, workload, engine)
        overheads = overheads_of(machine, workload)
        assert (result.ticks - overheads) * machine.cores.groups * machine.ports >= result.port_busy


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_no_launch_is_over_before_its_longest_warp_could_be(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        result = simulate(machine, workload, engine)
        begin = machine.ticks(machine.scheduling.block_launch) + machine.ticks(machine.scheduling.warp_launch)
        first = machine.ticks(machine.scheduling.first_launch)
        for launch in range(workload.launches):
            first, last = workload.block_warps[workload.launch_blocks[launch : launch + 2]]
            longest = max((begin + alone(machine, workload.warp(warp)) for warp in range(first, last)), default=0)
            overhead = overhead_of(machine, workload, launch)
            assert result.launch_ticks[launch] >= overhead + (first if launch == 0 else 0) + longest


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_a_partition_serves_one_chunk_after_another(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        result = simulate(machine, workload, engine)
        memory = machine.memory
        listed = {
            name: sum(len(operation[1]) for operation in operations_of(workload) if operation[0] == name)
            for name in ("store", "atomic", "reduce")
        }
        updates = listed["atomic"] + listed["reduce"]
        transfers = result.transactions - updates - result.l1_hits - result.l2_hits
        if memory.l2 and memory.l2.writes == "back":  # those that stay; what is written back comes on top
            transfers -= listed["store"]
        busy = transfers * machine.ticks(memory.service) + updates * machine.ticks(memory.atomic_service)
        longest_service = max(machine.ticks(memory.service), machine.ticks(memory.atomic_service))
        # The last chunk of each partition is served beyond its start, and that may reach past its finish after L.
        assert busy <= memory.partitions * (result.ticks + workload.launches * longest_service)


@given(drawn=several(machines()), workload=workloads())
@CASES
def test_the_same_run_gives_the_same_result(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        assert simulate(machine, workload, engine) == simulate(machine, workload, engine)


@given(drawn=several(machines()), workload=workloads())
@examples(50 // SHARING)
def test_leaving_the_breakdown_out_changes_nothing_else(drawn, workload):
    for machine, engine in product(drawn, ENGINES):
        full = simulate(machine, workload, engine)
        short = simulate(machine, workload, engine, breakdown=False)
        assert short.time is None
        assert short.to_dict() | {"time": None} == full.to_dict() | {"time": None}
