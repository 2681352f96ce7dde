"""A function's blocks as steps: what a trace records of them.

A step is a wait for values that loads bring, then work, then at most one access. Waits stand where a value is first
needed: behind a load whose value no instruction has read yet, the first that reads it begins a step.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from simtmm.cuda.ptx.flow.basic_blocks import ControlFlow
from simtmm.cuda.ptx.flow.copy_groups import commits, in_flight_of, waits_for_copies
from simtmm.cuda.ptx.flow.fences import fence_of
from simtmm.cuda.ptx.flow.registers import read, written
from simtmm.cuda.ptx.flow.work import class_of, times_of
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Instruction, Issue, Symbol, Vector
from simtmm.cuda.ptx.types import bits_of, bytes_of, is_type
from simtmm.errors import PtxError

SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
BULK_WIDTH = 16  # bytes of the pieces that a copy in bulk is recorded in,
BULK_ENTRIES = 1024  # of which one instruction of a warp writes down so many times 32 at most
_ROWS, _DEPTH_BYTES, _GROUP_WARPS = 16, 32, 4  # of a product by a group of warps: rows of each, bytes of depth
COPIES = "%copies"  # in the place of a register: what a thread's cp.async bring


@dataclass
class Step:
    """Instructions of which the last may be an access or a barrier.

    kind: "work", or what the access is by the names of trace.schema.Kind in lower case. width: bytes a thread. work:
    instructions by class. needs, gives: registers, or scoreboards of the machine. stall: cycles that its instructions
    hold their warp beyond one each. unused: whether no instruction of the function reads what its atomic gives.
    commits: how many groups of copies it makes. in_flight: how many of the latest groups it leaves under way where it
    waits for all others, else None. results: of instructions that scoreboards tell of: class, scoreboard, and the
    step's cycles before the instruction. cycles: of all of the step, but for the issue of its access. operand_cycles:
    see TraceSite. product: likewise, of a product by a group of warps; fences: likewise, how many of each kind.
    """

    instructions: list[Instruction] = field(default_factory=list)
    kind: str = "work"
    width: int = 0
    work: dict[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    stall: int = 0
    unused: bool = False
    commits: int = 0
    in_flight: int | None = None
    results: tuple[tuple[str, str, int], ...] = ()
    operand_cycles: dict[str, int] = field(default_factory=dict)
    cycles: int = 0
    product: tuple[int, int] = (0, 0)
    fences: dict[str, int] = field(default_factory=dict)

    def take(self, instruction: Instruction) -> None:
        """Have it as the last of its instructions."""
        self.instructions.append(instruction)
        if (fence := fence_of(instruction)) is not None:
            self.fences[fence] = self.fences.get(fence, 0) + 1

    def add(self, issue: Issue, is_access: bool) -> None:
        """Count what one of its instructions, of the machine, takes.

        is_access: whether it accesses memory.
        """
        if issue.result is not None:
            self.results += ((*issue.result, self.cycles),)
        if issue.operand_cycles and issue.work is not None and not is_access:  # whose slot is no work
            self.operand_cycles[issue.work] = self.operand_cycles.get(issue.work, 0) + issue.operand_cycles
        self.cycles += issue.stall + (issue.work is not None and not is_access)

    @property
    def is_recorded(self) -> bool:
        """Whether it leaves anything in a trace."""
        return self.kind != "work" or bool(self.work or self.needs or self.commits) or self.in_flight is not None

    @property
    def access(self) -> Instruction | None:
        """The instruction that accesses memory."""
        return self.instructions[-1] if self.kind not in ("work", "barrier") else None


def space_of(instruction: Instruction) -> str:
    """The state space that an access names, "" for generic addresses; without ::cta and the like."""
    if is_of_texture(instruction):
        return "global"
    for modifier in instruction.modifiers:
        space = modifier.split("::")[0]
        if space in ("global", "shared", "local", "const", "param"):
            return space
    return ""


def is_of_texture(instruction: Instruction) -> bool:
    """Whether it accesses a texture or a surface: for lanes whose coordinates are inside."""
    row = row_of(instruction.opcode)
    return row.is_of_texture and row.memory != ""


def is_bulk(instruction: Instruction) -> bool:
    """Whether it copies a number of bytes that is in a register: recorded piece by piece, its step a piece."""
    return instruction.opcode == "cp" and "bulk" in instruction.modifiers


def width_of(instruction: Instruction) -> int:
    """Bytes that a thread accesses; 0 where its address in the log holds the number (TOLD_WIDTH): of textures."""
    if instruction.opcode in ("tex", "tld4"):
        return 0
    if is_bulk(instruction):
        return BULK_WIDTH
    if instruction.opcode == "cp":
        if len(instruction.operands) < 3:
            raise PtxError(f"PTX line {instruction.line}: {instruction.text}: lacks an address or its size")
        size = instruction.operands[2]
        return int(getattr(size, "value", 4))
    if instruction.opcode in ("ldmatrix", "stmatrix"):
        return 16  # a row of a tile, of each lane that names one
    if instruction.opcode == "wmma":
        return _fragment_bytes(instruction) // 32
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    lanes = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return bytes_of(kinds[-1]) * lanes if kinds else 4


def _fragment_bytes(instruction: Instruction) -> int:
    """The bytes of the matrix that wmma.load and wmma.store move."""
    shape = next((SHAPE.fullmatch(m) for m in instruction.modifiers if SHAPE.fullmatch(m)), None)
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if shape is None or not kinds:
        return 0
    rows, columns, depth = map(int, shape.groups())
    elements = rows * depth if instruction.has("a") else columns * depth if instruction.has("b") else rows * columns
    return elements * bits_of(kinds[-1]) // 8


def access_kind(instruction: Instruction) -> str | None:  # noqa: C901 - a case for each kind of access
    """What an instruction is to a trace; None where it accesses no memory that is recorded."""
    opcode, space = instruction.opcode, space_of(instruction)
    if opcode in _ASYNCHRONOUS:
        kind, apart = _ASYNCHRONOUS[opcode]
        return None if apart & set(instruction.modifiers) else kind
    if row_of(opcode).is_barrier:
        return None if "warp" in instruction.modifiers or "arrive" in instruction.modifiers else "barrier"
    if opcode == "cp" and "async" in instruction.modifiers:
        return _copy_kind(set(instruction.modifiers), space)
    if opcode in ("ldmatrix", "stmatrix"):
        return "shared_load" if opcode == "ldmatrix" else "shared_store"
    if opcode == "wmma" and "mma" not in instruction.modifiers:
        if "load" in instruction.modifiers:
            return "shared_load" if space == "shared" else "async"
        return "shared_store" if space == "shared" else "store"
    if opcode in ("atom", "red"):
        return "shared_atomic" if space == "shared" else "atomic"
    if is_of_texture(instruction):
        return "async" if row_of(opcode).memory == "reads" else "store"
    if opcode in ("ld", "ldu"):
        if space == "param" and any(isinstance(getattr(o, "base", None), Symbol) for o in instruction.operands):
            return None
        return {"shared": "shared_load", "local": "local_load", "const": "constant_load"}.get(space, "async")
    if opcode == "st":
        if space == "param":
            return None
        return {"shared": "shared_store", "local": "local_store"}.get(space, "store")
    return None


_ASYNCHRONOUS: dict[str, tuple[str, set[str]]] = {  # what instructions are to a trace, but for those with a modifier
    "mbarrier": ("mbarrier", {"inval", "pending_count"}),
    "wgmma": ("product", {"fence"}),
    "setmaxnreg": ("product", set()),
}


def _copy_kind(modifiers: set[str], space: str) -> str | None:
    """Likewise of cp.async and its kin."""
    if "mbarrier" in modifiers:
        return "mbarrier"
    if "bulk" in modifiers and {"commit_group", "wait_group"} & modifiers:
        return "product"  # a group of stores
    if {"commit_group", "wait_group", "wait_all", "prefetch"} & modifiers:
        return None
    if "bulk" in modifiers and "global" not in modifiers:  # to another block's shared memory: what its mbarrier is told
        return "mbarrier"
    return "store" if space == "global" else "copy" if "bulk" in modifiers else "async"


def steps(flow: ControlFlow) -> tuple[tuple[Step, ...], ...]:
    """The steps of each block, in the order of blocks."""
    used = {name for block in flow.blocks for instruction in block.instructions for name in read(instruction)}
    pending: list[set[str]] = [set() for _ in flow.blocks]
    every = [each for block in flow.blocks for each in block.instructions]
    with_groups = any(in_flight_of(each) is not None for each in every)
    with_mbarriers = any(each.opcode == "mbarrier" or (is_of_some(each) and each.has("arrive")) for each in every)
    steps_of: list[tuple[Step, ...]] = [() for _ in flow.blocks]
    changed = set(range(len(flow.blocks)))
    while changed:
        number = min(changed)
        changed.remove(number)
        block = flow.blocks[number]
        left = set(pending[number])
        steps_of[number] = _of_block(block.instructions, left, used, with_groups, with_mbarriers)
        for target in block.targets:
            if not left <= pending[target]:
                pending[target] |= left
                changed.add(target)
    return tuple(steps_of)


def _of_block(  # noqa: C901 - a case for each kind of step
    instructions: Sequence[Instruction],
    pending: set[str],
    used: set[str],
    with_groups: bool,
    with_mbarriers: bool,
) -> tuple[Step, ...]:
    """The steps of a block; `pending`, the registers whose loads are under way, becomes those behind it.

    used: registers that the function reads. with_groups: whether it matters which copies are in which group, as nothing
    waits for some of them alone else. with_mbarriers: whether some warps of a block may wait where others go on, so
    that barriers of some of its warps are not barriers of all of them.
    """
    found: list[Step] = []
    step = Step()

    def close() -> None:
        nonlocal step
        if step.instructions:
            found.append(step)
        step = Step()

    for instruction in instructions:
        issue = instruction.issue
        kind = access_kind(instruction) if issue is None or issue.recorded else None
        if with_mbarriers and is_of_some(instruction):
            kind = "mbarrier"
        if issue is not None:
            needs = tuple(name for name in issue.needs if name in pending)
            gives, step_stall = issue.gives, issue.stall
        else:
            needs = tuple(dict.fromkeys(name for name in read(instruction) if name in pending))
            if waits_for_copies(instruction) and COPIES in pending:
                needs += (COPIES,)
            gives = written(instruction)
            needs += tuple(name for name in gives if name in pending and name not in needs)  # loaded over
            step_stall = 0
        guarded = kind is not None and (instruction.guard is not None or is_of_texture(instruction))
        alone = guarded or is_bulk(instruction)  # work of others, or work that is done once for many pieces
        in_flight = in_flight_of(instruction) if COPIES in pending else None
        if ((needs or in_flight is not None) and step.is_recorded) or (alone and step.instructions):
            close()
        if needs and guarded:
            step.needs = needs  # the whole warp waits for them, whoever the access is of
            step.instructions.append(_NOTHING)
            close()
            needs = ()
        step.needs += needs
        step.in_flight = in_flight if in_flight is not None else step.in_flight
        step.commits += with_groups and commits(instruction)
        pending.difference_update(needs)
        if issue is None:
            pending.difference_update(gives)
        step.take(instruction)
        step.stall += step_stall
        if issue is not None:
            step.add(issue, kind is not None)
            pending.update(issue.result[1:] if issue.result else ())
        if kind is None:
            work = class_of(instruction) if issue is None else issue.work
            if work is not None:
                step.work[work] = step.work.get(work, 0) + (times_of(instruction) if issue is None else 1)
            continue
        _begin_access(step, kind, instruction)
        step.unused = kind == "atomic" and used.isdisjoint(written(instruction))
        if kind == "async" and instruction.opcode == "cp" and issue is None:
            gives = (COPIES,)
        if kind in ("async", "shared_load", "local_load") and gives:
            step.gives = gives
            pending.update(gives)
        close()
    close()
    return tuple(_stalled_behind_copies(found))


def _stalled_behind_copies(steps: Sequence[Step]) -> Sequence[Step]:
    """Have the step behind a copy in bulk take its stalls: its own stands for a piece, and comes once for each."""
    for step, behind in itertools.pairwise(steps):
        if step.kind in ("copy", "store") and is_bulk(step.instructions[-1]):
            behind.stall += step.stall
            step.stall = 0
    return steps


def is_of_some(instruction: Instruction) -> bool:
    """Whether it is a barrier of a block that names how many threads it is for."""
    if instruction.opcode not in ("bar", "barrier") or {"warp", "cluster", "red"} & set(instruction.modifiers):
        return False
    return len(instruction.operands) > 1


def _width(kind: str, instruction: Instruction) -> int:
    return 0 if kind in ("barrier", "mbarrier", "product") else width_of(instruction)


def _product(instruction: Instruction) -> tuple[int, int]:
    """The columns of a product, and what a warp of its group reads of shared memory [bytes]: its rows of A, unless they
    are in registers, and a quarter of B, of which the group reads each number once.
    """
    columns = next((int(each[4:].partition("k")[0]) for each in instruction.modifiers if each.startswith("m64n")), 0)
    if not columns:
        return 0, 0
    own = 0 if len(instruction.operands) > 1 and isinstance(instruction.operands[1], Vector) else _ROWS * _DEPTH_BYTES
    depth = _DEPTH_BYTES * (2 if instruction.has("sp") else 1)
    return columns, own + columns * depth // _GROUP_WARPS


def _begin_access(step: Step, kind: str, instruction: Instruction) -> None:
    """The step's access. A product is work as well, for machines whose warps do it themselves."""
    step.kind, step.width = kind, _width(kind, instruction)
    if kind == "product":
        step.product = _product(instruction)
        if instruction.issue is not None and instruction.issue.work is None:  # told besides
            return
        step.work["tensor" if any(step.product) else "control"] = times_of(instruction)


def states_waits(flows: Sequence[ControlFlow]) -> bool:
    """Whether the steps of a kernel's functions say all that is waited for, so that its barriers wait for no loads.

    Not where another function may wait for copies than the one that began them, nor where machine code of before sm_90
    has an mbarrier tell of them, by an atomic operation: which one is waited for where is not known there.
    """
    instructions = [each for flow in flows for block in flow.blocks for each in block.instructions]
    copies = any(access_kind(each) == "async" and each.opcode == "cp" for each in instructions)
    tells = any(each.opcode == "atom" and "arrive" in each.modifiers for each in instructions)
    return not copies or (len(flows) == 1 and not tells)


_NOTHING = Instruction("", (), (), None, 0, None, "")
