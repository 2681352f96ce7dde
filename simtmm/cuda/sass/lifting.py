"""Machine code as PTX, instruction by instruction: what families of instructions are written with.

A register of the machine is a register of 32 bits by its own name, a predicate one of type pred. A handler reads
operands (sources.py), computes in registers of its own (writing.py), and then gives results, or accesses memory.
"""

from collections.abc import Iterable

from simtmm.cuda.ptx.syntax import Address, Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.clusters import generic_in_cluster, offset_in_cluster, own_offset
from simtmm.cuda.sass.sources import Sources
from simtmm.cuda.sass.syntax import Memory, Operand, Reg

_GENERIC = ("LD", "ST", "ATOM", "RED", "QSPC")
_LOCAL = ("LDL", "STL")


class Lifting(Sources):
    """What handlers are given: the instruction's operands, its results, and its places in memory."""

    # ---- Results -----------------------------------------------------------------------------------------------------

    def write(self, to: Operand, found: PtxOperand) -> None:
        """Give a register 32 bits, under the instruction's guard."""
        if not isinstance(to, Reg):
            raise self.refuse("has a destination that is not a register")
        if not to.is_zero:
            self.do("mov.b32", self.register(to.name), found, guard=True)

    def write_pair(self, to: Operand, found: PtxOperand) -> None:
        """Give a pair of registers 64 bits."""
        if not isinstance(to, Reg):
            raise self.refuse("has a destination that is not a register")
        if not to.is_zero:
            first, second = self.register(to.name), self.next_register(to, 1)
            self.do("mov.b64", Vector((first, second)), found, guard=True)

    def write_registers(self, to: Reg, found: Iterable[PtxOperand]) -> None:
        """Give 32 bits each to so many registers, one behind the other."""
        for number, each in enumerate(found):
            if not to.is_zero:
                self.do("mov.b32", self.next_register(to, number), each, guard=True)

    def write_predicate(self, to: Operand, found: PtxOperand) -> None:
        """Give a predicate a condition."""
        if not isinstance(to, Reg) or not to.is_predicate:
            raise self.refuse("has a destination that is not a predicate")
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
            raise self.refuse("has an operand that is not in memory")
        if not self.instruction.has("E"):
            return self.short_address(place)
        total: PtxOperand | None = None
        for register in place.registers:
            if register.negative:
                raise self.refuse("has an address that is not supported")
            if register.is_zero:
                continue
            if register.part == "U32":
                part: PtxOperand = self.value("cvt.u64.u32", "b64", self.register(register.name))
            elif register.part in ("64", ""):
                part = self.pair(Reg(register.name))
            elif register.part == "S32":
                part = self.value("cvt.s64.s32", "b64", self.register(register.name))
            else:
                raise self.refuse("has an address that is not supported")
            total = part if total is None else self.value("add.s64", "b64", total, part)
        if total is None:
            return Address(Immediate(place.offset))
        assert isinstance(total, Register)
        if self.in_clusters and self.instruction.opcode in _GENERIC:
            whole = self.value("add.s64", "b64", total, Immediate(place.offset)) if place.offset else total
            return Address(generic_in_cluster(self, whole))
        return Address(total, place.offset)

    def short_address(self, place: Operand, in_cluster: bool = False) -> Address:
        """A place in shared or local memory, of 32 bits. in_cluster: the shared memory may be another block's."""
        if not isinstance(place, Memory):
            raise self.refuse("has an operand that is not in memory")
        total: PtxOperand = Immediate(place.offset & 0xFFFFFFFF)
        for register in place.registers:
            if register.negative:
                raise self.refuse("has an address that is not supported")
            if register.is_zero:
                continue
            part: PtxOperand = self.register(register.name)
            if register.part.startswith("X"):
                part = self.value("shl.b32", "b32", part, Immediate(int(register.part[1:]).bit_length() - 1))
            elif register.part not in ("", "U32"):
                raise self.refuse("has an address that is not supported")
            total = self.value("add.s32", "b32", part, total)
        found = total if isinstance(total, Register) else self.copy(total)
        assert self.instruction is not None
        return Address(found if self.instruction.opcode in _LOCAL else self.shared(found, in_cluster))

    def shared(self, address: PtxOperand, in_cluster: bool = False) -> Register:
        """An address in shared memory, of 32 bits, that stays. in_cluster: it may be another block's."""
        if not self.in_clusters:
            return address if isinstance(address, Register) else self.copy(address)
        return offset_in_cluster(self, address) if in_cluster else own_offset(self, address)
