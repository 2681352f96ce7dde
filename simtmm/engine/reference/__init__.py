"""The reference engine: docs/machine.md in SimPy, written to be read beside that page.

Warps are processes, waiting is an event. It shares no rule with simtmm/engine/fast: two writings of one page.

    moment      the order of what happens at one tick    run         a launch: placing of blocks
    group       issue ports of a core group              schedulers  which ready warp is granted a port
    seen        what a rule of one's own sees of both
    pipes       what instructions pass behind ports
    clusters    which core groups take them
    block       barriers                                 warp        a warp goes through its operations
    waits       what warps sleep for                     issue       what holds a port, and what leaves it
    memory      the path of chunks: a folder
    report      what is counted                          booking     where warps' ticks go
    jump        long computes                            room        whether these objects fit in memory
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine.reference.memory.l2 import L2
from simtmm.engine.reference.memory.path_ticks import BookedWay, Way
from simtmm.engine.reference.report import Report
from simtmm.engine.reference.room import check_room
from simtmm.engine.reference.run import Run
from simtmm.engine.reference.schedulers import SCHEDULERS, checked
from simtmm.engine.reference.stalls import Bookings, Unbooked
from simtmm.engine.reference.traffic import InUse, OverTime
from simtmm.errors import EngineError
from simtmm.machine import Machine
from simtmm.placement import Placement
from simtmm.replacement import Policy
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.timeline import Timeline
from simtmm.workload import LARGEST, Workload


def simulate(  # noqa: PLR0913 - each is an option of a simulation
    machine: Machine,
    workload: Workload,
    *,
    breakdown: bool = True,
    timeline: bool = False,
    stalls: bool = False,
    progress: Callable[[int, int], None] | None = None,
    begun: npt.NDArray[np.int64] | None = None,
    scheduler: Callable[..., Any] | None = None,
    policies: Mapping[str, Policy] | None = None,
    placement: Placement | None = None,
) -> Result:
    """Run every launch from its own tick 0 and sum what they report (sections 1 and 7).

    begun: int64[blocks], takes the tick of its launch at which each block is placed. scheduler: a user's rule in the
    place of the machine's, policies: of replacement likewise, by the cache; placement: of blocks; see simtmm.engine.
    """
    check_room(machine, workload)
    of_operations = workload.place if workload.has_places else workload.kind
    time = dict.fromkeys(WHERE_TIME_GOES, 0)
    over_time = OverTime() if timeline else None
    units = InUse() if timeline else None
    booked = stalls or timeline  # a timeline says what each wait is for
    bookings = Bookings(workload.known_places) if booked else Unbooked(workload.known_places)
    way = BookedWay() if booked else Way()
    intervals: list[tuple[int, ...]] | None = [] if timeline else None
    total = Report(time, intervals=intervals, over_time=over_time, begun=begun, bookings=bookings, way=way)
    total.units = units
    launch_ticks: list[int] = []
    keeps = machine.memory.l2 is not None and machine.memory.l2.start == "kept"
    l2: L2 | None = None  # as the launch before left it
    for launch in range(workload.launches):
        overhead = machine.durations.before_launch(launch, workload.follows_in_graph(launch))
        total.launch_begin = sum(launch_ticks) + overhead
        pick = checked(scheduler) if scheduler else SCHEDULERS[machine.scheduling.scheduler]
        run = Run(machine, workload, launch, total, progress, pick, of_operations, policies, placement)
        if keeps and l2 and run.memory.l2:
            run.memory.l2.keep(l2)
        launch_ticks.append(overhead + run.finish())
        l2 = run.memory.l2
        total.bookings.end_launch(sum(total.time.values()) - total.time["empty"] if breakdown else None)
    name = f"{workload.origin} on {machine.name}"
    if timeline and sum(launch_ticks) > LARGEST:
        raise EngineError(
            f"{name}: takes {sum(launch_ticks)} ticks, which a timeline can't tell: must "
            "be below 2^63; leave it out, or use fewer ticks_per_cycle"
        )
    return Result(
        ticks=sum(launch_ticks),
        issued=total.issued,
        transactions=total.transactions,
        l1_hits=total.l1_hits,
        l2_hits=total.l2_hits,
        port_busy=total.port_busy,
        time=total.time if breakdown else None,
        launch_ticks=tuple(launch_ticks),
        ticks_per_cycle=machine.ticks_per_cycle,
        clock_hz=machine.clock_hz,
        engine="reference",
        launches_in_graph=int(workload.in_graph.sum()),
        l2_sectors=total.l2_sectors,
        memory_sectors=total.memory_sectors,
        last_level_hits=total.last_level_hits,
        last_level_sectors=total.last_level_sectors,
        shared_l1_hits=total.shared_l1_hits,
        shared_l1_sectors=total.shared_l1_sectors,
        timeline=None if total.intervals is None else Timeline.from_rows(total.rows()),
        stalls=bookings.stalls(name) if stalls and isinstance(bookings, Bookings) else None,
        traffic=None if over_time is None else over_time.traffic(),
        units=None if units is None else units.all(),
    )
