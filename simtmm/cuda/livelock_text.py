"""Threads that loop for ever, in words: where, what they read, its value, who could write it, and who waits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simtmm.cuda.execution.launches.launch import BlockState, LaunchState
from simtmm.cuda.execution.layout import LANES, SHARED_WINDOW
from simtmm.cuda.execution.livelock.deciding import loop_of, loops_around
from simtmm.cuda.execution.livelock.snapshot import place_in_kernel
from simtmm.cuda.execution.livelock.watch import Livelock
from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.faults import index_of, place_text, waiting_lines
from simtmm.cuda.places import may_go_to, place
from simtmm.cuda.ptx.flow.spinning import spun_upon
from simtmm.cuda.ptx.flow.steps import width_of
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.files import KERNEL_TIMEOUT

if TYPE_CHECKING:
    from simtmm.cuda.function import KernelFunction

_MOST_NAMED = 3  # of anything


def livelock_text(function: "KernelFunction", found: Livelock) -> str:
    """What goes on for ever, and why nothing can change it."""
    state = found.state
    rounds = _rounds(found)
    lines = [_round_line(function, found, each) for each in rounds[:_MOST_NAMED]]
    if len(rounds) > _MOST_NAMED:
        lines.append(f"and {len(rounds) - _MOST_NAMED} more loops")
    for block in found.blocks[:_MOST_NAMED]:
        waiting = waiting_lines(function, state, block)
        if waiting:
            lines.append(f"in block ({index_of(block)}) wait {', '.join(waiting)}")
    ended = sum(state.threads - _count(block, "living") for block in found.blocks)
    if ended:
        lines.append(f"{ended:,} {'thread has' if ended == 1 else 'threads have'} ended")
    count = len(found.blocks)
    if found.yet:
        begun = f"none of the {count:,} blocks that have started can continue, and {found.yet:,} have not started"
        return f"{begun}: at most {count:,} run at once here: {'; '.join(lines)}"
    blocks = f"block ({index_of(found.blocks[0])})" if count == 1 else f"all {count:,} blocks"
    return f"livelock in {blocks}: no thread can continue: {'; '.join(lines)}"


def patience_text(function: "KernelFunction", state: LaunchState, block: BlockState, seconds: float) -> str:
    """That nothing has come of a launch for so long, and where a thread is that runs."""
    running = [
        int(warp["pc"][lane])
        for warp in block.warps
        for lane in range(LANES)
        if int(warp["living"]) & ~int(warp["blocked"]) & 1 << lane
    ]
    place = ""
    if running:
        code = state.program.code_of(min(running))
        loop = loop_of(code, min(running) - code.first_block) or {min(running) - code.first_block}
        steps = (each for number in sorted(loop) for each in code.flow.blocks[number].instructions)
        first = next((each for each in steps if each.opcode), None)
        place = f"{place_text(function, code.function.name, first)}: " if first else ""
    return (
        f"{place}for {seconds:g} s, no block ended and no store changed memory, so it was stopped: "
        f"does it loop for ever? If not, use smaller parameters or raise the limit (--kernel-timeout, {KERNEL_TIMEOUT})"
    )


@dataclass(frozen=True)
class _Round:
    """Loops of a function that threads go round, the innermost first. threads: how many. first: the block, and the
    thread in it.
    """

    code: FunctionCode
    loops: tuple[frozenset[int], ...]
    threads: int
    first: tuple[BlockState, int]


def _rounds(found: Livelock) -> list[_Round]:
    """The loops that threads go round, in the order in which they stand in the code."""
    threads: dict[tuple[FunctionCode, tuple[frozenset[int], ...]], int] = {}
    first: dict[tuple[FunctionCode, tuple[frozenset[int], ...]], tuple[BlockState, int]] = {}
    for block in found.blocks:
        for warp in block.warps:
            running = int(warp["living"]) & ~int(warp["blocked"])
            for lane in range(LANES):
                if running >> lane & 1:
                    key = _loops(found.state, block, warp, lane)
                    threads[key] = threads.get(key, 0) + 1
                    first.setdefault(key, (block, int(warp["number"]) * LANES + lane))
    keys = sorted(threads, key=lambda key: (key[0].number, min(key[1][-1]) if key[1] else 0))
    return [_Round(*key, threads[key], first[key]) for key in keys]


def _loops(
    state: LaunchState, block: BlockState, warp: np.void, lane: int
) -> tuple[FunctionCode, tuple[frozenset[int], ...]]:
    """The loops that a thread is in: of the function that it is in, or of the kernel that has called it."""
    code = state.program.code_of(int(warp["pc"][lane]))
    found = loops_around(code, int(warp["pc"][lane]) - code.first_block)
    if found:
        return code, found
    entry = state.program.entry_code
    return entry, loops_around(entry, place_in_kernel(state, block, warp, lane))


def _round_line(function: "KernelFunction", found: Livelock, each: _Round) -> str:
    block, thread = each.first
    x, y, _ = found.state.shape
    who = f"block ({index_of(block)}), thread ({thread % x}, {thread // x % y}, {thread // (x * y)})"
    if each.threads > 1:
        who = f"{each.threads:,} threads (the first: {who})"
    words = [_word(function, found, number) for number in _accesses(found, each)[:_MOST_NAMED]]
    goes = "loop" if each.threads > 1 else "loops"
    if words:
        return f"{who} {goes} for ever: {', '.join(words)}"
    blocks = each.code.flow.blocks
    whole = sorted(each.loops[-1] if each.loops else (), reverse=True)
    last = next((i for n in whole for i in reversed(blocks[n].instructions) if i.opcode), None)
    at = place_text(function, each.code.function.name, last) if last else function.entry
    return f"{who} {goes} for ever at {at}, which does not depend on memory"


def _accesses(found: Livelock, each: _Round) -> list[int]:
    """Numbers of the accesses that decide whether a loop is left; else, as where a function makes them, of all."""
    accesses = found.state.program.accesses
    seen = [number for number in range(len(accesses)) if found.seen["times"][number]]
    name, blocks = each.code.function.name, each.code.flow.blocks
    for loop in each.loops:
        wanted = spun_upon(blocks, loop)
        own = [number for number in seen if accesses[number][0] == name and accesses[number][1] in wanted]
        if own:
            return own
    calls = any(i.opcode == "call" for loop in each.loops for n in loop for i in blocks[n].instructions)
    return [number for number in seen if accesses[number][0] != name] if calls else []


def _word(function: "KernelFunction", found: Livelock, number: int) -> str:
    """What an access reads for ever: where, its value, and what could write it."""
    state = found.state
    name, instruction = access = state.program.accesses[number]
    row = found.seen[number]
    address, width = int(row["address"]), width_of(instruction)
    more = int(row["end"]) - int(row["low"]) > width
    where = place(function, state, access, address, SHARED_WINDOW <= address < 2 * SHARED_WINDOW)
    value = _value(found, int(row["block"]), address, width)
    does = "reads" if row_of(instruction.opcode).memory == "reads" else "tries to update"
    text = f"{place_text(function, name, instruction)} {does} {where}{', and others' if more else ''}: it is {value}"
    return f"{text}, and {_writers(function, found, address)}"


def _value(found: Livelock, number: int, address: int, width: int) -> str:
    """What lies at an address, for a block."""
    state = found.state
    if SHARED_WINDOW <= address < SHARED_WINDOW + state.shared_bytes:
        block = next(each for each in found.blocks if int(each.block["number"]) == number)
        place = address - SHARED_WINDOW
        held = bytes(block.shared[place : place + width])
    else:
        held = state.bytes_at(address, width)
    allocation = state.memory.find(address)
    kind = allocation.array.dtype if allocation is not None and allocation.array is not None else np.dtype(np.uint8)
    if kind.itemsize == len(held) and kind.kind in "iuf":
        return str(np.frombuffer(held, kind)[0])
    return str(int.from_bytes(held, "little"))


def _writers(function: "KernelFunction", found: Livelock, address: int) -> str:
    """Which instructions of the kernel may write what lies at an address, and why they don't."""
    tried, others = _lines_that_write(function, found, address)
    others -= tried.keys()
    parts = []
    if tried:
        parts.append(f"what threads do at {_listed(tried)} does not change it")
    if others:
        parts.append(f"no thread reaches {_listed(dict.fromkeys(sorted(others)))}, where it may be written")
    return " and ".join(parts) or "nothing in the kernel writes it"


def _listed(places: dict[str, None]) -> str:
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return f"{', '.join(list(places)[:_MOST_NAMED])}{more}"


def _lines_that_write(function: "KernelFunction", found: Livelock, address: int) -> tuple[dict[str, None], set[str]]:
    """The lines of the kernel that may write at an address: those that threads come to, and all."""
    state = found.state
    may = {
        (code.function.name, instruction)
        for code in state.program.codes
        for block in code.flow.blocks
        for instruction in block.instructions
        if row_of(instruction.opcode).memory in ("writes", "updates")
        and may_go_to(function, state, (code.function.name, instruction), address)
    }
    accesses = state.program.accesses
    tried = [
        accesses[number] for number in range(len(accesses)) if found.seen["times"][number] and accesses[number] in may
    ]
    return dict.fromkeys(_line(function, *each) for each in tried), {_line(function, *each) for each in may}


def _line(function: "KernelFunction", name: str, instruction: Instruction) -> str:
    file, line, _ = function.linked.place(name, function.linked.readable_location(name, instruction.location))
    return f"{file}:{line}" if line else f"PTX line {instruction.line}"


def _count(block: BlockState, name: str) -> int:
    return sum(int(warp[name]).bit_count() for warp in block.warps)
