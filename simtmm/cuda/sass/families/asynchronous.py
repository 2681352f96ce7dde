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
    """UBLKCP: pieces of 16 bytes, counted by a register, once a warp; an mbarrier counts those to shared memory."""
    lifting.only("S", "G")
    to, given, pieces = lifting.exactly([each for each in instruction.operands if each != Word("desc")], 3)
    size = lifting.value("shl.b32", "b32", lifting.whole(pieces), Immediate(4))
    if instruction.modifiers == ("S", "G"):
        place, barrier = (Address(lifting.copy(part)) for part in lifting.registers_of(register_of(lifting, to), 2))
        source = Address(lifting.copy(lifting.pair(register_of(lifting, given)), "b64"))
        name = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        lifting.access(name, place, source, size, barrier, when=one_lane(lifting))
    elif instruction.modifiers == ("G", "S"):
        place = Address(lifting.copy(lifting.pair(register_of(lifting, to)), "b64"))
        source = Address(lifting.copy(lifting.bits(register_of(lifting, given))))
        lifting.access("cp.async.bulk.global.shared::cta.bulk_group", place, source, size, when=one_lane(lifting))
    else:
        raise lifting.refuse()


def register_of(lifting: Lifting, place: Operand) -> Reg:
    """The register, or the first of a pair, that holds an address."""
    if not isinstance(place, Memory) or len(place.registers) != 1 or place.offset or place.registers[0].part:
        raise lifting.refuse("has an address that is not supported")
    return place.registers[0]


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
    address = lifting.short_address(place)
    kinds = [m for m in instruction.modifiers if m in (*_ARRIVALS, *_BYTES)]
    kind = kinds[0] if kinds else ""
    if len(kinds) > 1 or not instruction.has("TRANS64") or instruction.has("RED") != (kind in _BYTES):
        raise lifting.refuse()
    number = lifting.copy(Immediate(1) if kind in ("A1T0", "A0T1") else lifting.whole(given))
    if kind in _BYTES:
        if instruction.has("OPTOUT"):
            raise lifting.refuse()
        lifting.access(f"mbarrier.{_BYTES[kind]}.relaxed.cta.shared::cta.b64", address, number)
        return
    name = _ARRIVALS[kind].replace("arrive", "arrive_drop") if instruction.has("OPTOUT") else _ARRIVALS[kind]
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
    if instruction.has("TRANSCNT"):
        lifting.do("mbarrier.complete_tx.relaxed.cta.shared::cta.b64", address, Immediate(1), guard=True)
    elif instruction.has("ARVCNT"):
        lifting.do("cp.async.mbarrier.arrive.noinc.shared.b64", address, guard=True)
    else:
        lifting.do("atom.shared.arrive.b64", Sink(), address, guard=True)


HANDLERS = {
    "LDGSTS": copy,
    "UBLKCP": copy_bulk,
    "SYNCS": synchronize,
    "ARRIVES": arrive_behind_copies,
}
