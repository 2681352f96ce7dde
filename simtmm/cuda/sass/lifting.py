"""Machine code as PTX, instruction by instruction: what families of instructions are written with.

A register of the machine is a register of 32 bits by its own name, a predicate one of type pred. Pairs are put together
where they are used. What an instruction does to its operands first (-, | |, ~) is done here, and so are constant banks:
what they hold is known, or asked of the launch.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from simtmm.cuda.ptx.syntax import (
    Address,
    Immediate,
    Instruction,
    Issue,
    Label,
    Location,
    Negated,
    Register,
    Symbol,
    Vector,
)
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.launch_constants import LaunchConstants
from simtmm.cuda.sass.syntax import (
    Constant,
    Listing,
    MachineInstruction,
    MachineLabel,
    Memory,
    Number,
    Operand,
    Reg,
    Target,
)
from simtmm.errors import SassError

SIGN, REST = 0x80000000, 0x7FFFFFFF
PARAMETERS = "parameters"  # all of the kernel's, one behind the other
NEXT = 16  # bytes of an instruction
PART = Issue()  # of what carries out a part of an instruction


@dataclass(frozen=True)
class Banks:
    """What constant banks hold.

    launch: of bank 0. user: names of __constant__ variables with their offsets and sizes in bank 3, by offset.
    compiler: bytes of the banks that the compiler fills, by number. addresses: of bank 4, names and what is added.
    """

    launch: LaunchConstants
    user: tuple[tuple[int, int, str], ...]
    compiler: Mapping[int, bytes]
    addresses: Mapping[int, tuple[str, int]]


class Lifting:
    """PTX that is being written for machine code.

    instruction: what is lifted now. body: the PTX so far. registers: the type of each.
    """

    def __init__(self, banks: Banks, listing: Listing, locations: Mapping[int, Location | None]) -> None:
        """locations: of lines of PTX."""
        self.banks = banks
        self.body: list[Instruction | Label] = []
        self.registers: dict[str, str] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.instruction: MachineInstruction | None = None
        self._labels = {item.name: item.address for item in listing.items if isinstance(item, MachineLabel)}
        self.places_behind_calls = tuple(
            dict.fromkeys(each.address + NEXT for each in listing.instructions if each.opcode == "CALL")
        )
        self._locations = locations
        self._listing = listing
        self._issue: Issue | None = None

    # ---- Writing -----------------------------------------------------------------------------------------------------

    def begin(self, instruction: MachineInstruction, issue: Issue) -> None:
        """What follows carries out this instruction; the first that is written, or its access, is what is issued."""
        self.instruction, self._issue = instruction, issue

    def end(self) -> None:
        """The instruction has been carried out, even if that takes nothing."""
        if self._issue is not None:
            self._append("", (), (), None, self._issue)
            self._issue = None

    def _append(
        self,
        opcode: str,
        modifiers: tuple[str, ...],
        operands: tuple[PtxOperand, ...],
        guard: bool | None,
        issue: Issue,
    ) -> None:
        self.body.append(self._made(opcode, modifiers, operands, self._guard() if guard else None, issue))

    def _made(
        self,
        opcode: str,
        modifiers: tuple[str, ...],
        operands: tuple[PtxOperand, ...],
        guard: Register | Negated | None,
        issue: Issue,
    ) -> Instruction:
        machine = self.instruction
        assert machine is not None
        location = self._locations.get(machine.ptx_line)
        return Instruction(opcode, modifiers, operands, guard, machine.ptx_line, location, machine.text, issue)

    def _guard(self) -> Register | Negated | None:
        assert self.instruction is not None
        guard = self.instruction.guard
        if guard is None or (guard.is_zero and not guard.inverted):
            return None
        register = self.predicate_register(Reg(guard.name))
        return Negated(register) if guard.inverted else register

    def do(self, name: str, *operands: PtxOperand, guard: bool = False) -> None:
        """An instruction of PTX, "add.s32". guard: whether only lanes of the machine instruction's guard do it."""
        opcode, *modifiers = name.split(".")
        self._append(opcode, tuple(modifiers), operands, guard, PART)

    def access(self, name: str, *operands: PtxOperand, when: Register | None = None) -> None:
        """Likewise the access of the machine's instruction, under its guard: what is issued.

        when: a condition of its own.
        """
        assert self._issue is not None
        opcode, *modifiers = name.split(".")
        self.body.append(self._made(opcode, tuple(modifiers), operands, self._guarded(when), self._issue))
        self._issue = None

    def _guarded(self, when: PtxOperand | None) -> Register | Negated | None:
        """The instruction's guard and a condition of its own, as one."""
        guard = self._guard()
        if when is None:
            return guard
        if guard is not None:
            assert self.instruction is not None
            assert self.instruction.guard is not None
            when = self.value("and.pred", "pred", when, self.predicate(self.instruction.guard))
        return self._condition(when)

    def _condition(self, when: PtxOperand | None) -> Register | None:
        """A condition as a guard."""
        return when if when is None or isinstance(when, Register) else self.value("mov.pred", "pred", when)

    def wait(self, name: str, mask: PtxOperand) -> None:
        """Lanes wait for those of a mask; those that the guard leaves out go by."""
        guard = self._guard()
        if guard is None:
            self.do(name, mask)
            return
        past = f"past{len(self.body)}"
        others = guard.register if isinstance(guard, Negated) else Negated(guard)
        self.body.append(self._made("bra", (), (Symbol(past),), others, PART))
        self.do(name, mask)
        self.body.append(Label(past))

    def value(self, name: str, kind: str, *operands: PtxOperand) -> Register:
        """What an instruction of PTX gives, in a register of its own of that type."""
        found = self.temporary(kind)
        self.do(name, found, *operands)
        return found

    def temporary(self, kind: str) -> Register:
        """A register of its own."""
        name = f"t{len(self.registers)}"
        self.registers[name] = kind
        return Register(name)

    def begin_place(self, address: int) -> None:
        """What follows may be jumped to."""
        self.body.append(Label(place_name(address)))

    def jump(self, opcode: str, taken: PtxOperand | None, *operands: PtxOperand, guarded: bool = True) -> None:
        """The instruction's own end of a block ("bra", "exit"), under its guard and a condition of its own."""
        assert self.instruction is not None
        assert self._issue is not None
        guard = self._guarded(taken) if guarded else self._condition(taken)
        named = tuple(
            Symbol(place_name(self.address_of_label(o.name))) if isinstance(o, Symbol) and opcode == "bra" else o
            for o in operands
        )
        self.body.append(self._made(opcode, (), named, guard, self._issue))
        self._issue = None

    def jump_by_value(self, value: PtxOperand, addresses: tuple[int, ...]) -> None:
        """A jump to the one of these addresses that a value is; others end the launch."""
        if not addresses:
            raise self.refuse("jumps, and nothing calls it")
        index: PtxOperand = Immediate(len(addresses))
        for number, address in enumerate(addresses):
            here = self.value("setp.eq.b32", "pred", value, Immediate(address))
            index = self.value("selp.b32", "b32", Immediate(number), index, here)
        table = f"targets{len(self.tables)}"
        lost = f"lost{len(self.tables)}"
        self.tables[table] = (*map(place_name, addresses), lost)
        self.jump("brx", None, index, Symbol(table))
        behind = f"behind{len(self.tables)}"
        self.body.append(self._made("bra", (), (Symbol(behind),), None, PART))
        self.body.append(Label(lost))
        self.body.append(self._made("trap", (), (), None, PART))
        self.body.append(Label(behind))

    def address_of_label(self, name: str) -> int:
        """Where a label stands. Raises SassError."""
        if self._labels.get(name, -1) < 0:
            raise self.refuse(f"jumps to {name}, which is not here")
        return self._labels[name]

    def spins(self, place: Operand) -> bool:
        """Whether the instruction reads the same place in each round of a loop: it waits for what others write there."""
        assert self.instruction is not None
        if not isinstance(place, Memory):
            return False
        here = self.instruction.address
        loops = [
            (self._labels.get(each.operands[-1].name, here + 1), each.address)
            for each in self._listing.instructions
            if each.address >= here and each.opcode == "BRA" and isinstance(each.operands[-1], Target)
        ]
        around = [(end - begin, begin, end) for begin, end in loops if 0 <= begin <= here]
        if not around:
            return False
        _, begin, end = min(around)
        changed = {
            f"{operand.name.rstrip('0123456789')}{operand.number + more}"
            for each in self._listing.instructions
            if begin <= each.address <= end
            for operand in each.operands[:2]
            if isinstance(operand, Reg)
            for more in range(4)
        }
        return not any(register.name in changed for register in place.registers if not register.is_zero)

    def reduce_at_barrier(self, number: PtxOperand, count: list[PtxOperand], predicate: Register | None) -> None:
        """BAR.RED: what it finds stands in a register of its own until B2R.RESULT asks for it."""
        assert self.instruction is not None
        if predicate is None:
            raise self.refuse()
        kind = next((m for m in ("POPC", "AND", "OR") if self.instruction.has(m)), None)
        if kind is None:
            raise self.refuse()
        to = self.register("barrier.count") if kind == "POPC" else self.predicate_register(Reg("P.barrier"))
        name = f"bar.red.{kind.lower()}.{'u32' if kind == 'POPC' else 'pred'}"
        self.access(name, to, number, *count, predicate)

    def refuse(self, why: str = "is not known") -> SassError:
        """That the instruction can't be lifted."""
        assert self.instruction is not None
        return SassError(f"`{self.instruction.text}` {why}")

    def only(self, *known: str) -> None:
        """Raises SassError if the instruction has a modifier beside these."""
        assert self.instruction is not None
        for modifier in self.instruction.modifiers:
            if modifier not in known:
                raise self.refuse(f"with .{modifier} is not known")

    # ---- Operands ----------------------------------------------------------------------------------------------------

    def register(self, name: str) -> Register:
        """A register of 32 bits by its name."""
        self.registers.setdefault(name, "b32")
        return Register(name)

    def predicate_register(self, source: Reg) -> Register:
        """A predicate by its name; PT and UPT hold true."""
        if source.is_zero:
            return self.value("mov.pred", "pred", Immediate(1))
        self.registers.setdefault(source.name, "pred")
        return Register(source.name)

    def operand(self, place: int) -> Operand:
        """An operand of the instruction, from 0; below 0 from the end. Raises SassError where there is none."""
        assert self.instruction is not None
        operands = self.instruction.operands
        if not -len(operands) <= place < len(operands):
            raise self.refuse("has fewer operands than are known")
        return operands[place]

    def bits(self, source: Operand) -> PtxOperand:
        """The 32 bits of an operand, without its signs."""
        match source:
            case Reg() if source.is_predicate:
                raise self.refuse("has a predicate where a number is expected")
            case Reg():
                return Immediate(0) if source.is_zero else self.register(source.name)
            case Number(number):
                return Immediate(number & 0xFFFFFFFF if isinstance(number, int) else _real_bits(source, 32))
            case Constant():
                return self._constant(source, 0)
            case _:
                raise self.refuse("has an operand that is not known here")

    def whole(self, source: Operand) -> PtxOperand:
        """A whole number of 32 bits, with - and ~ done."""
        found = self.bits(source)
        if isinstance(source, (Reg, Constant)):
            if source.absolute:
                found = self.value("abs.s32", "b32", found)
            if source.inverted:
                found = self.value("not.b32", "b32", found)
            if source.negative:
                found = self.value("neg.s32", "b32", found)
        return found

    def wide(self, source: Operand) -> PtxOperand:
        """A whole number of 64 bits from a pair, with - and ~ done; numbers keep their sign."""
        match source:
            case Number(number):
                found: PtxOperand = Immediate(int(number) & (1 << 64) - 1)
            case _:
                found = self.pair(source)
        if isinstance(source, (Reg, Constant)):
            if source.inverted:
                found = self.value("not.b64", "b64", found)
            if source.negative:
                found = self.value("neg.s64", "b64", found)
        return found

    def pair(self, source: Operand) -> PtxOperand:
        """The 64 bits of a pair, without signs."""
        match source:
            case Reg():
                if source.is_zero:
                    return Immediate(0)
                return self.value("mov.b64", "b64", Vector((self.register(source.name), self.next_register(source, 1))))
            case Constant():
                return self.value("mov.b64", "b64", Vector((self._constant(source, 0), self._constant(source, 4))))
            case Number(number):  # of a real number of 64 bits the upper half is written
                return Immediate(number & 0xFFFFFFFF if isinstance(number, int) else _real_bits(source, 64))
            case _:
                raise self.refuse("has an operand that is not known here")

    def next_register(self, source: Reg, by: int) -> Register | Immediate:
        """The register so many further on."""
        if source.is_zero:
            return Immediate(0)
        prefix = source.name.rstrip("0123456789")
        return self.register(f"{prefix}{source.number + by}")

    def registers_of(self, source: Operand, count: int) -> list[PtxOperand]:
        """So many registers, one behind the other."""
        if not isinstance(source, Reg):
            raise self.refuse("has an operand that is no register")
        return [self.next_register(source, by) for by in range(count)]

    def real(self, source: Operand) -> PtxOperand:
        """A real number of 32 bits, with - and | | done."""
        if isinstance(source, Number):
            return Immediate(_real_bits(source, 32), 32)
        return self._signed(self.bits(source), source)

    def double(self, source: Operand) -> PtxOperand:
        """A real number of 64 bits, likewise."""
        if isinstance(source, Number):
            return Immediate(_real_bits(source, 64), 64)
        return self.double_signs(self.pair(source), source)

    def double_signs(self, found: PtxOperand, source: Operand) -> PtxOperand:
        """- and | | done to 64 bits."""
        if isinstance(source, (Reg, Constant)):
            if source.absolute:
                found = self.value("and.b64", "b64", found, Immediate((1 << 63) - 1))
            if source.negative:
                found = self.value("xor.b64", "b64", found, Immediate(1 << 63))
        return found

    def _signed(self, found: PtxOperand, source: Operand, sign: int = SIGN) -> PtxOperand:
        """With the sign done to bits, as the machine does it, whatever they are."""
        if isinstance(source, (Reg, Constant)):
            if source.absolute:
                found = self.value("and.b32", "b32", found, Immediate(~sign & 0xFFFFFFFF))
            if source.negative:
                found = self.value("xor.b32", "b32", found, Immediate(sign))
        return found

    def packed(self, source: Operand) -> PtxOperand:
        """Two numbers of 16 bits, with parts such as H0_H0 taken, and with - and | | done to both."""
        found = self.bits(source)
        if isinstance(source, (Reg, Constant)):
            match source.part:
                case "H0_H0":
                    found = self.value("prmt.b32", "b32", found, Immediate(0), Immediate(0x1010))
                case "H1_H1":
                    found = self.value("prmt.b32", "b32", found, Immediate(0), Immediate(0x3232))
                case "H1_H0" | "":
                    pass
                case _:
                    raise self.refuse(f"takes {source.part} of an operand, which is not known")
        return self._signed(found, source, 0x80008000)

    def predicate(self, source: Operand) -> Register:
        """A condition, with ! done."""
        if not isinstance(source, Reg) or not source.is_predicate:
            raise self.refuse("has an operand that is no predicate")
        register = self.predicate_register(source)
        return self.value("not.pred", "pred", register) if source.inverted else register

    def _constant(self, source: Constant, behind: int) -> PtxOperand:
        offset = source.offset + behind
        if source.bank == 3:
            return self.load_constant(source, behind)
        if source.register is not None:
            raise self.refuse("reads a constant bank by a register, which is not known here")
        if source.bank == 0:
            return self.banks.launch.read(self, offset)
        if source.bank == 4 and offset & ~7 in self.banks.addresses:
            name, added = self.banks.addresses[offset & ~7]
            address = self.value("mov.b64", "b64", Symbol(name, added))
            low, high = self.temporary("b32"), self.temporary("b32")
            self.do("mov.b64", Vector((low, high)), address)
            return high if offset & 4 else low
        content = self.banks.compiler.get(source.bank, b"")
        if source.bank not in self.banks.compiler or offset + 4 > len(content):
            raise self.refuse(f"reads c[{source.bank:#x}][{offset:#x}], which is not known")
        return Immediate(struct.unpack_from("<I", content, offset)[0])

    def load_constant(self, source: Constant, behind: int = 0, kind: str = "b32") -> Register:
        """What a place in bank 3 holds, of __constant__ variables."""
        address = self.constant_address(source, behind)
        found = self.temporary(kind)
        self.do(f"ld.const.{kind}", found, Address(address))
        return found

    def constant_address(self, source: Constant, behind: int = 0) -> Register:
        """The address of a place in bank 3: that of the variable which lies there."""
        user = self.banks.user
        offset = source.offset + behind
        if not user:
            raise self.refuse("reads __constant__ variables, and there are none")
        if source.register is None:
            start, _, name = max((v for v in user if v[0] <= offset), default=user[0])
            return self.value("mov.b64", "b64", Symbol(name, offset - start))
        index = self.value("add.s32", "b32", self.bits(source.register), Immediate(offset & 0xFFFFFFFF))
        start, _, name = user[0]
        found = self._behind(name, index, start)
        for start, _, name in user[1:]:
            later = self.value("setp.ge.s32", "pred", index, Immediate(start))
            found = self.value("selp.b64", "b64", self._behind(name, index, start), found, later)
        return found

    def _behind(self, name: str, index: Register, start: int) -> Register:
        inside = self.value("sub.s32", "b32", index, Immediate(start))
        far = self.value("cvt.s64.s32", "b64", inside)
        return self.value("add.s64", "b64", self.value("mov.b64", "b64", Symbol(name)), far)

    # ---- Results -----------------------------------------------------------------------------------------------------

    def write(self, to: Operand, found: PtxOperand) -> None:
        """Give a register 32 bits, under the instruction's guard."""
        if not isinstance(to, Reg):
            raise self.refuse("has a destination that is no register")
        if not to.is_zero:
            self.do("mov.b32", self.register(to.name), found, guard=True)

    def write_pair(self, to: Operand, found: PtxOperand) -> None:
        """Give a pair of registers 64 bits."""
        if not isinstance(to, Reg):
            raise self.refuse("has a destination that is no register")
        if not to.is_zero:
            first, second = self.register(to.name), self.next_register(to, 1)
            self.do("mov.b64", Vector((first, second)), found, guard=True)

    def write_predicate(self, to: Operand, found: PtxOperand) -> None:
        """Give a predicate a condition."""
        if not isinstance(to, Reg) or not to.is_predicate:
            raise self.refuse("has a destination that is no predicate")
        if not to.is_zero:
            self.do("mov.pred", self.predicate_register(to), found, guard=True)

    def copy(self, found: PtxOperand, kind: str = "b32") -> Register:
        """A value that stays, whatever becomes of the registers that it was read from."""
        return self.value(f"mov.{kind}", kind, found)

    # ---- Memory ------------------------------------------------------------------------------------------------------

    def address(self, place: Operand) -> Address:
        """A place in memory, of 64 bits where the instruction says so (.E), else of 32."""
        assert self.instruction is not None
        if not isinstance(place, Memory):
            raise self.refuse("has an operand that is no place in memory")
        if not self.instruction.has("E"):
            return self.short_address(place)
        total: PtxOperand | None = None
        for register in place.registers:
            if register.negative:
                raise self.refuse("has an address that is not known")
            if register.is_zero:
                continue
            if register.part == "U32":
                part: PtxOperand = self.value("cvt.u64.u32", "b64", self.register(register.name))
            elif register.part in ("64", ""):
                part = self.pair(Reg(register.name))
            elif register.part == "S32":
                part = self.value("cvt.s64.s32", "b64", self.register(register.name))
            else:
                raise self.refuse("has an address that is not known")
            total = part if total is None else self.value("add.s64", "b64", total, part)
        if total is None:
            return Address(Immediate(place.offset))
        assert isinstance(total, Register)
        return Address(total, place.offset)

    def short_address(self, place: Operand) -> Address:
        """A place in shared or local memory, of 32 bits."""
        if not isinstance(place, Memory):
            raise self.refuse("has an operand that is no place in memory")
        total: PtxOperand = Immediate(place.offset & 0xFFFFFFFF)
        for register in place.registers:
            if register.negative:
                raise self.refuse("has an address that is not known")
            if register.is_zero:
                continue
            part: PtxOperand = self.register(register.name)
            if register.part.startswith("X"):
                part = self.value("shl.b32", "b32", part, Immediate(int(register.part[1:]).bit_length() - 1))
            elif register.part not in ("", "U32"):
                raise self.refuse("has an address that is not known")
            total = self.value("add.s32", "b32", part, total)
        return Address(total if isinstance(total, Register) else self.copy(total))


def place_name(address: int) -> str:
    """The label of an address."""
    return f"L{address:x}"


def _real_bits(source: Number, width: int) -> int:
    """The bits of a real number."""
    number = float(source.value)
    if source.bits is not None:
        return source.bits << width - 32
    if width == 32:
        try:
            return int.from_bytes(struct.pack("<f", number), "little")
        except OverflowError:
            return 0x7F800000 if number > 0 else 0xFF800000
    return int.from_bytes(struct.pack("<d", number), "little")
