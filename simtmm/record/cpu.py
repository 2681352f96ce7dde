"""Record a kernel on the CPU: its instrumented C++ build is run block by block."""

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, RecordingError, shown
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Array, Kernel, Launch
from simtmm.provenance import provenance
from simtmm.record.compiler import build, find_compiler
from simtmm.record.sites import read_source
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.schema import ALIGNMENT, EVENT, Batch, TraceArray, TraceLaunch

BATCH_EVENTS = 1 << 20  # a row group: 16 MiB of events in memory
MOST_EVENTS = 1 << 27  # of a batch and so of a block: 2 GiB; a block with more loops for ever
MOST_ARRAYS = 1024
CANCEL_SECONDS = 2.0  # a kernel that records looks often whether it is cancelled
_LIBRARY_IN_USE = threading.Lock()  # a library has static state
_LEFT_BEHIND: set[Path] = set()  # libraries in which a kernel that could not be stopped still runs


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


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Record a kernel; see simtmm.record.record."""
    if output:
        check_writable(output)
    library = _Library(kernel, build(kernel, kernel.defines(parameters)))
    memory = _GlobalMemory(kernel.inputs(parameters))
    before = {name: array.copy() for name, array in memory.arrays.items()}
    with contextlib.ExitStack() as stack:
        stack.enter_context(_LIBRARY_IN_USE)
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path)
        stack.callback(recorder.abandon)
        stack.callback(library.release)
        launches: list[TraceLaunch] = []
        for launch in kernel.launches(parameters, memory.arrays):
            for batch in library.run(launch, len(launches), memory):
                recorder.add(batch)
                if progress:
                    progress(recorder.events)
            launches.append(_of_trace(launch))
        wrong = kernel.check(parameters, before, memory.arrays)
        if wrong:
            raise RecordingError(f"kernel {kernel.name}: wrong answer: {wrong}")
        trace = recorder.finish(
            kernel.name, dict(parameters), launches, memory.table(), library.sites, _provenance(library)
        )
    return Trace(trace.info, Path(output)) if output else trace


def _of_trace(launch: Launch) -> TraceLaunch:
    grid, block = launch.grid, launch.block
    assert isinstance(grid, tuple)
    assert isinstance(block, tuple)
    return TraceLaunch(
        launch.kernel,
        (grid[0], grid[1], grid[2]),
        (block[0], block[1], block[2]),
        launch.registers_per_thread,
        launch.local_memory_bytes,
    )


def _provenance(library: "_Library") -> dict[str, Any]:
    return {
        **provenance(),
        "recorder": "cpu",
        "source": library.source_digest,
        "compiler": " ".join(find_compiler()),
    }


class _GlobalMemory:
    """The arrays of a program, one after another in one piece of memory, as they lie virtually."""

    def __init__(self, inputs: Mapping[str, Array]) -> None:
        if len(inputs) > MOST_ARRAYS:
            raise KernelError(f"{len(inputs)} arrays: at most {MOST_ARRAYS} can be registered")
        self.bases: dict[str, int] = {}
        end = ALIGNMENT
        for name, array in inputs.items():
            self.bases[name] = end
            end += (array.nbytes // ALIGNMENT + 1) * ALIGNMENT  # a gap: the pointer to an array's end is its own
        # Kept: the arrays are views of it. Page alignment gives kernels the alignment a GPU would.
        self._memory = np.zeros(end + 4096, dtype=np.uint8)
        self.origin = -(-self._memory.ctypes.data // 4096) * 4096  # the host address of virtual address 0
        shift = self.origin - self._memory.ctypes.data
        self.arrays: dict[str, Array] = {}
        for name, array in inputs.items():
            start = shift + self.bases[name]
            native = array.dtype.newbyteorder("=")
            view = self._memory[start : start + array.nbytes].view(native).reshape(array.shape)
            view[...] = array
            self.arrays[name] = view
        self.extents = np.array(
            [(self.origin + base, self.origin + base + inputs[name].nbytes) for name, base in self.bases.items()],
            dtype=np.uint64,
        )

    def address(self, name: str) -> int:
        """Where the array lies in this process."""
        return self.origin + self.bases[name]

    def table(self) -> list[TraceArray]:
        """The arrays as the trace describes them."""
        return [
            TraceArray(name, self.bases[name], array.nbytes, array.dtype.str, tuple(array.shape))
            for name, array in self.arrays.items()
        ]


class _Library:
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

    def run(self, launch: Launch, number: int, memory: _GlobalMemory) -> Iterator[Batch]:
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
            ctypes.c_ulonglong(MOST_EVENTS),
        )
        first = 0
        while first < launch.blocks:
            last = min(launch.blocks, first + BATCH_EVENTS)
            ends = np.zeros(last - first, dtype=np.uint64)
            outcome = self._run_blocks(first, last, pointers, ends)
            if outcome.fault.code:
                raise RecordingError(f"{where}: {self._describe(outcome.fault, list(memory.arrays), launch)}")
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
        self, entry: int, launch: Launch, memory: _GlobalMemory, where: str
    ) -> tuple[list[npt.NDArray[Any]], "ctypes.Array[ctypes.c_void_p]"]:
        """The arguments as the kernel's signature wants them, each in memory of its own."""
        kinds, sizes = ctypes.create_string_buffer(33), (ctypes.c_int * 33)()
        count = self._dll.simtmm_kernel_signature(entry, kinds, sizes)
        if count != len(launch.arguments):
            raise KernelError(f"{where}: takes {count} arguments, {len(launch.arguments)} were given")
        values = []
        for position, argument in enumerate(launch.arguments):
            kind, size = chr(kinds.raw[position]), sizes[position]
            values.append(_argument(argument, kind, size, memory, f"{where}: argument {position + 1}"))
        pointers = (ctypes.c_void_p * max(1, count))(*(value.ctypes.data for value in values))
        return values, pointers

    def _run_blocks(
        self, first: int, last: int, pointers: "ctypes.Array[ctypes.c_void_p]", ends: npt.NDArray[np.uint64]
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
                    ends.ctypes.data_as(ctypes.c_void_p),
                    ctypes.byref(outcome),
                )
            )
            done.set()

        self._idle = False
        # A daemon: a kernel that loops for ever without recording anything can't be stopped, only left behind.
        threading.Thread(target=work, name="simtmm-record", daemon=True).start()
        try:
            while not done.wait(0.2):
                pass
        except KeyboardInterrupt:
            self._dll.simtmm_cancel(1)
            self._idle = done.wait(CANCEL_SECONDS)
            if not self._idle:
                _LEFT_BEHIND.add(self._path)
            raise
        self._idle = True
        if status != [0]:
            raise RecordingError(f"kernel {self.kernel.name}: out of memory while recording")
        return outcome

    def _describe(self, fault: _Fault, arrays: list[str], launch: Launch) -> str:
        """What went wrong and where, in words."""
        where = f"block {fault.block}, thread {fault.thread}"
        if fault.site >= 0:
            site = self.sites[fault.site]
            where = f"{self.kernel.folder / site.file}:{site.line}: site {site.site} `{site.source}`, {where}"
        match fault.code:
            case 1:
                name = arrays[fault.array]
                return f"{where}: index {fault.index} is out of bounds: {name} has {fault.count} elements of this type"
            case 2:
                return f"{where}: the pointer does not point into any registered array"
            case 3:
                declared = self.sites[fault.array].source
                return f"{where}: index {fault.index} is out of bounds: `{declared}` has {fault.count} elements"
            case 4:
                return f"{where}: OP and JOIN take no negative number, here {fault.index}"
            case 5:
                return f"{where}: a block recorded over {MOST_EVENTS} events: does it loop for ever?"
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


def _argument(argument: Any, kind: str, size: int, memory: _GlobalMemory, where: str) -> npt.NDArray[Any]:
    """One argument in the form the kernel takes: a pointer, or a number of the right width."""
    if kind == "p":
        if not isinstance(argument, str) or argument not in memory.bases:
            raise KernelError(f"{where} = {argument!r}: must be the name of an array: {', '.join(memory.bases)}")
        return np.array([memory.address(argument)], dtype=np.uint64)
    if kind == "s":
        raise KernelError(f"{where}: structures can't be passed by value; pass an array of one")
    wanted = np.dtype({"b": "?"}.get(kind, f"{kind}{size}"))
    if not isinstance(argument, (int, float, np.integer, np.floating, np.bool_)):
        raise KernelError(f"{where} = {shown(argument)}: must be a number ({wanted})")
    if kind == "f":
        if np.isfinite(argument) and abs(float(argument)) > float(np.finfo(wanted).max):
            raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    elif not np.isfinite(argument) or argument != int(argument):
        raise KernelError(f"{where} = {argument!r}: must be a whole number ({wanted})")
    if kind in "iu" and not np.iinfo(wanted).min <= int(argument) <= np.iinfo(wanted).max:
        raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    return np.array([argument], dtype=wanted)
