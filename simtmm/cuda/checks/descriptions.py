"""Rows of what the loops found, as findings in words."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simtmm.cuda.checks import state
from simtmm.cuda.checks.collisions import Collisions
from simtmm.cuda.checks.findings import ERROR, INFO, WARNING, Finding, Side, index_text
from simtmm.cuda.checks.hints import IN_BULK, MULTIPLIED, STILL_READ, Race, barrier_hint, unwritten_hint
from simtmm.cuda.checks.instructions import flags_of
from simtmm.cuda.checks.names import INITCHECK, RACECHECK, SYNCCHECK
from simtmm.cuda.checks.same_line import apart, trips_apart
from simtmm.cuda.checks.state import Found
from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.layout import CLUSTER_BARRIER, IN_GLOBAL, IN_LOCAL, IN_SHARED, LANES, SYNCHRONISES
from simtmm.cuda.places import own_name

if TYPE_CHECKING:
    from simtmm.cuda.device import Device, DeviceLaunch
    from simtmm.cuda.function import KernelFunction

_HAZARDS = {state.RAW: ("RAW", "Write", "Read"), state.WAR: ("WAR", "Read", "Write"),
            state.WAW: ("WAW", "Write", "Write")}  # fmt: skip
_SPACES = {IN_GLOBAL: "__global__", IN_SHARED: "__shared__", IN_LOCAL: "__local__", SYNCHRONISES: ""}
_INNER = {state.WITHIN_WARP: "threads of a warp", state.WITHIN_BLOCK: "threads of a block",
          state.BETWEEN_BLOCKS: "blocks", state.WITHIN_THREAD: "a thread and its own copy",
          state.AT_ONCE: "threads of a warp, at once",
          state.UNFENCED: "the generic and the async proxy",
          state.UNDER_WAY: "an asynchronous access and a thread that has not waited for it"}  # fmt: skip


def described(
    function: "KernelFunction", device: "Device", launch: "DeviceLaunch", tables: state.Tables, number: int
) -> list[Finding]:
    """The findings of a launch, those of the same lines as one."""
    rows = tables.found[tables.found[:, Found.count] > 0]
    beyond_warps = {frozenset((int(row[Found.earlier]), int(row[Found.later]))) for row in rows
                    if row[Found.kind] in _HAZARDS and row[Found.who] == state.WITHIN_BLOCK}  # fmt: skip
    describing = _Describing(function, device, launch, number, beyond_warps)
    found: dict[tuple[Any, ...], Finding] = {}
    for row in rows:
        finding = describing.finding([int(value) for value in row])
        known = found.get(finding.key)
        found[finding.key] = finding if known is None else known.again(finding)
    return list(found.values())


class _Describing:
    """Rows of a launch in words. beyond_warps: instructions that race between warps of a block, in pairs."""

    def __init__(
        self, function: "KernelFunction", device: "Device", launch: "DeviceLaunch", number: int,
        beyond_warps: set[frozenset[int]],
    ) -> None:  # fmt: skip
        self._function, self._device, self._launch, self._number = function, device, launch, number
        self._beyond_warps, self._collisions = beyond_warps, Collisions(function.program)
        self._kernel = bare_name(function.entry)
        x, y, z = launch.block
        self._has_warps = x * y * z > LANES

    def finding(self, row: list[int]) -> Finding:
        """A row in words."""
        kind, who, space = row[Found.kind], row[Found.who], row[Found.space]
        address, width, same = row[Found.address], row[Found.width], bool(row[Found.same])
        if kind in _HAZARDS:
            return self._hazard(row, kind, who, space, address, same)
        if kind in (state.UNWRITTEN, state.PARTLY_WRITTEN):
            array, index, place = self._place(space, address)
            read, severity = ("partly read", WARNING) if kind == state.PARTLY_WRITTEN else ("read", ERROR)
            what = f"Uninitialized {_SPACES[space]} memory {read} of size {width} bytes at {hex(address)}: {place}"
            return Finding(
                INITCHECK, severity, what, self._kernel, self._number, (self._side("Read", row, False),),
                _SPACES[space], address, array, index, row[Found.count], unwritten_hint(kind, _SPACES[space]),
            )  # fmt: skip
        return self._barrier(row, kind)

    def _hazard(self, row: list[int], kind: int, who: int, space: int, address: int, same: bool) -> Finding:
        name, first, second = _HAZARDS[kind]
        array, index, place = self._place(space, address)
        label = "(Warp Level Programming) " if who == state.WITHIN_WARP else ""
        where = f" in block {index_text(self._block(row[Found.other_block]))}" if who != state.BETWEEN_BLOCKS else ""
        severity = INFO if same else WARNING if who == state.WITHIN_WARP else ERROR
        value = ", of the value that lay there" if same else ""
        what = f"{label}Potential {name} hazard detected at {_SPACES[space]} {hex(address)}{where}"
        what += f" between {_INNER[who]}{value}: {place}"
        sides = (self._side(first, row, True), self._side(second, row, False))
        hint = "" if same else self._race(row, kind, who, space).hint
        return Finding(
            RACECHECK, severity, what, self._kernel, self._number, sides, _SPACES[space], address, array, index,
            row[Found.count], hint,
        )  # fmt: skip

    def _barrier(self, row: list[int], kind: int) -> Finding:
        hint = barrier_hint(kind)
        sides: tuple[Side, ...]
        if kind == state.NOT_IN_MASK:
            mask = row[Found.address] & 0xFFFFFFFF
            what = f"Barrier error detected. Invalid arguments: mask {mask:#010x} lacks the lane that executes it"
            sides = (self._side("Executing", row, False),)
        elif kind == state.COUNTS_DIFFER:
            counts = (f"{row[place]} threads" if row[place] else "all threads"
                      for place in (Found.earlier_trips, Found.later_trips))  # fmt: skip
            what = f"Barrier error detected. Invalid arguments: {_barrier(row)} is for {' and for '.join(counts)}"
            sides = (self._side("Waiting", row, True), self._side("Other", row, False))
        elif kind == state.LANES_MISSING:
            what = f"Barrier error detected. Divergent thread(s) in warp: {_barrier(row)}"
            sides = (self._side("Waiting", row, True), self._side("Missing", row, False))
        else:
            is_in_warp = row[Found.who] == state.WITHIN_WARP
            place = "warp" if is_in_warp else "block"
            what = f"Barrier error detected. Divergent thread(s) in {place}: {_barrier(row)}"
            events, ways = (
                (row[Found.earlier], row[Found.later]),
                (row[Found.earlier_way], row[Found.later_way]),
            )
            within = apart(self._function, events, ways)
            trips = "", ""
            if events[0] == events[1] and ways[0] == ways[1]:
                trips = trips_apart((row[Found.earlier_trips], row[Found.later_trips]))
            sides = tuple(
                replace(self._side(action, row, number == 0), within=within[number], trip=trips[number])
                for number, action in enumerate(("Waiting", "Other" if is_in_warp else "Waiting"))
            )
        return Finding(SYNCCHECK, ERROR, what, self._kernel, self._number, sides, count=row[Found.count], hint=hint)

    def _race(self, row: list[int], kind: int, who: int, space: int) -> Race:
        earlier, later = row[Found.earlier], row[Found.later]
        flags = [flags_of(self._function.program.accesses[event][1]) for event in (earlier, later)]
        half_atomic = (flags[0] ^ flags[1]) & state.STRONG != 0 and not (flags[0] | flags[1]) & state.BULK
        return Race(
            state.WITHIN_WARP if who == state.AT_ONCE else who,
            copied=space == IN_SHARED and kind != state.WAR and flags[0] & state.COPIES != 0,
            atomic=self._collisions.update(earlier, later),
            one_store=self._collisions.is_one_store(earlier, later),
            repeated=self._collisions.is_repeated(earlier, later),
            block_scope=all(each & state.ATOMIC for each in flags) and any(each & state.OF_BLOCK for each in flags),
            # Other warps may have come to an atomic before, which then orders what they did.
            beyond_warp=frozenset((earlier, later)) in self._beyond_warps or (half_atomic and self._has_warps),
            half_atomic=half_atomic,
            under_way=MULTIPLIED if flags[0] & state.PRODUCT else STILL_READ if kind == state.WAR else IN_BULK,
        )

    def _side(self, action: str, row: list[int], is_earlier: bool) -> Side:
        event = row[Found.earlier if is_earlier else Found.later]
        block = row[Found.block if is_earlier else Found.other_block]
        thread = row[Found.thread if is_earlier else Found.other_thread]
        name, instruction = self._function.program.accesses[event]
        linked = self._function.linked
        file, line, text = linked.place(name, linked.readable_location(name, instruction.location))
        if instruction.opcode in ("atom", "red") and action != "Executing":
            action = "Atomic"
        x, y, _ = self._launch.block
        return Side(action, file, line, text, self._block(block), (thread % x, thread // x % y, thread // (x * y)))

    def _block(self, number: int) -> tuple[int, int, int]:
        x, y, _ = self._launch.grid
        return number % x, number // x % y, number // (x * y)

    def _place(self, space: int, address: int) -> tuple[str, int, str]:
        """What lies at an address: its name, the index, and both in words."""
        if space == IN_SHARED:
            program = self._function.program
            held = [(offset, name) for name, offset in program.shared.items() if offset <= address]
            offset, name = max(held, default=(0, "shared memory"))
            name = own_name(name)
            return name, address - offset, f"byte {address - offset} of `{name}`"
        if space == IN_LOCAL:
            return "local memory", address, f"byte {address} of the thread's local memory"
        found = self._device.memory.find(address)
        if found is None:
            return "", address, f"address {hex(address)}"
        array = found.array
        if array is None or not array.size:
            return found.name, address - found.base, f"byte {address - found.base} of {found.name}"
        index = (address - found.base) // array.dtype.itemsize
        return found.name, index, f"{found.name}[{index}] ({array.dtype})"


def _barrier(row: list[int]) -> str:
    """Which one a row is of."""
    return "the cluster's barrier" if row[Found.address] == CLUSTER_BARRIER else f"barrier {row[Found.address]}"
