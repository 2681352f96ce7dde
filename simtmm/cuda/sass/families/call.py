"""Calls: of what stands in the machine code, which are jumps, and of what the driver has: printf, assert, malloc, free.

A call by a register finds its function in constant bank 4, where each has a number here. Parameters and results stand
in registers from R4 on.
"""

from simtmm.cuda.execution.runtime.built_in import BUILT_IN
from simtmm.cuda.execution.translation.function_code import function_address
from simtmm.cuda.ptx.syntax import Address, Group, Immediate, Symbol, Variable
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.sources import DRIVERS_FUNCTION
from simtmm.cuda.sass.syntax import MachineInstruction, Reg, Target

# By the function's name: the registers of its parameters with their bytes, and the bytes that it returns in R4.
_PARAMETERS: dict[str, tuple[tuple[tuple[int, int], ...], int]] = {
    "vprintf": (((4, 8), (6, 8)), 4),
    "__assertfail": (((4, 8), (6, 8), (8, 4), (10, 8), (12, 8)), 0),
    "malloc": (((4, 8),), 8),
    "free": (((4, 8),), 0),
}


def call(lifting: Lifting, instruction: MachineInstruction) -> None:
    """CALL: a jump, since where it comes back to stands in registers already."""
    lifting.only("REL", "ABS", "NOINC")
    target, *start = instruction.operands
    if start:
        _call_by_register(lifting, instruction)
    elif isinstance(target, Target):
        lifting.jump("bra", None, Symbol(target.name))
    elif isinstance(target, Reg) and instruction.has("ABS") and instruction.guard is None:
        _call_driver(lifting, target)
    else:
        raise lifting.refuse("calls what a register says, which is not supported")


def _call_by_register(lifting: Lifting, instruction: MachineInstruction) -> None:
    """A call of the function whose place, counted from the kernel's begin, is in a register: one of those here.

    Pointers in memory have a function's address as PTX has it, of which the lower half tells which one it is.
    """
    match instruction.operands:
        case (Reg() as target, Target(start)) if instruction.has("REL") and not target.is_zero:
            if lifting.address_of_label(start):
                raise lifting.refuse("counts from another place than the kernel's begin")
            where = lifting.whole(target)
            for name, place in lifting.functions.items():
                pointer = Immediate(function_address(name) & 0xFFFFFFFF)
                here = lifting.value("setp.eq.b32", "pred", where, pointer)
                where = lifting.value("selp.b32", "b32", Immediate(place), where, here)
            lifting.jump_by_value(where, tuple(lifting.functions.values()))
        case _:
            raise lifting.refuse()


def _call_driver(lifting: Lifting, target: Reg) -> None:
    """One of the driver's functions after the other, by those lanes that call it; any other ends the launch."""
    where = lifting.copy(lifting.pair(target), "b64")
    known: PtxOperand = lifting.value("mov.pred", "pred", Immediate(0))
    for name, number in BUILT_IN.items():
        here = lifting.value("setp.eq.b64", "pred", where, Immediate(DRIVERS_FUNCTION + number))
        known = lifting.value("or.pred", "pred", known, here)
        past = f"past.{name}{len(lifting.body)}"
        lifting.pass_unless(here, past)
        registers, returned = _PARAMETERS[name]
        passed = [_passed(lifting, f"{name}.{register}", register, size) for register, size in registers]
        if not returned:
            lifting.do("call", Symbol(name), Group(tuple(passed)))
        else:
            kind = f"b{8 * returned}"
            back = lifting.variable(Variable(f"{name}.back", "param", kind, returned, returned))
            lifting.do("call", Group((back,)), Symbol(name), Group(tuple(passed)))
            write = lifting.write if returned == 4 else lifting.write_pair
            write(Reg("R4"), lifting.value(f"ld.param.{kind}", kind, Address(back)))
        lifting.label(past)
    lost = f"past.lost{len(lifting.body)}"
    lifting.pass_unless(lifting.value("not.pred", "pred", known), lost)
    lifting.do("trap")
    lifting.label(lost)


def _passed(lifting: Lifting, name: str, register: int, size: int) -> Symbol:
    """A parameter, in the place that PTX has for it."""
    place = lifting.variable(Variable(name, "param", f"b{8 * size}", size, size))
    first = Reg(f"R{register}")
    value = lifting.pair(first) if size == 8 else lifting.bits(first)
    lifting.do(f"st.param.b{8 * size}", Address(place), value)
    return place


def here(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LEPC: the address of a place in the code, to which functions that are called may come back."""
    lifting.only()
    to, *place = instruction.operands
    address = instruction.address
    if place and isinstance(place[0], Target):
        address = lifting.address_of_label(place[0].name)
    lifting.write_pair(to, lifting.copy(Immediate(address), "b64"))


HANDLERS = {"CALL": call, "LEPC": here}
