"""Laws of issue, placement and barriers: who may be where, and who goes on, at each tick."""

from itertools import pairwise

import numpy as np

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.invariants.single_warps import lives_of
from simtmm.testing.invariants.timelines import edges, running, timeline_of
from simtmm.timeline import Timeline, WarpState
from simtmm.workload import Workload


def no_port_idles_while_a_warp_is_ready(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """In each group as many warps issue as there are ports, or no warp is ready; and never more than ports. The same of
    each port and its slots, where ports have slots of their own.
    """
    timeline = timeline_of(result)
    findings = []
    own = machine.scheduling.ports == "own"
    ports = 1 if own else machine.ports
    for group in range(machine.cores.groups):
        for port in range(machine.ports if own else 1):
            mine = (timeline.group == group) & ((timeline.slot % machine.ports == port) | (not own))
            ticks = edges(timeline, mine)
            issuing = running(timeline, mine & (timeline.state == WarpState.ISSUING), ticks)
            ready = running(timeline, mine & (timeline.state == WarpState.READY), ticks)
            what = {
                f"more warps issue than ports ({ports}) exist": issuing > ports,
                "a warp is ready and a port is free": (ready > 0) & (issuing < ports),
            }
            for finding, where in what.items():
                findings += [f"group {group}, tick {tick}: {finding}" for tick in ticks[:-1][where].tolist()]
    return findings


def blocks_are_placed_in_order_within_limits(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """Blocks begin in launch order, whole and in one group, and no group holds more than it may."""
    timeline = timeline_of(result)
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
    lives = lives_of(machine, workload, result)
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


def round_robin_starves_nobody(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """While a warp is ready, each other slot of its group is granted a port once at most, or of its port's where warps
    keep to theirs.

    Holds for scheduler = "round-robin", and is not looked at with another; leave it out for a rule of one's own.
    """
    if machine.scheduling.scheduler != "round-robin":
        return []
    timeline = timeline_of(result)
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
