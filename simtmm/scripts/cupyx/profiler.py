"""cupyx.profiler: benchmark() in simulated time."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simtmm.recorder.direct import current
from simtmm.scripts import notes
from simtmm.scripts.cupy.cuda.stream import Event, get_elapsed_time

MOST_RUNS = 3  # simulated runs of the same are alike, whatever their number


class Result:
    """Times of a function. cpu_times, gpu_times: of each run, and of each device and run [s]."""

    def __init__(self, name: str, cpu_times: Sequence[float], gpu_times: Sequence[float]) -> None:
        self.name = name
        self.cpu_times, self.gpu_times = np.array(cpu_times), np.array([gpu_times])

    def __str__(self) -> str:
        shown = [f"{self.name:<20}:"]
        for title, times in (("CPU", self.cpu_times), ("GPU-0", self.gpu_times[0])):
            micro = 1e6 * times
            shown.append(f"   {title}: {micro.mean():9.3f} us   +/- {micro.std():6.3f} (min: {micro.min():9.3f} / "
                         f"max: {micro.max():9.3f}) us")  # fmt: skip
        return "".join(shown)

    __repr__ = __str__


def benchmark(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = float("inf"),
    devices: Any = None,
) -> Result:
    """Time a function: the GPU's time is simulated, the CPU's is this computer's. Raises RecordingError without one."""
    current.clock().arm()
    runs, named = min(n_repeat, MOST_RUNS), str(name or getattr(func, "__name__", "function"))
    if runs < n_repeat:
        notes.note(f"cupyx.profiler.benchmark: {named} ran {runs} times, not {n_repeat}: simulated runs are identical.")
    host, device = [], []
    for number in range(min(n_warmup, 1) + runs):
        begin, end = Event(), Event()
        begin.record()
        started = time.perf_counter()
        func(*args, **(kwargs or {}))
        took = time.perf_counter() - started
        end.record()
        if number >= min(n_warmup, 1):
            host.append(took)
            device.append(1e-3 * get_elapsed_time(begin, end, function="cupyx.profiler.benchmark"))
    return Result(named, host, device)


@contextlib.contextmanager
def time_range(*arguments: Any, **options: Any) -> Iterator[None]:
    """Taken, and without effect."""
    yield


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Taken, and without effect."""
    yield
