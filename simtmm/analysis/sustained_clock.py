"""Whether a run multiplies matrices for so much of its time that the GPU's clock falls to what its power allows."""

from simtmm.machine import Machine
from simtmm.machine.sustained import CLOCK, SUSTAINED
from simtmm.result import Result
from simtmm.trace.counts import Counts

LOWERS = 0.6  # of the time: an H100 ran kernels of 66 and 75 % at its sustained clock, those of 50 % and less at boost


def share_of_products(machine: Machine, result: Result, counts: Counts) -> float:
    """The part of the time for which a pipe multiplies matrices, on average; 0 where no pipe of the machine does.

    machine: what it was simulated on.
    result: of the simulation.
    counts: of the trace.
    """
    pipe = machine.pipes.tensor if machine.pipes else None
    if pipe is None or machine.products is None or not result.ticks:
        return 0.0
    instructions = counts.work_by_class.get("tensor", 0) / machine.cores.warp_width
    cycles = result.ticks / machine.ticks_per_cycle
    return min(1.0, instructions * pipe.interval / (pipe.count * machine.cores.groups * cycles))


def clock_words(machine: Machine, result: Result, counts: Counts) -> tuple[str, ...]:
    """What a reader must know of the clock of such a run, in words.

    machine, result, counts: as `share_of_products` has them.
    """
    share = share_of_products(machine, result, counts)
    clock, sustained = machine.clock_hz, machine.sustained_clock_hz
    if clock is None or sustained is None:
        return ()
    busy = f"its pipes multiply matrices for {share:.0%} of the time".replace("%", " %")
    if (machine.changes or {}).get(CLOCK) == f"= {SUSTAINED}":
        doubt = "" if share >= LOWERS else f", although {busy}, which a GPU may do at its boost"
        return (f"the clock is the {sustained / 1e9:.4g} GHz that it holds at its limit of power, throughout{doubt}",)
    if share < LOWERS or clock <= sustained:
        return ()
    return (
        f"{busy}: that may lower its clock from {clock / 1e9:.4g} GHz to some {sustained / 1e9:.4g} GHz; "
        f"--set {CLOCK}={SUSTAINED} simulates it there",
    )
