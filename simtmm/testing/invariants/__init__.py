"""The laws that every scheduling rule keeps, as functions of (machine, workload, result) that say what broke.

Each gives a list of sentences, empty where the law holds. Most need the timeline: `simulate(..., timeline=True)`.
They are written from docs/machine.md and share nothing with the engines. Graham's anomalies are no laws: less latency
or more slots can make a run longer (docs/anomalies.md).
"""

from collections.abc import Callable, Iterable

from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.invariants.accounts import (
    chunks_over_time_are_all_chunks,
    every_tick_is_booked_once,
    time_is_where_the_timeline_says,
)
from simtmm.testing.invariants.makespan import makespan_is_within_bounds
from simtmm.testing.invariants.scheduling import (
    barriers_are_honoured,
    blocks_are_placed_in_order_within_limits,
    no_port_idles_while_a_warp_is_ready,
    round_robin_starves_nobody,
)
from simtmm.testing.invariants.single_warps import (
    memory_is_never_faster_than_its_latency,
    warps_do_one_thing_at_a_time,
    work_is_conserved,
)
from simtmm.workload import Workload

Invariant = Callable[[Machine, Workload, Result], list[str]]


def broken(machine: Machine, workload: Workload, result: Result, leave_out: Iterable[str] = ()) -> dict[str, list[str]]:
    """What broke, by invariant (a name in INVARIANTS); empty where all of them hold.

    leave_out: names of invariants that a rule does not promise, such as "round_robin_starves_nobody".
    """
    left_out = set(leave_out)
    if unknown := left_out - set(INVARIANTS):
        raise SimtmmError(f"invariant {min(unknown)!r}: unknown; known: {', '.join(INVARIANTS)}")
    found = {name: law(machine, workload, result) for name, law in INVARIANTS.items() if name not in left_out}
    return {name: findings for name, findings in found.items() if findings}


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
