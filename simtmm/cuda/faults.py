"""Faults of threads, and what threads wait for, in words: with source line, thread, block and array."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import (
    BAD_CALL,
    BAD_COORDINATE,
    BAD_DESCRIPTOR,
    BAD_METADATA,
    BAD_TENSOR_MAP,
    BARRIERS,
    KIND_TEXTURE,
    LANES,
    LAYERED,
    MISALIGNED,
    NO_BARRIER,
    NO_STACK,
    NO_TEXTURE,
    OUTSIDE_SURFACE,
    READ_ONLY,
    TEXTURE_HANDLE,
    TRAPPED,
)
from simtmm.cuda.places import place
from simtmm.cuda.ptx.flow.steps import width_of
from simtmm.cuda.ptx.syntax import Instruction

if TYPE_CHECKING:
    from simtmm.cuda.function import KernelFunction

_MOST_NAMED = 4  # groups of waiting threads that are named


def fault_text(function: "KernelFunction", state: LaunchState, block: BlockState) -> str:
    """The fault that a launch ended with."""
    launch = state.launch
    code, lane, address = int(launch["fault"]), int(launch["fault_lane"]), int(launch["fault_address"])
    name, instruction = state.program.accesses[int(launch["fault_access"])]
    warp = next((w for w in block.warps if int(w["number"]) == int(block.block["running"])), block.warps[0])
    thread = int(warp["number"]) * LANES + lane
    where = f"{place_text(function, name, instruction)}, {_thread(state, block, thread)}"
    match code:
        case code if code == TRAPPED:
            return f"{where}: trap"
        case code if code == NO_STACK:
            return f"{where}: the stack is full: does the function call itself for ever?"
        case code if code == BAD_CALL:
            return f"{where}: calls an address without a function whose arguments and results have these sizes"
        case code if code == NO_BARRIER:
            return f"{where}: names barrier {address}: must be 0 to {BARRIERS - 1}"
        case code if code == BAD_TENSOR_MAP:
            what = "there is no tensor map of cuTensorMapEncodeTiled or Im2col for this instruction"
            return f"{where}: {what} (address {address:#x}; its dimensions and mode must be the instruction's)"
        case code if code == BAD_COORDINATE:
            first = address - (1 << 64) if address >> 63 else address
            return f"{where}: the first coordinate, {first}, is not a multiple of 16 bytes, which is illegal on a GPU"
        case code if code == BAD_METADATA:
            return f"{where}: the metadata of a sparse matrix has {address:#06b}, whose result PTX leaves undefined"
        case code if code == BAD_DESCRIPTOR:
            what = "has a swizzle of 32 bytes for rows of 64 bytes along K, which PTX leaves undefined"
            return f"{where}: the descriptor {address:#x} {what}"
        case code if code == NO_TEXTURE:
            return f"{where}: {_texture(state, instruction, address)}"
        case code if code == OUTSIDE_SURFACE:
            return f"{where}: {_surface_access(instruction, address)}"
    return f"{where}: {_access(function, state, (name, instruction), code, address)}"


def place_text(function: "KernelFunction", name: str, instruction: Instruction) -> str:
    """File, line and text of an instruction's source, and what it is.

    name: of the function that the instruction is in.
    """
    file, line, text = function.linked.place(name, function.linked.readable_location(name, instruction.location))
    source = f"{file}:{line}: `{text}`" if line else file
    what = instruction.name if instruction.issue is None else instruction.text
    return f"{source} ({what}, PTX line {instruction.line})"


def _thread(state: LaunchState, block: BlockState, thread: int) -> str:
    x, y, _ = state.shape
    return f"block ({index_of(block)}), thread ({thread % x}, {thread // x % y}, {thread // (x * y)})"


def _access(
    function: "KernelFunction", state: LaunchState, access: tuple[str, Instruction], code: int, address: int
) -> str:
    instruction = access[1]
    width = width_of(instruction)
    does = "writes" if instruction.opcode in ("st", "red") else "updates" if instruction.opcode == "atom" else "reads"
    found = state.memory.find(address)
    at = place(function, state, access, address, code not in (MISALIGNED, READ_ONLY) or found is None)
    what = f"{does} {width} bytes at {at}"
    if code == MISALIGNED:
        return f"{what}, which is not a multiple of {width}: misaligned"
    if code == READ_ONLY:
        is_read_only = found is not None and found.read_only
        return f"{what}, which is {'read-only' if is_read_only else 'constant'}"
    near = state.memory.nearest(address) if found is None else None
    is_freed = near is not None and near.is_freed and near.base <= address < near.base + near.bytes
    return f"{what}: used after it was freed" if is_freed else f"{what}: out of bounds"


def _texture(state: LaunchState, instruction: Instruction, handle: int) -> str:
    """A handle that is of no texture or surface as the instruction needs."""
    wanted = "surface" if instruction.opcode.startswith("su") else "texture"
    number = handle - TEXTURE_HANDLE
    if not 0 <= number < len(state.textures):
        return f"handle {hex(handle)} is not of a {wanted}: the launch needs a simtmm.{wanted.title()}Object"
    row = state.textures[number]
    have = "texture" if row["kind"] == KIND_TEXTURE else "surface"
    shape = int(row["shape"])
    what = f"of {shape % LAYERED} dimensions{' in layers' if shape >= LAYERED else ''}"
    return f"the object is a {have} {what}, which this instruction does not access"


def _surface_access(instruction: Instruction, place: int) -> str:
    """An access of a surface at x in the low half, in bytes, and y in the high half, or y and z with 16 bits each."""
    x, y = (part - (1 << 32) if part >> 31 else part for part in (place & 0xFFFFFFFF, place >> 32))
    has_layers, has_slices = instruction.has("a1d") or instruction.has("a2d"), instruction.has("3d")
    width = width_of(instruction)
    what = f"{'writes' if instruction.opcode == 'sust' else 'reads'} {width} bytes of a surface"
    what += f" at x = {x} (bytes)"
    if has_layers or has_slices:
        y, z = (part - (1 << 16) if part >> 15 else part for part in (y & 0xFFFF, y >> 16 & 0xFFFF))
        what += f", y = {y}, {'layer' if has_layers else 'z'} = {z}"
    else:
        what += f", y = {y}"
    return f"{what}, x not a multiple of {width}: misaligned" if x % width else f"{what}: out of bounds"


def deadlock_text(function: "KernelFunction", state: LaunchState, block: BlockState) -> str:
    """What the threads of a block wait for, none of which can go on."""
    lines = waiting_lines(function, state, block)
    return f"deadlock in block ({index_of(block)}): no thread can continue: {'; '.join(lines)}"


def index_of(block: BlockState) -> str:
    """A block's place in the grid."""
    return ", ".join(str(int(part)) for part in block.block["index"])


def waiting_lines(function: "KernelFunction", state: LaunchState, block: BlockState) -> list[str]:
    """Threads of a block that wait at barriers, or for others of their warp, and where."""
    groups: dict[tuple[int, str], list[int]] = {}
    for warp in block.warps:
        waiting, gathering = int(warp["living"]) & int(warp["blocked"]), int(warp["gathering"])
        for lane in range(LANES):
            if waiting >> lane & 1:
                what = "others of its warp" if gathering >> lane & 1 else "a barrier"
                pc = int(warp["pc"][lane])
                groups.setdefault((pc, what), []).append(int(warp["number"]) * LANES + lane)
    lines = []
    for (pc, what), threads in list(groups.items())[:_MOST_NAMED]:
        name, instruction = state.program.waiting_at(pc, what == "a barrier")
        who = f"thread {threads[0]}" if len(threads) == 1 else f"{len(threads)} threads (the first: {threads[0]})"
        at = place_text(function, name, instruction) if instruction else function.entry
        lines.append(f"{who} for {what} at {at}")
    if len(groups) > _MOST_NAMED:
        lines.append(f"and {len(groups) - _MOST_NAMED} more groups")
    return lines
