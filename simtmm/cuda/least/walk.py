"""All ways through a kernel at once: what a thread of some blocks does at the least, whichever it is.

A thread's registers are known to lie in ranges. Where it is not known which way a branch goes, both are followed; where
ways meet again, ranges are joined, and of each cost the smaller one is taken. Blocks of code are visited in their
order, so that a way waits for the others where they meet. A loop that surely goes on is followed round by round; one
that may end in any round is left as early as it can be.
"""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.least.deciding import NOTHING, Cost, Stretch, plus, stretches
from simtmm.cuda.least.ranges import EITHER, NO, YES, Known, hull
from simtmm.cuda.least.values import Evaluation
from simtmm.cuda.ptx.flow.registers import written

MOST_FOLLOWED = 100_000  # instructions and blocks: a second, about; beyond, loops are left as soon as they can be
MOST_IN_ALL = 2 * MOST_FOLLOWED  # beyond which nothing is known of the kernel

Registers = dict[str, Known]


@dataclass
class _State:
    """Where threads have come to with these registers, at this cost."""

    cost: Cost
    registers: Registers

    def join(self, other: "_State") -> "_State":
        """Either of them. Registers that one of them has not written are those that nothing is known of."""
        names = self.registers.keys() & other.registers.keys()
        registers = {name: hull(self.registers[name], other.registers[name]) for name in names}
        return _State(_least(self.cost, other.cost), registers)


@dataclass
class _Loop:
    """A loop as it was gone into last. seen: what came to its beginning. may_end: whether a round may be its last."""

    last: int
    seen: _State | None = None
    may_end: bool = False


@dataclass
class Walk:
    """A walk through a function. evaluation: with what blocks and threads it is about."""

    code: FunctionCode
    evaluation: Evaluation
    parts: tuple[Stretch, ...] = ()
    _pending: dict[int, _State] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)
    _loops: dict[int, _Loop] = field(default_factory=dict)
    _followed: int = 0
    _ended: _State | None = None

    def least(self) -> Cost:
        """What a thread does at least; nothing where that would take too long to say, or it calls functions."""
        self.parts = self.parts or stretches(self.code)
        self._loops = {
            header: _Loop(max(each.number for each in self.code.flow.blocks if header in each.targets))
            for header in self.code.flow.headers
        }
        self._go(0, -1, _State(NOTHING, {}))
        while self._order:
            number = heapq.heappop(self._order)
            state = self._pending.pop(number)
            self._followed += 1 + len(self.parts[number].items)
            if self._followed > MOST_IN_ALL:
                return NOTHING
            entered = self._entered(number, state)
            if entered is not None:
                self._through(self.parts[number], entered)
        return self._ended.cost if self._ended else NOTHING

    def _entered(self, number: int, state: _State) -> _State | None:
        """A state that a block goes on with; None for one that brings nothing new."""
        loop = self._loops.get(number)
        if loop is None:
            return state
        if loop.seen is None or not (loop.may_end or self._followed > MOST_FOLLOWED):
            loop.seen, loop.may_end = state, False
            return state
        if _is_within(state, loop.seen):
            return None
        # What it is not in every round, it may be anything in.
        now = state.registers
        same = {name: value for name, value in loop.seen.registers.items() if name in now and now[name] == value}
        loop.seen = _State(_least(loop.seen.cost, state.cost), same)
        return _State(loop.seen.cost, dict(same))

    def _through(self, part: Stretch, state: _State) -> None:
        """Follow a block to its end, and go where it leads."""
        cost, registers = plus(state.cost, part.cost), dict(state.registers)
        evaluation = self.evaluation
        for instruction, costs in part.items:
            taken = YES if instruction.guard is None else evaluation.guard(instruction.guard, registers)
            if costs is not None:
                cost = plus(cost, costs) if taken == YES else cost
                continue
            if taken == NO:
                continue
            found = evaluation.of(instruction, registers)
            for name in written(instruction):
                value = found.get(name)
                registers[name] = value if taken == YES else hull(registers.get(name), value)
        self._ended_block(part, _State(cost, registers))

    def _ended_block(self, part: Stretch, state: _State) -> None:
        block = part.block
        last = block.instructions[-1] if block.instructions else None
        taken = YES if last is None or last.guard is None else self.evaluation.guard(last.guard, state.registers)
        targets: list[int] = []
        if last is not None and last.opcode in ("bra", "brx"):
            if taken != NO:
                targets += [block.jump] if block.jump is not None else block.table
            if taken != YES and block.behind is not None:
                targets.append(block.behind)
            is_sure = len(set(targets)) == 1
        elif last is not None and last.opcode in ("ret", "exit", "trap"):
            if taken != NO:
                self._ended = state if self._ended is None else self._ended.join(state)
            if taken != YES and block.behind is not None:
                targets.append(block.behind)
            is_sure = taken != EITHER
        else:
            targets += [block.behind] if block.behind is not None else []
            is_sure = True
            if not targets:
                self._ended = state if self._ended is None else self._ended.join(state)
        if not is_sure:
            self._may_end(block.number, targets, last is not None and last.opcode not in ("bra", "brx"))
        for target in dict.fromkeys(targets):
            self._go(target, block.number, state)

    def _may_end(self, number: int, targets: list[int], ends: bool) -> None:
        """Note the loops that may be left here, or not. ends: whether the kernel may end."""
        for header, loop in self._loops.items():
            if header <= number <= loop.last and (ends or any(not header <= each <= loop.last for each in targets)):
                loop.may_end = True

    def _go(self, target: int, source: int, state: _State) -> None:
        """Come to a block."""
        loop = self._loops.get(target)
        if loop is not None and source < target:  # from outside
            loop.seen = None
        known = self._pending.get(target)
        if known is None:
            heapq.heappush(self._order, target)
        self._pending[target] = state if known is None else known.join(state)


def _is_within(state: _State, seen: _State) -> bool:
    """Whether a state is one of those that another stands for, and takes no less."""
    return all(map(int.__ge__, state.cost, seen.cost)) and all(
        value is None or ((own := state.registers.get(name)) is not None and value[0] <= own[0] and own[1] <= value[1])
        for name, value in seen.registers.items()
    )


def _least(one: Cost, other: Cost) -> Cost:
    return tuple(map(min, one, other))


def least_of(
    code: FunctionCode, specials: Mapping[str, Known], parameter: Callable[[str, int, int], Known],
    parts: tuple[Stretch, ...] = (),
) -> Cost:  # fmt: skip
    """What each thread of some blocks does at least, by COSTS.

    code: of the kernel. specials: what special registers hold in these. parameter: what a parameter of the kernel
    holds, of its name, offset and bytes. parts: of the code, where they are known.
    """
    return Walk(code, Evaluation(specials, parameter), parts).least()
