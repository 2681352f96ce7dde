"""Streams and events. A launch has ended when it returns; streams and events are for the simulated clock."""

import threading
from itertools import count
from typing import Any

from simtmm.cuda.execution.livelock.others import has_stream
from simtmm.device.stream import DEFAULT_STREAM
from simtmm.errors import RecordingError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import NO_MACHINE, Mark

_numbers = count(1)
_state = threading.local()


class Stream:
    """An order of launches.

    null: the default one. ptr: what distinguishes it.
    """

    null: "Stream"
    ptds: "Stream"

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        self.ptr = DEFAULT_STREAM if null or ptds else next(_numbers)
        self.null_, self.non_blocking, self.priority = null, non_blocking, priority or 0
        self.device_id = 0
        self._before: list[Stream] = []
        if self.ptr != DEFAULT_STREAM:
            has_stream(self)

    def use(self) -> "Stream":
        """Launches go on this one from now on."""
        _state.stream = self
        return self

    def __enter__(self) -> "Stream":
        self._before.append(get_current_stream())
        return self.use()

    def __exit__(self, *error: object) -> None:
        self._before.pop().use()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device 0)>"

    @property
    def done(self) -> bool:
        """All launches have ended when they return."""
        return True

    def synchronize(self) -> None:
        """The host waits for it."""
        clock = current.clock_if_any()
        if clock is not None and clock.armed:
            clock.synchronize_stream(self.ptr)

    def record(self, event: "Event | None" = None) -> "Event":
        """Record an event on it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """What comes later on it begins after the event."""
        clock = current.clock_if_any()
        if clock is not None and event.mark is not None:
            clock.wait(event.mark, self.ptr)

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Call it: all that is on the stream has ended."""
        callback(self, 0, arg)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        """Likewise."""
        callback(arg)

    def begin_capture(self, mode: Any = None) -> None:
        """Graphs are not known."""
        from simtmm.scripts.cupy.device_array import MissingError

        raise MissingError("cupy.cuda.Stream.begin_capture: graphs are not supported by simtmm's stand-in for CuPy")


class ExternalStream(Stream):
    """A stream of somebody else's, by its number."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        super().__init__()
        self.ptr = int(ptr)


Stream.null = Stream(null=True)
Stream.ptds = Stream.null


def get_current_stream(device_id: int = -1) -> Stream:
    """Where launches of this thread go."""
    found: Stream = getattr(_state, "stream", Stream.null)
    return found


class Event:
    """A point in a stream's work. mark: where it was recorded; None before that, and where there is no machine."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.disable_timing = disable_timing
        self.mark: Mark | None = None
        self._is_recorded = False
        clock = current.clock_if_any()
        if clock is not None and not disable_timing:
            clock.arm()

    @property
    def ptr(self) -> int:
        """What distinguishes it."""
        return id(self)

    @property
    def is_recorded(self) -> bool:
        """Whether it was recorded."""
        return self._is_recorded

    @property
    def done(self) -> bool:
        """All launches have ended when they return."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """It is where the stream's work ends now."""
        clock = current.clock_if_any()
        stream = get_current_stream() if stream is None else stream
        self.mark, self._is_recorded = clock.mark(stream.ptr) if clock is not None else None, True

    def synchronize(self) -> None:
        """The host waits for it."""
        clock = current.clock_if_any()
        if clock is not None and self.mark is not None:
            clock.synchronize(self.mark)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """The simulated time between two events [ms]. Raises RecordingError where there is no machine."""
    clock = current.clock()
    for event in (start_event, end_event):
        if event.disable_timing or not event.is_recorded:
            raise RecordingError("cupy.cuda.get_elapsed_time: an event that was not recorded, or has disable_timing")
        if event.mark is None:
            raise RecordingError(NO_MACHINE)
    assert start_event.mark is not None
    assert end_event.mark is not None
    return 1e3 * clock.seconds(start_event.mark, end_event.mark)
