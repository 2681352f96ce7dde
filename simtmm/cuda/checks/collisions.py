"""Accesses that no barrier separates: all threads write one place by the same store, or read a place and write it anew.

It is seen from the PTX: a store by which all threads write is one instruction, and what reads and writes one place, as
`bins[x] += 1` does, has one address in both.
"""

from collections.abc import Sequence
from functools import cached_property

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.flow.basic_blocks import Block, control_flow
from simtmm.cuda.ptx.flow.loops import loops
from simtmm.cuda.ptx.flow.registers import guards, read, written
from simtmm.cuda.ptx.syntax import Address, Function, Instruction, Register
from simtmm.cuda.ptx.types import bits_of, is_type

CAS = "a loop of atomicCAS() (atomicMax() or atomicMin() for the greatest or the least)"
_ATOMICS = {"add": "atomicAdd()", "sub": "atomicSub()", "and": "atomicAnd()", "or": "atomicOr()", "xor": "atomicXor()",
            "min": "atomicMin()", "max": "atomicMax()", "fma": "atomicAdd()", "mad": "atomicAdd()"}  # fmt: skip
_MOST = 64  # instructions that a stored value is followed back through


class Collisions:
    """Those of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._functions: dict[str, _Accesses] = {}

    def update(self, earlier: int, later: int) -> str:
        """The atomic that does what two accesses do at once, as "atomicAdd()"; empty where they are no such pair.

        earlier, later: numbers of instructions (Program.accesses).
        """
        for one, other in ((earlier, later), (later, earlier)):
            (name, first), (of, second) = self._program.accesses[one], self._program.accesses[other]
            if name != of or first.opcode != "st":
                continue
            found = self._of(name)
            load = found.load_of(first)
            if load is None or _address(first) != _address(second):
                continue
            if second is first or second is load or (second.opcode == load.opcode and second.location == load.location):
                return found.atomic(first, load)
        return ""

    def is_one_store(self, earlier: int, later: int) -> bool:
        """Whether both are the same store: one instruction, or copies of it with one address, as of unrolled loops."""
        (name, first), (of, second) = self._program.accesses[earlier], self._program.accesses[later]
        if first.opcode not in ("st", "cp") or second.opcode != first.opcode:
            return False
        is_copy = name == of and first.location == second.location and _address(first) == _address(second)
        return first is second or is_copy

    def is_repeated(self, earlier: int, later: int) -> bool:
        """Whether a thread may come to either again: in a loop, unrolled or not, or in a function that is called."""
        (name, first), (of, second) = self._program.accesses[earlier], self._program.accesses[later]
        is_copy = first.opcode == second.opcode and first is not second
        return is_copy or self._of(name).is_repeated(first) or self._of(of).is_repeated(second)

    def _of(self, name: str) -> "_Accesses":
        if name not in self._functions:
            code = next(code for code in self._program.codes if code.function.name == name)
            self._functions[name] = _Accesses(code.function)
        return self._functions[name]


class _Accesses:
    """Those of a function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._body = [item for item in function.body or () if isinstance(item, Instruction)]

    @cached_property
    def _blocks(self) -> Sequence[Block]:
        return control_flow(self._function).blocks

    @cached_property
    def _looping(self) -> set[int]:
        inside = {number for loop in loops(self._blocks) for number in loop.members}
        return {id(each) for number in inside for each in self._blocks[number].instructions}

    @cached_property
    def _writers(self) -> dict[str, list[Instruction]]:
        found: dict[str, list[Instruction]] = {}
        for instruction in self._body:
            for name in written(instruction):
                found.setdefault(name, []).append(instruction)
        return found

    def is_repeated(self, instruction: Instruction) -> bool:
        return not self._function.entry or id(instruction) in self._looping

    def load_of(self, store: Instruction) -> Instruction | None:
        """The load of the same address that a store's value is made from; else one that decides whether it stores."""
        before = self._before(store)
        alike = [each for each in before if each.opcode in ("ld", "ldu") and _address(each) == _address(store)]
        value = store.operands[-1]
        made_from = self._made_from([value.name] if isinstance(value, Register) else [])
        for load in alike:
            if any(load is each for each in made_from):
                return load
        # The nearest branch behind it: what an earlier one leaves for good, as a break does, is not written anew.
        deciding, has_branch = guards(store), False
        for each in before:
            if any(each is load for load in alike) and any(each is other for other in self._made_from(deciding)):
                return each
            if each.opcode == "bra" and not has_branch:
                deciding, has_branch = (*deciding, *guards(each)), True
        return None

    def _before(self, instruction: Instruction) -> list[Instruction]:
        """What a thread may have come by before it came to an instruction, in the same round of loops; latest first."""
        home = next((b for b in self._blocks if any(each is instruction for each in b.instructions)), None)
        if home is None:
            return []
        at = next(number for number, each in enumerate(home.instructions) if each is instruction)
        found, leading = [*reversed(home.instructions[:at])], {home.number}
        for block in reversed(self._blocks[: home.number]):  # forward edges lead to blocks of higher numbers
            if leading & set(block.targets):
                leading.add(block.number)
                found += reversed(block.instructions)
        return found

    def atomic(self, store: Instruction, load: Instruction) -> str:
        """What does a load and a store of one address at once."""
        if any(bits_of(kind) < 32 for kind in store.modifiers if is_type(kind)):
            return "a loop of atomicCAS() on the word that has it"
        value = store.operands[-1]
        makers = self._writers.get(value.name, []) if isinstance(value, Register) else []
        opcode = makers[0].opcode if len(makers) == 1 else ""
        for _ in range(_MOST):  # (x + a) + b is a sum, too
            if len(makers) != 1 or makers[0].opcode != opcode:
                break
            sources = read(makers[0])
            if set(sources) & set(written(load)):
                return _ATOMICS.get(opcode, CAS)
            makers = [each for name in sources for each in self._writers.get(name, ()) if each.opcode == opcode]
        return CAS

    def _made_from(self, names: Sequence[str]) -> list[Instruction]:
        """What writes these registers, and what those read, and so on."""
        pending = list(names)
        found: list[Instruction] = []
        while pending and len(found) < _MOST:
            for maker in self._writers.get(pending.pop(), ()):
                if not any(maker is each for each in found):
                    found.append(maker)
                    pending += read(maker)
        return found


def _address(instruction: Instruction) -> Address | None:
    return next((operand for operand in instruction.operands if isinstance(operand, Address)), None)
