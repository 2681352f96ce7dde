"""The tensor memory accelerator: boxes of tensors that a map describes, and sums of what lies in shared memory."""

from collections.abc import Sequence

from simtmm.cuda.ptx.syntax import Address, Immediate, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.asynchronous import one_lane, places_and_barrier, register_of, upper_half
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Operand, Word

_DIMENSIONS = {f"{n}D": n for n in range(1, 6)}
_SUMS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR")
_OFFSET_BITS = {3: 16, 4: 8, 5: 5}  # of each offset of im2col, one above the other, by dimensions
_CACHE = Word("desc")  # how lines are kept, which changes nothing
_REDUCED = {
    "F16": "noftz.f16", "BF16": "noftz.bf16", "F32": "f32", "F64": "f64", "U32": "u32", "S32": "s32", "U64": "u64",
    "S64": "s64", "64": "b64",
}  # fmt: skip


def _operands(lifting: Lifting, instruction: MachineInstruction, *counts: int) -> list[Operand]:
    """The operands without the policy of a cache."""
    return lifting.exactly([each for each in instruction.operands if each != _CACHE], *counts)


def _rank(lifting: Lifting, instruction: MachineInstruction, *known: str) -> int:
    lifting.only(*_DIMENSIONS, *known)
    found = [_DIMENSIONS[m] for m in instruction.modifiers if m in _DIMENSIONS]
    if len(found) != 1:
        raise lifting.refuse()
    return found[0]


def _map(lifting: Lifting, place: Operand, coordinates: Sequence[PtxOperand]) -> Address:
    """The tensor map at an address of 64 bits, and the coordinates of a box."""
    address = lifting.copy(lifting.pair(register_of(lifting, place)), "b64")
    return Address(address, 0, (Vector(tuple(map(lifting.copy, coordinates))),))


def load_box(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UTMALDG: to shared memory, which an mbarrier counts; registers hold both addresses and the coordinates."""
    rank = _rank(lifting, instruction, "IM2COL", "MULTICAST")
    im2col, multicast = instruction.has("IM2COL"), instruction.has("MULTICAST")
    to, tensor, *offsets = _operands(lifting, instruction, 3 if im2col or multicast else 2)
    (place, barrier), coordinates = places_and_barrier(lifting, to, rank)
    more: list[PtxOperand] = []
    if im2col:
        bits = _OFFSET_BITS.get(rank, 0)
        if not bits:
            raise lifting.refuse()
        packed = lifting.whole(offsets[0])
        for number in range(rank - 2):
            moved = lifting.value("shr.u32", "b32", packed, Immediate(bits * number))
            field = lifting.value("and.b32", "b32", moved, Immediate((1 << bits) - 1))
            more.append(lifting.value("cvt.u16.u32", "b16", field))
    lifting.access(
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{'im2col' if im2col else 'tile'}"
        f".mbarrier::complete_tx::bytes{'.multicast::cluster' if multicast else ''}",
        place, _map(lifting, tensor, coordinates), barrier, *([Vector(tuple(more))] if im2col else []),
        *([upper_half(lifting, offsets[0])] if multicast else []), when=one_lane(lifting),
    )  # fmt: skip


def store_box(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UTMASTG, and UTMAREDG, which adds up: from shared memory; registers hold its address and the coordinates."""
    reduces = instruction.opcode == "UTMAREDG"
    rank = _rank(lifting, instruction, "IM2COL", *(_SUMS if reduces else ()))
    given, tensor = _operands(lifting, instruction, 2)
    place, *coordinates = lifting.registers_of(register_of(lifting, given), 1 + rank)
    ways = [m.lower() for m in instruction.modifiers if m in _SUMS]
    if len(ways) != reduces:
        raise lifting.refuse()
    mode = "im2col_no_offs" if instruction.has("IM2COL") else "tile"
    name = f"cp.{'reduce.' if reduces else ''}async.bulk.tensor.{rank}d.global.shared::cta"
    lifting.access(
        f"{name}{'.' + ways[0] if reduces else ''}.{mode}.bulk_group",
        _map(lifting, tensor, coordinates), Address(lifting.shared(lifting.copy(place))), when=one_lane(lifting),
    )  # fmt: skip


def reduce_bytes(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UBLKRED: pieces of 16 bytes of shared memory, added to global memory."""
    lifting.only("G", "S", "RN", *_SUMS, *_REDUCED)
    if instruction.modifiers[:2] != ("G", "S"):
        raise lifting.refuse()
    to, given, pieces = _operands(lifting, instruction, 3)
    ways = [m.lower() for m in instruction.modifiers if m in _SUMS]
    kinds = [_REDUCED[m] for m in instruction.modifiers if m in _REDUCED]
    if len(ways) != 1 or len(kinds) > 1:
        raise lifting.refuse()
    kind = kinds[0] if kinds else "b32" if ways[0] in ("and", "or", "xor") else "u32"
    size = lifting.value("shl.b32", "b32", lifting.whole(pieces), Immediate(4))
    place = Address(lifting.copy(lifting.pair(register_of(lifting, to)), "b64"))
    source = Address(lifting.shared(lifting.copy(lifting.bits(register_of(lifting, given)))))
    name = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{ways[0]}.{kind}"
    lifting.access(name, place, source, size, when=one_lane(lifting))


def prefetch(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UTMAPF and UTMACCTL: boxes and maps fetched or dropped in caches, of which a thread sees nothing."""


HANDLERS = {
    "UTMALDG": load_box,
    **dict.fromkeys(("UTMASTG", "UTMAREDG"), store_box),
    "UBLKRED": reduce_bytes,
    **dict.fromkeys(("UTMAPF", "UTMACCTL"), prefetch),
}
