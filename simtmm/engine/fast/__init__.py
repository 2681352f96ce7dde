"""The fast engine: docs/machine.md, compiled (simtmm/native). The same Result as the reference engine, to the tick.

A launch is simulated a stretch at a time, so that progress shows and Ctrl-C is heard. This engine shares no rule with
simtmm/engine/reference: two writings of one page. Its rules are loops over flat arrays:

    layout        where a launch's state lies
    launches      the arrays of a launch, from a machine and a workload
    supply        where its operations lie
    steps         the phases of a step, one after another: sections 2 and 6
    warps         operations of a warp: section 3
    memory        the path of chunks: section 4
    ports         issue ports: section 5
    attribution   where time goes: sections 7 and 10
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from simtmm.engine.fast.attribution.stall_table import Booked
from simtmm.engine.fast.attribution.traffic import BEGIN, no_traffic, traffic_of
from simtmm.engine.fast.launches.bounds import LONGEST, check_length
from simtmm.engine.fast.launches.equal import EqualLaunches
from simtmm.engine.fast.launches.launch import Launch
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.room import check_room
from simtmm.engine.fast.launches.tables import Integers
from simtmm.engine.fast.layout import GROUP_TIME, TIMES, Group, Interval, Unit
from simtmm.engine.fast.supply.window_thread import can_fill_beside
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.timeline import Timeline, Units
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.workload import Workload

if TYPE_CHECKING:
    from simtmm.engine.own_rule.compiled import CompiledRule

LOOK = 20_000  # steps of groups between two looks at what a launch has issued


def simulate(  # noqa: PLR0913 - each is an option of a simulation
    machine: Machine,
    workload: AnyWorkload,
    *,
    breakdown: bool = True,
    timeline: bool = False,
    stalls: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    begun: Integers | None = None,
    until: Callable[[int, int], bool] | None = None,
    scheduler: "CompiledRule | None" = None,
) -> Result:
    """Run every launch from its own tick 0 and sum what they report (sections 1 and 7).

    threads: for core groups that nothing couples. begun: int64[blocks], takes the tick of its launch at which each
    block is placed. until: called now and then with a launch's tick and the instructions that it has issued; where it
    says so the launch is left there, at that tick. It is for launches whose groups are coupled. scheduler: a user's
    rule in the place of the machine's.

    Raises EngineError where the run could be longer than 64-bit ticks tell, and where the machine's state does not fit
    in memory.
    """
    check_length(machine, workload)
    check_room(machine, workload, None if scheduler is None else scheduler.lists)
    overheads = machine.durations.overheads(workload.launches, int(workload.in_graph.sum()))
    if timeline and overheads >= LONGEST:
        raise EngineError(
            f"{workload.origin} on {machine.name}: launch overheads of 2^61 ticks and more, which a timeline can't "
            "tell: leave it out, or use fewer ticks_per_cycle"
        )
    sums = np.zeros(len(Group), dtype=object)  # Python's integers: no sum overflows
    launch_ticks: list[int] = []
    intervals = [np.empty((0, len(Interval)), np.int64)]
    units = [np.empty((0, len(Unit)), np.int64)]
    beside = 2 if threads > 1 and can_fill_beside() else 1
    stream = workload.stream(beside) if isinstance(workload, StreamedWorkload) else None
    booked = Booked(machine, workload, threads) if stalls else None
    traffic = no_traffic(timeline)
    reused = Reused(machine)
    reached_memory = False
    equal = None
    if isinstance(workload, Workload) and workload.launches > 1 and not (timeline or until or scheduler):
        equal = EqualLaunches(machine, workload, reused, booked)
    for launch in range(workload.launches):
        overhead = machine.durations.before_launch(launch, workload.follows_in_graph(launch))
        begin = sum(launch_ticks) + overhead
        if timeline:
            traffic[-1, BEGIN] = begin
        first, last = workload.launch_blocks[launch : launch + 2]
        own_begun = None if begun is None else begun[first:last]
        outcome = equal.outcome(launch) if equal else None
        if outcome is not None:
            ticks, own = outcome.ticks, outcome.group
            if own_begun is not None and outcome.begun is not None:
                own_begun[:] = outcome.begun
        else:
            asked = breakdown, timeline, threads, stream, booked, traffic, own_begun, scheduler
            state = Launch(machine, workload, launch, reused, *asked)
            done = int(sums[Group.done_warps])
            is_left = False
            while not is_left and not state.go_on(None if until is None else LOOK):
                intervals.append(state.drain(begin))
                units.append(state.drain_units(begin, False))
                is_left = until is not None and until(state.tick, state.issued)
                if progress:
                    progress(done + state.warps_done, workload.warps)
            intervals.append(state.drain(begin))
            units.append(state.drain_units(begin, True))
            ticks = state.finish(state.tick if is_left else None)
            own = state.group.sum(axis=0)
            reached_memory = reached_memory or state.reached_memory
            if equal:
                equal.add(ticks, own, own_begun)
        launch_ticks.append(overhead + ticks)
        sums += own
        if booked is not None:
            active = own[GROUP_TIME : GROUP_TIME + TIMES].sum() - own[Group.time_empty] if breakdown else -1
            booked.end_launch(int(active))
        if progress:
            progress(int(sums[Group.done_warps]), workload.warps)
    time = {name: int(sums[GROUP_TIME + index]) for index, name in enumerate(WHERE_TIME_GOES)}
    return Result(
        ticks=sum(launch_ticks),
        issued=int(sums[Group.issued]),
        transactions=int(sums[Group.transactions]),
        l1_hits=int(sums[Group.l1_hits]),
        l2_hits=int(sums[Group.l2_hits]),
        port_busy=int(sums[Group.port_busy]),
        time=time if breakdown else None,
        launch_ticks=tuple(launch_ticks),
        launches_in_graph=int(workload.in_graph.sum()),
        ticks_per_cycle=machine.ticks_per_cycle,
        clock_hz=machine.clock_hz,
        engine="fast",
        l2_sectors=int(sums[Group.l2_sectors]),
        memory_sectors=int(sums[Group.memory_sectors]),
        last_level_hits=int(sums[Group.last_level_hits]),
        last_level_sectors=int(sums[Group.last_level_sectors]),
        shared_l1_hits=int(sums[Group.shared_l1_hits]),
        shared_l1_sectors=int(sums[Group.shared_l1_sectors]),
        timeline=Timeline.from_rows(np.concatenate(intervals)) if timeline else None,
        stalls=booked.stalls(sum(launch_ticks) - overheads) if booked is not None else None,
        traffic=traffic_of(traffic) if timeline else None,
        units=Units.from_rows(np.concatenate(units)) if timeline else None,
        reached_memory=reached_memory,
    )
