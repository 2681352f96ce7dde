"""Instructions that the threads of a warp execute together: they gather, the last to come computes for all."""

from collections.abc import Callable
from typing import TypeAlias

from simtmm.cuda.ptx.syntax import Instruction, Operand, Pair, Sink
from tests.cuda.interpreter import arithmetic
from tests.cuda.interpreter.formats import F32, decode, encode
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread, whole

Gathered: TypeAlias = dict[int, tuple[Thread, Instruction]]
FULL = 0xFFFFFFFF


class Warp:
    """Up to 32 threads, and which of them wait for others, where and with which mask."""

    def __init__(self) -> None:
        self.threads: dict[int, Thread] = {}
        self._waiting: dict[int, tuple[Thread, Instruction, int, Callable[[Gathered], None]]] = {}

    def gather(self, thread: Thread, instruction: Instruction, mask: int, together: Callable[[Gathered], None]) -> None:
        """Let a thread wait for all living threads of the mask at an instruction of the same name and mask."""
        if not mask >> thread.lane & 1:
            raise ValueError(f"lane {thread.lane} is not in its own mask {mask:#010x}")
        thread.waiting = instruction
        self._waiting[thread.lane] = (thread, instruction, mask, together)
        self.check()

    def check(self) -> None:
        """Let those go on who are all here."""
        seen = set()
        for _, instruction, mask, together in tuple(self._waiting.values()):
            if (instruction.name, mask) in seen:
                continue
            seen.add((instruction.name, mask))
            alive = [lane for lane, thread in self.threads.items() if mask >> lane & 1 and not thread.done]
            same = {
                lane: (thread, their)
                for lane, (thread, their, their_mask, _) in sorted(self._waiting.items())
                if their.name == instruction.name and their_mask == mask
            }
            if same and all(lane in same for lane in alive):
                for lane, (thread, _) in same.items():
                    del self._waiting[lane]
                    thread.waiting = None
                together(same)


def _mask(thread: Thread, operand: Operand) -> int:
    return thread.read(operand, "b32")


def _both(target: Operand) -> tuple[Operand, Operand]:
    return (target.first, target.second) if isinstance(target, Pair) else (target, Sink())


@opcode("shfl")
def shuffle(thread: Thread, instruction: Instruction) -> None:
    """The value of another lane of a segment; that of oneself beyond it."""
    if not instruction.has("sync"):
        active_mask(thread, instruction)
        return
    thread.warp.gather(thread, instruction, _mask(thread, instruction.operands[4]), _shuffled)


def source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane to read from, and whether it is inside."""
    distance, clamp, segment = b & 31, c & 31, c >> 8 & 31
    low = lane & segment
    limit = low | clamp & ~segment
    other = {
        "up": lane - distance, "down": lane + distance, "bfly": lane ^ distance, "idx": low | distance & ~segment,
    }[mode]  # fmt: skip
    inside = other >= limit if mode == "up" else other <= limit
    return (other if inside else lane), inside


def _shuffled(gathered: Gathered) -> None:
    values = {lane: thread.read(instruction.operands[1], "b32") for lane, (thread, instruction) in gathered.items()}
    results = []
    for lane, (thread, instruction) in gathered.items():
        b, c = (thread.read(operand, "b32") for operand in instruction.operands[2:4])
        mode = next(each for each in instruction.modifiers if each in ("up", "down", "bfly", "idx"))
        other, inside = source_lane(mode, lane, b, c)
        # PTX does not specify what a lane outside of the mask has.
        results.append((thread, instruction, values.get(other, 0), inside))
    for thread, instruction, value, inside in results:
        target, predicate = _both(instruction.operands[0])
        thread.write(target, "b32", value)
        thread.write(predicate, "pred", int(inside))


@opcode("vote")
def vote(thread: Thread, instruction: Instruction) -> None:
    """All, any, all alike, or a bit of each."""
    if not instruction.has("sync"):
        active_mask(thread, instruction)
        return
    thread.warp.gather(thread, instruction, _mask(thread, instruction.operands[2]), _voted)


def _voted(gathered: Gathered) -> None:
    votes = {lane: thread.read(instruction.operands[1], "pred") for lane, (thread, instruction) in gathered.items()}
    ballot = sum(each << lane for lane, each in votes.items())
    for thread, instruction in gathered.values():
        match next(each for each in instruction.modifiers if each != "sync"):
            case "ballot":
                thread.write(instruction.operands[0], "b32", ballot)
            case "all":
                thread.write(instruction.operands[0], "pred", int(all(votes.values())))
            case "any":
                thread.write(instruction.operands[0], "pred", int(any(votes.values())))
            case _:
                thread.write(instruction.operands[0], "pred", int(len(set(votes.values())) == 1))


@opcode("match")
def match_values(thread: Thread, instruction: Instruction) -> None:
    """Who has the same value; with .all whether everyone has."""
    thread.warp.gather(thread, instruction, _mask(thread, instruction.operands[2]), _matched)


def _matched(gathered: Gathered) -> None:
    kind = next(iter(gathered.values()))[1].modifiers[-1]
    values = {lane: thread.read(instruction.operands[1], kind) for lane, (thread, instruction) in gathered.items()}
    for lane, (thread, instruction) in gathered.items():
        same = sum(1 << other for other, value in values.items() if value == values[lane])
        target, predicate = _both(instruction.operands[0])
        if instruction.has("all"):
            alike = len(set(values.values())) == 1
            thread.write(predicate, "pred", int(alike))
            same = same if alike else 0
        thread.write(target, "b32", same)


@opcode("redux")
def reduce(thread: Thread, instruction: Instruction) -> None:
    """One number of all."""
    thread.warp.gather(thread, instruction, _mask(thread, instruction.operands[2]), _reduced)


def _reduced(gathered: Gathered) -> None:
    first = next(iter(gathered.values()))[1]
    operation, kind = first.modifiers[1], first.modifiers[-1]
    bits = [thread.read(instruction.operands[1], kind) for thread, instruction in gathered.values()]
    if kind == "f32":
        values = [decode(each, F32) for each in bits]
        values = [abs(each) for each in values] if first.has("abs") else values
        choose = arithmetic.least if operation == "min" else arithmetic.greatest
        number = values[0]
        for value in values[1:]:
            number = choose(number, value, first.has("NaN"))
        result = encode(number, F32)
    else:
        numbers = [whole(each, kind) for each in bits]
        result = numbers[0]
        for other in numbers[1:]:
            result = {
                "add": result + other, "min": min(result, other), "max": max(result, other),
                "and": result & other, "or": result | other, "xor": result ^ other,
            }[operation]  # fmt: skip
    for thread, instruction in gathered.values():
        thread.write(instruction.operands[0], kind, result)


@opcode("elect")
def elect(thread: Thread, instruction: Instruction) -> None:
    """The lowest lane leads."""
    thread.warp.gather(thread, instruction, _mask(thread, instruction.operands[1]), _elected)


def _elected(gathered: Gathered) -> None:
    leader = min(gathered)
    for lane, (thread, instruction) in gathered.items():
        target, predicate = _both(instruction.operands[0])
        thread.write(target, "b32", leader)
        thread.write(predicate, "pred", int(lane == leader))


@opcode("activemask")
def active_mask(thread: Thread, instruction: Instruction) -> None:
    """Who is here: the scheduler answers, when nobody else of the warp can come, or has come for long.

    Votes and shuffles without .sync are of those who are here.
    """
    thread.waiting = instruction
    thread.block.asking.append(thread)


def answer(thread: Thread) -> None:
    """Tell a thread, and those of its warp that ask at the same place of the same function, who asks."""
    together = [
        other
        for other in thread.block.asking
        if other.warp is thread.warp
        and other.waiting is thread.waiting
        and [(frame.function.name, frame.pc) for frame in other.frames]
        == [(frame.function.name, frame.pc) for frame in thread.frames]
    ]
    mask = sum(1 << other.lane for other in together)
    gathered: Gathered = {}
    for other in sorted(together, key=lambda each: each.lane):
        assert other.waiting is not None
        gathered[other.lane] = other, other.waiting
        if other.waiting.opcode == "activemask":
            other.write(other.waiting.operands[0], "b32", mask)
        other.waiting = None
        other.block.asking.remove(other)
    what = gathered[thread.lane][1].opcode
    if what != "activemask":
        (_voted if what == "vote" else _shuffled)(gathered)
