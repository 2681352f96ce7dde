"""Streams and events. A launch has ended when it returns; streams and events are for the simulated clock."""

import threading
from typing import Any

from simtmm.device.stream import DEFAULT_STREAM
from simtmm.recorder.direct.streams import DeviceEvent, DeviceStream, milliseconds_between
from simtmm.scripts import notes

_state = threading.local()


class Stream(DeviceStream):
    """An order of launches.

    null: the default one.
    """

    null: "Stream"
    ptds: "Stream"

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        super().__init__(DEFAULT_STREAM if null or ptds else None)
        self.null_, self.non_blocking, self.priority = null, non_blocking, priority or 0
        self.device_id = 0
        self._before: list[Stream] = []

    @property
    def ptr(self) -> int:
        """What distinguishes it."""
        return self.number

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

    def record(self, event: "Event | None" = None) -> "Event":
        """Record an event on it."""
        event = Event() if event is None else event
        event.record(self)
        return event

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
        super().__init__(null=True)
        DeviceStream.__init__(self, int(ptr))


Stream.null = Stream(null=True)
Stream.ptds = Stream.null


def get_current_stream(device_id: int = -1) -> Stream:
    """Where launches of this thread go."""
    found: Stream = getattr(_state, "stream", Stream.null)
    return found


class Event(DeviceEvent):
    """A point in a stream's work."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        super().__init__(is_timed=not disable_timing)
        self.disable_timing = disable_timing
        self.unrecorded = 0

    @property
    def ptr(self) -> int:
        """What distinguishes it."""
        return id(self)

    @property
    def done(self) -> bool:
        """All launches have ended when they return."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """It is where the stream's work ends now."""
        self.mark_end((get_current_stream() if stream is None else stream).ptr)
        self.unrecorded = notes.unrecorded_so_far()


def get_elapsed_time(start_event: Event, end_event: Event, *, function: str = "cupy.cuda.get_elapsed_time") -> float:
    """The simulated time between two events [ms]. Raises RecordingError where there is no machine.

    function: that a note names.
    """
    notes.leaves_out(function, end_event.unrecorded - start_event.unrecorded)
    return milliseconds_between(start_event, end_event, function)
