"""Copies from global to shared memory that a thread does not wait for, and what waits for them."""

from simtmm.cuda.ptx.syntax import Address, Immediate
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction

_HOW = ("E", "BYPASS", "LTC64B", "LTC128B", "LTC256B", "ACCESS", "EF", "EL", "EU", "NA")


def copy(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LDGSTS: 4, 8 or 16 bytes. With .ZFILL as many of the last bytes are 0 as the address lies behind a multiple of
    that; where its predicate does not hold, all are."""
    lifting.only(*_HOW, "64", "128", "ZFILL")
    to, given, *rest = instruction.operands
    size = 16 if instruction.has("128") else 8 if instruction.has("64") else 4
    if len(rest) > 1:
        raise lifting.refuse()
    place: PtxOperand = lifting.address(given)
    count: PtxOperand | None = None
    if instruction.has("ZFILL"):
        assert isinstance(place, Address)
        whole = lifting.value("add.s64", "b64", place.base, Immediate(place.offset))
        zeros = lifting.value("cvt.u32.u64", "b32", lifting.value("and.b64", "b64", whole, Immediate(size - 1)))
        count = lifting.value("sub.s32", "b32", Immediate(size), zeros)
        place = Address(lifting.value("and.b64", "b64", whole, Immediate(~(size - 1) & (1 << 64) - 1)))
    if rest:
        all_of_it: PtxOperand = Immediate(size) if count is None else count
        count = lifting.value("selp.b32", "b32", all_of_it, Immediate(0), lifting.predicate(rest[0]))
    counted = [] if count is None else [count]
    # .cg and .ca, the same here.
    lifting.access("cp.async.ca.shared.global", lifting.short_address(to), place, Immediate(size), *counted)


HANDLERS = {"LDGSTS": copy}
