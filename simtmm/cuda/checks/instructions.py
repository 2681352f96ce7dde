"""What an instruction that accesses memory is to the checks."""

from simtmm.cuda.checks.state import (
    ACQUIRES,
    ATOMIC,
    BULK,
    COPIES,
    IGNORED,
    OF_BLOCK,
    ORDERS,
    PRODUCT,
    RELEASES,
    STRONG,
    TRACKS,
    VECTOR,
    VOLATILE,
)
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.flow.steps import is_of_texture, width_of
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Instruction

_LEAST_UNIT, _MOST_UNIT = 1, 4  # bytes of a cell


def flags_of(instruction: Instruction) -> int:
    """Bits of state.py."""
    opcode = instruction.opcode
    found = 0
    if opcode == "bar":
        return ORDERS
    if opcode == "wgmma" or (opcode in ("st", "red") and instruction.has("async")):
        return _of_async(opcode)
    if opcode in ("atom", "red"):
        # An atomic whose result is looked at acquires, as in the CUDA C++ guide's own examples, which have no fence
        # behind it; by PTX it does so with .acquire, or with a fence behind it.
        found |= STRONG | ATOMIC | (ACQUIRES if opcode == "atom" else 0)
    if opcode == "mbarrier" or (opcode == "cp" and instruction.has("bulk", "mbarrier")):
        return _of_mbarrier(instruction)
    if opcode == "cp":
        found |= COPIES
    if instruction.has("volatile"):
        found |= STRONG | VOLATILE
    if instruction.has("relaxed", "acquire", "release", "acq_rel", "mmio"):
        found |= STRONG
    if instruction.has("acquire", "acq_rel"):
        found |= ACQUIRES
    if instruction.has("release", "acq_rel"):
        found |= RELEASES
    if found and instruction.has("cta"):
        found |= OF_BLOCK
    if instruction.has("v2", "v4", "v8") or width_of(instruction) > 8:
        found |= VECTOR
    return found


def _of_async(opcode: str) -> int:
    """Products, and what writes for who waits at its mbarrier, which a log does not tell apart from that."""
    return PRODUCT if opcode == "wgmma" else STRONG | OF_BLOCK | IGNORED


def _of_mbarrier(instruction: Instruction) -> int:
    """Arrivals release, as copies in bulk do when they are done, and waits acquire; one is made by a plain write."""
    if instruction.has("init"):
        return OF_BLOCK | IGNORED
    found = STRONG | OF_BLOCK | IGNORED
    if instruction.opcode == "cp":
        found |= RELEASES | (BULK if instruction.has("bulk") else TRACKS)
        return found | (ATOMIC if instruction.has("reduce") else 0)
    if instruction.has("test_wait", "try_wait"):
        return found | ACQUIRES
    return found if instruction.has("inval") else found | RELEASES


def unit_bits(program: Program) -> int:
    """The exponent of the bytes of a cell: no access of the program is of less."""
    least = _MOST_UNIT
    for _, instruction in program.accesses:
        if row_of(instruction.opcode).memory and not is_of_texture(instruction):
            width = _width(instruction)
            least = min(least, width or least)
    return max(_LEAST_UNIT, least).bit_length() - 1


def _width(instruction: Instruction) -> int:
    if instruction.opcode == "mbarrier" or (instruction.opcode == "cp" and instruction.has("mbarrier")):
        return 8
    if instruction.opcode == "wmma":
        return 2
    return width_of(instruction)
