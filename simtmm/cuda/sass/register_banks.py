"""What instructions take to read their registers, which lie in banks, each of which gives one a cycle.

As measured on an H200 (traces/measured/h200-sxm/register_banks.csv): a register lies in the bank of its number modulo
two. An operand marked .reuse stays in a cache, which has an entry for each place among the operands and each bank,
until an instruction reads another register of the bank at that place; what is there is not read again.
"""

from collections.abc import Mapping

from simtmm.cuda.sass.syntax import Listing, MachineInstruction, MachineLabel, Reg
from simtmm.cuda.sass.work import class_of

BANKS = 2
BANKED_FROM = 70  # compute capability, times ten: before, files had four banks and other rules
_CLASSES = ("fp32", "fp64", "fp16", "integer", "multiply")  # what reads its registers on its way to its pipe
_ENDS = ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "BSYNC", "WARPSYNC", "BAR")  # others may be next

SUMMAND = 2  # the place of what a product is added to, of 64 bits where the product is

_Cache = dict[tuple[int, int], str]  # the register of each place and bank


def cycles_of_operands(listing: Listing) -> Mapping[int, int]:
    """Cycles beyond one that instructions take to read their registers, by address; none of those that take one."""
    found: dict[int, int] = {}
    cache: _Cache = {}
    for item in listing.items:
        if isinstance(item, MachineLabel) or item.opcode in _ENDS:
            cache.clear()
        elif class_of(item) in _CLASSES:
            cycles = _cycles(item, cache)
            if cycles > 1:
                found[item.address] = cycles - 1
    return found


def _cycles(instruction: MachineInstruction, cache: _Cache) -> int:
    """The registers that the bank has to give which has to give most; `cache` becomes that behind the instruction."""
    read: list[set[str]] = [set() for _ in range(BANKS)]
    for place, register, words in _sources(instruction):
        for number in range(register.number, register.number + words):
            bank, name = number % BANKS, f"R{number}"
            if cache.get((place, bank)) != name:
                read[bank].add(name)
            if register.is_kept:
                cache[place, bank] = name
            else:
                cache.pop((place, bank), None)
    return max(map(len, read))


def _sources(instruction: MachineInstruction) -> list[tuple[int, Reg, int]]:
    """The registers that it reads: the place of each among its operands, and how many words it is of."""
    given = instruction.operands
    tests = "SETP" in instruction.opcode or instruction.opcode == "FCHK"  # which give predicates alone
    both = not tests and given and isinstance(given[0], Reg) and given[0].is_predicate  # a register behind a predicate
    operands = [each for each in given[2 if both else 1 :] if not (isinstance(each, Reg) and each.is_predicate)]
    doubles, wide = instruction.opcode[0] == "D", instruction.has("WIDE")
    return [
        (place, each, 2 if doubles or (wide and place == SUMMAND) else 1)
        for place, each in enumerate(operands)
        if isinstance(each, Reg) and each.name[0] == "R" and not each.is_zero
    ]
