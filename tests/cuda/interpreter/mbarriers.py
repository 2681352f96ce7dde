"""mbarrier: barriers that are eight bytes of shared memory.

What the bytes mean is nobody's business, as the ISA has it. Here: arrivals still missing and expected, 20 bits each,
bytes still to come (modulo 2^23), and the phase, the top bit.
"""

from dataclasses import dataclass

from simtmm.cuda.ptx.syntax import Address, Instruction, Operand
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread

_COUNT, _BYTES = (1 << 20) - 1, (1 << 23) - 1


@dataclass
class _State:
    missing: int
    expected: int
    pending_bytes: int = 0
    phase: int = 0

    @classmethod
    def of(cls, bits: int) -> "_State":
        return cls(bits & _COUNT, bits >> 20 & _COUNT, bits >> 40 & _BYTES, bits >> 63)

    @property
    def bits(self) -> int:
        return self.missing | self.expected << 20 | (self.pending_bytes & _BYTES) << 40 | self.phase << 63

    def advance(self) -> None:
        """The next phase, once all have arrived and all bytes have come."""
        if self.missing == 0 and self.pending_bytes == 0:
            self.phase, self.missing = 1 - self.phase, self.expected


@opcode("mbarrier")
def mbarrier(thread: Thread, instruction: Instruction) -> None:
    """All operations."""
    operands = list(instruction.operands)
    operation = instruction.modifiers[0]
    if operation == "pending_count":
        thread.write(operands[0], "u32", _State.of(thread.read(operands[1], "b64")).missing)
        return
    gives = operation in ("test_wait", "try_wait") or (operation in ("arrive", "arrive_drop") and len(operands) > 1)
    target = operands.pop(0) if gives and not _is_place(operands[0]) else None
    space, address = thread.address(
        operands.pop(0), "shared" if instruction.has("shared", "shared::cta") else "generic"
    )
    state = _State.of(thread.load(space, address, 8))
    before = state.bits
    match operation:
        case "init":
            count = thread.read(operands[0], "u32")
            state = _State(count, count)
        case "inval":
            state = _State(0, 0)
        case "expect_tx" | "complete_tx":
            change = thread.read(operands[0], "u32")
            state.pending_bytes += change if operation == "expect_tx" else -change
            state.pending_bytes &= _BYTES
            state.advance()
        case "arrive" | "arrive_drop":
            _arrive(thread, instruction, state, operands)
        case _:
            asked = thread.read(operands[0], "b64")
            parity = asked & 1 if instruction.has("parity") else asked >> 63
            assert target is not None
            thread.write(target, "pred", int(parity != state.phase))
            return
    thread.store(space, address, 8, state.bits)
    if target is not None:
        thread.write(target, "b64", before)


def _is_place(operand: Operand) -> bool:
    return isinstance(operand, Address)


def _arrive(thread: Thread, instruction: Instruction, state: _State, operands: list[Operand]) -> None:
    count = 1
    if instruction.has("expect_tx"):
        state.pending_bytes = state.pending_bytes + thread.read(operands[0], "u32") & _BYTES
    elif operands:
        count = thread.read(operands[0], "u32")
    if count > state.missing:
        raise ValueError(f"{count} arrive at a barrier that waits for {state.missing}")
    state.missing -= count
    if instruction.has("arrive_drop"):
        state.expected -= count
    state.advance()
