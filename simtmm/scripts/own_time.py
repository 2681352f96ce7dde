"""The clocks of a script: `time.perf_counter`, its kin and `datetime.now()` give the simulated machine's time.

They do for the script's own modules, and for those that time on behalf of others (BENCHMARKS). All else, the standard
library's event loops and queues included, goes on by this computer's time, which it waits by.
"""

import contextlib
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import simtmm
from simtmm.device.own_clock import REAL, OwnClock
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import Clock
from simtmm.scripts.own_date import patch_dates
from simtmm.scripts.patches import Patches

BENCHMARKS = (
    "timeit", "cupyx.profiler", "simtmm.scripts.cupyx.profiler", "triton.testing", "torch.utils.benchmark.utils.timer",
)  # fmt: skip
_CLOCKS = {
    "time": ("time",),
    "monotonic": ("monotonic", "perf_counter"),
    "process": ("process_time", "thread_time"),
}
NANO = 10**9
_FOREIGN = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(simtmm.__file__).resolve().parent), "<frozen"}
)
_own: "HostTime | None" = None


class HostTime:
    """The time of a script: its clock's, and, if that counts, the processor's that its own code takes meanwhile."""

    def __init__(self, clock: Clock, has_host_time: bool) -> None:
        self._clock, self._counts = clock, has_host_time
        self._mark = time.thread_time_ns()
        self._pauses = 0
        self._epochs = {"time": time.time_ns(), "monotonic": 0}  # so that a difference of floats is the same each time
        self._slept = 0

    def tell(self) -> None:
        """Tell the clock of the script's own time so far."""
        if self._counts and not self._pauses and self._clock.armed:
            self._clock.advance((time.thread_time_ns() - self._mark) / NANO)
        self._mark = time.thread_time_ns()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """A block that is not the script's own."""
        self.tell()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            self._mark = time.thread_time_ns()

    def now(self) -> int:
        """How late it is [ns]."""
        with self.paused():
            if not self._counts:  # so that who waits by looking at a clock is done one day
                self._clock.advance(self._clock.host.call("clock"))
            return round(self._clock.now() * NANO)

    def read(self, which: str) -> int:
        """A clock [ns]: "time", "monotonic" or "process"."""
        return self.now() - self._slept if which == "process" else self._epochs[which] + self.now()

    def sleep(self, seconds: float) -> None:
        """Let so much time pass; it does really where other threads go on meanwhile."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if any(thread.daemon is False and thread is not threading.main_thread() for thread in threading.enumerate()):
            time_sleep(seconds)
        with self.paused():
            self._clock.arm()
            self._clock.advance(seconds)
        self._slept += round(seconds * NANO)


time_sleep = time.sleep


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """A block whose time is not the script's own: a launch that is emulated, for instance."""
    if _own is None:
        yield
        return
    with _own.paused():
        yield


@contextlib.contextmanager
def virtual_time(clock: Clock | None, how: OwnClock) -> Iterator[None]:
    """The block in which scripts read a machine's clock; where there is no machine, they read this computer's."""
    global _own
    if clock is None or how.kind == REAL:
        yield
        return
    _own = host = HostTime(clock, how.has_host_time)
    before, current.around_launches = current.around_launches, paused
    try:
        with Patches() as patches:
            for name, replacement in _replacements(host).items():
                real = getattr(time, name, None)
                if real is not None:
                    patches.set(time, name, _for_scripts(replacement, real))
            patch_dates(patches, lambda: host.read("time"), _is_script)
            yield
    finally:
        _own, current.around_launches = None, before


def _replacements(host: HostTime) -> dict[str, Callable[..., Any]]:
    """What stands for each function of the module `time`."""
    found: dict[str, Callable[..., Any]] = {"sleep": host.sleep}
    for which, names in _CLOCKS.items():
        for name in names:
            found[name] = lambda which=which: host.read(which) / NANO
            found[f"{name}_ns"] = lambda which=which: host.read(which)
    return found


def _for_scripts(replacement: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is the replacement for a script's own modules, and the real one for others."""

    def function(*arguments: Any) -> Any:
        caller = sys._getframe(1)
        if _is_script(caller.f_code.co_filename) or caller.f_globals.get("__name__") in BENCHMARKS:
            return replacement(*arguments)
        return real(*arguments)

    function.__name__ = function.__qualname__ = real.__name__
    function.__doc__ = real.__doc__
    return function


def _is_script(file: str) -> bool:
    known = _known.get(file)
    if known is None:
        known = _known[file] = not str(Path(file).resolve() if file[:1] != "<" else file).startswith(_FOREIGN)
    return known


_known: dict[str, bool] = {}
