"""Occupancy: how many blocks and warps of a launch a core group holds at once.

Source: Ma, dissertation (2014), section 5.1.1, Eq (5.1) and (5.2), Tables 5.1 and 5.2, and section 6.4.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.machine.residency import blocks_by_registers, blocks_by_shared_memory, least_shared_memory
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Floats, Symbol
from simtmm.model.equations.functions import Value, floor, is_symbolic, minimum
from simtmm.model.equations.symbols import Z_BYTES, P, Q
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceLaunch

# Of resources that allow as few blocks, the one that binds: a kernel that needs less of the others gains nothing.
_FIRST = ("threads per block", "blocks", "threads", "warps", "shared memory", "registers")

B_A = Symbol("B_a", "active blocks of a core group", "blocks", minimum=1, whole=True)
B_MAX = Symbol("B_max", "blocks of the machine at most", "blocks", minimum=1, whole=True, latex="B_{\\max}")
T_R = Symbol("T_r", "threads of a block", "threads", minimum=1, whole=True)
T_MAX_MP = Symbol("T_maxMP", "threads of a core group at most", "threads", minimum=1, latex="T_{\\max MP}")
R = Symbol("R", "registers of a core group", "registers", minimum=1)
REGISTERS = Symbol("R_T", "registers of a thread", "registers", whole=True)
BLOCK_MEMORY = Symbol("Z_B", "shared memory of a block", "bytes", whole=True)


@dataclass(frozen=True)
class Occupancy:
    """active_blocks: B_a, blocks of a group; terms: what each resource allows, None for no limit; bound: the
    resource that allows fewest, of several the machine's limits before the kernel's needs; warps, most_warps: of a
    group, resident and at most.
    """

    active_blocks: int
    terms: dict[str, int | None]
    bound: str
    warps: int
    most_warps: int

    @property
    def fraction(self) -> float:
        """Resident warps over the most a group can hold: what profilers call theoretical occupancy."""
        return self.warps / self.most_warps

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "active_blocks": self.active_blocks,
            "bound": self.bound,
            "terms": self.terms,
            "warps": self.warps,
            "most_warps": self.most_warps,
            "fraction": self.fraction,
        }


def occupancy(machine: Machine, launch: TraceLaunch) -> Occupancy:
    """The occupancy of a launch: B_a = min(Z / Z_B, R / (R_T T_r), B_max / (P / Q), T_maxMP / T_r), each rounded down.

    A fifth term, warps, is what whole warps take where T_r is no multiple of W (machine rules, section 6). Raises
    MachineError where no block fits.
    """
    T_r, R_T, Z_B = launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes
    B_a = machine.active_blocks(T_r, R_T, Z_B)  # Eq. (5.2)
    terms = machine.block_limits(T_r, R_T, Z_B)
    bound = next(resource for resource in _FIRST if terms.get(resource) == B_a)
    warps = -(-T_r // machine.cores.warp_width)
    return Occupancy(B_a, terms, bound, B_a * warps, machine.warps_per_group)


@checked("occupancy", B_A, B_MAX, P, Q)
def block_occupancy(B_a: Value, B_max: Value, P: Value, Q: Value) -> Value:
    """Active blocks over the most that a core group may have; not a profiler's occupancy, which counts warps.

    Raises ModelError where B_max leaves a group no block.
    """
    most = floor(B_max * Q / P)
    if not is_symbolic(most) and np.any(most == 0):
        raise ModelError("occupancy: B_max: must be at least P / Q, a block for each core group")
    return B_a / most  # Eq. (5.1)


@checked("B_a", Z_BYTES, BLOCK_MEMORY, R, REGISTERS, T_R, B_MAX, P, Q, T_MAX_MP)
def active_blocks(  # noqa: PLR0913, PLR0917 - a letter of the equation each
    Z: Value, Z_B: Value, R: Value, R_T: Value, T_r: Value, B_max: Value, P: Value, Q: Value, T_maxMP: Value
) -> Value:
    """B_a, the blocks that a core group holds at once, as printed; 0 where a block does not fit."""
    return minimum(_blocks(Z, Z_B), _blocks(R, R_T * T_r), floor(B_max * Q / P), floor(T_maxMP / T_r))  # Eq. (5.2)


def _blocks(available: Value, of_a_block: Value) -> Value:
    """How many blocks share what is available; a block that needs none of it is not limited."""
    if is_symbolic(available, of_a_block):
        return floor(available / of_a_block)
    with np.errstate(divide="ignore"):
        return np.floor(np.divide(available, of_a_block))


@dataclass(frozen=True)
class Occupancies:
    """How many blocks a core group of a machine holds, for arrays of launches; all of one shape.

    active_blocks: B_a, 0 where a block does not fit. bound: the resource that allows fewest, which is what refuses
    where B_a is 0: "threads per block" or a term of `occupancy`.
    """

    active_blocks: Floats
    bound: npt.NDArray[np.str_]


def occupancies(machine: Machine, T_r: Value, R_T: Value = 0, Z_B: Value = 0) -> Occupancies:
    """`occupancy` over arrays: of T_r threads of a block, R_T registers of a thread, Z_B bytes of a block.

    A block that does not fit is no error. Raises ModelError for a value outside its domain.
    """
    threads, registers, memory = np.broadcast_arrays(
        T_R.check("occupancy", T_r), REGISTERS.check("occupancy", R_T), BLOCK_MEMORY.check("occupancy", Z_B)
    )
    cores, resources = machine.cores, machine.resources
    unlimited = np.full(threads.shape, np.inf)
    terms = {
        "threads per block": np.where(threads > (resources.threads_per_block or np.inf), 0, np.inf),
        "shared memory": unlimited
        if resources.shared_memory is None
        else np.where(memory > 0, blocks_by_shared_memory(machine, np.maximum(memory, 1)), np.inf),
        "registers": unlimited
        if resources.registers is None
        else np.where(registers > 0, blocks_by_registers(machine, threads, np.maximum(registers, 1)), np.inf),
        "blocks": np.full(threads.shape, float(machine.limits.blocks_per_group or np.inf)),
        "threads": np.floor(math.floor(cores.max_threads_per_core * cores.cores_per_group) / threads),
        "warps": np.floor(machine.warps_per_group / np.ceil(threads / cores.warp_width)),
    }
    stacked = np.stack([terms[resource] for resource in _FIRST])
    return Occupancies(stacked.min(axis=0), np.array(_FIRST)[stacked.argmin(axis=0)])


def shared_memory_for(machine: Machine, launch: TraceLaunch, active_blocks: int) -> int:
    """The least shared memory in bytes that a block must claim so that a core group holds this many blocks.

    B_a can't be set, but a block that claims more than it needs lets fewer in (section 6.4). Raises MachineError
    where no block fits, ModelError where claiming memory can't give this B_a.
    """
    possible = occupancy(machine, launch).active_blocks
    Z = machine.resources.shared_memory
    if active_blocks == possible:
        return launch.shared_memory_bytes
    if isinstance(active_blocks, bool) or active_blocks not in range(1, possible + 1):
        raise ModelError(
            f"shared memory: B_a = {active_blocks}: must be whole and at least 1 and at most {possible}, "
            f"what machine {machine.name} holds"
        )
    if Z is None:
        raise ModelError(
            f"shared memory: machine {machine.name} has no resources.shared_memory, so claims have no effect"
        )
    claimed = least_shared_memory(machine, active_blocks)
    if blocks_by_shared_memory(machine, claimed) != active_blocks:
        raise ModelError(f"shared memory: B_a = {active_blocks}: no claim divides {Z} bytes that way (Eq. 5.2)")
    return claimed


@dataclass(frozen=True)
class ForcedBlocks:
    """Fewer active blocks than the occupancy, as section 6.4 has blocks claim more shared memory.

    active_blocks: of a core group at most. shared_memory: the least bytes that a block of each launch must claim for
    that, as far as launches differ.
    """

    active_blocks: int
    shared_memory: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {"active_blocks": self.active_blocks, "shared_memory": list(self.shared_memory)}


def force_active_blocks(machine: Machine, trace: Trace, active_blocks: int) -> tuple[Machine, ForcedBlocks]:
    """A machine whose core groups hold no more blocks than that, and what a trace's blocks must claim for it.

    active_blocks: of a core group, at least 1.

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
    return fewer, ForcedBlocks(active_blocks, tuple(dict.fromkeys(claims)))
