"""Where direct launches run now: on the device of the recording that is under way, else on that of the process."""

from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

from simtmm.cuda.compilers import architecture_of_today, bare_name
from simtmm.cuda.function import KernelFunction
from simtmm.errors import RecordingError
from simtmm.recorder.direct.image import Image
from simtmm.recorder.direct.session import Session, Sizes

if TYPE_CHECKING:
    from simtmm.recorder.direct.recording import Recording

LOCK = RLock()
"""Held while a launch runs: launches of several threads come one after another, as on a stream."""

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
                f"recording {recording.name!r}: recording {_recording.name!r} is under way: one must end "
                "before another begins"
            )
        _recording = recording


def end() -> None:
    """Launches are recorded no longer, those apart that run."""
    global _recording
    with LOCK:
        _recording = None


def launch(image: Image, function: KernelFunction, sizes: Sizes, arguments: Sequence[Any]) -> None:
    """Run a kernel on arguments as a user gave them, and record it where a recording is under way.

    Raises KernelError and PtxError for what can't be launched, and RecordingError for what goes wrong while it runs.
    """
    global _session
    with LOCK:
        if _recording is not None:
            _recording.launch(image, function, sizes, arguments)
            return
        if _session is None or _session.is_full:
            _session = Session(recorded=False)
        prepared, held = _session.prepare(image, function, sizes, arguments, f"kernel {bare_name(function.entry)}")
        _session.device.launch(function, prepared)
        del held
