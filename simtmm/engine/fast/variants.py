"""Variants of the fast engine: it is compiled for each kind of machine by itself."""

from simtmm.engine.fast import loop
from simtmm.engine.fast.part import Part, is_coupled
from simtmm.engine.fast.tables import flags_of
from simtmm.machine import Machine
from simtmm.native import Loop
from simtmm.workload import Workload

RUN = Loop(loop.run, ("coupled", "switch", "memory", "order"), "the fast engine for this kind of machine")


def is_compiled(machine: Machine, workload: Workload) -> bool:
    """Whether all that a workload needs on a machine is there, in this process or in the user's cache."""
    needed = {
        tuple(flags_of(machine, is_coupled(machine, Part.of(workload, launch)))) for launch in range(workload.launches)
    }
    return all(RUN.is_compiled(flags) for flags in needed)
