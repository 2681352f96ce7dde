"""Where direct launches run now: on the device of the recording that is under way, else on that of the process."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from simtmm.cuda.compilers import architecture_of_today, bare_name
from simtmm.cuda.function import KernelFunction
from simtmm.device import DeviceProperties, device_properties
from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.errors import RecordingError
from simtmm.machine import Machine
from simtmm.recorder.direct.clock import NO_MACHINE, Clock
from simtmm.recorder.direct.image import Image
from simtmm.recorder.direct.session import Session, Sizes

if TYPE_CHECKING:
    from simtmm.recorder.direct.recording import Recording

LOCK = RLock()
"""Held while a launch runs: launches of several threads come one after another, as on a stream."""

around_launches: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
"""What a launch is within: a script's own clock stands still meanwhile."""

_recording: "Recording | None" = None
_session: Session | None = None


def architecture() -> int:
    """What is compiled for now: compute capability times ten. Raises CompilerError."""
    return architecture_of_today() if _recording is None else _recording.architecture


def begin(recording: "Recording") -> None:
    """Launches are recorded from now on. Raises RecordingError where they are already."""
    global _recording
    with LOCK:
        if _recording is not None:
            raise RecordingError(
                f"recording {recording.name!r}: recording {_recording.name!r} is in progress: end it "
                "before you start another"
            )
        _recording = recording


def end() -> None:
    """Launches are recorded no longer, those apart that run."""
    global _recording
    with LOCK:
        _recording = None


def clock() -> Clock:
    """What events are read from now. Raises RecordingError where there is no machine to simulate."""
    if _recording is None or _recording.clock is None:
        raise RecordingError(NO_MACHINE)
    return _recording.clock


def clock_if_any() -> Clock | None:
    """Likewise; None where there is none: an event may be created, and read never."""
    return None if _recording is None else _recording.clock


def copied(
    direction: str | None,
    size: int,
    stream: Stream = DEFAULT_STREAM,
    *,
    is_awaited: bool = True,
    is_pinned: bool = False,
    host: int = 0,
    device: int = 0,
) -> None:
    """Tell the clock of a copy of so many bytes; see Timeline.copy.

    host, device: addresses at which it begins there; 0 where that is unknown.
    """
    found = clock_if_any()
    if found is not None:
        with around_launches():
            found.copied(stream, direction, size, is_pinned, is_awaited, host, device)


def allocated(what: int, size: int) -> None:
    """Tell the clock that memory was allocated or freed; see Clock.allocated.

    size: bytes.
    """
    found = clock_if_any()
    if found is not None:
        found.allocated(what, size)


def machine() -> Machine | None:
    """The machine that the recording under way is for; None where it, or none, is for none."""
    return None if _recording is None else _recording.machine


def properties() -> DeviceProperties:
    """What the device says of itself now, and holds launches to. Raises CompilerError."""
    return device_properties(machine(), architecture())


@contextlib.contextmanager
def tuning() -> Iterator[None]:
    """Launches of this block are trials: they run and are timed, and are not recorded."""
    if _recording is None:
        yield
        return
    recording, before = _recording, _recording.is_tuning
    recording.is_tuning = True
    try:
        yield
    finally:
        recording.is_tuning = before


def launch(
    image: Image,
    function: KernelFunction,
    sizes: Sizes,
    arguments: Sequence[Any],
    stream: Stream = DEFAULT_STREAM,
) -> None:
    """Run a kernel on arguments as a user gave them, and record it where a recording is under way.

    stream: that it is put on, which matters to the clock alone: it has run to its end when this returns.

    Raises KernelError and PtxError for what can't be launched, and RecordingError for what goes wrong while it runs.
    """
    global _session
    with LOCK, around_launches():
        if _recording is not None:
            _recording.launch(image, function, sizes, arguments, stream)
            return
        if _session is None or _session.is_full:
            _session = Session(recorded=False)
        where = f"kernel {bare_name(function.entry)}"
        prepared, held = _session.prepare(image, function, sizes, arguments, where, stream)
        _session.device.launch(function, prepared)
        del held
