"""The laws that every scheduling rule keeps, as functions of (machine, workload, result) that say what broke.

Each gives a list of sentences, empty where the law holds. Most need the timeline: `simulate(..., timeline=True)`.
They are written from docs/machine.md and share nothing with the engines. Graham's anomalies are no laws: less latency
or more slots can make a run longer (docs/anomalies.md).
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import COUNTS, KINDS, LAUNCH_COUNTS, PATH, Reason
from simtmm.testing.costs import Costs
from simtmm.testing.warp import Life, life_of
from simtmm.timeline import MOST_STRETCHES, STATES, TRAFFIC, Timeline, WarpState
from simtmm.workload import ASYNC, ATOMIC, COPY, LISTED, LOAD, PASSES_SHIFT, PRODUCT, REDUCE, SHARED, STORE, Workload

Invariant = Callable[[Machine, Workload, Result], list[str]]
Integers = npt.NDArray[np.int64]


def broken(machine: Machine, workload: Workload, result: Result, leave_out: Iterable[str] = ()) -> dict[str, list[str]]:
    """What broke, by invariant (a name in INVARIANTS); empty where all of them hold.

    leave_out: names of invariants that a rule does not promise, such as "round_robin_starves_nobody".
    """
    left_out = set(leave_out)
    if unknown := left_out - set(INVARIANTS):
        raise SimtmmError(f"invariant {min(unknown)!r}: unknown; known: {', '.join(INVARIANTS)}")
    found = {name: law(machine, workload, result) for name, law in INVARIANTS.items() if name not in left_out}
    return {name: findings for name, findings in found.items() if findings}


def work_is_conserved(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """Every operation is done once: instructions, port ticks, chunks, and each warp's intervals beside its list."""
    costs = Costs(machine)
    held = [costs.held(operation) for warp in range(workload.warps) for operation in workload.warp(warp)]
    expected = {
        "issued": sum(instructions for _, instructions in held),
        "port_busy": sum(ticks for ticks, _ in held),
        "transactions": len(workload.chunks),
    }
    counts = [
        f"{name} is {getattr(result, name)}: the workload has {value}"
        for name, value in expected.items()
        if getattr(result, name) != value
    ]
    return counts + _of_lives(machine, workload, result, "work")


def warps_do_one_thing_at_a_time(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """From its placing to its end a warp is in one state at each tick: it runs neither twice at once nor before it is
    ready, since what it waits for is a state too.
    """
    return _of_lives(machine, workload, result, "once")


def memory_is_never_faster_than_its_latency(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """No access finishes before its latency, nor does a join pass before its asyncs can have finished."""
    return _of_lives(machine, workload, result, "latency")


def no_port_idles_while_a_warp_is_ready(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """In each group as many warps issue as there are ports, or no warp is ready; and never more than ports. The same of
    each port and its slots, where ports have slots of their own.
    """
    timeline = _timeline(result)
    findings = []
    own = machine.scheduling.ports == "own"
    ports = 1 if own else machine.ports
    for group in range(machine.cores.groups):
        for port in range(machine.ports if own else 1):
            mine = (timeline.group == group) & ((timeline.slot % machine.ports == port) | (not own))
            ticks = _edges(timeline, mine)
            issuing = _running(timeline, mine & (timeline.state == WarpState.ISSUING), ticks)
            ready = _running(timeline, mine & (timeline.state == WarpState.READY), ticks)
            what = {
                f"more warps issue than ports ({ports}) exist": issuing > ports,
                "a warp is ready and a port is free": (ready > 0) & (issuing < ports),
            }
            for finding, where in what.items():
                findings += [f"group {group}, tick {tick}: {finding}" for tick in ticks[:-1][where].tolist()]
    return findings


def blocks_are_placed_in_order_within_limits(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """Blocks begin in launch order, whole and in one group, and no group holds more than it may."""
    timeline = _timeline(result)
    findings = []
    for launch, (first, last) in enumerate(pairwise(workload.launch_blocks.tolist())):
        limits = [machine.limits.blocks_per_group, int(workload.launch_limits[launch])]
        most = min((limit for limit in limits if limit), default=None)
        placed: list[tuple[int, int, int, int]] = []  # group, begin, end, warps
        latest = -1
        for block in range(first, last):
            warps = range(*workload.block_warps[block : block + 2].tolist())
            rows = slice(*np.searchsorted(timeline.warp, [warps.start, warps.stop]).tolist())
            if rows.start == rows.stop:
                continue
            begins = {
                int(timeline.begin[np.searchsorted(timeline.warp, warp)]) for warp in set(timeline.warp[rows].tolist())
            }
            groups = set(timeline.group[rows].tolist())
            if len(groups) > 1 or len(begins) > 1:
                findings.append(f"block {block}: its warps were placed in groups {groups} at ticks {begins}")
                continue
            begin = min(begins)
            if begin < latest:
                findings.append(f"block {block}: placed at tick {begin}, after a later block's placing at {latest}")
            latest = max(latest, begin)
            placed.append((groups.pop(), begin, int(timeline.end[rows].max()), len(warps)))
        findings += _over_limits(placed, machine.cores.groups, most, machine.warps_per_group)
    return findings + _shared_slots(timeline)


def barriers_are_honoured(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """The warps of a block leave their n-th barrier together: when the last living one has come, and not later."""
    lives = _lives(machine, workload, result)
    findings = []
    for block, (first, last) in enumerate(pairwise(workload.block_warps.tolist())):
        of_block = lives[first:last]
        opens = 0
        for number in range(max((len(life.barriers) for life in of_block), default=0)):
            there = [life for life in of_block if len(life.barriers) > number]
            passed = [life.barriers[number] for life in there if number not in life.unclear]
            ended = [life.end for life in of_block if len(life.barriers) <= number and life.end is not None]
            at_the_latest = [left for _, left in passed if left is not None] if len(passed) < len(there) else []
            opens = max([opens, *(came for came, _ in passed if came is not None), *ended, *at_the_latest])
            wrong = [left for _, left in passed if left not in (None, opens)]
            if wrong:
                findings.append(f"block {block}, barrier {number}: left at tick {wrong[0]}, opens at {opens}")
    return findings


def time_is_where_the_timeline_says(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """`Result.time` follows from the timeline: of each group's ticks, the first state that holds."""
    if result.time is None:
        return []
    timeline = _timeline(result)
    time = dict.fromkeys(result.time, 0)
    whole = sum(result.launch_ticks) - machine.durations.overheads(len(result.launch_ticks))
    for group in range(machine.cores.groups):
        mine = timeline.group == group
        ticks = _edges(timeline, mine)
        left = np.diff(ticks)
        living = _running(timeline, mine, ticks) > 0
        time["empty"] += whole - int(left[living].sum())
        left = left * living
        for name in ("issuing", "memory", "barrier"):
            here = _running(timeline, mine & (timeline.state == STATES.index(name)), ticks) > 0
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
    timeline = _timeline(result)
    spent = timeline.end - timeline.begin
    of_intervals = np.zeros_like(stalls.ticks)
    np.add.at(of_intervals, (timeline.place, timeline.reason), spent)
    whole = stalls.ticks.sum(axis=0)
    grants = [Reason.ISSUING, Reason.BANK_CONFLICTS]
    waits = [*PATH, Reason.OUTSTANDING, Reason.MBARRIER, Reason.COPIES]
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
        *grants, *PATH, Reason.BANK_CONFLICTS, Reason.PIPE_QUEUE, Reason.INSTRUCTION_LATENCY, Reason.MBARRIER,
        Reason.COPIES,
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
    in_caches = result.l1_hits + result.l2_hits + of["l2_stores"] + _stores_in_l1(machine, workload)
    sums = {
        "chunks at the ports": (of["loads"] + of["others"], result.transactions),
        "L1 hits": (of["l1_hits"], result.l1_hits),
        "L2 hits": (of["l2_hits"], result.l2_hits),
        "loads at the L2": (of["l2_loads"], of["loads"] - result.l1_hits + updates if l2 else 0),
        "chunks at memory": (of["memory"], result.transactions - in_caches),
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


def makespan_is_within_bounds(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """No launch is shorter than its work over all ports or than its longest warp, nor longer than all one by one."""
    costs = Costs(machine)
    takes = machine.durations
    start = takes.warp_launch + takes.block_launch
    findings = []
    for launch, (first, last) in enumerate(pairwise(workload.launch_blocks.tolist())):
        work, longest, serial, banks = 0, 0, 0, 0
        piped: Counter[str] = Counter()
        for warp in range(*workload.block_warps[[first, last]].tolist()):
            alone = start
            serial += start + takes.block_interval
            for operation in workload.warp(warp):
                held, instructions = costs.held(operation)
                work += held
                serial += held + costs.pipeline_depth * instructions + costs.paused(operation)
                if interval := costs.piped(operation):
                    piped[operation[2]] += interval * instructions
                if instructions and operation[0] != "compute":
                    serial += costs.through_pipe(operation)
                    if operation[0] != "shared" or not costs.shared_apart:
                        banks += costs.banks(operation)
                alone += held + costs.paused(operation)
                if instructions and operation[0] not in ("compute", "shared"):
                    serial += costs.most_access(operation)
                    alone += costs.least_access(operation) if costs.waits(operation) else 0
            longest = max(longest, alone)
        ticks = result.launch_ticks[launch] - machine.durations.before_launch(launch)
        least = max(longest, -(-work // (machine.ports * machine.cores.groups)), -(-banks // machine.cores.groups))
        for name, taken in piped.items():  # the last instruction of a pipe only starts
            pipe = getattr(machine.pipes, name)
            least = max(least, -(-taken // (pipe.count * machine.cores.groups)) - costs.pipes[name])
            serial += taken
        if not least <= ticks <= serial:
            findings.append(f"launch {launch}: {ticks} ticks: must be from {least} to {serial}")
    return findings


def round_robin_starves_nobody(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """While a warp is ready, each other slot of its group is granted a port once at most, or of its port's where warps
    keep to theirs.

    Holds for scheduler = "round-robin", and is not looked at with another; leave it out for a rule of one's own.
    """
    if machine.scheduling.scheduler != "round-robin":
        return []
    timeline = _timeline(result)
    ports = timeline.slot % (machine.ports if machine.scheduling.ports == "own" else 1)
    findings = []
    for row in np.flatnonzero(timeline.state == WarpState.READY).tolist():
        begin, end = timeline.begin[row], timeline.end[row]
        others = (timeline.group == timeline.group[row]) & (timeline.slot != timeline.slot[row])
        others &= ports == ports[row]
        granted = others & (timeline.state == WarpState.ISSUING) & (timeline.begin >= begin) & (timeline.begin < end)
        slots, times = np.unique(timeline.slot[granted], return_counts=True)
        wait = f"warp {timeline.warp[row]}: ready from tick {begin} to {end}"
        findings += [f"{wait}; slot {slot} had two turns" for slot in slots[times > 1].tolist()]
    return findings


INVARIANTS: dict[str, Invariant] = {
    law.__name__: law
    for law in (
        work_is_conserved,
        warps_do_one_thing_at_a_time,
        memory_is_never_faster_than_its_latency,
        no_port_idles_while_a_warp_is_ready,
        blocks_are_placed_in_order_within_limits,
        barriers_are_honoured,
        time_is_where_the_timeline_says,
        every_tick_is_booked_once,
        chunks_over_time_are_all_chunks,
        makespan_is_within_bounds,
        round_robin_starves_nobody,
    )
}


def _timeline(result: Result) -> Timeline:
    if result.timeline is None:
        raise SimtmmError("invariants: the result has no timeline: simulate(..., timeline=True)")
    return result.timeline


def _lives(machine: Machine, workload: Workload, result: Result) -> list[Life]:
    costs, timeline = Costs(machine), _timeline(result)
    return [life_of(costs, list(workload.warp(warp)), timeline.of_warp(warp)) for warp in range(workload.warps)]


def _of_lives(machine: Machine, workload: Workload, result: Result, law: str) -> list[str]:
    lives = _lives(machine, workload, result)
    return [f"warp {warp}: {what}" for warp, life in enumerate(lives) for what in life.broken.get(law, [])]


def _edges(timeline: Timeline, rows: npt.NDArray[np.bool_]) -> Integers:
    """The ticks at which something begins or ends; between two of them nothing does."""
    return np.unique(np.concatenate([timeline.begin[rows], timeline.end[rows]]))


def _running(timeline: Timeline, rows: npt.NDArray[np.bool_], ticks: Integers) -> Integers:
    """How many of the rows hold from each of these ticks to the next."""
    change = np.zeros(max(1, len(ticks)), dtype=np.int64)
    np.add.at(change, np.searchsorted(ticks, timeline.begin[rows]), 1)
    np.add.at(change, np.searchsorted(ticks, timeline.end[rows]), -1)
    return np.cumsum(change)[:-1]


def _over_limits(placed: list[tuple[int, int, int, int]], groups: int, blocks: int | None, warps: int) -> list[str]:
    """Where blocks, as (group, begin, end, warps), are more in a group than it may hold."""
    findings = []
    for group in range(groups):
        mine = [block for block in placed if block[0] == group]
        for _, tick, _, _ in mine:
            held = [size for _, begin, end, size in mine if begin <= tick < end]
            if blocks is not None and len(held) > blocks:
                findings.append(f"group {group}, tick {tick}: holds {len(held)} blocks: at most {blocks}")
            if sum(held) > warps:
                findings.append(f"group {group}, tick {tick}: holds {sum(held)} warps: at most {warps}")
    return findings


def _shared_slots(timeline: Timeline) -> list[str]:
    """Where two warps were in one slot at once."""
    order = np.lexsort((timeline.begin, timeline.slot, timeline.group))
    group, slot, begin, end = (
        column[order] for column in (timeline.group, timeline.slot, timeline.begin, timeline.end)
    )
    shared = (group[1:] == group[:-1]) & (slot[1:] == slot[:-1]) & (begin[1:] < end[:-1])
    return [
        f"group {group[row]}, slot {slot[row]}, tick {begin[row + 1]}: two warps at once"
        for row in np.flatnonzero(shared).tolist()
    ]
