"""Who has launches of this process run another function than the one that was launched: none, but for trials."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simtmm.cuda.device import Device, DeviceLaunch
    from simtmm.cuda.function import KernelFunction


class Trial(Protocol):
    """Is asked before each launch."""

    def instead(self, device: "Device", function: "KernelFunction", launch: "DeviceLaunch") -> "KernelFunction":
        """What is to run; memory is as the launch finds it, before and after."""
        ...


_active: Trial | None = None


@contextlib.contextmanager
def trying(trial: Trial) -> Iterator[None]:
    """The block whose launches a trial is asked about."""
    global _active
    before, _active = _active, trial
    try:
        yield
    finally:
        _active = before


def is_trying() -> bool:
    """Whether a trial is asked about launches."""
    return _active is not None


def instead(device: "Device", function: "KernelFunction", launch: "DeviceLaunch") -> "KernelFunction":
    """The function that a launch of this one is to run."""
    global _active
    trial = _active
    if trial is None:
        return function
    _active = None  # launches of the trial's own are as they are
    try:
        return trial.instead(device, function, launch)
    finally:
        _active = trial
