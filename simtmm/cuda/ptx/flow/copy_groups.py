"""cp.async: what it copies, which instructions make a group of a thread's copies, and which wait for how many."""

from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand
from simtmm.errors import PtxError, shown
from simtmm.trace.schema import MOST_GROUPS


def waits_for_copies(instruction: Instruction) -> bool:
    """Whether an instruction waits for all of a thread's cp.async."""
    return _group_wait(instruction) == 0 or (instruction.opcode == "cp" and "wait_all" in instruction.modifiers)


def limit_of(copy: Instruction) -> Operand | None:
    """What a cp.async reads less by than it writes: a number of bytes, or a predicate of threads that read nothing.

    None for one that reads all that it writes. A policy of a cache stands behind it.
    """
    rest = copy.operands[3:-1] if copy.has("L2::cache_hint") else copy.operands[3:]
    return rest[0] if rest else None


def _group_wait(instruction: Instruction) -> int | None:
    """How many groups of cp.async an instruction leaves under way where it waits for the others."""
    if instruction.opcode != "cp" or "wait_group" not in instruction.modifiers or "bulk" in instruction.modifiers:
        return None
    found = next((operand.value for operand in instruction.operands if isinstance(operand, Immediate)), None)
    if not isinstance(found, int) or found < 0:
        what = "lacks a number of groups" if found is None else f"{shown(found)} is not a number of groups"
        raise PtxError(f"PTX line {instruction.line}: {instruction.text}: {what}")
    return found


def in_flight_of(instruction: Instruction) -> int | None:
    """Likewise, where that is any: a wait for all groups is one for all copies."""
    left = _group_wait(instruction) if instruction.issue is None else instruction.issue.in_flight
    return min(left, MOST_GROUPS - 1) if left else None


def commits(instruction: Instruction) -> bool:
    """Whether an instruction makes a group of a thread's cp.async so far."""
    if instruction.issue is not None:
        return instruction.issue.commits
    return (
        instruction.opcode == "cp" and "commit_group" in instruction.modifiers and "bulk" not in instruction.modifiers
    )
