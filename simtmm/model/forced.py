"""Fewer active blocks than the occupancy: section 6.4 of the dissertation has blocks claim more shared memory."""

from dataclasses import dataclass
from typing import Any

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.occupancy import occupancy, shared_memory_for
from simtmm.trace.io import Trace


@dataclass(frozen=True)
class Forced:
    """active_blocks: of a core group at most. shared_memory: the least bytes that a block of each launch must claim for
    that, as far as launches differ.
    """

    active_blocks: int
    shared_memory: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"active_blocks": self.active_blocks, "shared_memory": list(self.shared_memory)}


def forced(machine: Machine, trace: Trace, active_blocks: int) -> tuple[Machine, Forced]:
    """A machine whose core groups hold no more blocks than that, and what a trace's blocks must claim for it.

    Raises ModelError for fewer than one block, for more than any launch has, and where no claim gives that many.
    """
    possible = [occupancy(machine, launch).active_blocks for launch in trace.info.launches]
    if not possible:
        raise ModelError("active blocks: the program has no launch")
    if not 1 <= active_blocks <= max(possible):
        must = f"must be from 1 to {max(possible)}, what a core group of {machine.name} holds"
        raise ModelError(f"active blocks = {active_blocks}: {must}")
    claims = [
        shared_memory_for(machine, launch, min(active_blocks, most))
        for launch, most in zip(trace.info.launches, possible, strict=True)
    ]
    fewer = machine.replace({"limits.blocks_per_group": active_blocks})
    return fewer, Forced(active_blocks, tuple(dict.fromkeys(claims)))
