"""Atomic operations, on global and shared memory."""

from simtmm.cuda.ptx.syntax import Address, Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Operand, Reg

_OPERATIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS")
_BITWISE = ("AND", "OR", "XOR", "EXCH", "CAS")
_HOW = ("E", "STRONG", "WEAK", "CTA", "SM", "GPU", "SYS", "VC")  # which memory it is of and who sees it when
# By the modifier that tells the type: that of PTX, the registers of an operand, and what must stand beside it.
_TYPES: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "S32": ("s32", "", 1, ()),
    "S64": ("s64", "", 2, ()),
    "F32": ("f32", "", 1, ("RN",)),
    "F64": ("f64", "", 2, ("RN",)),
    "F16x2": ("noftz.f16x2", "", 1, ("RN",)),
    "BF16x2": ("noftz.bf16x2", "", 1, ("RN",)),
    "F16x4": ("noftz.v2.f16x2", "v2", 2, ("RN",)),
    "BF16x4": ("noftz.v2.bf16x2", "v2", 2, ("RN",)),
    "F16x8": ("noftz.v4.f16x2", "v4", 4, ("RN",)),
    "BF16x8": ("noftz.v4.bf16x2", "v4", 4, ("RN",)),
    "F32x2": ("v2.f32", "v2", 2, ("RN",)),
    "F32x4": ("v4.f32", "v4", 4, ("RN",)),
}


class _Form:
    """What an atomic instruction does to what: operation and type as PTX names them, and registers of an operand."""

    def __init__(self, lifting: Lifting, instruction: MachineInstruction, space: str) -> None:
        operations = [m for m in instruction.modifiers if m in _OPERATIONS]
        if len(operations) != 1:
            raise lifting.refuse()
        operation = operations[0]
        types = [m for m in instruction.modifiers if m in _TYPES]
        beside: tuple[str, ...] = ()
        self.vector = ""
        if types:
            kind, self.vector, self.count, beside = _TYPES[types[0]]
        else:
            bits = 128 if instruction.has("128") else 64 if instruction.has("64") else 32
            kind, self.count = f"{'b' if operation in _BITWISE else 'u'}{bits}", bits // 32
        # Sums of f32 flush what is too small to be normal in global memory alone (PTX ISA, atom): the machine says so.
        flushes = kind.endswith("f32") and space != "shared" and operation == "ADD"
        lifting.only(operation, *types[:1], *beside, *_HOW, *(("FTZ",) if flushes else ()), "64", "128")
        if any(not instruction.has(name) for name in (*beside, *(("FTZ",) if flushes else ()))):
            raise lifting.refuse()
        if types and instruction.has("64", "128"):
            raise lifting.refuse()
        self.lifting = lifting
        self.name = f"{space and '.' + space}.{operation.lower()}.{kind}"
        self.swaps = operation == "CAS"

    def operand(self, source: Operand) -> PtxOperand:
        """A number that it is given."""
        lifting = self.lifting
        if self.vector:
            return Vector(tuple(lifting.registers_of(source, self.count)))
        return _number(lifting, source, self.count)

    def result(self) -> tuple[PtxOperand, list[Register]]:
        """The operand that takes what was there, and the registers of 32 bits that hold it then, by `halves`."""
        lifting = self.lifting
        if self.vector:
            parts = [lifting.temporary("b32") for _ in range(self.count)]
            return Vector(tuple(parts)), parts
        found = lifting.temporary(f"b{32 * self.count}")
        return found, [found]

    def halves(self, found: list[Register]) -> list[Register]:
        """What was there, in registers of 32 bits."""
        lifting = self.lifting
        if self.vector or self.count == 1:
            return found
        whole = found
        if self.count == 4:
            whole = [lifting.temporary("b64"), lifting.temporary("b64")]
            lifting.do("mov.b128", Vector(tuple(whole)), found[0])
        parts: list[Register] = []
        for each in whole:
            low, high = lifting.temporary("b32"), lifting.temporary("b32")
            lifting.do("mov.b64", Vector((low, high)), each)
            parts += [low, high]
        return parts


def _number(lifting: Lifting, source: Operand, count: int) -> PtxOperand:
    """A number of so many registers."""
    if count == 1:
        return lifting.copy(lifting.bits(source))
    if count == 2:
        return lifting.copy(lifting.pair(source), "b64")
    if not isinstance(source, Reg):
        raise lifting.refuse("has an operand that is not a register")
    low = lifting.pair(source)
    high = lifting.pair(source if source.is_zero else Reg(f"R{source.number + 2}"))
    return lifting.value("mov.b128", "b128", Vector((low, high)))


def _write(lifting: Lifting, to: Operand, parts: list[Register]) -> None:
    if not isinstance(to, Reg):
        raise lifting.refuse("has a destination that is not a register")
    lifting.write_registers(to, parts)


def on_global(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ATOM, ATOMG: a predicate, what was there, where, and one number or two.

    Some operations are done on global memory alone; with a predicate, which tells whether they were done.
    """
    operands = list(instruction.operands)
    if instruction.has("CAST"):
        _store_if_same(lifting, instruction)
        return
    if instruction.has("ARRIVE"):
        lifting.only("ARRIVE", "64", *_HOW)
        if operands[0] != Reg("PT") or instruction.opcode != "ATOM" or len(operands) != 3:
            raise lifting.refuse()
        _arrive(lifting, "", operands[1], lifting.address(operands[2]))
        return
    form = _Form(lifting, instruction, "global" if instruction.opcode == "ATOMG" else "")
    given = operands[3:]
    if len(given) != (2 if form.swaps else 1):
        raise lifting.refuse()
    address = lifting.address(operands[2])
    if operands[0] == Reg("PT"):
        _access(lifting, form, operands[1], address, given)
        return
    if instruction.opcode != "ATOM":
        raise lifting.refuse()
    done = in_space(lifting, "global", address)
    _access(lifting, form, operands[1], address, given, done)
    lifting.write_predicate(operands[0], done)


def on_shared(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ATOMS."""
    if instruction.has("ARRIVE"):
        lifting.only("ARRIVE", "64")
        to, place = instruction.operands
        _arrive(lifting, "shared", to, lifting.short_address(place))
        return
    if instruction.has("CAST"):
        _store_if_same(lifting, instruction)
        return
    to, place, *given = instruction.operands
    if instruction.has("POPC"):
        _count(lifting, instruction)
        return
    form = _Form(lifting, instruction, "shared")
    if len(given) != (2 if form.swaps else 1):
        raise lifting.refuse()
    _access(lifting, form, to, lifting.short_address(place), given)


def in_space(lifting: Lifting, space: str, address: Address) -> Register:
    """Whether an address is one of a space."""
    at: PtxOperand = address.base
    if address.offset:
        at = lifting.value("add.s64", "b64", at, Immediate(address.offset))
    return lifting.value(f"isspacep.{space}", "pred", at)


def ask_space(lifting: Lifting, instruction: MachineInstruction) -> None:
    """QSPC: whether an address is one of global (G), shared (S, of a cluster D) or local memory (L)."""
    spaces = {"G": "global", "S": "shared", "D": "shared::cluster", "L": "local"}
    lifting.only("E", *spaces)
    to, nothing, place = instruction.operands
    space = next((spaces[m] for m in instruction.modifiers if m in spaces), None)
    if space is None or nothing != Reg("RZ"):
        raise lifting.refuse()
    lifting.write_predicate(to, in_space(lifting, space, lifting.address(place)))


def _access(
    lifting: Lifting,
    form: _Form,
    to: Operand,
    address: Address,
    given: list[Operand],
    when: Register | None = None,
) -> None:
    numbers = [form.operand(source) for source in given]
    result, found = form.result()
    lifting.access(f"atom{form.name}", result, address, *numbers, when=when)
    _write(lifting, to, form.halves(found))


def _arrive(lifting: Lifting, space: str, to: Operand, address: Address) -> None:
    """At an mbarrier of sm_80: what was there, of 64 bits."""
    found = lifting.temporary("b64")
    lifting.access(f"atom{space and '.' + space}.arrive.b64", found, address)
    low, high = lifting.temporary("b32"), lifting.temporary("b32")
    lifting.do("mov.b64", Vector((low, high)), found)
    _write(lifting, to, [low, high])


def _store_if_same(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ATOMS.CAST.SPIN, ATOM: stores a number where another stands; 1, or a predicate, tells that it has."""
    lifting.only("CAST", "SPIN", "64", *_HOW)
    first, *operands = instruction.operands
    shared = instruction.opcode == "ATOMS"
    if not shared and first != Reg("PT"):
        raise lifting.refuse()
    to, place, expected, new = [first, *operands] if shared else operands
    count = 2 if instruction.has("64") else 1
    bits = f"b{32 * count}"
    there, given = _number(lifting, expected, count), _number(lifting, new, count)
    found = lifting.temporary(bits)
    address = lifting.short_address(place) if shared else lifting.address(place)
    lifting.access(f"atom{'.shared' if shared else ''}.cas.{bits}", found, address, there, given)
    done = lifting.value(f"setp.eq.{bits}", "pred", found, there)
    if isinstance(to, Reg) and to.is_predicate:
        lifting.write_predicate(to, done)
    elif count == 2:
        lifting.write_pair(to, lifting.value("selp.b64", "b64", Immediate(1), Immediate(0), done))
    else:
        lifting.write(to, lifting.value("selp.b32", "b32", Immediate(1), Immediate(0), done))


def _count(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ATOMS.POPC.INC: each lane adds 1, and the old value is not returned."""
    lifting.only("POPC", "INC", "32")
    to, place = instruction.operands
    if not isinstance(to, Reg) or not to.is_zero:
        raise lifting.refuse("gives what was there, which is not supported")
    lifting.access("red.shared.add.u32", lifting.short_address(place), Immediate(1))


def reduce(lifting: Lifting, instruction: MachineInstruction) -> None:
    """RED, REDG: the old value is not returned."""
    form = _Form(lifting, instruction, "global" if instruction.opcode == "REDG" else "")
    place, source = instruction.operands
    lifting.access(f"red{form.name}", lifting.address(place), form.operand(source))


HANDLERS = {
    **dict.fromkeys(("ATOM", "ATOMG"), on_global),
    "ATOMS": on_shared,
    "QSPC": ask_space,
    **dict.fromkeys(("RED", "REDG"), reduce),
}
