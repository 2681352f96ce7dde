"""The instruction lines of a warp, from the events of its threads.

Threads at one site with the same kind of event make a line, those at the lowest site first, as lowering has it. A
join becomes a register: the load that it waits for writes one, and the instruction behind the join reads it. What the
importer would do with each line is done here too, so that it gives each thread the events that it has.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from simtmm.errors import TraceError
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.exporters.site_names import KernelSites, SiteName
from simtmm.trace.importers.accelsim.parser_state import MOST_REGISTERS, ZERO_REGISTER
from simtmm.trace.importers.opcodes import (
    ACTIONS,
    ATOMIC,
    BARRIER,
    COMPUTE,
    GENERIC,
    GLOBAL,
    LOAD,
    LOCAL,
    MEMORY,
    SHARED,
    STORE,
    Opcodes,
)
from simtmm.trace.importers.warps import LANES
from simtmm.trace.schema import Events, Kind, TraceLaunch

_ACTION = {
    Kind.ASYNC: LOAD, Kind.STORE: STORE, Kind.ATOMIC: ATOMIC,
    Kind.SHARED_LOAD: LOAD, Kind.SHARED_STORE: STORE, Kind.SHARED_ATOMIC: ATOMIC,
}  # fmt: skip
_PLAIN = {
    (GLOBAL, LOAD): "LDG", (GLOBAL, STORE): "STG", (GLOBAL, ATOMIC): "ATOMG", (LOCAL, LOAD): "LDL",
    (LOCAL, STORE): "STL", (LOCAL, ATOMIC): "ATOM", (SHARED, LOAD): "LDS", (SHARED, STORE): "STS",
    (SHARED, ATOMIC): "ATOMS",
}  # fmt: skip

LOCAL_WINDOW = 1 << 40  # where local memory lies for generic accesses, as the header says


@dataclass(frozen=True)
class _Step:
    """An event of a thread. wait: the number of the async, from 1, that it waits for before; 0 if it does not."""

    site: int
    kind: int
    width: int
    value: int
    wait: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """What threads of a line have in common."""
        return self.site, self.kind, self.width, self.value if self.kind == Kind.WORK else self.value >= LOCAL_BASE


@dataclass
class _Lane:
    """A thread on its way: its steps, and which of its asyncs are waited for."""

    steps: list[_Step]
    waited: frozenset[int]
    at: int = 0
    issued: int = 0
    joined: int = 0
    register: dict[int, int] = field(default_factory=dict)  # of an async that is waited for

    @property
    def step(self) -> _Step:
        return self.steps[self.at]


class WarpLines:
    """Makes the lines of a launch's warps. written: instructions so far. merged: see `Exported`."""

    def __init__(self, sites: KernelSites, launch: TraceLaunch) -> None:
        self._sites = sites
        self._launch = launch
        self._threads = launch.threads_per_block
        self._opcodes = Opcodes(launch.kernel)
        self._unnamed = sites.unnamed  # to be in the launch's first warp
        self.has_lines = any(name.line for name in sites.named.values())
        self.written = self.merged = 0

    def of(self, block: int, warp: int, events: Events | None) -> list[str]:
        """The lines of a warp, each with its newline. events: of its threads, in their order; None for none."""
        lines = [self.line(0, pc, 0, "NOP") for pc in self._unnamed]
        self._unnamed = ()
        if events is not None and len(events):
            attempt = _Warp(self, _lanes_of(events), self._launch.blocks * self._threads, longest_first=False)
            attempt.go()
            if attempt.merged:
                other = _Warp(self, _lanes_of(events), self._launch.blocks * self._threads, longest_first=True)
                other.go()
                attempt = min(attempt, other, key=lambda each: each.merged)
            lines += attempt.lines
            self.merged += attempt.merged
        self.written += len(lines)
        return lines

    def name(self, site: int) -> SiteName:
        """The instruction of a site. Raises TraceError."""
        if site not in self._sites.named:
            raise TraceError(f"site {site}: has events, but is not in the trace's list")
        return self._sites.named[site]

    def opcode(self, name: SiteName, space: int, action: int) -> str:
        """The instruction's opcode where that is of a space, else the plain one of the access."""
        known = self._opcodes.class_of(name.opcode) - MEMORY
        same = known >= 0 and known // ACTIONS != GENERIC and divmod(known, ACTIONS) == (space, action)
        return name.opcode if same else _PLAIN[space, action]

    def class_of(self, name: SiteName) -> int:
        """What the importer takes the instruction for."""
        return self._opcodes.class_of(name.opcode)

    def line(
        self,
        line: int,
        pc: int,
        mask: int,
        opcode: str,
        to: int | None = None,
        of: tuple[int, ...] = (),
        accesses: str = "0",
    ) -> str:
        """A line of the trace: an instruction of a warp.

        line: of the source, where the trace has them.
        pc, mask, opcode: where the instruction lies, the lanes that take part, and what it is.
        to, of: the registers that it writes and reads.
        accesses: its addresses, as the format has them.
        """
        written = f"1 R{to}" if to is not None else "0"
        read = " ".join([str(len(of)), *(f"R{register}" for register in of)])
        begin = f"{line} " if self.has_lines else ""
        return f"{begin}{pc:04x} {mask:08x} {written} {opcode} {read} {accesses}\n"


def _lanes_of(events: Events) -> dict[int, _Lane]:
    """The threads of a warp that do anything, by lane."""
    lanes = {}
    threads = events["thread"] % LANES
    for lane in np.unique(threads).tolist():
        own = events[threads == lane]
        steps, waited, issued, wait, join_site = [], set(), 0, 0, -1
        for kind, site, width, value in zip(
            own["kind"].tolist(), own["site"].tolist(), own["bytes"].tolist(), own["value"].tolist(), strict=True
        ):
            if kind == Kind.JOIN:
                wait, join_site = issued - value, site
                waited.add(wait)
                continue
            if wait and site != join_site + 1:
                raise TraceError(f"site {join_site}: a join that no instruction follows")
            steps.append(_Step(site, kind, width, value, wait))
            issued += kind == Kind.ASYNC
            wait = 0
        lanes[lane] = _Lane(steps, frozenset(waited))
    return lanes


class _Warp:
    """A warp on its way. longest_first: whether those threads go first that have most left to do."""

    def __init__(self, writer: WarpLines, lanes: dict[int, _Lane], all_threads: int, longest_first: bool) -> None:
        self._writer = writer
        self._lanes = lanes
        self._all = all_threads
        self._longest_first = longest_first
        self.lines: list[str] = []
        self.merged = 0
        self._run = 0  # the mask of the work that is coming together
        self._held: list[dict[int, int]] = [{} for _ in range(ZERO_REGISTER)]  # by register, of lanes: their async
        self._spans: dict[int, tuple[int, set[int]]] = {}  # by first register: how many, and lanes that wait for them

    def go(self) -> None:
        """Make all lines."""
        left = set(self._lanes)
        while left:
            key, chosen = self._chosen(left)
            self._write(key, chosen)
            for lane in chosen:
                self._lanes[lane].at += 1
            left -= {lane for lane in chosen if self._lanes[lane].at == len(self._lanes[lane].steps)}

    def _chosen(self, left: set[int]) -> tuple[tuple[int, int, int, int], list[int]]:
        """The lanes of the next line."""
        groups: dict[tuple[int, int, int, int], list[int]] = {}
        for lane in sorted(left):
            groups.setdefault(self._lanes[lane].step.key, []).append(lane)
        lowest = None
        for key in sorted(groups, key=lambda key: (-self._left(groups[key]), key) if self._longest_first else (0, key)):
            for lanes in self._alike(groups[key]):
                if not self._would_merge(key, lanes):
                    return key, lanes
                lowest = lowest or (key, lanes)
        assert lowest is not None
        key, lanes = lowest
        if len(lanes) == 1:
            self.merged += 1
        return key, lanes[:1]  # other lanes than those before: work of their own

    def _left(self, lanes: list[int]) -> int:
        """Events that the one of them with most has left."""
        return max(len(self._lanes[lane].steps) - self._lanes[lane].at for lane in lanes)

    def _would_merge(self, key: tuple[int, int, int, int], lanes: list[int]) -> bool:
        """Whether the importer would take such work for more of what comes together."""
        return key[1] == Kind.WORK and _mask(lanes) == self._run and not any(self._lanes[n].step.wait for n in lanes)

    def _alike(self, lanes: list[int]) -> list[list[int]]:
        """The lanes in parts that can read the same registers: none waits for what it does not wait for here."""
        registers = {lane: self._register_of(lane) for lane in lanes}
        wanted = {register for register in registers.values() if register is not None}
        if len(wanted) < MOST_REGISTERS and all(self._waits(lane, wanted) for lane in lanes):
            return [lanes]
        return [[lane for lane in lanes if registers[lane] == own] for own in dict.fromkeys(registers.values())]

    def _waits(self, lane: int, registers: set[int]) -> bool:
        """Whether a thread that reads these registers waits for what it should."""
        thread = self._lanes[lane]
        latest = max((self._held[register].get(lane, 0) for register in registers), default=0)
        return (latest if latest > thread.joined else 0) == thread.step.wait

    def _register_of(self, lane: int) -> int | None:
        thread = self._lanes[lane]
        return thread.register[thread.step.wait] if thread.step.wait else None

    def _write(self, key: tuple[int, int, int, int], lanes: list[int]) -> None:
        """The lines of a group, and what the importer would keep of them."""
        site, kind, width, value = key
        writer, name, mask = self._writer, self._writer.name(site), _mask(lanes)
        read = tuple(sorted({register for lane in lanes if (register := self._register_of(lane)) is not None}))
        for lane in lanes:
            if wait := self._lanes[lane].step.wait:
                self._join(lane, wait)
                self._run = 0
        if kind == Kind.WORK:
            self._run = mask
            opcode = name.opcode if writer.class_of(name) == COMPUTE else "NOP"
            self.lines.append(writer.line(name.line, name.pc, mask, opcode, of=read))
            self.lines += [writer.line(name.line, name.pc, mask, "NOP")] * (value - 1)
            return
        self._run = 0
        if kind == Kind.BARRIER:
            opcode = name.opcode if writer.class_of(name) == BARRIER else "BAR.SYNC"
            self.lines.append(writer.line(name.line, name.pc, mask, opcode, of=read))
            for lane in lanes:
                self._join(lane, self._lanes[lane].issued)  # a barrier waits for all
            return
        if kind not in _ACTION:
            raise TraceError(f"site {site}: {Kind(kind).name.lower()}: is not an event of an imported trace")
        action = _ACTION[Kind(kind)]
        values = [self._lanes[lane].step.value for lane in lanes]
        shared = kind in (Kind.SHARED_LOAD, Kind.SHARED_STORE, Kind.SHARED_ATOMIC)
        space = SHARED if shared else LOCAL if values[0] >= LOCAL_BASE else GLOBAL
        if space == SHARED:
            values = [each & (1 << 32) - 1 for each in values]
        elif space == LOCAL:
            values = [self._own(lane, each, width) for lane, each in zip(lanes, values, strict=True)]
        to = self._load(lanes, width) if kind == Kind.ASYNC else None
        if action != LOAD:
            read = (*read, ZERO_REGISTER)  # the last one of a store is as wide as what it writes
        if (space, action) == (LOCAL, ATOMIC):  # there is no such opcode but the generic one
            values = [LOCAL_WINDOW + each for each in values]
        opcode = writer.opcode(name, space, action)
        accesses = f"{width} {_addresses(lanes, values)}"
        self.lines.append(writer.line(name.line, name.pc, mask, opcode, to, read, accesses))

    def _own(self, lane: int, address: int, width: int) -> int:
        """The place in a thread's own memory that an address of local memory is."""
        unit = 4
        while unit < width:
            unit *= 2
        place, byte = divmod(address - LOCAL_BASE, unit)
        return place // self._all * unit + byte

    def _load(self, lanes: list[int], width: int) -> int:
        """Count a load of all lanes: the register that it writes, that of zero where none waits for just this one."""
        waiting = []
        for lane in lanes:
            thread = self._lanes[lane]
            thread.issued += 1
            if thread.issued in thread.waited:
                waiting.append(lane)
        if not waiting:
            return ZERO_REGISTER
        wide = max((width + 3) // 4, 1)
        taken = {register for first, (length, _) in self._spans.items() for register in range(first, first + length)}
        first = next(
            (at for at in range(ZERO_REGISTER - wide + 1) if taken.isdisjoint(range(at, at + wide))), ZERO_REGISTER
        )
        if first == ZERO_REGISTER:
            raise TraceError(f"loads of more than {ZERO_REGISTER} registers are waited for at once")
        self._spans[first] = wide, set(waiting)
        for lane in waiting:
            self._lanes[lane].register[self._lanes[lane].issued] = first
        for register in range(first, first + wide):
            self._held[register].update({lane: self._lanes[lane].issued for lane in lanes})
        return first

    def _join(self, lane: int, number: int) -> None:
        """Note that a thread has waited for its asyncs up to this one: nobody waits for their registers any more."""
        thread = self._lanes[lane]
        thread.joined = max(thread.joined, number)
        for done in [each for each in thread.register if each <= thread.joined]:
            first = thread.register.pop(done)
            waiting = self._spans[first][1]
            waiting.discard(lane)
            if not waiting:
                del self._spans[first]


def _mask(lanes: list[int]) -> int:
    return sum(1 << lane for lane in lanes)


def _addresses(lanes: list[int], values: list[int]) -> str:
    """Mode and addresses: base and stride where that is all there is to say."""
    if len(lanes) == 1:
        return f"2 0x{values[0]:x}"
    stride = values[1] - values[0]
    if lanes[-1] - lanes[0] == len(lanes) - 1 and all(b - a == stride for a, b in pairwise(values)):
        return f"1 0x{values[0]:x} {stride}"
    return " ".join(["0", *(f"0x{value:x}" for value in values)])
