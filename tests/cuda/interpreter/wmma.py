"""wmma: fragments whose layout is nobody's business.

Here slot s of lane l of a fragment with n slots is element (n l + s) modulo the size of the matrix, rows first: those
of A and B that have more slots than elements have each element twice.
"""

from simtmm.cuda.ptx.syntax import Instruction, Operand
from tests.cuda.interpreter.matrices import Matrix, accumulated, elements, parts, to_bits, write_elements
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread, space_of
from tests.cuda.interpreter.types import bits_of, bytes_of, is_type
from tests.cuda.interpreter.warps import FULL, Gathered


@opcode("wmma")
def wmma(thread: Thread, instruction: Instruction) -> None:
    """load, store and mma."""
    together = {"load": _loaded, "store": _stored, "mma": _multiplied}[instruction.modifiers[0]]
    thread.warp.gather(thread, instruction, FULL, together)


def _shape(instruction: Instruction) -> tuple[int, int, int]:
    name = next(each for each in instruction.modifiers if each[0] == "m" and each[1].isdigit())
    rows, _, rest = name[1:].partition("n")
    columns, _, depth = rest.partition("k")
    return int(rows), int(columns), int(depth)


def _size(instruction: Instruction, matrix: str) -> tuple[int, int]:
    """Rows and columns of A, B, or C and D."""
    m, n, k = _shape(instruction)
    return {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))


def _place(slot: int, lane: int, slots: int, size: tuple[int, int]) -> tuple[int, int]:
    return divmod((slots * lane + slot) % (size[0] * size[1]), size[1])


def _slots(operand: Operand, kind: str) -> int:
    return len(parts(operand)) * max(32, bits_of(kind)) // bits_of(kind)


def _addresses(
    thread: Thread, instruction: Instruction, place: Operand, fragment: Operand, stride: Operand | None, lane: int
) -> list[tuple[str, int]]:
    """Where the elements of a lane's slots are in memory."""
    kind = instruction.modifiers[-1]
    size = _size(instruction, instruction.modifiers[1])
    by_row = "row" in instruction.modifiers
    leading = thread.read(stride, "u32") if stride is not None else size[1] if by_row else size[0]
    space, base = thread.address(place, space_of(instruction))
    slots = _slots(fragment, kind)
    found = []
    for slot in range(slots):
        row, column = _place(slot, lane, slots, size)
        offset = row * leading + column if by_row else column * leading + row
        found.append((space, base + offset * bytes_of(kind)))
    return found


def _loaded(gathered: Gathered) -> None:
    for lane, (thread, instruction) in gathered.items():
        target, place, *stride = instruction.operands
        kind = instruction.modifiers[-1]
        where = _addresses(thread, instruction, place, target, stride[0] if stride else None, lane)
        write_elements(thread, target, kind, [thread.load(*each, bytes_of(kind)) for each in where])


def _stored(gathered: Gathered) -> None:
    for lane, (thread, instruction) in gathered.items():
        place, fragment, *stride = instruction.operands
        kind = instruction.modifiers[-1]
        where = _addresses(thread, instruction, place, fragment, stride[0] if stride else None, lane)
        values = elements(thread, fragment, kind)
        for (space, address), (_, _, value) in zip(where, values, strict=True):
            thread.store(space, address, bytes_of(kind), to_bits(value, kind))


def _matrix(gathered: Gathered, operand: int, kind: str, matrix: str) -> Matrix:
    found: Matrix = {}
    for lane, (thread, instruction) in gathered.items():
        held = elements(thread, instruction.operands[operand], kind)
        for slot, (_, _, value) in enumerate(held):
            found[_place(slot, lane, len(held), _size(instruction, matrix))] = value
    return found


def _multiplied(gathered: Gathered) -> None:
    instruction = next(iter(gathered.values()))[1]
    kinds = [each for each in instruction.modifiers if is_type(each)]
    # Of halves only D and C are named; tf32, bf16, f64 and whole numbers name all four.
    to, a_kind, b_kind, c_kind = kinds if len(kinds) == 4 else (kinds[0], "f16", "f16", kinds[1])
    a, b, c = (
        _matrix(gathered, at, kind, name) for at, kind, name in ((1, a_kind, "a"), (2, b_kind, "b"), (3, c_kind, "c"))
    )
    depth = _shape(instruction)[2]
    for lane, (thread, own) in gathered.items():
        slots = _slots(own.operands[0], to)
        results = []
        for slot in range(slots):
            row, column = _place(slot, lane, slots, _size(own, "d"))
            pairs = [(a[row, k], b[k, column]) for k in range(depth)]
            total = accumulated(pairs, c[row, column], (to, a_kind, b_kind, c_kind), short=True)
            results.append(to_bits(total, to, own.has("satfinite")))
        write_elements(thread, own.operands[0], to, results)
