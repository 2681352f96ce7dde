"""Loads, stores, copies and conversions of addresses."""

from simtmm.cuda.ptx.syntax import Immediate, Instruction, Negated, Operand, Register, Vector
from tests.cuda.interpreter.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, AccessError
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread, generic, space_of
from tests.cuda.interpreter.types import bytes_of

_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


def _parts(operand: Operand) -> tuple[Operand, ...]:
    return operand.parts if isinstance(operand, Vector) else (operand,)


def aligned(space: str, address: int, size: int) -> None:
    """Raises AccessError unless the address is a multiple of the size of all that is accessed."""
    if address % size:
        raise AccessError(f"{space} address {address:#x} is not a multiple of {size}")


@opcode("ld", "ldu")
def load(thread: Thread, instruction: Instruction) -> None:
    """A register or a vector of them; narrow types are extended."""
    kind = instruction.modifiers[-1]
    size = bytes_of(kind)
    space, address = thread.address(instruction.operands[1], space_of(instruction))
    parts = _parts(instruction.operands[0])
    aligned(space, address, size * len(parts))
    values = [thread.load(space, address + size * at, size) for at in range(len(parts))]
    for part, value in zip(parts, values, strict=True):
        thread.write(part, kind, value)


@opcode("st")
def store(thread: Thread, instruction: Instruction) -> None:
    """A register or a vector of them; wide registers are cut."""
    kind = instruction.modifiers[-1]
    size = bytes_of(kind)
    space, address = thread.address(instruction.operands[0], space_of(instruction))
    parts = _parts(instruction.operands[1])
    aligned(space, address, size * len(parts))
    for at, part in enumerate(parts):
        thread.store(space, address + size * at, size, thread.read(part, kind))


@opcode("cvta")
def convert_address(thread: Thread, instruction: Instruction) -> None:
    """An address of a space as a generic one, or with .to the other way."""
    kind = instruction.modifiers[-1]
    space = space_of(instruction)
    source = instruction.operands[1]
    address = thread.read(source, kind)
    if space == "param" and not thread.frame.function.entry:
        space = "local"
    window = _WINDOWS.get(space, 0)
    thread.write(instruction.operands[0], kind, address - window if instruction.has("to") else address + window)


@opcode("isspacep")
def is_in_space(thread: Thread, instruction: Instruction) -> None:
    """Whether a generic address falls into a space."""
    space, address = generic(thread.read(instruction.operands[1], "u64"))
    launch = thread.block.launch
    for name, variable in launch.module.variables.items():
        place = launch.memory.variables.get(name)
        if variable.space == "const" and place is not None and place <= address < place + variable.size:
            space = "const"
    wanted = instruction.modifiers[0].partition("::")[0]
    thread.write(instruction.operands[0], "pred", int(space == wanted))


@opcode("cp")
def copy(thread: Thread, instruction: Instruction) -> None:
    """cp.async from global to shared memory, at once; what the source is shorter is zeros."""
    if not instruction.has("shared", "shared::cta") or instruction.has("bulk", "mbarrier"):
        if instruction.modifiers in (("async", "commit_group"), ("async", "wait_group"), ("async", "wait_all")):
            return
        raise NotImplementedError(f"{instruction.name} is not known")
    target, source, *rest = instruction.operands
    size = thread.read(rest[0], "u32")
    taken = size
    if len(rest) > 1 and isinstance(rest[1], Immediate | Register | Negated):
        extra = rest[1]
        predicate = isinstance(extra, Negated) or (
            isinstance(extra, Register) and thread.frame.function.registers.get(extra.name) == "pred"
        )
        if predicate:
            taken = 0 if thread.read(extra, "pred") else size
        elif not instruction.has("L2::cache_hint") or len(rest) > 2:
            taken = min(size, thread.read(extra, "u32"))
    to, place = thread.address(target, "shared")
    source_space, address = thread.address(source, "global")
    aligned(to, place, size)
    aligned(source_space, address, size)
    for at in range(size):
        value = thread.load(source_space, address + at, 1) if at < taken else 0
        thread.store(to, place + at, 1, value)


@opcode("membar", "fence", "prefetch", "prefetchu", "discard", "applypriority")
@opcode("nanosleep", "griddepcontrol", "pmevent", "setmaxnreg")
def nothing(thread: Thread, instruction: Instruction) -> None:
    """What has no effect on values."""


@opcode("createpolicy")
def create_policy(thread: Thread, instruction: Instruction) -> None:
    """A hint for caches, which has no meaning here."""
    thread.write(instruction.operands[0], "b64", 0)


@opcode("mapa", "getctarank")
def of_cluster(thread: Thread, instruction: Instruction) -> None:
    """Every block is a cluster of its own: its addresses stay as they are, and its rank is 0."""
    if instruction.opcode == "getctarank":
        thread.write(instruction.operands[0], "u32", 0)
        return
    kind = instruction.modifiers[-1]
    thread.write(instruction.operands[0], kind, thread.read(instruction.operands[1], kind))
