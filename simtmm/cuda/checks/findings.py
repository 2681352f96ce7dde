"""What the checks found, in the words of compute-sanitizer: both lines of source, threads, blocks, memory, a hint."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from simtmm.cuda.checks import state
from simtmm.cuda.checks.hints import COPIED, hint_of
from simtmm.cuda.checks.names import CHECKS, INITCHECK, RACECHECK, SYNCCHECK, Checks
from simtmm.cuda.checks.same_line import apart, trips_apart
from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.layout import IN_GLOBAL, IN_LOCAL, IN_SHARED, SYNCHRONISES
from simtmm.cuda.places import own_name

if TYPE_CHECKING:
    from simtmm.cuda.device import Device, DeviceLaunch
    from simtmm.cuda.function import KernelFunction

ERROR, WARNING, INFO = "Error", "Warning", "Info"
_HAZARDS = {state.RAW: ("RAW", "Write", "Read"), state.WAR: ("WAR", "Read", "Write"),
            state.WAW: ("WAW", "Write", "Write")}  # fmt: skip
_SPACES = {IN_GLOBAL: "__global__", IN_SHARED: "__shared__", IN_LOCAL: "__local__", SYNCHRONISES: ""}
_INNER = {state.WITHIN_WARP: "threads of a warp", state.WITHIN_BLOCK: "threads of a block",
          state.BETWEEN_BLOCKS: "blocks", state.WITHIN_THREAD: "a thread and its own copy"}  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One access of a finding, or one thread at a barrier: where in the source, by whom.

    within: what tells its barrier from another on the same line. trip: likewise, of one barrier in a loop.
    """

    action: str
    file: str
    line: int
    source: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    within: str = ""
    trip: str = ""

    @property
    def text(self) -> str:
        """In words."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        source = f": `{self.source}`" if self.source else ""
        also = "".join(f", {each}" for each in (self.within, self.trip) if each)
        return f"{self.action} Thread {_index(self.thread)} in block {_index(self.block)} at {where}{source}{also}"


@dataclass(frozen=True)
class Finding:
    """What was found for a pair of lines of source; the sides and the address are those of the first time.

    check: the tool's name. severity: "Error", "Warning", or "Info" for what changes nothing. what: in words. kernel:
    the __global__ function. launch: its number in the run. space: "__shared__" and the like. array, index: what lies at
    the address, and the element of it, or the byte. count: times in all.
    """

    check: str
    severity: str
    what: str
    kernel: str
    launch: int
    sides: tuple[Side, ...]
    space: str = ""
    address: int = 0
    array: str = ""
    index: int = 0
    count: int = 1
    hint: str = ""

    @staticmethod
    def of_deadlock(kernel: str, launch: int, text: str) -> "Finding":
        """Threads that wait for each other for ever."""
        what = f"Barrier error detected. Divergent thread(s): {text}"
        return Finding(SYNCCHECK, ERROR, what, kernel, launch, (), hint=hint_of(state.LANES_MISSING, 0, "", False))

    @property
    def key(self) -> tuple[Any, ...]:
        """What is one finding: both lines, and what is wrong."""
        lines = tuple((side.action, side.file, side.line, side.within) for side in self.sides)
        return self.check, self.severity, self.what.partition(" at ")[0], self.kernel, self.space, lines

    def again(self, other: "Finding") -> "Finding":
        """With those of another launch."""
        return replace(self, count=self.count + other.count)

    @property
    def lines(self) -> list[str]:
        """In words, as compute-sanitizer puts it."""
        head = f"========= {self.severity}: {self.what}"
        times = f"{self.count:,} time{'s' * (self.count != 1)}, first in launch {self.launch} of {self.kernel}"
        return [head, *(f"=========     {side.text}" for side in self.sides), f"=========     {times}",
                *([f"=========     Hint: {self.hint}"] if self.hint else [])]  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What the checks of a run found. notes: what they did not look at."""

    checks: Checks
    findings: tuple[Finding, ...]
    launches: int
    notes: tuple[str, ...] = ()

    @property
    def harmful(self) -> tuple[Finding, ...]:
        """Errors and warnings, the most serious first."""
        order = {ERROR: 0, WARNING: 1}
        return tuple(sorted((f for f in self.findings if f.severity != INFO), key=lambda f: order[f.severity]))

    def lines(self) -> list[str]:
        """In words."""
        lines = [f"========= {', '.join(name.upper() for name in self.checks.names)}: {self.launches} launches"]
        for finding in self.harmful:
            lines += finding.lines
        lines += [f"========= Note: {note}" for note in self.notes]
        quiet = len(self.findings) - len(self.harmful)
        errors = sum(finding.severity == ERROR for finding in self.findings)
        warnings = len(self.harmful) - errors
        also = f"; {quiet} that change nothing (--json has them)" if quiet else ""
        return [*lines, f"========= CHECK SUMMARY: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}{also}"]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "checks": list(self.checks.names),
            "launches": self.launches,
            "errors": sum(finding.severity == ERROR for finding in self.findings),
            "warnings": sum(finding.severity == WARNING for finding in self.findings),
            "findings": [asdict(finding) for finding in (*self.harmful, *self._quiet)],
            "notes": list(self.notes),
        }

    @staticmethod
    def from_dict(document: dict[str, Any]) -> "Found":
        """The other way round."""
        findings = tuple(
            Finding(**{**each, "sides": tuple(Side(**{**side, "block": tuple(side["block"]),
                    "thread": tuple(side["thread"])}) for side in each["sides"])})
            for each in document["findings"]
        )  # fmt: skip
        checks = Checks(*(name in document["checks"] for name in CHECKS))
        return Found(checks, findings, document["launches"], tuple(document["notes"]))

    @property
    def _quiet(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == INFO)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _index(of: Sequence[int]) -> str:
    return f"({', '.join(map(str, of))})"


def described(
    function: "KernelFunction", device: "Device", launch: "DeviceLaunch", tables: state.Tables, number: int
) -> list[Finding]:
    """The findings of a launch, those of the same lines as one."""
    rows = tables.found[tables.found[:, state.COUNT] > 0]
    describing = _Describing(function, device, launch, number)
    found: dict[tuple[Any, ...], Finding] = {}
    for row in rows:
        finding = describing.finding([int(value) for value in row])
        known = found.get(finding.key)
        found[finding.key] = finding if known is None else known.again(finding)
    return list(found.values())


class _Describing:
    def __init__(self, function: "KernelFunction", device: "Device", launch: "DeviceLaunch", number: int) -> None:
        self._function, self._device, self._launch, self._number = function, device, launch, number
        self._kernel = bare_name(function.entry)

    def finding(self, row: list[int]) -> Finding:
        """A row in words."""
        kind, who, space = row[state.KIND], row[state.WHO], row[state.SPACE]
        address, width, same = row[state.ADDRESS], row[state.WIDTH], bool(row[state.SAME])
        if kind in _HAZARDS:
            return self._hazard(row, kind, who, space, address, same)
        if kind in (state.UNWRITTEN, state.PARTLY_WRITTEN):
            array, index, place = self._place(space, address)
            some = " partly" if kind == state.PARTLY_WRITTEN else ""
            what = f"Uninitialized {_SPACES[space]} memory read of size {width} bytes at {hex(address)}: {place}"
            if some:
                what = what.replace("read", "partly read", 1)
            severity = WARNING if some else ERROR
            return Finding(
                INITCHECK, severity, what, self._kernel, self._number, (self._side("Read", row, False),),
                _SPACES[space], address, array, index, row[state.COUNT], hint_of(kind, who, _SPACES[space], same),
            )  # fmt: skip
        return self._barrier(row, kind)

    def _hazard(self, row: list[int], kind: int, who: int, space: int, address: int, same: bool) -> Finding:
        name, first, second = _HAZARDS[kind]
        array, index, place = self._place(space, address)
        label = "(Warp Level Programming) " if who == state.WITHIN_WARP else ""
        where = f" in block {_index(self._block(row[state.OTHER_BLOCK]))}" if who != state.BETWEEN_BLOCKS else ""
        severity = INFO if same else WARNING if who == state.WITHIN_WARP else ERROR
        value = ", of the value that lay there" if same else ""
        what = f"{label}Potential {name} hazard detected at {_SPACES[space]} {hex(address)}{where}"
        what += f" between {_INNER[who]}{value}: {place}"
        sides = (self._side(first, row, True), self._side(second, row, False))
        hint = hint_of(kind, who, _SPACES[space], same)
        if space == IN_SHARED and kind != state.WAR and not same and self._copies(row[state.EARLIER]):
            hint = COPIED
        return Finding(
            RACECHECK, severity, what, self._kernel, self._number, sides, _SPACES[space], address, array, index,
            row[state.COUNT], hint,
        )  # fmt: skip

    def _barrier(self, row: list[int], kind: int) -> Finding:
        hint = hint_of(kind, row[state.WHO], "", False)
        sides: tuple[Side, ...]
        if kind == state.NOT_IN_MASK:
            mask = row[state.ADDRESS] & 0xFFFFFFFF
            what = f"Barrier error detected. Invalid arguments: mask {mask:#010x} lacks the lane that executes it"
            sides = (self._side("Executing", row, False),)
        elif kind == state.LANES_MISSING:
            what = f"Barrier error detected. Divergent thread(s) in warp: barrier {row[state.ADDRESS]}"
            sides = (self._side("Waiting", row, True), self._side("Missing", row, False))
        else:
            is_in_warp = row[state.WHO] == state.WITHIN_WARP
            place = "warp" if is_in_warp else "block"
            what = f"Barrier error detected. Divergent thread(s) in {place}: barrier {row[state.ADDRESS]}"
            events, ways = (row[state.EARLIER], row[state.LATER]), (row[state.EARLIER_WAY], row[state.LATER_WAY])
            within = apart(self._function, events, ways)
            trips = "", ""
            if events[0] == events[1] and ways[0] == ways[1]:
                trips = trips_apart((row[state.EARLIER_TRIPS], row[state.LATER_TRIPS]))
            sides = tuple(
                replace(self._side(action, row, number == 0), within=within[number], trip=trips[number])
                for number, action in enumerate(("Waiting", "Other" if is_in_warp else "Waiting"))
            )
        return Finding(SYNCCHECK, ERROR, what, self._kernel, self._number, sides, count=row[state.COUNT], hint=hint)

    def _copies(self, event: int) -> bool:
        """Whether an instruction is a cp.async."""
        return self._function.program.accesses[event][1].opcode == "cp"

    def _side(self, action: str, row: list[int], is_earlier: bool) -> Side:
        event = row[state.EARLIER if is_earlier else state.LATER]
        block = row[state.BLOCK if is_earlier else state.OTHER_BLOCK]
        thread = row[state.THREAD if is_earlier else state.OTHER_THREAD]
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
