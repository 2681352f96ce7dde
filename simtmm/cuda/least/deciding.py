"""A function's blocks as the walk needs them: what each step takes, and the instructions that decide where it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.ptx.flow.basic_blocks import Block
from simtmm.cuda.ptx.flow.registers import guards, read, written
from simtmm.cuda.ptx.flow.steps import Step, access_kind, is_bulk, is_of_texture
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.stalls import CLASSES

COSTS = ("instructions", "shared_accesses", "loads", "stores", "stall", *CLASSES)
Cost: TypeAlias = tuple[int, ...]
"""What a thread did, by COSTS."""

NOTHING: Cost = (0,) * len(COSTS)
_SHARED = ("shared_load", "shared_store", "shared_atomic")
_LOADS = ("load", "async", "atomic", "local_load")
_STORES = ("store", "local_store")


@dataclass(frozen=True)
class Stretch:
    """A block. cost: of what all do. items: in order, instructions to follow, and costs of accesses under a guard."""

    block: Block
    cost: Cost
    items: tuple[tuple[Instruction, Cost | None], ...]


def stretches(code: FunctionCode) -> tuple[Stretch, ...]:
    """The blocks of a function, in their order."""
    deciding = _deciding(code.flow.blocks)
    return tuple(_stretch(block, steps, deciding) for block, steps in zip(code.flow.blocks, code.steps, strict=True))


def plus(one: Cost, other: Cost) -> Cost:
    """Both, one after the other."""
    return tuple(map(int.__add__, one, other))


def _stretch(block: Block, steps: Sequence[Step], deciding: frozenset[str]) -> Stretch:
    cost = NOTHING
    items: list[tuple[Instruction, Cost | None]] = []
    for step in steps:
        access = step.access
        if access is not None and access.guard is not None:
            cost = plus(cost, _cost_of(step.work, step.stall, "work"))
        else:
            cost = plus(cost, _cost_of(step.work, step.stall, step.kind if _is_sure(access) else "work"))
        for instruction in step.instructions:
            if instruction is access and access.guard is not None and _is_sure(access):
                items.append((instruction, _cost_of({}, 0, step.kind)))
            if not deciding.isdisjoint(written(instruction)):
                items.append((instruction, None))
    return Stretch(block, cost, tuple(items))


def _is_sure(access: Instruction | None) -> bool:
    """Whether each lane that comes to an access does it, as one instruction of its warp.

    Not so for accesses of the lanes whose coordinates are inside a texture, nor for those that are more than one event.
    """
    return access is not None and not is_of_texture(access) and access.opcode != "wmma" and not is_bulk(access)


def _cost_of(work: Mapping[str, int], stall: int, kind: str) -> Cost:
    """What a step takes. kind: of its access, "work" for none that counts."""
    is_access = kind not in ("work", "barrier")
    return (
        sum(work.values()) + is_access,
        int(kind in _SHARED),
        int(kind in _LOADS),
        int(kind in _STORES),
        stall if work else 0,
        *(work.get(name, 0) for name in CLASSES),
    )


def _deciding(blocks: Sequence[Block]) -> frozenset[str]:
    """Registers on whose values it depends where threads go, and which accesses they do."""
    found: set[str] = set()
    sources: dict[str, set[str]] = {}
    for block in blocks:
        for instruction in block.instructions:
            names = read(instruction)
            for name in written(instruction):
                sources.setdefault(name, set()).update(names)
            if not written(instruction) or access_kind(instruction) is not None:
                found.update(guards(instruction))
    pending = list(found)
    while pending:
        for name in sources.get(pending.pop(), set()) - found:
            found.add(name)
            pending.append(name)
    return frozenset(found)
