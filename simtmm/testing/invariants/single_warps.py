"""Laws of a single warp: what it does is done once, one thing at a time, and no sooner than it can be."""

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.costs import Costs
from simtmm.testing.invariants.timelines import timeline_of
from simtmm.testing.warp import Life, life_of
from simtmm.workload import Workload


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


def lives_of(machine: Machine, workload: Workload, result: Result) -> list[Life]:
    """What each warp did, as its timeline has it beside its list of operations: an entry a warp."""
    costs, timeline = Costs(machine), timeline_of(result)
    return [life_of(costs, list(workload.warp(warp)), timeline.of_warp(warp)) for warp in range(workload.warps)]


def _of_lives(machine: Machine, workload: Workload, result: Result, law: str) -> list[str]:
    lives = lives_of(machine, workload, result)
    return [f"warp {warp}: {what}" for warp, life in enumerate(lives) for what in life.broken.get(law, [])]
