"""The time of launches whole, of which a trace has only the first blocks: the others go on at the pace of those.

So is a launch's own time made, which a program's clocks and events show (simtmm.simulated_clock).
"""

from dataclasses import replace

from simtmm.analysis.copies import in_words
from simtmm.device.residence import FootprintOf, Residence
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.simulated_clock import seconds_on
from simtmm.trace.io import Trace


def whole_seconds(machine: Machine, trace: Trace, result: Result) -> float | None:
    """What all blocks of all launches take [s]; None where no launch is cut behind its first blocks.

    result: of those that are there, the others being empty.
    """
    sampling = trace.info.sampling
    if sampling is None or not sampling.are_first or result.seconds is None or machine.clock_hz is None:
        return None
    later, whole = machine.after_its_first_launch, result.seconds
    for number, launch in enumerate(trace.info.launches):
        recorded = sampling.recorded[number]
        if 0 < recorded < launch.blocks:
            of_rest = float(result.launch_ticks[number]) / (machine.ticks_per_cycle * machine.clock_hz)
            whole += _seconds(later, first_blocks(trace, number, recorded), launch.blocks) - of_rest
    return whole


def first_blocks(trace: Trace, number: int, recorded: int) -> Trace:
    """A trace of one launch, as if it had only those of its blocks that were recorded.

    number: the launch's, from 0 on.
    recorded: how many there are, from the first on.
    """
    launch = replace(trace.info.launches[number], grid=(recorded, 1, 1))
    pieces = [replace(runs, launch=0) for runs in trace.runs_of(number)]
    events = sum(int(runs.events.sum()) for runs in pieces)
    return Trace(replace(trace.info, launches=(launch,), events=events, sampling=None), pieces)


def _seconds(machine: Machine, trace: Trace, blocks: int) -> float:
    """What a launch of so many blocks takes, whose first ones a trace has."""
    l2, footprint = machine.memory.l2, FootprintOf()
    for batch in trace.batches():
        footprint.add(batch)
    capacity = l2.used_sets * l2.ways * machine.chunk_bytes if l2 else 0
    met = Residence(capacity, is_kept=False).meets(footprint.finish(), blocks / trace.info.launches[0].blocks)
    return sum(share * seconds_on(machine, trace, blocks, how) for how, share in met.items())


def whole_words(seconds: float) -> str:
    """What a reader of such a run must know.

    seconds: what all blocks take.
    """
    return (
        f"with all blocks it takes about {in_words(seconds)}, those that are not in the trace at the pace of "
        "those that are: all else is of the trace"
    )
