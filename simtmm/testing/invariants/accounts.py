"""Laws of what is counted: ticks by reason and state, chunks over time, each as often as it was there."""

import numpy as np

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import COUNTS, KINDS, LAUNCH_COUNTS, PATH, Reason
from simtmm.testing.invariants.timelines import edges, running, timeline_of
from simtmm.timeline import MOST_STRETCHES, STATES, TRAFFIC, WarpState
from simtmm.workload import ASYNC, ATOMIC, COPY, LISTED, LOAD, PASSES_SHIFT, PRODUCT, REDUCE, SHARED, STORE, Workload

AT_MBARRIERS = (Reason.MBARRIER, Reason.COPIES, Reason.PRODUCER, Reason.CONSUMER)  # waits there


def time_is_where_the_timeline_says(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """`Result.time` follows from the timeline: of each group's ticks, the first state that holds."""
    if result.time is None:
        return []
    timeline = timeline_of(result)
    time = dict.fromkeys(result.time, 0)
    whole = sum(result.launch_ticks) - machine.durations.overheads(len(result.launch_ticks), result.launches_in_graph)
    for group in range(machine.cores.groups):
        mine = timeline.group == group
        ticks = edges(timeline, mine)
        left = np.diff(ticks)
        living = running(timeline, mine, ticks) > 0
        time["empty"] += whole - int(left[living].sum())
        left = left * living
        for name in ("issuing", "memory", "barrier"):
            here = running(timeline, mine & (timeline.state == STATES.index(name)), ticks) > 0
            time[name] += int(left[here].sum())
            left = left * ~here
        time["start"] += int(left.sum())
    return [
        f"time[{name!r}] is {result.time[name]}: the timeline has {ticks}"
        for name, ticks in time.items()
        if result.time[name] != ticks
    ]


def every_tick_is_booked_once(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """`Result.stalls` follows from the timeline: what warps' ticks are booked to adds up, place by place where an
    interval has one reason, and to waits for memory and grants of ports as a whole; what is counted adds up, too.
    """
    stalls = result.stalls
    if stalls is None:
        return []
    timeline = timeline_of(result)
    spent = timeline.end - timeline.begin
    of_intervals = np.zeros_like(stalls.ticks)
    np.add.at(of_intervals, (timeline.place, timeline.reason), spent)
    whole = stalls.ticks.sum(axis=0)
    grants = [Reason.ISSUING, Reason.BANK_CONFLICTS]
    waits = [*PATH, Reason.OUTSTANDING, *AT_MBARRIERS, Reason.REGISTERS]
    states = [WarpState.MEMORY]
    if machine.memory.pipe:  # a wait for a shared access is one for memory, partly of reasons that others have as well
        grants.remove(Reason.BANK_CONFLICTS)
        waits.append(Reason.BANK_CONFLICTS)
    mixed = machine.memory.pipe is not None or PRODUCT in workload.kind  # and so is one for a product
    if mixed:
        waits += [Reason.INSTRUCTION_LATENCY, Reason.PIPE_QUEUE]
        states += [WarpState.PIPELINE, WarpState.PAUSE]
    in_memory = int(spent[np.isin(timeline.state, states)].sum())
    in_grants = int(spent[timeline.state == WarpState.ISSUING].sum())
    counts = dict(zip(COUNTS, stalls.counts.sum(axis=0).tolist(), strict=True))
    launches = dict(zip(LAUNCH_COUNTS, stalls.launch_counts.sum(axis=0).tolist(), strict=True))
    sums = {
        "ticks of waits for memory": (int(whole[waits].sum()), in_memory),
        "ticks of grants": (int(whole[grants].sum()), in_grants),
        "ticks of ports": (int(whole[grants].sum()), result.port_busy),
        "ticks of launches": (int(stalls.launches.sum()), int(whole.sum())),
        "instructions": (counts["instructions"], result.issued),
        "chunks": (counts["chunks"], result.transactions),
        "L1 hits": (counts["l1_hits"], result.l1_hits),
        "L2 hits": (counts["l2_hits"], result.l2_hits),
        "shared L1 hits": (counts["shared_l1_hits"], result.shared_l1_hits),
        "sectors at shared L1s": (counts["shared_l1_sectors"], result.shared_l1_sectors),
        "last-level hits": (counts["last_level_hits"], result.last_level_hits),
        "sectors at the last level": (counts["last_level_sectors"], result.last_level_sectors),
        "sectors at the L2": (counts["l2_sectors"], result.l2_sectors),
        "sectors at memory": (counts["memory_sectors"], result.memory_sectors),
        "conflicts": (counts["conflicts"], _conflicts(workload, machine.memory.pipe is not None)),
        "stores in the L1": (counts["l1_stores"], _stores_in_l1(machine, workload)),
        **{f"{name} of launches": (launches[name], counts[name]) for name in COUNTS},
        "chunks of launches by kind": (sum(launches[name] for name in KINDS), result.transactions),
    }
    if result.time is not None:
        held = sum(result.time.values()) - result.time["empty"]
        sums["ticks of core groups with warps"] = (int(stalls.active.sum()), held)
    findings = [
        f"{name}: {booked} are accounted for, of {there}" for name, (booked, there) in sums.items() if booked != there
    ]
    pipes = int(whole[[Reason.PIPE_QUEUE, Reason.INSTRUCTION_LATENCY]].sum())
    asleep = int(spent[np.isin(timeline.state, (WarpState.PIPELINE, WarpState.PAUSE))].sum())
    if pipes != asleep and not mixed:  # else they are in the sum above
        findings.append(f"ticks of pipeline, pipes and pauses: {pipes} are accounted for, of {asleep}")
    for reason in set(Reason) - {
        *grants, *PATH, Reason.BANK_CONFLICTS, Reason.PIPE_QUEUE, Reason.INSTRUCTION_LATENCY,
        *AT_MBARRIERS,
    }:  # fmt: skip
        wrong = np.flatnonzero(of_intervals[:, reason] != stalls.ticks[:, reason])
        findings += [
            f"place {place}: {stalls.ticks[place, reason]} ticks of {reason.name.lower()}: the timeline has "
            f"{of_intervals[place, reason]}"
            for place in wrong.tolist()
        ]
    return findings


def chunks_over_time_are_all_chunks(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """`Result.traffic` adds up to what is counted, and lies within the run.

    But for what a partition's store buffer writes, which may be when the run is over, as nobody waits for it.
    """
    traffic = result.traffic
    if traffic is None:
        return []
    of = dict(zip(TRAFFIC, traffic.chunks.sum(axis=0).tolist(), strict=True))
    l2 = machine.memory.l2
    updates = _chunks_of(workload, ATOMIC, REDUCE) if l2 and l2.atomics == "here" else 0
    within = dict(zip(TRAFFIC, traffic.within(result.ticks, MOST_STRETCHES).chunks.sum(axis=0).tolist(), strict=True))
    for name in ("memory", "memory_sectors"):
        if machine.memory.store_buffer and within[name] <= of[name]:
            within[name] = of[name]
    in_caches = (
        result.l1_hits + result.shared_l1_hits + result.l2_hits + of["l2_stores"] + _stores_in_l1(machine, workload)
    )
    behind_l1 = of["loads"] - result.l1_hits
    below = result.transactions - in_caches  # what comes to the last-level cache, or to global memory
    ends = result.last_level_hits + of["last_level_stores"]
    has_last = machine.memory.last_level is not None
    sums = {
        "chunks at the ports": (of["loads"] + of["others"], result.transactions),
        "L1 hits": (of["l1_hits"], result.l1_hits),
        "L2 hits": (of["l2_hits"], result.l2_hits),
        "loads at shared L1s": (of["shared_l1_loads"], behind_l1 if machine.memory.shared_l1 else 0),
        "shared L1 hits": (of["shared_l1_hits"], result.shared_l1_hits),
        "sectors at shared L1s": (of["shared_l1_sectors"], result.shared_l1_sectors),
        "loads at the L2": (of["l2_loads"], behind_l1 - result.shared_l1_hits + updates if l2 else 0),
        "last-level hits": (of["last_level_hits"], result.last_level_hits),
        "chunks at the last level": (of["last_level_loads"] + of["last_level_stores"], below if has_last else 0),
        "sectors at the last level": (of["last_level_sectors"], result.last_level_sectors),
        "chunks at memory": (of["memory"], below - ends),
        "sectors at the L2": (of["l2_sectors"], result.l2_sectors),
        "sectors at memory": (of["memory_sectors"], result.memory_sectors),
        "chunks within the run": (sum(within.values()), sum(of.values())),
    }
    return [f"{name}: {passed} over time of {there}" for name, (passed, there) in sums.items() if passed != there]


def _chunks_of(workload: Workload, *kinds: int) -> int:
    """The chunks that operations of some kinds list."""
    return int((workload.amount[np.isin(workload.kind, kinds)] & LISTED).sum())


def _conflicts(workload: Workload, has_pipe: bool) -> int:
    """Passes of shared accesses that conflicts make; without a pipe all but the first."""
    amount = workload.amount[workload.kind == SHARED]
    least = 1 + (amount >> PASSES_SHIFT) if has_pipe else 1
    return int(((amount & LISTED) - least).sum())


def _stores_in_l1(machine: Machine, workload: Workload) -> int:
    """The chunks of stores that end in an L1."""
    if not machine.keeps_local_stores:
        return 0
    lists = np.isin(workload.kind, (LOAD, ASYNC, STORE, ATOMIC, REDUCE, COPY))
    is_stored = np.repeat(workload.kind[lists] == STORE, workload.amount[lists] & LISTED)
    return int((is_stored & (workload.chunks >= machine.first_local_chunk)).sum())
