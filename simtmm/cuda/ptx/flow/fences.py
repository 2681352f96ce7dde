"""Instructions that hold their warp until memory is ordered: for which threads, and in what order."""

from simtmm.cuda.ptx.syntax import Instruction
from simtmm.trace.schema import DEVICE_FENCE, SEQUENTIAL_FENCE, SYSTEM_FENCE

_RELEASES = {"st", "atom", "red", "mbarrier"}  # which the machine does behind a fence where they release


def fence_of(instruction: Instruction) -> str | None:
    """What of schema.FENCES an instruction has the machine do (MEMBAR); None where that is none, or one of a block.

    Acquiring alone, and fences of the async proxy for a block's own shared memory or for global memory alone, hold no
    warp: ptxas makes nothing of them that waits.
    """
    has = instruction.has
    if instruction.opcode == "membar":
        return SYSTEM_FENCE if has("sys") or has("proxy") else SEQUENTIAL_FENCE if has("gl") else None
    if instruction.opcode == "fence":
        return _of_fence(instruction)
    releases = has("release", "acq_rel")
    if instruction.opcode not in _RELEASES or not releases or has("cta"):
        return None
    if instruction.opcode == "mbarrier" and not has("cluster"):
        return None  # of its block, if nothing else is said
    return SYSTEM_FENCE if has("sys") else DEVICE_FENCE


def _of_fence(instruction: Instruction) -> str | None:
    has = instruction.has
    if has("proxy"):
        if has("alias"):
            return SYSTEM_FENCE
        if has("async"):
            return None if has("shared::cta", "global") else DEVICE_FENCE
        return DEVICE_FENCE if has("release") else None
    restricted = any(each.startswith("sync_restrict") for each in instruction.modifiers)
    if restricted or has("mbarrier_init", "acquire", "cta"):
        return None
    if has("sys"):
        return SYSTEM_FENCE
    return SEQUENTIAL_FENCE if has("sc") else DEVICE_FENCE
