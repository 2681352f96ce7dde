"""What a script's host code asks of the device, call by call, as for a program: the clock of a script lists it."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.recorder.direct.clock import Clock, Mark
from simtmm.recorder.direct.journal import Journal

OURS = str(Path(__file__).resolve().parents[1])
INSTALLED = ("site-packages", "dist-packages")


class ListedClock(Clock):
    """A clock that also lists what it receives, whether or not anybody reads it."""

    def __init__(self, *given: Any) -> None:
        """given: as a Clock takes it."""
        super().__init__(*given)
        self._journal = Journal(cast(Clock, super()), place_of_call)

    def mark(self, stream: Stream = DEFAULT_STREAM) -> Mark:
        """See Clock."""
        return self._journal.mark(_number(stream))

    def wait(self, mark: Mark, stream: Stream) -> None:
        """See Clock."""
        self._journal.wait(mark, _number(stream))

    def synchronize(self, mark: Mark | None = None) -> None:
        """See Clock."""
        self._journal.synchronize(mark)

    def synchronize_stream(self, stream: Stream) -> None:
        """See Clock."""
        self._journal.synchronize_stream(_number(stream))

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
        """See Clock."""
        self._journal.copied(_number(stream), direction, size, is_pinned, is_awaited, host, device)

    def filled(self, stream: Stream, size: int) -> None:
        """See Clock."""
        self._journal.filled(_number(stream), size)

    def called(self, kernel: str, shape: str, is_recorded: bool, stream: Stream) -> None:
        """See Clock."""
        self._journal.launched(kernel, shape, is_recorded, _number(stream), False)

    def allocated(self, what: int, size: int) -> None:
        """See Clock."""
        self._journal.allocated(what, size)

    def to_provenance(self) -> Mapping[str, Any]:
        """See Clock."""
        return self._journal.to_provenance()


def place_of_call() -> str:
    """The line that is being executed of a file that is neither ours nor of an installed package; "" without one."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((OURS, "<")) and not any(each in file for each in INSTALLED):
            return f"{file}:{frame.f_lineno}"
        back = frame.f_back
        if back is None:
            break
        frame = back
    return ""


def _number(stream: Stream) -> int:
    return stream if isinstance(stream, int) else hash(stream) & 0x7FFF
