"""A launch on a GPU is recorded in passes: threads first count their events, then each writes them to its own stretch.

Before every pass the arrays are what they were before the launch, so each pass sees the same. Where not all events fit
the device at once, the launch is run again for each range of blocks, and for each part of a block that does not fit it.
The host holds some of a long block's events at a time, as those of recordings on the CPU (trace/runs/long_block.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, RecordingError
from simtmm.kernel import Launch
from simtmm.recorder.cpu.unrecorded import Touched
from simtmm.recorder.faults import FaultCode, access_fault, fault_place
from simtmm.recorder.gpu.device import Build, Device, DeviceMemory, Function, launch_words
from simtmm.recorder.launches import trace_launch
from simtmm.trace.runs.long_block import LongBlock
from simtmm.trace.runs.mapped import LONG
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import EVENT, Batch, Events, TraceLaunch

BATCH_EVENTS = 1 << 20  # of a batch that goes to the trace, unless a block has more
MOST_OF_A_THREAD = 1 << 27  # events; a thread with more loops for ever
MOST_PARTS = 1 << 10  # of a block, a run of its launch each
ATTEMPTS = 8  # to record a launch whose threads do more each time
COUNTER_BYTES = 16  # of a recorded thread: how many events it has had, and where its stretch begins
ALIGNMENT_BYTES = 16  # at most lie unused before an array in shared memory


class GpuLaunches:
    """Records launches of one program, one after another."""

    def __init__(
        self, device: Device, build: Build, memory: DeviceMemory, room: int, limit: int, sample_blocks: int | None
    ) -> None:
        """room: bytes of device memory for counters and events. limit: events of all launches."""
        self._device = device
        self._build = build
        self._memory = memory
        self._room = room
        self._left = limit
        self._sample_blocks = sample_blocks
        self._touched = Touched(memory.host.table())
        self._arrays = device.put(memory.extents().reshape(-1))
        self._fault = device.empty(7, np.int64)
        self._after: npt.NDArray[np.uint8] | None = None  # the arrays as a launch leaves them

    def run(self, launch: Launch, number: int) -> Iterator[Batch]:
        """Run a launch and yield the events of its recorded blocks; then the mirror is what it left behind."""
        where = launch_words(self._build.kernel, launch, number)
        self._touched.begin()
        with self._device.told(where):
            for batch in self._recorded(launch, number, where):
                self._touched.add(batch)
                yield batch

    def described(self, launch: Launch) -> TraceLaunch:
        """The launch as a trace describes it."""
        return trace_launch(launch)

    def writable(self, launch: Launch) -> list[str]:
        """The arrays that a launch is given."""
        return [given for given in launch.arguments if isinstance(given, str)]

    @property
    def has_accessed(self) -> bool:
        """Whether the launch run last has recorded any access."""
        return self._touched.has_accessed

    def has_stored(self, name: str) -> bool:
        """Whether the launch run last has stored to that array or updated it."""
        return self._touched.has_stored(name)

    def _recorded(self, launch: Launch, number: int, where: str) -> Iterator[Batch]:
        """The events of a launch: counted, then written, as many blocks at a time as device memory has room for."""
        self._device.check_shape(launch.grid, launch.threads_per_block, where)  # type: ignore[arg-type]
        this = _Launch(launch, self._build.function(launch, where), where)
        this.arguments = this.function.arguments(launch, self._memory, where)
        self._check_shared_memory(this)
        sampled = self._sample_blocks is not None and self._sample_blocks < launch.blocks
        chosen = sampled_blocks(launch.blocks, self._sample_blocks) if sampled else None
        total = launch.blocks if chosen is None else len(chosen)
        threads = launch.threads_per_block
        self._after = None
        recorded = 0
        for part in _ranges(total, max(1, self._room // 4 // (COUNTER_BYTES * threads))):
            counted = self._pass(this, part, chosen, None, None)
            of_blocks = counted.reshape(-1, threads).sum(axis=1)
            recorded += int(of_blocks.sum())
            if recorded > self._left:
                raise RecordingError(
                    f"{where}: {recorded:,} events, but at most {self._left:,} more may be recorded: use smaller "
                    "parameters, sample its blocks, write to a file, or raise most_events"
                )
            if not np.any(of_blocks):
                self._settle(this)
                continue
            fit = (self._room - COUNTER_BYTES * threads * len(part)) // EVENT.itemsize
            for low, high in _cuts(of_blocks, fit):
                blocks = range(part[low], part[low] + high - low)
                capacity = counted[low * threads : high * threads]
                if of_blocks[low] > fit:
                    yield self._in_parts(this, blocks, chosen, capacity, number)
                else:
                    yield from self._filled(this, blocks, chosen, capacity, number)
        assert self._after is not None
        self._left -= recorded
        self._memory.host.whole[:] = self._after

    def _filled(
        self,
        this: "_Launch",
        blocks: range,
        chosen: npt.NDArray[np.int32] | None,
        capacity: npt.NDArray[np.uint64],
        number: int,
    ) -> Iterator[Batch]:
        """Record these blocks, each thread having room for `capacity` events; for more if it turns out to need it."""
        for _ in range(ATTEMPTS):
            starts = _starts(capacity)
            events = self._device.empty(2 * int(starts[-1]), np.uint64)
            used = self._pass(this, blocks, chosen, starts, events, range(int(starts[-1])))
            if np.all(used <= capacity):
                break
            capacity = np.maximum(capacity, used)
        else:
            raise RecordingError(
                f"{this.where}: in {ATTEMPTS} runs its threads did more each time: their work depends on their "
                "timing; record on the CPU (--on cpu)"
            )
        self._settle(this)
        threads = this.launch.threads_per_block
        of_blocks = used.reshape(-1, threads).sum(axis=1).astype(np.int64)
        ends = starts[threads::threads].astype(np.int64)  # of each block's stretches
        names = _numbers(blocks, chosen)
        for low, high in _cuts(np.diff(ends, prepend=0), BATCH_EVENTS):
            begin = int(ends[low - 1]) if low else 0
            if int(ends[high - 1]) == begin:
                continue  # blocks without events may be left out
            held = range(begin, int(ends[high - 1]))
            if of_blocks[low] > LONG:
                long = LongBlock()
                for part in _ranges(len(held), BATCH_EVENTS):
                    long.add(_taken(events, held[part.start : part.stop], starts, used))
                yield long.batch(number, int(names[low]))
                continue
            yield Batch(
                events=_taken(events, held, starts, used),
                launch=np.full(high - low, number, dtype=np.int32),
                block=names[low:high],
                ends=np.cumsum(of_blocks[low:high]),
            )

    def _in_parts(
        self,
        this: "_Launch",
        blocks: range,
        chosen: npt.NDArray[np.int32] | None,
        capacity: npt.NDArray[np.uint64],
        number: int,
    ) -> Batch:
        """Record a block that does not fit the device, a part of its events in each run."""
        starts = _starts(capacity)
        total, block = int(starts[-1]), int(_numbers(blocks, chosen)[0])
        fit = (self._room - COUNTER_BYTES * this.launch.threads_per_block) // EVENT.itemsize
        if fit < 1 or total > fit * MOST_PARTS:
            raise RecordingError(
                f"{this.where}: block {block} has {total:,} events, {total * EVENT.itemsize:,} bytes, but only "
                f"{self._room:,} bytes of device memory may be used: use smaller parameters or record on the CPU "
                "(--on cpu)"
            )
        long = LongBlock()
        for held in _ranges(total, fit):
            events = self._device.empty(2 * len(held), np.uint64)
            used = self._pass(this, blocks, chosen, starts, events, held)
            if np.any(used != capacity):
                raise RecordingError(
                    f"{this.where}: block {block} was run once for each part of its events, for lack of device memory, "
                    "and its threads did something else each time, so its parts are inconsistent; use smaller "
                    "parameters or record on the CPU (--on cpu)"
                )
            self._settle(this)
            for part in _ranges(len(held), BATCH_EVENTS):
                long.add(events[2 * part.start : 2 * part.stop].get().view(EVENT))
            del events  # the device is to have room for the next
        return long.batch(number, block)

    def _pass(
        self,
        this: "_Launch",
        blocks: range,
        chosen: npt.NDArray[np.int32] | None,
        starts: npt.NDArray[np.uint64] | None,
        events: Any | None,
        held: range = range(0),
    ) -> npt.NDArray[np.uint64]:
        """Run the launch on the arrays as they were before it; give how many events each thread of `blocks` had.

        held: what of all stretches lies in `events`.
        """
        device = self._device
        self._memory.upload()
        self._fault.fill(0)
        used = device.empty(len(blocks) * this.launch.threads_per_block, np.uint64)
        used.fill(0)
        # Kept in variables: the device must not get their memory back before it has run.
        device_starts = None if starts is None else device.put(starts)
        device_chosen = None if chosen is None else device.put(chosen[blocks.start : blocks.stop])
        this.function.begin(
            (1,),
            (1,),
            (
                _address(events),
                _address(used),
                _address(device_starts),
                _address(device_chosen),
                np.int64(blocks.start),
                np.int64(len(blocks)),
                _address(self._arrays),
                np.int64(len(self._memory.host.bases)),
                np.uint64(self._memory.origin),
                np.uint64(MOST_OF_A_THREAD),
                _address(self._fault),
                np.uint64(held.start),
                np.uint64(len(held)),
            ),
        )
        this.function.raw(this.launch.grid, this.launch.block, this.arguments)
        device.wait()
        self._complain(this)
        counts: npt.NDArray[np.uint64] = used.get()
        return counts

    def _settle(self, this: "_Launch") -> None:
        """Take what a pass left in the arrays. Ranges that were recorded in several must all have seen the same run."""
        after = np.empty_like(self._memory.host.whole)
        self._memory.download(after)
        if self._after is not None and not np.array_equal(after, self._after):
            raise RecordingError(
                f"{this.where}: was run once for each range of blocks, for lack of device memory, and left different "
                "values each time, so its ranges are inconsistent; use smaller parameters or record on the CPU "
                "(--on cpu)"
            )
        self._after = after

    def _complain(self, this: "_Launch") -> None:
        code, site, block, thread, array, index, count = self._fault.get().tolist()
        if code:
            where = fault_place(self._build.kernel, self._build.sites, site, block, thread)
            what = (
                f"a thread recorded over {count} events: does it loop for ever?"
                if code == FaultCode.TOO_MUCH
                else access_fault(code, array, index, count, list(self._memory.host.arrays), self._build.sites)
            )
            raise RecordingError(f"{this.where}: {where}: {what}")

    def _check_shared_memory(self, this: "_Launch") -> None:
        """Occupancy believes the launch. The compiler may leave gaps, so this sees less than a recording on the CPU."""
        used = int(this.function.raw.shared_size_bytes)
        gaps = ALIGNMENT_BYTES * sum(site.kind == "shared_array" for site in self._build.sites)
        if used - gaps > this.launch.shared_memory_bytes:
            raise KernelError(
                f"{this.where}: shared_memory_bytes = {this.launch.shared_memory_bytes}: "
                f"its SHARED arrays take {used} bytes a block"
            )


@dataclass
class _Launch:
    """A launch under way."""

    launch: Launch
    function: Function
    where: str
    arguments: tuple[np.generic, ...] = ()


def _address(array: Any | None) -> np.uint64:
    return np.uint64(0 if array is None else array.data.ptr)


def _ranges(total: int, most: int) -> Iterator[range]:
    for first in range(0, total, most):
        yield range(first, min(total, first + most))


def _cuts(sizes: npt.NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Runs (low, high) of neighbours, of at most so much together; one that is more by itself stands alone."""
    ends = np.cumsum(sizes, dtype=np.int64)
    low = 0
    while low < len(ends):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield low, high
        low = high


def _starts(capacity: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Where the stretches of threads begin that have room for so many events each, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(capacity, dtype=np.uint64)])


def _numbers(blocks: range, chosen: npt.NDArray[np.int32] | None) -> npt.NDArray[np.int32]:
    """The numbers of recorded blocks, by where they stand among these."""
    if chosen is None:
        return np.arange(blocks.start, blocks.stop, dtype=np.int32)
    return chosen[blocks.start : blocks.stop]


def _taken(events: Any, held: range, starts: npt.NDArray[np.uint64], used: npt.NDArray[np.uint64]) -> Events:
    """A part of all stretches, without what threads did not write of theirs. starts: of the stretches."""
    raw: Events = events[2 * held.start : 2 * held.stop].get().view(EVENT)
    first = int(np.searchsorted(starts, held.start, side="right")) - 1
    last = int(np.searchsorted(starts, held.stop))
    begins = starts[first : last + 1].astype(np.int64)
    written = used[first:last].astype(np.int64)
    if np.all(written == np.diff(begins)):
        return raw
    bounds = np.clip(begins, held.start, held.stop)
    within = bounds[1:] - bounds[:-1]
    return raw[np.arange(held.start, held.stop) < np.repeat(begins[:-1] + written, within)]
