"""triton.autotune and triton.testing.do_bench on a simulated machine."""

import functools
import math
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from simtmm.errors import KernelError, PtxError
from simtmm.recorder.direct import current
from simtmm.scripts import notes


def milliseconds(function: Callable[[], Any], recorded: bool) -> float | None:
    """What the launches of a function take on the machine of the recording [ms]; None where it launches nothing.

    recorded: whether they are part of what is recorded. Raises RecordingError where there is no machine.
    """
    clock = current.clock()
    begin = clock.mark()
    before = clock.launches
    if recorded:
        function()
    else:
        with current.tuning():
            function()
    end = clock.mark()
    return 1000 * clock.busy_seconds(begin, end) if clock.launches > before else None


def benchmark(kernel_call: Callable[[], Any], quantiles: Sequence[float] | None = None, **options: Any) -> Any:
    """Times a configuration for autotune: once, as a simulation gives the same each time."""
    try:
        found = milliseconds(kernel_call, recorded=False)
    except (KernelError, PtxError) as error:  # as a configuration that a GPU has no room for
        notes.note(f"triton: autotune leaves out a configuration: {error}")
        found = None
    value = math.inf if found is None else found
    return [value] * len(quantiles) if quantiles is not None else value


def do_bench(
    fn: Callable[[], Any],
    warmup: int = 25,
    rep: int = 100,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **options: Any,
) -> Any:
    """triton.testing.do_bench: the function is called once, and its launches are recorded."""
    unrecorded = notes.unrecorded_so_far()
    found = milliseconds(fn, recorded=True)
    notes.leaves_out("triton.testing.do_bench", notes.unrecorded_so_far() - unrecorded)
    if found is None:
        notes.note("do_bench: a function that launches no kernel has no simulated time: nan is returned")
        found = math.nan
    if quantiles is not None:
        return [found] * len(quantiles) if len(quantiles) > 1 else found
    return [found] if return_mode == "all" else found


def tuned(own: Any) -> Any:
    """Autotuner.run: what was tuned for one recording, or on a GPU, says nothing of another."""
    caches: weakref.WeakKeyDictionary[Any, dict[int, tuple[object, dict[Any, Any]]]] = weakref.WeakKeyDictionary()

    @functools.wraps(own)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        clock = current.clock_if_any()
        _, cache = caches.setdefault(self, {}).setdefault(id(clock), (clock, {}))
        before, known = self.cache, set(cache)
        self.cache = cache
        try:
            result = own(self, *args, **kwargs)
            if clock is not None and set(cache) - known and len(self.configs) > 1:
                _print_table(self, getattr(self, "configs_timings", None) or {})
            return result
        finally:
            self.cache = before

    return run


def pruned(own: Any) -> Any:
    """Autotuner.prune_configs: without a machine there is nothing to choose by."""

    @functools.wraps(own)
    def prune_configs(self: Any, kwargs: Any) -> Any:
        found = own(self, kwargs)
        if current.clock_if_any() is None and len(found) > 1:
            notes.note(
                f"triton: {self.base_fn.__name__} is not tuned, because there is no machine to simulate: using the "
                "first of its "
                f"{len(found)} configurations ({found[0]})"
            )
            return found[:1]
        return found

    return prune_configs


def _print_table(tuner: Any, timings: dict[Any, Any]) -> None:
    rows = sorted(((_first(each), str(config)) for config, each in timings.items()), key=lambda row: row[0])
    lines = [f"autotune of {tuner.base_fn.__name__}: {len(rows)} configurations simulated; using the fastest"]
    lines += [f"  {_shown(time):>12}  {_short(config)}" for time, config in rows]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _first(timing: Any) -> float:
    return float(timing[0] if isinstance(timing, (list, tuple)) else timing)


def _shown(time: float) -> str:
    return f"{time:.5f} ms" if math.isfinite(time) else "does not run"


def _short(config: str) -> str:
    return ", ".join(each for each in config.split(", ") if not each.endswith(": None"))
