"""A launch's time lies between its longest warp, or its work over all ports, and all of it one by one."""

from collections import Counter
from itertools import pairwise

from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.costs import Costs
from simtmm.workload import Workload


def makespan_is_within_bounds(machine: Machine, workload: Workload, result: Result) -> list[str]:
    """No launch is shorter than its work over all ports or than its longest warp, nor longer than all one by one."""
    costs = Costs(machine)
    takes = machine.durations
    start = takes.warp_launch + takes.block_launch
    findings = []
    for launch, (first, last) in enumerate(pairwise(workload.launch_blocks.tolist())):
        work, longest, serial, banks, ways = 0, 0, 0, 0, 0
        piped: Counter[str] = Counter()
        for warp in range(*workload.block_warps[[first, last]].tolist()):
            alone = start
            serial += start + takes.block_interval
            for operation in workload.warp(warp):
                held, instructions = costs.held(operation)
                work += held
                if operation[0] == "grid_barrier":
                    serial += takes.behind_grid_barrier(last - first, machine.cores.groups)
                way = costs.on_the_way(operation)
                ways += way
                serial += held + costs.pipeline_depth * instructions + costs.paused(operation) + way
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
        ticks = result.launch_ticks[launch] - machine.durations.before_launch(launch, workload.follows_in_graph(launch))
        groups = machine.cores.groups
        least = max(longest, -(-work // (machine.ports * groups)), -(-banks // groups), -(-ways // groups))
        for name, taken in piped.items():  # the last instruction of a pipe only starts
            pipe = getattr(machine.pipes, name)
            least = max(least, -(-taken // (pipe.count * machine.cores.groups)) - costs.pipes[name])
            serial += taken
        if not least <= ticks <= serial:
            findings.append(f"launch {launch}: {ticks} ticks: must be from {least} to {serial}")
    return findings
