"""Blocks of clusters: what of a kernel tells them apart, and whose shared memory an address of the machine is.

Bits 24 and up of the machine's addresses have the rank of the block that the memory is of, of its own, too. Those of
PTX have 0 for the own, and else one more than the rank (docs/hopper.md).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import PEER_BIT, PEER_OFFSETS, SHARED_WINDOW
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Register
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.syntax import Listing

if TYPE_CHECKING:
    from simtmm.cuda.sass.writing import Writing

_REGISTERS = ("%cluster", "%nclusterid", "%is_explicit_cluster")
_ORDERS = "CGAERRBAR"  # behind the MEMBAR of a release; a relaxed arrival has none
_ACCESSES = ("ST", "STG", "STS", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "SYNCS", "UBLKCP", "STAS", "REDAS", "BRA")


def knows_clusters(instructions: Iterable[Instruction]) -> bool:
    """Whether code asks for a block's place in its cluster, or reaches other blocks of it."""
    return any(map(_is_of_clusters, instructions))


def _is_of_clusters(instruction: Instruction) -> bool:
    if instruction.opcode in ("mapa", "getctarank") or instruction.has("multicast::cluster"):
        return True
    if instruction.opcode == "barrier" and instruction.has("cluster"):
        return True
    return any(isinstance(each, Register) and each.name.startswith(_REGISTERS) for each in instruction.operands)


def relaxed_arrivals(listing: Listing) -> frozenset[int]:
    """The addresses of arrivals at a cluster's barrier that order no memory."""
    found, orders = set[int](), False
    for each in listing.instructions:
        if each.opcode == _ORDERS:
            orders = True
        elif each.opcode in _ACCESSES:
            orders = False
        elif each.opcode == "UCGABAR_ARV":
            if not orders:
                found.add(each.address)
            orders = False
    return frozenset(found)


def own_offset(lifting: "Writing", address: PtxOperand) -> Register:
    """An address in the block's own shared memory, of 32 bits, as PTX has it."""
    return lifting.value("and.b32", "b32", address, Immediate(PEER_OFFSETS))


def offset_in_cluster(lifting: "Writing", address: PtxOperand) -> Register:
    """An address in the shared memory of a block of the cluster, of 32 bits, as PTX has it."""
    rank = lifting.value("shr.u32", "b32", address, Immediate(PEER_BIT))
    own = lifting.value("mov.u32", "b32", Register("%cluster_ctarank"))
    is_own = lifting.value("setp.eq.b32", "pred", rank, own)
    more = lifting.value("add.s32", "b32", rank, Immediate(1))
    number = lifting.value("selp.b32", "b32", Immediate(0), more, is_own)
    number = lifting.value("shl.b32", "b32", number, Immediate(PEER_BIT))
    return lifting.value("or.b32", "b32", own_offset(lifting, address), number)


def generic_in_cluster(lifting: "Writing", address: PtxOperand) -> Register:
    """A generic address, of 64 bits, as PTX has it: only one of shared memory is another."""
    window = lifting.value("and.b64", "b64", address, Immediate(~0xFFFFFFFF & (1 << 64) - 1))
    is_shared = lifting.value("setp.eq.b64", "pred", window, Immediate(SHARED_WINDOW))
    low = offset_in_cluster(lifting, lifting.value("cvt.u32.u64", "b32", address))
    wide = lifting.value("cvt.u64.u32", "b64", low)
    moved = lifting.value("or.b64", "b64", window, wide)
    return lifting.value("selp.b64", "b64", moved, address, is_shared)
