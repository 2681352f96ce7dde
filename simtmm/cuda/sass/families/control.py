"""Control flow: branches, calls, exits, barriers; and instructions that only cost an issue slot."""

from simtmm.cuda.ptx.flow.basic_blocks import EXCLUSIVE, LEAVE_CONVERGENCE
from simtmm.cuda.ptx.syntax import Immediate, Register, Symbol
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Boards, MachineInstruction, Number, Operand, Reg, Target, Word
from simtmm.cuda.sass.writing import NEXT

ALL = 0xFFFFFFFF


def branch(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BRA; .CONV where the lanes of a mask are all here and let by the guard, .DIV, for all lanes, where not."""
    *conditions, target = instruction.operands
    if not isinstance(target, Target):
        raise lifting.refuse()
    where = Symbol(target.name)
    taken: PtxOperand | None = None
    lifting.only("CONV", "DIV", "U", "ANY", "INC", "DEC")
    if instruction.has("CONV", "DIV"):
        mask: Operand = Number(ALL)  # sm_75 names none
        if conditions and not (isinstance(conditions[0], Reg) and conditions[0].is_predicate):
            mask = conditions.pop(0)
        if conditions:
            raise lifting.refuse()
        taken = _all_here(lifting, mask)
        if instruction.has("DIV"):
            taken = lifting.value("not.pred", "pred", taken)
        lifting.jump("bra", taken, where, guarded=False)
        return
    if instruction.has("ANY"):  # for all lanes, if the guard lets one
        if conditions or instruction.guard is None:
            raise lifting.refuse()
        given = lifting.predicate(instruction.guard)
        some = lifting.value("vote.sync.here.any.pred", "pred", given, Immediate(ALL))
        lifting.jump("bra", some, where, guarded=False)
        return
    for condition in conditions:
        one = lifting.predicate(condition)
        taken = one if taken is None else lifting.value("and.pred", "pred", taken, one)
    lifting.jump("bra", taken, where)


def _all_here(lifting: Lifting, mask: Operand) -> Register:
    """Whether the living lanes of a mask are here now, and the guard lets them."""
    assert lifting.instruction is not None
    guard = lifting.instruction.guard
    if guard is None:
        here = lifting.value("activemask.b32", "b32")
    else:
        let = lifting.predicate(guard)
        here = lifting.value("vote.sync.here.ballot.b32", "b32", let, Immediate(ALL))
    living = lifting.value("mov.u32", "b32", Register("%livingmask"))
    wanted = lifting.value("and.b32", "b32", lifting.whole(mask), living)
    missing = lifting.value("lop3.b32", "b32", wanted, here, Immediate(0), Immediate(0x30))  # wanted & ~here
    return lifting.value("setp.eq.b32", "pred", missing, Immediate(0))


def leave(lifting: Lifting, instruction: MachineInstruction) -> None:
    """EXIT."""
    taken = lifting.predicate(instruction.operands[0]) if instruction.operands else None
    lifting.jump("exit", taken)


def come_back(lifting: Lifting, instruction: MachineInstruction) -> None:
    """RET: a jump to one of the places behind calls, whose address is in a register."""
    source = instruction.operands[0]
    if not isinstance(source, Reg) or not instruction.has("REL"):
        raise lifting.refuse()
    lifting.jump_by_value(lifting.whole(source), lifting.places_behind_calls)


def branch_by_register(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BRX: to one of the places that the compiler lists; the register counts from behind the instruction."""
    register = instruction.operands[0]
    number = next((o for o in instruction.operands if isinstance(o, Number)), Number(0))
    if not isinstance(register, Reg) or not instruction.targets:
        raise lifting.refuse("jumps where a register says, and no places are given")
    where = lifting.value(
        "add.s32",
        "b32",
        lifting.whole(register),
        Immediate(lifting.whole_number(number) + instruction.address + NEXT & ALL),
    )
    lifting.jump_by_value(where, tuple(lifting.address_of_label(name) for name in instruction.targets))


def synchronize_warp(lifting: Lifting, instruction: MachineInstruction) -> None:
    """WARPSYNC: the lanes of a mask wait for one another; .EXCLUSIVE and .COLLECTIVE: no others go on with them."""
    lifting.only("ALL", "COLLECTIVE", "EXCLUSIVE")
    if instruction.has("ALL") or not instruction.operands:
        mask: PtxOperand = Immediate(ALL)
    else:
        mask = lifting.copy(lifting.whole(instruction.operands[0]))
    lifting.wait(f"bar.warp.sync.{EXCLUSIVE}" if instruction.has("COLLECTIVE", "EXCLUSIVE") else "bar.warp.sync", mask)


def part(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BSSY: a register of convergence has the lanes that are here, which may part now."""
    lifting.only("RECONVERGENT", "RELIABLE")
    lifting.do("activemask.b32", lifting.register(_convergence(lifting, 0)), guard=True)


def meet(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BSYNC: the lanes of a register of convergence wait for one another.

    But where some of them wait for others elsewhere, or yield to them, the machine lets these go on; not so with
    .RECONVERGENT.
    """
    lifting.only("RECONVERGENT", "RELIABLE")
    name = "bar.warp.sync.reconverge" + (".strict" if instruction.has("RECONVERGENT") else "")
    lifting.wait(name, lifting.register(_convergence(lifting, 0)))


def leave_meeting(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BREAK: those of a register of convergence need not wait for these lanes any more; it may have a condition."""
    lifting.only("RELIABLE")
    *conditions, _ = instruction.operands
    if len(conditions) > 1:
        raise lifting.refuse()
    register = lifting.register(_convergence(lifting, -1))
    when = lifting.predicate(conditions[0]) if conditions else None
    lifting.access(LEAVE_CONVERGENCE, register, register, when=when)


def _convergence(lifting: Lifting, place: int) -> str:
    """The name of a register of convergence. Raises SassError for another operand."""
    operand = lifting.operand(place)
    if not isinstance(operand, Reg) or not operand.name.startswith("B"):
        raise lifting.refuse()
    return operand.name


def move_convergence(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BMOV: to or from a register of convergence, which .CLEAR leaves empty."""
    lifting.only("32", "CLEAR")
    to, source = instruction.operands
    if isinstance(to, Reg) and to.name.startswith("B"):
        lifting.write(to, lifting.copy(lifting.bits(source)))
        return
    name = _convergence(lifting, 1)
    lifting.write(to, lifting.copy(lifting.register(name)))
    if instruction.has("CLEAR"):
        lifting.write(Reg(name), Immediate(0))


def let_others_go(lifting: Lifting, instruction: MachineInstruction) -> None:
    """YIELD, and NANOSLEEP, which takes time besides."""
    lifting.do("nanosleep.u32", Immediate(int(instruction.opcode == "NANOSLEEP")))


def barrier(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BAR: of a block's threads, by number, of so many of them."""
    operands = list(instruction.operands)
    predicate = None
    if operands and isinstance(operands[-1], Reg) and operands[-1].is_predicate:
        predicate = lifting.predicate(operands.pop())
    lifting.only("SYNC", "SYNCALL", "ARV", "RED", "POPC", "AND", "OR", "DEFER_BLOCKING")
    number: PtxOperand = lifting.whole(operands[0]) if operands else Immediate(0)
    count = [lifting.whole(operands[1])] if len(operands) > 1 else []
    if operands and isinstance(operands[0], Reg):  # bits 0 to 3, and from bit 16 on a count that is no number
        number = lifting.value("and.b32", "b32", number, Immediate(15))
    if len(operands) > 1 and isinstance(operands[1], Reg):
        count = [lifting.value("bfe.u32", "b32", count[0], Immediate(16), Immediate(12))]
    if instruction.has("ARV"):
        lifting.access("bar.arrive", number, *count)
    elif instruction.has("RED"):
        lifting.reduce_at_barrier(number, count, predicate)
    elif instruction.has("SYNC", "SYNCALL"):
        lifting.access("bar.sync", number, *count)
    else:
        raise lifting.refuse()


def cluster_barrier(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UCGABAR_ARV, UCGABAR_WAIT: of a cluster's threads, where the launch gives a cluster's size."""
    lifting.only()
    if instruction.operands:
        raise lifting.refuse()
    if instruction.opcode == "UCGABAR_ARV":
        assert instruction.address is not None
        relaxed = instruction.address in lifting.relaxed
        lifting.do("barrier.cluster.arrive.relaxed" if relaxed else "barrier.cluster.arrive")
    else:
        lifting.access("barrier.cluster.wait")


def nothing(lifting: Lifting, instruction: MachineInstruction) -> None:
    """What a thread sees nothing of: it costs its slot."""


def take_registers(lifting: Lifting, instruction: MachineInstruction) -> None:
    """USETMAXREG: registers given back or taken, of which there are enough; .TRY_ALLOC says so."""
    lifting.only("TRY_ALLOC", "DEALLOC", "CTAPOOL")
    match instruction.operands:
        case (*_, Number(int(count))):
            way = "inc" if instruction.has("TRY_ALLOC") else "dec"
            lifting.access(f"setmaxnreg.{way}.sync.aligned.u32", Immediate(count))
        case _:
            raise lifting.refuse("gives no number of registers")
    if instruction.has("TRY_ALLOC"):
        lifting.write_predicate(instruction.operands[0], Immediate(1))


def fence(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MEMBAR, FENCE: order among accesses, which are in order here; those of a block, and of proxies, hold no warp."""
    if instruction.opcode == "FENCE" or instruction.has("CTA"):
        lifting.do("membar.cta")
    elif instruction.has("SYS"):
        lifting.do("membar.sys")
    else:
        lifting.do("membar.gl" if instruction.has("SC") else "fence.acq_rel.gpu")


def end_store_group(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UTMACMDFLUSH: the thread's stores in bulk so far are a group."""
    lifting.access("cp.async.bulk.commit_group")


def await_board(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DEPBAR: a wait for groups of stores in bulk where a scoreboard of it counts them; else it only costs its slot."""
    clear = {f"SB{each}" for of in instruction.operands if isinstance(of, Boards) for each in of.numbers}
    if clear & lifting.store_boards:
        lifting.access("cp.async.bulk.wait_group.read", Immediate(0))
        return
    match [each for each in instruction.operands if not isinstance(each, Boards)]:
        case [Word(board), Number(int(left))] if board in lifting.store_boards:
            lifting.access("cp.async.bulk.wait_group.read", Immediate(left))


def trap(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BPT.TRAP, KILL."""
    lifting.jump("trap", None)


NOTHING = (
    "NOP", "ENDCOLLECTIVE", "CCTL", "CCTLL", "CCTLT", "ERRBAR", "CGAERRBAR", "WARPREADY",
    "PMTRIG", "UBLKPF", "LDGDEPBAR", "PREEXIT", "ACQBULK",
)  # fmt: skip
HANDLERS = {
    "BRA": branch,
    "EXIT": leave,
    "RET": come_back,
    "BRX": branch_by_register,
    "WARPSYNC": synchronize_warp,
    "BAR": barrier,
    **dict.fromkeys(("UCGABAR_ARV", "UCGABAR_WAIT"), cluster_barrier),
    **dict.fromkeys(("MEMBAR", "FENCE"), fence),
    "USETMAXREG": take_registers,
    "UTMACMDFLUSH": end_store_group,
    "DEPBAR": await_board,
    "BPT": trap,
    "KILL": trap,
    "BSSY": part,
    "BSYNC": meet,
    "BREAK": leave_meeting,
    "BMOV": move_convergence,
    **dict.fromkeys(("YIELD", "NANOSLEEP"), let_others_go),
    **dict.fromkeys(NOTHING, nothing),
}
