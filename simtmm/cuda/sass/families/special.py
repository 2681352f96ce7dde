"""Special registers, and what moves between the registers of threads, of the warp, and predicates."""

from simtmm.cuda.execution.layout import LOCAL_WINDOW, SHARED_WINDOW
from simtmm.cuda.ptx.syntax import Immediate, Register
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Number, Reg, Word

_REGISTERS = {
    **{f"SR_TID.{axis}": f"%tid.{axis.lower()}" for axis in "XYZ"},
    **{f"SR_CTAID.{axis}": f"%ctaid.{axis.lower()}" for axis in "XYZ"},
    **{f"SR_NCTAID.{axis}": f"%nctaid.{axis.lower()}" for axis in "XYZ"},
    "SR_LANEID": "%laneid",
    "SR_EQMASK": "%lanemask_eq",
    "SR_LTMASK": "%lanemask_lt",
    "SR_LEMASK": "%lanemask_le",
    "SR_GTMASK": "%lanemask_gt",
    "SR_GEMASK": "%lanemask_ge",
    "SR_CLOCKLO": "%clock",
    "SR_CLOCKHI": "%clock_hi",
    "SR_GLOBALTIMERLO": "%globaltimer_lo",
    "SR_GLOBALTIMERHI": "%globaltimer_hi",
    "SR_VIRTUALSMID": "%smid",
}
_NUMBERS = {
    "SRZ": 0,
    "SR_LMEMHIOFF": 0,  # below which the stack may not grow, as code checks that is not optimised
    "SR_SWINHI": SHARED_WINDOW >> 32,
    "SR_LWINHI": LOCAL_WINDOW >> 32,
    "SR_SWINLO": SHARED_WINDOW & 0xFFFFFFFF,
    "SR_LWINLO": LOCAL_WINDOW & 0xFFFFFFFF,
}

_RANK = "%cluster_ctarank"


def read_special(lifting: Lifting, instruction: MachineInstruction) -> None:
    """S2R, S2UR, CS2R, CS2UR: of 32 bits, or of 64 with the last two."""
    lifting.only(*(("32",) if "CS2" in instruction.opcode else ()))
    to, source = instruction.operands
    name = source.text if isinstance(source, Word) else source.name if isinstance(source, Reg) else ""
    wide = "CS2" in instruction.opcode and not instruction.has("32")
    if wide and name in ("SR_CLOCKLO", "SR_GLOBALTIMERLO"):
        lifting.write_pair(
            to, lifting.value("mov.u64", "b64", Register("%clock64" if "CLOCK" in name else "%globaltimer"))
        )
        return
    if name == "SR_CgaCtaId":  # the rank, in addresses of shared memory, too (clusters.py)
        in_cluster = lifting.in_clusters
        found: PtxOperand = lifting.value("mov.u32", "b32", Register(_RANK)) if in_cluster else Immediate(0)
    elif name in _NUMBERS:
        found = Immediate(_NUMBERS[name])
    elif name in _REGISTERS:
        found = lifting.value("mov.u32", "b32", Register(_REGISTERS[name]))
    elif name == "SR_VIRTID":  # the warp's place and the multiprocessor
        warp = lifting.value("shl.b32", "b32", Register("%warpid"), Immediate(8))
        found = lifting.value("or.b32", "b32", warp, lifting.value("shl.b32", "b32", Register("%smid"), Immediate(20)))
    else:
        raise lifting.refuse(f"reads {name}, which is not supported")
    if wide:
        if name not in _NUMBERS and name != "SR_CgaCtaId":
            raise lifting.refuse(f"reads 64 bits of {name}, which is not supported")
        lifting.write_pair(to, found)
    else:
        lifting.write(to, found)


def to_uniform(lifting: Lifting, instruction: MachineInstruction) -> None:
    """R2UR: what the lowest of the lanes that take part has, for all lanes; and whether a lane has something else.

    With .OR, or had before: of two registers, one by one.
    """
    lifting.only("OR")
    *differs, to, source = instruction.operands
    if len(differs) > 1 or not isinstance(to, Reg):
        raise lifting.refuse()
    guard = instruction.guard
    if guard is None:
        here = lifting.value("activemask.b32", "b32")
    else:
        let = lifting.predicate(guard)
        here = lifting.value("vote.sync.here.ballot.b32", "b32", let, Immediate(0xFFFFFFFF))
    last = lifting.value("brev.b32", "b32", here)
    leader = lifting.value("bfind.shiftamt.u32", "b32", last)
    found: PtxOperand = lifting.temporary("b32")
    given = lifting.copy(lifting.whole(source))
    lifting.do("shfl.sync.here.idx.b32", found, given, leader, Immediate(0x1F), Immediate(0xFFFFFFFF))
    differ = lifting.value("setp.ne.b32", "pred", given, found)
    if not to.is_zero:  # a register of the warp: the lanes that the guard leaves out have it as well
        register = lifting.register(to.name)
        if guard is not None:
            some = lifting.value("setp.ne.b32", "pred", here, Immediate(0))
            found = lifting.value("selp.b32", "b32", found, register, some)
        lifting.do("mov.b32", register, found)
    for predicate in differs:
        if instruction.has("OR"):
            differ = lifting.value("or.pred", "pred", differ, lifting.predicate(predicate))
        lifting.write_predicate(predicate, differ)


def predicates_to_register(lifting: Lifting, instruction: MachineInstruction) -> None:
    """P2R: bits of predicates 0 to 6 under a mask, the others from a register."""
    to, which, kept, mask = instruction.operands
    if not isinstance(which, (Word, Reg)) or not isinstance(mask, Number) or instruction.modifiers:
        raise lifting.refuse()
    prefix = "UP" if instruction.opcode.startswith("U") else "P"
    wanted = lifting.whole_number(mask)
    found: PtxOperand = lifting.value("and.b32", "b32", lifting.whole(kept), Immediate(~wanted & 0xFFFFFFFF))
    for number in range(7):
        if wanted >> number & 1:
            register = lifting.predicate_register(Reg(f"{prefix}{number}"))
            bit = lifting.value("selp.b32", "b32", Immediate(1 << number), Immediate(0), register)
            found = lifting.value("or.b32", "b32", found, bit)
    lifting.write(to, found)


def register_to_predicates(lifting: Lifting, instruction: MachineInstruction) -> None:
    """R2P: predicates from the bits of a register, or of a byte of it, under a mask."""
    lifting.only()
    prefix = "UP" if instruction.opcode.startswith("U") else "P"
    match instruction.operands:
        case (Word(text=all_of), Reg() as source, Number() as mask) if all_of == f"{prefix}R":
            shift = 8 * int(source.part[1:]) if source.part.startswith("B") else 0
        case _:
            raise lifting.refuse()
    bits = lifting.copy(lifting.bits(source))
    taken = lifting.whole_number(mask)
    for number in range(7):
        if taken >> number & 1:
            one = lifting.value("and.b32", "b32", bits, Immediate(1 << number + shift))
            lifting.write_predicate(Reg(f"{prefix}{number}"), lifting.value("setp.ne.b32", "pred", one, Immediate(0)))


HANDLERS = {
    **dict.fromkeys(("S2R", "S2UR", "CS2R", "CS2UR", "UCS2R"), read_special),
    "R2UR": to_uniform,
    **dict.fromkeys(("P2R", "UP2UR"), predicates_to_register),
    **dict.fromkeys(("R2P", "UR2UP"), register_to_predicates),
}
