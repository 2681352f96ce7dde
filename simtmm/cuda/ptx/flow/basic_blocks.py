"""The basic blocks of a function, in an order in which threads that part meet again as soon as they can.

Blocks end behind whatever may part threads or make them wait, and begin at whatever others may jump to or wait for:
so a block runs to its end without a look at other threads. The order is topological, and loops are contiguous: of
threads at several blocks those at the lowest go first, and the others wait for them where their ways meet.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from simtmm.cuda.ptx.flow.registers import read, written
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Function, Instruction, Label, Register, Symbol
from simtmm.errors import PtxError

GATHERING = {"shfl", "vote", "match", "redux", "elect", "mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"}


HERE = "here"  # of what looks at the lanes that take part, and waits for none: a modifier of ours
RECONVERGE = "reconverge"  # of bar.warp.sync of machine code, where lanes meet again that have parted: likewise,
EXCLUSIVE = "exclusive"  # of one: behind it, lanes that waited for others go on without these
LEAVE_CONVERGENCE = "leave_convergence"  # and an instruction of ours: lanes of a mask that the others need not wait for
BARRIER_RESULT = "barrier_result"  # behind bar.red, what it gives: an instruction of ours


def ends_block(instruction: Instruction) -> bool:
    """Whether threads may part, leave or wait behind an instruction."""
    row = row_of(instruction.opcode)
    return row.ends_block or (row.is_barrier and "arrive" not in instruction.modifiers)


def gathers(instruction: Instruction) -> bool:
    """Whether an instruction waits for the threads of its mask: it begins a block."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if HERE in modifiers:
        return False
    if opcode == "bar":
        return "warp" in modifiers
    if opcode == "wgmma":
        return "mma_async" in modifiers
    return opcode in GATHERING and (opcode not in ("vote", "shfl") or "sync" in modifiers)  # else of who is here


def begins_block(instruction: Instruction) -> bool:
    """Whether a block begins with an instruction: one that gathers threads, or lets others go first and looks again."""
    return gathers(instruction) or is_mbarrier_wait(instruction) or is_product_wait(instruction)


def is_mbarrier_wait(instruction: Instruction) -> bool:
    """Whether an instruction looks whether a phase of an mbarrier is complete."""
    return instruction.opcode == "mbarrier" and bool({"test_wait", "try_wait"} & set(instruction.modifiers))


def is_product_wait(instruction: Instruction) -> bool:
    """Whether an instruction waits for products by a group of warps."""
    return instruction.opcode == "wgmma" and "wait_group" in instruction.modifiers


def _is_indirect(instruction: Instruction) -> bool:
    """Whether an instruction calls through a register: lanes that call another function come to it again."""
    return instruction.opcode == "call" and any(isinstance(operand, Register) for operand in instruction.operands)


@dataclass(frozen=True)
class Block:
    """Instructions that run one after another; the last may be one that ends a block.

    targets: the blocks that may follow, by number: where it may jump, those of a table of branches, and the one behind
    it in the text, None where its end is never passed.
    """

    number: int
    instructions: tuple[Instruction, ...]
    targets: tuple[int, ...]
    behind: int | None
    jump: int | None
    table: tuple[int, ...]


@dataclass(frozen=True)
class ControlFlow:
    """The blocks of a function in their order; the first is where it begins.

    crossing: the registers that live beyond a block. headers: blocks that something later jumps back to. waiting:
    blocks of loops in which threads may wait for what others write. yielding: likewise, and let others go first.
    turn_ends: blocks behind which turns may end besides (spinning.py).
    """

    blocks: tuple[Block, ...]
    crossing: frozenset[str]
    headers: frozenset[int]
    waiting: frozenset[int]
    yielding: frozenset[int]
    turn_ends: frozenset[int] = frozenset()


def control_flow(function: Function, turn_ends: Collection[int] = ()) -> ControlFlow:
    """The blocks of a function. turn_ends: instructions, by id, that end blocks too.

    Raises PtxError for a jump to nowhere.
    """
    pieces, labels = _pieces(function, turn_ends)
    edges: list[tuple[int, ...]] = []
    behind: list[int | None] = []
    jumps: list[int | None] = []
    tables: list[tuple[int, ...]] = []
    for number, piece in enumerate(pieces):
        last = piece[-1] if piece else None
        passes = not (last and row_of(last.opcode).ends_block and last.opcode != "call" and last.guard is None)
        following = number + 1 if passes and number + 1 < len(pieces) else None
        jump: int | None = None
        table: tuple[int, ...] = ()
        if last is not None and last.opcode in ("bra", "brx") and not last.operands:
            raise PtxError(f"PTX line {last.line}: {last.text}: lacks a label")
        if last is not None and last.opcode == "bra":
            jump = _label(last.operands[0], labels, last)
        elif last is not None and last.opcode == "brx":
            target = last.operands[-1]
            if not isinstance(target, Symbol) or target.name not in function.tables:
                raise PtxError(f"PTX line {last.line}: {last.text}: not a list of targets")
            table = tuple(_label(Symbol(name), labels, last) for name in function.tables[target.name])
        behind.append(following)
        jumps.append(jump)
        tables.append(table)
        edges.append(tuple(n for n in (jump, *table, following) if n is not None))
    order = _ordered(edges)
    place = {old: new for new, old in enumerate(order)}
    blocks = tuple(
        Block(
            place[old],
            tuple(pieces[old]),
            tuple(place[n] for n in edges[old]),
            None if behind[old] is None else place[behind[old]],  # type: ignore[index]
            None if jumps[old] is None else place[jumps[old]],  # type: ignore[index]
            tuple(place[n] for n in tables[old]),
        )
        for old in order
    )
    headers = frozenset(target for block in blocks for target in block.targets if target <= block.number)
    yielding = looping(blocks, lambda instruction: instruction.opcode == "nanosleep")
    ended = frozenset(b.number for b in blocks if b.instructions and id(b.instructions[-1]) in turn_ends)
    return ControlFlow(blocks, _crossing(blocks), headers, looping(blocks, communicates), yielding, ended)


def communicates(instruction: Instruction) -> bool:
    """Whether a thread may see by it what another does meanwhile: what a thread that waits for another must use."""
    opcode = instruction.opcode
    if opcode in ("atom", "red", "mbarrier", "nanosleep", "membar", "fence"):
        return True
    return opcode in ("ld", "st") and instruction.has("volatile", "acquire", "relaxed", "release", "mmio")


def reaches_other_blocks(instruction: Instruction) -> bool:
    """Whether a thread may see by it what one of another block does meanwhile: not in shared memory, nor by what it
    only writes.
    """
    if instruction.opcode in ("red", "st") or instruction.has("shared", "shared::cta"):
        return False
    return communicates(instruction)


def _pieces(function: Function, turn_ends: Collection[int]) -> tuple[list[list[Instruction]], dict[str, int]]:
    pieces: list[list[Instruction]] = [[]]
    labels: dict[str, int] = {}
    for item in function.body or ():
        if isinstance(item, Label):
            if pieces[-1]:
                pieces.append([])
            labels[item.name] = len(pieces) - 1
            continue
        if (begins_block(item) or _is_indirect(item)) and pieces[-1]:
            pieces.append([])
        pieces[-1].append(item)
        if ends_block(item) or id(item) in turn_ends:
            pieces.append([])
        if item.opcode in ("bar", "barrier") and "red" in item.modifiers:
            pieces[-1].append(replace(item, opcode=BARRIER_RESULT, guard=None))
    return pieces, labels


def _label(operand: object, labels: Mapping[str, int], instruction: Instruction) -> int:
    if not isinstance(operand, Symbol) or operand.name not in labels:
        raise PtxError(f"PTX line {instruction.line}: {instruction.text}: no such label")
    return labels[operand.name]


def _ordered(edges: Sequence[Sequence[int]]) -> list[int]:
    """The blocks that can be reached, topologically but for edges back, loops contiguous, else as in the text."""
    reached, pending = {0}, [0]
    while pending:
        for target in edges[pending.pop()]:
            if target not in reached:
                reached.add(target)
                pending.append(target)
    return _in_order(sorted(reached), 0, edges)


def _in_order(nodes: list[int], entry: int, edges: Sequence[Sequence[int]]) -> list[int]:
    """Strongly connected components one after another; inside one, its first block and then the rest likewise."""
    inside = set(nodes)
    order: list[int] = []
    for component in components(nodes, edges, inside, entry):
        if len(component) == 1:
            order += component
            continue
        members = set(component)
        entered = [n for n in component if n == entry or any(n in edges[m] for m in inside - members)]
        header = min(entered or component)
        rest = sorted(members - {header})
        order.append(header)
        order += _in_order(rest, header, edges)
    return order


def components(nodes: Sequence[int], edges: Sequence[Sequence[int]], inside: set[int], entry: int) -> list[list[int]]:
    """Strongly connected components of the blocks `inside`, in topological order (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    # Components come out last ones first: the later in the text a root is, the earlier it is taken.
    for root in sorted(nodes, key=lambda node: (node == entry, -node)):
        if root in index:
            continue
        work = [(root, iter(sorted((n for n in edges[root] if n in inside), reverse=True)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted((n for n in edges[target] if n in inside), reverse=True))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found[::-1]


def _crossing(blocks: Sequence[Block]) -> frozenset[str]:
    """Registers that are read in a block other than the one that writes them, or before it does."""
    crossing: set[str] = set()
    home: dict[str, int] = {}
    for block in blocks:
        here: set[str] = set()
        for instruction in block.instructions:
            crossing.update(name for name in read(instruction) if name not in here)
            for name in written(instruction):
                if home.setdefault(name, block.number) != block.number:
                    crossing.add(name)
                # Where a guard may keep it as it was, it is read as well.
                if instruction.guard is None or name in here:
                    here.add(name)
                else:
                    crossing.add(name)
    return frozenset(crossing)


def looping(blocks: Sequence[Block], does: Callable[[Instruction], bool]) -> frozenset[int]:
    """Blocks that something jumps back to, over an instruction that does something."""
    found: set[int] = set()
    for block in blocks:
        for target in block.targets:
            if target <= block.number and any(
                does(instruction) for inner in blocks[target : block.number + 1] for instruction in inner.instructions
            ):
                found.add(target)
    return frozenset(found)
