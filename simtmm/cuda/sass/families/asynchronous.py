"""Copies between global and shared memory that a thread does not wait for, and the barriers that count them."""

from simtmm.cuda.ptx.syntax import Address, Immediate, Pair, Register, Sink, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Memory, Operand, Reg, Word

_HOW = ("E", "BYPASS", "LTC64B", "LTC128B", "LTC256B", "ACCESS", "EF", "EL", "EU", "NA")


def copy(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LDGSTS: 4, 8 or 16 bytes. With .ZFILL as many of the last bytes are 0 as the address lies behind a multiple of
    that; where its predicate does not hold, all are.
    """
    lifting.only(*_HOW, "64", "128", "ZFILL")
    to, given, *rest = instruction.operands
    size = 16 if instruction.has("128") else 8 if instruction.has("64") else 4
    if len(rest) > 1:
        raise lifting.refuse()
    place: PtxOperand = lifting.address(given)
    count: PtxOperand | None = None
    if instruction.has("ZFILL"):
        assert isinstance(place, Address)
        whole = lifting.value("add.s64", "b64", place.base, Immediate(place.offset))
        zeros = lifting.value("cvt.u32.u64", "b32", lifting.value("and.b64", "b64", whole, Immediate(size - 1)))
        count = lifting.value("sub.s32", "b32", Immediate(size), zeros)
        place = Address(lifting.value("and.b64", "b64", whole, Immediate(~(size - 1) & (1 << 64) - 1)))
    if rest:
        all_of_it: PtxOperand = Immediate(size) if count is None else count
        count = lifting.value("selp.b32", "b32", all_of_it, Immediate(0), lifting.predicate(rest[0]))
    counted = [] if count is None else [count]
    # .cg and .ca, the same here.
    lifting.access("cp.async.ca.shared.global", lifting.short_address(to), place, Immediate(size), *counted)


def copy_bulk(lifting: Lifting, instruction: MachineInstruction) -> None:
    """UBLKCP: pieces of 16 bytes, counted by a register, once a warp; an mbarrier counts those to shared memory.

    With .MULTICAST the register's upper half has a bit for each block of the cluster that gets them.
    """
    lifting.only("S", "G", "MULTICAST")
    to, given, pieces = lifting.exactly([each for each in instruction.operands if each != Word("desc")], 3)
    size = lifting.value("shl.b32", "b32", lifting.whole(pieces), Immediate(4))
    counts = ".mbarrier::complete_tx::bytes"
    if instruction.modifiers == ("S", "G"):
        place, barrier = places_and_barrier(lifting, to, 0)[0]
        source = Address(lifting.copy(lifting.pair(register_of(lifting, given)), "b64"))
        name = f"cp.async.bulk.shared::cluster.global{counts}"
        lifting.access(name, place, source, size, barrier, when=one_lane(lifting))
    elif instruction.modifiers == ("S", "G", "MULTICAST"):
        place, barrier = places_and_barrier(lifting, to, 0)[0]
        source = Address(lifting.copy(lifting.pair(register_of(lifting, given)), "b64"))
        size = lifting.value("and.b32", "b32", size, Immediate(0xFFFF << 4))
        mask = upper_half(lifting, pieces)
        name = f"cp.async.bulk.shared::cluster.global{counts}.multicast::cluster"
        lifting.access(name, place, source, size, barrier, mask, when=one_lane(lifting))
    elif instruction.modifiers == ("S", "S"):
        place, barrier = places_and_barrier(lifting, to, 0)[0]
        source = Address(lifting.shared(lifting.copy(lifting.bits(register_of(lifting, given)))))
        name = f"cp.async.bulk.shared::cluster.shared::cta{counts}"
        lifting.access(name, place, source, size, barrier, when=one_lane(lifting))
    elif instruction.modifiers == ("G", "S"):
        place = Address(lifting.copy(lifting.pair(register_of(lifting, to)), "b64"))
        source = Address(lifting.shared(lifting.copy(lifting.bits(register_of(lifting, given)))))
        lifting.access("cp.async.bulk.global.shared::cta.bulk_group", place, source, size, when=one_lane(lifting))
    else:
        raise lifting.refuse()


def register_of(lifting: Lifting, place: Operand) -> Reg:
    """The register, or the first of a pair, that holds an address."""
    if not isinstance(place, Memory) or len(place.registers) != 1 or place.offset or place.registers[0].part:
        raise lifting.refuse("has an address that is not supported")
    return place.registers[0]


def places_and_barrier(lifting: Lifting, to: Operand, more: int) -> tuple[tuple[Address, Address], list[Register]]:
    """Where a copy goes, and the mbarrier that counts it, in the cluster's memory; and what more registers have."""
    place, barrier, *behind = lifting.registers_of(register_of(lifting, to), 2 + more)
    both = tuple(Address(lifting.shared(lifting.copy(each), in_cluster=True)) for each in (place, barrier))
    return (both[0], both[1]), [lifting.copy(each) for each in behind]


def upper_half(lifting: Lifting, packed: Operand) -> Register:
    """The upper 16 bits of a register: the blocks of a multicast."""
    return lifting.value("cvt.u16.u32", "b16", lifting.value("shr.u32", "b32", lifting.whole(packed), Immediate(16)))


def one_lane(lifting: Lifting) -> Register:
    """Whether a lane is the first of those that take part: for what the machine does once a warp."""
    found = lifting.temporary("pred")
    lifting.do("elect.sync.here", Pair(Sink(), found), Immediate(ALL), guard=True)
    return found


# ---- Barriers that count arrivals, and bytes that come ---------------------------------------------------------------

ALL = 0xFFFFFFFF
COUNT = (1 << 20) - 1  # arrivals that one may wait for
# What an arrival is: operations of PTX by the modifier of the machine. Without one it expects bytes as well.
_ARRIVALS = {"A1T0": "arrive", "ART0": "arrive", "": "arrive.expect_tx"}
_BYTES = {"A0TR": "expect_tx", "A0T1": "expect_tx", "A0TX": "complete_tx"}


def synchronize(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SYNCS: operations on an mbarrier."""
    operands = instruction.operands
    if len(operands) != (1 if instruction.has("CCTL") else 3):
        raise lifting.refuse("has unsupported operands")
    if instruction.has("EXCH"):
        lifting.only("EXCH", "64")
        _begin(lifting, *operands)
    elif instruction.has("CCTL"):
        lifting.only("CCTL", "IV")
        lifting.do("mbarrier.inval.shared.b64", lifting.short_address(operands[0]), guard=True)
    elif instruction.has("PHASECHK"):
        lifting.only("PHASECHK", "TRANS64", "TRYWAIT")
        to, place, phase = operands
        state = lifting.value("mov.b64", "b64", Vector((Immediate(0), lifting.whole(phase))))
        wait = "try_wait" if instruction.has("TRYWAIT") else "test_wait"
        done = lifting.temporary("pred")
        lifting.access(f"mbarrier.{wait}.shared.b64", done, lifting.short_address(place), state)
        lifting.write_predicate(to, done)
    elif instruction.has("ARRIVE"):
        _arrive(lifting, instruction)
    else:
        raise lifting.refuse()


def _begin(lifting: Lifting, old: Operand, place: Operand, given: Operand) -> None:
    """An mbarrier as the machine has it: of arrivals that are missing, what 2^20 is more, from bit 1 and bit 43 on."""
    if old != Reg("URZ"):
        raise lifting.refuse("gives what was there, which is not supported")
    less = lifting.value("shr.u32", "b32", lifting.whole(given), Immediate(1))
    missing = lifting.value("sub.s32", "b32", Immediate(COUNT + 1), less)
    count = lifting.value("and.b32", "b32", missing, Immediate(COUNT))
    lifting.access("mbarrier.init.shared.b64", lifting.short_address(place), count)


def _arrive(lifting: Lifting, instruction: MachineInstruction) -> None:
    lifting.only("ARRIVE", "TRANS64", "OPTOUT", "RED", *_ARRIVALS, *_BYTES)
    to, place, given = instruction.operands
    reduces = instruction.has("RED")
    address = lifting.short_address(place, in_cluster=reduces)
    kinds = [m for m in instruction.modifiers if m in (*_ARRIVALS, *_BYTES)]
    kind = kinds[0] if kinds else ""
    if len(kinds) > 1 or not instruction.has("TRANS64") or (kind in _BYTES and not reduces):
        raise lifting.refuse()
    number = lifting.copy(Immediate(1) if kind in ("A1T0", "A0T1") else lifting.whole(given))
    if kind in _BYTES:
        if instruction.has("OPTOUT"):
            raise lifting.refuse()
        lifting.access(f"mbarrier.{_BYTES[kind]}.relaxed.cluster.shared::cluster.b64", address, number)
        return
    name = _ARRIVALS[kind].replace("arrive", "arrive_drop") if instruction.has("OPTOUT") else _ARRIVALS[kind]
    if reduces:  # which may be another block's, and gives nothing
        if to != Reg("RZ"):
            raise lifting.refuse("gives what was there, which is not supported")
        lifting.access(f"mbarrier.{name}.shared::cluster.b64", Sink(), address, number)
        return
    state = lifting.temporary("b64")
    lifting.access(f"mbarrier.{name}.shared.b64", state, address, number)
    lifting.write_pair(to, _as_the_machine_has_it(lifting, state))


def _as_the_machine_has_it(lifting: Lifting, state: Register) -> Register:
    """The state that an arrival gives: its phase, and from bit 43 on what was missing, which programs look into."""
    found = lifting.value("and.b64", "b64", state, Immediate(1 << 63))
    for begin, to in ((0, 43), (20, 1)):
        moved = lifting.value("shr.u64", "b64", state, Immediate(begin))
        field = lifting.value("and.b64", "b64", moved, Immediate(COUNT))
        less = lifting.value("sub.s64", "b64", Immediate(COUNT + 1), field)
        kept = lifting.value("and.b64", "b64", less, Immediate(COUNT))
        found = lifting.value("or.b64", "b64", found, lifting.value("shl.b64", "b64", kept, Immediate(to)))
    return found


def arrive_behind_copies(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ARRIVES.LDGSTSBAR: an mbarrier hears when the thread's copies are done, which they are."""
    lifting.only("LDGSTSBAR", "64", "ARVCNT", "TRANSCNT")
    (place,) = instruction.operands
    address = lifting.short_address(place)
    if instruction.has("TRANSCNT"):  # of the byte that an instruction before it expects
        lifting.note("cp.async.mbarrier.arrive.shared.b64", address)
        lifting.access("mbarrier.complete_tx.relaxed.cta.shared::cta.b64", address, Immediate(1))
    elif instruction.has("ARVCNT"):
        lifting.access("cp.async.mbarrier.arrive.noinc.shared.b64", address)
    else:
        lifting.do("atom.shared.arrive.b64", Sink(), address, guard=True)


def store_and_count(lifting: Lifting, instruction: MachineInstruction) -> None:
    """STAS: to another block's memory, whose mbarrier counts the bytes; a pair of registers has both addresses."""
    lifting.only("64", "128")
    count = 4 if instruction.has("128") else 2 if instruction.has("64") else 1
    place, barrier = _pair_of_addresses(lifting, instruction.operands[0])
    parts = [lifting.copy(each) for each in lifting.registers_of(instruction.operands[1], count)]
    given = Vector(tuple(parts)) if count > 1 else parts[0]
    vector = f".v{count}" if count > 1 else ""
    lifting.access(f"st.async.shared::cluster.mbarrier::complete_tx::bytes{vector}.b32", place, given, barrier)


_SUMS = {"ADD": "u32", "INC": "u32", "DEC": "u32", "MIN": "u32", "MAX": "u32", "AND": "b32", "OR": "b32", "XOR": "b32"}


def reduce_and_count(lifting: Lifting, instruction: MachineInstruction) -> None:
    """REDAS: likewise what an operation makes of what is there."""
    lifting.only("S32", "64", *_SUMS)
    ways = [m for m in instruction.modifiers if m in _SUMS]
    if len(ways) != 1 or (instruction.has("64") and ways[0] != "ADD"):
        raise lifting.refuse()
    kind = "u64" if instruction.has("64") else "s32" if instruction.has("S32") else _SUMS[ways[0]]
    place, barrier = _pair_of_addresses(lifting, instruction.operands[0])
    source = instruction.operands[1]
    given = lifting.copy(lifting.pair(source), "b64") if kind == "u64" else lifting.copy(lifting.bits(source))
    name = f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{ways[0].lower()}.{kind}"
    lifting.access(name, place, given, barrier)


def _pair_of_addresses(lifting: Lifting, place: Operand) -> tuple[Address, Address]:
    if (
        not isinstance(place, Memory) or len(place.registers) != 1 or place.offset or place.registers[0].part != "64"
    ):  # fmt: skip
        raise lifting.refuse("has an address that is not supported")
    both = [lifting.copy(each) for each in lifting.registers_of(Reg(place.registers[0].name), 2)]
    first, second = (Address(lifting.shared(each, in_cluster=True)) for each in both)
    return first, second


HANDLERS = {
    "STAS": store_and_count,
    "REDAS": reduce_and_count,
    "LDGSTS": copy,
    "UBLKCP": copy_bulk,
    "SYNCS": synchronize,
    "ARRIVES": arrive_behind_copies,
}
