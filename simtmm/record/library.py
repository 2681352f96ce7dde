"""A kernel's instrumented C++ build at work: its blocks are run, one after another, and their events taken out."""

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, RecordingError, shown
from simtmm.kernel import Kernel, Launch
from simtmm.record.limits import VARIABLE, available_memory
from simtmm.record.memory import GlobalMemory, access_fault, argument_value, fault_place
from simtmm.record.sites import read_source
from simtmm.trace.io import TraceRecorder
from simtmm.trace.schema import EVENT, Batch

BATCH_EVENTS = 1 << 20  # a row group: 16 MiB of events in memory
MOST_EVENTS = 1 << 27  # of a batch and so of a block: 2 GiB; a block with more loops for ever
COPIES = 3  # of a block's events that lie in memory at once: as they came, by thread, and for the trace
CANCEL_SECONDS = 0.5  # a kernel that records looks often whether it is cancelled
_LEFT_BEHIND: dict[Path, Any] = {}  # libraries in which a kernel that could not be stopped still runs, and its memory


class _Fault(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int),
        ("site", ctypes.c_int),
        ("block", ctypes.c_longlong),
        ("thread", ctypes.c_longlong),
        ("array", ctypes.c_int),
        ("index", ctypes.c_longlong),
        ("count", ctypes.c_longlong),
    )


class _Outcome(ctypes.Structure):
    _fields_ = (
        ("events", ctypes.c_void_p),
        ("count", ctypes.c_ulonglong),
        ("blocks", ctypes.c_longlong),
        ("fault", _Fault),
    )


class Room:
    """How many events may still come, and the complaint where more do."""

    def __init__(self, limit: int, recorder: TraceRecorder, in_memory: bool) -> None:
        self._limit = limit
        self._recorder = recorder
        self._in_memory = in_memory
        self._of_a_block = max(1, min(MOST_EVENTS, available_memory() // 2 // EVENT.itemsize // COPIES))

    def left(self) -> int:
        """For the next batch."""
        return min(self._of_a_block, self._limit - self._recorder.events)

    def complaint(self, events: int) -> str:
        """That a batch had more than so many."""
        so_far = self._recorder.events + events
        if so_far < self._limit:
            return f"a block recorded over {events} events: does it loop for ever?"
        may, how = ("be recorded", "most_events") if not self._in_memory else ("be held in memory", VARIABLE)
        ways = ["write to a file (simtmm record -o FILE)"] if self._in_memory else []
        return (
            f"{so_far:,} events so far and more to come, but at most {self._limit:,} may {may}: does it loop or launch "
            f"for ever? Else {', '.join([*ways, 'take smaller parameters'])} or raise {how}"
        )


class Library:
    """A kernel's instrumented build, loaded."""

    def __init__(self, kernel: Kernel, path: Path) -> None:
        if path in _LEFT_BEHIND:
            raise RecordingError(f"kernel {kernel.name}: an earlier recording could not be stopped: start Python anew")
        self.kernel = kernel
        self._path = path
        self.source_digest = path.stem.rsplit("-", 1)[-1]
        self.sites = read_source(kernel).sites
        try:
            self._dll = ctypes.CDLL(str(path))
        except OSError as error:
            raise RecordingError(f"kernel {kernel.name}: its build can't be loaded ({error})") from None
        self._dll.simtmm_kernel_name.restype = ctypes.c_char_p
        count = self._dll.simtmm_kernels()
        self._dll.simtmm_local_memory.restype = ctypes.c_longlong
        self._idle = True
        self._numbers = {self._dll.simtmm_kernel_name(number).decode(): number for number in range(count)}

    def release(self) -> None:
        """Free what the library holds, unless a kernel that could not be stopped still uses it."""
        if self._idle:
            self._dll.simtmm_release()

    def run(self, launch: Launch, number: int, memory: GlobalMemory, room: Room) -> Iterator[Batch]:
        """Run a launch and yield its events, a batch of blocks at a time."""
        where = f"kernel {self.kernel.name}: launch {number} of {launch.kernel.strip() or shown(launch.kernel)}"
        if launch.kernel not in self._numbers:
            raise KernelError(
                f"{where}: kernel.cu has no such __global__ function; it has {', '.join(sorted(self._numbers))}"
            )
        entry = self._numbers[launch.kernel]
        values, pointers = self._arguments(entry, launch, memory, where)
        shape = (ctypes.c_uint * 6)(*launch.grid, *launch.block)  # type: ignore[misc]
        self._dll.simtmm_cancel(0)
        self._dll.simtmm_begin(
            entry,
            shape,
            memory.extents.ctypes.data_as(ctypes.c_void_p),
            len(memory.extents),
            ctypes.c_ulonglong((-memory.origin) % 2**64),
        )
        first = 0
        while first < launch.blocks:
            last = min(launch.blocks, first + BATCH_EVENTS)
            ends = np.zeros(last - first, dtype=np.uint64)
            outcome = self._run_blocks(first, last, pointers, ends, room.left(), memory)
            if outcome.fault.code:
                raise RecordingError(f"{where}: {self._describe(outcome.fault, list(memory.arrays), launch, room)}")
            done = outcome.blocks
            blocks = np.arange(first, first + done, dtype=np.int32)
            yield Batch(
                events=_copied(outcome),
                launch=np.full(done, number, dtype=np.int32),
                block=blocks,
                ends=ends[:done].astype(np.int64),
            )
            first += done
        del values  # they had to live until here
        self._check_local_memory(launch, where)

    def _arguments(
        self, entry: int, launch: Launch, memory: GlobalMemory, where: str
    ) -> tuple[list[npt.NDArray[Any]], "ctypes.Array[ctypes.c_void_p]"]:
        """The arguments as the kernel's signature wants them, each in memory of its own."""
        kinds, sizes = ctypes.create_string_buffer(33), (ctypes.c_int * 33)()
        count = self._dll.simtmm_kernel_signature(entry, kinds, sizes)
        if count != len(launch.arguments):
            raise KernelError(f"{where}: takes {count} arguments, {len(launch.arguments)} were given")
        values = []
        for position, argument in enumerate(launch.arguments):
            kind, size = chr(kinds.raw[position]), sizes[position]
            values.append(
                argument_value(argument, kind, size, memory.bases, memory.origin, f"{where}: argument {position + 1}")
            )
        pointers = (ctypes.c_void_p * max(1, count))(*(value.ctypes.data for value in values))
        return values, pointers

    def _run_blocks(
        self,
        first: int,
        last: int,
        pointers: "ctypes.Array[ctypes.c_void_p]",
        ends: npt.NDArray[np.uint64],
        most: int,
        memory: GlobalMemory,
    ) -> _Outcome:
        """Run blocks in another thread, so that Ctrl-C reaches this one and can cancel them."""
        outcome = _Outcome()
        status: list[int] = []
        done = threading.Event()

        def work() -> None:
            status.append(
                self._dll.simtmm_run(
                    ctypes.c_longlong(first),
                    ctypes.c_longlong(last),
                    pointers,
                    ctypes.c_ulonglong(BATCH_EVENTS),
                    ctypes.c_ulonglong(most),
                    ends.ctypes.data_as(ctypes.c_void_p),
                    ctypes.byref(outcome),
                )
            )
            done.set()

        self._idle = False
        try:
            # A daemon: a kernel that loops for ever without recording anything can't be stopped, only left behind.
            threading.Thread(target=work, name="simtmm-record", daemon=True).start()
            while not done.wait(0.2):
                pass
        except KeyboardInterrupt:
            self._dll.simtmm_cancel(1)
            self._idle = done.wait(CANCEL_SECONDS)
            if not self._idle:
                _LEFT_BEHIND[self._path] = (memory, pointers, ends, outcome)
            raise
        self._idle = True
        if status != [0]:
            raise RecordingError(f"kernel {self.kernel.name}: out of memory while recording")
        return outcome

    def _describe(self, fault: _Fault, arrays: list[str], launch: Launch, room: Room) -> str:
        """What went wrong and where, in words."""
        where = fault_place(self.kernel, self.sites, fault.site, fault.block, fault.thread)
        match fault.code:
            case 1 | 2 | 3 | 4:
                return f"{where}: {access_fault(fault.code, fault.array, fault.index, fault.count, arrays, self.sites)}"
            case 5:
                return f"{where}: {room.complaint(fault.count)}"
            case 6:
                return (
                    f"{where} or after it: crashed: a pointer used without LD or ST, "
                    "a division by zero, or a stack overflow"
                )
            case 7:
                return f"{where}: cancelled"
            case _:
                return f"{where}: out of memory with {launch.threads_per_block} threads a block"

    def _check_local_memory(self, launch: Launch, where: str) -> None:
        """Occupancy believes the launch: what the kernel declared must not exceed what the launch says."""
        used = self._dll.simtmm_local_memory()
        if used > launch.local_memory_bytes:
            raise KernelError(
                f"{where}: local_memory_bytes = {launch.local_memory_bytes}: "
                f"its SHARED arrays take {used} bytes a block"
            )


def _copied(outcome: _Outcome) -> npt.NDArray[np.void]:
    events = np.empty(outcome.count, dtype=EVENT)
    if outcome.count:
        ctypes.memmove(events.ctypes.data, outcome.events, events.nbytes)
    return events
