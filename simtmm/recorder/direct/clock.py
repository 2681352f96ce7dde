"""A device's clock, which launches move on by what they take on a simulated machine, and programs read.

Nothing is simulated before somebody asks how late it is: until then the clock holds what each launch did.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from simtmm.cuda.linked import LinkedModule
from simtmm.device.host import AT_ONCE, Host, Move
from simtmm.device.residence import Beginning, Footprint, FootprintOf, Residence
from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.device.timeline import Timeline
from simtmm.errors import RecordingError
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.limits import most_bytes
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import Batch, TraceLaunch

MOST_COMPARED = 1 << 18  # events of a launch whose trace may be that of an earlier one: of more, making one is little
MOST_KNOWN = 64  # of such traces
NO_MACHINE = (
    "elapsed time: is simulated, which needs a machine: name one (simtmm run SCRIPT --machine "
    "h100-sxm, or simtmm.recording(machine='h100-sxm'))"
)


@dataclass(frozen=True)
class Mark:
    """A point in the work of a stream, as an event records it. number: tells marks of a clock apart."""

    number: int


class Clock:
    """The time of a device and of the host that gives it work.

    armed: whether it receives launches: from the first event, or look at a clock, on. launches: that it received.
    """

    def __init__(
        self,
        seconds_of: Callable[[Trace, Beginning, int | None], float],
        spared_in_graph: float = 0.0,
        host: Host = AT_ONCE,
        residence: Residence | None = None,
    ) -> None:
        """seconds_of: what a launch takes [s], by its trace, how it finds the L2, and how many blocks it has, if the
            trace has only the first of them.

        spared_in_graph: how much less a launch takes that follows another one in a graph [s]. host: what its calls and
        copies take. residence: of memory in the L2, if launches find it as those before them left it; else each finds
        it warm.
        """
        self.host = host
        self._residence = residence
        self._seconds_of, self._spared_in_graph = seconds_of, spared_in_graph
        self.armed = False
        self.launches = 0
        self._numbers = count()
        self._traces: WeakValueDictionary[str, Trace] = WeakValueDictionary()  # of steps to come, by their digests
        self._seconds: dict[tuple[str, Beginning, int | None], float] = {}
        self._steps: list[Callable[[], object]] = []
        self._timeline = Timeline(host)
        self._marks: dict[Mark, float] = {}
        self._worked: dict[Mark, float] = {}  # by the device until then

    def arm(self) -> None:
        """Listen from now on: somebody has created an event, or looked at a clock."""
        self.armed = True

    def launched(
        self,
        trace: Trace,
        stream: Stream = DEFAULT_STREAM,
        blocks: int | None = None,
        follows_in_graph: bool = False,
        footprint: Footprint | None = None,
    ) -> None:
        """A launch was put on a stream.

        trace: of it alone; of equal ones, one is stored and simulated once. blocks: how many it has, where the trace
        has only the first of them. follows_in_graph: whether it is a node of a graph, and not the first kernel of the
        graph's launch, which takes what any other launch does. footprint: the memory that the trace accesses.
        """
        digest = trace.info.digest
        shares = {Beginning.WARM: 1.0}
        if self._residence is not None and footprint is not None:
            shares = self._residence.meets(footprint, 1.0 if blocks is None else blocks / trace.info.launches[0].blocks)
        kept = self._traces.setdefault(digest, trace)

        def launch() -> None:
            spared = self._spared_in_graph if follows_in_graph else 0.0
            seconds = sum(share * self.seconds_of(kept, how, blocks) for how, share in shares.items())
            self._timeline.launch(stream, seconds - spared, is_called=not follows_in_graph)

        self._steps.append(launch)
        self.launches += 1

    def mark(self, stream: Stream = DEFAULT_STREAM) -> Mark:
        """The end of all work that is on a stream now."""
        self.arm()
        mark = Mark(next(self._numbers))

        def reach() -> None:
            self._marks[mark], self._worked[mark] = self._timeline.reached(stream), self._timeline.worked

        self._steps.append(reach)
        return mark

    def wait(self, mark: Mark, stream: Stream) -> None:
        """What comes on a stream from now on begins after a mark."""
        self._step(lambda: self._timeline.wait(stream, self._marks.get(mark, 0.0)))

    def synchronize(self, mark: Mark | None = None) -> None:
        """The host waits for a mark, or for all work where none is named; what is launched later begins after it."""
        self._step(lambda: self._timeline.synchronize(None if mark is None else self._marks.get(mark, 0.0)))

    def synchronize_stream(self, stream: Stream) -> None:
        """The host waits for what is on a stream."""
        self._step(lambda: self._timeline.synchronize(self._timeline.end(stream)))

    def copied(
        self,
        stream: Stream,
        direction: str | None,
        size: int,
        is_pinned: bool = False,
        is_awaited: bool = True,
        host: int = 0,
        device: int = 0,
    ) -> None:
        """A copy was put on a stream; see Timeline.copy.

        direction: "to-device" or "to-host"; None within the device. size: bytes that were copied.
        is_pinned: whether the host's memory is.
        is_awaited: whether the host waits for it.
        host, device: addresses at which it begins there, for who lists calls; 0 where that is unknown.
        """
        self._step(partial(self._timeline.copy, stream, direction, size, is_pinned, is_awaited))

    def filled(self, stream: Stream, size: int) -> None:
        """A fill of so many bytes was put on a stream.

        size: bytes that were filled.
        """
        self._step(partial(self._timeline.fill, stream, size))

    def fetched(self, stream: Stream, size: int, move: Move) -> None:
        """So many bytes of managed memory moved; see Timeline.fetch.

        size: bytes that moved.
        move: why, and where to.
        """
        self._step(partial(self._timeline.fetch, stream, size, move))

    def taken_back(self, size: int) -> None:
        """The host has used so many bytes of managed memory that were on the device.

        size: bytes that it took back.
        """
        self._step(partial(self._timeline.take_back, size))

    def called(self, kernel: str, shape: str, is_recorded: bool, stream: Stream) -> None:
        """A kernel was launched, for who lists calls.

        kernel, shape: its name, its grid and blocks. is_recorded: whether the trace has it. stream: that it is put on.
        """

    def allocated(self, what: int, size: int) -> None:
        """Memory was allocated or freed, for who lists calls.

        what: number of one of calls.ALLOCATIONS. size: bytes.
        """

    def to_provenance(self) -> Mapping[str, Any]:
        """What a trace's provenance lists of the calls; nothing of a clock that lists none."""
        return {}

    def advance(self, seconds: float) -> None:
        """The host has done something of its own for so long [s].

        seconds: for how long.
        """
        if seconds > 0:
            self._step(partial(self._advance, seconds))

    def now(self) -> float:
        """How late it is for the host [s], from the first look on. Raises WorkloadError as `seconds` does."""
        self.arm()
        self._catch_up()
        return self._timeline.now

    def has_come(self, mark: Mark | None, stream: Stream = DEFAULT_STREAM) -> bool:
        """Whether a mark, or what is on a stream, has ended for a host that asks now."""
        if not self.armed:
            return True
        self._catch_up()
        until = self._timeline.end(stream) if mark is None else self._marks.get(mark, 0.0)
        return self._timeline.has_come(until)

    def seconds(self, begin: Mark, end: Mark) -> float:
        """The time from one mark to another [s].

        begin, end: marks of this clock.

        Raises WorkloadError for a launch that the machine can't hold, and RecordingError for marks of another clock.
        """
        self._catch_up()
        for each in (begin, end):
            if each not in self._marks:
                raise RecordingError("elapsed time: the event was recorded before this recording started")
        return self._marks[end] - self._marks[begin]

    def busy_seconds(self, begin: Mark, end: Mark) -> float:
        """What the work between two marks takes of the device [s], were it never to wait for the host.

        begin, end: marks of this clock.

        Raises as `seconds` does.
        """
        self.seconds(begin, end)
        return self._worked[end] - self._worked[begin]

    def seconds_of(self, trace: Trace, beginning: Beginning = Beginning.WARM, blocks: int | None = None) -> float:
        """What a launch takes for itself [s]; simulated once for each way in which it finds the L2.

        beginning: that way. blocks: that it has, where the trace has only the first of them.
        """
        key = trace.info.digest, beginning, blocks
        if key not in self._seconds:
            self._seconds[key] = self._seconds_of(trace, beginning, blocks)
        return self._seconds[key]

    def _step(self, step: Callable[[], object]) -> None:
        if self.armed:
            self._steps.append(step)

    def _advance(self, seconds: float) -> None:
        self._timeline.now += seconds

    def _catch_up(self) -> None:
        """Take the steps that nobody has asked for yet; those behind one that can't be taken stay."""
        steps, self._steps = self._steps, []
        for number, step in enumerate(steps):
            try:
                step()
            except BaseException:
                self._steps = steps[number:]
                raise


class KnownTraces:
    """Traces of launches that did the same, by their events: programs launch the same kernel thousands of times, with
    other arguments that change nothing of what it accesses, and making a trace takes longer than a small launch.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, tuple[Trace, Footprint, object]] = OrderedDict()

    def get(self, key: Hashable) -> tuple[Trace, Footprint] | None:
        """The trace and the memory of a launch with such events; None if there was none lately.

        key: a hash of its events, with what else its trace is made of.
        """
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found and found[:2]

    def put(self, key: Hashable, trace: Trace, footprint: Footprint, named: object) -> None:
        """Keep one; the one that was not asked for the longest goes.

        key: as above.
        trace, footprint: what is found by it.
        named: objects whose ids are in the key: no other object has them while these live.
        """
        self._found[key] = trace, footprint, named
        if len(self._found) > MOST_KNOWN:
            self._found.popitem(last=False)


class LaunchListener:
    """Makes a trace of one launch for a clock, from its batches, or finds the one of an equal launch.

    To be closed where the launch does not come to its end.
    """

    def __init__(self, launch: TraceLaunch, known: KnownTraces) -> None:
        """launch: the one that runs. known: traces of earlier ones."""
        self._launch, self._known = launch, known
        self._recorder: TraceRecorder | None = None
        self._footprint = FootprintOf()
        self._digest = hashlib.blake2b(digest_size=16)
        self._events = 0
        self._batches: list[Batch] = []  # of a short one, whose trace there may be already

    def add(self, batch: Batch) -> None:
        """Take some of its events in, whatever number the launch has in them."""
        self._events += batch.count
        self._batches.append(batch)
        if self._recorder is None and not batch.is_lent and self._events <= MOST_COMPARED:
            sizes = np.array([len(batch.events), len(batch.block), batch.spared])
            for part in (sizes, batch.events, batch.block, batch.ends):
                self._digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            self._take_in()

    def trace(self, runs: LaunchRuns, linked: LinkedModule, blocks: int | None = None) -> tuple[Trace, Footprint]:
        """What came of it, and the memory that was accessed.

        runs: that ran it. blocks: how many, from the first on, were taken in, if not all.
        linked: the module that the kernel is of.
        """
        launch = self._launch if blocks is None else replace(self._launch, grid=(blocks, 1, 1))
        key = id(runs), id(linked), launch, self._digest.digest()
        is_short = self._recorder is None
        if is_short and (found := self._known.get(key)) is not None:
            return found
        trace = finished(self._take_in(), launch.kernel, {}, [launch], runs, [linked])
        footprint = self._footprint.finish()
        if is_short:
            self._known.put(key, trace, footprint, (runs, linked))
        return trace, footprint

    def _take_in(self) -> TraceRecorder:
        """Record the batches that are held, and the memory that they access."""
        recorder = self._recorder = self._recorder or TraceRecorder(None, most_bytes())
        for batch in self._batches:
            self._footprint.add(batch)
            zeros = np.zeros_like(batch.launch)
            recorder.add(Batch(batch.events, zeros, batch.block, batch.ends, batch.is_lent), [self._launch])
        self._batches = []
        return recorder

    def close(self) -> None:
        """Give up."""
        if self._recorder is not None:
            self._recorder.abandon()
