"""Streams and events of a device that is not there, as CuPy, Numba and PyTorch see them: each adapter has a shell.

A launch has run to its end when it returns: a stream and an event matter to the simulated clock alone.
"""

from itertools import count

from simtmm.cuda.execution.livelock.others import has_stream
from simtmm.device.stream import DEFAULT_STREAM
from simtmm.errors import RecordingError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import Mark

_numbers = count(1)


class DeviceStream:
    """An order of launches.

    number: what distinguishes it; DEFAULT_STREAM is the default one. A kernel that waits for a stream besides that one,
    while this object lives, is not accused of waiting forever.
    """

    def __init__(self, number: int | None = None, is_own: bool | None = None) -> None:
        """number: None for one that no other stream has. is_own: whether it is a stream besides the default one; None
        if the number says so.
        """
        self.number = next(_numbers) if number is None else number
        if self.number != DEFAULT_STREAM if is_own is None else is_own:
            has_stream(self)

    def synchronize(self) -> None:
        """The host waits for what is on it."""
        clock = current.clock_if_any()
        if clock is not None:
            clock.synchronize_stream(self.number)

    def wait_event(self, event: "DeviceEvent") -> None:
        """What comes later on it begins after an event; one that was never recorded holds nothing up."""
        clock = current.clock_if_any()
        if clock is not None and event.mark is not None:
            clock.wait(event.mark, self.number)


class DeviceEvent:
    """A point in a stream's work.

    is_timed: whether times are read from it. is_recorded: whether it was recorded. mark: where; None before that, and
    if it was recorded where there was no machine.
    """

    def __init__(self, is_timed: bool = True) -> None:
        self.is_timed = is_timed
        self.is_recorded = False
        self.mark: Mark | None = None
        clock = current.clock_if_any()
        if clock is not None and is_timed:
            clock.arm()

    def mark_end(self, stream: int = DEFAULT_STREAM) -> None:
        """It is where the work of a stream ends now.

        stream: its number.
        """
        clock = current.clock_if_any()
        self.mark, self.is_recorded = None if clock is None else clock.mark(stream), True

    def synchronize(self) -> None:
        """The host waits for it."""
        clock = current.clock_if_any()
        if clock is not None and self.mark is not None:
            clock.synchronize(self.mark)


def milliseconds_between(begin: DeviceEvent, end: DeviceEvent, function: str) -> float:
    """The simulated time from one event to another [ms].

    begin, end: recorded in this recording. function: of the framework, which begins errors.

    Raises RecordingError where there is no machine, for events that have no time, and for those of another recording.
    """
    clock = current.clock()
    for event in (begin, end):
        if not event.is_timed or not event.is_recorded:
            raise RecordingError(f"{function}: an event was not recorded, or was created without timing")
    if begin.mark is None or end.mark is None:
        raise RecordingError("elapsed time: the event was recorded before this recording started")
    return 1000 * clock.seconds(begin.mark, end.mark)
