"""Copies of a program between host and device: which it made, and what they take beside its kernels."""

import contextlib
from dataclasses import dataclass

from simtmm.device.host import IN, OUT, Host, host_of
from simtmm.machine import Machine
from simtmm.trace.info import TraceInfo

MOSTLY = 0.5  # of the time of copies and kernels: worth being said
ALL = 0.995  # likewise: what would be rounded to all of it
LESS = 0.9  # of what copies take: what pinned memory must at least save to be named


@dataclass(frozen=True)
class Copy:
    """Copies of one kind, as a trace's provenance lists them (simtmm.programs.copies).

    direction: IN or OUT; None within the device. is_pinned: whether the host's memory is locked. size: bytes of each.
    number: how many there were.
    """

    direction: str | None
    is_pinned: bool
    size: int
    number: int

    @property
    def is_timed(self) -> bool:
        """Whether what it takes of the device is known."""
        return self.is_pinned or self.direction is None

    def of_device(self, host: Host) -> float:
        """What one takes of the device, or of a copy engine [s].

        host: a host and its link.
        """
        return host.copy_on_device(self.size) if self.direction is None else host.engine(self.direction, self.size)

    def of_program(self, host: Host, is_pinned: bool) -> float:
        """What one takes from its call to its return [s].

        host: a host and its link.
        is_pinned: whether the host's memory is locked.
        """
        if self.direction is None:
            return host.copy_on_device(self.size)
        return host.copy(self.direction, self.size, is_pinned)


def copies_made(info: TraceInfo | None) -> list[Copy]:
    """The program's copies; none where its trace does not list them, or in another form.

    info: of its trace.
    """
    listed = info.provenance.get("copies") if info else None
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError):
        found = [
            Copy(each["direction"], bool(each["is_pinned"]), int(each["bytes"]), int(each["number"]))
            for each in listed or ()
        ]
        if all(copy.direction in (IN, OUT, None) and copy.size >= 0 and copy.number > 0 for copy in found):
            return found
    return []


def copies_words(machine: Machine, info: TraceInfo, kernels: float | None) -> str | None:
    """What to say of copies that take longer than a program's kernels; None of others.

    machine: on whose link they are made.
    info: of the program's trace.
    kernels: what the launches of the trace take [s].
    """
    made = copies_made(info)
    launched = info.provenance.get("launched", len(info.launches))
    if not made or not kernels or not isinstance(launched, int) or not info.launches:
        return None
    host, kernels = host_of(machine), kernels * max(1.0, launched / len(info.launches))
    each = [(copy.number * copy.of_program(host, copy.is_pinned), copy) for copy in made]
    total = sum(seconds for seconds, _ in each)
    if total <= MOSTLY * (total + kernels):
        return None
    pinned = sum(copy.number * copy.of_program(host, True) for copy in made)
    share = total / (total + kernels)
    most = f"{100 * share:.0f} %" if share < ALL else "nearly all"
    words = (
        f"Copies take {most} of the time of this program's copies and kernels: {in_words(total)}, and kernels "
        f"{in_words(kernels)}."
    )
    if pinned < LESS * total:
        words += f" From and to pinned memory (cudaMallocHost) they would take {in_words(pinned)}."
    return words


def in_words(seconds: float) -> str:
    """A time with its unit.

    seconds: how long.
    """
    scale, unit = next(((scale, unit) for scale, unit in ((1.0, "s"), (1e-3, "ms")) if seconds >= scale), (1e-6, "us"))
    return f"{seconds / scale:.3g} {unit}"
