"""Which barrier a thread is at, for checks: through which calls it got there, in which iteration of each loop.

One instruction is not one barrier: half a block may be in the second trip of a loop while the others are in the first,
or in another call of the same function. So functions that have barriers, or call some that do, count: `counted` puts
instructions into them that keep both in registers of ours, which a caller hands on to what it calls. A loop's count is
of the trips since it was last entered; loops without a barrier have none, as their trips part nobody.
"""

from collections.abc import Sequence
from dataclasses import replace

from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, Block, control_flow
from simtmm.cuda.ptx.flow.loops import Loop, loops
from simtmm.cuda.ptx.syntax import Function, Group, Immediate, Instruction, Label, Operand, Register, Symbol

WAY, TRIPS = "%its way", "%its trips"  # of a function: how it was called, and in which trips of its callers' loops
WAY_HERE, TRIPS_HERE = "%way", "%trips"  # likewise, of the barrier or the call that follows
TRIP_BITS = 16  # of a loop in TRIPS, the innermost in the lowest
_COUNT = "%trip "
_BARRIERS = ("bar", "barrier")

CallSite = tuple[str, Instruction]  # the caller, and its call


def is_barrier(instruction: Instruction) -> bool:
    """Whether an instruction is a barrier at which threads of a block arrive."""
    return instruction.opcode in _BARRIERS and not instruction.has("warp")


def counted(functions: Sequence[Function]) -> tuple[list[Function], list[CallSite]]:
    """The functions of a program, the kernel first, with such instructions, and the calls that ways are made of."""
    meeting = _meeting(functions)
    calls = [
        (function.name, item) for function in functions if function.name in meeting
        for item in function.body or () if isinstance(item, Instruction) and _leads_to(item, meeting)
    ]  # fmt: skip
    numbers = {id(call): number for number, (_, call) in enumerate(calls, 1)}
    bits = way_bits(calls)
    return [_counted(f, meeting, numbers, bits) if f.name in meeting else f for f in functions], calls


def way_bits(calls: Sequence[CallSite]) -> int:
    """The bits of a call in a way, which is its number from 1 on; the latest call is in the lowest."""
    return max(1, len(calls).bit_length())


def calls_of(way: int, calls: Sequence[CallSite]) -> list[CallSite]:
    """The calls that a way consists of, the latest first; the last of very many alone."""
    bits = way_bits(calls)
    found = []
    way &= (1 << 64) - 1
    while way:
        number = way & ((1 << bits) - 1)
        if not 0 < number <= len(calls):
            break
        found.append(calls[number - 1])
        way >>= bits
    return found


def _meeting(functions: Sequence[Function]) -> set[str]:
    """The functions that have a barrier, or call some that do."""
    found: set[str] = set()
    while True:
        more = {
            function.name for function in functions if any(_leads_to(item, found) for item in function.body or ())
            or any(isinstance(item, Instruction) and is_barrier(item) for item in function.body or ())
        }  # fmt: skip
        if more == found:
            return found
        found = more


def _leads_to(item: Instruction | Label, meeting: set[str]) -> bool:
    """Whether an item calls one of these; what a register names may be any."""
    if not isinstance(item, Instruction) or item.opcode != "call":
        return False
    names = [operand for operand in item.operands if not isinstance(operand, Group)][:1]
    return any(operand.name in meeting if isinstance(operand, Symbol) else bool(meeting) for operand in names)


def _counted(function: Function, meeting: set[str], numbers: dict[int, int], way_bits: int) -> Function:
    body = function.body or ()
    flow = control_flow(function)
    around = [loop for loop in loops(flow.blocks) if _meets(flow.blocks, loop, meeting)]
    counts = {loop.header: f"{_COUNT}{loop.header}" for loop in around}
    before: dict[int, list[Instruction]] = {}  # by the place in the body
    starts = _starts(body, flow.blocks)
    for loop in around:
        count = Register(counts[loop.header])
        for number in loop.entered_from:
            before.setdefault(starts[number], []).insert(0, _ours("mov.u64", count, Immediate(0)))
        before.setdefault(starts[loop.header], []).append(_ours("add.u64", count, count, Immediate(1)))
    places = {id(instruction): block.number for block in flow.blocks for instruction in block.instructions}
    for at, item in enumerate(body):
        if id(item) not in places or not isinstance(item, Instruction):
            continue
        if is_barrier(item) or _leads_to(item, meeting):
            inside = [counts[loop.header] for loop in around if places[id(item)] in loop.members]
            before.setdefault(at, []).extend(_here(inside, numbers.get(id(item), 0), way_bits))
    first = [_ours("mov.u64", Register(name), Immediate(0)) for name in (*counts.values(), *_own(function))]
    whole: list[Instruction | Label] = [*first]
    for at, item in enumerate(body):
        whole += [*before.get(at, ()), item]
    registers = dict.fromkeys((WAY, TRIPS, WAY_HERE, TRIPS_HERE, *counts.values()), "b64")
    return replace(function, body=tuple(whole), registers={**function.registers, **registers})


def _own(function: Function) -> tuple[str, ...]:
    """What nobody hands on to a kernel."""
    return (WAY, TRIPS) if function.entry else ()


def _meets(blocks: Sequence[Block], loop: Loop, meeting: set[str]) -> bool:
    return any(
        is_barrier(instruction) or _leads_to(instruction, meeting)
        for number in loop.members
        for instruction in blocks[number].instructions
    )


def _here(counts: Sequence[str], call: int, bits: int) -> list[Instruction]:
    """What puts the way and the trips of a place into registers. counts: of the loops around it, outer ones first."""
    way, trips = Register(WAY_HERE), Register(TRIPS_HERE)
    found = [_ours("mov.u64", way, Register(WAY)), _ours("mov.u64", trips, Register(TRIPS))]
    factor = Immediate(1 << TRIP_BITS)
    found += [_ours("mad.lo.u64", trips, trips, factor, Register(name)) for name in counts]
    if call:
        found.append(_ours("mad.lo.u64", way, way, Immediate(1 << bits), Immediate(call)))
    return found


def _starts(body: Sequence[Instruction | Label], blocks: Sequence[Block]) -> list[int]:
    """Where in the body each block begins, behind its labels; the end of the body for an empty one."""
    places = {id(item): at for at, item in enumerate(body)}
    results = {replace(item, opcode=BARRIER_RESULT, guard=None): at + 1 for at, item in enumerate(body)
               if isinstance(item, Instruction) and is_barrier(item) and item.has("red")}  # fmt: skip
    found = []
    for block in blocks:
        first = next(iter(block.instructions), None)
        found.append(len(body) if first is None else places.get(id(first), results.get(first, len(body))))
    return found


def _ours(name: str, *operands: Operand) -> Instruction:
    opcode, *modifiers = name.split(".")
    return Instruction(opcode, tuple(modifiers), operands, None, 0, None, name)
