"""Elements of arrays that a register has the index of: instructions in front of the one that names it."""

from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand, Register, Symbol
from simtmm.cuda.ptx.types import bits_of
from simtmm.errors import PtxError


class Elements:
    """Writes the instructions that compute addresses of elements.

    before: those of the instruction that is read.
    """

    def __init__(self, registers: dict[str, str]) -> None:
        """registers: those of the function, which get more."""
        self.before: list[Instruction] = []
        self._registers = registers

    def address(self, array: Symbol, index: Register, size: int, offset: int) -> Register:
        """The register that has the address of an element of so many bytes, and an offset in bytes.

        An index of 32 bits stays one until the array's address is added, without a sign, as assemblers have it.
        """
        width = bits_of(self._registers[index.name])
        if width not in (16, 32, 64):
            raise PtxError(f"{index.name}: an index must have 16, 32 or 64 bits")
        kind = f"u{max(32, width)}"
        scaled, place = self._temporary(kind), self._temporary("b64")
        self._add("cvt", (kind, f"u{width}"), scaled, index)
        self._add("mad", ("lo", kind), scaled, scaled, Immediate(size), Immediate(offset))
        self._add("mov", ("u64",), place, array)
        wide = scaled
        if kind == "u32":
            wide = self._temporary("b64")
            self._add("cvt", ("u64", "u32"), wide, scaled)
        self._add("add", ("u64",), place, place, wide)
        return place

    def _temporary(self, kind: str) -> Register:
        name = f"index@{len(self._registers)}"
        self._registers[name] = kind
        return Register(name)

    def _add(self, opcode: str, modifiers: tuple[str, ...], *operands: Operand) -> None:
        self.before.append(Instruction(opcode, modifiers, operands, None, 0, None, ""))
