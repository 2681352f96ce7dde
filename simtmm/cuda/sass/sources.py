"""What an instruction of the machine is given: registers, numbers and constants, with what is done to them first.

Pairs of registers are put together where they are used. Signs (-, | |, ~) are done here. What constant banks hold is
known, or taken from the launch.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from simtmm.cuda.execution.runtime.built_in import BUILT_IN
from simtmm.cuda.ptx.syntax import Address, Immediate, Location, Register, Symbol, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.launch_constants import LaunchConstants
from simtmm.cuda.sass.syntax import Constant, Listing, Number, Operand, Reg
from simtmm.cuda.sass.writing import Writing

SIGN = 0x80000000
_HALVES = re.compile(r"(?P<no_upper>N?)H(?P<upper>[01])_(?P<no_lower>N?)H(?P<lower>[01])")
DRIVERS_FUNCTION = 0x7B << 40  # where nothing else lies: the address of the first of the driver's functions


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


class Sources(Writing):
    """The operands of the instruction that is lifted now."""

    def __init__(
        self, banks: Banks, listing: Listing, locations: Mapping[int, Location | None], in_clusters: bool = False
    ) -> None:
        """locations: of lines of PTX. in_clusters: whether its blocks know of their cluster."""
        super().__init__(listing, locations, in_clusters)
        self.banks = banks

    def operand(self, place: int) -> Operand:
        """An operand of the instruction, from 0; below 0 from the end. Raises SassError where there is none."""
        assert self.instruction is not None
        operands = self.instruction.operands
        if not -len(operands) <= place < len(operands):
            raise self.refuse("has too few operands")
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
                raise self.refuse("has an operand that is not supported")

    def whole_number(self, source: Operand) -> int:
        """A number that is written in the instruction. Raises SassError for a real one, and for what is none."""
        if not isinstance(source, Number) or not isinstance(source.value, int):
            raise self.refuse("needs a whole number")
        return source.value

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
            case Number():
                found: PtxOperand = Immediate(self.whole_number(source) & (1 << 64) - 1)
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
                raise self.refuse("has an operand that is not supported")

    def next_register(self, source: Reg, by: int) -> Register | Immediate:
        """The register so many further on."""
        if source.is_zero:
            return Immediate(0)
        prefix = source.name.rstrip("0123456789")
        return self.register(f"{prefix}{source.number + by}")

    def registers_of(self, source: Operand, count: int) -> list[PtxOperand]:
        """So many registers, one behind the other."""
        if not isinstance(source, Reg):
            raise self.refuse("has an operand that is not a register")
        return [self.next_register(source, by) for by in range(count)]

    def real(self, source: Operand) -> PtxOperand:
        """A real number of 32 bits, with - and | | done."""
        if isinstance(source, Number):
            return Immediate(_real_bits(source, 32), 32)
        return self.real_signs(self.bits(source), source)

    def double(self, source: Operand) -> PtxOperand:
        """A real number of 64 bits, likewise."""
        if isinstance(source, Number):
            return Immediate(_real_bits(source, 64), 64)
        return self.double_signs(self.pair(source), source)

    def upper_half(self, source: Number) -> PtxOperand:
        """The upper half of a real number of 64 bits, which is all of it that an instruction has room for."""
        return Immediate(_real_bits(source, 64) >> 32)

    def double_signs(self, found: PtxOperand, source: Operand) -> PtxOperand:
        """- and | | done to 64 bits."""
        if isinstance(source, (Reg, Constant)):
            if source.absolute:
                found = self.value("and.b64", "b64", found, Immediate((1 << 63) - 1))
            if source.negative:
                found = self.value("xor.b64", "b64", found, Immediate(1 << 63))
        return found

    def real_signs(self, found: PtxOperand, source: Operand, sign: int = SIGN) -> PtxOperand:
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
            found = self._halves(found, source.part)
        return self.real_signs(found, source, 0x80008000)

    def _halves(self, found: PtxOperand, part: str) -> PtxOperand:
        """The halves of a register that a part names, the upper one first; N takes the opposite of one."""
        named = _HALVES.fullmatch(part or "H1_H0")
        if named is None:
            raise self.refuse(f"takes {part} of an operand, which is not supported")
        upper, lower = named["upper"], named["lower"]
        if (upper, lower) != ("1", "0"):
            bytes_of = {"0": 0x10, "1": 0x32}
            selector = bytes_of[upper] << 8 | bytes_of[lower]
            found = self.value("prmt.b32", "b32", found, Immediate(0), Immediate(selector))
        if signs := (0x80000000 if named["no_upper"] else 0) | (0x8000 if named["no_lower"] else 0):
            found = self.value("xor.b32", "b32", found, Immediate(signs))
        return found

    def _constant(self, source: Constant, behind: int) -> PtxOperand:
        offset = source.offset + behind
        if source.bank == 3:
            return self.load_constant(source, behind)
        if source.register is not None:
            raise self.refuse("reads a constant bank by a register, which is not supported")
        if source.bank == 0:
            return self.banks.launch.read(self, offset)
        if source.bank == 4 and offset & ~7 in self.banks.addresses:
            name, added = self.banks.addresses[offset & ~7]
            if name in BUILT_IN:
                number = DRIVERS_FUNCTION + BUILT_IN[name]
                return Immediate(number >> 32 if offset & 4 else number & 0xFFFFFFFF)
            address = self.value("mov.b64", "b64", Symbol(name, added))
            low, high = self.temporary("b32"), self.temporary("b32")
            self.do("mov.b64", Vector((low, high)), address)
            return high if offset & 4 else low
        content = self.banks.compiler.get(source.bank, b"")
        if source.bank not in self.banks.compiler or offset + 4 > len(content):
            raise self.refuse(f"reads c[{source.bank:#x}][{offset:#x}], which is not supported")
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
