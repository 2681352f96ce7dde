"""A device's clock, which launches move on by what they take on a simulated machine, and events are read from.

Launches of a stream come one after another; those of two streams go on at once, as if the other were not there. The
default stream waits for all others, and they for it. Copies, and what the host does, take no time.

Nothing is simulated before somebody asks how long something took: until then the clock holds what each launch did.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from simtmm.cuda.linked import LinkedModule
from simtmm.errors import RecordingError
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.direct.stream import DEFAULT_STREAM as DEFAULT_STREAM
from simtmm.recorder.direct.stream import Stream as Stream
from simtmm.recorder.limits import most_bytes
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import Batch, TraceLaunch

NO_MACHINE = (
    "elapsed time: is simulated here, and there is no machine to simulate: name one (simtmm run SCRIPT --machine "
    "h100-sxm, or simtmm.recording(machine='h100-sxm'))"
)


@dataclass(frozen=True)
class Mark:
    """A point in the work of a stream, as an event records it. number: tells marks of a clock apart."""

    number: int


@dataclass(frozen=True)
class _Work:
    stream: Stream
    what: str  # digest of a trace
    name: str
    times: float  # as long as that
    follows_in_graph: bool


@dataclass(frozen=True)
class _Marked:
    stream: Stream
    mark: Mark


@dataclass(frozen=True)
class _Waits:
    """A stream, or the host where that is None, waits for a mark, or for all where that is None."""

    stream: Stream | None
    mark: Mark | None


class Clock:
    """The time of the work of a device.

    armed: whether it receives launches; from the first event on. launches: that it received.
    """

    def __init__(self, seconds_of: Callable[[Trace], float], spared_in_graph: float = 0.0) -> None:
        """seconds_of: what a trace of one launch takes [s].

        spared_in_graph: how much less a launch takes that follows another one in a graph [s].
        """
        self._seconds_of, self._spared_in_graph = seconds_of, spared_in_graph
        self.armed = False
        self.launches = 0
        self._numbers = count()
        self._traces: dict[str, Trace] = {}  # that were not needed yet, by their digests
        self._seconds: dict[str, float] = {}
        self._steps: list[_Work | _Marked | _Waits] = []
        self._ends: dict[Stream, float] = {}  # of what was stepped through
        self._host = self._barrier = 0.0
        self._marks: dict[Mark, float] = {}

    def arm(self) -> None:
        """Listen from now on: somebody has created an event."""
        self.armed = True

    def launched(
        self, trace: Trace, stream: Stream = DEFAULT_STREAM, times: float = 1.0, follows_in_graph: bool = False
    ) -> None:
        """A launch was put on a stream.

        trace: of it alone; of equal ones one is kept, and simulated once. times: how many times as long it takes as
        that, where only some of its blocks are there. follows_in_graph: whether it is a node of a graph, and not the
        first kernel of the graph's launch, which takes what any other launch does.
        """
        digest = trace.info.digest
        if digest not in self._seconds:
            self._traces.setdefault(digest, trace)
        self._steps.append(_Work(stream, digest, trace.info.kernel, times, follows_in_graph))
        self.launches += 1

    def mark(self, stream: Stream = DEFAULT_STREAM) -> Mark:
        """The end of all work that is on a stream now."""
        self.arm()
        mark = Mark(next(self._numbers))
        self._steps.append(_Marked(stream, mark))
        return mark

    def wait(self, mark: Mark, stream: Stream) -> None:
        """What comes on a stream from now on begins after a mark."""
        if self.armed:
            self._steps.append(_Waits(stream, mark))

    def synchronize(self, mark: Mark | None = None) -> None:
        """The host waits for a mark, or for all work where none is named; what is launched later begins after it."""
        if self.armed:
            self._steps.append(_Waits(None, mark))

    def seconds(self, begin: Mark, end: Mark) -> float:
        """The time from one mark to another [s].

        Raises WorkloadError for a launch that the machine can't hold, and RecordingError for marks of another clock.
        """
        steps, self._steps = self._steps, []
        for number, step in enumerate(steps):
            try:
                self._take(step)
            except BaseException:
                self._steps = steps[number:]
                raise
        for each in (begin, end):
            if each not in self._marks:
                raise RecordingError("elapsed time: the event was recorded before this recording began")
        return self._marks[end] - self._marks[begin]

    def seconds_of(self, trace: Trace) -> float:
        """What a launch takes for itself [s]; simulated once."""
        digest = trace.info.digest
        if digest not in self._seconds:
            self._seconds[digest] = self._seconds_of(trace)
        self._traces.pop(digest, None)
        return self._seconds[digest]

    def _take(self, step: "_Work | _Marked | _Waits") -> None:
        if isinstance(step, _Work):
            known = self._seconds.get(step.what)
            seconds = self.seconds_of(self._traces[step.what]) if known is None else known
            spared = self._spared_in_graph if step.follows_in_graph else 0.0
            self._ends[step.stream] = self._begin(step.stream) + step.times * (seconds - spared)
            if step.stream == DEFAULT_STREAM:
                self._barrier = self._ends[step.stream]
        elif isinstance(step, _Marked):
            self._marks[step.mark] = self._begin(step.stream)
        else:
            until = self._all() if step.mark is None else self._marks.get(step.mark, 0.0)
            if step.stream is None:
                self._host = max(self._host, until)
            else:
                self._ends[step.stream] = max(self._ends.get(step.stream, 0.0), until)

    def _begin(self, stream: Stream) -> float:
        """When what comes next on a stream begins."""
        own = self._all() if stream == DEFAULT_STREAM else max(self._ends.get(stream, 0.0), self._barrier)
        return max(own, self._host)

    def _all(self) -> float:
        return max(self._ends.values(), default=0.0)


class LaunchListener:
    """Makes a trace of one launch for a clock, from its batches.

    To be closed where the launch does not come to its end.
    """

    def __init__(self, launch: TraceLaunch) -> None:
        self._launch = launch
        self._recorder = TraceRecorder(None, most_bytes())

    def add(self, batch: Batch) -> None:
        """Take some of its events in, whatever number the launch has in them."""
        zeros = np.zeros_like(batch.launch)
        self._recorder.add(Batch(batch.events, zeros, batch.block, batch.ends, batch.is_lent), [self._launch])

    def trace(self, runs: LaunchRuns, linked: LinkedModule, blocks: int | None = None) -> Trace:
        """What came of it. runs: that ran it. blocks: how many, from the first on, were taken in, if not all."""
        launch = self._launch if blocks is None else replace(self._launch, grid=(blocks, 1, 1))
        return finished(self._recorder, launch.kernel, {}, [launch], runs, [linked])

    def close(self) -> None:
        """Give up."""
        self._recorder.abandon()
