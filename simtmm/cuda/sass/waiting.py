"""Loads by which threads wait for others: of the machine's, those of shared memory don't tell.

A load of global memory that is read again and again says so (.STRONG); one of shared memory looks like any other.
"""

from simtmm.cuda.sass.syntax import Listing, MachineInstruction, MachineLabel, Memory, Reg, Target

WIDEST = 4  # registers that an instruction gives, one behind the other


def waiting_loads(listing: Listing) -> frozenset[int]:
    """The addresses of the loads of shared memory that read the same place in each round of the loop around them."""
    labels = {item.name: item.address for item in listing.items if isinstance(item, MachineLabel)}
    loops: list[tuple[int, int]] = []
    for each in listing.instructions:
        target = each.operands[-1] if each.opcode == "BRA" and each.operands else None
        if isinstance(target, Target) and 0 <= labels.get(target.name, -1) <= each.address:
            loops.append((labels[target.name], each.address))
    found: set[int] = set()
    for load in listing.instructions:
        around = [(end - begin, begin, end) for begin, end in loops if begin <= load.address <= end]
        if load.opcode == "LDS" and around:
            _, begin, end = min(around)
            inside = [each for each in listing.instructions if begin <= each.address <= end]
            if any(each.opcode == "BAR" for each in inside):  # at which the others get on, too
                continue
            if not _addressed_by(load) & {name for each in inside for name in _given(each)}:
                found.add(load.address)
    return frozenset(found)


def _addressed_by(load: MachineInstruction) -> set[str]:
    return {
        register.name
        for operand in load.operands
        if isinstance(operand, Memory)
        for register in operand.registers
        if not register.is_zero
    }


def _given(instruction: MachineInstruction) -> set[str]:
    """The registers that an instruction may give."""
    found: set[str] = set()
    for operand in instruction.operands[:2]:
        if isinstance(operand, Reg) and not operand.is_zero and not operand.is_predicate:
            prefix = operand.name.rstrip("0123456789")
            found.update(f"{prefix}{operand.number + more}" for more in range(WIDEST))
    return found


__all__ = ["waiting_loads"]
