"""Launches on the CPU: blocks of the instrumented C++ build are run, one by one, and their events taken out."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from simtmm.cuda.patience import kernel_timeout
from simtmm.errors import KernelError, RecordingError, shown
from simtmm.kernel import Kernel, Launch
from simtmm.recorder.arguments import ArgumentKind, argument_value
from simtmm.recorder.cpu.livelock import goes_round
from simtmm.recorder.cpu.messages import Apart, Command, Fault, Outcome
from simtmm.recorder.cpu.only_memory import sees_only_memory
from simtmm.recorder.cpu.process import EndedError, KernelProcess
from simtmm.recorder.faults import FaultCode, access_fault, fault_place
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.launches import trace_launch
from simtmm.recorder.limits import VARIABLE, kernel_memory
from simtmm.recorder.sites import read_source
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.runs.long_block import LongBlock, most_of_a_block
from simtmm.trace.runs.mapped import LONG
from simtmm.trace.schema import EVENT, Batch, Events, TraceLaunch, plain

BATCH_EVENTS = 1 << 20  # a row group: 16 MiB of events in memory
COMMAND_EVENTS = 1 << 17  # of a command of the process, before the next: what the caches hold
WHOLE_EVENTS = 1 << 20  # likewise, with those of blocks that stand as distances
MOST_EVENTS = LONG  # of a command: those of a block that has more are taken out while it runs


class Room:
    """How many events may still come, and the complaint where more do."""

    def __init__(self, limit: int, in_memory: bool, recorder: TraceRecorder | None = None) -> None:
        """recorder: keeps them; None where nothing does.

        limit: events that a recording may have.
        in_memory: whether they are held there.
        """
        self._limit = limit
        self._recorder = recorder
        self._in_memory = in_memory
        self._of_a_block = most_of_a_block()

    @property
    def _kept(self) -> int:
        return self._recorder.events if self._recorder else 0

    def left(self, events: int = 0) -> int:
        """For the next batch, or for a block that goes on and has had so many.

        events: that a block has had so far.
        """
        return min(self._of_a_block, self._limit - self._kept) - events

    def has_for(self, events: int) -> bool:
        """Whether so many more, and a command behind them, can't meet the limit: then both may be under way.

        events: how many more.
        """
        return self._kept + events + MOST_EVENTS <= self._limit and self._of_a_block >= MOST_EVENTS

    def complaint(self, events: int) -> str:
        """That a batch had more than so many.

        events: how many it may have.
        """
        so_far = self._kept + events
        if so_far < self._limit:
            return (
                f"a block recorded over {events} events, the limit for temporary files: does it loop for "
                "ever? If not, set TMPDIR to a folder with more space"
            )
        may, how = ("be recorded", "most_events") if not self._in_memory else ("be held in memory", VARIABLE)
        ways = ["write to a file (simtmm record -o FILE)"] if self._in_memory else []
        return (
            f"{so_far:,} events so far and more to come, but at most {self._limit:,} may {may}: does it loop or launch "
            f"for ever? If not, {', '.join([*ways, 'use smaller parameters'])} or raise {how}"
        )


class _Pile:
    """Events of commands after one another, until they make a batch."""

    def __init__(self) -> None:
        self.events = self.spared = 0
        self._buffer: Events = np.empty(0, EVENT)
        self._ends: list[npt.NDArray[np.int64]] = []

    @property
    def whole(self) -> int:
        """How many events its blocks have."""
        return self.events + self.spared

    @property
    def blocks(self) -> int:
        """Blocks that they are of, those without events included."""
        return sum(map(len, self._ends))

    def clear(self) -> None:
        """Begin anew."""
        self.events, self.spared, self._ends = 0, 0, []

    def add(self, events: Events, ends: npt.NDArray[np.int64], spared: int = 0) -> None:
        """Put a copy of these behind the others. spared: as in Batch."""
        total = self.events + len(events)
        if total > len(self._buffer):
            larger = np.empty(max(total, BATCH_EVENTS + COMMAND_EVENTS if self.events else total), EVENT)
            plain(larger)[: self.events] = plain(self._buffer)[: self.events]
            self._buffer = larger
        plain(self._buffer)[self.events : total] = plain(events)
        self._ends.append(ends + self.events)
        self.events = total
        self.spared += spared

    def batch(self, launch: int, last: int) -> Batch:
        """All of them as a batch of the launch's blocks up to `last`, which the next one begins with."""
        ends = self._ends[0] if len(self._ends) == 1 else np.concatenate(self._ends)
        events = self._buffer[: self.events]
        if 2 * self.events < len(self._buffer):
            events = plain(events).copy().view(EVENT)
        else:
            self._buffer = np.empty(0, EVENT)  # the batch's now
        blocks, spared = len(ends), self.spared
        numbers = np.full(blocks, launch, np.int32), np.arange(last - blocks, last, dtype=np.int32)
        self.clear()
        return Batch(events, *numbers, ends, spared=spared)


class CpuLaunches:
    """A kernel's instrumented build at work on a program's arrays. A context manager, at whose end its process ends.

    warnings: what a reader of the trace must know of the barriers of the launches so far, in words.
    """

    def __init__(
        self, kernel: Kernel, program: Path, memory: GlobalMemory, room: Room, *, straight: bool = False
    ) -> None:
        """program: as `simtmm.recorder.compiler.build` gives it. memory: shared. straight: whether batches go straight
        to a TraceRecorder, so that they may be lent, and have blocks that stand as distances.

        Raises RecordingError.
        """
        self.straight = straight
        self.kernel, self.memory, self.room = kernel, memory, room
        self.source_digest = program.name.rsplit("-", 2)[-2]
        self.sites = read_source(kernel).sites
        self._numbers = {name: number for number, name in enumerate(memory.arrays)}
        self.warnings: list[str] = []
        self._pile = _Pile()
        self._apart: set[tuple[str, int, int]] = set()  # reported already
        limits = kernel_timeout(), kernel_memory()
        try:
            alone = sees_only_memory(kernel, program)
            self.process = KernelProcess(program, memory, BATCH_EVENTS, MOST_EVENTS, *limits, alone)
        except RecordingError as error:
            raise RecordingError(f"kernel {kernel.name}: {error}") from None

    def __enter__(self) -> "CpuLaunches":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.__exit__(kind, error, at)

    def run(self, launch: Launch, number: int) -> Iterator[Batch]:
        """Run a launch and yield its events, a batch of blocks at a time. It runs on while they are taken in.

        number: the launch's, from 0 on.
        """
        return self.run_blocks(launch, number, 0, launch.blocks)

    def run_blocks(self, launch: Launch, number: int, first: int, last: int) -> Iterator[Batch]:
        """Likewise its blocks from the first up to the last, that one left out.

        number: the launch's, from 0 on.
        first, last: numbers of blocks.
        """
        where = f"kernel {self.kernel.name}: launch {number} of {launch.kernel.strip() or shown(launch.kernel)}"
        room = self.room
        command = self._command(launch, where)
        command.first = first
        self._begin(command, last, room.left(), where)
        pile = self._pile
        pile.clear()
        long: LongBlock | None = None  # that goes on
        done = first
        while done < last:
            with self._named(where):
                outcome = self.process.end()
            if long and not outcome.blocks and outcome.fault.code == FaultCode.TOO_MUCH:
                outcome.fault.count += long.events
            self._check(outcome, command, launch, where)
            turn, done = command.turn, command.first + outcome.blocks
            command.first, command.turn, command.begins = done, 1 - turn, 0
            is_last = done == last
            recorded = pile.whole + outcome.count + outcome.spared
            ahead = not (is_last or long or outcome.goes_on) and room.has_for(recorded)
            if ahead:
                self._begin(command, last, room.left(), where)
            events, ends = self.process.events(turn, outcome.count), self.process.ends(turn, outcome.blocks)
            if long and outcome.blocks:
                long.add(events[: ends[0]])
                yield long.batch(number, done - outcome.blocks)
                long, events, ends = None, events[ends[0] :], ends[1:] - ends[0]
            if outcome.goes_on:
                whole = int(ends[-1]) if len(ends) else 0
                pile.add(events[:whole], ends, outcome.spared)
                if pile.blocks:
                    yield pile.batch(number, done)
                long = long or LongBlock()
                self._begin(command, last, room.left(long.events + len(events) - whole), where)
                long.add(events[whole:])
                continue
            is_lent = self.straight and ahead and not pile.blocks and outcome.count >= COMMAND_EVENTS // 2
            if not is_lent:
                pile.add(events, ends, outcome.spared)
            if is_last and (behind := self.memory.overrun()):
                raise RecordingError(
                    f"{where}: wrote {behind}, which is outside all arrays, through a pointer without ST: it runs "
                    "past an array"
                )
            if is_lent:
                blocks = np.arange(done - outcome.blocks, done, dtype=np.int32)
                numbers = np.full(outcome.blocks, number, np.int32), blocks
                yield Batch(events, *numbers, ends, is_lent=True, spared=outcome.spared)
            elif pile.blocks and (not ahead or max(pile.whole, pile.blocks) >= BATCH_EVENTS):
                yield pile.batch(number, done)
            if not ahead and not is_last:
                self._begin(command, last, room.left(), where)
        self._check_shared_memory(outcome.shared_bytes, launch, where)

    def _begin(self, command: Command, last: int, most: int, where: str) -> None:
        command.last = min(last, command.first + BATCH_EVENTS)
        command.wanted, command.most = min(COMMAND_EVENTS, BATCH_EVENTS), most
        command.whole, command.distances = min(WHOLE_EVENTS, BATCH_EVENTS), self.straight
        with self._named(where):
            self.process.begin(command)

    @property
    def has_accessed(self) -> bool:
        """Whether the launch run last has recorded any access."""
        return self.process.has_accessed

    def has_stored(self, name: str) -> bool:
        """Whether the launch run last has stored to that array or updated it.

        name: of an array.
        """
        return self.process.has_stored(self._numbers[name])

    def described(self, launch: Launch) -> TraceLaunch:
        """The launch as a trace describes it."""
        return trace_launch(launch)

    def writable(self, launch: Launch) -> list[str]:
        """The arrays that a launch is given to be written to, so far as its signature tells."""
        signature = self.process.signatures.get(launch.kernel, [])
        pairs = zip(launch.arguments, signature, strict=False)
        return [str(given) for given, taken in pairs if taken.kind == ArgumentKind.POINTER and not taken.constant]

    def _command(self, launch: Launch, where: str) -> Command:
        """The command that begins a launch, its arguments as the kernel's signature wants them."""
        signatures = self.process.signatures
        if launch.kernel not in signatures:
            raise KernelError(
                f"{where}: kernel.cu has no such __global__ function; it has {', '.join(sorted(signatures))}"
            )
        signature = signatures[launch.kernel]
        if len(signature) != len(launch.arguments):
            raise KernelError(f"{where}: takes {len(signature)} arguments, but has {len(launch.arguments)}")
        command = Command(kernel=list(signatures).index(launch.kernel), begins=1)
        command.shape[:] = (*launch.grid, *launch.block)  # type: ignore[misc]
        for position, (given, taken) in enumerate(zip(launch.arguments, signature, strict=True)):
            name = f"{where}: argument {position + 1}"
            value = argument_value(given, taken.kind, taken.size, self.memory.bases, 0, name)
            command.arguments[position][: value.nbytes] = value.tobytes()
            if taken.kind == ArgumentKind.POINTER:
                taken.check_array(self.memory.arrays[str(given)].dtype, f"{name}, {given}")
                command.pointers |= 1 << position
        return command

    @contextlib.contextmanager
    def _named(self, where: str) -> Iterator[None]:
        """The end of the process as an error that says where it was."""
        try:
            yield
        except EndedError as ended:
            place = fault_place(self.kernel, self.sites, ended.site, ended.block, ended.thread)
            raise RecordingError(f"{where}: {place} or after it: {ended.why}") from None

    def _check(self, outcome: Outcome, command: Command, launch: Launch, where: str) -> None:
        if outcome.fault.code == FaultCode.GOES_ROUND:
            events = self.process.events(command.turn, outcome.count)[-outcome.fault.count :]
            raise goes_round(where, self.kernel, self.sites, self.memory, launch, outcome.fault, events)
        if outcome.fault.code:
            raise RecordingError(f"{where}: {self._describe(outcome.fault, launch)}")
        self._note(launch, "ended early", outcome.ended_early)
        self._note(launch, "at two sites", outcome.at_two_sites)

    def _describe(self, fault: Fault, launch: Launch) -> str:
        """What went wrong and where, in words."""
        where = fault_place(self.kernel, self.sites, fault.site, fault.block, fault.thread)
        match fault.code:
            case FaultCode.TOO_MUCH:
                return f"{where}: {self.room.complaint(fault.count)}"
            case FaultCode.THREW:
                reason = self.process.thrown.split("\n")[0]
                return f"{where} or after it: threw an exception{f': {reason}' if reason else ''}"
            case FaultCode.NO_MEMORY:
                return f"{where}: out of memory with {launch.threads_per_block} threads a block"
            case code:
                arrays = list(self.memory.arrays)
                return f"{where}: {access_fault(code, fault.array, fault.index, fault.count, arrays, self.sites)}"

    def _note(self, launch: Launch, what: str, apart: Apart) -> None:
        """Keep that threads of a block met no barrier together, once for each place."""
        key = (what, apart.site, apart.other_site)
        if apart.site < 0 or key in self._apart:
            return
        self._apart.add(key)
        place = fault_place(self.kernel, self.sites, apart.site, apart.block, apart.thread)
        other = (
            f"has ended after {apart.passed}"
            if what == "ended early"
            else f"waits at another, {self._line(apart.other_site)}"
        )
        self.warnings.append(
            f"{launch.kernel}: {place} waits at its barrier number {apart.passed + 1}, and thread {apart.other} "
            f"{other}: CUDA does not define a barrier that not all threads of a block reach; it was assumed to "
            "wait for those that have not ended"
        )

    def _line(self, number: int) -> str:
        site = self.sites[number]
        return f"{site.file}:{site.line}: site {number} `{site.source}`"

    def _check_shared_memory(self, used: int, launch: Launch, where: str) -> None:
        """Occupancy believes the launch: what the kernel declared must not exceed what the launch says."""
        if used > launch.shared_memory_bytes:
            raise KernelError(
                f"{where}: shared_memory_bytes = {launch.shared_memory_bytes}: "
                f"its SHARED arrays take {used} bytes a block"
            )
