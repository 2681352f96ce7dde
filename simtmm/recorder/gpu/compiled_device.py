"""A GPU on which compiled kernels record: their PTX is instrumented, and what it writes becomes the log of a launch.

A launch runs once where what it writes fits its buffer. Where it does not, it runs again, with a buffer that is large
enough, or with some of its blocks recorded at a time; before each run the arrays and the module's variables are what
they were before the launch. A block alone may fill as much of the device as there is; the host reads it in stretches.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.device import Device as VirtualDevice
from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.execution.launches.run import Piece
from simtmm.cuda.faults import place_text
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.instrumentation.layout import (
    BLOCKS,
    BUFFER,
    CAPACITY,
    CLAIMED,
    LARGEST_ENTRY,
    MOST,
    RECORDER,
    RECORDER_WORDS,
    SPACE_SHIFT,
    SPACES,
    SYMBOLS,
    UNKNOWN,
)
from simtmm.cuda.instrumentation.module import InstrumentedModule, instrumented
from simtmm.cuda.instrumentation.reading import DamagedError, Extents, OutsideError, Reading
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.log.events import SiteTable
from simtmm.cuda.ptx.syntax import Instruction, Symbol
from simtmm.errors import KernelError, RecordingError
from simtmm.recorder.gpu.device import Device, DeviceMemory
from simtmm.recorder.gpu.ptx_module import STATIC_ROOM, GpuFunction, PtxKernel, PtxModule, meets_as_grid, only_unit
from simtmm.trace.sampled_blocks import sampled_blocks

Bytes = npt.NDArray[np.uint8]

FIRST_BUFFER = 1 << 26  # bytes, of a launch that may need less
LARGEST_BUFFER = 1 << 27  # bytes, of several blocks: what they have written is read on the host at once
STRETCH = 1 << 22  # bytes, of a block alone that are read at once
MOST_CLAIMED = 1 << 40  # bytes: a launch that writes more loops for ever
ATTEMPTS = 8  # to record blocks that do more each time


@dataclass
class _Loaded:
    """A module on the device. addresses: of its symbols, there. variables: those in global memory, by their names.

    kept: what the variables hold before a launch.
    """

    instrumented: InstrumentedModule
    module: PtxModule
    addresses: Any
    variables: dict[str, Any]
    kept: dict[str, Bytes]


@dataclass
class _Pass:
    """A launch under way. after: what its last run left in the arrays, and in the module's variables."""

    loaded: _Loaded
    kernel: PtxKernel
    launch: DeviceLaunch
    where: str
    after: tuple[Bytes, dict[str, Bytes]] | None = None


class CompiledDevice(VirtualDevice):
    """Virtual memory as of a recording on the CPU; kernels run on a GPU, on arrays that lie alike there.

    table: what the numbers of a kernel's sites stand for in the trace.
    """

    kernel_type = GpuFunction
    table: Callable[[KernelFunction], SiteTable]

    def __init__(
        self,
        gpu: Device,
        memory: DeviceMemory,
        room: int,
        sample_blocks: int | None = None,
    ) -> None:
        """room: bytes of device memory for a buffer. sample_blocks: most of a launch that are recorded."""
        super().__init__()
        self._gpu, self._memory, self._sample_blocks = gpu, memory, sample_blocks
        self._room = room // 8 * 8
        self._capacity = min(self._room, FIRST_BUFFER)  # bytes of the buffer, as large as a launch has needed so far
        self._modules_there: dict[int, _Loaded] = {}
        self._checked: set[int] = set()

    def pointer(self, address: int) -> int:
        """What a kernel is to be given for a virtual address."""
        return self._memory.origin + address

    def run(
        self, function: KernelFunction, launch: DeviceLaunch, record: bool = True, *_: Any, **__: Any
    ) -> Generator[Piece, None, None]:
        """Run a kernel and yield pieces of its log, as of the CPU. Raises KernelError, PtxError and RecordingError."""
        where = launch.where or f"launch of {function.entry}"
        x, y, z = launch.block
        self._gpu.check_shape(launch.grid, x * y * z, where)
        with self._gpu.told(where):
            loaded = self._load(function.linked, where)
            self.symbols(function.linked)
            if id(function) not in self._checked:
                self._check(function, loaded, where)
                self._checked.add(id(function))
            shared, gives = function.shared_bytes(launch.shared_bytes), self._gpu.shared_memory_bytes
            if shared > gives:
                raise KernelError(
                    f"{where}: {shared:,} bytes of shared memory: {self._gpu.name} gives a block {gives:,}"
                )
            kernel = loaded.module.kernel(function.entry, function.parameters)
            most = int(kernel.max_threads_per_block)
            if x * y * z > most:
                raise KernelError(f"{where}: {x * y * z} threads a block: as recorded, it may have {most}")
            if int(kernel.shared_size_bytes) + launch.shared_bytes > STATIC_ROOM:
                kernel.max_dynamic_shared_size_bytes = launch.shared_bytes
            yield from self._recorded(function, _Pass(loaded, kernel, launch, where))

    def _load(self, linked: LinkedModule, where: str) -> _Loaded:
        if id(linked) not in self._modules_there:
            recording = instrumented(only_unit(linked))
            module = PtxModule(self._gpu, recording.ptx, where)
            addresses = self._gpu.empty(len(recording.symbols), np.uint64)
            variables = module.variables(linked)
            kept = {name: there.get() for name, there in variables.items()}
            self._modules_there[id(linked)] = _Loaded(recording, module, addresses, variables, kept)
        return self._modules_there[id(linked)]

    def _check(self, function: KernelFunction, loaded: _Loaded, where: str) -> None:
        """Raise RecordingError for what can't be recorded on a GPU."""
        for code in function.program.codes:
            first = loaded.instrumented.first[code.function.name]
            for number in range(first, first + code.first_sites[-1] - code.first_sites[0]):
                if number in loaded.instrumented.refused:
                    access, why = loaded.instrumented.refused[number]
                    place = place_text(function, code.function.name, access)
                    raise RecordingError(f"{where}: {place}: {why}: record on the CPU (--on cpu)")
            for item in code.function.body or ():
                if isinstance(item, Instruction) and item.opcode == "call" and Symbol("malloc") in item.operands:
                    place = place_text(function, code.function.name, item)
                    raise RecordingError(
                        f"{where}: {place}: the location of memory that device code allocates is unknown on a GPU: "
                        "record "
                        "on the CPU (--on cpu)"
                    )
        if meets_as_grid(function.linked, function.entry):
            raise RecordingError(
                f"{where}: blocks that wait for one another (grid.sync) are not recorded on a GPU: record on the CPU "
                "(--on cpu)"
            )

    def _recorded(self, function: KernelFunction, this: _Pass) -> Iterator[Piece]:
        """The log of the recorded blocks, in order, as many at a time as the buffer holds."""
        x, y, z = this.launch.grid
        blocks = x * y * z
        chosen = np.arange(blocks) if self._sample_blocks is None else sampled_blocks(blocks, self._sample_blocks)
        # Blocks, the run of them that comes, and bytes of the buffer that it needs
        pending: list[tuple[npt.NDArray[Any], int, int]] = [(chosen, 1, 0)]
        while pending:
            part, attempt, needed = pending.pop(0)
            capacity = max(needed, self._capacity)
            largest = self._room if len(part) == 1 else min(self._room, LARGEST_BUFFER)
            # Kept in a variable: the device must not get its memory back before it has run.
            buffer = self._gpu.empty(capacity // 8, np.uint64)
            claimed = self._run(this, part, blocks, buffer, capacity)
            if claimed > capacity:
                if attempt == ATTEMPTS:
                    raise RecordingError(
                        f"{this.where}: in {ATTEMPTS} runs its threads did more each time: their work depends on "
                        "their timing; record on the CPU (--on cpu)"
                    )
                needed = min(largest, claimed + claimed // 8) // 8 * 8
                self._capacity = max(self._capacity, min(needed, LARGEST_BUFFER, self._room))
                if claimed <= largest:
                    pending.insert(0, (part, attempt + 1, needed))
                    continue
                if len(part) == 1:
                    raise RecordingError(
                        f"{this.where}: block {int(part[0])} writes {claimed:,} bytes of events, but only "
                        f"{self._room:,} "
                        "bytes of device memory may be used: use smaller parameters or record on the CPU (--on cpu)"
                    )
                pieces = min(len(part), 2 * -(-claimed // largest))
                pending[:0] = [(each, 1, 0) for each in np.array_split(part, pieces)]
                continue
            self._settle(this)
            if claimed:
                yield from self._read(function, this, buffer[: claimed // 8], len(part) == 1)
            del buffer  # the device is to have room for the next
        assert this.after is not None
        self._memory.host.whole[:], this.loaded.kept = this.after

    def _run(self, this: _Pass, part: npt.NDArray[Any], blocks: int, buffer: Any, capacity: int) -> int:
        """Run the launch on the arrays as they were before it; gives the bytes that recorded blocks have claimed."""
        gpu = self._gpu
        self._memory.upload()
        for name, there in this.loaded.variables.items():
            there.set(this.loaded.kept[name])
        bits = np.zeros(-(-blocks // 32) * 32, np.uint8)
        bits[part] = 1
        recorded = gpu.put(np.packbits(bits, bitorder="little").view(np.uint32))
        # What a kernel does not come by is not where it was in another.
        this.loaded.addresses.set(np.full(len(this.loaded.addresses), UNKNOWN, np.uint64))
        words = np.zeros(RECORDER_WORDS, np.uint64)
        words[BUFFER], words[CAPACITY], words[MOST] = buffer.data.ptr, capacity, MOST_CLAIMED
        words[BLOCKS], words[SYMBOLS] = recorded.data.ptr, this.loaded.addresses.data.ptr
        recorder = this.loaded.module.variable(RECORDER, RECORDER_WORDS, np.uint64)
        recorder.set(words)
        launch = this.launch
        this.kernel(launch.grid, launch.block, launch.parameters, shared_mem=launch.shared_bytes)
        gpu.wait()
        claimed = int(recorder.get()[CLAIMED])
        if claimed > MOST_CLAIMED:
            raise RecordingError(f"{this.where}: over {claimed // LARGEST_ENTRY:,} entries: does it loop for ever?")
        return claimed

    def _settle(self, this: _Pass) -> None:
        """Take what a run left behind. Blocks that were recorded in several must all have seen the same."""
        arrays = np.empty_like(self._memory.host.whole)
        self._memory.download(arrays)
        variables = {name: there.get() for name, there in this.loaded.variables.items()}
        if this.after is not None:
            before, others = this.after
            same = all(np.array_equal(variables[name], other) for name, other in others.items())
            if not same or not np.array_equal(arrays, before):
                raise RecordingError(
                    f"{this.where}: was run once for each range of blocks, for lack of device memory, and left "
                    "different "
                    "values each time, so its ranges are inconsistent; use smaller parameters or record on the CPU "
                    "(--on cpu)"
                )
        this.after = arrays, variables

    def _read(self, function: KernelFunction, this: _Pass, written: Any, of_a_block: bool) -> Iterator[Piece]:
        """The log that stands in words on the device."""
        table = self.table(function)
        sites = np.full(this.loaded.instrumented.sites, -1, np.int64)
        for code in function.program.codes:
            first, count = this.loaded.instrumented.first[code.function.name], code.first_sites[-1]
            sites[first : first + count - code.first_sites[0]] = np.arange(code.first_sites[0], count)
        extents = Extents.of(list(self._extents(function, this)))
        reading = Reading(sites, table.kind, table.width, table.generic, extents)
        try:
            if of_a_block:
                words = range(0, len(written), STRETCH // 8)
                stretches = (written[begin : begin + STRETCH // 8].get().view(np.uint8) for begin in words)
                yield from reading.log_of_block(stretches, 8 * len(written))
            else:
                yield from reading.log(written.get().view(np.uint8))
        except DamagedError as damaged:
            raise RecordingError(
                f"{this.where}: the events on the device are damaged after {damaged.args[0]:,} bytes: does the kernel "
                "write out of bounds?"
            ) from None
        except OutsideError as outside:
            raise RecordingError(f"{this.where}: {_outside(function, this.launch, *outside.args)}") from None

    def _extents(self, function: KernelFunction, this: _Pass) -> Iterator[tuple[int, int, int]]:
        """What lies where on the device: address with its state space, bytes, virtual address."""
        linked, program = function.linked, function.program
        virtual = self.symbols(linked)
        arrays = self._memory.host.bases
        for name, base in arrays.items():
            yield self.pointer(base), self._memory.host.arrays[name].nbytes, base
        for name in this.loaded.variables:
            yield this.loaded.module.address(name), linked.module.variables[name].size, virtual[name]
        for symbol, address in zip(
            this.loaded.instrumented.symbols, this.loaded.addresses.get().tolist(), strict=False
        ):
            if address == UNKNOWN:
                continue
            at = address | SPACES[symbol.space] << SPACE_SHIFT
            if symbol.space == "const":
                yield at, linked.module.variables[symbol.name].size, virtual[symbol.name]
            elif symbol.space == "shared" and symbol.name in program.shared:
                place = program.shared[symbol.name]
                size = _size(linked, symbol.function, symbol.name)
                yield at, size or function.shared_bytes(this.launch.shared_bytes) - place, place
            elif symbol.space == "local" and symbol.function == function.entry:
                yield at, _size(linked, symbol.function, symbol.name), program.entry_code.locals[symbol.name]


def _size(linked: LinkedModule, function: str, name: str) -> int:
    """The bytes of a variable of a function, or of the module; 0 where the launch decides."""
    if not function:
        return linked.module.variables[name].size
    return next(each.size for each in linked.module.functions[function].variables if each.name == name)


def _outside(function: KernelFunction, launch: DeviceLaunch, site: int, block: int, thread: int, address: int) -> str:
    """That a thread has accessed what is in no array, in words."""
    found = function.program.sites[site]
    access = found.step.access
    assert access is not None
    (x, y, _), (across, down, _) = launch.block, launch.grid
    index = f"({block % across}, {block // across % down}, {block // (across * down)})"
    who = f"block {index}, thread ({thread % x}, {thread // x % y}, {thread // (x * y)})"
    space = next(name for name, number in SPACES.items() if number == address >> SPACE_SHIFT)
    at = address & (1 << SPACE_SHIFT) - 1
    does = "writes" if access.opcode in ("st", "red") else "updates" if access.opcode == "atom" else "reads"
    what = f"{does} {found.step.width} bytes at {at:#x} of {space} memory, outside all arrays: out of bounds"
    return f"{place_text(function, found.function, access)}, {who}: {what}"
