"""PTX that is written for machine code: instructions, jumps, registers, and what of it all the machine issues."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from simtmm.cuda.ptx.syntax import (
    Immediate,
    Instruction,
    Issue,
    Label,
    Location,
    Negated,
    Register,
    Symbol,
    Variable,
    Vector,
)
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.clusters import relaxed_arrivals
from simtmm.cuda.sass.syntax import Listing, MachineInstruction, MachineLabel, Operand, Reg
from simtmm.cuda.sass.waiting import waiting_loads
from simtmm.errors import SassError

T = TypeVar("T")
_FUNCTION = re.compile(r"\$[^$]+\$(\S+)")  # behind the name of the kernel that calls it
NEXT = 16  # bytes of an instruction
PART = Issue()  # of what carries out a part of an instruction


class Writing:
    """PTX that is being written for machine code.

    instruction: what is lifted now. body: the PTX so far. registers: the type of each. functions: addresses of those
    that are called, by name. waiting: addresses of loads of shared memory by which threads wait for others. relaxed:
    of arrivals at a cluster's barrier that order no memory. in_clusters: whether its blocks know of their cluster.
    """

    def __init__(self, listing: Listing, locations: Mapping[int, Location | None], in_clusters: bool) -> None:
        """locations: of lines of PTX."""
        self.in_clusters = in_clusters
        self.body: list[Instruction | Label] = []
        self.registers: dict[str, str] = {}
        self.variables: dict[str, Variable] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.instruction: MachineInstruction | None = None
        self._labels = {item.name: item.address for item in listing.items if isinstance(item, MachineLabel)}
        self.places_behind_calls = tuple(
            dict.fromkeys(each.address + NEXT for each in listing.instructions if each.opcode == "CALL")
        )
        self.functions = functions_of(listing)
        self.waiting = waiting_loads(listing)
        self.store_boards = {f"SB{each.control.read}" for each in listing.instructions if each.opcode == "UTMACMDFLUSH"}
        self.relaxed = relaxed_arrivals(listing)
        self._locations = locations
        self._issue: Issue | None = None

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
        self.body.append(self._instruction_of(opcode, modifiers, operands, self._guard() if guard else None, issue))

    def _instruction_of(
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
        self._append(opcode, tuple(modifiers), tuple(map(self._without_special, operands)), guard, PART)

    def _without_special(self, operand: PtxOperand) -> PtxOperand:
        """A vector whose parts are registers of the kernel: %ntid.x, as a bank of constants has it, is copied first."""
        if not isinstance(operand, Vector):
            return operand
        return Vector(
            tuple(
                self.value("mov.b32", "b32", part) if isinstance(part, Register) and part.name[0] == "%" else part
                for part in operand.parts
            )
        )

    def access(self, name: str, *operands: PtxOperand, when: Register | None = None) -> None:
        """Likewise the access of the machine's instruction, under its guard: what is issued.

        when: a condition of its own.
        """
        assert self._issue is not None
        opcode, *modifiers = name.split(".")
        self.body.append(self._instruction_of(opcode, tuple(modifiers), operands, self._guarded(when), self._issue))
        self._issue = None

    def note(self, name: str, *operands: PtxOperand) -> None:
        """What the machine's instruction does besides its access, and a trace has: it takes no slot of its own."""
        opcode, *modifiers = name.split(".")
        self._append(opcode, tuple(modifiers), operands, True, Issue(recorded=True))

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
        self.pass_unless(guard, past)
        self.do(name, mask)
        self.label(past)

    def pass_unless(self, condition: Register | Negated, past: str) -> None:
        """Lanes for which a condition does not hold go to a label of the instruction's own."""
        others = condition.register if isinstance(condition, Negated) else Negated(condition)
        self.body.append(self._instruction_of("bra", (), (Symbol(past),), others, PART))

    def label(self, name: str) -> None:
        """A place within what an instruction does."""
        self.body.append(Label(name))

    def variable(self, variable: Variable) -> Symbol:
        """A variable of the function's own."""
        self.variables[variable.name] = variable
        return Symbol(variable.name)

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
        self.body.append(self._instruction_of(opcode, (), named, guard, self._issue))
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
        self.body.append(self._instruction_of("bra", (), (Symbol(behind),), None, PART))
        self.body.append(Label(lost))
        self.body.append(self._instruction_of("trap", (), (), None, PART))
        self.body.append(Label(behind))

    def address_of_label(self, name: str) -> int:
        """Where a label stands. Raises SassError."""
        if self._labels.get(name, -1) < 0:
            raise self.refuse(f"jumps to {name}, which is not here")
        return self._labels[name]

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

    def refuse(self, why: str = "is not supported") -> SassError:
        """That the instruction can't be lifted."""
        assert self.instruction is not None
        return SassError(f"`{self.instruction.text}` {why}")

    def exactly(self, operands: Sequence[T], *counts: int) -> list[T]:
        """The operands, if there are as many as one of these numbers. Raises SassError if not."""
        if len(operands) not in counts:
            raise self.refuse("has unsupported operands")
        return list(operands)

    def only(self, *known: str) -> None:
        """Raises SassError if the instruction has a modifier beside these."""
        assert self.instruction is not None
        for modifier in self.instruction.modifiers:
            if modifier not in known:
                raise self.refuse(f"with .{modifier} is not supported")

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

    def predicate(self, source: Operand) -> Register:
        """A condition, with ! done."""
        if not isinstance(source, Reg) or not source.is_predicate:
            raise self.refuse("has an operand that is not a predicate")
        register = self.predicate_register(source)
        return self.value("not.pred", "pred", register) if source.inverted else register


def functions_of(listing: Listing) -> dict[str, int]:
    """The addresses of the functions that a kernel calls, by name."""
    labels = (item for item in listing.items if isinstance(item, MachineLabel))
    return {found[1]: item.address for item in labels if (found := _FUNCTION.fullmatch(item.name))}


def place_name(address: int) -> str:
    """The label of an address."""
    return f"L{address:x}"
