"""Who checks the launches of this process: nobody, or a Checker, whose room is loaded when it begins."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from simtmm.cuda.checks.names import Checks
from simtmm.launch import bare_name
from simtmm.own_faults import told_as_ours

if TYPE_CHECKING:
    import numpy.typing as npt

    from simtmm.cuda.checks.checker import Checker
    from simtmm.cuda.device import Device, DeviceLaunch
    from simtmm.cuda.function import KernelFunction

_active: "Checker | None" = None


def active() -> "Checker | None":
    """Who takes the launches of this process now."""
    return _active


@contextlib.contextmanager
def checking(checks: Checks) -> "Iterator[Checker]":
    """The block whose launches are checked."""
    from simtmm.cuda.checks.checker import Checker  # late: most runs check nothing

    global _active
    before, _active = _active, Checker(checks)
    try:
        yield _active
    finally:
        _active = before


def unwritten(array: "npt.NDArray[Any]", keeper: object = None) -> None:
    """An array of the device is new, and holds anything. keeper: as of `Checker.allocated`.

    array: of any shape, of bytes or numbers.
    """
    if _active is not None:
        _active.allocated(array, keeper)


def check(device: "Device", function: "KernelFunction", launch: "DeviceLaunch") -> None:
    """Let the present taker of launches check one, before it runs."""
    if _active is not None and _active.checks.any:
        with told_as_ours(f"{launch.where or f'launch of {bare_name(function.entry)}'} was not checked"):
            _active.launch(device, function, launch)
