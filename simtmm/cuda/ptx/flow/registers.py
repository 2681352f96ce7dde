"""Which registers an instruction reads and writes."""

from collections.abc import Iterator

from simtmm.cuda.ptx.forms import begins_with_destination
from simtmm.cuda.ptx.syntax import Address, Group, Instruction, Negated, Operand, Pair, Part, Register, Vector

CLOCKS = ("%clock", "%globaltimer")  # as the names of registers that tell the time begin
_WRITTEN, _READ = "_written", "_read"  # beside an instruction's fields


def reads_clocks(instruction: Instruction) -> bool:
    """Whether an instruction reads a clock."""
    return any(name.startswith(CLOCKS) for name in read(instruction))


def has_destination(instruction: Instruction) -> bool:
    """Whether its first operand is written."""
    if not instruction.operands:
        return False
    if instruction.opcode == "call":  # one that gives nothing begins with what is called, which a register may name
        return isinstance(instruction.operands[0], Group) and len(instruction.operands) > 1
    return begins_with_destination(instruction)


def written(instruction: Instruction) -> tuple[str, ...]:
    """The registers that it writes, in order."""
    asked = vars(instruction)  # many ask, and instructions never change
    if _WRITTEN not in asked:
        asked[_WRITTEN] = tuple(_names(instruction.operands[0])) if has_destination(instruction) else ()
    found: tuple[str, ...] = asked[_WRITTEN]
    return found


def read(instruction: Instruction) -> tuple[str, ...]:
    """The registers that it reads, its guard's included."""
    asked = vars(instruction)
    if _READ not in asked:
        asked[_READ] = tuple(_read(instruction))
    found: tuple[str, ...] = asked[_READ]
    return found


def guards(instruction: Instruction) -> tuple[str, ...]:
    """The predicate that decides who carries it out; none where all do."""
    return () if instruction.guard is None else tuple(_names(instruction.guard))


def _read(instruction: Instruction) -> Iterator[str]:
    first = 1 if has_destination(instruction) else 0
    for operand in instruction.operands[first:]:
        yield from _names(operand)
    if first and (isinstance(instruction.operands[0], Address) or instruction.opcode == "wgmma"):  # added to
        yield from _names(instruction.operands[0])
    yield from guards(instruction)


def _names(operand: Operand) -> Iterator[str]:
    match operand:
        case Register(name):
            yield name
        case Negated(register) | Part(register):
            yield register.name
        case Vector(parts) | Group(parts):
            for part in parts:
                yield from _names(part)
        case Pair(first, second):
            yield from _names(first)
            yield from _names(second)
        case Address(base, _, rest):
            if isinstance(base, Register):
                yield base.name
            for part in rest:
                yield from _names(part)
