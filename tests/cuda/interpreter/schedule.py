"""A launch: blocks of threads that take turns."""

import itertools
from collections.abc import Sequence

from simtmm.cuda.ptx.syntax import Instruction, Module, Negated
from tests.cuda.interpreter import (
    accesses,
    atomics,
    bits,
    comparisons,
    control,
    conversions,
    integers,
    matrices,
    mbarriers,
    video,
    warps,
    wmma,
)
from tests.cuda.interpreter.barriers import Barrier, ClusterBarrier
from tests.cuda.interpreter.memory import Memory, shared_layout
from tests.cuda.interpreter.opcodes import OPCODES
from tests.cuda.interpreter.special import special
from tests.cuda.interpreter.thread import Thread, parameter_offsets
from tests.cuda.interpreter.warps import Warp, answer

# The modules whose import fills the table of opcodes.
FILLED_BY = (
    accesses,
    atomics,
    bits,
    comparisons,
    control,
    conversions,
    integers,
    matrices,
    mbarriers,
    video,
    warps,
    wmma,
)
QUANTUM = 20  # instructions of a thread in a turn
PATIENCE = 200  # turns that a thread asks who is active before it is answered, though others could still come
RESIDENT = 2048  # threads of blocks that take turns; a block more is started as one ends

Triple = tuple[int, int, int]


class InterpreterError(Exception):
    """What went wrong in a kernel, and where: the instruction, the thread, the block."""


class DeadlockError(InterpreterError):
    """No thread can go on."""


class Launch:
    """What all threads of a run share."""

    def __init__(
        self, module: Module, entry: str, grid: Triple, block: Triple, arguments: Sequence[bytes], memory: Memory,
        shared_bytes: int,
    ) -> None:  # fmt: skip
        self.module, self.function, self.grid, self.block, self.memory = (
            module,
            module.functions[entry],
            grid,
            block,
            memory,
        )
        self.parameters, size = parameter_offsets(self.function.parameters)
        self.arguments = bytearray(size)
        for variable, value in zip(self.function.parameters, arguments, strict=True):
            if len(value) != variable.size:
                raise ValueError(f"{variable.name} has {variable.size} bytes, not {len(value)}")
            at = self.parameters[variable.name]
            self.arguments[at : at + len(value)] = value
        self.shared, static = shared_layout(module)
        self.dynamic_bytes, self.shared_bytes = shared_bytes, static + shared_bytes
        self.clock = 0


class Block:
    """A block: its threads, shared memory and barriers. asking: who wants to know who is active."""

    def __init__(self, launch: Launch, index: Triple) -> None:
        self.launch, self.index = launch, index
        self.shared = bytearray(launch.shared_bytes)
        self.barriers = [Barrier() for _ in range(16)]
        self.cluster = ClusterBarrier()
        self.asking: list[Thread] = []
        width, height, depth = launch.block
        count = width * height * depth
        self.warps = [Warp() for _ in range(-(-count // 32))]
        self.threads = [Thread(self, number) for number in range(count)]
        for thread in self.threads:
            thread.warp.threads[thread.lane] = thread

    def special(self, thread: Thread, name: str) -> int:
        """The value of a special register."""
        return special(thread, name)

    def leave(self, thread: Thread) -> None:
        """A thread has ended: others may have waited for no one else."""
        thread.done = True
        thread.warp.check()
        for barrier in self.barriers:
            if barrier.complete(self.threads):
                barrier.release()
        self.cluster.check(self.threads)


def run(
    module: Module, entry: str, grid: Triple, block: Triple, arguments: Sequence[bytes], memory: Memory,
    shared_bytes: int = 0, limit: int = 50_000_000,
) -> None:  # fmt: skip
    """Run a kernel to its end.

    grid, block: sizes in x, y and z. arguments: the bytes of each parameter. shared_bytes: of dynamic shared memory.
    limit: of instructions of all threads together. Raises InterpreterError.
    """
    launch = Launch(module, entry, grid, block, arguments, memory, shared_bytes)
    pending = ((x, y, z) for z, y, x in itertools.product(*(range(size) for size in reversed(grid))))
    resident: list[Block] = []
    most = max(1, RESIDENT // (block[0] * block[1] * block[2]))
    turns = 0
    while True:
        resident = [each for each in resident if not all(thread.done for thread in each.threads)]
        resident += [Block(launch, index) for index in itertools.islice(pending, most - len(resident))]
        if not resident:
            return
        turns += 1
        moved = False
        for each in resident:
            for thread in each.threads:
                moved |= _turn(thread)
        if not moved or turns % PATIENCE == 0:
            moved |= _answered(resident)
        else:
            _answered([each for each in resident if each.asking], only_complete=True)
        if not moved:
            raise DeadlockError(_deadlock(resident))
        if launch.clock > limit:
            raise InterpreterError(f"{entry}: no end after {limit} instructions")


def _answered(blocks: list[Block], only_complete: bool = False) -> bool:
    """Answer threads that ask who is active; only those of warps of which nobody else can come, if so wanted."""
    any_answered = False
    for block in blocks:
        while block.asking:
            able = [
                thread
                for thread in block.asking
                if not only_complete or all(each.done or each.waiting for each in thread.warp.threads.values())
            ]
            if not able:
                break
            answer(able[0])
            any_answered = True
    return any_answered


def _turn(thread: Thread) -> bool:
    """Let a thread go on for a while; whether it could."""
    for count in range(QUANTUM):
        if thread.done or thread.waiting:
            return count > 0
        step(thread)
    return True


def step(thread: Thread) -> None:
    """The next instruction. Raises InterpreterError."""
    frame = thread.frame
    code = frame.code.instructions
    thread.block.launch.clock += 1
    if frame.pc >= len(code):
        control.leave(thread, _RETURN)
        return
    instruction = code[frame.pc]
    frame.pc += 1
    try:
        if _guarded(thread, instruction):
            if instruction.opcode not in OPCODES:
                raise NotImplementedError(f"{instruction.name} is not known")
            OPCODES[instruction.opcode](thread, instruction)
    except Exception as error:
        raise InterpreterError(f"{where(thread, instruction)}: {type(error).__name__}: {error}") from error


_RETURN = Instruction("ret", (), (), None, 0, None, "ret")


def _guarded(thread: Thread, instruction: Instruction) -> bool:
    """Whether the thread takes part."""
    guard = instruction.guard
    if guard is None:
        return True
    value = thread.read(guard.register if isinstance(guard, Negated) else guard, "pred")
    return bool(value) != isinstance(guard, Negated)


def where(thread: Thread, instruction: Instruction) -> str:
    """The place of an instruction, and the thread."""
    line = f", source line {instruction.location.line}" if instruction.location else ""
    return f"PTX line {instruction.line}{line}: {instruction.text}: block {thread.block.index}, thread {thread.index}"


def _deadlock(blocks: list[Block]) -> str:
    waiting = [where(thread, thread.waiting) for block in blocks for thread in block.threads if thread.waiting]
    shown = waiting[:8] + ([f"and {len(waiting) - 8} more"] if len(waiting) > 8 else [])
    return "no thread can continue: " + "; ".join(shown)
